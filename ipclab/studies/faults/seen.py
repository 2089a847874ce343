"""What a process sees of a peer to which something has happened, and what became of the messages."""

from collections.abc import Callable
from itertools import pairwise
from struct import Struct
from time import perf_counter_ns as clock

from ipclab.backends.interface import Data

END, HALF, ERROR, SILENCE, OLD, WELL = KINDS = ("end", "half", "error", "silence", "old", "well")
NUMBER = Struct("=q")  # a message begins and ends with its number
Numbers = list[int | None]


def message(number: int, size: int) -> bytes:
    """Return message `number` of `size` bytes."""
    head = NUMBER.pack(number)
    return head + bytes(size - 2 * len(head)) + head


def number_of(data: Data, size: int) -> int | None:
    """Return the number of a message of `size` bytes; None when it is torn or cut."""
    first, last = (data[: NUMBER.size], data[-NUMBER.size :]) if len(data) == size else (b"", b" ")
    return int(NUMBER.unpack(first)[0]) if first == last else None


def outcome(attempt: Callable[[], object], inside: Callable[[], object] = lambda: False) -> tuple[str, int]:
    """Return how `attempt`, made again and again, ends, and the clock (ns) then.

    An end is `HALF` where it came `inside` a message; a deadline that passes is `SILENCE`, a `StopIteration` is `WELL`.
    """
    try:
        while True:
            attempt()
    except TimeoutError:
        found = SILENCE
    except StopIteration:
        found = WELL
    except (BrokenPipeError, ConnectionError, EOFError):
        found = HALF if inside() else END
    except Exception:
        found = ERROR
    return found, clock()


def shares(kind: str) -> dict[str, float]:
    """Return the counters of one fault that was seen as `kind`."""
    return {each: float(each == kind) for each in KINDS}


def became(accepted: int, seen: Numbers) -> dict[str, float]:
    """Return how many of the messages 0 to `accepted` - 1 were lost, and how many came twice, late or torn."""
    whole = [number for number in seen if number is not None]
    return {
        "lost": float(accepted - len({number for number in whole if number < accepted})),
        "doubled": float(len(whole) - len({*whole})),
        "reordered": float(sum(late < early for early, late in pairwise(whole))),
        "torn": float(len(seen) - len(whole)),
    }
