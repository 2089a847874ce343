"""The cell magic `%%prose`: translated Markdown with values, the same in JupyterLab and in reports."""

from collections.abc import Callable, Mapping
from typing import Any

from ipclab.errors import LabError, UsageError
from ipclab.lab import prose

TextChange = Callable[[str], str]


def namespace() -> Mapping[str, Any]:
    """Return the variables of the notebook that calls; none outside one."""
    from IPython.core.getipython import get_ipython

    shell: Any = get_ipython()
    return {} if shell is None else shell.user_ns


def register(translate: TextChange, fill: TextChange) -> None:
    """Define `%%prose` in the notebook that calls, if one does.

    `translate` maps msgid to text, `fill` replaces placeholders.
    """
    from IPython.core.getipython import get_ipython

    shell: Any = get_ipython()
    if shell is None:
        return

    def show(line: str, cell: str) -> None:
        from IPython.display import Markdown, display

        if line.strip():
            raise UsageError(
                "%%prose takes nothing on its line", f"it got {line.strip()!r}", "put it below as Markdown"
            )
        display(Markdown(prose.render(cell, translate, fill)))  # type: ignore[no-untyped-call]

    shell.register_magic_function(show, "cell", "prose")
    shell.set_custom_exc((LabError,), _one_line)


def _one_line(shell: Any, kind: type[LabError], error: LabError, *_: Any, **__: Any) -> list[str]:
    """Show a LabError as its one line instead of a traceback; IPython leaves the showing to this handler."""
    line = [f"{kind.__name__}: {error}"]
    shell._showtraceback(kind, error, line)
    return line
