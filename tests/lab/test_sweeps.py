"""Sweeps of one mechanism or two, one size or one placement of one study have their page.

A sweep holds the limits of what it holds, and no others. `pytest -m matrix` tries each mechanism
alone and every pair of them, which takes most of an hour.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import pandas as pd
import pytest

from ipclab.bounds.floors import bound_of, limit_named
from ipclab.frames import derived
from ipclab.store.run import RunFolder
from ipclab.studies.limits import TABLE
from tests.support.commands import ROOT
from tests.support.few import some
from tests.support.findings import holes, made_by
from tests.support.told import measured, reference

PAGES = {
    path.stem.partition("_")[2]: path.stem for path in (ROOT / "notebooks").glob("[0-9]*.ipynb")
}
FACTORS = ("backend", "size_bytes", "placement")


STUDIES = [study for study in derived.studies_measured(reference()) if study in PAGES]


def levels(study: str, factor: str) -> list[Any]:
    """Return the levels that the reference has of a factor, that of the fewest points first."""
    points = measured(study, "points")
    if factor not in points:
        return []
    counts = points.groupby(factor).point.nunique()
    return [*counts.sort_values(kind="stable").index]


def bounding(points: pd.DataFrame) -> set[str]:
    """Return the names of the limits of the points of a frame."""
    questions = reference().questions
    names = set[str]()
    for row in points.drop_duplicates(["point", "op"]).to_dict("records"):
        if bound := bound_of(questions, row["study"], row["op"], row):
            names.add(limit_named(questions, bound, row))
    return names


class Sweep:
    """The frames of a run that holds, of one study, some levels of one factor."""

    def __init__(self, study: str, factor: str, kept: Sequence[Any]) -> None:
        whole = measured(study, "points")
        ours = whole[whole[factor].isin(kept)]
        self.study = study
        self.points = {*ours.point}
        self.limits = {*TABLE["basic"], *bounding(ours)}

    def __call__(self, _run: RunFolder, study: str, kind: str) -> pd.DataFrame:
        whole = measured(study, kind)
        if study == "limits":
            return whole[whole.backend.isin(self.limits)]
        if study == "calibration":
            return whole
        points = self.points if study == self.study else set[str]()
        kept = [whole[name].isin(points) for name in ("point", "other_point") if name in whole]
        return whole[pd.concat(kept, axis=1).all(axis=1)].reset_index(drop=True)


# Each study's least measured mechanism alone, two that are measured most, one size, one placement.
CASES = [
    (study, factor, kept)
    for study in STUDIES
    for factor in FACTORS
    for kept in {
        tuple(levels(study, factor)[:1]),
        tuple(levels(study, factor)[-2:]) if factor == "backend" else (),
    }
    if kept
]
EVERY = [
    (study, "backend", names)
    for study in STUDIES
    for count in (1, 2)
    for names in combinations(levels(study, "backend"), count)
]


def lacking(study: str, factor: str, kept: Sequence[Any]) -> list[str]:
    """Return what the page of a sweep says with a hole in it."""
    shown = made_by(PAGES[study], Sweep(study, factor, kept), drawn=True)
    assert shown
    return holes(shown)


@pytest.mark.slow
@pytest.mark.filterwarnings("error::UserWarning", "error::RuntimeWarning")
@pytest.mark.parametrize(("study", "factor", "kept"), some(CASES, 6))
def test_a_sweep_of_few_levels_has_its_page(study: str, factor: str, kept: Sequence[Any]) -> None:
    assert lacking(study, factor, kept) == []


@pytest.mark.matrix
@pytest.mark.parametrize(("study", "factor", "kept"), EVERY)
def test_any_mechanism_or_two_have_their_page(study: str, factor: str, kept: Sequence[Any]) -> None:
    assert lacking(study, factor, kept) == []
