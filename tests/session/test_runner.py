"""Rounds: their order, the launches that a point gets, questions, failures; made-up launches and
clocks.
"""

import errno
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count, groupby, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ipclab.errors import LabError
from ipclab.paths import Paths
from ipclab.session.goals import Allowance, Judged, OpenPair
from ipclab.session.progress import Progress
from ipclab.session.questions import doubtful, judge_pairs
from ipclab.session.request import Request
from ipclab.session.rounds import Launched, Rounds, shuffled
from ipclab.session.session import measure_run
from ipclab.session.state import BUDGET, DECIDED, ENOUGH, PointStates, State
from ipclab.spawn.failures import SessionError
from ipclab.store import MOST_LAUNCHES, record, validity
from ipclab.store import run as folder
from ipclab.store.launch import Launch
from ipclab.store.point import Point
from ipclab.store.samples import decode
from ipclab.studies.installed import study
from ipclab.studies.interface import FIRST, LATER
from ipclab.studies.profile import PROFILES, Profile
from tests.support.bundled import make_run
from tests.support.commands import ROOT
from tests.support.made import MAIN, begun, make_launch

THREE = replace(PROFILES["smoke"].exactly(3), name="three", seconds=100.0, placements=("same",))
QUICK = replace(THREE, most_launches=40)
SECOND = 1_000_000_000
PLENTY = 1e9  # seconds
Make = Callable[[Point], Launch]


class Told(Progress):
    """A progress that keeps what it was told."""

    def __init__(self) -> None:
        self.totals: list[int] = []
        self.steps = 0
        self.lines: list[str] = []
        self.ended = 0

    def start(self, what: str, total: int, unit: str = "launch") -> None:
        self.totals.append(total)

    def step(self, of: str = "") -> None:
        self.steps += 1

    def say(self, line: str) -> None:
        self.lines.append(line)

    def end(self) -> None:
        self.ended += 1


def points(*studies: str, each: int = 6) -> list[Point]:
    return [
        Point(study, f"b{i}", 8, "same", {}, "", ("op",)) for study in studies for i in range(each)
    ]


def launch_of(median: float, flags: tuple[str, ...] = ()) -> Launch:
    made = make_launch(flags, op=[round(median)] * 3)
    made.elapsed_ns = SECOND
    return made


def same(_: Point) -> Launch:
    return launch_of(100)


def never(states: Iterable[State]) -> list[str]:
    return []


def nothing(states: Iterable[State]) -> Judged:
    return Judged()


def asks(*pairs: OpenPair) -> Judged:
    """Return the answers of a session of which just `pairs` are open."""
    return Judged(pairs, len(pairs), len(pairs))


@dataclass
class Session:
    """A session over made-up launches: who was launched in which round, and what is left of it.

    Unless `heats` says otherwise, each point is measured by itself.
    """

    states: dict[str, State]
    make: Make
    heats: list[list[str]] = field(default_factory=list)
    seconds: float = 0.0  # of which each launch takes one
    more: float = 0.0
    content: float = 1.0
    seed: int = 1
    order: list[tuple[int, str]] = field(default_factory=list)
    stored: list[bool] = field(default_factory=list)
    told: Told = field(default_factory=Told)
    begun: int = 0

    def launch(self, names: Sequence[str], number: int) -> Launched:
        launched: dict[str, Launch | LabError] = {}
        for name in names:
            self.order.append((number, name))
            try:
                launched[name] = self.make(self.states[name].point)
            except LabError as error:
                launched[name] = error
        return launched

    def begin(self) -> None:
        self.begun += 1

    def measure(
        self,
        asked: Callable[[Iterable[State]], Judged],
        doubted: Callable[[Iterable[State]], list[str]],
    ) -> None:
        heats = self.heats or [[name] for name in self.states]
        time = Allowance(lambda: self.seconds - len(self.order), self.more, self.content)
        told = self.begin, self.stored.append, time, self.told
        Rounds(self.states, heats, self.seed, self.launch, *told).measure(asked, doubted)

    def stops(self) -> dict[str, str]:
        return {state.point.backend: state.stop for state in self.states.values()}

    def launches(self) -> dict[str, int]:
        return {state.point.backend: len(state.taken) for state in self.states.values()}

    def ask(self, need: float, first: str, second: str) -> None:
        """Measure while the two are not told apart, for which so many launches are said to do."""

        def asked(states: Iterable[State]) -> Judged:
            taken = min(len(state.taken) for state in states)
            return asks(OpenPair((first, second), taken, need))

        self.measure(asked, never)


