"""Every number of the frames, the contests and the reports is what the raw samples give, computed
once more.
"""

import math
import sys
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from ipclab.frames import derived
from ipclab.lab.lab import Lab
from ipclab.lab.runs import newest_full
from ipclab.paths import Paths
from ipclab.stats.quantity import Quantity
from ipclab.store import run as folder
from ipclab.store.run import RunFolder
from ipclab.words.numbers import Formatter
from tests.support.commands import ROOT, environment, ran
from tests.support.few import where
from tests.support.recomputed import SHARES, Raw, is_time, mean_of
from tests.support.told import READ, Told, reference

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]
NOTEBOOKS = sorted(path.stem for path in (ROOT / "notebooks").glob("0*.ipynb"))
CLOSE = 1e-9
CONTEST = ("op", "question", "among", "placement", "size_bytes", "point")


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of what the tutorial's first command makes: a smoke run, measured just now, and
    its pages; print is for tests of the reference run.
    """
    path = tmp_path_factory.mktemp("first")
    tutorial = (ROOT / "docs/tutorial.md").read_text("utf-8")
    assert "make report PROFILE=smoke REPORT_LANG=en " in tutorial
    words = "report --profile smoke --lang en --measure --format html --out"
    command = [sys.executable, "-m", "ipclab", *words.split(), str(path / "reports")]
    done = ran(command, 850, env=environment(path))
    assert done.returncode == 0, done.stderr
    return path


@pytest.fixture(scope="module")
def smoke(first: Path) -> RunFolder:
    """A run that was measured just now, with all of its samples."""
    (about,) = first.rglob("run.json")
    return folder.read_run(about.parent)


@pytest.mark.matrix
def test_the_first_report_of_the_tutorial_is_made(
    first: Path, smoke: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IPCLAB_DATA", str(first / "data"))
    paths = Paths(ROOT)
    assert smoke.complete and newest_full(paths, "smoke") == smoke
    # so `make report` measures it, and does not show the smoke run again
    assert newest_full(paths, "quick") is None
    out = first / "reports/en"
    pages = {page.name: page.read_text("utf-8") for page in out.glob("*.html")}
    assert "00_appendix.html" in pages
    # Of studies that a smoke run does not hold: no page and no link.
    for absent in ("07_faults.html", "08_objects.html", "09_tasks.html", "10_spin.html"):
        assert absent not in pages and not any(absent in page for page in pages.values())
    assert not list((first / "tmp").glob("ipclab-*"))


@pytest.fixture(params=[pytest.param("smoke", marks=pytest.mark.matrix), "reference"])
def run(request: pytest.FixtureRequest) -> RunFolder:
    return reference() if request.param == "reference" else request.getfixturevalue("smoke")


def close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=CLOSE, abs_tol=1e-12) or (
        math.isnan(one) and math.isnan(other)
    )


@cache
def samples_of(run: Path) -> Raw:
    """Return the samples of a run, which are decoded once for all tests."""
    return Raw(run)


def rows_of(run: RunFolder, study: str, kind: str) -> list[dict[str, Any]]:
    """Return the rows of a frame."""
    rows: list[Any] = derived.read_frame(run, study, kind).to_dict("records")
    return rows


def test_every_value_of_the_frames_is_that_of_the_samples(run: RunFolder) -> None:
    raw, wrong, count = samples_of(run.path), [], 0
    for study in derived.studies_measured(run):
        for row in rows_of(run, study, "points"):
            named = study, row["point"], row["op"], row["metric"]
            value = raw.value(*named)
            if value is None and row["metric"] in SHARES and run is reference():
                continue  # a thinned point keeps what was found of all its samples
            count += 1
            if not close(math.nan if value is None else value, row["value"]):
                wrong.append((*named, value, row["value"]))
    assert wrong == []
    assert count > 1_000


def test_every_ratio_of_a_contest_is_that_of_its_heats(run: RunFolder) -> None:
    raw, wrong, count = samples_of(run.path), [], 0
    for study in derived.studies_measured(run):
        for row in rows_of(run, study, "contests"):
            if math.isnan(row["ratio"]):
                continue
            over, under = (study, row["other_point"], row["op"]), (study, row["point"], row["op"])
            ratio = raw.rival_ratio(over, under)
            count += 1
            if not close(ratio, row["ratio"]):
                wrong.append((*over, row["point"], ratio, row["ratio"]))
    assert wrong == []
    assert count


class Printed(Told):
    """A notebook of a run, and each quantity that its prose and its tables print, with its text."""

    def __init__(self, name: str, run: RunFolder) -> None:
        super().__init__(name, READ, run)
        self.printed = list[tuple[Quantity, str, str]]()

    def _made(self) -> list[tuple[Any, str, Any]]:
        written = Formatter.format

        def noted(formatter: Formatter, quantity: Quantity, spec: str = "") -> str:
            text = written(formatter, quantity, spec)
            self.printed.append((quantity, spec, text))
            return text

        kept = [each for each in super()._made() if each[:2] != (Lab, "table")]
        return [*kept, (Formatter, "format", noted)]


@cache
def printed(name: str, run: Path) -> list[tuple[Quantity, str, str]]:
    """Return what a notebook prints of a run: each quantity, how it is asked for, and its text."""
    with Printed(name, folder.read_run(run)) as page:
        return [*page.printed]


def quotient(
    raw: Raw, over: list[str], under: list[str], contests: set[frozenset[tuple[str, ...]]]
) -> float | None:
    """Return the ratio of two rows (study, point, op, metric) as a report has to tell it."""
    medians = over[3] == under[3] == "p50" and over[:2] != under[:2]
    if medians and (ratio := raw.ratio(over[:3], under[:3])):
        return ratio
    if medians and frozenset((tuple(over[:3]), tuple(under[:3]))) in contests:
        return raw.rival_ratio(over[:3], under[:3])
    if not {"bandwidth", "min", "max", *SHARES} & {over[3], under[3]}:
        one, other = raw.keyed(*over), raw.keyed(*under)
        shared = one.keys() & other.keys()
        if len(shared) > 1 and all(other[key] for key in shared):
            of_both = [
                mean_of([side[key] for key in shared], is_time(*named[2:]))
                for side, named in ((one, over), (other, under))
            ]
            return of_both[0] / of_both[1]
    top, bottom = raw.value(*over), raw.value(*under)
    return top / bottom if top and bottom else None  # of a thinned run tails are not known


@cache
def rivals(path: Path) -> set[frozenset[tuple[str, ...]]]:
    """Return the pairs of (study, point, op) that stand in the same contest."""
    run = folder.read_run(path)
    entrants: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for study in derived.studies_measured(run):
        for row in rows_of(run, study, "contests"):
            contest = entrants.setdefault((study, *(str(row[name]) for name in CONTEST)), set())
            contest |= {
                (study, row[name], row["op"]) for name in ("point", "other_point") if row[name]
            }
    return {frozenset(pair) for contest in entrants.values() for pair in combinations(contest, 2)}


@cache
def units(run: Path, study: str) -> dict[tuple[str, ...], str]:
    """Return the unit of each row of a study's points, by point, op and metric."""
    rows = rows_of(folder.read_run(run), study, "points")
    return {(row["point"], row["op"], row["metric"]): row["unit"] for row in rows}


