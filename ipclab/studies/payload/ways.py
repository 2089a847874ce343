"""The ways to hand the data of the text over, a row each: its TCP, variants of it, and shared memory.

v1.0 makes one write and one read in a segment that it truncates each time. Its reader in Python looks
for data every `LOOKS_NS` and then sleeps `SLEEPS_NS`: an arrival is uniform between two looks, so that
the expected wait is half the one and the other. That wait is computed; all else was measured.
"""

from typing import Any

import pandas as pd

from ipclab.stats.quantity import Quantity, missing
from ipclab.studies.payload import LOOKS_NS, SLEEPS_NS

V10, POLLED, WOKEN = "v1.0", "v1.0 polled", "woken"
MECHANISM = "shm-mmap"  # of v1.0; of a sweep without it the first one stands for it
TCP = (
    "recv-4096 raw bound",
    "recv-4096 raw new",
    "recv-rest raw bound",
    "recv-1mib pickle-0 new",
    "recv-1mib pickle-5 new",
    "recv-1mib raw new",
    "recv-into raw new",
    "recv-into raw kept",
)
USUAL = {"new": "off", "bound": "off", "kept": "on"}  # TCP_NODELAY, by connection
LEVELS = [
    "study",
    "way",
    "op",
    "metric",
    "size_bytes",
    "point",
    "row",
    "unit",
    "slow",
    "why",
    "cell",
]


def tcp_way(rows: pd.DataFrame) -> "pd.Series[Any]":
    """Return what the way of each row by TCP is called: what it receives with, codec, connection."""
    return rows.receive + " " + rows.codec + " " + rows.connection


def waited() -> Quantity:
    """Return the wait of the reader in Python that is to be expected."""
    return Quantity(LOOKS_NS / 2 + SLEEPS_NS, "ns", kind="computed")


def transfer(cells: pd.DataFrame) -> Quantity:
    """Return one write and one read of `cells`, one after the other, as v1.0 makes them."""
    passes = _as_v10(cells).set_index("op").cell
    return (
        passes["write"] + passes["read"] if {"write", "read"} <= {*passes.index} else missing("ns")
    )


def ways_of(cells: pd.DataFrame, placement: str) -> pd.DataFrame:
    """Return a row for each way among `cells`, medians of one size, with its name as `way`.

    What two processes do is that of `placement`.
    """
    handed = cells[(cells.op == "handover") & (cells.placement == placement)]
    parts = []
    if "connection" in handed:
        tcp = handed[handed.nodelay == handed.connection.map(USUAL)]
        tcp = tcp.assign(way=tcp_way(tcp))
        parts.append(tcp.sort_values("way", key=lambda ways: ways.map(TCP.index), kind="stable"))
    one, write = transfer(cells), _as_v10(cells)[:1]
    for way, cell in {V10: one, POLLED: one + waited()}.items():
        if cell:
            alone = pd.Series([cell], write.index, dtype=object)
            parts.append(write.assign(way=way, row=way, slow=float("nan"), why="", cell=alone))
    shared = handed[handed.arm == "handover"]
    names = {*shared.backend}
    usual = MECHANISM if MECHANISM in names else min(names, default="")
    parts.append(shared[shared.backend == usual].assign(way=WOKEN))
    rows = pd.concat(parts, ignore_index=True).reindex(columns=LEVELS).assign(op="transfer")
    values = [(float(cell.value), *cell.ends) for cell in rows.cell]
    return rows.join(pd.DataFrame(values, rows.index, ["value", "low", "high"], dtype=float))


def _as_v10(cells: pd.DataFrame) -> pd.DataFrame:
    passes = cells[cells.op.isin(["write", "read"])]
    return passes[passes.mapping == "truncated"] if "mapping" in passes else passes[:0]
