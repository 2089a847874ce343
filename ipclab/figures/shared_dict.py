"""The pictures of the shared-dictionary study."""

from collections.abc import Callable, Sequence
from math import exp, log
from typing import Any

from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter

from ipclab.facts.rows import Row, Rows
from ipclab.facts.shared_dict_levels import (
    ENTRY_NAMES,
    LARGE,
    LARGEST,
    PUBLISHED,
    READERS,
    STUDY,
    reader_counts,
    scenario_messages,
    usual_readers,
    where,
)
from ipclab.figures import marks, style
from ipclab.report.catalogue import N_
from ipclab.view import View

TEXT = tuple(entries for entries in ENTRY_NAMES if entries <= LARGEST)
LABEL_GAP = 0.062  # of an axis: how far apart names stand
DECADES = 2.0  # an axis of fewer takes more than one tick a decade
STEPS = (  # ticks within a decade, the finest first
    *(tuple(1 + i / 20 for i in range(180)), tuple(1 + i / 10 for i in range(90)), tuple(1 + i / 5 for i in range(45))),
    *(tuple(1 + i / 2 for i in range(18)), tuple(range(1, 10)), (1, 2, 5)),
)


def name_ends(axes: Any, ends: Sequence[tuple[float, str, str]], x: float) -> None:
    """Write names (value, text, colour) at `x` of a logarithmic y axis, moved apart where they would overlap."""
    low, high = axes.get_ylim()
    ordered, step = sorted(ends), LABEL_GAP * log(high / low)
    places: list[float] = []
    for value, _text, _colour in ordered:
        places.append(max(log(value / low), places[-1] + step) if places else max(0.0, log(value / low)))
    for number in reversed(range(len(places))):  # those pushed above the axis push back
        most = places[number + 1] - step if number + 1 < len(places) else log(high / low)
        places[number] = min(places[number], most)
    for (_value, text, colour), place in zip(ordered, places, strict=True):
        axes.annotate(text, (x, low * exp(place)), color=colour, va="center", annotation_clip=False, fontsize=8)


def time_ticks(axis: Any, view: View, most: int = 8) -> None:
    """Write a logarithmic axis's times: one tick a decade, more where it spans few decades, `most` about."""
    low, high = axis.get_view_interval()
    if log(high / low) > DECADES * log(10):
        marks.plain_log(axis, view, "ns")
        return
    for steps in STEPS:
        ticks = [step * 10.0**power for power in range(11) for step in steps if low <= step * 10.0**power <= high]
        if len(ticks) <= most:
            break
    axis.set_major_locator(FixedLocator(ticks[:: max(1, round(len(ticks) / most))]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: view.value(value, "ns")))
    axis.set_minor_formatter(NullFormatter())
    axis.set_minor_locator(FixedLocator([]))


def entry_ticks(axes: Any, view: View, entries: Sequence[int]) -> None:
    """Give the logarithmic x axis a tick at each number of entries."""
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator([float(each) for each in entries]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: view.value(round(value), "count", "int")))
    axes.xaxis.set_minor_locator(FixedLocator([]))
    axes.set_xlabel(view.say(N_("entries")))


def line(axes: Any, rows: Sequence[tuple[float, Row]], backend: str, scales: Sequence[float] = ()) -> float | None:
    """Draw one mechanism's values with intervals over x, each times its scale; return the last value."""
    colour, marker = style.LOOKS.get(backend, style.UNKNOWN)
    times = scales or [1.0] * len(rows)
    for (x, row), scale in zip(rows, times, strict=True):
        marks.dot(axes, row, x, horizontal=False, scale=scale, color=colour, marker=marker)
    values = [row.estimate.value * scale for (_, row), scale in zip(rows, times, strict=True)]
    if values:
        axes.plot([x for x, _ in rows], values, color=colour, linewidth=1)
    return values[-1] if values else None


def backends(rows: Rows) -> list[str]:
    """Return the mechanisms of rows: those whose look is known in its order, then others by name."""
    order = list(style.LOOKS)
    names = {row.point.backend for row in rows}
    return sorted(names, key=lambda name: (order.index(name) if name in order else len(order), name))


def _published(view: View, axes: Any, op: str, metric: str, said: str, scale: Callable[[str], float]) -> None:
    """Draw the published mechanisms over entries: measured full and solid, the text's own hollow and dashed."""
    ends = []
    for backend in PUBLISHED:
        colour, marker = style.LOOKS[backend]
        found = [(n, view.rows.find(op, metric, **where("published", backend, n, READERS))) for n in TEXT]
        there = [(float(n), row) for n, row in found if row]
        last = line(axes, there, backend, [scale(backend)] * len(there))
        stem = f"text.shared_dict.published.{backend}.{said}"
        told = [float(str(view.facts[f"{stem}.{ENTRY_NAMES[n]}"].value)) for n in TEXT]
        look: dict[str, Any] = {"color": colour, "marker": marker, "markerfacecolor": "white", "linestyle": "--"}
        axes.plot(TEXT, told, linewidth=0.8, markersize=4.5, **look)
        ends.append((last if last is not None else told[-1], backend, colour))
    axes.set_yscale("log")
    entry_ticks(axes, view, TEXT)
    axes.set_xlim(TEXT[0] * 0.7, TEXT[-1] * 1.4)
    name_ends(axes, ends, TEXT[-1] * 1.6)


