"""What a comparison of machines finds: who is faster at how many points, which facts differ most."""

from typing import Any

import pandas as pd
import pytest

from ipclab.bounds.points import enriched_points
from ipclab.frames.derived import read_frame, studies_measured
from ipclab.lab.lab import Lab
from ipclab.paths import checkout
from ipclab.report.compare.held import ComparedRun
from ipclab.report.compare.machines import Machines
from ipclab.report.compare.shared import mean_ratio, shared_points
from ipclab.words.sentences import sentence
from ipclab.words.words import Words
from tests.support.simulated import Machine, run
from tests.support.told import reference

STEADY = Machine(scatter=0.01, launches=12)


def compared(*machines: Machine) -> Machines:
    runs = [
        run(name, each, seed)
        for seed, (name, each) in enumerate(zip("ABC", machines, strict=False))
    ]
    lab = Lab.of(reference(), checkout(), "en")
    return Machines(lab, [], runs, shared_points(runs))


def said(both: Machines, pair: str, lang: str = "en") -> str:
    trips = both.points[both.points.study == "round_trip"]
    return sentence(vars(both.effect(pair, trips)), Words.load(lang))


@pytest.mark.parametrize(("times", "takes"), [(3.0, "takes longer"), (0.3, "takes less time")])
def test_one_machine_is_slower_at_every_point(times: float, takes: str) -> None:
    second = Machine(times, times, 0.01, launches=12)
    told = f"An operation {takes} on B (Example B) than on A (Example A) at each of 12 points: "
    assert told in said(compared(STEADY, second), "A → B")


def test_each_machine_is_slower_somewhere_and_the_most_of_each_is_named() -> None:
    second = Machine(scatter=0.01, launches=12, by_backend={"tcp": 4.0, "pipe": 0.5})
    text = said(compared(STEADY, second), "A → B")
    assert "at 4 of 12 points, up to " in text and "(a round trip of " in text
    assert " through tcp " in text and "less time at 4, up to " in text and " through pipe " in text
    assert text.endswith("; the other 4 are not told apart.")


def test_nothing_undecided_is_told_as_a_fact() -> None:
    second = Machine(1.1, 1.1, scatter=0.4)
    text = said(compared(Machine(scatter=0.4), second), "A → B")
    assert text.startswith("Not told apart at any of 12 points: whether an operation takes longer")
    few = compared(Machine(launches=2), Machine(3, 3, launches=2))
    assert said(few, "A → B").startswith(
        "Too few launches to say whether an operation takes longer"
    )


@pytest.mark.parametrize("lang", ["en", "ko", "zh"])
def test_of_three_machines_each_is_compared_with_the_first(lang: str) -> None:
    three = compared(STEADY, Machine(3.0, 3.0, 0.01, launches=12), STEADY)
    assert [pair for pair, _, _ in three.pairs] == ["A → B", "A → C"]
    assert "Example B" in said(three, "A → B", lang) and "Example C" in said(three, "A → C", lang)


FACTS: dict[str, Any] = {
    "cpu_family": 6,
    "cache_l3": 32 << 20,
    "cache_l2": 1 << 20,
    "cache_line": 64,
}


def test_the_facts_that_differ_most_are_named_with_all_values() -> None:
    """Numbers by their ratio; a code of the maker's is no number, and nor is a zero."""
    other = {"cpu_family": 900, "cache_l3": 320 << 20, "cache_l2": 2 << 20, "cache_line": 256}
    zero, some = {"halt_polling_guest": 0}, {"halt_polling_guest": 200_000}
    three = compared(
        Machine(facts=FACTS | zero), Machine(facts=FACTS | zero), Machine(facts=other | some)
    )
    rows = three.overview().set_index("what")
    assert list(rows.index[3:8]) == [
        "Processor model",
        "Kernel release",
        "Third-level cache",
        "Cache line",
        "Second-level cache",
    ]
    assert list(rows.loc["Third-level cache"]) == ["32\u00a0MiB", "32\u00a0MiB", "320\u00a0MiB"]


def test_a_mean_ratio_has_the_mean_of_the_ends() -> None:
    points = pd.DataFrame({"ratio": [1.0, 4.0], "low": [0.5, 2.0], "high": [2.0, 8.0]})
    mean = mean_ratio(points)
    assert (mean.value, mean.low, mean.high) == pytest.approx((2.0, 1.0, 4.0))
    assert not mean_ratio(points[:0])


def test_a_comparison_knows_the_limits_that_the_run_itself_is_told_with() -> None:
    folder = reference()
    studies = [name for name in studies_measured(folder) if name in ("limits", "payload", "stream")]
    launches = {name: read_frame(folder, name, "launches") for name in studies}
    points = ComparedRun.of(folder.id, folder.about, launches).points
    for name in ("payload", "stream"):
        told = enriched_points(folder, name).query("metric == 'p50'").set_index(["point", "op"])
        known = points[points.study == name].set_index(["point", "op"]).bound.astype(float)
        assert known.notna().any()
        assert known.to_dict() == pytest.approx(dict(told.limit.reindex(known.index)), nan_ok=True)
