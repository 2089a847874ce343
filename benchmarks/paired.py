"""Which test of heats decides with the fewest, at a held rate of false alarms? By simulation.

usage: python benchmarks/paired.py [contests [bound]]

Contests of several mechanisms, whose log times scatter by `SCATTER` in a heat, are looked at after
so many heats as `HEAT_LOOKS` says, at the levels that a run has which counts `bound` (0.05) as the
same. Prints by shape of the scatter and size of the contest, for each test: the share of contests
of identical code in which a copy was called different from the fastest at any look; that share
where half of the mechanisms are a half slower, so that the level of the others steps down (of the
moderated t, which runs use); and how many heats it took on the mean until a mechanism that is a
tenth slower was found (the last look where it was not). About ten minutes; the seed is fixed.
"""

import math
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import combinations

import numpy as np
import pandas as pd

from ipclab.stats import paired
from ipclab.stats.compare import EQUIVALENCE
from ipclab.stats.family import HEAT_LOOKS, heat_level
from ipclab.stats.intervals import Floats, Scatter

CONTESTS, SIZES = 1_000, (2, 4, 6, 10, 20)
MOST = 40  # heats: the most of a quick run
LOOKS = [look for look in HEAT_LOOKS if look <= MOST]
SCATTER, SLOWER = 0.02, math.log(1.10)  # so that ratios scatter by 0.028, as measured
FAR = math.log(1.5)
OUTLIERS, OUTLIER = 0.1, 0.2  # how many heats have one, and its mean
MODES = 0.25  # how far two modes are apart
Test = Callable[[Floats, float, Scatter], tuple[float, float]]


def signed_ranks(ratios: Floats, level: float, _: Scatter) -> tuple[float, float]:
    """Return the exact interval of a shift by Wilcoxon's signed ranks; infinite where ranks cannot
    show `level`.
    """
    count = len(ratios)
    averages = np.sort(np.add.outer(ratios, ratios)[np.triu_indices(count)] / 2)
    outside = int(np.searchsorted(_law(count), level / 2, "right"))
    return (averages[outside - 1], averages[-outside]) if outside else (-math.inf, math.inf)


