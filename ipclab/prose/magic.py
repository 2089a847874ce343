"""The cell magic `%%prose`, whose cells any Jupyter shows."""

from ipclab.errors import UsageError
from ipclab.lab import shell
from ipclab.prose.prose import render
from ipclab.prose.teller import Teller


def register_prose(*tellers: Teller) -> None:
    """Define `%%prose` in the notebook that calls, if one does: such cells are rendered.

    There is a teller for each language; the first one's is the notebook's.
    """
    notebook = shell.current()
    if notebook is None:
        return

    def show(line: str, cell: str) -> None:
        if line.strip():
            why = f"it got {line.strip()!r}"
            raise UsageError("%%prose takes nothing on its line", why, "put it below as Markdown")
        shell.show(shell.Text({teller.lang: render(cell, teller) for teller in tellers}))

    notebook.register_magic_function(show, "cell", "prose")
