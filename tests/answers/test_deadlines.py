"""Deadlines of a run: how many launches are asked for, what is stated of them in words, and what is
refused.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess

import numpy as np
import pytest

from ipclab.errors import LabError
from ipclab.lab.lab import lab_of
from ipclab.measure.request import Request
from ipclab.paths import Paths
from ipclab.store import run as folder
from ipclab.store.launch import Launch
from ipclab.store.point import Point
from ipclab.store.run import RunFolder
from ipclab.store.samples import Measured, encode
from ipclab.studies.installed import study
from ipclab_answers.deadlines.stated import LEAST_SAMPLES, deadlines, shown, statements
from ipclab_answers.deadlines.tolerance import DRIFTS, FAILED, FEW, HOLDS, launches_for
from tests.support.bundled import NOW, make_run
from tests.support.made import ASKED

OP = "round-trip"
LARGEST_TAIL = 59_050


def _run(tmp_path: Path, asked: str = "95/95") -> RunFolder:
    """Return a run of four points whose p99.9 are known: shuffled, too few launches, drifting, with
    a failed launch.
    """
    machine = make_run(tmp_path / "other").about["machine"]
    parameters: dict[str, object] = {
        "profile": "quick",
        "studies": ["limits", "round_trip"],
        "sizes": None,
        "backends": None,
        "levels": {},
    }
    about = {"parameters": {**parameters, "deadline": asked}, "seed": 1, "machine": machine}
    about["questions"] = ASKED
    run = folder.create(tmp_path / "runs", "0123456789ab", about, NOW)
    shuffled = np.random.default_rng(1).permutation(59)
    kinds = {
        "unix": (shuffled, []),
        "tcp": (shuffled[:58], []),
        "pipe": (np.arange(59), []),
        "nng-ipc": (shuffled, [""]),
    }
    for backend, (steps, failures) in kinds.items():
        point = Point("round_trip", backend, 100, "cross", {"arm": "main"}, "", (OP,))
        tail = np.array([1_000] * (LEAST_SAMPLES - 1) + [0, 10**9])
        launches = []
        for order, step in enumerate(steps):
            times = tail.copy()
            times[LEAST_SAMPLES - 1] = LARGEST_TAIL - 58 + step  # its p99.9: one sample lies above
            launches.append(Launch({OP: times}, {}, order))
        run.place([(point, encode(Measured(point, launches[::-1], "enough", failures)))])
    run.about["finished"] = NOW.isoformat()
    run.save()
    return run


def test_each_point_has_its_largest_p999_or_why_it_has_none(tmp_path: Path) -> None:
    found = deadlines(_run(tmp_path)).set_index("backend")
    assert found.state.to_dict() == {"unix": HOLDS, "tcp": FEW, "pipe": DRIFTS, "nng-ipc": FAILED}
    assert found.value["unix"] == LARGEST_TAIL
    assert found.value.drop("unix").isna().all()
    assert (found.samples == LEAST_SAMPLES + 1).all()
    assert found.drift["pipe"] < 1e-9  # in the order taken, whatever the order stored


def test_a_bound_is_rounded_up_and_told_in_each_language(tmp_path: Path, paths: Paths) -> None:
    run = _run(tmp_path)
    told = {lang: statements(lab_of(run, paths, lang)) for lang in ("en", "ko", "zh")}
    said = {lang: next(line for line in lines if "unix" in line) for lang, lines in told.items()}
    assert "95% of launches have their p99.9 below 59.1\u00a0µs with 95% confidence" in said["en"]
    assert "59.1\u00a0µs" in said["ko"] and "신뢰수준 95%" in said["ko"]
    assert "59.1\u00a0µs" in said["zh"] and "95%的置信水平" in said["zh"]
    assert all(len(lines) == 4 for lines in told.values())
    refused = {
        line.split(",")[1].strip(): line for line in told["en"] if "no deadline is stated" in line
    }
    assert (
        "too few launches" in refused["tcp"]
        and "drift" in refused["pipe"]
        and "failed" in refused["nng-ipc"]
    )
    table = shown(lab_of(run, paths, "en"))[1]
    assert [row[-1] for row in table.rows].count("59.1\u00a0µs") == 1


def test_a_run_for_something_else_states_nothing(tmp_path: Path, paths: Paths) -> None:
    run = make_run(tmp_path / "runs")
    assert deadlines(run).empty
    lab = lab_of(run, paths, "en")
    assert (statements(lab), shown(lab)) == ([], [])


def test_a_run_that_asks_for_nonsense_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="asks for deadline '95/x'"):
        deadlines(_run(tmp_path, "95/x"))


@pytest.mark.parametrize(
    ("asked", "launches"), [("95/95", 59), ("95/95/2", 93), ("50/50", 1), ("90/95", 29)]
)
def test_a_deadline_takes_so_many_launches_no_more_and_no_fewer(asked: str, launches: int) -> None:
    usual = Request(("round_trip",))
    request = replace(usual, launches=launches_for(asked), purpose={"deadline": asked})
    effort = request.effort(study("round_trip"))
    assert (effort.least_launches, effort.most_launches) == (launches, launches)
    assert effort.turns * effort.turn_ns >= 10**9 and effort.most_samples > LEAST_SAMPLES
    assert request.parameters() == {**usual.parameters(), "deadline": asked, "launches": launches}
    assert request.effort(study("limits")) == usual.effort(study("limits"))


def test_a_run_is_continued_for_the_purpose_that_it_was_begun_for(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    parameters: dict[str, object] = {
        "profile": "quick",
        "studies": ["limits", "round_trip"],
        "levels": {},
    }
    parameters |= {"sizes": None, "backends": ["unix"], "launches": 59, "deadline": "95/95"}
    run.about["parameters"] = parameters
    run.save()
    assert Request.continuing(run.path).parameters() == parameters


@pytest.mark.parametrize("asked", ["95", "95/100", "soon", "99.9999999/95", "95/95/1000000000"])
def test_a_deadline_that_means_nothing_is_one_line(
    asked: str, ipclab: Callable[..., CompletedProcess[str]]
) -> None:
    done = ipclab("measure", "--study", "round_trip", "--deadline", asked)
    assert done.returncode == 2 and "write coverage/confidence" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--deadline", "95/95"], "59 launches of every study"),
        (["--launches", "5"], "5 launches of every study"),
        (
            ["--study", "round_trip", "--deadline", "95/95", "--launches", "5"],
            "leave --launches out",
        ),
    ],
)
def test_a_number_of_launches_is_of_a_study_and_one_number(
    words: list[str], told: str, ipclab: Callable[..., CompletedProcess[str]]
) -> None:
    done = ipclab("measure", *words)
    assert (done.returncode, told in done.stderr) == (2, True)
