"""What an output as data says, as Markdown in a language."""

from collections.abc import Mapping
from typing import Any

from ipclab.words import output


def written(data: Mapping[str, Any], lang: str) -> str:
    """Return the Markdown of an output of the kind text or finding for readers of `lang`."""
    return str(output.said(data, lang))
