"""What may be taken: no five are the fastest, no second choice is faster than the best, a factor
says how alike.
"""

import re
from typing import Any

import pandas as pd
import pytest
from matplotlib.colors import to_hex

from ipclab.bounds.states import UNSTEADY
from ipclab.frames import derived
from ipclab.lab.lab import Lab, lab_of
from ipclab.marks.bars import over
from ipclab.marks.curves import lines
from ipclab.marks.style import GREY
from ipclab.paths import checkout
from ipclab.report.appendix.choices import NAMED, alike, alike_heeded
from ipclab.stats.compare import SLOWER
from ipclab.store.bundle import opened
from tests.answers.test_advice import contest


@pytest.fixture
def lab() -> Lab:
    made: Lab = lab_of(opened(checkout(), checkout().reference), checkout(), "en")
    return made


@pytest.mark.parametrize(
    ("factors", "scatter", "launches", "choice"),
    [
        ((1, 2, 3), 0.02, 12, r"a \(next: b, 1\.98× as long\)"),
        ((1, 3, 2, 2), 1e-6, 12, r"a \(next: c, d, 2\.00× as long\)"),
        ((1, 1, 2), 1e-6, 12, r"a, b \(alike within 1\.0\d×\)"),
        ((1, 1.001, 3), 0.005, 12, r"a, b \(alike within 1\.0\d×\)"),
        ((1, 1.03, 1.04, 1.05, 1.06), 0.1, 12, r"a, b, c, d, e \(alike within 1\.\d+×\)"),
        ((1, 1.01, 1.02, 1.03, 9), 0.05, 12, r"a, b, c, d \(alike within 1\.\d+×\)"),
        ((1, *[1.02] * 6), 0.1, 12, r"any of 7 \(alike within 1\.\d+×\)"),
        ((1, *[1.01] * 6, 9), 0.05, 12, r"all but h \(alike within 1\.\d+×\)"),
        ((1, 1.2), 1.0, 12, r"a, b \(not told apart in 12 launches of each\)"),
        ((1, *[1.2] * 7), 1.0, 12, r"all 8 \(not told apart in 12 launches of each\)"),
        ((1, 2), 0.02, 2, r"a, b \(too few launches to tell\)"),
    ],
)
def test_a_choice_says_what_was_shown(
    factors: tuple[float, ...],
    scatter: float,
    launches: int,
    choice: str,
    lab: Lab,
) -> None:
    (said,) = alike_heeded(lab, contest(scatter, *factors, launches=launches)).choice
    assert re.fullmatch(choice, said), said


def test_the_fastest_of_one_state_is_not_the_fastest_in_the_other(lab: Lab) -> None:
    found = contest(0.02, 1, 1.5, 3)
    shaken = found.assign(verdict=[UNSTEADY, SLOWER], slow=1700.0, busy=True)
    (row,) = alike_heeded(lab, shaken).to_dict("records")
    told = r"a, b \(not told apart: a takes 997\sns or 1\.70\sµs; needs an otherwise idle CPU: a\)"
    assert re.fullmatch(told, row["choice"]), row["choice"]
    assert (row["slower"], row["shaken"]) == (["c"], 1)


def test_what_beats_its_limit_is_not_said_to_be_as_fast_as_what_is_slower_in_each_state(
    lab: Lab,
) -> None:
    found = contest(0.02, 1, 1.5, 3).assign(verdict=UNSTEADY, slow=1700.0)
    (said,) = alike_heeded(lab, found).choice
    assert (
        said
        == "undecided (not told apart: a takes less time than its limit, so that it is no measure)"
    )


@pytest.mark.slow
def test_no_choice_of_the_reference_run_is_a_fastest_of_many_or_a_second_that_is_faster(
    lab: Lab,
) -> None:
    rows: Any = alike(lab, "shared_dict", placement="free", among="all")
    assert len(rows) > 10
    assert not rows.choice.str.contains("fastest").any()
    assert all(not row.next or row.next.value > 1 for row in rows.itertuples())
    assert all(not row.within or row.within.value >= 1 for row in rows.itertuples())
    shortened = rows.choice.str.startswith(("any of", "all but"))
    assert (shortened == (rows.tied.map(len) > NAMED)).all()
    found = derived.read_frame(lab.run, "shared_dict", "contests")
    found = found[(found.placement == "free") & (found.other != "") & (found.verdict != "slower")]
    keys = ["op", "question", "among", "placement"]
    ends = found.groupby(keys).agg(low=("low", "min"), high=("high", "max")).reset_index()
    # The factor holds every interval of what is called alike, whose ends are printed in hundredths.
    for row in rows.merge(ends, on=keys).itertuples():
        if row.within:
            assert round(row.high, 2) <= row.within.value
            assert round(1 / row.low, 2) <= row.within.value + 0.01


def frame(sizes: int) -> pd.DataFrame:
    rows = [
        {"backend": name, "entries": 10**n, "value": 1.0 + n}
        for n in range(sizes)
        for name in ("lmdb", "tcp")
    ]
    return pd.DataFrame(rows).assign(unit="ns", op="write", metric="p50")


@pytest.mark.parametrize(("sizes", "drawn"), [(1, "dots"), (2, "dots"), (3, "lines")])
def test_one_or_two_levels_make_no_line(
    sizes: int, drawn: str, lab: Lab, tmp_path: Any, monkeypatch: Any
) -> None:
    monkeypatch.setenv("IPCLAB_FIGURES", str(tmp_path))
    with lab.figure("f", "Title") as ax:
        over(frame(sizes), x="entries", hue="backend", ax=ax, label="time")
        joined = [
            line
            for line in ax.lines
            if line.get_linestyle() != "None" and len(line.get_xdata()) > 1
        ]
        assert bool(joined) == (drawn == "lines")
        assert (ax.get_ylabel() if drawn == "lines" else ax.get_xlabel()) == "time"


def test_what_the_text_says_is_grey(lab: Lab, tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("IPCLAB_FIGURES", str(tmp_path))
    with lab.figure("f", "Title") as ax:
        lines(frame(3), x="entries", hue="backend", ax=ax, beside="the text")
        assert {to_hex(line.get_color()) for line in ax.lines} == {GREY}