def _key(view: View, canvas: Canvas, axes: Any) -> None:
    for label, face, dash in ((N_("this machine"), style.GREY, "-"), (N_("the text"), "white", "--")):
        look: dict[str, Any] = {"color": style.GREY, "markerfacecolor": face, "linestyle": dash}
        axes.plot([], [], marker="o", label=view.say(label), **look)
    canvas.legend(loc="outside lower center", ncols=2, fontsize=8)


def write(view: View, canvas: Canvas) -> None:
    """Draw: does writing take longer through ZeroMQ, for the whole scenario and for one message?"""
    _ = view.say
    panels = canvas.subplots(1, 2, sharey=True)
    _published(view, panels[0], "write-total", "p50", "write", lambda backend: 1.0)
    each = {backend: 1 / scenario_messages(backend, READERS) for backend in PUBLISHED}
    _published(view, panels[1], "write-total", "p50", "per_message", lambda backend: each[backend])
    for axes, title in zip(panels, (N_("whole scenario, as published"), N_("one message or store")), strict=True):
        axes.set_title(_(title), fontsize=9)
    time_ticks(panels[0].yaxis, view)
    panels[0].set_ylabel(_("writing"))
    _key(view, canvas, panels[0])


def read(view: View, canvas: Canvas) -> None:
    """Draw: how long does one read take by the published method?"""
    axes = canvas.subplots()
    _published(view, axes, "read", "mean", "read", lambda backend: 1.0)
    time_ticks(axes.yaxis, view)
    axes.set_ylabel(view.say(N_("one read, mean")))
    _key(view, canvas, axes)


def throughput(view: View, canvas: Canvas) -> None:
    """Draw: how many reads does one reader make in a second by the published method?"""
    axes = canvas.subplots()
    ends: list[tuple[float, str, str]] = []
    for backend in PUBLISHED:
        colour, marker = style.LOOKS[backend]
        for stem, face, dash in (("", colour, "-"), ("text.", "white", "--")):
            facts = [
                (n, view.facts[f"{stem}shared_dict.published.{backend}.throughput.{ENTRY_NAMES[n]}"]) for n in TEXT
            ]
            values = [(n, float(str(fact.value))) for n, fact in facts if fact.value is not None]
            look: dict[str, Any] = {"color": colour, "marker": marker, "markerfacecolor": face, "linestyle": dash}
            axes.plot([n for n, _ in values], [value for _, value in values], linewidth=0.9, markersize=4.5, **look)
            if values and (not stem or not ends or ends[-1][1] != backend):
                ends.append((values[-1][1], backend, colour))
    axes.set_yscale("log")
    entry_ticks(axes, view, TEXT)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: view.value(value, "count", "int")))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_ylabel(view.say(N_("reads a second, one reader")))
    name_ends(axes, ends, TEXT[-1] * 1.3)
    _key(view, canvas, axes)


def entries(view: View, canvas: Canvas) -> None:
    """Draw: what does one entry cost to write and to read, over the number of entries?"""
    _ = view.say
    readers = usual_readers(view.rows)
    panels = canvas.subplots(1, 2, sharey=True)
    for axes, op, title in zip(panels, ("write", "read"), (N_("write"), N_("read")), strict=True):
        found = view.rows.all(op, study=STUDY, arm="read-many", readers=readers, codec="pickle")
        sizes = sorted({int(row.point.levels["entries"]) for row in found}) or list(TEXT)
        ends = []
        for backend in backends(found):
            rows = [(n, view.rows.find(op, **where("read-many", backend, n, readers))) for n in sizes]
            there = [(float(n), row) for n, row in rows if row]
            last = line(axes, there, backend, [1 / n for n, _ in there])
            if last is not None:
                ends.append((last, backend, style.LOOKS.get(backend, style.UNKNOWN)[0]))
        axes.set_yscale("log")
        axes.set_title(_(title), fontsize=9)
        entry_ticks(axes, view, sizes)
        if axes is panels[-1]:
            name_ends(axes, ends, sizes[-1] * 1.4)
    time_ticks(panels[0].yaxis, view)
    panels[0].set_ylabel(_("time for one entry"))


def readers(view: View, canvas: Canvas) -> None:
    """Draw: what do more readers cost, the writer of the published scenario and each reader?"""
    _ = view.say
    panels = canvas.subplots(1, 2)
    for axes, arm, op, names in (
        (panels[0], "published", "write-total", PUBLISHED),
        (panels[1], "read-many", "read", tuple(backends(view.rows.all("read", study=STUDY, arm="read-many")))),
    ):
        counts, ends = reader_counts(view.rows, arm), []
        for backend in names:
            rows = [(n, view.rows.find(op, **where(arm, backend, LARGE, n))) for n in counts]
            last = line(axes, [(float(n), row) for n, row in rows if row], backend)
            if last is not None:
                ends.append((last, backend, style.LOOKS.get(backend, style.UNKNOWN)[0]))
        axes.set_yscale("log")
        axes.set_xticks(counts, [view.value(n, "count", "int") for n in counts])
        axes.set_xlabel(_("readers"))
        name_ends(axes, ends, max(counts, default=1) * 1.06)
    time_ticks(panels[0].yaxis, view)
    time_ticks(panels[1].yaxis, view)
    panels[0].set_title(_("writing the published scenario"), fontsize=9)
    panels[1].set_title(_("one read, all readers at once"), fontsize=9)
