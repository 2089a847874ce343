"""The cell magic `%%prose`, whose cells any Jupyter shows."""

import re
from typing import Any

from ipclab.errors import UsageError
from ipclab.lab import shell
from ipclab.prose.prose import asked, is_open, open_items, told_prose
from ipclab.prose.teller import Teller

MARKDOWN = "text/markdown"
WRITTEN = "ipclab-prose"  # the prose as a report reads it, where Jupyter shows another
OPEN = "ipclab-open"  # nothing of it was decided
OPEN_ITEMS = "ipclab-open-items"  # how many of its list's last items were not
_REFERENCE = re.compile(r"\[\]\(#([\w-]+)\)")
_CAPTION = re.compile(r"^: (.+?) \{#([\w-]+)\}$", re.MULTILINE)


def register_prose(teller: Teller) -> None:
    """Define `%%prose` in the notebook that calls, if one does: such cells are rendered."""
    notebook = shell.current()
    if notebook is None:
        return

    def show(line: str, cell: str) -> None:
        from IPython.display import display

        if line.strip():
            why = f"it got {line.strip()!r}"
            raise UsageError("%%prose takes nothing on its line", why, "put it below as Markdown")
        answers = asked(cell, teller)
        data, metadata = mime_bundle(
            told_prose(answers, teller), is_open(answers), open_items(answers)
        )
        display(data, metadata=metadata, raw=True)  # type: ignore[no-untyped-call]

    notebook.register_magic_function(show, "cell", "prose")


def mime_bundle(
    prose: str, undecided: bool = False, open_items: int = 0
) -> tuple[dict[str, str], dict[str, Any]]:
    """Return data and metadata of prose; a reference and a table's caption are HTML of Jupyter's.

    A report numbers what they name, and so reads them as they were written.
    """
    shown = _REFERENCE.sub(r"[→ \1](#\1)", prose)
    shown = _CAPTION.sub(r'<strong id="\2">\1</strong>', shown)
    written = {} if shown == prose else {WRITTEN: prose}
    told = written | ({OPEN: True} if undecided else {})
    return {MARKDOWN: shown}, told | ({OPEN_ITEMS: open_items} if open_items else {})
