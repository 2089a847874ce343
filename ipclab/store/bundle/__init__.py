"""One file that carries a run to another machine or into an archive, and back."""