def session(found: list[Point], make: Make = same, effort: Profile = THREE, **more: Any) -> Session:
    return Session({point.id: State(point, effort) for point in found}, make, **more)


def measured(
    found: list[Point], make: Make = same, effort: Profile = THREE, **more: Any
) -> Session:
    done = session(found, make, effort, **more)
    done.measure(nothing, never)
    return done


def test_every_round_launches_every_point_of_every_study_once_in_an_order_of_its_own() -> None:
    done = measured(points("a", "b"))
    rounds = [[name for number, name in done.order if number == each] for each in (1, 2, 3)]
    assert [sorted(each) for each in rounds] == [sorted(done.states)] * 3
    assert len({tuple(each) for each in rounds}) == 3
    # studies are mixed
    assert len([*groupby(done.states[name].point.study for name in rounds[0])]) > 2
    assert done.begun == 3  # a fork server for each
    assert done.told.steps == sum(done.told.totals) == 36
    assert done.stored == [False, False, False, True]
    assert measured([]).told.totals == []


def test_the_order_follows_from_seed_and_round_alone() -> None:
    found = points("a")
    assert measured(found).order == measured(found[::-1]).order
    assert measured(found).order != measured(found, seed=2).order
    # Written down, since another version must continue a run in its order.
    heats = [[point.backend] for point in found]
    assert [name for (name,) in shuffled(heats, 1, 1)] == ["b5", "b1", "b3", "b4", "b0", "b2"]


def test_a_session_is_warmed_up_by_heats_that_are_not_recorded() -> None:
    found = points("a", each=2)
    done = measured(found, seconds=100.0)
    assert [number for number, _ in done.order] == [0, 0, 1, 1, 2, 2, 3, 3]
    assert done.launches() == {"b0": 3, "b1": 3}
    hurried = measured(found, seconds=0.0)
    assert [number for number, _ in hurried.order] == [1, 1, 2, 2, 3, 3]


def disturbed(calls: Collection[int]) -> Make:
    """Return what makes launches, of which those of the numbers `calls` are disturbed."""
    number = count()
    return lambda _: launch_of(100, ("steal",) if next(number) in calls else ())


def test_a_heat_is_made_again_when_one_of_it_failed() -> None:
    found = points("a", each=3)
    calls = count()

    def fails_once(_: Point) -> Launch:
        if next(calls) == 0:
            raise LabError("worker died")
        return launch_of(100)

    done = measured(found, fails_once, QUICK, heats=[[point.id for point in found]])
    assert sorted(done.launches().values()) == [3, 4, 4]


def test_a_heat_is_made_again_when_most_of_it_was_disturbed_and_time_is_left() -> None:
    found = points("a", each=3)
    heats = [[point.id for point in found]]
    first = len(found)  # those before are the warm-up
    one, most = range(first, first + 1), range(first, first + 2)
    for calls, seconds, launches in ((one, PLENTY, 3), (most, PLENTY, 4), (range(2), 0.0, 3)):
        done = measured(found, disturbed(calls), QUICK, heats=heats, seconds=seconds)
        assert done.launches() == dict.fromkeys(("b0", "b1", "b2"), launches)


def test_a_limit_that_other_heats_have_launched_ends_no_heat() -> None:
    (point,), limits = points("a", each=1), points("limits", each=2)
    names = [limit.id for limit in limits]
    heats = [[point.id, *names], names, names[:1]]
    assert measured([point, *limits], effort=QUICK, heats=heats).states[point.id].lacks() == 0


def test_disturbed_launches_are_repeated_and_kept_up_to_half_as_many() -> None:
    (point,) = points("a", each=1)
    assert measured([point], disturbed([1]), QUICK, seconds=PLENTY).launches() == {"b0": 4}
    six = replace(QUICK, least_launches=6)
    assert measured([point], disturbed(range(99)), six, seconds=PLENTY).launches() == {"b0": 9}
    assert measured([point], disturbed(range(99)), seconds=PLENTY).launches() == {"b0": 3}


def test_open_questions_come_before_what_was_disturbed() -> None:
    found = points("a", each=3)
    asked = [asks(OpenPair((found[0].id, found[1].id), 3, 20.0)), Judged(), Judged()]
    done = session(found, disturbed(range(3, 99)), replace(QUICK, most_launches=5), seconds=PLENTY)
    done.measure(lambda states: asked.pop(0), never)
    late = [name for number, name in done.order if number > 5]
    assert done.launches() == {"b0": 5, "b1": 5, "b2": 4}
    assert late == [found[2].id]


