"""The numbers of a run that claims are judged by: its frames are read here, and what was judged is
kept for readers of any language.
"""

from collections.abc import Iterable
from functools import partial
from pathlib import Path

from ipclab.bounds.points import cut_points
from ipclab.claims.amounts import RuleError
from ipclab.claims.claim import Claim
from ipclab.claims.comparison import Bounds, Rule
from ipclab.claims.numbers import Numbers, only
from ipclab.claims.published import TEXTS, table_of
from ipclab.claims.verdicts import Verdicts, judge_all, run_constants
from ipclab.errors import LabError, UsageError
from ipclab.frames.address import Address, MissingError
from ipclab.frames.derived import stamps
from ipclab.frames.ratios import Ratios
from ipclab.frames.remembered import remembered
from ipclab.frames.rows import quantity
from ipclab.lab.data import Data
from ipclab.paths import Paths
from ipclab.stats.quantity import Quantity, missing
from ipclab.store.run import RunFolder, read_run

LIMITS = "limits"
NO_BOUNDS = Bounds.read("at_least 0")
Judged = tuple[tuple[Claim, Verdicts], ...]


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


def judged(run: RunFolder, paths: Paths, study: str) -> Judged:
    """Return the claims of a study's text with their verdicts on a run."""
    return _judged(run.path, paths, study, stamps(run))


def of_text(run: RunFolder, study: str) -> Numbers:
    """Return the numbers of a run that the claims of a study's text look up, each once."""
    return _of_text(run.path, study, stamps(run))


@remembered
def _judged(folder: Path, paths: Paths, study: str, of_run: str) -> Judged:
    table, run = table_of(paths, study), _of_text(folder, study, of_run)
    return tuple((claim, judge_all(claim, table, run)) for claim in TEXTS[study].claims)


@remembered
def _of_text(folder: Path, study: str, _stamps: str) -> Numbers:
    return numbers_of(read_run(folder), (study, LIMITS))


def compute(lab: Data, expression: str) -> Quantity:
    """Return what stands at an address of the run, or the ratio of two (docs/claims.md).

    Raises `UsageError` for what is none, `LabError` where it names several values.

    >>> compute(lab, "payload.write[arm=published,size_bytes=max] / payload.read[arm=published,size_bytes=max]")
    """
    try:
        rule = Rule.of(expression, NO_BOUNDS)
        values = [*rule.compared(numbers_at(lab.run, rule.addresses))]
    except MissingError:
        return missing()
    except RuleError as error:
        raise UsageError(f"the expression {expression!r}", error.why, error.fix) from error
    if len(values) > 1:
        raise LabError(f"an expression gives {len(values)} values", "one is asked for")
    return only(values)
