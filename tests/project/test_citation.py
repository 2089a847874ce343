"""The citation file, CodeMeta, the licence and the project say the same."""

import json
import re
import tomllib
from typing import Any

import yaml

from tests.support.commands import ROOT

CITED: dict[str, Any] = yaml.safe_load((ROOT / "CITATION.cff").read_text())


def test_the_citation_is_that_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert CITED["cff-version"] == "1.2.0" and CITED["message"] and CITED["title"]
    assert (CITED["version"], CITED["license"]) == (project["version"], project["license"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", str(CITED["date-released"]))


def test_codemeta_says_what_the_citation_and_the_licence_say() -> None:
    told = json.loads((ROOT / "codemeta.json").read_text())
    assert told["version"] == CITED["version"] and told["keywords"] == CITED["keywords"]
    assert told["dateModified"] == str(CITED["date-released"])
    assert told["description"] == CITED["abstract"]
    assert told["license"] == f"https://spdx.org/licenses/{CITED['license']}"
    licence = re.search(
        r"^Copyright \(c\) (\d{4}) (.+)$", (ROOT / "LICENSE").read_text(), re.MULTILINE
    )
    assert licence
    year, holder = licence.groups()
    assert (told["copyrightYear"], told["copyrightHolder"]["name"]) == (int(year), holder)
    authors = [author["name"] for author in told["author"]]
    assert authors == [author["name"] for author in CITED["authors"]] == [holder]
    for place in (told["softwareHelp"]["url"], told["referencePublication"]["url"]):
        assert (ROOT / place).is_file(), place
