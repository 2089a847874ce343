"""The runner with made-up launches: order, blocks, stopping, failures, progress."""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count, pairwise

import pytest

from ipclab.errors import LabError, UsageError
from ipclab.measure.progress import Progress
from ipclab.measure.rounds import blocks, measure, shuffled
from ipclab.measure.stopping import Precision
from ipclab.spawn.launcher import SessionError
from ipclab.store.launch import Launch
from ipclab.store.point import Point
from ipclab.store.samples import Measured
from ipclab.studies.profile import PROFILES, Profile, profile
from tests.made import make_launch

THREE = Profile("three", 3, 3, 0.0, 0.1, 1, 1, 1, ("same",))
ADAPTIVE = Profile("adaptive", 3, 20, 0.0, 0.1, 1, 1, 1, ("same",))


class Told(Progress):
    """A progress that keeps what it was told."""

    def __init__(self) -> None:
        self.totals: list[int] = []
        self.steps = 0
        self.lines: list[str] = []
        self.ended = 0

    def start(self, what: str, total: int) -> None:
        self.totals.append(total)

    def step(self, count: int = 1) -> None:
        assert count >= 0
        self.steps += count

    def say(self, line: str) -> None:
        self.lines.append(line)

    def end(self) -> None:
        self.ended += 1


def make_points(*block_names: str, each: int = 6) -> list[Point]:
    return [Point("s", f"b{i}", 8, "same", {}, block, ("op",)) for block in block_names for i in range(each)]


def launch_of(median: int, flags: tuple[str, ...] = ()) -> Launch:
    return make_launch(flags, op=[median, median, median])


def sweep(
    points: list[Point], launch: Callable[[Point], Launch], plan: Profile = THREE, seed: int = 1
) -> tuple[list[tuple[str, str]], dict[tuple[str, str], Measured | str], Told]:
    """Return the order of launches as (block, backend), what was stored, and what progress was told."""
    order: list[tuple[str, str]] = []
    stored: dict[tuple[str, str], Measured | str] = {}
    told = Told()

    def noted(point: Point) -> Launch:
        order.append((point.block, point.backend))
        return launch(point)

    def store(point: Point, result: Measured | str) -> None:
        assert (point.block, point.backend) not in stored
        stored[point.block, point.backend] = result

    measure(points, plan, seed, noted, store, told)
    assert told.ended == 1
    return order, stored, told


def same(_: Point) -> Launch:
    return launch_of(100)


def test_every_round_launches_every_point_once_in_an_order_of_its_own() -> None:
    order, stored, _ = sweep(make_points("a"), same)
    rounds = [order[i : i + 6] for i in range(0, 18, 6)]
    assert [sorted(each) for each in rounds] == [sorted(stored)] * 3
    assert len({tuple(each) for each in rounds}) == 3


def test_the_order_follows_from_seed_block_and_round_alone() -> None:
    points = make_points("a")
    assert sweep(points, same)[0] == sweep(points[::-1], same)[0]
    assert sweep(points, same)[0] != sweep(points, same, seed=2)[0]
    backends = [[point.backend for point in shuffled(make_points(block), 1, 1)] for block in "ab"]
    assert backends[0] != backends[1]
    # Written down, since another version must continue a run in its order.
    assert backends[0] == ["b5", "b2", "b4", "b1", "b0", "b3"]


def test_blocks_are_measured_one_after_the_other() -> None:
    points = make_points("b", "a", each=4)
    assert [[point.block for point in block] for block in blocks(points)] == [["b"] * 4, ["a"] * 4]
    order, _, told = sweep(points, same)
    assert [block for block, _ in order] == ["b"] * 12 + ["a"] * 12
    assert told.totals == [24]
    assert told.steps == 24


def test_a_finished_point_leaves_the_others_interleaved() -> None:
    steady, noisy = make_points("a", each=2)
    values: Iterator[int] = count(100, 50)
    order, stored, told = sweep(
        [steady, noisy], lambda point: launch_of(100 if point is steady else next(values)), ADAPTIVE
    )
    assert Counter(order) == {("a", "b0"): 3, ("a", "b1"): 20}
    assert {len(set(order[i : i + 2])) for i in (0, 2, 4)} == {2}
    assert [result.stop for result in stored.values() if isinstance(result, Measured)] == ["precise", "budget"]
    assert told.steps == told.totals[0] == 40


def stop_of(medians: list[int], flagged: int = 0, least: int = 3, most: int = 20) -> tuple[str | None, int]:
    """Feed launches until the rule ends the point; return why and after how many."""
    rule = Precision(("op",), least, most, 0.1)
    for i, median in enumerate(medians):
        assert rule.finished() is None
        rule.add(launch_of(median, ("steal",) if i < flagged else ()))
        if stop := rule.finished():
            return stop, i + 1
    return None, len(medians)