def test_open_questions_go_on_together_to_the_next_look() -> None:
    found = points("a", each=3)
    effort = replace(QUICK, least_launches=6)
    asked = [asks(OpenPair((found[0].id, found[2].id), 6, 20.0)), Judged(), Judged()]
    done = session(found, effort=effort, seconds=PLENTY)
    done.measure(lambda states: asked.pop(0), never)
    assert done.launches() == {"b0": 8, "b1": 6, "b2": 8}
    assert done.stops() == {"b0": DECIDED, "b1": ENOUGH, "b2": DECIDED}
    late = [{name for number, name in done.order if number == each} for each in range(7, 9)]
    assert late == [{found[0].id, found[2].id}] * 2


def test_time_goes_to_what_it_can_answer_and_then_ends() -> None:
    found = points("a", each=4)
    cheap, dear = ((found[0].id, found[1].id), 12, 20.0), ((found[2].id, found[3].id), 12, 39.0)
    # 24 are the least, 3 the warm-up, 16 what a pair gets to its next look
    done = session(found, effort=replace(QUICK, least_launches=6), seconds=45.0)
    done.measure(lambda states: asks(OpenPair(*dear), OpenPair(*cheap)), never)
    assert done.launches() == {"b0": 14, "b1": 14, "b2": 6, "b3": 6}
    assert {*done.stops().values()} == {BUDGET}


def test_what_nothing_is_known_of_comes_first() -> None:
    found = points("a", each=4)
    cheap, unknown = ((found[0].id, found[1].id), 12, 20.0), ((found[2].id, found[3].id), 12, 39.0)
    for rests, launches in ((True, (6, 6, 14, 14)), (False, (14, 14, 6, 6))):
        done = session(found, effort=replace(QUICK, least_launches=6), seconds=45.0)
        for name in () if rests else unknown[0]:
            done.states[name].precedence = LATER
        done.measure(lambda states: asks(OpenPair(*cheap), OpenPair(*unknown, tested=False)), never)
        assert tuple(done.launches().values()) == launches


def test_hopeless_questions_end_with_the_most_launches() -> None:
    effort = replace(QUICK, least_launches=8, most_launches=22)
    done = session(points("a", each=2), effort=effort, seconds=PLENTY)
    done.ask(36.0, *done.states)
    assert done.launches() == {"b0": 20, "b1": 20}  # the last look below the most


def test_a_question_that_no_look_would_answer_stops_once_its_scatter_is_known() -> None:
    done = session(points("a", each=2), effort=QUICK, seconds=PLENTY)
    done.ask(math.inf, *done.states)
    assert done.launches() == {"b0": 5, "b1": 5}
    assert {*done.stops().values()} == {BUDGET}


def test_what_goes_on_last_is_what_no_claim_rests_on_and_calibration_is_first() -> None:
    found = [point for one, mine in Request(profile="standard").points() for point in mine]
    placed = {
        (point.study, point.levels.get("arm"), study(point.study).precedence(point))
        for point in found
    }
    late = {(name, arm) for name, arm, place in placed if place == LATER}
    assert late == {
        *(("round_trip", arm) for arm in ("gap", "touch")),
        *(("stream", arm) for arm in ("window", "consumers", "stall")),
    }
    assert {name for name, _, place in placed if place == FIRST} == {"calibration"}
    claims = (ROOT / "ipclab/claims/texts").glob("*.py")
    told = "".join(file.read_text() for file in claims)
    assert 'arm="main"' in told
    assert not [arm for _, arm in late if f'arm="{arm}"' in told]


def in_heats(count: int, seconds: float, late: slice = slice(0)) -> Session:
    """Return a session of `count` heats of two; on those that are `late` nothing rests."""
    found = points("a", each=2 * count)
    heats = [[point.id for point in found[place : place + 2]] for place in range(0, 2 * count, 2)]
    done = session(found, effort=QUICK, heats=heats, seconds=seconds)
    for name in [*done.states][late]:
        done.states[name].precedence = LATER
    return done


def test_what_nothing_rests_on_waits_until_it_fits_its_share_of_the_time() -> None:
    done = in_heats(5, 30.0, late=slice(2, 6))
    seen = list[tuple[int, list[int]]]()

    def asked(states: Iterable[State]) -> Judged:
        seen.append((len(done.order), [len(state.taken) for state in states]))
        return Judged()

    done.measure(asked, never)
    spent, taken = seen[0]
    # three fifths of 30 s: the warm-up, three heats of three in 18 s, and none is begun beside them
    assert (spent, taken) == (20, [3, 3, 0, 0, 0, 0, 3, 3, 3, 3])
    (line,) = done.told.lines
    assert line.endswith("the most important first: a")
    assert [*done.launches().values()] == [3, 3, 3, 3, 0, 0, 3, 3, 3, 3]  # since nothing was open


