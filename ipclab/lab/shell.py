"""The notebook that calls: its variables, what is told to who works in it, errors of one line."""

from typing import Any

from ipclab.errors import LabError
from ipclab.words.filling import Variables


def current() -> Any:
    """Return the IPython shell of the notebook that calls; None outside one."""
    from IPython.core.getipython import get_ipython

    return get_ipython()


def namespace() -> Variables:
    """Return the variables of the notebook that calls; none outside one."""
    return getattr(current(), "user_ns", {})


def register() -> None:
    """Have a `LabError` shown as one line in the notebook that calls, if one does."""
    if (shell := current()) is not None:
        shell.set_custom_exc((LabError,), _one_line)


def show(text: str) -> None:
    """Show a sentence of Markdown in bold, in the notebook that calls, else print it."""
    if current() is None:
        print(text)
        return
    from IPython.display import Markdown, display

    display(Markdown(f"**{text}**"))  # type: ignore[no-untyped-call]


def _one_line(shell: Any, kind: type[LabError], error: LabError, *_: Any, **__: Any) -> list[str]:
    """Show a LabError as one line, no traceback; IPython leaves the showing to us."""
    line = [f"{kind.__name__}: {error}"]
    shell._showtraceback(kind, error, line)
    return line
