"""The cell magic `%%prose`, and what else needs the notebook that calls."""

from typing import Any

from ipclab.errors import LabError, UsageError
from ipclab.lab.data import Teller
from ipclab_report.prose.prose import render
from ipclab_report.prose.questions import Variables

HINT = "ipclab-hint"  # marks what is said to who works in the notebook


def namespace() -> Variables:
    """Return the variables of the notebook that calls; none outside one."""
    return getattr(_shell(), "user_ns", {})


def register(teller: Teller) -> None:
    """Define `%%prose` in the notebook that calls, if one does: such cells are rendered."""
    shell = _shell()
    if shell is None:
        return

    def show(line: str, cell: str) -> None:
        from IPython.display import Markdown, display

        if line.strip():
            why = f"it got {line.strip()!r}"
            raise UsageError("%%prose takes nothing on its line", why, "put it below as Markdown")
        display(Markdown(render(cell, teller)))  # type: ignore[no-untyped-call]

    shell.register_magic_function(show, "cell", "prose")
    shell.set_custom_exc((LabError,), _one_line)


def show(text: str) -> None:
    """Show a sentence of Markdown in bold, in the notebook that calls, else print it."""
    if _shell() is None:
        print(text)
        return
    from IPython.display import Markdown, display

    display(Markdown(f"**{text}**"))  # type: ignore[no-untyped-call]


def hint(text: str) -> None:
    """Tell who works in the notebook what no report shows, else print it."""
    if _shell() is None:
        print(text)
        return
    from IPython.display import display

    display({"text/plain": text}, metadata={HINT: True}, raw=True)  # type: ignore[no-untyped-call]


def _shell() -> Any:
    from IPython.core.getipython import get_ipython

    return get_ipython()


def _one_line(
    shell: Any,
    kind: type[LabError],
    error: LabError,
    *_: Any,
    **__: Any,
) -> list[str]:
    """Show a LabError as one line, no traceback; IPython leaves the showing to us."""
    line = [f"{kind.__name__}: {error}"]
    shell._showtraceback(kind, error, line)
    return line
