"""What is undecided beside intervals that lie apart says why: the level of the contest."""

from typing import Any

import pandas as pd
import pytest

from ipclab.bounds import states
from ipclab.frames.contests import CONTEST
from ipclab.paths import checkout
from ipclab.prose import prose
from ipclab.prose.questions import ProseQuestion
from ipclab.prose.teller import LEVEL, Teller
from ipclab.report.appendix import choices
from ipclab.report.appendix.advice import _in_words, advised
from ipclab.report.lab import ReportLab, lab_of
from ipclab.stats import judge
from ipclab.stats.compare import UNDECIDED
from ipclab.stats.product import Ends
from ipclab.stats.quantity import Quantity, measured
from tests.support.told import reference

STUDIES = "payload", "shared_dict", "round_trip", "stream", "objects"
REASONS = {
    "en": "level of the contest",
    "ko": "비교의 유의수준",
    "zh": "按同一比较中的全部组合校正后，显著性水平更严",
}
SIDES = {judge.ABOVE: "More.", judge.BELOW: "Less.", judge.UNDECIDED: "That is undecided."}


class Undecided:
    """A run in which no ratio is decided."""

    def ratio(self, over: str, under: str) -> Ends | None:
        return Ends(1.4, 0.9, 2.2)


RUN = Undecided()


def lab(lang: str = "en", **names: Any) -> ReportLab:
    made = lab_of(reference(), checkout(), lang)
    return ReportLab(made.run, made.words, made.paths, _names=lambda: names)


def median(name: str, low: float, high: float) -> Quantity:
    value = (low + high) / 2
    return measured(Quantity(value, "ns", low, high, "5 x 9"), {}, f"{name}/p50", RUN)


NEAR, FAR, WIDE = median("near", 9, 11), median("far", 12, 14), median("wide", 10, 18)


@pytest.mark.parametrize(
    ("asked", "bound", "says"),
    [
        ("far / near", "1", True),
        ("near / far", "1", True),
        ("near * 1000 / far", "1000", True),
        ("far / near", "1.3", False),
        ("wide / near", "1", False),
        ("near / far + far / near", "1", False),
    ],
)
@pytest.mark.parametrize("lang", REASONS)
def test_a_sentence_says_why(lang: str, asked: str, bound: str, says: bool) -> None:
    teller = Teller(lab(lang, near=NEAR, far=FAR, wide=WIDE))
    told = prose.render(f"? {asked} : {bound}\n> More.\n< Less.\n~ That is undecided.", teller)
    assert (REASONS[lang] in told) == says
    row = "| You have | Take | Costs |\n|---|---|---|\n? {} : {}\n> | a | b | c |\n<\n~ | a | either: open | – |"
    shown = prose.render(row.format(asked, bound), teller)
    reason = {"en": "({})", "ko": "({})", "zh": "（{}）"}[lang].format(REASONS[lang])
    assert (f"either: open {reason} |" in shown or f"either: open{reason} |" in shown) == says
    assert shown.count("|") == 3 * 4


def test_what_is_decided_or_not_tested_says_no_such_thing() -> None:
    class Decided(Undecided):
        def ratio(self, over: str, under: str) -> Ends | None:
            return Ends(1.4, 1.1, 1.6)

    near, far = (measured(each, {}, f"{each.value}/p50", Decided()) for each in (NEAR, FAR))
    for one, other in ((near, far), (NEAR, WIDE)):
        teller = Teller(lab(near=one, far=other))
        assert prose.WHY not in teller.answer(ProseQuestion("far / near", "1", SIDES))[1]


@pytest.mark.parametrize("study", STUDIES)
def test_each_undecided_pair_of_the_reference_says_it_where_its_intervals_lie_apart(
    study: str,
) -> None:
    """In sentences, choices and advice."""
    here = lab()
    points = here.points(study, metric="p50")
    rows: Any = here.cells(points).itertuples()
    cells: dict[Any, Quantity] = {(row.point, row.op): row.cell for row in rows}
    every = states.heeded(here.run, study, here.contests(study))
    row: Any
    for row in every[every.verdict == UNDECIDED].itertuples():
        pair = cells[row.other_point, row.op], cells[row.point, row.op]
        expected = states.apart(pair[0].ends, pair[1].ends)
        assert row.by_level == expected
        teller = Teller(lab(ratio=pair[0] / pair[1]))
        side = teller.answer(ProseQuestion("ratio", "1", SIDES))
        undecided = side[0] == SIDES[judge.UNDECIDED]
        assert (side[1].get(prose.WHY) == LEVEL) == (expected and undecided)
    _in_tables(here, every)


def _in_tables(here: ReportLab, every: pd.DataFrame) -> None:
    said = choices.alike_heeded(here, every).choice.str.contains(REASONS["en"]).sum()
    assert bool(said) == _told(every)
    rows = advised(every, here.run.questions.same)
    words = [_in_words(here, row)["second"] for row in rows.itertuples()]
    assert [REASONS["en"] in each for each in words] == list(rows.by_level & ~rows.slower)


def _told(every: pd.DataFrame) -> bool:
    """Tell whether a contest without several states, or too few launches, is left open by it."""
    return any(
        rivals.by_level.any()
        and not rivals.verdict.eq(states.UNSTEADY).any()
        and rivals[rivals.verdict != "slower"][["low", "high"]].notna().all(axis=None)
        for _, rivals in every.groupby(list(CONTEST))
    )