def test_what_nothing_rests_on_is_made_at_once_where_time_is_plenty_or_nothing_else_is() -> None:
    plenty, alone = in_heats(4, 300.0, late=slice(2, 4)), in_heats(2, 30.0, late=slice(4))
    for done in (plenty, alone):
        done.measure(nothing, never)
        assert {*done.launches().values()} == {3}
    assert not plenty.told.lines


def test_on_the_slowest_host_everything_is_launched_once() -> None:
    done = in_heats(20, 30.0)
    done.measure(nothing, never)
    assert {*done.launches().values()} == {1}
    assert {*done.stops().values()} == {BUDGET}
    asked_for = measured(points("a", each=40), seconds=30.0)
    assert {*asked_for.launches().values()} == {3}  # a number that was asked for is made


def test_first_heats_have_more_than_the_profiles_time_where_that_is_too_short() -> None:
    for more, of_late in ((90.0, 0), (110.0, 3)):  # nothing rests on these, so they come last
        done = in_heats(20, 30.0, late=slice(2))
        done.more = more
        done.measure(nothing, never)
        assert [*done.launches().values()] == [of_late] * 2 + [3] * 38
        assert 30 < len(done.order) < 30 + more


@pytest.mark.parametrize(("content", "pairs_decided"), [(0.5, 0), (0.4, 1), (0.3, 2), (0.0, 4)])
def test_a_session_goes_on_while_too_much_is_open(content: float, pairs_decided: int) -> None:
    done = in_heats(4, 26.0)  # what the first heats and the warm-up take
    done.more, done.content = 32.0, content  # each part has time for a pair
    heats = [[*done.states][place : place + 2] for place in range(0, 8, 2)]

    def judged(states: Iterable[State]) -> Judged:
        """Every pair is told apart by its fifth heat, and two that are not asked here before."""
        taken = [min(len(done.states[name].taken) for name in heat) for heat in heats]
        pairs = [
            OpenPair((first, second), count, 5.0)
            for (first, second), count in zip(heats, taken, strict=True)
            if count < 5
        ]
        return Judged(pairs, 8, len(pairs))

    done.measure(judged, never)
    assert [*done.launches().values()].count(5) == 2 * pairs_decided
    assert len(done.told.lines) == pairs_decided
    assert all("of 8 comparisons are open" in line for line in done.told.lines)


def test_a_session_ends_when_a_part_of_the_time_told_nothing_apart() -> None:
    done = in_heats(1, 7.0)
    done.more, done.content = 400.0, 0.0  # each part has time for the next look, and for no more
    done.ask(60.0, *done.states)
    assert done.launches() == {"b0": 5, "b1": 5}
    assert {*done.stops().values()} == {BUDGET}


def test_a_contest_ends_when_all_is_told_apart_and_the_rest_goes_on() -> None:
    medians = {"tcp": 50_000, "unix": 51_500, "pipe": 90_000, "zmq-ipc": 200_000}
    random, heats = np.random.default_rng(5), Counter[str]()
    found = [Point("round_trip", name, 100, "cross", MAIN, "", ("round-trip",)) for name in medians]

    def make(point: Point) -> Launch:
        time = int(medians[point.backend] * np.exp(random.normal(0, 0.1)))
        made = make_launch((), **{"round-trip": [time] * 3})
        made.elapsed_ns = SECOND
        heats[point.id] += 1
        made.facts["heat"] = heats[point.id]
        return made

    effort = replace(QUICK, least_launches=6)
    done = session(found, make, effort, heats=[[point.id for point in found]], seconds=PLENTY)
    done.measure(partial(judge_pairs, bound=0.1), doubtful)
    launches = done.launches()
    assert launches["zmq-ipc"] == 6
    assert launches["tcp"] == launches["unix"] > 12
    assert not any(pair.need <= 0 for pair in judge_pairs(done.states.values(), 0.1).open)