@lru_cache
def _law(count: int) -> Floats:
    """Return the distribution function of the sum of positive ranks."""
    ways = np.zeros(count * (count + 1) // 2 + 1)
    ways[0] = 1
    for rank in range(1, count + 1):
        ways[rank:] = ways[rank:] + ways[:-rank]
    return np.array(np.cumsum(ways) / 2**count)


def signs(ratios: Floats, level: float, _: Scatter) -> tuple[float, float]:
    """Return the exact interval of the median by signs; infinite where they cannot show `level`."""
    count, outside, chance = len(ratios), 0, 0.0
    while 2 * (chance := chance + math.comb(count, outside) / 2**count) <= level:
        outside += 1
    ordered = np.sort(ratios)
    return (ordered[outside - 1], ordered[-outside]) if outside else (-math.inf, math.inf)


def student(ratios: Floats, level: float, _: Scatter) -> tuple[float, float]:
    """Return the interval of the mean by Student's t, from the scatter of the pair alone."""
    return paired.interval(ratios, level)


TESTS: dict[str, Test] = {
    "moderated t": paired.interval,
    "t": student,
    "signed ranks": signed_ranks,
    "signs": signs,
}


def normal(random: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Return normal scatter."""
    return random.normal(0, SCATTER, shape)


def heavy(random: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Return scatter with the tails of Student's t of three degrees of freedom."""
    return random.standard_t(3, shape) * SCATTER


def contaminated(random: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Return normal scatter, of which a tenth is much slower."""
    return normal(random, shape) + (random.random(shape) < OUTLIERS) * random.exponential(
        OUTLIER, shape
    )


def bimodal(random: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Return scatter of two modes, one of which a mechanism is in by chance in each heat."""
    return normal(random, shape) + (random.random(shape) < 1 / 2) * MODES


def uneven(random: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Return normal scatter that is of another size for each mechanism: half of them within a
    factor of two.
    """
    return normal(random, shape) * np.exp(random.normal(0, 1, (shape[0], 1)))


Shape = Callable[[np.random.Generator, tuple[int, int]], Floats]
SHAPES: tuple[Shape, ...] = (normal, heavy, contaminated, bimodal, uneven)


def common(times: Floats) -> Scatter:
    """Return what all pairs of a contest's log `times` say of their scatter."""
    return _common(times.tobytes(), len(times))


@lru_cache(maxsize=100_000)  # each test asks it of the same contests
def _common(times: bytes, mechanisms: int) -> Scatter:
    by_mechanism = np.frombuffer(times).reshape(mechanisms, -1)
    return paired.scatter(one - other for one, other in combinations(by_mechanism, 2))


def alarmed(times: Floats, test: Test, bound: float, slower: float = 0.0) -> bool:
    """Tell whether any look calls one of the log `times` (mechanism, heat) different from the
    fastest without being so. The latter half of the mechanisms is made `slower` (a log ratio).
    """
    effects = slower * (np.arange(len(times)) >= (len(times) + 1) // 2)
    made = times + effects[:, np.newaxis]
    for look in LOOKS:
        seen = made[:, :look]
        best = int(np.argmin(seen.mean(axis=1)))
        for other, sign in apart(seen, best, test, bound).items():
            if sign * (effects[other] - effects[best]) <= 0:
                return True
    return False


def apart(seen: Floats, best: int, test: Test, bound: float) -> dict[int, int]:
    """Return who differs from `best`, 1 for slower and -1 for faster, at levels that step down."""
    scatter = common(seen)
    signs: dict[int, int] = {}
    in_question = [other for other in range(len(seen)) if other != best]
    while in_question:
        level = heat_level(len(in_question) + 1, seen.shape[1], bound, contestants=len(seen))
        left = []
        for other in in_question:
            low, high = test(seen[other] - seen[best], level, scatter)
            if low > 0 or high < 0:
                signs[other] = 1 if low > 0 else -1
            else:
                left.append(other)
        if len(left) == len(in_question):
            break
        in_question = left
    return signs


def heats_to_find(times: Floats, test: Test, bound: float) -> int:
    """Return after how many heats the second mechanism, made slower, is shown to be; the last look
    if it is not.
    """
    ratios = times[1] + SLOWER - times[0]
    for look in LOOKS:
        level = heat_level(len(times), look, bound, contestants=len(times))
        low, _ = test(ratios[:look], level, common(times[:, :look]))
        if low > 0:
            return look
    return LOOKS[-1]


def weighed(contests: int, bound: float) -> Iterator[dict[str, object]]:
    """Yield what each test does in `contests` contests of each shape and size, the same for all."""
    random = np.random.default_rng(1)
    for shape in SHAPES:
        for size in SIZES:
            drawn = [shape(random, (size, LOOKS[-1])) for _ in range(contests)]
            for name, test in TESTS.items():
                wrong = np.mean([alarmed(times, test, bound) for times in drawn])
                of_half = math.nan
                if test is paired.interval:
                    of_half = float(np.mean([alarmed(times, test, bound, FAR) for times in drawn]))
                heats = np.mean([heats_to_find(times, test, bound) for times in drawn])
                row = {"scatter": shape.__name__, "mechanisms": size, "test": name}
                alarms = {"false alarms": float(wrong), "of half": of_half}
                yield {**row, **alarms, "heats": float(heats)}


if __name__ == "__main__":
    words = dict(enumerate(sys.argv))
    wanted, bound = int(words.get(1, CONTESTS)), float(words.get(2, EQUIVALENCE))
    table = pd.DataFrame(weighed(wanted, bound))
    print(table.pivot(index=["scatter", "mechanisms"], columns="test").round(3).to_string())
