"""ARTIFACT.md is what the claims and the committed run give, and what it names is there."""

import re

import pytest

from ipclab.paths import Paths
from ipclab.render import artifact
from tests.support.commands import ROOT


@pytest.mark.slow
def test_the_list_of_claims_is_current() -> None:
    paths = Paths(ROOT)
    told = (ROOT / artifact.NAME).read_text("utf-8")
    assert told == artifact.made(paths), "write it again: make artifact"
    for page, name in re.findall(r"reports/en/([\w-]+)\.html#([\w-]+)", told):
        source = (paths.notebooks / f"{page}.ipynb").read_text("utf-8")
        assert name.endswith(f"-{artifact.TABLE}") or f'\\"{name}\\"' in source
        assert (
            name.removesuffix(f"-{artifact.TABLE}").replace("-", "_") in source
            or f'\\"{name}\\"' in source
        )
