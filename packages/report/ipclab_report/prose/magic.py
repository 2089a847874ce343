"""The cell magic `%%prose`."""

from ipclab.errors import UsageError
from ipclab.lab import shell
from ipclab_report.prose.prose import render
from ipclab_report.prose.teller import Teller


def register(teller: Teller) -> None:
    """Define `%%prose` in the notebook that calls, if one does: such cells are rendered."""
    notebook = shell.current()
    if notebook is None:
        return

    def show(line: str, cell: str) -> None:
        from IPython.display import Markdown, display

        if line.strip():
            why = f"it got {line.strip()!r}"
            raise UsageError("%%prose takes nothing on its line", why, "put it below as Markdown")
        display(Markdown(render(cell, teller)))  # type: ignore[no-untyped-call]

    notebook.register_magic_function(show, "cell", "prose")
