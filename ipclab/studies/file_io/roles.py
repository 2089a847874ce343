"""Mixes of thread roles as people write them: `4SYNC`, `1R+3C`, `12RnC+12C`."""

import re
from collections.abc import Sequence

from ipclab.errors import UsageError

# What a thread does: only reads; only computes; reads a file and computes it, one after the other; makes all the read
# calls it can before it computes; computes what is there before it reads more.
KINDS = {"R": "read", "C": "compute", "SYNC": "both", "RnC": "read-then-compute", "CnR": "compute-then-read"}
MOST_THREADS = 1024
PART = re.compile(r"([1-9]\d*)([A-Za-z]+)")
WAYS = "R (reads), C (computes), SYNC (one file after the other), RnC (reads first), CnR (computes first)"
# Roles that are no mix -> what is wrong, why, and how to mend it.
ALONE = {
    frozenset({"compute"}): ("nobody reads in", "", "add threads such as 1R"),
    frozenset({"read"}): ("nobody computes in", "", "add threads such as 1C, or let them do both: RnC"),
    frozenset({"compute", "both"}): ("the C get nothing to do in", "SYNC computes what it reads", "add R or RnC"),
}


def parse(text: str) -> list[str]:
    """Return the role of each thread of the mix `text`.

    Raises `UsageError` for what is no mix: an unknown role, nobody who reads, or threads that only compute beside
    threads that hand nothing over.
    """
    roles: list[str] = []
    for part in text.replace(" ", "").split("+"):
        found = PART.fullmatch(part)
        if not found or found[2] not in KINDS:
            raise UsageError(f"{part!r} in {text!r} is no role", "", f"write a number and one of {WAYS}")
        if len(roles) + int(found[1]) > MOST_THREADS:
            raise UsageError(f"{text!r} has too many threads", "", f"give at most {MOST_THREADS}")
        roles += [KINDS[found[2]]] * int(found[1])
    if wrong := ALONE.get(frozenset(roles)):
        raise UsageError(f"{wrong[0]} {text!r}", *wrong[1:])
    return roles


def threads(text: str) -> int:
    """Return how many threads the mix `text` has."""
    return len(parse(text))


def counts(roles: Sequence[str]) -> tuple[int, int]:
    """Return how many of the threads can read and how many can compute."""
    return sum(role != "compute" for role in roles), sum(role != "read" for role in roles)
