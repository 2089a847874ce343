"""The one language of expressions: of claims, of requirements, and of questions in prose.

It has addresses of values, amounts with a unit, names, `+ - * /`, brackets and calls. Python only
parses an expression; what each part gives is said by a `Reader`, and nothing is executed.
"""

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import add, mul, sub, truediv
from typing import Any, Generic, TypeVar

from ipclab.claims.amounts import NUMBER, UNIT, RuleError, amount
from ipclab.frames.address import PATTERN
from ipclab.stats.quantity import Quantity

T = TypeVar("T")
Operator = Callable[[Any, Any], Any]
OPERATORS: dict[type[ast.operator], Operator] = {
    ast.Add: add,
    ast.Sub: sub,
    ast.Mult: mul,
    ast.Div: truediv,
}
LONGEST = 1500  # characters
_LEAF = re.compile(
    rf"""(?P<quoted>'[^']*'|"[^"]*")|(?P<address>{PATTERN})"""
    rf"|(?<![\w.])(?P<amount>{NUMBER}(?:\s*(?:{UNIT})(?![\w/]))?)"
)
FIX = "use addresses, numbers, + - * / and brackets"


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
