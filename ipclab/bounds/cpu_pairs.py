"""Pairs of CPUs as ops of a point of the limits: the round trip of a cache line between them."""

Pair = tuple[int, int]

NAME = "cpu-pairs"  # the limit


def op(pair: Pair) -> str:
    """Return the op that times `pair`, such as `cpu0-cpu12`."""
    first, second = pair
    return f"cpu{first}-cpu{second}"


def cpu_pair_of(name: str) -> Pair:
    """Return the pair that the op called `name` times."""
    first, second = name.removeprefix("cpu").split("-cpu")
    return int(first), int(second)
