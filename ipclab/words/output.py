"""What an output of ours is as data: beside what Jupyter shows, in the languages of all readers."""

from collections.abc import Mapping
from typing import Any

from ipclab.errors import LabError

MIME = "application/vnd.ipclab+json"
SCHEMA = 1
FIGURE, TABLE, TEXT = "figure", "table", "text"
ABSENT = "absent"  # of what nothing was measured
TITLE = "title"  # what Jupyter shows above a figure, which has it, too
SAID = "text"  # the key of what differs by language


def data(kind: str, said: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """Return an output of a `kind` as data: `said` by language, `more` in none."""
    return {"schema": SCHEMA, "kind": kind, SAID: dict(said), **more}


def kind_of(output: Mapping[str, Any]) -> str:
    """Return the kind of an output as data; `LabError` for a schema that is not known here."""
    schema = output.get("schema")
    if schema != SCHEMA:
        why = f"its outputs have the schema {schema!r}, and {SCHEMA} is read here"
        raise LabError("the notebook was executed by another version", why, "execute it again")
    return str(output.get("kind"))


def said(output: Mapping[str, Any], lang: str) -> Any:
    """Return what an output says in a language, or in the first that it has."""
    by_lang = output[SAID]
    return by_lang[lang] if lang in by_lang else next(iter(by_lang.values()))
