"""How often something happens, from a number of trials."""

from math import exp, fsum, lgamma, log

BISECTIONS = 60


def rate_interval(hits: int, trials: int, level: float = 0.95) -> tuple[float, float]:
    """Return the exact two-sided interval of a rate (Clopper and Pearson, Biometrika 26, 1934, 404-413).

    Without trials nothing is known: 0 to 1. Raises `ValueError` for hits outside 0 to `trials`.
    """
    if not 0 <= hits <= trials:
        raise ValueError(f"{hits} of {trials}")
    tail = (1 - level) / 2
    low = 0.0 if hits == 0 else _rate(hits - 1, trials, 1 - tail)
    high = 1.0 if hits == trials else _rate(hits, trials, tail)
    return low, high


def _rate(hits: int, trials: int, chance: float) -> float:
    """Return the rate at which at most `hits` of `trials` have `chance`, by bisection: it falls as the rate grows."""
    low, high = 0.0, 1.0
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if _at_most(hits, trials, middle) > chance else (low, middle)
    return (low + high) / 2


def _at_most(hits: int, trials: int, rate: float) -> float:
    ways = (lgamma(trials + 1) - lgamma(k + 1) - lgamma(trials - k + 1) for k in range(hits + 1))
    return fsum(exp(way + k * log(rate) + (trials - k) * log(1 - rate)) for k, way in enumerate(ways))
