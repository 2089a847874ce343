"""Sweeps of one mechanism or two, one size or one placement of one study: their pages are made,
figures and tables too, and so are those that every report has: the appendix, which quotes the
payload study whether it was measured or not, and the claims.

A sweep holds the limits of what it holds, and no others. `pytest -m matrix` tries every pair of
mechanisms of every study, which takes most of an hour.
"""

from functools import cache
from itertools import combinations, product
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import nbformat
import pandas as pd
import pytest

from ipclab.bounds.named import bound_of, limit_named
from ipclab.frames import derived
from ipclab.lab import canvas
from ipclab.report import pictures
from ipclab.report.lab import ReportLab
from ipclab.store.record import create
from ipclab.store.run import RunFolder
from ipclab.studies.limits import TABLE
from ipclab.words import numbers
from tests.support.bundled import NOW
from tests.support.commands import ROOT
from tests.support.told import MAGIC, READ, Told, measured, reference

pytestmark = pytest.mark.slow
ALWAYS = ("limits", "calibration")  # which every run holds
PAGES = {
    path.stem.lstrip("0123456789_"): path for path in sorted((ROOT / "notebooks").glob("*.ipynb"))
}
STUDIES = [study for study in derived.studies_measured(reference()) if study in PAGES]
FACTORS = ("backend", "size_bytes", "placement")
HOLE = "⟨not measured⟩"
QUOTED = "payload"  # by the appendix
# (study, factor, page): each study's own page, the appendix of each study and of each way to cut what
# it quotes, and the claims of studies that many name
CASES = [(study, factor, study) for study, factor in product(STUDIES, FACTORS)]
CASES += [(study, FACTORS[0], "appendix") for study in STUDIES]
CASES += [(QUOTED, factor, "appendix") for factor in FACTORS[1:]]
CASES += [("round_trip", "size_bytes", "claims"), ("faults", "backend", "claims")]
Mechanisms = tuple[str, ...]


def mechanisms(study: str) -> list[str]:
    """Return the names of what the reference compares in `study`."""
    return sorted(measured(study, "points").backend.unique())


def alone_and_beside_another(study: str) -> list[Mechanisms]:
    """Return each mechanism of `study` alone, and all of them two by two."""
    names = mechanisms(study)
    pairs = zip(names[::2], names[1::2], strict=False)
    return [*((name,) for name in names), *pairs]


SWEPT = [(study, names) for study in STUDIES for names in alone_and_beside_another(study)]
MATRIX = [(study, pair) for study in STUDIES for pair in combinations(mechanisms(study), 2)]


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


@cache
def nothing() -> RunFolder:
    """Return a run that holds no point: what is asked of it is what a study not measured gives."""
    about = {name: reference().about[name] for name in ("parameters", "machine", "seed")}
    about["questions"] = {"same": reference().questions.same}
    return create(Path(mkdtemp(dir="/tmp")), reference().machine, about, NOW)


@cache
def absent(study: str, kind: str) -> pd.DataFrame:
    return READ(nothing(), study, kind)


class Quoted:
    """What a page that was executed keeps; its figures and tables are looked at there."""

    def __init__(self, kept: dict[str, Any]) -> None:
        self.kept = kept

    def __getattr__(self, name: str) -> Any:
        return self.kept[name]

    def figure(self, name: str) -> None:
        """Say nothing for a figure."""

    table = figure


def bounding(points: pd.DataFrame) -> set[str]:
    """Return the names of the limits of the points of a frame."""
    questions = reference().questions
    names = set[str]()
    for levels in points.drop_duplicates(["point", "op"]).to_dict("records"):
        if bound := bound_of(questions, levels["study"], levels["op"], levels):
            names.add(limit_named(questions, bound, levels))
    return names


class Sweep(Told):
    """A page of a run that holds one study, and of it the `levels` of `factor`, or that one which
    has the fewest points; and the limits that every run has or that bound these points.
    """

    def __init__(self, page: str, study: str, factor: str, levels: Mechanisms = ()) -> None:
        super().__init__(page, self._read)
        whole = measured(study, "points")
        self.study, self.factor = study, factor
        self.levels = levels or (whole.groupby(factor).point.nunique().idxmin(),)
        ours = whole[whole[factor].isin(self.levels)]
        self.points = {*ours.point}
        self.limits = {*TABLE["basic"], *bounding(ours)}
        self.kept: dict[str, Any] = {}

    def _read(self, _run: RunFolder, study: str, kind: str) -> pd.DataFrame:
        if study in ALWAYS:
            whole = measured(study, kind)
            return whole[whole.backend.isin(self.limits)] if study == ALWAYS[0] else whole
        if study != self.study:
            return absent(study, kind)
        whole = measured(study, kind)
        kept = [whole[name].isin(self.points) for name in ("point", "other_point") if name in whole]
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
        shown = [each for each in super()._made() if each[0] is not ReportLab]
        keep = ReportLab.keep

        def kept(lab: ReportLab, *names: str, **values: Any) -> Any:
            made = keep(lab, *names, **values)
            self.kept |= made.values
            return made

        unsaved = [
            (pictures, "svg", lambda *_: "<svg/>"),
            *((pictures, kind, lambda *_: b"") for kind in ("png", "pdf")),
        ]
        held = [
            study
            for study in derived.studies_measured(reference())
            if study in (*ALWAYS, self.study)
        ]
        return [
            *shown,
            *unsaved,
            (numbers, "_ABSENT", HOLE),
            (ReportLab, "keep", kept),
            (ReportLab, "quoted", lambda *_: quoted(self.study, self.factor)),
            (canvas, "write_whole", lambda *_: None),
            (derived, "studies_measured", lambda run: held),
        ]


@cache
def quoted(study: str, factor: str) -> Quoted:
    """Return what the payload study's page keeps, of a run with or without that study."""
    if study != QUOTED and (study, factor) != ANY_OTHER:
        return quoted(*ANY_OTHER)
    page = Sweep(QUOTED, study, factor)
    with page:
        return Quoted(page.kept)


ANY_OTHER = next(study for study in STUDIES if study != QUOTED), FACTORS[0]


@pytest.mark.filterwarnings("error::UserWarning", "error::RuntimeWarning")
@pytest.mark.parametrize(("study", "factor", "name"), CASES)
def test_a_sweep_of_one_level_has_its_pages(study: str, factor: str, name: str) -> None:
    with Sweep(name, study, factor) as page:
        holes = [text for text in page.shown if HOLE in text and text != HOLE]  # or a cell
        assert page.shown and not holes


def made(study: str, names: Mechanisms) -> bool:
    """Tell whether the page of `study` is made of these mechanisms."""
    with Sweep(study, study, "backend", names) as page:
        return bool(page.shown)


@pytest.mark.parametrize(("study", "names"), SWEPT)
def test_any_mechanism_has_its_page_alone_and_beside_another(study: str, names: Mechanisms) -> None:
    assert made(study, names)


@pytest.mark.matrix
@pytest.mark.parametrize(("study", "names"), MATRIX)
def test_any_two_mechanisms_have_their_page(study: str, names: Mechanisms) -> None:
    assert made(study, names)
