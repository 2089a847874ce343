"""What the machines notebook holds in its hand: several runs, compared, for readers of one language."""

import csv
import io
import os
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from ipclab.errors import UsageError
from ipclab.facts.derive import derived, read_derived, read_launches
from ipclab.figures import machines as figures
from ipclab.figures.registry import draw
from ipclab.machines.compared import Compared, compare
from ipclab.machines.export import COLUMNS, lines
from ipclab.machines.facts import facts as named
from ipclab.machines.shared import RunData
from ipclab.machines.view import MachinesView
from ipclab.notebook import FIGURES, Lab, register
from ipclab.paths import Paths, checkout
from ipclab.report import prose
from ipclab.report.figure import Figure
from ipclab.report.table import Table
from ipclab.runs import folder
from ipclab.runs.folder import RunFolder
from ipclab.tables import machines as tables
from ipclab.tables.registry import make


@dataclass(frozen=True)
class Machines:
    """Figures, tables and prose of a comparison of runs."""

    runs: list[RunFolder]
    view: MachinesView

    @classmethod
    def open(cls, runs: Sequence[str] = (), lang: str = "en") -> "Machines":
        """Compare the runs in folders `runs`, the first with each other one; `%%prose` then works.

        When empty: the reference run with the newest made here, or with the committed one of another machine. Raises
        `UsageError` for fewer than two, a folder that is no run and a language that is not there.
        """
        paths = checkout()
        chosen = choose(paths, runs)
        base = Lab.of(chosen[0], paths, lang).view
        compared = compare([data(run, paths) for run in chosen])
        known = {**base.facts, **{fact.name: fact for fact in named(compared)}}
        parts = {field.name: getattr(base, field.name) for field in fields(base)} | {"facts": known}
        view = MachinesView(**parts, compared=compared)
        lab = cls(chosen, view)
        register(view, lab.fill)
        return lab

    def figure(self, name: str) -> Figure:
        """Return the figure `name`."""
        where = os.environ.get(FIGURES)
        return draw(self.view, name, Path(where) if where else None, figures.DRAWINGS)

    def table(self, name: str) -> Table:
        """Return the table `name`."""
        return make(self.view, name, tables.TABLES)

    def fill(self, text: str) -> str:
        """Return Markdown with its placeholders filled with the comparison's facts."""
        return prose.fill(text, self.view.facts, self.view.numbers)


def choose(paths: Paths, runs: Sequence[str]) -> list[RunFolder]:
    """Return the runs in folders `runs`; when empty the committed reference run and the newest made here.

    Where none was made here, the committed run of another machine takes its place.
    """
    if runs:
        return [
            folder.read(path if path.is_absolute() or path.is_dir() else paths.root / path) for path in map(Path, runs)
        ]
    here = folder.newest(paths.runs, lambda run: run.finished)
    reference, other = (
        folder.newest(top.parent, lambda run, top=top: run.path.parent == top.resolve())  # type: ignore[misc]
        for top in (paths.reference, paths.compared)
    )
    found = [run for run in (reference, here or other) if run]
    if len(found) < 2:  # noqa: PLR2004
        raise UsageError(
            "there are no two runs to compare", "", "measure one (make measure) or import one, and name both"
        )
    return found


def data(run: RunFolder, paths: Paths) -> RunData:
    """Return what a comparison needs of a run, derived by today's code."""
    where = derived(run, paths)
    _, rows, _ = read_derived(where)
    return RunData({**run.about, "id": run.id}, rows, read_launches(where))


def table_of(compared: Compared) -> str:
    """Return every point of a comparison as CSV."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(lines(compared))
    return text.getvalue()
