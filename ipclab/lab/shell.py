"""The notebook that calls: its variables, what is told to who works in it, errors of one line."""

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ipclab.errors import LabError
from ipclab.words import output
from ipclab.words.filling import Variables

_REFERENCE = re.compile(r"\[\]\(#([\w-]+)\)")
_CAPTION = re.compile(r"^: (.+?) \{#([\w-]+)\}$", re.MULTILINE)
_SHOWN_REFERENCE = re.compile(r"\[→ ([\w-]+)\]\(#\1\)")
_SHOWN_CAPTION = re.compile(r'^<strong id="([\w-]+)">(.+?)</strong>$', re.MULTILINE)


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


@dataclass(frozen=True)
class Multilingual:
    """Markdown by language; the first is what Jupyter shows."""

    said: Mapping[str, str]

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        first = next(iter(self.said.values()))
        data = output.data(output.TEXT, self.said)
        return {output.MIME: data, "text/markdown": jupyters(first), "text/plain": first}


def show(text: Multilingual) -> None:
    """Show Markdown in the notebook that calls, else write it to stderr in the first language."""
    if current() is None:
        print(next(iter(text.said.values())), file=sys.stderr)
    else:
        display(text._repr_mimebundle_())


def display(data: Mapping[str, Any], metadata: Mapping[str, Any] | None = None) -> None:
    """Show data in several forms in the notebook that calls."""
    from IPython import display as ipython

    ipython.display(data, metadata=metadata, raw=True)  # type: ignore[no-untyped-call]


def jupyters(markdown: str) -> str:
    """Return Markdown as Jupyter shows it: references and a table's caption are HTML of its own.

    A report numbers what they name, and so reads them as they were written.
    """
    shown = _REFERENCE.sub(r"[→ \1](#\1)", markdown)
    return _CAPTION.sub(r'<strong id="\2">\1</strong>', shown)


def as_written(markdown: str) -> str:
    """Return Markdown that `jupyters` has changed as it was written."""
    written = _SHOWN_REFERENCE.sub(r"[](#\1)", markdown)
    return _SHOWN_CAPTION.sub(r": \2 {#\1}", written)


def _one_line(shell: Any, kind: type[LabError], error: LabError, *_: Any, **__: Any) -> list[str]:
    """Show a LabError as one line, no traceback; IPython leaves the showing to us."""
    line = [f"{kind.__name__}: {error}"]
    shell._showtraceback(kind, error, line)
    return line
