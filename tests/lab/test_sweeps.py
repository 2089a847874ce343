"""Sweeps of no mechanism, one or two, one size, placement or set of one study have their page.

A sweep holds the limits of what it holds, and no others.
"""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import pytest

from ipclab.bounds.floors import bound_of, limit_named
from ipclab.frames import derived
from ipclab.store.run import RunFolder
from ipclab.studies.limits import TABLE
from tests.support.commands import ROOT
from tests.support.executed import contradicted, executed, holes
from tests.support.few import some
from tests.support.told import measured, reference

PAGES = {
    path.stem.partition("_")[2]: path.stem for path in (ROOT / "notebooks").glob("[0-9]*.ipynb")
}
FACTORS = ("backend", "size_bytes", "placement", "set")
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


def cases(study: str) -> list[tuple[str, str, tuple[Any, ...]]]:
    """Return sweeps of a study: nothing of it, the least measured level of each factor, and the two
    mechanisms that are measured most.
    """
    of_one = [(study, factor, tuple(levels(study, factor)[:1])) for factor in FACTORS]
    of_none, of_two = (
        (study, "backend", ()),
        (study, "backend", tuple(levels(study, "backend")[-2:])),
    )
    return [case for case in (of_none, *of_one, of_two) if case[2] or case == of_none]


CASES = [case for study in STUDIES for case in cases(study)]
ALONE = [(study, "backend", (name,)) for study in STUDIES for name in levels(study, "backend")]


def check(study: str, factor: str, kept: Sequence[Any]) -> None:
    """Check that the page of a sweep is true of its rows and has no hole."""
    page = executed(PAGES[study], Sweep(study, factor, kept), drawn=True)
    assert contradicted(page.said, measured(study, "points")) == []
    assert holes(page.said) == []


@pytest.mark.slow
@pytest.mark.filterwarnings("error::UserWarning", "error::RuntimeWarning")
@pytest.mark.parametrize(("study", "factor", "kept"), some(CASES, 12))
def test_a_sweep_of_few_levels_has_its_page(study: str, factor: str, kept: Sequence[Any]) -> None:
    check(study, factor, kept)


@pytest.mark.matrix
@pytest.mark.parametrize(("study", "factor", "kept"), ALONE)
def test_any_mechanism_alone_has_its_page(study: str, factor: str, kept: Sequence[Any]) -> None:
    check(study, factor, kept)
