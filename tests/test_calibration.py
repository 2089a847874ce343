"""The calibration on a machine that is made up, and once for real with few launches."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from ipclab.measure.calibration import echo
from ipclab.measure.calibration.battery import ARMS, FIRST, ROUNDS, SECOND, Tally, false_alarms, orders, smallest, tally, trials
from ipclab.calibration.facts import facts
from ipclab.measure.calibration.run import file, launching, measure, read
from ipclab.errors import LabError, UsageError
from ipclab.paths import Paths
from ipclab.machine.placement import Placement
from ipclab.measure.progress import Silent
from ipclab.spawn.launcher import Launcher

BASE = 12_000


class Machine:
    """Launches without processes: each takes 10 ms of a clock of its own and scatters by `deviation`."""

    def __init__(self, deviation: float) -> None:
        self.random, self.deviation, self.now = np.random.default_rng(3), deviation, 0.0

    def launch(self, spin_ns: int) -> float:
        self.now += 0.01
        return float((BASE + spin_ns) * np.exp(self.random.normal(0, self.deviation)))

    def clock(self) -> float:
        return self.now


def made(deviation: float, seconds: float = 30) -> Tally:
    machine = Machine(deviation)
    return Tally(**measure(machine.launch, seconds, 1, Silent(), machine.clock)["tally"])


def test_a_quiet_machine_finds_the_smallest() -> None:
    found = made(0.02)
    assert found.trials == 29  # 29.85 s of launches of 10 ms, 5 arms, 20 rounds a trial
    assert found.smallest == 0.10
    assert found.comparisons == found.trials * (1 + len(ARMS))
    assert found.false_alarms <= found.comparisons * 0.02


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
    found = list(trials(medians))
    assert [trial[FIRST][0] for trial in found] == [0, ROUNDS]
    assert tally({arm: [1.0, 2.0] for arm in ARMS}) == Tally(0, 0, 0, {"0.10": 0, "0.20": 0, "0.50": 0}, None)


def test_the_smallest_has_none_missed_above_it() -> None:
    assert smallest({"0.10": 20, "0.20": 20, "0.50": 20}, 20) == 0.10
    assert smallest({"0.10": 20, "0.20": 18, "0.50": 19}, 20) == 0.50
    assert smallest({"0.10": 20, "0.20": 20, "0.50": 18}, 20) is None
    assert smallest({"0.10": 0, "0.20": 0, "0.50": 0}, 0) is None


def test_a_machine_that_slows_down_ends_in_time() -> None:
    machine = Machine(0.02)

    def launch(spin_ns: int) -> float:
        machine.now += 0.04 if machine.now > 1 else 0
        return machine.launch(spin_ns)

    found = measure(launch, 20, 1, Silent(), machine.clock)
    assert machine.now < 26
    assert found["tally"]["trials"] == len(found["orders"]) // ROUNDS > 0


def test_too_short_a_time_is_wrong_use() -> None:
    machine = Machine(0.02)
    with pytest.raises(UsageError, match="needs at least 1 s"):
        measure(machine.launch, 0.5, 1, Silent(), machine.clock)


def test_facts_are_there_with_and_without_a_calibration() -> None:
    without = {fact.name: fact.value for fact in facts(None)}
    assert set(without.values()) == {None}
    assert set(without) == {
        *("calibration.false_alarms.share", "calibration.false_alarms.upper", "calibration.comparisons"),
        *("calibration.smallest.same", "calibration.smallest.cross"),
    }
    found = Tally(40, 280, 2, {"0.10": 40}, 0.10)
    placed = {"same": {"tally": found.stored()}}
    content = {"made": "2026-11-21", "false_alarms": false_alarms([found]), "placements": placed}
    values = {fact.name: fact.value for fact in facts(json.loads(json.dumps(content)))}
    assert values["calibration.smallest.same"] == 0.10 and values["calibration.smallest.cross"] is None
    assert values["calibration.false_alarms.share"] == pytest.approx(2 / 280)
    assert values["calibration.false_alarms.upper"] == pytest.approx(0.02556, abs=1e-4)


def test_a_file_that_is_none_is_said_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IPCLAB_DATA", str(tmp_path))
    paths = Paths(tmp_path)
    assert read(file(paths, "abc")) is None
    target = file(paths, "abc")
    target.parent.mkdir(parents=True)
    for text in ("{", "[]", '{"schema": 99}'):
        target.write_text(text)
        with pytest.raises(LabError, match="calibrat"):
            read(file(paths, "abc"))


@pytest.fixture
def launch(tmp_path: Path) -> Iterator[Callable[[int], float]]:
    cpu = frozenset([min(os.sched_getaffinity(0))])
    with Launcher(tmp_path) as launcher:
        yield launching(launcher, Placement("same", (cpu,), "same"))


def test_a_planted_delay_is_really_there(launch: Callable[[int], float]) -> None:
    assert launch(20_000_000 // 400) >= 50_000  # every answer of 400 comes at least 50 us later
    assert launch(0) > 0


def test_the_echo_imports_little() -> None:
    text = Path(echo.__file__).read_text()
    assert "numpy" not in text and "ipclab.stats" not in text
