"""How often a contest of equals is called decided where its heats are not what the judge assumes.

    .venv/bin/python benchmarks/correlated.py [CONTESTS]

Heats that resemble the one before (each contestant's logarithm keeps a share of its last one), or
contestants of two modes 50 % apart, one by chance in each heat. Each contest is looked at as a run
looks, and ends at its first verdict; with and without the looks of `ipclab.stats.correlation`.
"""

import sys
from collections.abc import Callable
from math import exp
from typing import Any

import numpy as np

from ipclab.stats import contest, correlation
from ipclab.stats.compare import FASTER, SLOWER, Side
from ipclab.stats.family import HEAT_LOOKS

Logs = np.ndarray[Any, np.dtype[np.float64]]
SCATTER, MODES, NARROW = 0.05, np.log(1.5), 0.02
LONG, SHORT = (0.05, 20), (0.10, 8)  # what counts as the same, and the heats of a full, a quick run


def sides(logs: Logs) -> dict[int, Side]:
    """Return sides of these log medians: a row each, a column for each heat."""
    return {
        number: Side([*map(exp, row)], heats={heat: exp(log) for heat, log in enumerate(row)})
        for number, row in enumerate(logs.tolist())
    }


def resembling(kept: float) -> Callable[[np.random.Generator, int, int], Logs]:
    """Return what makes contestants whose heats keep that share of the one before (AR(1))."""

    def made(chance: np.random.Generator, contestants: int, heats: int) -> Logs:
        logs = chance.normal(0, SCATTER, (contestants, heats))
        for heat in range(1, heats):
            logs[:, heat] = kept * logs[:, heat - 1] + (1 - kept**2) ** 0.5 * logs[:, heat]
        return logs

    return made


def two_modes(chance: np.random.Generator, contestants: int, heats: int) -> Logs:
    """Return contestants of two modes, either by chance in each heat."""
    modes = chance.integers(0, 2, (contestants, heats))
    logs: Logs = MODES * modes + chance.normal(0, NARROW, modes.shape)
    return logs


def errs(logs: Logs, bound: float) -> bool:
    """Tell whether a contest of equals with these logarithms is ever called decided."""
    for heats in HEAT_LOOKS:
        if heats <= logs.shape[1]:
            found = contest.judged(sides(logs[:, :heats]), bound).over_fastest.values()
            if any(one.verdict in (FASTER, SLOWER) for one in found):
                return True
    return False


def main() -> None:
    """Print the share of contests that err, without and with the looks."""
    contests = int(next(iter(sys.argv[1:]), "200"))
    looks = correlation.apart, correlation.strictness
    blind = (lambda sides: 1.0), (lambda sides: 1.0)
    kinds = {f"resembling {kept}": resembling(kept) for kept in (0.0, 0.3, 0.7)}
    for name, make in {**kinds, "two modes": two_modes}.items():
        for contestants in (2, 4, 10):
            for bound, heats in (SHORT, LONG):
                shares = []
                for correlation.apart, correlation.strictness in (blind, looks):
                    logs = (
                        make(np.random.default_rng(seed), contestants, heats)
                        for seed in range(contests)
                    )
                    shares.append(sum(errs(one, bound) for one in logs) / contests)
                without, with_looks = shares
                print(f"{name:16} {contestants:2} contestants, {heats:2} heats: "
                      f"{without:6.1%} without, {with_looks:6.1%} with", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