def is_row(run: RunFolder, row: str, unit: str = "") -> bool:
    """Tell whether `row` is one of the points' frame; a notebook computes others from these, and
    other units.
    """
    study, *rest = row.split("/")
    if study not in derived.studies_measured(run):
        return False  # a value that a text quotes
    known = units(run.path, study).get(tuple(rest))
    return known is not None and unit in ("", known)


@pytest.mark.parametrize("name", where(NOTEBOOKS, lambda name: name == "08_objects"))
def test_every_number_of_a_report_is_that_of_the_samples(name: str, run: RunFolder) -> None:
    raw, contests, wrong, count = samples_of(run.path), rivals(run.path), [], 0
    for quantity, _, _ in printed(name, run.path):
        parts, scale = made_of(quantity)
        if not parts or not all(is_row(run, row) for row in parts.values()):
            continue
        # a count of times is another quantity
        scaled = scale != 1 and quantity.unit != "count"
        if len(parts) == 1 and not is_row(run, parts[1], quantity.unit) and not scaled:
            continue
        over, *under = (row.split("/") for _, row in sorted(parts.items(), reverse=True))
        told = quotient(raw, over, under[0], contests) if under else raw.value(*over)
        count += told is not None
        if told is not None and not close(told * scale, quantity.value):
            wrong.append((parts, told * scale, quantity.value))
    assert wrong == []
    # a smoke run has none of these
    not_held = {"faults", "objects", "tasks"} - {*derived.studies_measured(run)}
    assert count or name.partition("_")[2] in not_held


def made_of(quantity: Quantity) -> tuple[dict[int, str], float]:
    """Return the rows whose value or ratio a quantity is, by power, and the factor; none else."""
    if isinstance(quantity.value, int | float):
        product = quantity.product
        # what has no launches of its own has its value in its name
        rows = {power: part.name.partition("=")[0] for part, power in product.factors if part.run}
        if len(rows) == len(product.factors) and rows.keys() in ({1}, {1, -1}):
            return rows, product.number
    return {}, 1.0
