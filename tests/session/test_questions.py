"""What the launches of a session answer so far, and what they leave open."""

from collections.abc import Sequence

from ipclab.frames.metrics import HEAT, ROUND
from ipclab.session.goals import OpenPair
from ipclab.session.questions import judge_pairs
from ipclab.session.state import State
from ipclab.store.point import Point
from ipclab.studies.calibration import CalibrationStudy
from ipclab.studies.interface import Sweep
from ipclab.studies.profile import PROFILES
from tests.support.made import make_launch
from tests.support.simulated import points

QUICK = PROFILES["quick"]
FIVE = [0, 40, -30, 20, 10]  # ns by which heats differ


def taken(point: Point, ns: int, heats: Sequence[int] = FIVE) -> State:
    """Return a point whose launches, one in each heat from the first on, took `ns` and some."""
    state = State(point, QUICK)
    for place, more in enumerate(heats):
        launch = make_launch(**{point.primary[0]: [ns + more]})
        launch.facts |= {ROUND: place, HEAT: place + 1}
        state.add(launch)
    return state


def test_what_is_open_is_counted_of_comparisons_without_the_runs_own_calibration() -> None:
    trips = {point.backend: point for point in points(sizes=(100,), placements=("cross",))}
    (alone, *_) = points(sizes=(100,), placements=("same",))
    calibration = CalibrationStudy().points(PROFILES["smoke"], Sweep())
    states = [
        taken(trips["unix"], 10_000),
        taken(trips["tcp"], 16_000),
        taken(trips["pipe"], 13_000, FIVE[:2]),
        taken(alone, 10_000),
        *(taken(point, 10_000, FIVE[:2]) for point in calibration),
    ]
    found = judge_pairs(states, 0.05)
    # among all, and again among those that sleep, which all do
    assert (found.compared, found.unanswered, found.share) == (4, 2, 0.5)
    pair = OpenPair((trips["unix"].id, trips["pipe"].id), launches=2, need=3, tested=False)
    own = {point.id for point in calibration}
    assert [each for each in found.open if each.points[0] not in own] == [pair] * 2
    assert {name for each in found.open for name in each.points} >= own
