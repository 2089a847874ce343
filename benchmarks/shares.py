"""How shall a short run spend its error over its looks? By simulation, with the heats of real runs.

usage: python benchmarks/shares.py [CONTESTS [RUN ...]]

Contests of mechanisms that are all alike, and such of which half are a half slower, are looked at
as a quick run looks at them. Their log times scatter as in `benchmarks/paired.py`, in two modes
that are twice as far apart, and as the heats of each RUN did: of its contests with `LEAST_HEATS`
heats or more, each mechanism's heats have one median, so that all are alike, and are put into
another order with those of the others. Prints for each of `SPENT` the share of contests with a
wrong verdict at any look; `few` and `many` are those of runs, by how many contestants there are. Of
each run that counts 10 % as the same, it then prints how much each would leave open, were it that
of all contests, and how much is open. Half an hour for 1,000 contests; the seed is fixed.
"""

import sys
from collections.abc import Callable, Iterator
from functools import partial
from unittest.mock import patch

import numpy as np
import pandas as pd
from decided import OPEN, OWN
from paired import FAR, LOOKS, MODES, SHAPES, common, normal
from scipy.special import stdtr

from ipclab.frames import derived
from ipclab.frames.contests import contests, fields
from ipclab.lab.runs import choose
from ipclab.paths import checkout
from ipclab.stats import family, paired
from ipclab.stats.intervals import Floats, Scatter
from ipclab.stats.looks import MANY_SHARES, SHORT_BOUND, SHORT_SHARES
from ipclab.store.run import RunFolder

CONTESTS, SIZES = 1_000, (3, 4, 6, 10, 16)
LEAST_HEATS = LOOKS[-1]  # of three mechanisms or more, so that they can be drawn from
LEAST_SIDES = 3
# the share of each look at heats: they differ most in that of the first
SPENT = {
    "few": SHORT_SHARES,
    "many": MANY_SHARES,
    "0.50": (0.5, 0.25, 0.12, 0.07, 0.03, 0.02, 0.01),
}
Looked = list[dict[int, float]]  # at each look, by mechanism: signed p of its ratio to the fastest
Draw = Callable[[np.random.Generator, int], Floats]  # log times of so many mechanisms, by heat


def looked_at(times: Floats) -> Looked:
    """Return what each look at the log `times` (mechanism, heat) says of all but the fastest.

    That is the two-sided p of each, negative where it is the faster one.
    """
    looks: Looked = [{} for _ in LOOKS]
    for found, look in zip(looks, LOOKS, strict=True):
        seen = times[:, :look]
        best = int(np.argmin(seen.mean(axis=1)))
        scatter = common(seen)
        for other in range(len(seen)):
            if other != best:
                found[other] = _signed(seen[other] - seen[best], scatter)
        found[best] = np.inf
    return looks


def _signed(ratios: Floats, scatter: Scatter) -> float:
    spread = paired.steadied(ratios, scatter)
    middle = float(ratios.mean())
    if not spread.error:
        return 1.0
    t = middle / spread.error
    return float(np.copysign(2 * stdtr(spread.freedom, -abs(t)), middle))


def is_wrong(looks: Looked, spent: tuple[float, ...], effects: Floats) -> bool:
    """Tell whether a look calls a mechanism of true `effects` (log) other than it is."""
    for found, share in zip(looks, spent, strict=False):
        (best,) = (name for name, p in found.items() if p == np.inf)
        for other in _apart(found, share):
            if (effects[other] - effects[best]) * found[other] <= 0:
                return True
    return False


def _apart(found: dict[int, float], share: float) -> Iterator[int]:
    """Yield who is called different from the fastest, at levels that step down."""
    left = {name: abs(p) for name, p in found.items() if p != np.inf}
    while left:
        level = family.range_level(len(left) + 1, family.ALPHA * share)
        shown = [name for name, p in left.items() if p < level]
        yield from shown
        if not shown:
            return
        for name in shown:
            del left[name]


