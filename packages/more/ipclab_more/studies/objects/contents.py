"""The objects handed over, known from a seed and a number; how they are compared and summed."""

import marshal
import operator
from collections.abc import Callable, Iterator
from functools import partial
from itertools import zip_longest
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ipclab_more.studies.objects import KINDS

ARRAY, FRAME, DICTIONARY = KINDS
# a dictionary has fewer entries where its size has no room for so many
ENTRIES, ENTRY_BYTES = 1_000, 100
# which letter of a text a random byte stands for
LETTERS = bytes(97 + byte % 26 for byte in range(256))
OTHER_BYTES = 24  # of an entry, beside its text: its key, two numbers and a truth value
UNREFERRED = 2  # the format of marshal in which equal objects have the same bytes
ROW_BYTES, TEXT_CHARACTERS = 48, 15  # of a frame: four numbers, and a text with its offset


def array(size: int, chance: np.random.Generator) -> Any:
    """Return a float64 array of about `size` bytes."""
    return chance.random(max(2, size // 8))


def mixed_frame(size: int, chance: np.random.Generator) -> pd.DataFrame:
    """Return a frame of about `size` bytes: integers, floats, truth values, times and texts."""
    rows = max(2, size // ROW_BYTES)
    numbers = chance.integers(0, 1 << 40, rows)
    columns = {
        "number": numbers,
        "share": chance.random(rows),
        "weight": chance.random(rows),
        "valid": numbers % 2 == 0,
        "time": numbers.astype("datetime64[ns]"),
        "text": pd.array(_written(numbers), dtype="str"),
    }
    return pd.DataFrame(columns)


def _written(numbers: Any) -> Any:
    """Return numbers as Arrow texts of `TEXT_CHARACTERS` decimal digits each."""
    digits = pc.cast(pa.array(numbers), pa.large_string())
    return pc.utf8_lpad(digits, TEXT_CHARACTERS, "0")


def nested_dictionary(size: int, chance: np.random.Generator) -> dict[str, dict[str, Any]]:
    """Return a nested dictionary of about `size` bytes: the larger it is, the longer its texts."""
    entries = max(2, min(ENTRIES, size // ENTRY_BYTES))
    length = max(8, size // entries - OTHER_BYTES)
    letters = chance.bytes(entries * length).translate(LETTERS).decode("ascii")
    values = chance.integers(0, 1 << 40, entries).tolist()
    return {
        f"key_{number}": {
            "value": value,
            "share": value / 3,
            "valid": value % 2 == 0,
            "text": letters[number * length : (number + 1) * length],
        }
        for number, value in enumerate(values)
    }


MADE: dict[str, Callable[[int, np.random.Generator], Any]] = {
    ARRAY: array,
    FRAME: mixed_frame,
    DICTIONARY: nested_dictionary,
}


def made_object(kind: str, size: int, seed: int, number: int) -> Any:
    """Return object `number` of `seed`: no two numbers share one."""
    return MADE[kind](size, np.random.default_rng([seed, number]))


def stamp(content: Any, where: float, share: float) -> Callable[[], None]:
    """Write the number of `share` (0 to 1) into one cell, `where` of the way through an object.

    Returns what takes it out again.
    """
    holder: Any = content
    number: float = int(share * (1 << 40))
    place = int(where * len(content))
    key: Any = place
    if isinstance(content, np.ndarray):
        number = share
    elif isinstance(content, pd.DataFrame):
        holder, key = content.iat, (place, 0)
    else:
        holder, key = content[f"key_{place}"], "value"
    before = holder[key]
    holder[key] = number
    return partial(operator.setitem, holder, key, before)


def own_bytes(content: Any) -> int:
    """Return the bytes of the object's own data: elements and characters, no Python headers."""
    if isinstance(content, np.ndarray):
        return content.nbytes
    if isinstance(content, pd.DataFrame):
        return int(content.memory_usage(index=False, deep=True).sum())
    # two numbers and a truth value
    return sum(len(key) + len(entry["text"]) + 17 for key, entry in content.items())


def element_sum(content: Any) -> float:
    """Return the sum over every element; of a text, its length counts."""
    if isinstance(content, np.ndarray):
        return float(content.sum())
    if isinstance(content, pd.DataFrame):
        return float(sum(_column(content[name]) for name in content))
    values = (value for entry in content.values() for value in entry.values())
    return float(sum(len(value) if isinstance(value, str) else value for value in values))


def _column(column: "pd.Series[Any]") -> float:
    if column.dtype == "str":
        return float(column.str.len().sum())
    if column.dtype.kind == "M":
        return float(column.astype("int64").sum())
    return float(column.sum())


def parts_that_differ(wanted: Any, came: Any) -> Iterator[str]:
    """Yield in what `came` is not `wanted`: types, order, elements."""
    if type(came) is not type(wanted):
        yield f"it is a {type(came).__name__}, no {type(wanted).__name__}"
    elif isinstance(wanted, np.ndarray):
        if (came.dtype, came.shape) != (wanted.dtype, wanted.shape):
            yield f"it is {came.dtype} {came.shape}, not {wanted.dtype} {wanted.shape}"
        if not np.array_equal(came, wanted):
            yield "its elements differ"
    elif isinstance(wanted, pd.DataFrame):
        if [*came] != [*wanted]:
            yield f"its columns are {', '.join(map(str, came))}"
        for name in wanted:
            if not came[name].equals(wanted[name]):
                yield f"the index, dtype or elements of column {name} differ"
    else:
        for entry, came_entry in zip_longest(wanted.items(), came.items()):
            if _plain(entry) != _plain(came_entry):
                yield f"entry {(entry or came_entry)[0]} differs"


def _plain(entry: Any) -> bytes | None:
    """Return the bytes of an entry with its types and order, since 1, 1.0 and True are equal."""
    try:
        return marshal.dumps(entry, UNREFERRED)
    except ValueError:  # it has something of another kind
        return None
