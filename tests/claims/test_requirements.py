"""Requirements: each names its statistic; one violating sample violates a maximum, whatever the
rest, and what is not violated is shown by enough launches only.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ipclab.claims.audit import with_own
from ipclab.claims.claim import HOLDS
from ipclab.claims.required import requirements, requirements_table
from ipclab.claims.requirement import NOT_SHOWN, VIOLATED
from ipclab.errors import UsageError
from ipclab.lab.lab import Lab
from ipclab.paths import checkout
from ipclab.report.appendix.thin import thinned
from ipclab.store.door import point_of
from ipclab.store.launch import UNRECORDED, Launch
from ipclab.store.point import Point
from ipclab.store.record import Record
from ipclab.store.run import RunFolder
from ipclab.store.samples import Measured, encode
from ipclab.studies.profile import PROFILES
from ipclab.studies.questions import questions_of, questions_plain
from tests.support.made import begun

OP, SAMPLES, BOUND = "round-trip", 40, 2_000
REQUIREMENT = """\
[[requirement]]
id = "R-1"
language = "en"
text = "Every answer takes at most {bound:us,int}."
statistic = "max"
coverage = "95/95"
rule = "round_trip.round-trip[backend=unix] at_most 2 us"
"""
ALONE = REQUIREMENT.replace('coverage = "95/95"\n', "")
COVERAGE = REQUIREMENT.replace('"max"', '"coverage"')
TAIL = ALONE.replace('"max"', '"p99.9"')
MEDIAN = ALONE.replace('"max"', '"median"')


def run_of(folder: Path, launches: int, planted: int = 0, fixed: bool = True) -> Record:
    """Return a run of one point whose samples are below the bound, but so many launches' last."""
    questions = questions_plain(questions_of(PROFILES["full"]))
    number: dict[str, Any] = {"launches": launches} if fixed else {}
    run = begun(folder, questions, profile="full", studies=["limits", "round_trip"], **number)
    random = np.random.default_rng(3)
    made = []
    for order in range(launches):
        times = random.integers(1_000, 1_900, SAMPLES)
        if order % 7 == 3 and planted:
            times[-1] = BOUND + 1
            planted -= 1
        made.append(Launch({OP: times}, {}, order, order * 10**6, 10**6, facts={"lost": 0}))
    point = Point("round_trip", "unix", 100, "cross", {"arm": "main"}, "", (OP,))
    run.place([(point, encode(Measured(point, made, "enough")))])
    run.about["finished"] = run.about["begun"]
    run.save()
    return run


