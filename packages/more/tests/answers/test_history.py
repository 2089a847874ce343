"""Histories: planted steps are found and nothing else is; what changed beside them; blessing; the
command line.
"""

import datetime as dt
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import numpy as np
import pytest

from ipclab.errors import LabError, UsageError
from ipclab.machine.here import same_machine
from ipclab.paths import Paths
from ipclab.report.pages.report import notebooks_of
from ipclab.store.run import RunFolder
from ipclab_more.history.changepoint import changes, counting_changes
from ipclab_more.history.runs import BLESSED, bless, blessed
from ipclab_more.history.steps import (
    DRIFT,
    LIMITS_ONLY,
    MACHINE,
    MECHANISM,
    UNKNOWN,
    History,
    event_lines,
)
from tests.support.commands import ROOT
from tests.support.histories import KINDS, history
from tests.support.simulated import Machine, limits, points, run

SMALL = Machine(scatter=0.02, launches=8)
PIPES = {"pipe_size_max": 1 << 20}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_steps_of_made_up_histories_are_found_where_they_are_and_nowhere_else(kind: str) -> None:
    for seed in range(5):
        made = history(kind, 100 * KINDS.index(kind) + seed)
        found = History.of(made.runs)
        near = [
            at for at in found.changes.steps if made.step is not None and abs(at - made.step) <= 1
        ]
        assert len(near) == (made.step is not None) and set(found.changes.steps) == set(near)
        assert set(found.changes.alone) == ({made.alone} if made.alone is not None else set())
        assert bool(found.changes.drifts) == (kind == "drift")
        if kind == "profile":
            assert found.unjudged == {} and len(found.points) == 6 + 6 + 6 + 12
        stepped = set(found.events()[found.events().kind == "step"].what)
        assert stepped == {"step": {MECHANISM}, "machine": {MACHINE}}.get(kind, set())


def test_two_runs_show_the_step_with_the_setting_that_changed_beside_it() -> None:
    before = run("A", Machine(scatter=0.02, launches=8, facts=PIPES), 1)
    after = Machine(
        scatter=0.02, launches=8, facts={"pipe_size_max": 4096}, by_backend={"pipe": 1.6}
    )
    found = History.of([before, run("B", after, 2)])
    (event,) = found.events().to_dict("records")
    assert (event["run"], event["points"], event["slower"], event["what"]) == (1, 4, 4, MECHANISM)
    assert (
        event["ratio"] == pytest.approx(1.6, rel=0.05)
        and event["low"] <= event["ratio"] <= event["high"]
    )
    assert ("Largest pipe buffer", "1048576", "4096") in event["changed"]
    rows = found.events().assign(
        run=["B"], accepted=["as wished"], changed=[" | ".join(["x: a; b -> c; d"] * 7)]
    )
    told = "B: step: 4 points, 4 slower, on average x 1."
    assert event_lines(found, rows)[0].startswith(told) and event_lines(found, rows)[0].endswith(
        "accepted: as wished"
    )
    assert (
        event_lines(found, rows)[0].count("x: a; b -> c; d") == 6
        and " and 1 more;" in event_lines(found, rows)[0]
    )


def test_packages_profile_and_load_are_named_beside_a_step() -> None:
    made = []
    for number, version in enumerate(("1", "2")):
        facts = {"packages": {"zmq": version, "lmdb": "1"}}
        profile = {"profile": ("quick", "full")[number]}
        sessions = [{"conditions": {"load_1": 3.0 * number}}]
        machine = Machine(1 + number, 1.0, 0.02, facts=facts)
        made.append(run(str(number), machine, number, sessions=sessions, parameters=profile))
    (event,) = History.of(made).events().to_dict("records")
    named = {("zmq", "1", "2"), ("Profile", "quick", "full"), ("Load, over a minute", "0.0", "3.0")}
    assert named <= set(event["changed"]) and "lmdb" not in {name for name, *_ in event["changed"]}


def test_beside_drift_stands_what_changed_from_its_first_run_to_its_last() -> None:
    drifting = [
        Machine(1.06**k, 1.0, 0.02, launches=8, facts={"packages": {"zmq": str(k)}})
        for k in range(10)
    ]
    found = History.of([run(str(k), machine, k) for k, machine in enumerate(drifting)])
    (event,) = found.events().to_dict("records")
    assert (event["kind"], event["run"], event["what"]) == (DRIFT, 0, MECHANISM)
    assert (
        event["ratio"] == pytest.approx(1.06**9, rel=0.05) and ("zmq", "0", "9") in event["changed"]
    )


