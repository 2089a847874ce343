"""The lab: what a notebook holds in its hand. A run, seen by readers of one language."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd

from ipclab.errors import UsageError, hint
from ipclab.frames.derived import studies_measured
from ipclab.lab import shell
from ipclab.lab.notes import Notes
from ipclab.lab.parameters import Parameter, refuse_unknown
from ipclab.lab.runs import choose, run_hint, show_hint
from ipclab.machine import Source, collect
from ipclab.machine.origin import elsewhere, processor
from ipclab.marks.drawn import Names
from ipclab.paths import Paths, checkout
from ipclab.session.alone import alone
from ipclab.session.asked_run import measured_before
from ipclab.session.progress import Progress
from ipclab.session.request import PARAMETERS, Request
from ipclab.session.session import measure_run
from ipclab.stats.quantity import Quantity
from ipclab.store.run import RunFolder
from ipclab.studies.interface import Sweep
from ipclab.studies.questions import usual_levels
from ipclab.tables import tabulation
from ipclab.words.catalogue import N_
from ipclab.words.filling import escaped
from ipclab.words.words import Words

# Of the parameters of study notebooks; the others are lists of words where the study knows such
# levels, else of whole numbers.
KINDS = {
    "run": "str",
    "lang": "str",
    "profile": "str",
    "measure": "bool",
    "backends": "list[str]",
    "placement": "list[str]",
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
    def open(
        cls,
        study: str = "",
        run: Any = "",
        lang: Any = "en",
        measure: Any = False,
        profile: Any = "quick",
        **sweep: Any,
    ) -> Self:
        """Open the run in folder (or bundle) `run` for readers of `lang`.

        When `run` is empty: the best run here that holds `study` (`ipclab.lab.runs.best`), without
        a study the newest full one; else the reference. With `measure`, what it lacks of the study
        is measured first; `sweep` names levels instead of the study's own: sizes (bytes), backends,
        entries, readers ...; an empty one means the study's own. Values may come from papermill's
        command line: "false" is meant as False, a scalar as a list of it. Raises `UsageError` for
        what cannot be meant, and what the measuring raises.
        """
        if study or measure or sweep:
            known = usual_levels(study)
            unknown = sorted(sweep.keys() - {*KINDS, *SWEPT, *known})
            if known and unknown:
                nearest = hint(unknown[0], [*SWEPT, *known])
                raise UsageError(f"{study} has no level {unknown[0]!r}", "", nearest)
            given = {"run": run, "lang": lang, "measure": measure, "profile": profile, **sweep}
            values = {}
            for name, value in given.items():
                kind = "list[str]" if known.get(name) else "list[int]"
                values[name] = Parameter(name, KINDS.get(name, kind), []).checked(value)
            run, lang, profile = (values.pop(name) for name in ("run", "lang", "profile"))
            if values.pop("measure"):
                sizes, backends = values.pop("sizes", []), values.pop("backends", [])
                run = str(cls.measured([study], profile, sizes, backends, values).run.path)
        refuse_unknown()
        lab = cls.of(choose(checkout(), run, study), checkout(), lang)
        lab = replace(lab, _variables=shell.namespace, study=study)
        if elsewhere(lab.run):  # is named before anything of it is shown
            date = Quantity(lab.run.about["begun"], "date")
            facts = {"processor": processor(lab.run), "machine": lab.run.machine, "date": date}
            said = lab.in_each(ORIGIN, **facts)
            shell.show(
                shell.Multilingual({lang: f"**{escaped(text)}**" for lang, text in said.items()})
            )
        show_hint(f"run {run_hint(lab.paths, lab.run, run, study)}", lab.run)
        return lab

    @classmethod
    def of(cls, run: RunFolder, paths: Paths, lang: str) -> Self:
        """Return `run` for readers of `lang`, without a notebook; `UsageError` for another one."""
        return cls(run, Words.load(lang), paths)

    @classmethod
    def measured(
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

        Empty levels mean each study's own; `run` is the folder of a run to continue, a negative
        `seed` is any. A notebook is executed again and again: what the same code has measured here
        for the same request is opened, not measured once more, unless a run or a seed is named.
        Raises `UsageError` for what cannot be measured, in the words of a notebook, and what
        `ipclab.session.session.measure_run` raises.
        """
        refuse_unknown()
        asked = {name: tuple(values) for name, values in (levels or {}).items() if len(values)}
        for name in asked:
            if name in PARAMETERS:
                raise UsageError(f"{name} is no factor", "", f"give {PARAMETERS[name]}= instead")
        request = Request(
            tuple(studies),
            profile,
            Path(run) if run else None,
            None if seed < 0 else seed,
            Sweep(tuple(sizes) or None, tuple(backends) or None, asked),
        )
        request.points_wanted()  # what is wrong is told before another session is waited for
        progress, paths = Progress(shown=True), checkout()
        with alone(progress.say):
            done: RunFolder | None = None
            if not run and seed < 0:
                done = measured_before(paths, request, collect(Source(paths=paths)))
            if done:
                same = "measured before, by the same code"
                progress.say(f"{same}; delete {done.path} to measure anew")
            else:
                done = measure_run(paths, request, progress)
        return Lab.open(run=str(done.path))

    @contextmanager
    def figure(
        self,
        name: str,
        title: str,
        *,
        alt: str = "",
        names: Names = (),
        size: tuple[float, float] = (7.0, 3.0),
        panels: "int | pd.Series[Any]" = 1,
        share: str = "",
    ) -> Iterator[Any]:
        """Give axes to draw into; the figure is then saved as SVG, PNG, PDF, and shown.

        `title`, `alt` (the title, where it is not given) and every label that is drawn are msgids:
        they are translated here, and placeholders filled like those of prose. So are `names`: what
        levels are called in this figure (in a list: what they are). `panels` is a number of axes
        side by side, or a column that `facets` has a panel for each level of; `share` names the
        axes that they share ("x", "y").

        >>> with lab.figure("payload-bandwidth", "How much moves in a second?", alt="...") as ax:
        ...     lines(bandwidth, x="size_bytes", hue="backend", ax=ax, log="xy")
        """
        from IPython.display import display

        from ipclab.lab import canvas  # what draws takes long to load

        np.random.seed(0)  # seaborn's jitter and bootstraps: drawn the same way each time
        columns = max(1, panels.nunique() if isinstance(panels, pd.Series) else panels)
        with canvas.blank(self, size, names) as drawn:
            (axes,) = drawn.subplots(
                1, columns, squeeze=False, sharex="x" in share, sharey="y" in share
            )
            yield axes[0] if isinstance(panels, int) and panels == 1 else axes
            display(canvas.finished(self, drawn, name, title, alt or title))  # type: ignore[no-untyped-call]

    table = tabulation.tabulated

    def __repr__(self) -> str:
        return f"<Lab {self.run.id} in {self.words.lang}: {', '.join(studies_measured(self.run))}>"
