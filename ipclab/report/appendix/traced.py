"""From what is signed and judged to the files of samples that it follows from."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePath

import pandas as pd

from ipclab.claims import computed
from ipclab.claims.audit import NOTES, audited, with_sections
from ipclab.claims.claim import NOT_TESTABLE
from ipclab.frames.ratios import Row
from ipclab.lab.data import Data
from ipclab.lab.lab import Lab
from ipclab.stats.quantity import Quantity
from ipclab.words.catalogue import N_
from ipclab.words.words import DASH

DIGEST = 12  # letters of a SHA-256 that are printed
UNTESTED = N_("Not testable here: {claims} ({reason}).")
COLUMNS = ["file", "digest", "quantities", "claims"]


def judged(lab: Lab, study: str) -> tuple[pd.DataFrame, list[str]]:
    """Return each claim of a text that this run tests with its two verdicts, decided ones first.

    Columns: id, claim (with its section), rule, here, fair. Beside it what is to be noted: of bounds
    and intervals, and for each reason why others cannot be tested.
    """
    every = audited(lab, study).sort_values("decided", ascending=False, kind="stable")
    tested = (every.here != NOT_TESTABLE) | (every.fair != NOT_TESTABLE)
    claims = every[tested]
    others = [
        lab.say(UNTESTED, claims=lab.words.joined(ids), reason=reason)
        for reason, ids in every[~tested].groupby("here_reason", sort=False).id
    ]
    fair = claims.fair_told.where(claims.fairly, lab.say(N_("as published")))
    columns = {"id": claims.id, "claim": with_sections(lab, claims), "rule": claims.bounds}
    return pd.DataFrame(columns | {"here": claims.here_told, "fair": fair}), [*NOTES, *others]


def traced(lab: Data, study: str, values: Mapping[str, Quantity]) -> pd.DataFrame:
    """Return a row for each file of samples behind `values`, or behind a claim on `study`'s text.

    `values` are by their numbers in the document. Columns: `COLUMNS`.
    """
    quantities = {name: value.sources for name, value in values.items() if value}
    rows = [(file, name, "") for name, sources in quantities.items() for file in _files(sources)]
    for claim, verdicts in computed.claims_judged(lab.run, lab.paths, study):
        for verdict in (verdicts.here, verdicts.fair):  # by either method
            if verdict.deciding is not None:
                rows += [(file, "", claim.id) for file in _files(verdict.deciding.sources)]
    behind = pd.DataFrame(rows, columns=["path", "quantities", "claims"])

    def joined(names: "pd.Series[str]") -> str:
        return lab.words.joined(filter(None, names.unique()))

    table = behind.groupby("path", sort=False, as_index=False).agg(joined)
    digests = [lab.run.about["files"].get(path, DASH)[:DIGEST] for path in table.path]
    return table.assign(file=table.path.map(lambda path: PurePath(path).stem), digest=digests)[
        COLUMNS
    ]


def _files(sources: Iterable[str]) -> Iterator[str]:
    for source in sources:
        row = Row(*source.split("/"))
        yield f"points/{row.study}/{row.point}.parquet"
