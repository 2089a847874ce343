"""The lab: what a notebook holds in its hand. A run, seen by readers of one language."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd

from ipclab.errors import UsageError
from ipclab.frames.derived import studies_measured
from ipclab.lab import shell
from ipclab.lab.notes import Notes
from ipclab.lab.parameters import refuse_unknown
from ipclab.lab.runs import choose
from ipclab.machine.origin import elsewhere, processor
from ipclab.marks.drawn import Names
from ipclab.paths import Paths, checkout
from ipclab.plugins import offered
from ipclab.session.swept import sweep
from ipclab.stats.quantity import Quantity
from ipclab.store.run import RunFolder
from ipclab.tables import tabulation
from ipclab.words.catalogue import N_
from ipclab.words.filling import escaped
from ipclab.words.words import Words

REPORTING = "keep", "over", "published", "quoted"  # what a lab has where ipclab-report is installed
ORIGIN = N_("Not measured here, but on {processor} (machine {machine}) on {date}.")


@dataclass(frozen=True, repr=False)
class Lab(Notes):
    """Frames, figures, tables and prose of one run, in the language of the reader.

    >>> lab = ipclab.open("payload", lang="ko")  # the newest run that holds the study
    >>> writes = lab.points(op="write", metric="p50", arm="mapping")  # a pandas frame
    >>> with lab.figure("writes", "Where does the time go?", alt="...") as ax:
    ...     ipclab.lines(writes, x="size_bytes", hue="mapping", ax=ax, log="xy")
    >>> wide = lab.cells(writes).pivot(index="size_bytes", columns="mapping", values="cell")
    >>> lab.table(wide, "One write")
    >>> kept = lab.value(writes, mapping="kept", size_bytes=84)
    >>> gain = lab.value(writes, mapping="reopened", size_bytes=84) / kept
    >>> lab.text("A mapping that is kept gains {gain:x,interval}.", gain=gain)
    """

    @classmethod
    def open(cls, run: str = "", lang: str = "en", study: str = "") -> Self:
        """Open the run in folder (or bundle) `run` for readers of `lang`.

        When `run` is empty: the newest run here that holds `study`, or the newest full one; else
        the reference. Raises `UsageError` for a folder that is no run, and a language that is not
        there.
        """
        refuse_unknown()
        lab = cls.of(choose(checkout(), run, study), checkout(), lang)
        lab = replace(lab, _names=shell.namespace, study=study)
        shell.register()
        lab._say_origin()
        return lab

    @classmethod
    def begin(  # the parameters of a study's notebook
        cls,
        study: str,
        run: str = "",
        lang: str = "en",
        measure: bool = False,
        profile: str = "quick",
        **sweep: Any,
    ) -> Self:
        """Open a run that holds `study`; with `measure`, measure first what it lacks of it.

        `sweep` names levels to measure instead of the study's own: sizes (bytes), backends,
        entries, readers ...; an empty one means the study's own. Raises what the measuring raises.
        """
        if not measure:
            return cls.open(run, lang, study)
        sizes = sweep.pop("sizes", [])
        backends = sweep.pop("backends", [])
        swept = cls.sweep([study], profile, sizes, backends, sweep)
        return cls.open(str(swept.run.path), lang, study)

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
        return kind().open(str(swept.path))

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

    def __getattr__(self, name: str) -> Any:
        if name in REPORTING:
            why = "it comes with ipclab-report, which is not installed"
            raise UsageError(f"no lab.{name}", why, "pip install ipclab-report")
        raise AttributeError(f"a lab has no {name!r}")

    def __repr__(self) -> str:
        return f"<Lab {self.run.id} in {self.words.lang}: {', '.join(studies_measured(self.run))}>"


def kind() -> type[Lab]:
    """Return what a notebook holds: with prose, claims and quotations where ipclab-report is."""
    return offered("lab", Lab)


def open(
    study: str = "",
    run: str = "",
    lang: str = "en",
    measure: bool = False,
    profile: str = "quick",
    **more: Any,
) -> Lab:
    """Open a run for readers of `lang`: a notebook's first call.

    Without `run` it is the newest here that holds `study`, else the committed reference. `measure`,
    `profile` and the levels in `more` are those of `Lab.begin`; without a study `more` may be
    `claims`, a TOML file of your own claims.

    >>> lab = ipclab.open("payload", measure=True, sizes=[100, 10_000])
    """
    if study:
        return kind().begin(study, run, lang, measure, profile, **more)
    return kind().open(run, lang, **more)


def measure(study: str, **sweep: Any) -> Lab:
    """Measure `study` here, except points that are on disk, and open the run.

    >>> lab = ipclab.measure("round_trip", sizes=[100], backends=["unix", "tcp"], profile="smoke")
    """
    return kind().begin(study, measure=True, **sweep)
