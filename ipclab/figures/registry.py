"""Every figure of the reports: its question as a caption, what it shows in words, and how it is drawn."""

from collections.abc import Mapping
from pathlib import Path

from ipclab.errors import UsageError
from ipclab.figures import claims, payload, round_trip, style
from ipclab.figures.drawing import Drawing
from ipclab.figures.file_io_drawings import FILE_IO
from ipclab.figures.multiplexer_drawings import MULTIPLEXER
from ipclab.figures.shared_dict_drawings import DRAWINGS as SHARED_DICT
from ipclab.report.catalogue import N_
from ipclab.report.figure import Figure
from ipclab.runs.files import write_whole
from ipclab.view import View
from ipclab.words import nearest

DRAWINGS = {
    "claims-glance": Drawing(
        claims.glance,
        7.0,
        8.4,
        N_("Which published claims hold, on their own tables and on this machine? Shaded: what the rule allows."),
        N_(
            "A row for each of {audit.claims} claims: its value over its rule's bound, with interval, by three "
            "methods. On the texts' own tables {audit.own.holds} hold, {audit.own.fails} fail, "
            "{audit.own.untestable} cannot be tested. On this run by the published method "
            "{audit.here.holds} hold, {audit.here.fails} fail, {audit.here.undecided} are undecided, "
            "{audit.here.untestable} cannot be tested; by the fair method {audit.fair.holds} hold, "
            "{audit.fair.fails} fail, {audit.fair.undecided} are undecided, {audit.fair.untestable} "
            "cannot be tested."
        ),
    ),
    "claims-own": Drawing(
        claims.own,
        7.0,
        2.6,
        N_("Which of your own claims hold? Shaded: what the rule allows."),
        N_("A row for each claim of the file: its value over its rule's bound, with interval, by three methods."),
    ),
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
    "round-trip-latency": Drawing(
        round_trip.latency,
        7.0,
        4.2,
        N_("How long does a round trip take, by size and mechanism, and what does the hardware allow?"),
        N_(
            "Round trips over message size on logarithmic axes, in two placements. At {round_trip.size.small} on two "
            "CPUs: posix-shm {round_trip.posix-shm.cross.small}, unix {round_trip.unix.cross.small}, tcp "
            "{round_trip.tcp.cross.small}, zmq-ipc {round_trip.zmq-ipc.cross.small}, shm-spin "
            "{round_trip.shm-spin.cross.small}. At {round_trip.size.largest}: posix-shm "
            "{round_trip.posix-shm.cross.largest}, zmq-ipc {round_trip.zmq-ipc.cross.largest}."
        ),
    ),
    "round-trip-ranking": Drawing(
        round_trip.ranking,
        7.0,
        4.0,
        N_("Does placement change which mechanism is fastest for messages of {round_trip.size.small}?"),
        N_(
            "A line for each mechanism from its median on one CPU to that on two. Fastest on one CPU: "
            "{round_trip.fastest.same.small}; on two: {round_trip.fastest.cross.small}. {round_trip.flips} of "
            "{round_trip.pairs} pairs are shown to change their order."
        ),
    ),
    "round-trip-gap": Drawing(
        round_trip.gap,
        7.0,
        3.6,
        N_("What does an idle gap before a message do to its round trip?"),
        N_(
            "Round trips of {round_trip.size.small} over the gap before them, in two placements. After "
            "{round_trip.gap.longest} the Unix socket on two CPUs takes {round_trip.gap.unix.cross.longest}, "
            "{round_trip.gap.unix.cross.growth:x} as long as without a gap."
        ),
    ),
    "round-trip-distribution": Drawing(
        round_trip.distribution,
        7.0,
        3.8,
        N_("How are the round trips of {round_trip.size.small} distributed?"),
        N_("Cumulative distributions of all samples by mechanism, in two placements, with p50 and p99 marked."),
    ),
    **SHARED_DICT,
    **FILE_IO,
    **MULTIPLEXER,
}


def draw(view: View, name: str, folder: Path | None, drawings: Mapping[str, Drawing] = DRAWINGS) -> Figure:
    """Return the figure `name` for the reader of `view`; its SVG and PNG go into `folder` when one is given.

    What lies in `folder` already was drawn from the same run for another notebook, and is taken as it is. Raises
    `UsageError` for an unknown name.
    """
    if name not in drawings:
        raise UsageError(f"no figure {name!r}", "", f"did you mean {nearest(name, drawings)!r}?")
    drawing = drawings[name]
    path = folder / f"{name}.{view.lang}.png" if folder else None
    drawn = path.with_suffix(".svg") if path else None
    svg = drawn.read_text(encoding="utf-8") if drawn and drawn.is_file() else _drawn(view, name, drawing, folder)
    return Figure(svg, path, view.say(drawing.alt), view.say(drawing.caption), name)


def _drawn(view: View, name: str, drawing: Drawing, folder: Path | None) -> str:
    with style.canvas(view.lang, drawing.width, drawing.height) as canvas:
        drawing.draw(view, canvas)
        svg = style.svg(canvas)
        png = style.png(canvas) if folder else b""
    if folder:
        write_whole(folder / f"{name}.{view.lang}.png", png)
        write_whole(folder / f"{name}.{view.lang}.svg", svg.encode())
    return svg
