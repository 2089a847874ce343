"""The explorer's widgets: choose runs, study, factors, metric and language; pictures and tables follow."""

import csv
import io
from collections.abc import Callable, Iterable
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from ipclab.errors import LabError
from ipclab.explore import panels, words
from ipclab.explore.panels import Shown, label
from ipclab.explore.selection import BACKEND, SIZE, Selection, factors, metrics, ops, settle, studies
from ipclab.facts.rows import COLUMNS, Row
from ipclab.lab import style
from ipclab.notebook import Lab
from ipclab.paths import Paths, checkout
from ipclab.lab.catalogue import LANGUAGES
from ipclab.store.bundle.opened import opened
from ipclab.store.files import write_whole
from ipclab.stats.intervals import Samples

WIDTH, HEIGHT = 7.5, 4.2
KEPT_SAMPLES = 8  # points whose samples stay in memory
MOST_POINTS = 6  # in one distribution


def runs(paths: Paths) -> list[Path]:
    """Return every finished run of this checkout: measured here, imported, and those committed; newest first."""
    found = [*paths.data.glob("runs/*/*/run.json"), *paths.data.glob("imported/*/*/run.json")]
    names = sorted(
        (file.parent for file in found if (file.parent / "facts.json").is_file()), key=lambda path: path.name
    )
    committed = [opened(paths, bundle).path for bundle in (paths.reference, paths.compared) if bundle.is_file()]
    return [*reversed(names), *committed]


