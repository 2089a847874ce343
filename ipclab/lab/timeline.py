"""What each thread did when: the spans that the engine kept of one launch, as a frame and as lanes."""

from typing import Any

import pandas as pd

from ipclab.lab import style
from ipclab.lab.catalogue import N_
from ipclab.lab.drawing import note, scale
from ipclab.lab.lab import Lab
from ipclab.store.samples import decode

# Kinds in the order of drawing, for they overlap: a wait, reads that are under way, then what a thread does itself.
KINDS = {
    "wait": (style.SKY, "...", N_("wait")),
    "read": (style.PINK, "///", N_("read")),
    "close": (style.BLUE, "--", N_("close")),
    "compute": (style.GREEN, "", N_("compute")),
    "fault": (style.BLACK, "", N_("page faults")),
    "open": (style.ORANGE, "\\\\", N_("open")),
    "submit": (style.RED, "xx", N_("read call")),
}
MOST_THREADS = 12  # of one panel


def spans(lab: Lab, points: pd.DataFrame) -> pd.DataFrame:
    """Return the spans of each of `points` (rows of `lab.points`) of which a launch kept some.

    One row for each span, with the columns of the point and thread, kind, file (its number), value and end (ns since
    the start). Raises `LabError` when a file of the run is not what was measured.
    """
    names = ("thread", "kind", "file", "value", "end")
    verified = {path.stem: path for path in lab.run.point_files()} if len(points) else {}
    rows: list[dict[str, Any]] = []
    records: list[dict[str, Any]] = points.to_dict("records")  # type: ignore[assignment]
    for row in records:
        launches = decode(verified[row["point"]]).launches
        kept: Any = next((launch.facts["spans"] for launch in launches if "spans" in launch.facts), [])
        rows += [{**row, **dict(zip(names, span, strict=True)), "unit": "ns"} for span in kept]
    return pd.DataFrame(rows, columns=[*dict.fromkeys([*points, *names])])


def lanes(spans: pd.DataFrame, ax: Any) -> None:
    """Draw a lane for each thread of the spans of one point; what is under way beside other things is narrow."""
    note(spans, ax, [])
    threads = sorted(spans.thread.unique())[:MOST_THREADS]
    for kind, (colour, hatch, name) in KINDS.items():
        mine = spans[(spans.kind == kind) & spans.thread.isin(threads)]
        low, height = (0.15, 0.3) if kind == "read" else (-0.4, 0.8)
        look = {"facecolor": colour, "hatch": hatch, "edgecolor": "white", "linewidth": 0.1}
        for thread, part in mine.groupby("thread"):
            bars = list(zip(part.value, part.end - part.value, strict=True))
            ax.broken_barh(bars, (threads.index(thread) + low, height), label=ax.figure.lab.say(name), **look)
    ax.set_yticks([])
    ax.invert_yaxis()
    ax.grid(axis="y", visible=False)
    scale(ax, "x", spans, "end", log=False)
    ax.set(xlim=(0, None), xlabel="")
