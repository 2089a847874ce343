"""The cell magic `%%prose`: translated Markdown with facts, the same in JupyterLab and in reports."""

from collections.abc import Callable
from typing import Any

from ipclab.errors import LabError, UsageError
from ipclab.lab import prose

TextChange = Callable[[str], str]


def register(shell: Any, translate: TextChange, fill: TextChange) -> None:
    """Define `%%prose` in an IPython shell: `translate` maps msgid to text, `fill` replaces placeholders."""

    def show(line: str, cell: str) -> None:
        from IPython.display import Markdown, display

        if line.strip():
            raise UsageError(
                "%%prose takes nothing on its line", f"it got {line.strip()!r}", "put it below as Markdown"
            )
        display(Markdown(prose.render(cell, translate, fill)))  # type: ignore[no-untyped-call]

    shell.register_magic_function(show, "cell", "prose")
    shell.set_custom_exc((LabError,), _one_line)


def load_ipython_extension(shell: Any) -> None:
    """Define `%%prose` for `%load_ext ipclab.lab.magic`: English, placeholders left as they are."""
    register(shell, str, str)


def _one_line(shell: Any, kind: type[LabError], error: LabError, *_: Any, **__: Any) -> list[str]:
    """Show a LabError as its one line instead of a traceback; IPython leaves the showing to this handler."""
    line = [f"{kind.__name__}: {error}"]
    shell._showtraceback(kind, error, line)
    return line