def test_stopping() -> None:
    assert stop_of([100] * 20) == ("precise", 3)
    assert stop_of([100, 101, 102]) == ("precise", 3)
    assert stop_of([100, 200, 150]) == (None, 3)
    modes = [100, 200, 300] * 7  # the width stays where it is from the fifth launch on
    assert stop_of(modes) == ("settled", 10)
    assert stop_of(modes, least=6) == ("settled", 12)
    assert stop_of(modes, most=9) == ("budget", 9)
    assert stop_of([100 + 80 * i for i in range(20)]) == ("budget", 20)
    assert stop_of([100, 200, 150], most=3) == ("budget", 3)
    assert stop_of([100] * 3, most=3) == ("precise", 3)


def test_disturbed_launches_are_repeated_and_kept() -> None:
    assert stop_of([100] * 20, flagged=2) == ("precise", 5)
    assert stop_of([100] * 20, flagged=20) == ("precise", 20)
    calls = count()
    point = make_points("a", each=1)
    _, stored, _ = sweep(point, lambda _: launch_of(100, ("steal",) if next(calls) < 2 else ()), ADAPTIVE)
    result = stored["a", "b0"]
    assert isinstance(result, Measured)
    assert [launch.flags for launch in result.launches] == [["steal"], ["steal"], [], [], []]


def test_the_widest_primary_op_decides() -> None:
    medians = [100, 200, 150]
    both, steady, default = (Precision(ops, 3, 20, 0.1) for ops in (("op", "wide"), ("op",), ()))
    for median in medians:
        for rule in (both, steady, default):
            rule.add(make_launch(op=[100], wide=[median]))
    assert (both.finished(), steady.finished(), default.finished()) == (None, "precise", None)


def test_a_launch_that_fails_is_made_again_and_noted() -> None:
    calls = count()

    def sometimes(_: Point) -> Launch:
        if next(calls) in (0, 2):
            raise LabError("worker died", "killed by SIGBUS")
        return launch_of(100)

    order, stored, told = sweep(make_points("a", each=1), sometimes)
    result = stored["a", "b0"]
    assert isinstance(result, Measured)
    assert (len(order), len(result.launches)) == (5, 3)
    assert result.failures == ["worker died: killed by SIGBUS"] * 2
    assert told.steps == told.totals[0] == 3
    assert len(told.lines) == 2
    assert all("b0" in line and "killed by SIGBUS" in line for line in told.lines)


def test_a_point_that_goes_on_failing_is_given_up_and_the_others_go_on() -> None:
    bad, good = make_points("a", each=2)

    def launch(point: Point) -> Launch:
        if point is bad:
            raise LabError("worker died", "killed by SIGBUS")
        return launch_of(100)

    order, stored, told = sweep([bad, good], launch)
    assert Counter(order) == {("a", "b0"): 3, ("a", "b1"): 3}
    assert stored["a", "b0"] == "worker died: killed by SIGBUS"
    assert isinstance(stored["a", "b1"], Measured)
    assert told.steps == told.totals[0]


def test_a_mistake_in_the_code_is_not_taken_for_a_failed_launch() -> None:
    told = Told()

    def broken(_: Point) -> Launch:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        measure(make_points("a"), THREE, 1, broken, lambda *_: None, told)
    assert told.ended == 1


def test_a_session_that_cannot_go_on_ends_it_all() -> None:
    calls, stored = count(), list[object]()

    def lost(_: Point) -> Launch:
        if next(calls) == 2:
            raise SessionError("the fork server does not answer")
        return launch_of(100)

    with pytest.raises(SessionError):
        measure(make_points("a"), THREE, 1, lost, lambda *result: stored.append(result), Told())
    assert stored == []  # no point was given up


def test_nothing_to_measure_is_nothing_done() -> None:
    told = Told()
    measure([], THREE, 1, same, lambda *_: None, told)
    assert told.totals == []


def test_profiles_grow_and_a_mistyped_one_names_the_nearest() -> None:
    assert list(PROFILES) == ["smoke", "quick", "standard", "full"]
    efforts = [(each.least_launches, each.most_launches, each.budget_ns) for each in PROFILES.values()]
    for less, more in pairwise(efforts):
        assert all(low < high for low, high in zip(less, more, strict=True))
    with pytest.raises(UsageError) as caught:
        profile("quik")
    assert str(caught.value).startswith("unknown profile 'quik'; did you mean 'quick'?")
    assert caught.value.exit_code == 2
