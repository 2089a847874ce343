"""Round trips of one size by node, mechanism and placement, as the page of many machines has them."""

from dataclasses import replace
from typing import Any

import msgspec
import pandas as pd

from ipclab.bounds.limits import LEAST
from ipclab_more.gather.index import Index
from ipclab_more.gather.nodes import nodes

OP = "round-trip"
PLACEMENTS = ("same", "cross")  # the others have no limit
FACTS = ["cpu_model", "threads", "kernel_release", "virtualisation"]
TEXTS = ["file", "backend", "placement"]


def trips(index: Index, size: int) -> Index:
    """Return what an index says of round trips of `size` bytes, each mechanism at its plainest.

    A bundle without any cannot be taken.
    """
    values = index.values
    of_size = values.plain.astype(bool) & (values.size_bytes == size)
    bounded = (values.op == OP) & values.placement.isin(PLACEMENTS)
    values = values[of_size & bounded]
    bundles = index.bundles
    lacks = (bundles.why == "") & ~bundles.file.isin(values.file.unique())
    why = bundles.why.mask(lacks, f"it holds no round trip of {size} bytes")
    values = values.astype(dict.fromkeys(TEXTS, str))
    return replace(index, bundles=bundles.assign(why=why), values=values)


def machines(trips: Index) -> pd.DataFrame:
    """Return the bundle that stands for each node and the `FACTS` of its machine, sorted by them."""
    chosen = nodes(trips)
    # All other facts, of which there are many, are passed over.
    shown = msgspec.defstruct("Facts", [(name, Any, None) for name in FACTS])
    decoder = msgspec.json.Decoder(shown)
    rows = []
    for text in chosen.facts:
        known = decoder.decode(text)
        rows.append(msgspec.structs.astuple(known))
    facts = pd.DataFrame(rows, chosen.index, FACTS, dtype=object)
    chosen = chosen.join(facts)
    order = [*FACTS, "machine", "label"]
    return chosen.sort_values(
        order, key=lambda column: column.astype(str), ignore_index=True, kind="stable"
    )


def ranked_trips(trips: Index, machines: pd.DataFrame) -> pd.DataFrame:
    """Return the trips of `machines`, each with its `rank` by time in its file and placement."""
    values = trips.values
    rows = values[values.file.isin(machines.file)]
    ranks = rows.groupby(["file", "placement"]).ns.rank(method="min")
    return rows.assign(rank=ranks.astype(int))


def beaten_trips(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the trips that are faster than their limit, which shows that it is none."""
    return rows[rows.over_limit < LEAST]
