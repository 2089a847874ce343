"""What the page of many machines holds that no single run has: a lab of them all, and its notice."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
from IPython.display import Markdown

from ipclab.lab import shell
from ipclab.lab.lab import Lab
from ipclab.lab.voices import for_all_readers
from ipclab.paths import checkout
from ipclab.prose import magic
from ipclab.prose.teller import Teller
from ipclab.report.lab import ReportLab
from ipclab.report.notebooks.parameters import refuse_unknown
from ipclab.store.run import RunFolder
from ipclab.words.catalogue import N_
from ipclab_more.gather.index import Index
from ipclab_more.gather.trips import beaten_trips

MOST_TOLD = 3  # trips that a notice names


def run_of_many(trips: Index) -> RunFolder:
    """Return what stands for a run where there are many: the newest one's date, and no point."""
    newest = trips.whole.sort_values("begun", kind="stable").iloc[-1]
    parameters = {"profile": newest.profile}
    about = {"begun": newest.begun, "parameters": parameters, "files": {}, "points": {}}
    return RunFolder(Path(), about)


def reader(trips: Index, lang: str) -> ReportLab:
    """Return the lab of many runs for readers of `lang`, and make `%%prose` work."""
    lab = ReportLab.of(run_of_many(trips), checkout(), lang)
    lab = replace(lab, _names=shell.namespace)
    refuse_unknown()
    magic.register_prose(*Teller.of(lab))
    return lab


@for_all_readers
def beaten_notice(lab: Lab, rows: pd.DataFrame) -> Markdown | None:
    """Return what the first page must say of trips that are faster than their limit."""
    said = N_(
        "{count} round trips are faster than the hardware limit that they are read against: {which}."
        " What was beaten is no limit; do not rely on “× limit” of these."
    )
    faster = beaten_trips(rows).sort_values("over_limit", kind="stable")
    if faster.empty:
        return None
    named = []
    for row in faster.head(MOST_TOLD).itertuples():
        name = lab.say("{file}: {backend}", file=row.file, backend=row.backend)
        named.append(name)
    which = lab.words.joined(named, "; ")
    return Markdown(f"**{lab.say(said, count=len(faster), which=which)}**")  # type: ignore[no-untyped-call]
