"""Numbers in the language of rules, out of the texts' tables and the run's frames."""

from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path

from ipclab.claims.claim import run_constants
from ipclab.claims.expression import Term
from ipclab.claims.published import worded
from ipclab.claims.rules import read_sum
from ipclab.claims.values import MOST_WORK, ValueSource, Work
from ipclab.errors import LabError, UsageError
from ipclab.frames import derived
from ipclab.frames.address import MissingError, unknown_level
from ipclab.frames.ratios import Ratios
from ipclab.frames.rows import quantity
from ipclab.frames.run_stamps import stamps
from ipclab.lab.data import Data
from ipclab.lab.factors import words_asked
from ipclab.paths import Paths
from ipclab.prose.language import RuleError
from ipclab.prose.units import KINDS
from ipclab.stats.quantity import Quantity, missing
from ipclab.store.run import RunFolder, read_run


def values_of(lab: Data) -> tuple[ValueSource, ValueSource]:
    """Return where rules look up values: the texts' tables, and the run's frames."""
    return _values(lab.run, lab.paths)


def kept_values(lab: Data) -> tuple[ValueSource, ValueSource]:
    """Return what `values_of` does, with what was looked up before, for readers of any language."""
    return _kept(lab.run.path, lab.paths, stamps(lab.run))


# The stamps are asked for with the folder, so that what was read goes when the run's files change.
@lru_cache(maxsize=2)
def _kept(folder: Path, paths: Paths, _stamps: str) -> tuple[ValueSource, ValueSource]:
    return _values(read_run(folder), paths)


def _values(run: RunFolder, paths: Paths) -> tuple[ValueSource, ValueSource]:
    table = partial(worded, paths)
    measured = ValueSource(
        lambda study: derived.read_frame(run, study, "points"),
        table,
        run_constants(run.about),
        value=partial(quantity, run=Ratios(run)),
        words=partial(words_asked, run.questions),
    )
    return ValueSource(table, table, loose=True), measured


def compute(lab: Data, expression: str) -> Quantity:
    """Return what an expression in the language of rules gives (docs/claims.md).

    >>> every = "payload.handover[arm=handover,backend=*,placement=cross,size_bytes=84]"
    >>> compute(lab, f"max({every}) / 1 us")
    """
    try:
        run = replace(values_of(lab)[1], work=Work(MOST_WORK))
        term = read_sum(expression)
        for address in term.addresses:
            if problem := unknown_level(address, run.frame(address), run.words):
                raise UsageError(f"{address}: {problem[0]}", "", problem[1])
        return one_value(term, run)
    except MissingError:
        return missing()
    except RuleError as error:
        raise UsageError(f"the expression {expression!r}", error.why, error.fix) from error


def one_value(term: Term, source: ValueSource) -> Quantity:
    """Return what `term` gives in `source`; raises `LabError` when that are several values."""
    given = term(source)
    kind = KINDS.get(given.dimension)
    value, *more = given.shown(kind.shown if kind else "1")
    if more:
        what = f"an expression gives {1 + len(more)} values"
        raise LabError(what, "one is asked for", "take min(...) or max(...) of them")
    return value