class Desk:
    """The widgets of one explorer; `box` is what a notebook shows."""

    def __init__(self, run: str = "", lang: str = "en", paths: Paths | None = None) -> None:
        """Open on the run in folder `run` (the newest here, else the reference run, when empty)."""
        self.paths = paths or checkout()
        first = Lab.open(run, lang).run.path
        known = {str(path.resolve()): path.name for path in runs(self.paths)} | {str(first): first.name}
        self.runs = widgets.SelectMultiple(options=[(name, path) for path, name in known.items()], value=[str(first)])
        self.lang = widgets.Dropdown(options=LANGUAGES, value=lang)
        self.study, self.op, self.metric, self.across = (widgets.Dropdown() for _ in range(4))
        self.backends, self.points = widgets.SelectMultiple(rows=6), widgets.SelectMultiple(rows=6)
        self.held: dict[str, widgets.Dropdown] = {}
        self.factors = widgets.VBox()
        self.picture, self.table, self.spread, self.time, self.numbers, self.said = (widgets.HTML() for _ in range(6))
        self.exports = [widgets.Button(description=kind) for kind in ("SVG", "PNG", "CSV")]
        self.shown: list[Shown] = []
        self.settling = False
        self.kept: dict[tuple[str, ...], Samples] = {}
        self._arrange()
        self._choose()

    # What is chosen

    @property
    def controls(self) -> dict[str, Any]:
        """Return the widgets that a person chooses with, by name."""
        names = ("runs", "lang", "study", "op", "metric", "across", "backends", "points")
        return {name: getattr(self, name) for name in names}

    @property
    def selection(self) -> Selection:
        """Return what is chosen now."""
        held = {name: widget.value for name, widget in self.held.items()}
        choice = (self.study.value, self.op.value, self.metric.value, self.across.value)
        return Selection(*choice, tuple(self.backends.value), held)

    def _views(self) -> list[tuple[str, Any]]:
        return [(Path(path).name, _view(path, self.lang.value)) for path in self.runs.value]

    def _choose(self, change: Any = None) -> None:
        """Offer what the run has for what is chosen so far, then show it."""
        if self.settling or not self.runs.value:
            return
        self.settling = True
        try:
            rows = self._views()[0][1].rows
            _offer(self.study, studies(rows), "round_trip")
            _offer(self.op, ops(rows, self.study.value))
            _offer(self.metric, metrics(rows, self.study.value, self.op.value), "p50")
            mine = rows.all(self.op.value, self.metric.value, study=self.study.value)
            _offer(self.across, list(factors(mine)) or [BACKEND], SIZE)
            wished = {name: widget.value for name, widget in self.held.items()}
            choice = (self.study.value, self.op.value, self.metric.value, self.across.value)
            held, offered = settle(rows, *choice, wished)
            self._hold(held, offered)
            left = Selection(*choice, (), held).rows(rows)
            _offer_many(self.backends, sorted({row.point.backend for row in left}))
            self._name()
        finally:
            self.settling = False
        self._show()

    def _hold(self, held: dict[str, Any], offered: dict[str, list[Any]]) -> None:
        """Make one control for each factor that is held; a factor with one level left needs none to choose."""
        self.held = {
            name: widgets.Dropdown(options=offered[name], value=level, description=name) for name, level in held.items()
        }
        for widget in self.held.values():
            widget.observe(self._choose, "value")
        self.factors.children = [widget for widget in self.held.values() if len(widget.options) > 1]

    # What is shown

    def _show(self, change: Any = None) -> None:
        """Draw the picture and its table, and offer its points."""
        if self.settling:
            return
        selection = self.selection
        self.shown = [Shown(name, view, selection.rows(view.rows)) for name, view in self._views()]
        self.picture.value = self._drawn(lambda canvas: panels.across(self.shown, selection, canvas))
        view = self.shown[0].view
        self.table.value = words.values(self.shown, selection, view).to_html()
        names = [f"{label(row)} · {each.name}" if len(self.shown) > 1 else label(row) for each, row in self._rows()]
        self.settling = True
        try:
            options = [(name, place) for place, name in enumerate(names)]
            self.points.options = options
            self.points.value = [place for _, place in options[:2]]
        finally:
            self.settling = False
        self._compare()

    def _rows(self) -> list[tuple[Shown, Row]]:
        return [(each, row) for each in self.shown for row in each.rows]

    def _compare(self, change: Any = None) -> None:
        """Draw the samples of the chosen points and show their percentiles and counters."""
        if self.settling or not self.shown:
            return
        every = self._rows()
        chosen = [every[place] for place in self.points.value[:MOST_POINTS] if place < len(every)]
        view = self.shown[0].view
        named = [found for each, row in chosen if (found := self._samples(each, row)) is not None]
        nothing = escape(view.say(words.NO_SAMPLES))
        self.spread.value = self._drawn(lambda c: panels.distribution(named, view, c)) if named else nothing
        self.time.value = self._drawn(lambda c: panels.over_time(named, view, c)) if named else ""
        tables = (words.percentiles(chosen, view), words.counters(chosen, view))
        self.numbers.value = "".join(table.to_html() for table in tables)

    def _samples(self, shown: Shown, row: Row) -> tuple[str, Samples] | None:
        key = str(shown.view.folder), row.point.study, row.point.id, row.op
        try:
            found = self.kept.pop(key) if key in self.kept else shown.view.samples(*key[1:])
        except (KeyError, LabError):
            return None
        self.kept[key] = found  # the latest last
        if len(self.kept) > KEPT_SAMPLES:
            del self.kept[next(iter(self.kept))]
        return label(row), found

    def _drawn(self, draw: Callable[[Any], None]) -> str:
        with style.canvas(self.lang.value, WIDTH, HEIGHT) as canvas:
            draw(canvas)
            svg = style.svg(canvas)
        return f'<div role="img" aria-label="{escape(self._title())}">{svg[svg.index("<svg") :]}</div>'

    def _title(self) -> str:
        chosen = self.selection
        held = ", ".join(f"{name} {level}" for name, level in chosen.held.items())
        return f"{chosen.study}: {chosen.op} {chosen.metric} / {chosen.across}; {held}"

    # Export

    def export(self, kind: str) -> Path:
        """Write the current view as `svg`, `png` or `csv` into the checkout's figures and return the file."""
        chosen = self.selection
        held = "-".join(str(level) for level in chosen.held.values())
        name = "-".join(("explore", chosen.study, chosen.op, chosen.metric, chosen.across, held)).replace("/", "-")
        path = self.paths.figures / f"{name[:120].rstrip('-')}.{self.lang.value}.{kind}"
        write_whole(path, self._content(kind))
        return path

    def _content(self, kind: str) -> bytes:
        if kind == "csv":
            text = io.StringIO(newline="")
            writer = csv.writer(text, lineterminator="\n")
            writer.writerow(("run", *COLUMNS))
            writer.writerows((each.name, *row.cells()) for each, row in self._rows())
            return text.getvalue().encode()
        with style.canvas(self.lang.value, WIDTH, HEIGHT) as canvas:
            panels.across(self.shown, self.selection, canvas)
            return style.png(canvas) if kind == "png" else style.svg(canvas).encode()

    def _export(self, button: Any) -> None:
        path = self.export(button.description.lower())
        shown = path.relative_to(self.paths.root) if path.is_relative_to(self.paths.root) else path
        self.said.value = escape(str(shown))

    # Layout

    def _arrange(self) -> None:
        for name, widget in self.controls.items():
            follow = self._compare if name == "points" else self._show if name == "backends" else self._choose
            widget.observe(follow, "value")
        for button in self.exports:
            button.on_click(self._export)
        choose = [*(widget for name, widget in self.controls.items() if name != "points"), self.factors]
        left = widgets.VBox([*choose, widgets.HBox(self.exports), self.said], layout={"width": "340px"})
        self.tabs = widgets.Tab([self.spread, self.time, self.numbers])
        right = widgets.VBox(
            [self.picture, self.points, self.tabs, self.table], layout={"flex": "1 1 0", "overflow": "auto"}
        )
        self.box = widgets.HBox([left, right])

    def _name(self) -> None:
        """Write the controls' names in the reader's language."""
        say = self._views()[0][1].say
        for name, widget in self.controls.items():
            widget.description = say(words.CONTROLS[name])
        for place, title in enumerate(words.TABS):
            self.tabs.set_title(place, say(title))


def _offer(widget: Any, options: list[Any], usual: Any = None) -> None:
    """Offer `options`, keeping what is chosen where it is still on offer."""
    kept = widget.value if widget.value in options else usual if usual in options else options[0]
    widget.options, widget.value = options, kept


def _offer_many(widget: Any, options: Iterable[Any]) -> None:
    """Offer `options`, all chosen, unless some of them were chosen before."""
    every = list(options)
    kept = [value for value in widget.value if value in every] if len(widget.value) < len(widget.options) else []
    widget.options = every
    widget.value = kept or every


@lru_cache(maxsize=8)
def _view(run: str, lang: str) -> Any:
    return Lab.open(run, lang).view


def explore(run: str = "", lang: str = "en") -> Any:
    """Return the explorer for a notebook's cell.

    Raises `UsageError` for a folder that is no run and a language that is not there.
    """
    return Desk(run, lang).box
