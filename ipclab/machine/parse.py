"""Small parsers for the texts of /proc and /sys."""

import re
from collections.abc import Iterable
from itertools import groupby
from typing import Any

from ipclab.paths import table_beside

KNOWN: dict[str, Any] = {}
for _name, _table in table_beside(__file__, "known.toml").items():
    KNOWN[_name] = _table.split() if isinstance(_table, str) else _table
_BITS = {"": 0, "K": 10, "M": 20, "G": 30}


def key_values(text: str) -> dict[str, str]:
    """Return `key: value` lines as a dict; the first of equal keys wins."""
    lines = (line.partition(":") for line in reversed(text.splitlines()))
    return {key.strip(): value.strip() for key, colon, value in lines if colon}


def cpu_list(cpus: Iterable[int]) -> str:
    """Return CPUs as the kernel writes them: `0-3,8`."""
    parts = []
    for _, run in groupby(enumerate(sorted(cpus)), lambda pair: pair[1] - pair[0]):
        members = [cpu for _, cpu in run]
        parts.append(f"{members[0]}-{members[-1]}" if len(members) > 1 else f"{members[0]}")
    return ",".join(parts)


def choice(text: str) -> str:
    """Return the word in brackets of `always [madvise] never`, or the whole text when none is."""
    match = re.search(r"[\[(](\w+)[\])]", text)
    return match[1] if match else text.strip()


def size(text: str) -> int:
    """Return bytes of `32K`, `8M`, `24684096 kB`; ValueError for anything else."""
    match = re.fullmatch(r"\s*(\d+)\s*([kmg]?)b?\s*", text, re.ASCII | re.IGNORECASE)
    if match is None:
        raise ValueError(text)
    return int(match[1]) << _BITS[match[2].upper()]
