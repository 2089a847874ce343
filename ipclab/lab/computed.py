"""A number of one's own: an expression in the language of rules, computed from a run."""

from dataclasses import replace

from ipclab.claims.expression import MOST_WORK, RuleError, Work
from ipclab.claims.published import texts
from ipclab.claims.rules import read_names, read_sum
from ipclab.errors import UsageError
from ipclab.frames.address import MissingError
from ipclab.lab.audit import Audit, one_value
from ipclab.lab.data import Data
from ipclab.stats.quantity import Quantity, missing


def compute(lab: Data, expression: str, study: str = "") -> Quantity:
    """Return what an expression in the language of rules gives (docs/claims.md); `study` lends its
    text's names.

    >>> compute(lab, "max(payload.handover[arm=handover,backend=*,placement=cross,size_bytes=84]) /
    1 us")
    """
    try:
        names = read_names(texts(lab.paths)[study].names) if study else {}
        fresh = replace(Audit(lab).sources[1], cached={}, work=Work(MOST_WORK))
        return one_value(read_sum(expression, names), fresh)
    except MissingError:
        return missing()
    except RuleError as error:
        raise UsageError(f"the expression {expression!r}", error.why, error.fix) from error
