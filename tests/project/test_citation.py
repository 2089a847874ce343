"""The citation file has what the Citation File Format 1.2.0 asks for, and says what the project
says.
"""

import re
import tomllib
from importlib import import_module

from tests.support.commands import ROOT

REQUIRED = {"authors", "cff-version", "message", "title"}
OPTIONAL = {
    *(
        "abstract",
        "commit",
        "contact",
        "date-released",
        "doi",
        "identifiers",
        "keywords",
        "license",
        "license-url",
    ),
    *(
        "preferred-citation",
        "references",
        "repository",
        "repository-artifact",
        "repository-code",
        "type",
        "url",
        "version",
    ),
}
ENTITY = {
    "name",
    "address",
    "alias",
    "city",
    "country",
    "email",
    "fax",
    "location",
    "orcid",
    "region",
    "tel",
    "website",
}


def test_the_citation_file_is_valid_and_agrees_with_the_package() -> None:
    told = import_module("yaml").safe_load((ROOT / "CITATION.cff").read_text())
    assert set(told) >= REQUIRED
    assert set(told) <= REQUIRED | OPTIONAL
    assert told["cff-version"] == "1.2.0"
    assert told["type"] in ("software", "dataset")
    assert told["authors"] and all(
        set(author) <= ENTITY and author["name"] for author in told["authors"]
    )
    assert all(isinstance(word, str) for word in told["keywords"]) and len(
        set(told["keywords"])
    ) == len(told["keywords"])
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert (told["version"], told["license"]) == (project["version"], project["license"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", str(told["date-released"]))
    assert "bundle" in told["message"]
