"""The lab: what a notebook holds in its hand. A run, seen by readers of one language."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ipclab.errors import LabError, UsageError
from ipclab.frames import derived
from ipclab.frames.claim_file import File
from ipclab.frames.limits import impossible, with_limits
from ipclab.frames.published import published, worded
from ipclab.lab import audit, labels, prose, values
from ipclab.lab.about import ABOUT
from ipclab.lab.canvas import Drawing
from ipclab.lab.catalogue import LANGUAGES, N_, Catalogue
from ipclab.lab.magic import namespace, register
from ipclab.lab.numbers import Formatter, trimmed
from ipclab.lab.parameters import Parameter
from ipclab.lab.quotes import Kept, Quoted, quoted
from ipclab.lab.runs import choose, full, newest_full
from ipclab.lab.table import Column, Table
from ipclab.paths import Paths, checkout
from ipclab.stats import judge
from ipclab.stats.quantity import Quantity
from ipclab.store.run import RunFolder
from ipclab.store.samples import decode

FIGURES = "IPCLAB_FIGURES"  # set while a report is made: where its figures go
DASH = "–"


@dataclass(frozen=True, repr=False)
class Lab:
    """Frames, figures, tables and prose of one run, in the language of the reader.

    >>> lab = Lab.open(lang="ko", study="payload")          # the newest run that holds the study
    >>> writes = lab.points("payload", op="write", metric="p50", arm="mapping")      # a pandas frame
    >>> with lab.figure("writes", "Where does the time go?", alt="...") as ax:
    ...     lines(writes, x="size_bytes", hue="mapping", ax=ax, log="xy")
    >>> lab.table(lab.cells(writes).pivot(index="size_bytes", columns="mapping", values="cell"), "One write")
    >>> gain = lab.value(writes, mapping="reopened", size_bytes=84) / lab.value(writes, mapping="kept", size_bytes=84)

    In a cell that begins with %%prose, {gain:x,interval} is that ratio with its interval.
    """

    run: RunFolder
    lang: str
    paths: Paths
    catalogue: Catalogue
    numbers: Formatter
    figures: Path
    namespace: Callable[[], Mapping[str, Any]] = field(default=dict)
    own: File | None = None

    @classmethod
    def open(cls, run: str = "", lang: str = "en", study: str = "", claims: str = "") -> "Lab":
        """Open the run in folder (or bundle) `run` for readers of `lang`, and make `%%prose` work.

        When `run` is empty: the newest run here that holds `study`, or the newest full one; else the reference.
        `claims` is a TOML file of your own claims. Raises `UsageError` for a folder that is no run, a language that is not
        there, and claims that cannot be judged.
        """
        lab = replace(cls.of(choose(checkout(), run, study), checkout(), lang), namespace=namespace)
        lab = replace(lab, own=audit.own_claims(lab, claims)) if claims else lab
        register(lab.translate, lab.fill)
        print(f"run {lab.run.id}{lab._hint(run)}")
        return lab

    @classmethod
    def of(cls, run: RunFolder, paths: Paths, lang: str) -> "Lab":
        """Return what `run` holds for readers of `lang`, without a notebook; raises `UsageError` for another language."""
        if lang not in LANGUAGES:
            raise UsageError(f"no language {lang!r}", "", f"there are {', '.join(LANGUAGES)}")
        words = Catalogue.load(lang, paths.locale)
        figures = Path(os.environ.get(FIGURES) or paths.figures / "lab")
        return cls(run, lang, paths, words, Formatter(lang, words.translate), figures)

    @classmethod
    def begin(  # the parameters of a study's notebook
        cls, study: str, run: Any = "", lang: Any = "en", measure: Any = False, profile: Any = "quick", **sweep: Any
    ) -> "Lab":
        """Open a run that holds `study`; with `measure`, first measure what it lacks of `study`, under `profile`.

        `sweep` names levels to measure instead of the study's own: sizes (bytes), backends, entries, readers ...; an
        empty one means the study's own. Values may come from papermill's command line: "false" is meant as False, a
        scalar as a list of it. Raises `UsageError` for what cannot be meant, and what `ipclab.measure.session` raises.
        """
        plain = {"run": (run, "str"), "lang": (lang, "str"), "measure": (measure, "bool"), "profile": (profile, "str")}
        told = {name: Parameter(name, kind, "").checked(value) for name, (value, kind) in plain.items()}
        if not told["measure"]:
            return cls.open(told["run"], told["lang"], study)
        kinds = {"backends": "list[str]", "placement": "list[str]"}
        levels = {name: Parameter(name, kinds.get(name, "list[int]"), []).checked(value) for name, value in sweep.items()}
        sizes, backends = levels.pop("sizes", []), levels.pop("backends", [])
        made = cls.sweep([study], told["profile"], sizes, backends, levels)
        return cls.open(str(made.run.path), told["lang"], study)

    @classmethod
    def sweep(
        cls,
        studies: Sequence[str] = (),
        profile: str = "quick",
        sizes: Sequence[int] = (),
        backends: Sequence[str] = (),
        levels: Mapping[str, Sequence[Any]] | None = None,
        seed: int = -1,
        run: str = "",
    ) -> "Lab":
        """Measure `studies` (all when empty) on this machine, points that are on disk excepted, and open the run.

        Empty levels mean each study's own; `run` is the folder of a run to continue. Raises what
        `ipclab.measure.session.measure` raises.
        """
        from ipclab.measure.progress import Bar
        from ipclab.measure.request import Request
        from ipclab.measure.session import measure
        from ipclab.studies.interface import Sweep

        given = {name: tuple(values) for name, values in (levels or {}).items() if len(values)}
        chosen = Sweep(tuple(sizes) or None, tuple(backends) or None, given)
        request = Request(tuple(studies), profile, Path(run) if run else None, None if seed < 0 else seed, chosen)
        return cls.open(str(measure(checkout(), request, Bar()).path))

    @property
    def studies(self) -> list[str]:
        """Return the studies that the run holds points of."""
        return derived.measured(self.run)

    # Frames

    def points(self, study: str, **levels: Any) -> pd.DataFrame:
        """Return the tidy frame of `study`: one row for each point, op and metric, one column for each factor.

        `levels` narrow it: `lab.points("round_trip", arm="main", metric="p50", backend=["tcp", "unix"])`. Columns: study,
        point, the factors, op, metric, unit, value, low, high (a 95 % interval), launches, samples, flags; times are ns,
        sizes bytes. Factors that no row has are left out. Raises `UsageError` for an unknown study or column.
        """
        return self._frame(study, "points", levels)

    def launches(self, study: str, **levels: Any) -> pd.DataFrame:
        """Return one row for each launch, op and metric (p50, mean, min, max, counters) of `study`, in the order taken.

        >>> lab.launches("round_trip", backend="tcp", placement="same", metric="p50").plot.scatter(x="order", y="value")
        """
        return self._frame(study, "launches", levels)

    def contests(self, study: str, **levels: Any) -> pd.DataFrame:
        """Return what is known of each mechanism against the fastest of its contest: verdict, ratio, interval, reason.

        >>> lab.contests("round_trip", placement="same", among="sleeping")
        """
        return self._frame(study, "contests", levels)

    def samples(self, study: str, op: str = "", **levels: Any) -> pd.DataFrame:
        """Return the raw samples (ns of one operation) of the points of `study` that have `levels`, all launches.

        >>> lab.samples("round_trip", arm="main", placement="cross", size_bytes=100, backend="tcp")
        """
        chosen = self.points(study, **({"op": op} if op else {}), metric="p50", **levels)
        return pd.concat([self._samples_of(row) for row in chosen.to_dict("records")] or [chosen.assign(ns=0, launch=0)])

    def published(self, study: str, **levels: Any) -> pd.DataFrame:
        """Return the numbers that the text of `study` prints (value in SI units, printed as it stands).

        >>> lab.published("payload", section="3.1", metric="mean")
        """
        return values.narrowed(published(self.paths, study), levels)

    def text(self, study: str) -> pd.DataFrame:
        """Return the same numbers with the op and metric of a run's frame, as addresses of `text.<study>` find them.

        >>> lab.value("text.payload.write[size_bytes=max].mean")
        """
        return worded(self.paths, study)

    def limited(self, points: pd.DataFrame) -> pd.DataFrame:
        """Return rows of `lab.points` with the limit of the hardware (ns) and `over_limit`, the value over it."""
        return with_limits(points, self.points("limits")) if len(points) else points.assign(limit=0.0, over_limit=0.0)

    def impossible(self) -> list[str]:
        """Return one line for each result that is faster than its copies by memcpy can be: it measured something else."""
        limits = self.points("limits")
        return [line for study in self.studies for line in impossible(self.points(study), limits)]

    def _frame(self, study: str, kind: str, levels: Mapping[str, Any]) -> pd.DataFrame:
        frame = derived.read(self.run, study, kind)
        strange = [name for name in levels if name not in frame]
        if frame.empty or (strange and set(strange) <= set(_factors(study))):  # factors that no point of this run has
            found = frame.iloc[:0].astype(object)
        else:
            found = values.narrowed(frame, levels).reset_index(drop=True)
        if len(found):
            return found.drop(columns=[name for name in _factors(study) if name in found and found[name].isna().all()])
        absent = [name for name in dict.fromkeys([*_factors(study), *levels]) if name not in found]
        return found.assign(**{name: pd.Series(dtype=object) for name in absent})  # a cell finds each factor

    def _samples_of(self, row: dict[str, Any]) -> pd.DataFrame:
        measured = decode(self.run.path / "points" / row["study"] / f"{row['point']}.parquet")
        head = {name: value for name, value in row.items() if name not in ("value", "low", "high", "metric", "unit")}
        parts = [
            pd.DataFrame({"ns": launch.times(row["op"])}).assign(launch=number)
            for number, launch in enumerate(measured.launches)
        ]
        return pd.concat(parts, ignore_index=True).assign(**{k: v for k, v in head.items() if k not in ("launches", "samples", "flags")})

    # Claims

    def claims(self, study: str = "") -> pd.DataFrame:
        """Return one row for each claim of the study's text (of all texts, or your `own`) with its three verdicts.

        Columns: id, title, study, seed, section, language, quote, meaning, rule, bounds, unit; for each method, `own` (on the
        text's own table), `here` (on this run, as published) and `fair`: the verdict (holds, fails, undecided, not testable
        here), and the quantity that decides it as `here_value`, `here_low`, `here_high`, or `here_reason`; whether the fair
        method is another (`fairly`), and the rule's bounds `low` and `high`.

        >>> lab.claims("payload").query("here == 'fails'")
        """
        return audit.claims(self, study)

    def claims_table(self, study: str, name: str = "") -> Table:
        """Return the claims of the study's text (or your `own`) as a table, ready to be shown."""
        return audit.claims_table(self, study, name)

    def derived(self) -> pd.DataFrame:
        """Return every number that a text derives from its own table, as printed and as computed, and whether it follows."""
        return audit.derived(self)

    def corrections(self) -> pd.DataFrame:
        """Return sentences that can stand in place of claims, from the text's own table (`own`) and from this run (`here`)."""
        return audit.corrections(self)

    # Values

    def compute(self, expression: str, study: str = "") -> Quantity:
        """Return what an expression in the language of rules gives (docs/claims.md); `study` lends its text's names.

        >>> lab.compute("max(payload.handover[arm=handover,backend=*,placement=cross,size_bytes=84]) / 1 us")
        """
        return audit.compute(self, expression, study)

    def value(self, of: pd.DataFrame | str, **levels: Any) -> Quantity:
        """Return one measured value with its interval: of a frame, a study, or an address.

        >>> lab.value(writes, mapping="kept", size_bytes=84)
        >>> lab.value("payload.write[arm=mapping,mapping=kept,size_bytes=84].p50")

        Without a metric the median is meant. What was not measured has no value, and neither has what is computed from
        it. Raises `LabError` when several rows have the levels.
        """
        if isinstance(of, str):
            found = values.at(of, self.points, self.text)
            if found is not None:
                return found
            of = self.points(of)
        return values.one(of, levels)

    def over(self, points: pd.DataFrame, under: pd.DataFrame, on: Sequence[str]) -> pd.DataFrame:
        """Return the rows with a column `cell`: each value over that of the row of `under` with the same levels `on`.

        The columns of that row are there too, with `_under` at their names' end; without one, the ratio is missing.
        Raises `LabError` when several rows of `under` have the same levels.

        >>> lab.over(writes, writes[writes.backend == "tcp"], on=["size_bytes"])
        """
        return values.over(self.cells(points), self.cells(under), list(on))

    def ratio(self, over: Quantity, under: Quantity) -> Quantity:
        """Return `over` / `under` with its interval, the same as `over / under`."""
        return over / under

    def choose(
        self, found: Quantity, bound: float, *, above: str, below: str, undecided: str, missing: str = "", told: str = ""
    ) -> str:
        """Return the sentence (a msgid) that the judge chooses: shown above the bound, below it, or neither.

        `told` leads each of them, such as the value itself; what was not measured is said to be `missing` alone.
        """
        alternatives = {judge.ABOVE: above, judge.BELOW: below, judge.UNDECIDED: undecided}
        chosen = alternatives.get(judge.side(found, bound))
        return " ".join(self.say(part) for part in (told, chosen) if part) if chosen else self.say(missing or ABSENT)

    def keep(self, *names: str, **kept: Any) -> Kept:
        """Keep variables of the notebook, and values under other names, for other notebooks; shows nothing.

        >>> lab.keep("past", "now", gain=past / now)
        """
        found = {name: self.lookup(name) for name in names}
        return Kept(found | {name: values.plain(value) for name, value in kept.items()})

    def quoted(self, notebook: str) -> Quoted:
        """Return what another notebook made of this run: figures and tables by name, and the values that it kept.

        >>> payload = lab.quoted("01_payload")
        >>> payload.show("payload-bandwidth")       # and {payload.gain:x,interval} in prose
        """
        return quoted(self.paths, self.run, self.lang, notebook)

    # Words

    def translate(self, msgid: str) -> str:
        """Return `msgid` in the reader's language; notebooks call it `_`."""
        return self.catalogue.translate(msgid)

    def say(self, text: str, /, **more: Any) -> str:
        """Return text (a msgid or already translated), placeholders filled from `more`, then from the notebook."""
        told = self.translate(text)
        return prose.fill_plain(told, lambda name: self.lookup(name, more), self.numbers) if "{" in told else told

    def tell(self, text: str) -> str:
        """Return a sentence (a msgid) filled like prose, or nothing when one of its values was not measured."""
        asked = [self.lookup(name) for name, _ in prose.placeholders(self.translate(text))]
        return self.say(text) if all(asked) else ""

    def fill(self, text: str) -> str:
        """Return Markdown with its placeholders filled with values of the notebook and of the run."""
        return prose.fill(text, self.lookup, self.numbers)

    def lookup(self, name: str, more: Mapping[str, Any] | None = None) -> Quantity | str:
        """Return what a placeholder names: a variable of the notebook, or the value at an address."""
        found = values.at(name, self.points, self.text)
        return values.named(name, {**self.namespace(), **(more or {})}) if found is None else found

    def about(self, what: str) -> pd.DataFrame:
        """Return what every report says of its run, to be shown as a table: "run", "machine", "limits", "calibration".

        >>> lab.table(lab.about("run"), _("The run behind this report"), name="run")
        """
        if what not in ABOUT:
            raise UsageError(f"nothing is told about {what!r}", f"there are {', '.join(ABOUT)}")
        return ABOUT[what](self)

    def label(self, name: str) -> str:
        """Return what a factor, column, op or metric is called."""
        return self.translate(labels.NAMES.get(name) or labels.LEVELS.get(name, str(name)))

    def level(self, factor: str, level: Any) -> str:
        """Return how a level or a list of them is written: sizes and times with their unit, words translated."""
        if isinstance(level, list | tuple):
            return ", ".join(self.level(factor, each) for each in level) or DASH
        if level is None or level is pd.NA or level != level:  # noqa: PLR0124  NaN
            return DASH
        if factor in labels.UNITS:
            return trimmed(self.numbers.format(Quantity(level, labels.UNITS[factor]), labels.spec(factor, level)))
        if isinstance(level, str):
            known = labels.NAMES if factor in ("metric", "op") else labels.NAMES | labels.LEVELS
            return self.translate(known.get(level, level))
        return self.numbers.format(values.plain(level)) if not isinstance(level, str) else level  # type: ignore[arg-type]

    def listed(self, points: pd.DataFrame, by: str = "backend", spec: str = "") -> str:
        """Return rows as text, such as "tcp 21.3 µs, unix 14.8 µs": what each level of `by` has; a dash without rows."""
        levels = labels.ordered(by, dict.fromkeys(points[by]))
        rows = [row for level in levels for row in points[points[by] == level].itertuples()]
        found = [row.cell if hasattr(row, "cell") else values.quantity(row) for row in rows]
        names = [self.level(by, getattr(row, by)) for row in rows]
        told = [f"{name} {self.numbers.format(each, spec)}" for name, each in zip(names, found, strict=True)]
        return self.translate(N_(", ")).join(told) or DASH

    def why_empty(self) -> str:
        """Return why a view is empty, in words."""
        reasons = list(dict.fromkeys(self.run.about.get("points", {}).values()))
        return f"{self.say(ABSENT)} {reasons[0] if reasons else ''}".strip()

    # Figures and tables

    def figure(
        self,
        name: str,
        title: str,
        *,
        alt: str,
        size: tuple[float, float] = (7.0, 3.6),
        panels: int | tuple[int, int] = 1,
        share: str = "",
    ) -> Drawing:
        """Give axes to draw into; the figure is then saved as SVG, PNG and PDF below `lab.figures` and shown.

        `title` and `alt` are msgids whose placeholders are filled like prose; `panels` is a number of axes side by side
        or (rows, columns), `share` the axes that they share ("x", "y").

        >>> with lab.figure("payload-bandwidth", _("How much moves in a second?"), alt=_("...")) as ax:
        ...     lines(bandwidth, x="size_bytes", hue="backend", ax=ax, log="xy")
        """
        return Drawing(self, name, title, alt, size, panels, share)

    def cells(self, points: pd.DataFrame, **more: str | tuple[str, str]) -> pd.DataFrame:
        """Return the rows with a column `cell` of quantities, to pivot into a table that prints value and interval.

        `more` names further columns: another metric of the same point and op, or (op, metric) of the same point.

        >>> lab.cells(medians, p99="p99", total=("launch", "total_ns"))
        """
        made = points.assign(cell=[values.quantity(row) for row in points.itertuples()] if len(points) else [])
        whole = [self.points(study) for study in points.study.unique()] if more else []
        return values.beside(made, pd.concat(whole) if whole else points, more)

    def table(
        self,
        frame: pd.DataFrame,
        caption: str,
        *,
        spec: str | Mapping[str, str] = "interval",
        notes: Sequence[str] = (),
        name: str = "",
    ) -> Table:
        """Return a frame as a table: index levels and columns are named, cells formatted and translated.

        `spec` is how quantities are printed, for all columns or by column: see `lab.numbers.format`; it also names the
        unit of plain numbers ("ns", "B", "share"). `caption` and `notes` are msgids.

        Where the index is sorted, levels that have a usual order stand in that; so do columns.
        Of what `pivot` makes of several `values`, those of one level stand together, `cell` without a name of its own.

        >>> lab.table(lab.cells(writes).pivot(index="size_bytes", columns="mapping", values="cell"), _("One write"))
        """
        frame = labels.in_order(labels.ordered_columns(frame))
        index = [level for level in frame.index.names if level is not None]
        shown = frame.reset_index() if index else frame
        parts = [(name,) for name in index] + [each if isinstance(each, tuple) else (each,) for each in frame.columns]
        factors = [(None,)] * len(index) + [tuple(frame.columns.names)] * len(frame.columns)
        specs = [spec if isinstance(spec, str) else _spec(each, spec) for each in parts]
        told = [
            [self._cell(str(each[-1]), value, how) for value in shown.iloc[:, place]]
            for place, (each, how) in enumerate(zip(parts, specs, strict=True))
        ]
        right = [place > 0 and _numeric(shown.iloc[:, place], str(each[-1])) for place, each in enumerate(parts)]
        heads = map(self._head, parts, factors)
        columns = [Column(head, "right" if put else "left") for head, put in zip(heads, right, strict=True)]
        rows = [list(row) for row in zip(*told, strict=True)]
        said = [self.say(note) for note in notes] + ([self.why_empty()] if not rows else [])
        drawn = values.drawn_from(shown.to_numpy().ravel())
        if len(drawn.keys() - {"limits"}) > 1:
            raise LabError(f"table {name or caption!r} holds one study", f"its rows are of {', '.join(drawn)}")
        return Table(self.say(caption), columns, rows, said, name, drawn, frame)

    def _head(self, parts: tuple[Any, ...], factors: tuple[Any, ...]) -> str:
        words = [
            self.level(str(factor), part) if factor else self.label(str(part))
            for part, factor in zip(parts, factors, strict=True)
            if part != "cell" or len(parts) == 1
        ]
        return self.translate(N_(", ")).join(words)

    def _cell(self, column: str, value: Any, spec: str) -> str:
        if isinstance(value, Quantity):
            return self.numbers.format(value, spec) if value else DASH
        if isinstance(value, float) and value == value and column not in labels.UNITS:  # noqa: PLR0124
            unit = next((word for word in spec.split(",") if word in ("ns", "B", "share", "B/s")), "1")
            return self.numbers.format(Quantity(value, unit), "int" if "int" in spec.split(",") else "")
        return self.level(column, value)

    def _hint(self, asked: str) -> str:
        told = f" ({self.run.about['parameters']['profile']}, {self.run.about['begun'][:10]})"
        if asked or full(self.run):
            return told
        fuller = newest_full(self.paths)
        return f"{told}; a sweep: run = {str(fuller.path)!r} opens the newest full run" if fuller else f"{told}; a sweep"

    def __repr__(self) -> str:
        """Return the run and the language."""
        return f"<Lab {self.run.id} in {self.lang}: {', '.join(derived.measured(self.run))}>"


@cache
def _factors(study: str) -> tuple[str, ...]:
    """Return every factor that a point of the study can have."""
    from ipclab.studies.installed import study as study_of
    from ipclab.studies.interface import Sweep
    from ipclab.studies.profile import PROFILES

    known = study_of(study)
    usual = (name for point in known.points(PROFILES["smoke"], Sweep()) for name in point.key())
    return tuple(dict.fromkeys([*usual, *getattr(known, "factors", ())]))


def _spec(parts: tuple[Any, ...], specs: Mapping[str, str]) -> str:
    return next((specs[str(part)] for part in parts if str(part) in specs), "interval")


def _numeric(column: "pd.Series[Any]", name: str) -> bool:
    """Tell whether a column has numbers, be it beside words."""
    numbers = [value for value in column if isinstance(value, Quantity | int | float | np.number) and value == value]
    return len(numbers) > 0 and name not in labels.UNITS


ABSENT = N_("Not measured in this run.")
