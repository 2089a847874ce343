"""Two runs that were measured apart: what few launches of many points show, and what they do not."""

import math
from collections import Counter

import numpy as np
import pytest

from ipclab.report.compare.unpaired import Difference, compare_runs, difference, threshold
from ipclab.stats.compare import Comparison, Side
from ipclab.stats.intervals import Scatter

Sides = list[tuple[Side, Side]]


def runs(points: int, launches: int, effects: list[float], seed: int) -> Sides:
    """Return `points` of two runs whose scatters differ; the first ones take `effects` times as
    long.
    """
    random = np.random.default_rng(seed)
    pairs = []
    for number in range(points):
        scatter = 0.04 * float(np.exp(random.normal(0, 0.5)))
        middle = float(np.exp(random.uniform(6, 15)))
        effect = effects[number] if number < len(effects) else 1.0
        medians = middle * np.exp(random.normal(0, scatter, (2, launches)))
        pairs.append((Side(medians[0].tolist()), Side((effect * medians[1]).tolist())))
    return pairs


def test_five_launches_show_a_difference_of_some_points_among_hundreds() -> None:
    judged = compare_runs(runs(400, 5, [1.5] * 40 + [1 / 1.5] * 40, seed=1))
    verdicts = [comparison.verdict for comparison in judged]
    assert verdicts[:40].count("slower") >= 36 and verdicts[40:80].count("faster") >= 36
    assert not {"faster", "slower"} & set(verdicts[80:])
    assert "not tested" not in verdicts


def test_identical_runs_are_hardly_ever_called_different() -> None:
    families = [compare_runs(runs(50, 5, [], seed)) for seed in range(40)]
    wrong = [any(one.verdict in ("faster", "slower") for one in family) for family in families]
    assert sum(wrong) <= 2  # of 40


def test_points_without_scatter_to_speak_of_are_the_same() -> None:
    random = np.random.default_rng(2)
    quiet = 1e4 * np.exp(random.normal(0, 1e-4, (20, 2, 5)))
    judged = compare_runs([(Side([*one]), Side([*other])) for one, other in quiet])
    assert Counter(one.verdict for one in judged) == {"same": 20}


def test_an_interval_is_that_of_welch() -> None:
    one, other = [10.0, 11.0, 12.5, 9.5], [14.0, 15.5, 13.0]
    unknown = Scatter()
    found = difference(Side(one), Side(other), unknown, unknown)
    a, b = np.log(one), np.log(other)
    parts = [values.var(ddof=1) / len(values) for values in (a, b)]
    assert found.log_ratio == pytest.approx(b.mean() - a.mean())
    assert found.error == pytest.approx(math.sqrt(sum(parts)))
    freedom = sum(parts) ** 2 / (parts[0] ** 2 / 3 + parts[1] ** 2 / 2)
    assert found.freedom == pytest.approx(freedom)


@pytest.mark.parametrize("log_ratio", [-0.3, -0.049, 0.0, 0.06])
def test_the_level_is_where_the_interval_leaves_the_bound(log_ratio: float) -> None:
    found = Difference(log_ratio, 0.02, 6.0)
    level = found.least_level()
    if level == 1:
        assert found.compared(0.99).verdict == "undecided"
    else:
        assert found.compared(level * 1.001).verdict != "undecided"
        assert found.compared(level * 0.999).verdict == "undecided"


def test_kinds_steady_their_own_points() -> None:
    quiet, loud = (runs(30, 5, [], seed) for seed in (3, 4))
    loud = [(Side([m**3 for m in a.medians]), Side([m**3 for m in b.medians])) for a, b in loud]
    apart = compare_runs([*quiet, *loud], ["quiet"] * 30 + ["loud"] * 30)
    mixed = compare_runs([*quiet, *loud])

    def widths(comparisons: list[Comparison]) -> float:
        logs = [math.log((one.high or 0) / (one.low or 1)) for one in comparisons[:30]]
        return float(np.median(logs))

    assert widths(apart) < widths(mixed)


def test_the_threshold_is_that_of_benjamini_and_hochberg() -> None:
    # The example of the paper of 1995: fifteen p, of which four are rejected at 0.05.
    small = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459]
    table = [*small, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0]
    level = threshold(table, 0.05)
    assert sum(p <= level for p in table) == 4
    assert threshold([], 0.05) == 0.05
