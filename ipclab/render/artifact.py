"""ARTIFACT.md, how each claim is judged again, as `make artifact` writes it.

For each claim: the command, its minutes, where its table and figure stand, and what the committed
run says to expect.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ipclab.frames import derived
from ipclab.lab.audit import claims
from ipclab.lab.data import Data
from ipclab.lab.lab import lab_of
from ipclab.lab.table import Column, Table
from ipclab.paths import Paths, checkout
from ipclab.store.bundle import opened
from ipclab.store.files import write_whole

NAME = "ARTIFACT.md"
HEADS = ("Claim", "Section", "It says", "Expected here", "Expected by the fair method")
TABLE = "claims"  # in the name of a study's table of claims
_FIGURE = re.compile(r"lab\.figure\(\s*(?:\\n\",\s*\")?\s*\\?\"([\w-]+)")
INTRODUCTION = """# What was claimed, and how to see it again

Made from the claims and the committed reference run by `make artifact`; do not edit it. `make setup` sets the
environment up (about a minute), `make report RUN=data/reference.ipclab` renders what was measured, without measuring.
Minutes are those of the committed run ({processor}, profile {profile}), shared among its studies by their launches; a
quick run (`--profile quick`) takes less and decides less. Ratios and verdicts are to be expected again, times are not:
they are of that machine.
"""
STUDY = """
## {title}

- Measure: `ipclab measure --study {study} --profile {profile}`, about {minutes} min;
  then `make report RUN=<its folder>`
- Table: [{table}](reports/en/{page}.html#{table}) in `reports/<language>/{page}.html`
- Figure: [{figure}](reports/en/{page}.html#{figure}) there, and as `figures/{figure}.en.svg`
"""


def made(paths: Paths) -> str:
    """Return the text of the file, from the claims as the committed run has them."""
    run = opened(paths, paths.reference)
    lab = lab_of(run, paths, "en")
    judged = claims(lab)
    shares = _shares(lab)
    processor = run.facts.get("cpu_model")
    parts = [INTRODUCTION.format(processor=processor, profile=run.profile)]
    for study, rows in judged.groupby("study", sort=False):
        (page,) = paths.notebooks.glob(f"0?_{study}.ipynb")
        section = STUDY.format(
            title=rows.title.iloc[0],
            study=study,
            profile=run.profile,
            minutes=max(1, round(_minutes(run.about["sessions"]) * shares[str(study)])),
            page=page.stem,
            table=f"{str(study).replace('_', '-')}-{TABLE}",
            figure=_FIGURE.findall(page.read_text("utf-8"))[0],
        )
        parts += [section, _table(rows)]
    return "\n".join(parts)


def write(paths: Paths) -> Path:
    """Write the file at the checkout's root and return it."""
    file = paths.root / NAME
    write_whole(file, made(paths).encode())
    return file


def _table(claims: pd.DataFrame) -> str:
    fair = claims.fair_told.where(claims.fairly, "as published")
    shown = claims[["id", "section", "meaning", "here_told"]].assign(fair=fair).astype(str)
    rows = shown.replace("\n", " ", regex=True).values.tolist()
    return Table("", [*map(Column, HEADS)], rows).to_markdown()


def _shares(lab: Data) -> "pd.Series[float]":
    """Return the share of the run's launches that each study took."""
    counts = {}
    for study in derived.measured(lab.run):
        counts[study] = lab.launches(study).groupby(["point", "launch"]).ngroups
    launches = pd.Series(counts)
    return launches / launches.sum()


def _minutes(sessions: Sequence[dict[str, Any]]) -> float:
    """Return the minutes that the sessions of a run took together."""
    times = pd.DataFrame(sessions)[["begun", "ended"]].apply(pd.to_datetime)
    return float((times.ended - times.begun).sum().total_seconds() / 60)


if __name__ == "__main__":
    print(write(checkout()))
