"""How many entries and readers are measured of what, and which cells of both."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from ipclab.backends.codecs import encoded_bytes
from ipclab.errors import UsageError
from ipclab.spawn.mpi_outer import world
from ipclab.studies.interface import Levels, Sweep

USUAL_CODEC = "pickle"
ENTRY_BYTES = 80  # that no further entry's pickle takes more than
USUAL_ENTRIES = 1000  # where codecs, placements and LMDB's settings are varied
LARGEST = 8 << 20  # bytes of a dictionary that is asked for by its size: making one takes seconds
PUBLISHED_READERS = 3


def levels_swept(usual: Levels, sweep: Sweep, brief: bool) -> dict[str, Sequence[Any]]:
    """Return numbers of entries and readers by what they are for, and cells of both.

    They are the `usual` ones of a profile where nothing else is asked for. One that is `brief`
    varies the readers at one of entries alone.
    """
    sized = tuple(sorted({entries_within(size) for size in sweep.sizes or ()}))
    if sized and "entries" in sweep.levels:
        why = "the size of a dictionary follows from its entries"
        raise UsageError("sizes and entries at once", why, "give one of them")
    own = bool(sized or sweep.levels)

    def entries_of(what: str) -> tuple[int, ...]:
        return sized or sweep.numbers("entries", usual[what])

    entries = entries_of("entries")
    readers = sweep.numbers("readers", usual["readers"])
    streamed = entries_of("streamed")
    some = USUAL_ENTRIES if USUAL_ENTRIES in entries else entries[0]
    cells = [{"entries": count, "readers": number} for count, number in product(entries, readers)]
    if brief and not own:
        cells = [
            cell
            for cell in cells
            if cell["readers"] == PUBLISHED_READERS or cell["entries"] == some
        ]
    return {
        "entries": entries,
        "streamed": streamed,
        "lively": entries_of("lively"),
        "readers": readers,
        "most": readers[-1:],
        "published": [number for number in readers if own or number >= PUBLISHED_READERS],
        "usual": [{"entries": some, "readers": readers[-1]}],
        "alone": [{"entries": some, "readers": readers[0]}] if len(readers) > 1 else [],
        "cells": cells,
        "streamed_cells": [cell for cell in cells if cell["entries"] in streamed],
        "away": list(_away(streamed, readers)),
    }


def entries_within(size: int) -> int:
    """Return how many entries a dictionary has whose pickle takes `size` bytes at most.

    It has one at least. Raises `UsageError` for a size that is too large.
    """
    if size > LARGEST:
        fix = f"give {LARGEST:,} bytes at most, or name another --study"
        raise UsageError(f"a dictionary of {size:,} bytes", "making it takes too long", fix)
    entries = 1
    while (room := size - encoded_bytes(USUAL_CODEC, entries)) >= ENTRY_BYTES:
        entries += room // ENTRY_BYTES
    while encoded_bytes(USUAL_CODEC, entries + 1) <= size:
        entries += 1
    return entries


def _away(entries: Sequence[int], readers: Sequence[int]) -> Iterator[Levels]:
    """Yield the cells whose readers are on other nodes than the writer."""
    here = world()
    away = here.away() if here else []
    for count, number in product(entries, readers):
        if here and number <= len(away):
            nodes = 1 + len(here.nodes_of(away[:number]))
            yield {"entries": count, "readers": number, "nodes": nodes}
