"""The numbers of a run that claims are judged by: its frames are read here, and what was judged is
kept for readers of any language.
"""

from collections.abc import Iterable
from functools import partial
from pathlib import Path

from ipclab.bounds.points import cut_points
from ipclab.claims.claim import Claim
from ipclab.claims.numbers import Numbers
from ipclab.claims.published import TEXTS, table_of
from ipclab.claims.verdicts import Verdicts, judge_all, run_constants
from ipclab.frames.address import Address
from ipclab.frames.derived import run_digest
from ipclab.frames.ratios import Ratios
from ipclab.frames.remembered import remembered
from ipclab.frames.rows import quantity
from ipclab.paths import Paths
from ipclab.store.run import RunFolder, read_run

LIMITS = "limits"
JudgedClaims = tuple[tuple[Claim, Verdicts], ...]


def numbers_of(run: RunFolder, studies: Iterable[str]) -> Numbers:
    """Return the numbers of a run, of the first of `studies` where none is named.

    Raises `UsageError` for an unknown study.
    """
    names = [*dict.fromkeys(studies)]
    frames = {study: cut_points(run, study) for study in names}
    value = partial(quantity, run=Ratios(run))
    return Numbers(names[0], frames, run_constants(run.about), value=value)


def numbers_at(run: RunFolder, addresses: Iterable[Address]) -> Numbers:
    """Return the numbers of the studies of some addresses."""
    return numbers_of(run, (address.study for address in addresses))


def claims_judged(run: RunFolder, paths: Paths, study: str) -> JudgedClaims:
    """Return the claims of a study's text with their verdicts on a run."""
    return _judged(run.path, paths, study, run_digest(run))


def of_text(run: RunFolder, study: str) -> Numbers:
    """Return the numbers of a run that the claims of a study's text look up, each once."""
    return _of_text(run.path, study, run_digest(run))


@remembered
def _judged(folder: Path, paths: Paths, study: str, of_run: str) -> JudgedClaims:
    table, run = table_of(paths, study), _of_text(folder, study, of_run)
    return tuple((claim, judge_all(claim, table, run)) for claim in TEXTS[study].claims)


@remembered
def _of_text(folder: Path, study: str, _digest: str) -> Numbers:
    return numbers_of(read_run(folder), (study, LIMITS))
