"""The citation file, CodeMeta and the project say the same."""

import json
import tomllib
from typing import Any

import yaml

from tests.support.commands import ROOT

CITED: dict[str, Any] = yaml.safe_load((ROOT / "CITATION.cff").read_text())


def test_the_citation_is_that_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert (CITED["version"], CITED["license"]) == (project["version"], project["license"])


def test_codemeta_says_what_the_citation_says() -> None:
    told = json.loads((ROOT / "codemeta.json").read_text())
    assert (told["version"], told["description"]) == (CITED["version"], CITED["abstract"])
    assert told["dateModified"] == str(CITED["date-released"])
    authors = [author["name"] for author in told["author"]]
    assert authors == [author["name"] for author in CITED["authors"]]
