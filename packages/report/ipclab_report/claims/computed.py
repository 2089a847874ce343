"""Numbers in the language of rules, out of the texts' tables and the run's frames."""

from dataclasses import replace
from functools import partial

from ipclab.errors import LabError, UsageError
from ipclab.frames import derived
from ipclab.frames.ratios import Ratios
from ipclab.frames.rows import quantity
from ipclab.lab.data import Data
from ipclab.stats.quantity import Quantity, missing
from ipclab_report.address import MissingError
from ipclab_report.claims.claim import run_constants
from ipclab_report.claims.expression import Term
from ipclab_report.claims.published import worded
from ipclab_report.claims.rules import read_sum
from ipclab_report.claims.values import MOST_WORK, ValueSource, Work
from ipclab_report.prose.language import RuleError
from ipclab_report.prose.units import KINDS


def values_of(lab: Data) -> tuple[ValueSource, ValueSource]:
    """Return where rules look up values: the texts' tables, and the run's frames."""
    table = partial(worded, lab.paths)
    run = ValueSource(
        lambda study: derived.read_frame(lab.run, study, "points"),
        table,
        run_constants(lab.run.about),
        value=partial(quantity, run=Ratios(lab.run)),
    )
    return ValueSource(table, table, loose=True), run


def compute(lab: Data, expression: str) -> Quantity:
    """Return what an expression in the language of rules gives (docs/claims.md).

    >>> every = "payload.handover[arm=handover,backend=*,placement=cross,size_bytes=84]"
    >>> compute(lab, f"max({every}) / 1 us")
    """
    try:
        run = replace(values_of(lab)[1], work=Work(MOST_WORK))
        return one_value(read_sum(expression), run)
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
