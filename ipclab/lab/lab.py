"""The lab: what a notebook holds in its hand. A run, seen by readers of one language."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd

from ipclab.errors import UsageError, hint
from ipclab.frames.derived import studies_measured
from ipclab.lab import shell
from ipclab.lab.hints import run_hint, show_hint
from ipclab.lab.notes import Notes
from ipclab.lab.parameters import Parameter, refuse_unknown
from ipclab.lab.runs import choose
from ipclab.machine.origin import elsewhere, processor
from ipclab.marks.drawn import Names
from ipclab.paths import Paths, checkout
from ipclab.session.swept import sweep
from ipclab.stats.quantity import Quantity
from ipclab.store.run import RunFolder
from ipclab.studies.questions import usual_levels
from ipclab.tables import tabulation
from ipclab.words.catalogue import N_
from ipclab.words.filling import escaped
from ipclab.words.words import Words

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
SWEPT = "sizes", "backends"  # what every study can be swept over
ORIGIN = N_("Not measured here, but on {processor} (machine {machine}) on {date}.")


@dataclass(frozen=True, repr=False)
class Lab(Notes):
    """Frames, figures, tables and prose of one run, in the language of the reader.

    >>> lab = ipclab.open("payload", lang="ko")  # the best run here that holds the study
    >>> writes = lab.points(op="write", metric="p50", arm="mapping")  # a pandas frame
    >>> with lab.figure("writes", "Where does the time go?", alt="...") as ax:
    ...     ipclab.lines(writes, x="size_bytes", hue="mapping", ax=ax, log="xy")
    >>> wide = lab.cells(writes).pivot(index="size_bytes", columns="mapping", values="cell")
    >>> lab.table(wide, "One write")
    >>> kept = lab.value(writes, mapping="kept", size_bytes=84)
    >>> gain = lab.value(writes, mapping="reopened", size_bytes=84) / kept
    >>> lab.text("A mapping that is kept gains {gain:x,interval}.", gain=gain)

    `_own` are a person's own claims (`ipclab.claims.file.File`).
    """

    _own: Any = None

    if not TYPE_CHECKING:  # whose checker knows the names itself

        def __getattr__(self, name: str) -> Any:
            """Raise `AttributeError` with the nearest name that a lab has."""
            if hasattr(type(self), name):
                return object.__getattribute__(self, name)  # whose own error it is
            why = f"a lab has no attribute {name!r}"
            public = [each for each in dir(self) if not each.startswith("_")]
            raise AttributeError(why if name.startswith("_") else f"{why}: {hint(name, public)}")

    @classmethod
    def open(cls, run: str = "", lang: str = "en", study: str = "") -> Self:
        """Open the run in folder (or bundle) `run` for readers of `lang`.

        When `run` is empty: the best run here that holds `study` (`ipclab.lab.runs.best`), without
        a study the newest full one; else the reference. Raises `UsageError` for a folder that is no
        run, and a language that is not there.
        """
        refuse_unknown()
        lab = cls.of(choose(checkout(), run, study), checkout(), lang)
        lab = replace(lab, _names=shell.namespace, study=study)
        lab._say_origin()
        show_hint(f"run {run_hint(lab.paths, lab.run, run, study)}", lab.run)
        return lab

    @classmethod
    def begin(
        cls,
        study: str,
        run: Any = "",
        lang: Any = "en",
        measure: Any = False,
        profile: Any = "quick",
        **sweep: Any,
    ) -> Self:
        """Open a run that holds `study`; with `measure`, measure first what it lacks of it.

        `sweep` names levels to measure instead of the study's own: sizes (bytes), backends,
        entries, readers ...; an empty one means the study's own. Values may come from papermill's
        command line: "false" is meant as False, a scalar as a list of it. Raises `UsageError` for
        what cannot be meant, and what the measuring raises.
        """
        known = usual_levels(study)
        unknown = sorted(sweep.keys() - {*KINDS, *SWEPT, *known})
        if known and unknown:
            nearest = hint(unknown[0], [*SWEPT, *known])
            raise UsageError(f"{study} has no level {unknown[0]!r}", "", nearest)
        given = {"run": run, "lang": lang, "measure": measure, "profile": profile, **sweep}
        values = {}
        for name, value in given.items():
            values[name] = Parameter(name, KINDS.get(name, "list[int]"), []).checked(value)
        of_run, language, measured, effort = (
            values.pop(name) for name in ("run", "lang", "measure", "profile")
        )
        if not measured:
            return cls.open(of_run, language, study)
        sizes, backends = values.pop("sizes", []), values.pop("backends", [])
        swept = cls.sweep([study], effort, sizes, backends, values)
        return cls.open(str(swept.run.path), language, study)

    @classmethod
    def of(cls, run: RunFolder, paths: Paths, lang: str) -> Self:
        """Return `run` for readers of `lang`, without a notebook; `UsageError` for another one."""
        return cls(run, Words.load(lang), paths)

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
        `ipclab.session.session.measure_run` raises.
        """
        refuse_unknown()
        asked = {name: tuple(values) for name, values in (levels or {}).items() if len(values)}
        swept = sweep(studies, profile, sizes, backends, asked, seed, run)
        return Lab.open(str(swept.path))

    @contextmanager
    def figure(
        self,
        name: str,
        title: str,
        *,
        alt: str = "",
        names: Names = (),
        size: tuple[float, float] = (7.0, 3.0),
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

        from ipclab.lab import canvas  # what draws takes long to load

        np.random.seed(0)  # seaborn's jitter and bootstraps: drawn the same way each time
        if isinstance(panels, pd.Series):
            panels = (1, max(1, panels.nunique()))
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

    def _say_origin(self) -> None:
        """Name machine and date of a run not measured here, before anything of it is shown."""
        if elsewhere(self.run):
            date = Quantity(self.run.about["begun"], "date")
            facts = {"processor": processor(self.run), "machine": self.run.machine, "date": date}
            said = {
                of.words.lang: f"**{escaped(of.say(ORIGIN, **facts))}**"
                for of in (self, *self.others)
            }
            shell.show(shell.Text(said))

    def __repr__(self) -> str:
        return f"<Lab {self.run.id} in {self.words.lang}: {', '.join(studies_measured(self.run))}>"
