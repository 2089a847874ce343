"""Sweeps of one mechanism, one size or one placement of one study: their pages are made, figures
and tables too.
"""

from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import pandas as pd
import pytest

from ipclab.frames import derived
from ipclab.lab import canvas, formats
from ipclab.lab.lab import Lab
from ipclab.store.run import RunFolder
from tests.support.commands import ROOT
from tests.support.told import MAGIC, Told, measured, reference

pytestmark = pytest.mark.slow
ALWAYS = ("limits", "calibration")  # which every run holds
PAGES = {
    path.stem.lstrip("0123456789_"): path for path in sorted((ROOT / "notebooks").glob("*.ipynb"))
}
STUDIES = [study for study in derived.measured(reference()) if study in PAGES]
FACTORS = ("backend", "size_bytes", "placement")
# studies that many claims name
CLAIMS = [("payload", "backend"), ("round_trip", "size_bytes"), ("faults", "backend")]


@cache
def cells(path: Path) -> list[tuple[bool, Any]]:
    """Return the cells of a notebook after its parameters: (it is prose, the prose or compiled
    code).
    """
    found: list[tuple[bool, Any]] = []
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code" and "lab" not in cell.metadata.get("tags", []):
            prose = cell.source.startswith(MAGIC)
            content = (
                cell.source.partition("\n")[2] if prose else compile(cell.source, path.stem, "exec")
            )
            found.append((prose, content))
    return found


class Sweep(Told):
    """A page of a run that holds one study, and of it the one level of `factor` that has the fewest
    points.
    """

    def __init__(self, page: str, study: str, factor: str) -> None:
        super().__init__(page, self._read)
        whole = measured(study, "points")
        self.study, self.level = study, whole.groupby(factor).point.nunique().idxmin()
        self.points = {*whole[whole[factor] == self.level].point}

    def _read(self, _run: RunFolder, study: str, kind: str) -> pd.DataFrame:
        whole = measured(study, kind)
        if study in ALWAYS:
            return whole
        kept = [whole[name].isin(self.points) for name in ("point", "other_point") if name in whole]
        kept += [pd.Series(study == self.study, whole.index)]
        return whole[pd.concat(kept, axis=1).all(axis=1)].reset_index(drop=True)

    def _run(self) -> None:
        for is_prose, content in cells(PAGES[self.name]):
            if is_prose:
                self._prose(content)
            else:
                exec(content, self.values)
                if "run" in self.values and "lab" not in self.values:
                    self.values["run"] = str(reference().path)

    def _made(self) -> list[tuple[Any, str, Any]]:
        shown = [each for each in super()._made() if each[0] is not Lab]
        unsaved = [
            (formats, "svg", lambda _: "<svg/>"),
            *((formats, kind, lambda _: b"") for kind in ("png", "pdf")),
        ]
        held = [study for study in derived.measured(reference()) if study in (*ALWAYS, self.study)]
        return [
            *shown,
            *unsaved,
            (canvas, "write_whole", lambda *_: None),
            (derived, "measured", lambda run: held),
        ]


@pytest.mark.filterwarnings("error::UserWarning", "error::RuntimeWarning")
@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("study", STUDIES)
def test_a_sweep_of_one_level_has_its_page(study: str, factor: str) -> None:
    with Sweep(study, study, factor) as page:
        assert page.shown


@pytest.mark.parametrize(("study", "factor"), CLAIMS)
def test_claims_are_judged_on_a_sweep(study: str, factor: str) -> None:
    with Sweep("claims", study, factor) as page:
        assert page.shown
