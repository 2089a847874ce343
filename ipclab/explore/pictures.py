"""The pictures of the explorer: a metric across a factor, the distribution of points, their samples over time."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns

from ipclab.explore.selection import BACKEND, Selection
from ipclab.lab import axes, drawing, style
from ipclab.lab.canvas import blank, complete
from ipclab.lab.catalogue import N_
from ipclab.lab.lab import Lab
from ipclab.lab.limits import limited
from ipclab.stats.intervals import Samples

CURVE_POINTS, STRETCHES = 2_000, 4_000
DECADES = 30  # a span of levels above which their axis is logarithmic
PERCENTILES = (0.5, 0.9, 0.99)
LIMITED = ("p50", "min", "mean")
SIZE = (7.5, 4.2)


def across(lab: Lab, runs: Sequence[tuple[str, pd.DataFrame]], chosen: Selection) -> tuple[str, bytes]:
    """Return SVG and PNG of the metric of every mechanism across a factor, a panel for each run, with the limit."""
    with blank(lab, SIZE) as canvas:
        panels = canvas.subplots(1, max(1, len(runs)), squeeze=False, sharey=True)[0]
        for ax, (name, rows) in zip(panels, runs, strict=True):
            if len(rows) and pd.api.types.is_numeric_dtype(rows[chosen.across]):
                log = "".join(axis for axis, of in (("x", chosen.across), ("y", "value")) if _spans(rows[of]))
                drawing.lines(rows, x=chosen.across, hue=BACKEND, ax=ax, log=log, ends=len(runs) == 1)
            elif len(rows):
                hue = None if chosen.across == BACKEND else BACKEND
                drawing.dots(rows, y=chosen.across, hue=hue, ax=ax, log="x" if _spans(rows.value) else "")
            _limit(lab, ax, rows, chosen)
            ax.set_title(name if len(runs) > 1 else "", fontsize=8)
        return complete(canvas), style.png(canvas)


def distribution(lab: Lab, named: Sequence[tuple[str, Samples]]) -> str:
    """Return an SVG of the cumulative distribution of each point's samples (ns), with p50, p90 and p99 marked."""
    with blank(lab, SIZE) as canvas:
        ax = canvas.subplots()
        for number, (name, samples) in enumerate(named):
            thinned = np.quantile(samples, np.linspace(0, 1, CURVE_POINTS), method="inverted_cdf")
            dash, colour = style.DASHES[number % len(style.DASHES)], style.SERIES[number % len(style.SERIES)][0]
            sns.ecdfplot(x=thinned, ax=ax, linestyle=dash, color=colour, linewidth=1, label=name, legend=False)
        for share in PERCENTILES:
            ax.axhline(share, color=style.GREY, linewidth=0.6)
            ax.annotate(f"p{round(share * 100)}", (0, share), xycoords=("axes fraction", "data"), fontsize=7)
        ax.set_ylabel(lab.say(N_("share of samples")))
        return _finished(canvas, "x", named)


def over_time(lab: Lab, named: Sequence[tuple[str, Samples]]) -> str:
    """Return an SVG of the samples (ns) in the order taken: of many, the median and the extremes of each stretch."""
    with blank(lab, SIZE) as canvas:
        ax = canvas.subplots()
        for number, (name, samples) in enumerate(named):
            at, low, middle, high = stretches(samples)
            colour = style.SERIES[number % len(style.SERIES)][0]
            ax.fill_between(at, low, high, color=colour, alpha=0.2, linewidth=0)
            ax.plot(at, middle, color=colour, linewidth=0.8, label=name)
        ax.set_xlabel(lab.say(N_("sample")))
        return _finished(canvas, "y", named)


def _finished(canvas: Any, which: str, named: Sequence[tuple[str, Samples]]) -> str:
    ends = [float(end) for _, samples in named for end in (samples.min(), samples.max())]
    axes.scale(canvas.axes[0], which, pd.DataFrame({"value": ends, "unit": "ns"}), "value", log=True)
    return complete(canvas)


def stretches(samples: Samples) -> tuple[Samples, Samples, Samples, Samples]:
    """Return position, minimum, median and maximum of at most `STRETCHES` stretches of the samples."""
    width = max(1, -(-len(samples) // STRETCHES))
    whole = len(samples) // width * width
    table = samples[:whole].reshape(-1, width)
    return np.arange(0, whole, width), table.min(axis=1), np.median(table, axis=1), table.max(axis=1)


def _spans(values: pd.Series) -> bool:
    return bool(values.min() > 0 and values.max() / values.min() > DECADES)


def _limit(lab: Lab, ax: Any, rows: pd.DataFrame, chosen: Selection) -> None:
    """Draw what the hardware allows for the op, where the study says what bounds it."""
    if chosen.across != "size_bytes" or chosen.metric not in LIMITED or rows.empty:
        return
    bounds = limited(lab, rows.assign(metric="p50")).dropna(subset="limit").drop_duplicates("size_bytes")
    if len(bounds) > 1:
        drawing.limit(bounds, x="size_bytes", y="limit", ax=ax, label=lab.say(N_("limit of the hardware")))