Runs = Callable[..., Record]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Give the runs of `run_of`, each made once; no test changes one."""

    @cache
    def made(launches: int, planted: int = 0, fixed: bool = True) -> Record:
        return run_of(tmp_path_factory.mktemp("made"), launches, planted, fixed)

    return made


def lab_with(tmp_path: Path, run: RunFolder, text: str, lang: str = "en") -> Lab:
    (tmp_path / "mine.toml").write_text(text)
    lab: Lab = with_own(Lab.of(run, checkout(), lang), str(tmp_path / "mine.toml"))
    return lab


def judged(tmp_path: Path, run: RunFolder, text: str) -> tuple[str, str]:
    (row,) = requirements(lab_with(tmp_path, run, text)).itertuples()
    return str(row.word), str(row.why)


@pytest.mark.parametrize(
    ("launches", "planted", "verdict"),
    [
        (10, 1, "violated in 1 of 400 operations"),
        (10, 0, "not shown: 49 more launches, all within the bound, would show it"),
        (59, 0, "holds"),
        (93, 1, "violated in 1 of 3,720 operations"),  # however many
    ],
)
def test_a_violating_sample_violates_and_enough_launches_show(
    tmp_path: Path, runs: Runs, launches: int, planted: int, verdict: str
) -> None:
    lab = lab_with(tmp_path, runs(launches, planted), REQUIREMENT)
    table = requirements_table(lab)
    assert table.rows[0][-1] == verdict
    assert str(launches) in table.rows[0][3]
    assert len(table.columns) == 6


@pytest.mark.parametrize("text", [REQUIREMENT, MEDIAN])
def test_every_cell_is_in_the_language_of_its_reader(tmp_path: Path, runs: Runs, text: str) -> None:
    at_once, korean = (
        requirements_table(lab_with(tmp_path, runs(10, 1), text, lang)) for lang in ("en,ko", "ko")
    )
    (row,), (again,) = at_once.others["ko"].rows, korean.rows
    assert row == again != at_once.rows[0]
    assert "every sample" not in row[2] and "median" not in row[2]


def test_what_a_few_samples_violate_are_maxima_alone(tmp_path: Path, runs: Runs) -> None:
    run = runs(93, 1)
    assert judged(tmp_path, run, ALONE) == (VIOLATED, "")
    assert judged(tmp_path, run, COVERAGE) == (HOLDS, "")  # 92 of 93 launches
    assert judged(tmp_path, run, MEDIAN) == (HOLDS, "")
    few = thinned(run, 4, tmp_path / "thin")
    lab = lab_with(tmp_path, few, ALONE)
    assert requirements(lab).verdict[0] == "violated in at least 1 of 3,720 operations"


def test_a_violation_among_operations_that_are_no_samples_violates_a_maximum(
    tmp_path: Path,
) -> None:
    run = run_of(tmp_path / "runs", 59)
    (file,) = (run.path / "points" / "round_trip").iterdir()
    measured = point_of(run, "round_trip", file.stem)
    for launch in measured.launches:
        launch.samples[UNRECORDED + OP] = np.full(30, 1_500, np.int64)
    clean = encode(measured)
    measured.launches[7].samples[UNRECORDED + OP][11] = BOUND + 1
    for content, found in ((clean, HOLDS), (encode(measured), VIOLATED)):
        run.place([(measured.point, content)])
        run.save()
        lab = lab_with(tmp_path, run, REQUIREMENT)
        (row,) = requirements(lab).itertuples()
        assert row.word == found
        assert "2,360 samples, 1,770 operations beside these" in str(row.n)
    assert row.verdict == "violated in 1 of 4,130 operations"
    assert {*lab.points("round_trip").op} == {OP, "launch"}, "values are those of samples"


@pytest.mark.parametrize(
    ("launches", "planted", "verdict"),
    [
        (58, 0, "not shown: 1 more launches"),
        (59, 0, "holds"),
        (59, 1, "not shown: 34 more launches"),  # 93 in all
        (59, 7, "violated"),
    ],
)
def test_a_coverage_is_a_share_of_launches(
    tmp_path: Path, runs: Runs, launches: int, planted: int, verdict: str
) -> None:
    lab = lab_with(tmp_path, runs(launches, planted), COVERAGE)
    assert requirements(lab).verdict[0].startswith(verdict)


def test_what_cannot_be_shown_says_why(tmp_path: Path, runs: Runs) -> None:
    assert judged(tmp_path, runs(59), ALONE) == (NOT_SHOWN, "no-end")
    unfixed = runs(60, fixed=False)
    assert judged(tmp_path, unfixed, REQUIREMENT) == (NOT_SHOWN, "unfixed")
    assert judged(tmp_path, unfixed, TAIL) == (NOT_SHOWN, "few-samples")
    absent = ALONE.replace("backend=unix", "backend=tcp")
    assert judged(tmp_path, unfixed, absent) == ("not testable here", "unmeasured")


ADDRESS = "round_trip.round-trip[backend=unix]"
LOST = "round_trip.launch[backend=unix].lost"


@pytest.mark.parametrize(
    ("rule", "n", "verdict"),
    [
        (f"{ADDRESS} at_most 1 us", "10 launches, 400 samples", "violated"),
        (f"{ADDRESS} / {ADDRESS} below 0.5", "10 launches, 400 samples", "violated"),
        (f"{LOST} exactly 0", "10 launches, 10 samples", "holds"),
    ],
)
def test_what_frames_decide_counts_no_samples_beyond_the_bound(
    tmp_path: Path, runs: Runs, rule: str, n: str, verdict: str
) -> None:
    text = MEDIAN.replace(f"{ADDRESS} at_most 2 us", rule).replace("{bound:us,int}", "{bound}")
    (row,) = requirements(lab_with(tmp_path, runs(10, 1), text)).itertuples()
    assert (row.n, row.verdict, row.word) == (n, verdict, verdict)


def test_a_violated_tail_counts_no_samples(tmp_path: Path) -> None:
    text = TAIL.replace("at_most 2 us", "at_most 1 us")
    lab = lab_with(tmp_path, run_of(tmp_path / "runs", 300), text)
    assert requirements(lab).verdict[0] == "violated"


@pytest.mark.parametrize(
    ("old", "new", "line", "why"),
    [
        ('statistic = "max"\n', "", 1, "a requirement has no 'statistic'; add statistic = ..."),
        ('"max"', '"mean"', 5, "take max, p99.9, coverage or median"),
        ('"max"', '"median"', 6, "a median covers no share"),
        ('"95/95"', '"95"', 6, "it has no confidence; write coverage/confidence in percent: 95/95"),
        (ADDRESS, f"{ADDRESS}.p50", 7, "one address of an operation, without a metric"),
        (ADDRESS, f"{ADDRESS} / {ADDRESS}", 7, "not of what is computed"),
        ("at_most 2 us", "at_least 2 us", 7, "has one bound of time"),
        ("at_most 2 us", "at_most 2 us rounded", 7, "exactly as it is written"),
        ("at_most 2 us", "at_most 2", 7, "has one bound of time"),
        ("{bound:us,int}", "{least}", 4, "least"),
        ("{bound:us,int}", "20 us", 4, "it says 20 us, which the rule does not hold"),
        ("unix]", "unx]", 7, "no backend 'unx'; did you mean 'unix'"),
    ],
)
def test_a_malformed_requirement_is_refused_with_the_line(
    tmp_path: Path, runs: Runs, old: str, new: str, line: int, why: str
) -> None:
    refused(tmp_path, runs(10), REQUIREMENT.replace(old, new), line, why)


def refused(tmp_path: Path, run: RunFolder, text: str, line: int, why: str) -> None:
    assert text != REQUIREMENT
    with pytest.raises(UsageError) as error:
        lab_with(tmp_path, run, text)
    assert str(error.value).startswith(f"mine.toml, line {line}: "), str(error.value)
    assert why in str(error.value)


KOREAN = "[requirement.translations]\nko = "
MOST = "{bound:us,int}", "{most}"
BETWEEN = MEDIAN.replace("at_most 2 us", "between 1 us and 2 us")


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        (
            f"{REQUIREMENT}{KOREAN}'50마이크로초'",
            8,
            "it says 50마이크로초, which the rule does not",
        ),
        (f'{ALONE}figures = {{ bound = "3 us" }}\n', 7, "bound is the rule's own"),
        (f'{ALONE.replace(*MOST)}figures = {{ most = "50 us" }}', 4, "it says {most}, which the"),
        (BETWEEN.replace("{bound:us,int}", "{high}, in 3 us"), 4, "write {low} and {high}"),
        (ALONE.replace('"max"', '"coverage"'), 5, "add coverage"),
    ],
)
def test_a_bound_is_written_once_and_a_coverage_says_how_much(
    tmp_path: Path, runs: Runs, text: str, line: int, why: str
) -> None:
    refused(tmp_path, runs(10), text, line, why)


def test_words_have_the_bounds_of_the_rule_in_any_unit_and_language(
    tmp_path: Path, runs: Runs
) -> None:
    words = BETWEEN.replace("at most {bound:us,int}", "{low:us,int} to {high}, within {of} of it")
    # an amount that is no bound, beside the bounds
    between = f'{words}figures = {{ of = "9 us" }}\n'
    korean = f"{REQUIREMENT}{KOREAN}'모든 응답은 {{bound:us,int}} 이내이다.'"
    for text, lang, said in (
        (REQUIREMENT, "en", "Every answer takes at most 2 µs."),
        (between, "en", "Every answer takes 1 µs to 2.00 µs, within 9.00 µs of it."),
        (korean, "ko", "모든 응답은 2 µs 이내이다."),
    ):
        (row,) = requirements(lab_with(tmp_path, runs(10), text, lang)).itertuples()
        assert str(row.requirement).replace("\N{NO-BREAK SPACE}", " ") == said
