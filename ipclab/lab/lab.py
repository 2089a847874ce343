"""The lab: what a notebook holds in its hand. A run, seen by readers of one language."""

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
from IPython.display import Markdown

from ipclab.frames.calibration import STUDY
from ipclab.lab import advice, deadlines, prose, trust
from ipclab.lab.about import ABOUT, notice
from ipclab.lab.audit import Audit
from ipclab.lab.canvas import drawing
from ipclab.lab.catalogue import N_, Catalogue
from ipclab.lab.numbers import Formatter
from ipclab.lab.parameters import Parameter
from ipclab.lab.quotes import Kept, Quoted, quoted
from ipclab.lab.runs import choose, full, newest_full
from ipclab.lab.table import Table, tabulated
from ipclab.paths import Paths, checkout
from ipclab.plugins import chosen
from ipclab.store.run import RunFolder

# Of the parameters of study notebooks; the others are lists of whole numbers.
KINDS = {**dict.fromkeys(("run", "lang", "profile"), "str"), "measure": "bool"}
KINDS |= dict.fromkeys(("backends", "placement"), "list[str]")
FIGURES = "IPCLAB_FIGURES"  # set while a report is made: where its figures go


@dataclass(frozen=True, repr=False)
class Lab(Audit):
    """Frames, figures, tables and prose of one run, in the language of the reader.

    >>> lab = Lab.open(lang="ko", study="payload")          # the newest run that holds the study
    >>> writes = lab.points("payload", op="write", metric="p50", arm="mapping")      # a pandas frame
    >>> with lab.figure("writes", "Where does the time go?", alt="...") as ax:
    ...     lines(writes, x="size_bytes", hue="mapping", ax=ax, log="xy")
    >>> lab.table(lab.cells(writes).pivot(index="size_bytes", columns="mapping", values="cell"), "One write")
    >>> gain = lab.value(writes, mapping="reopened", size_bytes=84) / lab.value(writes, mapping="kept", size_bytes=84)

    In a cell that begins with %%prose, {gain:x,interval} is that ratio with its interval.
    """

    @classmethod
    def open(cls, run: str = "", lang: str = "en", study: str = "", claims: str = "") -> "Lab":
        """Open the run in folder (or bundle) `run` for readers of `lang`, and make `%%prose` work.

        When `run` is empty: the newest run here that holds `study`, or the newest full one; else the reference.
        `claims` is a TOML file of your own claims. Raises `UsageError` for a folder that is no run, a language that is
        not there, and claims that cannot be judged.
        """
        lab = replace(cls.of(choose(checkout(), run, study), checkout(), lang), namespace=prose.namespace)
        lab = lab.with_own(claims) if claims else lab
        prose.register(lab.translate, lab.fill)
        print(f"run {lab.run.id}{lab._hint(run)}")
        return lab

    @classmethod
    def of(cls, run: RunFolder, paths: Paths, lang: str) -> "Lab":
        """Return what `run` holds for readers of `lang`, without a notebook; raises `UsageError` for another one."""
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
        given = {"run": run, "lang": lang, "measure": measure, "profile": profile, **sweep}
        meant = {name: Parameter(name, KINDS.get(name, "list[int]"), []).checked(each) for name, each in given.items()}
        run, lang, measure, profile = (meant.pop(name) for name in ("run", "lang", "measure", "profile"))
        if not measure:
            return cls.open(run, lang, study)
        made = cls.sweep([study], profile, meant.pop("sizes", []), meant.pop("backends", []), meant)
        return cls.open(str(made.run.path), lang, study)

    @classmethod
    def sweep(
        cls, studies: Sequence[str] = (), profile: str = "quick", sizes: Sequence[int] = (),
        backends: Sequence[str] = (), levels: Mapping[str, Sequence[Any]] | None = None, seed: int = -1, run: str = "",
    ) -> "Lab":  # fmt: skip
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

    # For other notebooks and reports

    def about(self, what: str) -> pd.DataFrame:
        """Return what every report says of its run, to be shown as a table: "run", "machine", "limits", "calibration".

        >>> lab.table(lab.about("run"), _("The run behind this report"), name="run")
        """
        return chosen("item of a report", what, ABOUT)(self)

    def calibration_table(self) -> Table:
        """Return what the run's judge was seen to do with identical code and with planted slow-downs, as a table."""
        note = N_("Found: of so many contests, those in which the slower one was called slower.")
        before = N_("This run was made before calibration was part of a run.")
        caption = N_("Calibration: identical code and planted slow-downs, judged as the contests of the run are")
        told = self.about("calibration")
        notes = [*([note] if len(told) else []), *([] if STUDY in self.studies else [before])]
        return tabulated(self, told, self.say(caption), "pct", list(map(self.say, notes)), "calibration")

    def advice(self, study: str, **levels: Any) -> pd.DataFrame:
        """Return, for each contest of `study` with `levels`, its best guess and what is known of it, in words.

        Columns beside the contest's: guess, evidence, second, price, more (see `ipclab.lab.advice`), to be shown with
        the notes `lab.advice_notes`.

        >>> lab.advice("round_trip", placement="same", among="sleeping")
        """
        return advice.advice(self, self.contests(study, **levels))

    @property
    def advice_notes(self) -> list[str]:
        """Return the notes that explain the columns of `advice`."""
        return list(advice.NOTES)

    def deadlines(self) -> list[Any]:
        """Return the deadlines that the run was measured to state, to be displayed one by one; none in another run.

        >>> for part in lab.deadlines(): display(part)
        """
        return deadlines.shown(self)

    def trust(self, study: str, at_most: str = "high", why: str = "", **levels: Any) -> dict[str, Any]:
        """Return how far statements on the points of `study` with `levels` can be trusted, as cells of a table.

        The level follows from the run's facts by the rules of `trust.toml` and is no better than `at_most`.

        >>> pd.DataFrame({_("Times by the published method"): lab.trust("payload", arm="published")}).T
        """
        return trust.row(self, study, at_most, why, **levels)

    def notice(self, *runs: RunFolder) -> Any:
        """Return what the first page must say of the limits of `runs` (this one when none is named), else nothing."""
        told = [notice(replace(self, run=run)) for run in runs or (self.run,)]
        return Markdown("\n\n".join(filter(None, told))) if any(told) else None  # type: ignore[no-untyped-call]

    def keep(self, *names: str, **kept: Any) -> Kept:
        """Keep variables of the notebook, and values under other names, for other notebooks; shows nothing.

        >>> lab.keep("past", "now", gain=past / now)
        """
        found = {name: self.lookup(name) for name in names}
        return Kept(found | {name: prose.plain(value) for name, value in kept.items()})

    def quoted(self, notebook: str) -> Quoted:
        """Return what another notebook made of this run: figures and tables by name, and the values that it kept.

        >>> payload = lab.quoted("01_payload")
        >>> payload.figure("payload-bandwidth")       # and {payload.gain:x,interval} in prose
        """
        return quoted(self.paths, self.run, self.lang, notebook)

    # Figures and tables

    def figure(
        self, name: str, title: str, *, alt: str,
        size: tuple[float, float] = (7.0, 3.6), panels: int | tuple[int, int] = 1, share: str = "",
    ) -> AbstractContextManager[Any]:  # fmt: skip
        """Give axes to draw into; the figure is then saved as SVG, PNG and PDF below `lab.figures` and shown.

        `title` and `alt` are msgids whose placeholders are filled like prose; `panels` is a number of axes side by side
        or (rows, columns), `share` the axes that they share ("x", "y").

        >>> with lab.figure("payload-bandwidth", _("How much moves in a second?"), alt=_("...")) as ax:
        ...     lines(bandwidth, x="size_bytes", hue="backend", ax=ax, log="xy")
        """
        return drawing(self, name, title, alt, size, panels, share)

    def table(
        self, frame: pd.DataFrame, caption: str, *,
        spec: str | Mapping[str, str] = "interval", notes: Sequence[str] = (), name: str = "", empty: str = "",
    ) -> Table:  # fmt: skip
        """Return a frame as a table: index levels and columns are named, cells formatted and translated.

        `spec` is how quantities are printed, for all columns or by column: see `lab.numbers.format`; it also names the
        unit of plain numbers ("ns", "B", "share"). `caption`, `notes` and `empty` are msgids; `empty` says what it
        means that there is no row, by default that nothing was measured, and why. Where the index is sorted, levels
        that have a usual order stand in that; so do columns. Of what `pivot` makes of several `values`, those of one
        level stand together, `cell` without a name of its own.

        >>> lab.table(lab.cells(writes).pivot(index="size_bytes", columns="mapping", values="cell"), _("One write"))
        """
        said = [*notes, *([empty or self.why_empty()] if frame.empty else [])]
        return tabulated(self, frame, self.say(caption), spec, [self.say(note) for note in said], name)

    def _hint(self, asked: str) -> str:
        told = f" ({self.run.about['parameters']['profile']}, {self.run.about['begun'][:10]})"
        if asked or full(self.run):
            return told
        fuller = newest_full(self.paths)
        return f"{told}; a sweep" + (f": run = {str(fuller.path)!r} opens the newest full run" if fuller else "")

    def __repr__(self) -> str:
        return f"<Lab {self.run.id} in {self.lang}: {', '.join(self.studies)}>"
