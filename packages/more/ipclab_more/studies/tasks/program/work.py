"""The objects of a launch, known from a seed and a number, and what a worker does with one.

An object is made of what every interpreter has: an array is an `array` of integers, a frame a
dictionary of columns (four of numbers, one of texts), a dictionary one of dictionaries.
"""

import marshal
import os
import random
import signal
import sys
import threading
import zlib
from array import array
from collections.abc import Callable
from typing import Any, NamedTuple

KINDS = ("array", "frame", "dictionary")
NUMBERS = ("number", "share", "weight", "time")  # of a frame
ITEM_BYTES, TEXT_BYTES = 8, 16
ROW_BYTES = ITEM_BYTES * len(NUMBERS) + TEXT_BYTES
# a dictionary has fewer entries where its size has no room for so many
ENTRIES, ENTRY_BYTES, OTHER_BYTES = 1_000, 100, 24
UNREFERRED = 2  # the format of marshal in which equal objects have the same bytes
DIE = -1  # loops of a task that kills its worker


class TaskAnswer(NamedTuple):
    """What a worker tells of a task: its number, the digest of its object, and who it was.

    `where` is the worker's process, thread and interpreter.
    """

    number: int
    digest: int
    where: tuple[int, int, int]


Task = tuple[int, int, Any]  # number, loops to compute, object


def _numbers(count: int, chance: random.Random) -> "array[int]":
    return array("q", chance.randbytes(count * ITEM_BYTES))


def _texts(count: int, length: int, chance: random.Random) -> list[str]:
    letters = chance.randbytes(count * length // 2 + 1).hex()
    return [letters[at : at + length] for at in range(0, count * length, length)]


def task_object(kind: str, size: int, seed: int, number: int) -> Any:
    """Return object `number` of about `size` bytes: no two numbers share one."""
    chance = random.Random(f"{seed} {number}")
    if kind == "array":
        return _numbers(max(2, size // ITEM_BYTES), chance)
    if kind == "frame":
        rows = max(2, size // ROW_BYTES)
        columns: dict[str, Any] = {name: _numbers(rows, chance) for name in NUMBERS}
        return columns | {"text": _texts(rows, TEXT_BYTES, chance)}
    entries = max(2, min(ENTRIES, size // ENTRY_BYTES))
    values = _numbers(entries, chance)
    texts = _texts(entries, max(8, size // entries - OTHER_BYTES), chance)
    return {
        f"key_{place}": {"value": value, "share": value / 3, "valid": value % 2 == 0, "text": text}
        for place, (value, text) in enumerate(zip(values, texts, strict=True))
    }


def cell(content: Any, share: float) -> tuple[Any, Any]:
    """Return where one number of an object is, a `share` of the way through it: holder and key."""
    if isinstance(content, array):
        return content, int(share * len(content))
    if "text" in content:
        column = content["number"]
        return column, int(share * len(column))
    return content[f"key_{int(share * len(content))}"], "value"


def checksum(content: Any) -> int:
    """Return a checksum of every byte of an object."""
    plain = content if isinstance(content, array) else marshal.dumps(content, UNREFERRED)
    return zlib.crc32(plain)


def where() -> tuple[int, int, int]:
    """Return which process, thread and interpreter this is; 0 for what this Python cannot tell."""
    interpreter = 0
    if sys.version_info >= (3, 13):
        import _interpreters

        interpreter = _interpreters.get_current()[0]
    return os.getpid(), threading.get_native_id(), interpreter


def run_task(number: int, loops: int, content: Any) -> TaskAnswer:
    """Do one task: look at every byte of `content`, and compute for `loops`."""
    if loops == DIE:
        os.kill(os.getpid(), signal.SIGKILL)
    for _ in range(loops):
        pass
    return TaskAnswer(number, checksum(content), where())


def serve_tasks(take: Callable[[], Task | None], give: Callable[[tuple[Any, ...]], object]) -> None:
    """Do what `take` gives, until that is None, and `give` each answer."""
    while (task := take()) is not None:
        give(tuple(run_task(*task)))
