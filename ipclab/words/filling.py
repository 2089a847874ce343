"""Values filled into text where placeholders name them: `{name}`, `{name:spec}`, `{address}`."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from ipclab.errors import LabError, hint
from ipclab.stats.quantity import Quantity
from ipclab.text import Text
from ipclab.words.numbers import Formatter, plain_value

Variables = Mapping[str, Any]  # of the notebook, by name
FindValue = Callable[[str], Quantity | str]  # gives the value at an address

# A name of the notebook, or the address of a measured value such as
# payload.write[mapping=kept].p50, and a format.
PLACEHOLDER = re.compile(
    r"\{\{|\}\}|\{([A-Za-z_][\w.\-]*(?:\[[^\]{}]*\](?:\.[\w.]+)?)?)(?::([^{}]*))?\}"
)
_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)


def fill(text: str, lookup: FindValue, formatter: Formatter, markdown: bool = True) -> str:
    """Return text with `{name}`, `{name:spec}` filled by `lookup`; `{{`, `}}` are braces.

    In Markdown values are escaped, so that none becomes markup; a cell or an axis is no `markdown`.
    Raises what `lookup` raises for an unknown name.
    """
    codes = [code.span() for code in _CODE.finditer(text)]

    def written(match: re.Match[str]) -> str:
        if match[1] is None:
            return match[0][0]
        value = lookup(match[1])
        if not isinstance(value, str):
            value = formatter.format(value, match[2] or "")
        if not markdown:
            return value
        is_code = any(first <= match.start() < last for first, last in codes)
        return Text(value).line.replace("`", "'") if is_code else Text(value).markdown

    return PLACEHOLDER.sub(written, text)


def placeholders(text: str) -> set[tuple[str, str]]:
    """Return the (name, spec) pairs that `text` asks for."""
    return {(m[1], m[2] or "") for m in PLACEHOLDER.finditer(text) if m[1]}


def escaped(text: str) -> str:
    """Return text as Markdown that shows it as it is."""
    return Text(text).markdown


def variable_named(name: str, namespace: Variables) -> Quantity | str:
    """Return a notebook's variable, or a part of one (`payload.gain`), as quantity or text.

    Raises `LabError` with the nearest name when there is none.
    """
    root, *rest = name.split(".")
    what = f"no value is named {name!r}"
    if root not in namespace:
        public = [other for other in namespace if not other.startswith("_")]
        raise LabError(what, "the prose asks for it", hint(name, public))
    value = namespace[root]
    for part in rest:
        try:
            value = value[part] if isinstance(value, Mapping) else getattr(value, part)
        except (KeyError, AttributeError) as error:
            why = f"{root} has no {part!r}"
            raise LabError(what, why, "see what the notebook keeps") from error
    return plain_value(value)
