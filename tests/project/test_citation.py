"""The citation file has what the Citation File Format 1.2.0 asks for, and CodeMeta, the licence and
the project say the same.
"""

import json
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


def test_codemeta_says_what_the_citation_and_the_licence_say() -> None:
    cited = import_module("yaml").safe_load((ROOT / "CITATION.cff").read_text())
    told = json.loads((ROOT / "codemeta.json").read_text())
    same = {"version": "version", "dateModified": "date-released", "keywords": "keywords"}
    assert {name: told[name] for name in same} == {
        name: str(cited[of]) if of == "date-released" else cited[of] for name, of in same.items()
    }
    assert told["description"] == cited["abstract"]
    assert told["license"] == f"https://spdx.org/licenses/{cited['license']}"
    year, holder = re.findall(
        r"^Copyright \(c\) (\d{4}) (.+)$", (ROOT / "LICENSE").read_text(), re.MULTILINE
    )[0]
    assert (told["copyrightYear"], told["copyrightHolder"]["name"]) == (int(year), holder)
    authors = [author["name"] for author in told["author"]]
    assert authors == [author["name"] for author in cited["authors"]] == [holder]
    for place in (told["softwareHelp"]["url"], told["referencePublication"]["url"]):
        assert (ROOT / place).is_file(), place
