"""What became of the messages of a stream: which were lost, came twice or out of order."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ipclab.spawn.proof import PayloadError

Numbers = np.ndarray[Any, np.dtype[np.int64]]


def account(count: int, seen: Sequence[Numbers], each: bool) -> dict[str, int]:
    """Return how many of messages 0 to `count` - 1 were `lost`, `duplicated` and `reordered` by what consumers saw.

    `each` consumer was to get every message, or else each message was for one of them.
    """
    parts = list(seen) if each else [np.concatenate(seen)]
    different = [np.unique(part[(part >= 0) & (part < count)]) for part in parts]
    lost = sum(count - len(part) for part in different)
    duplicated = sum(len(part) for part in parts) - sum(len(part) for part in different)
    reordered = sum(int((np.diff(np.maximum.accumulate(part)) == 0).sum()) for part in seen if len(part))
    return {"lost": lost, "duplicated": duplicated, "reordered": max(0, reordered - duplicated)}


def check_order(found: Mapping[str, int], count: int) -> None:
    """Raise `PayloadError` that says what became of `count` messages, unless each came once and in order."""
    wrong = [f"{number} were {name}" for name, number in found.items() if number]
    if wrong:
        raise PayloadError(f"of {count} messages {', '.join(wrong)}", "the mechanism promises each once, in order")
