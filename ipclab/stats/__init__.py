"""Statistics over launches and samples; no I/O."""
