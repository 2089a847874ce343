"""The lab: what a notebook holds in its hand. A run, seen by readers of one language."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from ipclab.frames.derived import measured
from ipclab.frames.ratios import Ratios
from ipclab.lab import canvas
from ipclab_report.prose import magic
from ipclab_report.notebooks import quotes
from ipclab.marks import style
from ipclab.tables import tabulation
from ipclab_report.claims.audit import with_own
from ipclab.words.catalogue import N_
from ipclab.lab.data import Data, Teller
from ipclab.words.numbers import plain
from ipclab_report.notebooks.parameters import Parameter
from ipclab.lab.runs import (
    best,
    called,
    choose,
    full,
    newest_full,
)
from ipclab.words.words import Words
from ipclab.paths import Paths, checkout
from ipclab.plugins import part
from ipclab.stats.quantity import Quantity
from ipclab.store.origin import elsewhere, processor
from ipclab.store.run import RunFolder

# Of the parameters of study notebooks; the others are lists of whole numbers.
KINDS = {
    "run": "str",
    "lang": "str",
    "profile": "str",
    "measure": "bool",
    "backends": "list[str]",
    "placement": "list[str]",
    "object": "list[str]",
}
ORIGIN = N_("Not measured here, but on {processor} (machine {machine}) on {date}.")


@dataclass(frozen=True, repr=False)
class Lab(Data):
    """Frames, figures, tables and prose of one run, in the language of the reader.

    >>> lab = Lab.open(lang="ko", study="payload")  # the newest run that holds the study
    >>> writes = lab.points("payload", op="write", metric="p50", arm="mapping")  # a pandas frame
    >>> with lab.figure("writes", "Where does the time go?", alt="...") as ax:
    ...     lines(writes, x="size_bytes", hue="mapping", ax=ax, log="xy")
    >>> wide = lab.cells(writes).pivot(index="size_bytes", columns="mapping", values="cell")
    >>> lab.table(wide, "One write")
    >>> kept = lab.value(writes, mapping="kept", size_bytes=84)
    >>> gain = lab.value(writes, mapping="reopened", size_bytes=84) / kept

    In a cell that begins with %%prose, {gain:x,interval} is that ratio with its interval.
    """

    @classmethod
    def open(
        cls,
        run: str = "",
        lang: str = "en",
        study: str = "",
        claims: str = "",
    ) -> "Lab":
        """Open the run in folder (or bundle) `run` for readers of `lang`, and make `%%prose` work.

        When `run` is empty: the newest run here that holds `study`, or the newest full one; else
        the reference. `claims` is a TOML file of your own claims. Raises `UsageError` for a folder
        that is no run, a language that is not there, and claims that cannot be judged.
        """
        lab = lab_of(choose(checkout(), run, study), checkout(), lang)
        lab = replace(lab, _names=magic.namespace)
        if claims:
            lab = with_own(lab, claims)
        magic.register(Teller(lab))
        lab._say_origin()
        magic.hint(f"run {lab._hint(run, study)}")
        return lab

    @classmethod
    def begin(  # the parameters of a study's notebook
        cls,
        study: str,
        run: Any = "",
        lang: Any = "en",
        measure: Any = False,
        profile: Any = "quick",
        **sweep: Any,
    ) -> "Lab":
        """Open a run that holds `study`; with `measure`, measure first what it lacks of it.

        `sweep` names levels to measure instead of the study's own: sizes (bytes), backends,
        entries, readers ...; an empty one means the study's own. Values may come from papermill's
        command line: "false" is meant as False, a scalar as a list of it. Raises `UsageError` for
        what cannot be meant, and what `ipclab_measure.session.session` raises.
        """
        given = {"run": run, "lang": lang, "measure": measure, "profile": profile, **sweep}
        values = {}
        for name, value in given.items():
            values[name] = Parameter(name, KINDS.get(name, "list[int]"), []).checked(value)
        run, lang, measure, profile = map(values.pop, ("run", "lang", "measure", "profile"))
        if not measure:
            return cls.open(run, lang, study)
        sizes = values.pop("sizes", [])
        backends = values.pop("backends", [])
        swept = cls.sweep([study], profile, sizes, backends, values)
        return cls.open(str(swept.run.path), lang, study)

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
        """Measure `studies` (or all) here, except points on disk, and open the run.

        Empty levels mean each study's own; `run` is the folder of a run to continue. Raises what
        `ipclab_measure.session.session.measure` raises.
        """
        asked = {name: tuple(values) for name, values in (levels or {}).items() if len(values)}
        swept = part("sweep")(studies, profile, sizes, backends, asked, seed, run)
        return cls.open(str(swept.path))

    @contextmanager
    def figure(
        self,
        name: str,
        title: str,
        *,
        alt: str = "",
        names: canvas.Names = (),
        size: tuple[float, float] = (7.0, 3.6),
        panels: "int | tuple[int, int] | pd.Series[Any]" = 1,
        share: str = "",
    ) -> Iterator[Any]:
        """Give axes to draw into; the figure is then saved as SVG, PNG, PDF, and shown.

        `title`, `alt` (the title, where it is not given) and every label that is drawn are msgids:
        they are translated here, and placeholders filled like those of prose. So are `names`: what
        levels are called in this figure (in a list: what they are). `panels` is a number of axes
        side by side, (rows, columns), or a column that `facets` has a panel for each level of;
        `share` names the axes that they share ("x", "y").

        >>> with lab.figure("payload-bandwidth", "How much moves in a second?", alt="...") as ax:
        ...     lines(bandwidth, x="size_bytes", hue="backend", ax=ax, log="xy")
        """
        from IPython.display import display

        np.random.seed(0)  # seaborn's jitter and bootstraps: drawn the same way each time
        if isinstance(panels, pd.Series):
            panels = (1, max(1, panels.nunique()))
        style.know(self.run.questions.mechanisms)
        with canvas.blank(self, size, names) as drawn:
            rows, columns = panels if isinstance(panels, tuple) else (1, max(1, panels))
            axes = drawn.subplots(
                rows, columns, squeeze=False, sharex="x" in share, sharey="y" in share
            )
            if panels == 1:
                yield axes[0, 0]
            else:
                yield axes[0] if isinstance(panels, int) else axes
            display(canvas.finished(self, drawn, name, title, alt or title))  # type: ignore[no-untyped-call]

    table = tabulation.tabulated

    def keep(self, *names: str, **values: Any) -> quotes.Kept:
        """Keep the notebook's variables, and other values, for other notebooks; show nothing.

        >>> lab.keep("past", "now", gain=past / now)
        """
        kept = {name: self._lookup(name) for name in names}
        for name, value in values.items():
            kept[name] = plain(value)
        return quotes.Kept(kept)

    def quoted(self, notebook: str) -> quotes.Quoted:
        """Return what another notebook made of this run: figures, tables, and kept values.

        It is executed when that was not done yet; raises `LabError` when it fails.

        >>> payload = lab.quoted("01_payload")
        >>> payload.figure("payload-bandwidth")  # and {payload.gain:x,interval} in prose
        """
        executed = quotes.made(self.paths, self.run, self.words.lang, notebook)
        return quotes.read(executed, notebook, Ratios(self.run))

    def _say_origin(self) -> None:
        """Name machine and date of a run not measured here, before anything of it is shown."""
        if elsewhere(self.paths, self.run):
            date = Quantity(self.run.about["begun"], "date")
            said = self.say(
                ORIGIN,
                processor=processor(self.run),
                machine=self.run.machine,
                date=date,
            )
            magic.show(said)

    def _hint(self, asked: str, study: str) -> str:
        rivals = best(self.paths, study) if study and not asked else []
        hint = called(rivals or [self.run])
        if asked or full(self.run):
            return hint
        fuller = newest_full(self.paths)
        if fuller is None:
            return f"{hint}; a sweep"
        return f"{hint}; a sweep: run = {str(fuller.path)!r} opens the newest full run"

    def __repr__(self) -> str:
        return f"<Lab {self.run.id} in {self.words.lang}: {', '.join(measured(self.run))}>"


def lab_of(run: RunFolder, paths: Paths, lang: str) -> Lab:
    """Return `run` for readers of `lang`, without a notebook; `UsageError` for another one."""
    return Lab(run, Words.load(lang, paths.locale), paths)
