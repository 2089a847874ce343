"""Choose and the scheduler say the same of each contest of the reference run: which
is the fastest, by how much, and how many more launches would decide.
"""

from functools import cache
from typing import Any

import pandas as pd
import pytest
from pytest import approx

from ipclab.bounds import states
from ipclab.frames import derived
from ipclab.frames.contests import contests
from ipclab.lab.lab import Lab
from ipclab.paths import checkout
from ipclab.session.questions import comparison_of, open_pairs
from ipclab.stats.compare import NOT_TESTED, SLOWER, UNDECIDED, Side
from ipclab.stats.enough import launches_more
from ipclab.studies.questions import question
from ipclab_more.choose import asked
from ipclab_more.choose.answer import _judge, _launches_more, _place
from ipclab_more.choose.candidates import BEST, WORSE, Candidate
from ipclab_more.choose.need import need_of
from tests.support.few import some
from tests.support.told import reference

STUDIES = "payload", "shared_dict", "round_trip", "file_io", "stream", "objects"
OPEN = UNDECIDED, NOT_TESTED


@cache
def lab() -> Lab:
    made: Lab = Lab.of(reference(), checkout(), "en")
    return made


@cache
def compared(study: str) -> pd.DataFrame:
    """Return the contest rows of `study` that compare two.

    What is slower than the fastest in its faster state alone is `UNSTEADY`.
    """
    rivals = lab().contests(study)
    rivals = rivals[rivals.other != ""]
    points = lab().points(study, metric="p50").set_index(["point", "op"])
    slow = points.slow.reindex([*zip(rivals.point, rivals.op, strict=True)]).to_numpy()
    shaken = (rivals.verdict == SLOWER) & (rivals.value < slow)
    return rivals.assign(verdict=rivals.verdict.mask(shaken, states.UNSTEADY))


@pytest.mark.parametrize("study", some(STUDIES, 3))
def test_the_scheduler_asks_for_what_a_contest_lacks(study: str) -> None:
    bound = lab().run.questions.same
    medians = derived.read_frame(lab().run, study, "launches")
    judged = contests(question(study), medians[medians.metric == "p50"], bound)
    pairs: dict[tuple[str, str], set[float]] = {}  # a pair may stand in several contests
    for pair in open_pairs(judged, bound):
        pairs.setdefault(pair.points, set()).add(pair.need - pair.launches)
    every = compared(study)
    undecided = every[every.verdict.isin(OPEN)]
    assert len(every)
    for row in undecided.to_dict("records"):
        needed = launches_more(comparison_of(row), bound)
        assert needed in pairs[row["point"], row["other_point"]]


def contest_of(need: Any) -> pd.DataFrame:
    """Return the rows of the contest of the reference run that a need is about."""
    every = compared(need.study)
    (size,) = need.size
    question, of_size = "", every.size_bytes == size
    if need.way == "state":
        question = f"arm=read-many readers=1 entries={size}"
        of_size = every.size_bytes > 0
    alike = (every.op == need.op) & (every.question == question) & (every.among == "all")
    rows: pd.DataFrame = every[alike & of_size & (every.placement == need.placement)]
    return rows


@pytest.mark.parametrize(
    ("way", "size", "placement"),
    some(
        [
            *(("round-trip", size, "cross") for size in (100, 2_000_000)),
            *(("round-trip", size, "same") for size in (100, 500_000)),
            *(("one-way", size, "cross") for size in (64, 1 << 20)),
            *(("state", entries, "free") for entries in (10, 10_000)),
        ],
        3,
    ),
)
def test_choose_agrees_with_the_contest_that_its_need_is_about(
    way: str, size: int, placement: str
) -> None:
    need = need_of({"way": way, "size": size, "placement": placement})
    bound = lab().run.questions.same
    answer = asked.tell(checkout(), lab().run, need)
    ranked = answer.rows[answer.rows.side.notna()]
    rivals = contest_of(need)
    of_run = rivals.sort_values("ratio", kind="stable")
    assert {*ranked.backend} == {of_run.fastest.iloc[0], *of_run.other}
    assert answer.best == [of_run.fastest.iloc[0], *of_run[of_run.verdict != SLOWER].other]
    by_name = {row["other"]: row for row in of_run.to_dict("records")}
    for row in ranked.to_dict("records"):
        if row["backend"] == answer.best[0]:
            continue
        own = by_name[row["backend"]]
        known = comparison_of(own)
        compared = row["compared"]
        assert row["verdict"] == own["verdict"]
        found = (compared.ratio, compared.low, compared.high, compared.level)
        one, other = (
            f"{need.study}.{need.op}[point={own[name]}].p50" for name in ("other_point", "point")
        )
        ratio = lab().ratio(one, other)
        assert (row["ratio"].value, *row["ratio"].ends) == approx((ratio.value, *ratio.ends))
        # sides come in another order, and so do the sums over them
        assert found == approx((known.ratio, known.low, known.high, known.level))
        if own["verdict"] in OPEN:
            candidate = Candidate(**{str(name): value for name, value in row.items()})
            assert _launches_more(candidate, bound) == launches_more(known, bound)


def test_what_is_slower_than_the_faster_state_of_the_fastest_alone_may_be_taken() -> None:
    def candidate(name: str, ns: float, slow: float) -> Candidate:
        side = Side([ns + launch / 10 for launch in range(12)])
        return Candidate(name, None, None, None, side=side, slow=slow)

    measured = [candidate("a", 100, 200), candidate("b", 150, 150), candidate("c", 300, 300)]
    _judge(measured, 0.05)
    assert [each.status for each in measured] == [BEST, BEST, WORSE]
    assert [each.verdict for each in measured] == ["", states.UNSTEADY, SLOWER]
    assert measured[1].settled and _launches_more(measured[1], 0.05) == 0


def test_the_fastest_stands_first_though_a_rival_took_less_time_in_their_heats() -> None:
    def candidate(name: str, *medians: float) -> Candidate:
        side = Side(medians, heats=dict(enumerate(medians)))
        return Candidate(name, None, None, None, side=side)

    rival = candidate("a", 99.5, 100.5, 99.0)
    fastest = candidate("b", 100.0, 101.0, 99.5, 60.0, 61.0)
    _judge([rival, fastest], 0.05)
    assert rival.ratio.value < fastest.ratio.value == 1
    assert sorted([rival, fastest], key=_place) == [fastest, rival]
