"""The explorer's widgets: choose runs, study, factors, metric and language; pictures and tables follow."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any

import ipywidgets as widgets
import pandas as pd

from ipclab.errors import LabError
from ipclab.explore import pictures
from ipclab.explore.course import SAID
from ipclab.explore.selection import BACKEND, SIZE, Selection, factors, settle
from ipclab.frames.address import quantity
from ipclab.frames.derived import measured
from ipclab.lab.catalogue import LANGUAGES, N_
from ipclab.lab.lab import Lab, lab_of
from ipclab.paths import Paths, checkout
from ipclab.store.files import write_whole
from ipclab.store.run import read

CONTROLS, TABS = SAID["controls"], SAID["tabs"].values()
TIMES = ["min", "p50", "p90", "p99", "p99.9", "max", "mean", "sd"]
MOST_POINTS = 6  # in one distribution


def runs(paths: Paths) -> list[Path]:
    """Return every run of this checkout, measured here, imported or opened from a bundle; newest first."""
    found = [file.parent for top in (paths.runs, paths.imported, paths.opened) for file in top.glob("*/*/run.json")]
    return sorted(found, key=lambda path: path.name, reverse=True)


class Desk:
    """The widgets of one explorer; `box` is what a notebook shows.

    `rows` are the points that are shown, with the columns `run` and `lab` (its place in `labs`).
    """

    rows: pd.DataFrame

    def __init__(self, run: str = "", lang: str = "en") -> None:
        self.paths = checkout()
        first = str(Lab.open(run, lang).run.path)
        known = dict.fromkeys([first, *map(str, runs(self.paths))])
        self.runs = widgets.SelectMultiple(options=[(Path(path).name, path) for path in known], value=[first])
        self.lang = widgets.Dropdown(options=LANGUAGES, value=lang)
        self.study, self.op, self.metric, self.across = (widgets.Dropdown() for _ in range(4))
        self.backends, self.points = (widgets.SelectMultiple(rows=6) for _ in range(2))
        self.held: dict[str, widgets.Dropdown] = {}
        self.factors = widgets.VBox()
        self.picture, self.table, self.spread, self.time, self.numbers, self.said = (widgets.HTML() for _ in range(6))
        self.drawn = {"svg": b"", "png": b""}
        self.settling = False
        follow = {"points": self._compare, "backends": self._show}
        for name in CONTROLS:
            getattr(self, name).observe(follow.get(name, self._choose), "value")
        self.box = self._arranged()
        self._choose()

    def _arranged(self) -> Any:
        exports = [widgets.Button(description=kind) for kind in ("SVG", "PNG", "CSV")]
        for button in exports:
            button.on_click(self._export)
        choose = [*(getattr(self, name) for name in CONTROLS if name != "points"), self.factors]
        left = widgets.VBox([*choose, widgets.HBox(exports), self.said], layout={"width": "340px"})
        self.tabs = widgets.Tab([self.spread, self.time, self.numbers])
        wide = {"flex": "1 1 0", "overflow": "auto"}
        return widgets.HBox([left, widgets.VBox([self.picture, self.points, self.tabs, self.table], layout=wide)])

    @property
    def selection(self) -> Selection:
        """Return what is chosen now."""
        held = {name: widget.value for name, widget in self.held.items()}
        choice = (self.study.value, self.op.value, self.metric.value, self.across.value)
        return Selection(*choice, tuple(self.backends.value), held)

    @property
    def labs(self) -> list[Lab]:
        """Return the labs of the chosen runs."""
        return [_lab(path, self.lang.value) for path in self.runs.value]

    @contextmanager
    def _quiet(self) -> Iterator[None]:
        """Change controls without anything following from it yet."""
        self.settling = True
        try:
            yield
        finally:
            self.settling = False

    def _choose(self, _: Any = None) -> None:
        """Offer what the run has for what is chosen so far, then show it."""
        if self.settling or not self.runs.value:
            return
        with self._quiet():
            lab = self.labs[0]
            _offer(self.study, measured(lab.run), "round_trip")
            points = lab.points(self.study.value)
            for name, usual in (("op", None), ("metric", "p50")):
                _offer(getattr(self, name), list(dict.fromkeys(points[name])), usual)
                points = points[points[name] == getattr(self, name).value]
            _offer(self.across, [*factors(points), BACKEND], SIZE)
            self._hold(settle(points, self.across.value, self.selection.held))
            mechanisms = sorted(set(replace(self.selection, backends=()).rows(points).backend))
            whole = len(self.backends.value) == len(self.backends.options)
            kept = [] if whole else [name for name in self.backends.value if name in mechanisms]
            self.backends.options, self.backends.value = mechanisms, kept or mechanisms
            for name, said in CONTROLS.items():
                getattr(self, name).description = lab.say(said)
            for place, title in enumerate(TABS):
                self.tabs.set_title(place, lab.say(title))
        self._show()

    def _hold(self, offered: dict[str, list[Any]]) -> None:
        """Make one control for each factor that is held; a factor with one level left needs none to choose."""
        self.held = {
            name: widgets.Dropdown(options=[(str(level), level) for level in levels], value=levels[0], description=name)
            for name, levels in offered.items()
        }
        for widget in self.held.values():
            widget.observe(self._choose, "value")
        self.factors.children = [widget for widget in self.held.values() if len(widget.options) > 1]

    def _show(self, _: Any = None) -> None:
        """Draw the picture and its table, and offer its points."""
        if self.settling:
            return
        chosen, labs = self.selection, self.labs
        shown = [(lab.run.id, chosen.rows(lab.points(chosen.study))) for lab in labs]
        self.rows = pd.concat([rows.assign(run=name, lab=place) for place, (name, rows) in enumerate(shown)])
        svg, png = pictures.across(labs[0], shown, chosen)
        self.drawn = {"svg": svg.encode(), "png": png}
        held = ", ".join(f"{name} {level}" for name, level in chosen.held.items())
        title = escape(f"{chosen.study}: {chosen.op} {chosen.metric} / {chosen.across}; {held}")
        self.picture.value = f'<div role="img" aria-label="{title}">{svg[svg.index("<svg") :]}</div>'
        names = dict.fromkeys(["run", BACKEND, chosen.across, "placement"])
        told = labs[0].cells(self.rows)
        listed = told.assign(value=told.cell)[[*names, "value", "launches", "samples", "flags"]]
        self.table.value = labs[0].table(listed, N_("The points of this view")).to_html()
        with self._quiet():
            self.points.options = [(self._point(row), at) for at, row in enumerate(self.rows.to_dict("records"))]
            self.points.value = [place for _, place in self.points.options[:2]]
        self._compare()

    def _point(self, row: dict[Any, Any]) -> str:
        names = (BACKEND, SIZE, "placement", *(["run"] if len(self.runs.value) > 1 else []))
        return " · ".join(str(row[name]) for name in names)

    def _compare(self, _: Any = None) -> None:
        """Draw the samples of the chosen points and show their percentiles and counters."""
        if self.settling or not self.runs.value:
            return
        labs, every = self.labs, self.rows.to_dict("records")
        named, metrics = [], dict[str, pd.Series]()
        for row in [every[place] for place in self.points.value[:MOST_POINTS] if place < len(every)]:
            lab, point = labs[row["lab"]], self._point(row)
            levels = {"point": row["point"], "op": row["op"]}
            mine = lab.points(row["study"], **levels)
            metrics[point] = pd.Series({each.metric: quantity(each) for each in mine.itertuples()}, dtype=object)
            with suppress(KeyError, LabError, AttributeError):  # one number for each launch has no samples
                named.append((point, lab.samples(row["study"], **levels).ns.to_numpy()))
        none = labs[0].say(N_("no samples: this is one number for each launch"))
        self.spread.value = pictures.distribution(labs[0], named) if named else escape(none)
        self.time.value = pictures.over_time(labs[0], named) if named else ""
        titles = (N_("Percentiles of the chosen points"), N_("Counters of the chosen points"))
        told = pd.DataFrame(metrics)
        tables = (told.reindex(TIMES).T, told.drop(TIMES, errors="ignore"))
        shown = [labs[0].table(rows, title, spec="") for rows, title in zip(tables, titles, strict=True)]
        self.numbers.value = "".join(table.to_html() for table in shown)

    def export(self, kind: str) -> Path:
        """Write the current view as `svg`, `png` or `csv` into the checkout's figures and return the file."""
        chosen = self.selection
        held = "-".join(str(level) for level in chosen.held.values())
        name = "-".join(("explore", chosen.study, chosen.op, chosen.metric, chosen.across, held)).replace("/", "-")
        path = self.paths.figures / f"{name[:120].rstrip('-')}.{self.lang.value}.{kind}"
        table = self.rows.drop(columns="lab").to_csv(index=False, lineterminator="\n").encode()
        write_whole(path, table if kind == "csv" else self.drawn[kind])
        return path

    def _export(self, button: Any) -> None:
        path, root = self.export(button.description.lower()), self.paths.home
        self.said.value = escape(str(path.relative_to(root) if path.is_relative_to(root) else path))


def _offer(widget: Any, options: list[Any], usual: Any = None) -> None:
    """Offer `options`, keeping what is chosen where it is still on offer."""
    kept = widget.value if widget.value in options else usual if usual in options else options[0]
    widget.options, widget.value = options, kept


@lru_cache(maxsize=8)
def _lab(path: str, lang: str) -> Lab:
    return lab_of(read(Path(path)), checkout(), lang)


def explore(run: str = "", lang: str = "en") -> Any:
    """Return the explorer for a notebook's cell. Raises `UsageError` for no run, and a language that is not there."""
    return Desk(run, lang).box
