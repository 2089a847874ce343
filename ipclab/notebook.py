"""What a notebook holds in its hand: a run, seen by readers of one language."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ipclab.calibration import facts as calibration
from ipclab.calibration.run import read as read_calibration
from ipclab.claims.published import texts
from ipclab.errors import UsageError
from ipclab.facts.derive import derived, read_derived
from ipclab.figures import registry as figures
from ipclab.paths import Paths, checkout
from ipclab.report import magic, prose
from ipclab.report.catalogue import LANGUAGES, Catalogue
from ipclab.report.figure import Figure
from ipclab.report.numbers import Formatter
from ipclab.report.table import Table
from ipclab.runs import folder
from ipclab.runs.folder import RunFolder
from ipclab.tables import registry as tables
from ipclab.view import View

FIGURES = "IPCLAB_FIGURES"  # set while a report is made: where its figures go


@dataclass(frozen=True)
class Lab:
    """Figures, tables and prose of one run."""

    run: RunFolder
    view: View

    @classmethod
    def open(cls, run: str = "", lang: str = "en") -> "Lab":
        """Open the run in folder `run` (the newest here when empty) for readers of `lang`; `%%prose` then works.

        Raises `UsageError` for a folder that is no run and a language that is not there.
        """
        paths = checkout()
        lab = cls._of(choose(paths, run), paths, lang)
        lab._register()
        return lab

    @classmethod
    def measure(  # what a person varies in a notebook is named here one by one
        cls, study: str, profile: str, sizes: Sequence[int] = (), backends: Sequence[str] = (), lang: str = "en"
    ) -> "Lab":
        """Measure `study` on this machine, points that are on disk excepted, and open the run.

        Empty `sizes` (bytes) and `backends` mean the study's own. Raises what `ipclab.measuring.measure` raises.
        """
        from ipclab.measuring import Request, measure
        from ipclab.runner.progress import Bar
        from ipclab.studies.interface import Sweep

        sweep = Sweep(tuple(sizes) or None, tuple(backends) or None)
        run = measure(checkout(), Request((study,), profile, sweep=sweep), Bar())
        return cls.open(str(run.path), lang)

    @classmethod
    def _of(cls, run: RunFolder, paths: Paths, lang: str) -> "Lab":
        if lang not in LANGUAGES:
            raise UsageError(f"no language {lang!r}", "", f"there are {', '.join(LANGUAGES)}")
        facts, rows, found = read_derived(derived(run, paths))
        facts |= {fact.name: fact for fact in calibration.facts(read_calibration(run.path.parent / calibration.FILE))}
        facts |= {f"text.{name}": fact for name, fact in texts(paths).items()}
        words = Catalogue.load(lang, paths.locale)
        about = {**run.about, "id": run.id}
        return cls(run, View(lang, about, facts, rows, words, Formatter(lang, words.translate), run.path, found))

    def figure(self, name: str) -> Figure:
        """Return the figure `name`."""
        where = os.environ.get(FIGURES)
        return figures.draw(self.view, name, Path(where) if where else None)

    def table(self, name: str) -> Table:
        """Return the table `name`."""
        return tables.make(self.view, name)

    def fill(self, text: str) -> str:
        """Return Markdown with its placeholders filled with this run's facts."""
        return prose.fill(text, self.view.facts, self.view.numbers)

    def _register(self) -> None:
        from IPython.core.getipython import get_ipython

        shell = get_ipython()
        if shell is not None:
            magic.register(shell, self.view.catalogue.translate, self.fill)


def choose(paths: Paths, run: str) -> RunFolder:
    """Return the run in folder `run`; when empty the newest finished one made here, else the reference run.

    Raises `UsageError` when there is none.
    """
    if run:
        path = Path(run)
        return folder.read(path if path.is_absolute() or path.is_dir() else paths.root / path)
    found = folder.newest(paths.runs, lambda run: run.finished) or folder.newest(
        paths.reference.parent, lambda run: run.path.parent == paths.reference.resolve()
    )
    if found is None:
        raise UsageError("there is no run yet", "", "measure one: make measure")
    return found
