"""What a question in prose gives: arithmetic with variables of the notebook and with addresses."""

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from ipclab.claims.amounts import RuleError
from ipclab.prose import language
from ipclab.prose.language import Operator, Reader
from ipclab.stats.quantity import Quantity
from ipclab.words.filling import nearest_name

FUNCTIONS: Mapping[str, Callable[..., Any]] = {"len": len, "max": max, "min": min}
COMPARED: Mapping[type[ast.cmpop], Operator] = {
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
FIX = "ask for arithmetic with values of the notebook"


def computed(expression: str, names: Mapping[str, Any], lookup: Callable[[str], Any]) -> Any:
    """Return what an expression gives; a variable may have parts (`gain.low`, `gain['base']`).

    Raises `RuleError` for what is no arithmetic, and what the values raise.
    """
    reader = Reader(lookup, _amount, partial(_named, names), _joined, _called, _other)
    return language.read_expression(expression, reader)


def _amount(amount: Quantity) -> Any:
    is_plain = amount.unit in ("1", "share", "points")
    return amount.value if is_plain else Quantity(amount.value, amount.unit, kind="computed")


def _named(names: Mapping[str, Any], name: str) -> Any:
    if name not in names:
        raise RuleError(f"no value is named {name!r}", nearest_name(name, names))
    return names[name]


def _joined(combine: Operator, one: Any, other: Any) -> Any:
    return combine(one, other)


def _called(name: str, parts: Sequence[ast.expr], read: Callable[[ast.expr], Any]) -> Any:
    if name not in FUNCTIONS:
        raise RuleError(f"no function {name!r}", f"there are {', '.join(FUNCTIONS)}")
    return FUNCTIONS[name](*map(read, parts))


def _other(node: ast.expr, read: Callable[[ast.expr], Any]) -> Any:
    match node:
        case ast.Tuple(elts=parts):
            return tuple(map(read, parts))
        case ast.UnaryOp(op=ast.USub(), operand=part):
            return -1 * read(part)
        case ast.Constant(value=str(text)):
            return text
        case ast.Subscript(value=whole, slice=key):
            place = read(key)
            return read(whole)[int(place) if isinstance(place, float) else place]
        case ast.Attribute(value=whole, attr=name) if not name.startswith("_"):
            return getattr(read(whole), name)
        case ast.Compare(left=one, ops=[op], comparators=[two]) if type(op) in COMPARED:
            return COMPARED[type(op)](read(one), read(two))
    raise RuleError("it holds more than arithmetic", FIX)
