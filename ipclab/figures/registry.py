"""Every figure of the reports: its question as a caption, what it shows in words, and how it is drawn."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure as Canvas

from ipclab.errors import UsageError
from ipclab.figures import payload, style
from ipclab.report.catalogue import N_
from ipclab.report.figure import Figure
from ipclab.runs.files import write_whole
from ipclab.view import View
from ipclab.words import nearest


@dataclass(frozen=True)
class Drawing:
    """One figure; `caption` and `alt` are msgids, `width` and `height` inches."""

    draw: Callable[[View, Canvas], None]
    width: float
    height: float
    caption: str
    alt: str


DRAWINGS = {
    "payload-bandwidth": Drawing(
        payload.bandwidth,
        7.0,
        4.0,
        N_("How much does each way move in a second, for each payload? Medians with intervals."),
        N_(
            "Bandwidth over payload on logarithmic axes. At {payload.size.large}: shared memory between two processes "
            "{payload.handover.shm-mmap.cross.large.bandwidth}, a write by the published method "
            "{payload.published.write.large.bandwidth}, a read {payload.published.read.large.bandwidth}, TCP as v0.9 "
            "{payload.tcp.v09.off.cross.large.bandwidth}, TCP with its connection kept "
            "{payload.tcp.kept.on.cross.large.bandwidth}."
        ),
    ),
    "payload-write-time": Drawing(
        payload.write_time,
        7.0,
        2.7,
        N_("Where does the time of a write of {payload.size.large} go?"),
        N_(
            "Stacked bars of the phases of one write. Truncated each time: {payload.mapping.truncated.write.large}; "
            "reopened: {payload.mapping.reopened.write.large}; mapping kept: {payload.mapping.kept.write.large}. Page "
            "faults are {payload.share.write.faults:pct} and the flush {payload.share.write.flush:pct} of the reopened "
            "write."
        ),
    ),
    "payload-then-now": Drawing(
        payload.then_now,
        7.0,
        3.6,
        N_("How long does one transfer of {payload.size.large} take, then and now?"),
        N_(
            "Times on a logarithmic axis. The published estimate for the TCP of v0.9 is a grey bar at "
            "{text.payload.tcp_time:ms}; measured it takes {payload.tcp.v09.off.cross.large}, TCP with its connection "
            "kept {payload.tcp.kept.on.cross.large}, shared memory {payload.handover.shm-mmap.cross.large}."
        ),
    ),
    "payload-placement": Drawing(
        payload.placement,
        7.0,
        2.9,
        N_("What does placement do to handing over between two processes?"),
        N_(
            "Handover times by mechanism for three payloads and three placements. With {payload.size.small} the median "
            "of shm-mmap is {payload.handover.shm-mmap.same.small} on one CPU and "
            "{payload.handover.shm-mmap.cross.small} on two."
        ),
    ),
}


def draw(view: View, name: str, folder: Path | None) -> Figure:
    """Return the figure `name` for the reader of `view`; its SVG and PNG go into `folder` when one is given.

    Raises `UsageError` for an unknown name.
    """
    if name not in DRAWINGS:
        raise UsageError(f"no figure {name!r}", "", f"did you mean {nearest(name, DRAWINGS)!r}?")
    drawing = DRAWINGS[name]
    with style.canvas(view.lang, drawing.width, drawing.height) as canvas:
        drawing.draw(view, canvas)
        svg = style.svg(canvas)
        png = style.png(canvas) if folder else b""
    path = None
    if folder:
        path = folder / f"{name}.{view.lang}.png"
        write_whole(path, png)
        write_whole(path.with_suffix(".svg"), svg.encode())
    return Figure(svg, path, view.say(drawing.alt), view.say(drawing.caption), name)
