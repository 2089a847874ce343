"""The lab: what a notebook holds in its hand. A run, seen by readers of one language."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ipclab.lab import about, advice, deadlines, prose, trust
from ipclab.lab.audit import Audit
from ipclab.lab.canvas import drawing
from ipclab.lab.catalogue import Catalogue
from ipclab.lab.numbers import Formatter
from ipclab.lab.parameters import Parameter
from ipclab.lab.quotes import Kept, quoted
from ipclab.lab.runs import choose, full, newest_full
from ipclab.paths import Paths, checkout
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

    # What the modules of the lab tell of a run, draw and quote: their functions take the lab first.

    about, calibration_table, notice = about.about, about.calibration_table, about.notice
    deadlines, trust, quoted, figure = deadlines.shown, trust.row, quoted, drawing
    advice, advice_notes = advice.advice, advice.NOTES

    def keep(self, *names: str, **kept: Any) -> Kept:
        """Keep variables of the notebook, and values under other names, for other notebooks; shows nothing.

        >>> lab.keep("past", "now", gain=past / now)
        """
        found = {name: self.lookup(name) for name in names}
        return Kept(found | {name: prose.plain(value) for name, value in kept.items()})

    def _hint(self, asked: str) -> str:
        told = f" ({self.run.about['parameters']['profile']}, {self.run.about['begun'][:10]})"
        if asked or full(self.run):
            return told
        fuller = newest_full(self.paths)
        return f"{told}; a sweep" + (f": run = {str(fuller.path)!r} opens the newest full run" if fuller else "")

    def __repr__(self) -> str:
        return f"<Lab {self.run.id} in {self.lang}: {', '.join(self.studies)}>"
