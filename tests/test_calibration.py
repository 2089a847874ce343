"""The calibration on a machine that is made up, and once for real with few launches."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest

from ipclab.errors import LabError, UsageError
from ipclab.machine.placement import Placement
from ipclab.measure.calibration import (
    ARMS,
    ROUNDS,
    SECOND,
    Calibration,
    Placed,
    Tally,
    false_alarms,
    file,
    launching,
    measure,
    orders,
    read,
    rows,
    smallest,
    tally,
)
from ipclab.measure.progress import Progress
from ipclab.paths import Paths
from ipclab.spawn.launcher import Launcher
from ipclab.store.bundle import opened
from ipclab.studies.calibration import echo

BASE = 1_200
SAME = Placement("same", (frozenset([0]),), "same")


class Machine:
    """Launches without processes: each takes 10 ms of a clock of its own and scatters by `deviation`."""

    def __init__(self, deviation: float) -> None:
        self.random, self.deviation, self.now = np.random.default_rng(3), deviation, 0.0

    def launch(self, exchanges: int) -> float:
        self.now += 0.01
        return float(BASE * exchanges * np.exp(self.random.normal(0, self.deviation)))

    def clock(self) -> float:
        return self.now


def made(deviation: float, seconds: float = 30) -> Tally:
    machine = Machine(deviation)
    return measure(machine.launch, SAME, seconds, 1, Progress(), machine.clock).tally


def test_a_quiet_machine_finds_the_smallest() -> None:
    found = made(0.02)
    assert found.trials == 29  # 29.85 s of launches of 10 ms, 5 arms, 20 rounds a trial
    assert found.smallest == 0.10
    assert found.comparisons == found.trials * (1 + len(ARMS))
    assert found.false_alarms <= found.comparisons * 0.02


@pytest.mark.slow
def test_a_loud_machine_says_what_it_cannot_find() -> None:
    found = made(0.20)
    assert found.smallest == 0.50
    assert found.found["0.10"] < 10
    assert made(2.0, 10).smallest is None


def test_every_order_is_run_backwards_next() -> None:
    rounds = list(orders(6, seed=5))
    assert rounds == list(orders(6, seed=5)) != list(orders(6, seed=6))
    assert all(sorted(order) == sorted(ARMS) for order in rounds)
    assert [rounds[k] for k in (1, 3, 5)] == [rounds[k][::-1] for k in (0, 2, 4)]
    assert rounds[0] != rounds[2]


def test_only_whole_trials_count() -> None:
    medians = {arm: [float(k) for k in range(2 * ROUNDS + 5)] for arm in ARMS}
    medians[SECOND].pop()
    assert tally(medians).trials == 2
    made = {arm: [1000.0 + k for k in range(2 * ROUNDS)] for arm in ARMS}
    made["0.50"][ROUNDS:] = [1.5 * value for value in made["0.50"][ROUNDS:]]
    assert tally(made).found["0.50"] == 1  # the second trial alone
    assert tally({arm: [1.0, 2.0] for arm in ARMS}) == Tally(0, 0, 0, {"0.10": 0, "0.20": 0, "0.50": 0}, None)


def test_the_smallest_has_none_missed_above_it() -> None:
    assert smallest({"0.10": 20, "0.20": 20, "0.50": 20}, 20) == 0.10
    assert smallest({"0.10": 20, "0.20": 18, "0.50": 19}, 20) == 0.50
    assert smallest({"0.10": 20, "0.20": 20, "0.50": 18}, 20) is None
    assert smallest({"0.10": 0, "0.20": 0, "0.50": 0}, 0) is None


def test_a_machine_that_slows_down_ends_in_time() -> None:
    machine = Machine(0.02)

    def launch(exchanges: int) -> float:
        machine.now += 0.04 if machine.now > 1 else 0
        return machine.launch(exchanges)

    found = measure(launch, SAME, 20, 1, Progress(), machine.clock)
    assert machine.now < 26
    assert found.tally.trials == len(found.orders) // ROUNDS > 0


def test_too_short_a_time_is_wrong_use() -> None:
    machine = Machine(0.02)
    with pytest.raises(UsageError, match="needs at least 1 s"):
        measure(machine.launch, SAME, 0.5, 1, Progress(), machine.clock)


def test_the_rows_say_what_the_file_holds() -> None:
    same, cross = Tally(40, 240, 2, {"0.10": 40, "0.20": 40}, 0.10), Tally(20, 40, 0, {"0.10": 3, "0.20": 20}, 0.20)
    every = false_alarms([same, cross])
    placed = {name: Placed(1.0, each, {}, name, [0, 1]) for name, each in (("same", same), ("cross", cross))}
    table = {row["placement"]: row for row in rows(Calibration(1, "abc", "2026-11-21", every, placed))}
    assert list(table) == ["cross", "same"]
    assert (table["same"]["smallest"], table["cross"]["smallest"]) == (0.10, 0.20)
    assert (table["cross"]["found"]["0.10"], table["cross"]["trials"], table["cross"]["false_alarms"]) == (3, 20, 0)
    assert table["cross"]["upper"] == pytest.approx(0.0881, abs=1e-4)
    assert every.share == pytest.approx(2 / 280) and every.upper == pytest.approx(0.02556, abs=1e-4)
    assert rows(None) == []


def test_a_file_that_is_none_is_said_to_be(paths: Paths) -> None:
    target = file(paths, "abc")
    assert read(target) is None
    target.parent.mkdir(parents=True)
    kept = {"schema": 1, "machine": "abc", "made": "2026-11-21", "false_alarms": {}, "placements": {}}
    alarms = {"comparisons": 1, "flagged": 0, "share": 0.0, "upper": 0.9}
    broken: list[object] = [
        {},
        [],
        {"schema": 99},
        kept,
        {**kept, "false_alarms": alarms, "schema": 2},
        {**kept, "made": 7},
    ]
    for content in broken:
        target.write_text(json.dumps(content))
        with pytest.raises(LabError, match="cannot be read") as caught:
            read(target)
        assert "\n" not in str(caught.value)
    target.write_text(json.dumps({**kept, "false_alarms": alarms}))
    found = read(target)
    assert found and msgspec.to_builtins(found.false_alarms) == alarms


@pytest.mark.slow
def test_the_committed_calibration_is_read(paths: Paths) -> None:
    found = read(opened(paths, paths.compared).path.parent / "calibration.json")
    assert found and found.false_alarms.flagged == 0
    assert [row["placement"] for row in rows(found)] == ["cross", "same"]


@pytest.fixture
def launch(tmp_path: Path) -> Iterator[Callable[[int], float]]:
    cpu = frozenset([min(os.sched_getaffinity(0))])
    with Launcher(tmp_path) as launcher:
        yield launching(launcher, Placement("same", (cpu,), "same"))


def test_more_exchanges_take_longer(launch: Callable[[int], float]) -> None:
    assert 0 < launch(1) < launch(1_000)


def test_the_echo_imports_little() -> None:
    text = Path(echo.__file__).read_text()
    assert "numpy" not in text and "ipclab.stats" not in text