def test_what_cannot_be_judged_is_counted_with_its_reason() -> None:
    few = run("B", Machine(relation="smt", launches=2), 2, [*points(sizes=(100,)), *limits()])
    found = History.of([run("A", Machine(launches=2), 1), few])
    assert Counter(found.unjudged) == {"one-run": 6, "differs:relation": 9, "few-launches": 9}
    assert found.points.empty and found.events().empty


def test_a_median_lies_in_its_interval_where_all_launches_agree() -> None:
    found = History.of([run(str(k), Machine(scatter=0.0, launches=8), k) for k in range(2)]).values
    assert ((found.low <= found.value) & (found.value <= found.high)).all()


def test_without_limits_a_step_is_of_unknown_origin() -> None:
    made = [run(str(k), Machine(1 + k, 1.0, 0.02, launches=8), k, points()) for k in range(2)]
    assert set(History.of(made).events().what) == {UNKNOWN}


def test_where_limits_alone_step_no_mechanism_is_said_to() -> None:
    made = [run(str(k), Machine(1.0, 1 + k, 0.02, launches=8), k) for k in range(2)]
    past = History.of(made)
    (event,) = past.events().to_dict("records")
    assert (event["what"], event["points"], event["limits"]) == (LIMITS_ONLY, 0, 12)
    told, _ = event_lines(past, past.events().assign(run=["1"], accepted=[""], changed=[""]))
    assert "limits only" in told and "no mechanism is shown to" in told and "as well" not in told


def test_a_step_must_exceed_the_luck_of_sessions() -> None:
    random = np.random.default_rng(1)
    runs = [random.normal(random.normal(0, 0.1), 0.01, 8) for _ in range(12)]
    (bound,) = counting_changes([runs])
    assert 0.15 < bound < 0.6
    assert changes([runs]).steps == {} and changes([]).steps == {}
    assert counting_changes([runs[:3]]) == [pytest.approx(np.log(1.05))]


@pytest.mark.parametrize("ratio", [0.25, 0.5, 2.0])
def test_drift_is_told_as_the_ratio_of_its_last_run_to_its_first(ratio: float) -> None:
    random, count = np.random.default_rng(1), 12
    runs = [random.normal(np.log(ratio) * number / (count - 1), 0.01, 8) for number in range(count)]
    found = changes([runs])
    assert found.steps == {} and np.exp(found.drifts[0][0]) == pytest.approx(ratio, rel=0.03)


def made_run(folder: Path, name: str) -> RunFolder:
    return RunFolder(folder / "machine" / name, {})


def test_a_blessed_run_is_kept_with_its_reason(tmp_path: Path) -> None:
    first, second = made_run(tmp_path, "one"), made_run(tmp_path, "two")
    now = dt.datetime(2026, 11, 22, tzinfo=dt.UTC)
    file = bless(first, 'kernel "6.18"\n= 새 커널', now)
    bless(second, "other 👍\x7f\x1b\udcff", now)
    assert blessed([first, second]) == {"one": 'kernel "6.18" = 새 커널', "two": "other 👍\x1b?"}
    assert [path.name for path in file.parent.iterdir()] == [BLESSED]
    with pytest.raises(UsageError, match="for a reason"):
        bless(first, " ", now)
    file.write_text("[one]\nreason = 1 2\n")
    with pytest.raises(LabError, match="cannot be read"):
        blessed([first])


def test_a_kernel_is_no_other_machine() -> None:
    one = {"cpu_model": "x", "cores": 2, "kernel_release": "6.1"}
    assert same_machine(one, one | {"kernel_release": "6.2", "cpu_microcode": "0x2"})
    assert not same_machine(one, one | {"cores": 4})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ["history", str(ROOT / "tests/data/schema-1/20261120T100000Z-a00001")],
            "needs two runs of one machine",
        ),
        (
            ["history", "data/reference.ipclab", "data/compared.ipclab"],
            "a history is of one machine",
        ),
        (["history", "--bless", "data/reference.ipclab"], "a step is accepted for a reason"),
        (["gather", "nowhere"], "holds no bundle: there is no such folder"),
        (["history", "nowhere"], "is no run"),
    ],
)
@pytest.mark.usefixtures("opened_before")
def test_wrong_use_is_one_line(
    ipclab: Callable[..., "CompletedProcess[str]"], words: list[str], says: str
) -> None:
    done = ipclab(*words)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert says in done.stderr


def test_the_history_is_no_part_of_a_report_on_one_run() -> None:
    assert [path.stem for path in notebooks_of(Paths(ROOT), "history")] == ["history"]
    assert "history" not in {path.stem for path in notebooks_of(Paths(ROOT), "run")}
