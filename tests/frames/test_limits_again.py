"""Limits that a mechanism beat are measured again; with made-up launches."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

from ipclab.frames.metrics import ROUND
from ipclab.session.goals import Allowance, Judged
from ipclab.session.progress import Progress
from ipclab.session.questions import doubtful
from ipclab.session.rounds import LIMIT_REPEATS, Launched, Rounds
from ipclab.session.state import PointStates
from ipclab.store.launch import Launch
from ipclab.store.point import Point
from ipclab.store.record import Record
from ipclab.store.samples import Measured, decode, encode
from ipclab.studies.limits import LAUNCHES
from ipclab.studies.profile import profile
from tests.support.made import MAIN, begun, make_launch

OP = "round-trip"
PIPE, UNIX = (
    Point("limits", name, 100, "cross", {}, "limits", (OP,)) for name in ("echo-pipe", "echo-unix")
)
PROFILE = replace(profile("quick"), least_launches=1)
ASKED = Point("round_trip", "pipe", 100, "cross", MAIN, "", (OP,))


def launch_of(ns: int) -> Launch:
    return make_launch(**{OP: [ns, ns, ns]})


def made(path: Path, **times: list[int]) -> Record:
    """Return a run of a round trip over a pipe and of two limits, whose launches have these medians
    in ns.
    """
    run = begun(path)
    places = count(1)
    for point, name in ((PIPE, "pipe"), (UNIX, "unix"), (ASKED, "asked")):
        launches = [launch_of(ns) for ns in times[name]]
        for order, each in enumerate(launches):
            each.order = next(places)
            each.facts[ROUND] = order
        run.place([(point, encode(Measured(point, launches, "budget")))])
    return run


def again(run: Record, ns: int) -> tuple[Counter[str], list[Launch]]:
    """Settle the limits by launches of so many ns; return how often each was launched, and what the
    run then holds of the pipe's.
    """
    asked: Counter[str] = Counter()
    kept = PointStates(run, dict.fromkeys(("limits", "round_trip"), PROFILE))
    states = kept.states(
        [each for each in (PIPE, UNIX, ASKED) if each.id not in run.about["failures"]]
    )
    orders = count(kept.order + 1)

    def noted(names: Sequence[str], number: int) -> Launched:
        asked.update(states[name].point.backend for name in names)
        facts: dict[str, object] = {ROUND: number}
        return {name: replace(launch_of(ns), order=next(orders), facts=facts) for name in names}

    heats = [[name] for name in states]
    rounds = Rounds(
        states, heats, 1, noted, lambda: None, kept.store, Allowance(lambda: 0.0), Progress()
    )
    rounds.measure(lambda states: Judged(), doubtful)
    return asked, decode(run.path / run.file(PIPE)).launches


def test_limits_that_agree_and_that_nobody_beat_are_left_alone(tmp_path: Path) -> None:
    run = made(tmp_path, pipe=[50, 52, 715], unix=[40, 41], asked=[50, 58, 70])
    assert again(run, 1)[0] == {}


def test_a_limit_that_a_mechanism_beat_is_measured_again_once_it_is_lower_all_launches_kept(
    tmp_path: Path,
) -> None:
    run = made(tmp_path, pipe=[715, 720], unix=[40, 41], asked=[57, 58, 70])
    asked, held = again(run, 53)
    assert asked == {"echo-pipe": LAUNCHES}
    assert [int(each.samples[OP][0]) for each in held] == [715, 720, *[53] * LAUNCHES]
    # another point has a third round
    assert [each.facts[ROUND] for each in held] == [0, 1, *range(3, 3 + LAUNCHES)]
    assert [each.order for each in held] == [1, 2, *range(8, 8 + LAUNCHES)]
    assert list(run.checked("points/limits/"))  # the digests are those of the new files


def test_a_run_without_bounded_results_has_no_limit_to_settle(tmp_path: Path) -> None:
    run = made(tmp_path, pipe=[53, 715], unix=[40, 41], asked=[1])
    run.fail(ASKED, "taken away")
    assert again(run, 55)[0] == {}


def test_a_limit_that_stays_above_is_measured_again_a_few_times(tmp_path: Path) -> None:
    run = made(tmp_path, pipe=[715, 720], unix=[40, 41], asked=[58])
    asked, held = again(run, 700)
    assert asked == {"echo-pipe": LIMIT_REPEATS * LAUNCHES}
    assert len(held) == 2 + LIMIT_REPEATS * LAUNCHES