def test_a_session_goes_on_with_what_another_one_stored(tmp_path: Path) -> None:
    run = begun(tmp_path)
    found = points("a", each=2)

    def begin(calls: int) -> tuple[PointStates, Rounds]:
        kept, left = PointStates(run, {"a": THREE}), iter(range(calls))

        def launch(names: Sequence[str], number: int) -> Launched:
            if next(left, None) is None:
                raise SessionError("the fork server does not answer")
            made = launch_of(100 + number)
            made.facts["round"] = number
            return dict.fromkeys(names, made)

        heats = [[point.id] for point in found]
        told = lambda: None, kept.store, Allowance(lambda: 0.0), Told()
        return kept, Rounds(kept.states(found), heats, 1, launch, *told)

    with pytest.raises(SessionError):
        begin(3)[1].measure(nothing, never)
    assert sum(len(decode(file).launches) for file in run.point_files()) == 3
    kept, again = begin(3)
    again.measure(nothing, never)
    held = [decode(file) for file in run.point_files()]
    rounds = sorted([launch.facts["round"] for launch in each.launches] for each in held)
    assert rounds == [[1, 2, 3], [1, 3, 4]]
    assert {each.stop for each in held} == {ENOUGH}
    assert all(state.stored == ENOUGH and not state.pending for state in kept.held.values())


def test_a_launch_that_fails_is_made_again_and_noted() -> None:
    calls = count()

    def sometimes(_: Point) -> Launch:
        if next(calls) in (0, 2):
            raise LabError("worker died", "killed by SIGBUS")
        return launch_of(100)

    done = measured(points("a", each=1), sometimes, QUICK)
    (state,) = done.states.values()
    assert (len(done.order), len(state.taken)) == (5, 3)
    assert state.failures == ["worker died: killed by SIGBUS"] * 2
    assert len(done.told.lines) == 2
    assert all("b0" in line and "killed by SIGBUS" in line for line in done.told.lines)


def test_a_point_that_goes_on_failing_is_given_up_and_the_others_go_on() -> None:
    bad, good = points("a", each=2)

    def launch(point: Point) -> Launch:
        if point is bad:
            raise LabError("worker died", "killed by SIGBUS")
        return launch_of(100)

    done = measured([bad, good], launch)
    assert Counter(name for _, name in done.order) == {bad.id: 3, good.id: 3}
    assert done.states[bad.id].lost and not done.states[good.id].lost


def test_a_mistake_in_the_code_is_not_taken_for_a_failed_launch() -> None:
    def broken(_: Point) -> Launch:
        raise ZeroDivisionError

    done = session(points("a"), broken)
    with pytest.raises(ZeroDivisionError):
        done.measure(nothing, never)
    assert done.told.ended == 1 and done.stored == [True]


def test_a_study_that_a_profile_leaves_out_is_measured_when_it_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(study("stream"), "named_only", ("quick",), raising=False)
    assert "stream" not in Request(profile="quick").names()
    assert "stream" in Request(profile="standard").names()
    assert "stream" in Request(("stream",), "quick").names()


def test_profiles_grow() -> None:
    assert list(PROFILES) == ["smoke", "quick", "standard", "full", "published"]
    swept = [each for each in PROFILES.values() if not each.as_texts]
    assert len(swept) == len(PROFILES) - 1
    efforts = [(each.most_launches, each.seconds, each.budget_ns) for each in swept]
    for less, more in pairwise(efforts):
        assert all(low < high for low, high in zip(less, more, strict=True))
    least = [each.least_launches for each in swept]
    assert least == sorted(least)


def test_a_disk_that_is_full_at_the_start_leaves_no_run_and_no_other_run_goes(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    usual = record.Record.place
    for others in (0, 1):
        monkeypatch.setattr(record.Record, "place", usual)
        before = [make_run(paths.runs).path / folder.INDEX] if others else []
        monkeypatch.setattr(record.Record, "place", full)
        with pytest.raises(OSError, match="No space"):
            measure_run(paths, Request(("payload",), "smoke"), Progress())
        assert [*paths.runs.rglob("run.json")] == before
        machines = {path.name for path in paths.runs.iterdir()} - {".ledger"}
        assert machines == {run.parent.parent.name for run in before}


def test_nobody_can_ask_for_more_launches_than_can_be_read(point: Point, ipclab: Any) -> None:
    launches = [make_launch((), None, write=[10], read=[9])] * (MOST_LAUNCHES + 1)
    named = f"{point.study}/{point.id}"
    with pytest.raises(ValueError, match="3,001 launches, above 3,000"):
        validity.possible(point, launches, named)
    validity.possible(point, launches[1:], named)
    done = ipclab("measure", "--study", "payload", "--launches", str(MOST_LAUNCHES + 1))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_a_point_with_as_many_samples_as_can_be_read_gets_no_more_launches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ipclab.session.state.MOST_ROWS", 10)
    state = State(Point("payload", "unix", 100, "same"), PROFILES["quick"])
    state.add(make_launch(write=[1, 2], read=[3, 4, 5]))
    assert not state.ended and state.lacks() == 2
    state.add(make_launch(write=[1]))
    assert state.ended and state.lacks() == 0 and state.lacks(undisturbed=True) == 0
