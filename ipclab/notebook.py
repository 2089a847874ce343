"""What a notebook holds in its hand: a run, seen by readers of one language."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ipclab.calibration import facts as calibration
from ipclab.calibration.run import read as read_calibration
from ipclab.claims.audit import audited
from ipclab.claims.custom import read_claims
from ipclab.errors import UsageError
from ipclab.facts.derive import derived, read_derived
from ipclab.facts.fact import Fact
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
    def open(cls, run: str = "", lang: str = "en", claims: str = "") -> "Lab":
        """Open the run in folder `run` (the newest here when empty) for readers of `lang`; `%%prose` then works.

        `claims` is a TOML file of a person's own claims. Raises `UsageError` for a folder that is no run, a language
        that is not there, and claims that cannot be judged.
        """
        paths = checkout()
        lab = cls.of(choose(paths, run), paths, lang)
        if claims:
            own = read_claims(Path(claims), lab.view.facts)
            lab = replace(lab, view=replace(lab.view, claims=own))
        register(lab.view, lab.fill)
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
    def of(cls, run: RunFolder, paths: Paths, lang: str) -> "Lab":
        """Return what `run` holds for readers of `lang`, with no notebook; raises `UsageError` for another language."""
        if lang not in LANGUAGES:
            raise UsageError(f"no language {lang!r}", "", f"there are {', '.join(LANGUAGES)}")
        facts, rows, found = read_derived(derived(run, paths))
        facts = _completed(facts, run, paths)
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


def register(view: View, fill: Callable[[str], str]) -> None:
    """Make `%%prose` work in the notebook that calls, if one does: in the language of `view`, filled by `fill`."""
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    if shell is not None:
        magic.register(shell, view.catalogue.translate, fill)


def known_facts(run: RunFolder, paths: Paths) -> dict[str, Fact]:
    """Return every fact that the prose and the rules of a run's reports may name."""
    return _completed(read_derived(derived(run, paths))[0], run, paths)


def _completed(facts: dict[str, Fact], run: RunFolder, paths: Paths) -> dict[str, Fact]:
    """Return a run's facts with those of the machine's calibration, the published texts, and their audit."""
    calibrated = calibration.facts(read_calibration(run.path.parent / calibration.FILE))
    facts = facts | {fact.name: fact for fact in calibrated}
    return facts | audited(facts, paths)


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
