"""The one language of expressions: of claims, of requirements, and of questions in prose.

It has addresses of values, amounts with a unit, names, `+ - * /`, brackets and calls. Python only
parses an expression; what each part gives is said by a `Reader`, and nothing is executed.
"""

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite
from operator import add, mul, sub, truediv
from typing import Any, Generic, TypeVar

from ipclab.frames.address import PATTERN
from ipclab.prose.units import COMMON, KINDS, UNITS
from ipclab.stats.quantity import Quantity
from ipclab.words.filling import PLACEHOLDER

T = TypeVar("T")
Operator = Callable[[Any, Any], Any]
OPERATORS: dict[type[ast.operator], Operator] = {
    ast.Add: add,
    ast.Sub: sub,
    ast.Mult: mul,
    ast.Div: truediv,
}
LONGEST = 1500  # characters
_WRITTEN = [unit for unit in UNITS if unit not in ("1", "share", "points", "count")]
_PLAIN = {"%": "share", "%p": "points"}  # a share, and the difference of two
_UNIT = "|".join(re.escape(unit) for unit in sorted(_WRITTEN, key=len, reverse=True))
_NUMBER = r"[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_AMOUNT = re.compile(rf"(?P<minus>-)?\s*(?P<number>{_NUMBER})(?:\s*(?P<unit>{_UNIT}))?")
_LEAF = re.compile(
    rf"""(?P<quoted>'[^']*'|"[^"]*")|(?P<address>{PATTERN})"""
    rf"|(?<![\w.])(?P<amount>{_NUMBER}(?:\s*(?:{_UNIT})(?![\w/]))?)"
)
FIX = "use addresses, numbers, + - * / and brackets"


class RuleError(ValueError):
    """An expression that cannot be read: why, and the fix; `name` is what it stands under."""

    def __init__(self, why: str, fix: str = "", name: str = "") -> None:
        super().__init__(why, fix)
        self.why = why
        self.fix = fix
        self.name = name


def refused(_node: ast.expr, _read: Callable[[ast.expr], Any]) -> Any:
    """Raise `RuleError`: the expression holds more than arithmetic."""
    raise RuleError("it holds more than sums can", FIX)


@dataclass(frozen=True)
class Reader(Generic[T]):
    """What the parts of an expression give; all raise `RuleError` for what they do not know.

    `address` and `name` take words, `amount` a quantity in SI units, `joined` an operator with what
    both sides gave. `called` takes a function's name and its parts, `other` any other part; both
    read parts by what they are given.
    """

    address: Callable[[str], T]
    amount: Callable[[Quantity], T]
    name: Callable[[str], T]
    joined: Callable[[Operator, T, T], T]
    called: Callable[[str, Sequence[ast.expr], Callable[[ast.expr], T]], T]
    other: Callable[[ast.expr, Callable[[ast.expr], T]], T] = refused


def read_expression(text: str, reader: Reader[T]) -> T:
    """Return what the reader makes of an expression; raises `RuleError` for what is none."""
    if len(text) > LONGEST:
        raise RuleError(f"it has {len(text)} characters", f"at most {LONGEST}")
    leaves = dict[str, T]()

    def leaf(match: re.Match[str]) -> str:
        if match["quoted"]:
            return match[0]
        key = f"_{len(leaves)}"
        address = match["address"]
        leaves[key] = reader.address(address) if address else reader.amount(amount(match["amount"]))
        return f" {key} "

    def walk(node: ast.expr) -> T:
        match node:
            case ast.Name(id=name):
                return leaves[name] if name in leaves else reader.name(name)
            case ast.BinOp(left, op, right) if type(op) in OPERATORS:
                return reader.joined(OPERATORS[type(op)], walk(left), walk(right))
            case ast.Call(ast.Name(id=name), [_, *_] as parts, []):
                return reader.called(name, parts, walk)
        return reader.other(node, walk)

    plain = " ".join(_LEAF.sub(leaf, text).split())
    try:
        return walk(ast.parse(plain, mode="eval").body)
    except RuleError:
        raise
    except (SyntaxError, RecursionError, MemoryError) as error:
        why = error.msg if isinstance(error, SyntaxError) else "it nests too deeply"
        raise RuleError(f"it cannot be read: {why}", FIX) from error


def names_in(text: str) -> set[str]:
    """Return what may be a name in an expression."""
    return {*re.findall(r"[A-Za-z_]\w*", _LEAF.sub(" ", text))}


def amount(text: str) -> Quantity:
    """Return a number with a unit, such as `125 MB/s` or `18`, in SI units; raises `RuleError`."""
    return amount_and_half(text)[0]


def amount_and_half(text: str) -> tuple[Quantity, float]:
    """Return an amount, and half a unit of its last digit."""
    match = _AMOUNT.fullmatch(text.strip())
    if not match:
        raise RuleError(f"{text.strip()!r} is no number with a unit", f"units are such as {COMMON}")
    factor, dimension = UNITS[match["unit"] or "1"]
    unit = _PLAIN.get(match["unit"] or "1", KINDS[dimension].shown)
    value = float(f"{match['minus'] or ''}{match['number']}") * factor / UNITS[unit][0]
    if not isfinite(value):
        raise RuleError(f"{text!r} is too large a number")
    half = half_a_digit(match["number"]) * factor / UNITS[unit][0]
    return Quantity(value, unit, kind="published"), half


def half_a_digit(number: str) -> float:
    """Return half a unit of the last printed digit of a number: what rounds to it is so near."""
    return 10.0 ** int(Decimal(number).as_tuple().exponent) / 2


def placeholders(text: str) -> set[tuple[str, str]]:
    """Return the (name, spec) pairs that `text` asks for."""
    return {(m[1], m[2] or "") for m in PLACEHOLDER.finditer(text) if m[1]}
