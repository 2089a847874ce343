"""What an output as data says, as Markdown in a language."""

from collections.abc import Mapping
from typing import Any

from ipclab.words import output
from ipclab.words.markdown import WRITERS, markdown


def written(data: Mapping[str, Any], lang: str) -> str:
    """Return the Markdown of an output that is a text: a finding, advice, words by language."""
    if data.get("kind") in WRITERS and "data" in data:
        return markdown(data, lang)
    return str(output.said(data, lang))