def far_modes(random: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Return scatter of two modes that are twice as far apart as those of `bimodal`."""
    return normal(random, shape) + (random.random(shape) < 1 / 2) * 2 * MODES


def of_run(run: RunFolder) -> list[Floats]:
    """Return the log times (mechanism, heat), of one median, of contests with enough heats."""
    found = []
    for question in run.questions.studies:
        if question.name not in derived.studies_measured(run):
            continue
        launches = derived.read_frame(run, question.name, "launches")
        for race in question.races:
            for _, sides in fields(race, launches):
                heats = [side.heats for side in sides.values() if len(side.heats) >= LEAST_HEATS]
                both = sorted(set.intersection(*map(set, heats))) if heats else []
                if len(heats) >= LEAST_SIDES and len(both) >= LEAST_HEATS:
                    first = {heat: heats[0][heat] for heat in both}
                    times = np.array([paired.log_ratios(first, side) for side in heats])
                    found.append(times - times.mean(axis=1, keepdims=True))
    return found


def drawn_anew(every: list[Floats], random: np.random.Generator, size: int) -> Floats:
    """Return the heats of `size` mechanisms of one contest, in another order."""
    large = [times for times in every if len(times) >= size]
    times = large[int(random.integers(len(large)))]
    who = random.choice(len(times), size, replace=False)
    return times[np.ix_(who, random.permutation(times.shape[1])[: LOOKS[-1]])]


def shapes(runs: dict[str, RunFolder]) -> Iterator[tuple[str, int, Draw]]:
    """Yield what is drawn from: its name, the most mechanisms that it has, and what draws."""
    for shape in (*SHAPES, far_modes):
        yield (
            shape.__name__,
            max(SIZES),
            lambda random, size, of=shape: of(random, (size, LOOKS[-1])),
        )
    for name, run in runs.items():
        if every := of_run(run):
            yield name, max(map(len, every)), partial(drawn_anew, every)


def wrong(count: int, runs: dict[str, RunFolder]) -> Iterator[dict[str, object]]:
    """Yield by shape and size what share of `count` contests has a wrong verdict, by `SPENT`."""
    random = np.random.default_rng(1)
    for name, most, draw in shapes(runs):
        for size in (size for size in SIZES if size <= most):
            drawn = [draw(random, size) for _ in range(count)]
            halves = FAR * (np.arange(size) >= (size + 1) // 2)
            for which, effects in (("alike", 0 * halves), ("of half", halves)):
                looks = [looked_at(times + effects[:, np.newaxis]) for times in drawn]
                told = {
                    each: np.mean([is_wrong(found, spent, effects) for found in looks])
                    for each, spent in SPENT.items()
                }
                yield {"scatter": name, "mechanisms": size, "contests": which, **told}


def left_open(run: RunFolder) -> dict[str, float]:
    """Return the share of comparisons of `run` that is open, were its error so spent."""
    told = {"is": _open(run)}
    for name, spent in SPENT.items():
        with patch.object(family, "heat_shares", lambda *_, spent=spent: spent):
            told[name] = _open(run)
    return told


def _open(run: RunFolder) -> float:
    every = [question for question in run.questions.studies if question.name not in OWN]
    verdicts = pd.concat(
        contests(question, derived.read_frame(run, question.name, "launches"), SHORT_BOUND).verdict
        for question in every
        if question.name in derived.studies_measured(run)
    )
    return float(verdicts[verdicts != ""].isin(OPEN).mean())


if __name__ == "__main__":
    count, *folders = sys.argv[1:] or [str(CONTESTS)]
    measured = {run.id: run for run in (choose(checkout(), folder) for folder in folders)}
    print(*("scatter", "mechanisms", "contests"), *SPENT, sep="\t")
    for row in wrong(int(count), measured) if int(count) else ():
        print(
            *(f"{each:.3f}" if isinstance(each, float) else each for each in row.values()),
            sep="\t",
            flush=True,
        )
    short = {
        name: left_open(run) for name, run in measured.items() if run.questions.same == SHORT_BOUND
    }
    if short:
        print("open:")
        print(pd.DataFrame(short).T.round(3).to_string())
