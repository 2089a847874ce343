"""What a function says of a lab, said to the readers of all its languages."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial, wraps
from inspect import isfunction
from typing import Any

from ipclab.lab.data import Data
from ipclab.lab.shell import Text
from ipclab.tables.table import Table


def for_all_readers(added: Any) -> Any:
    """Return what a package adds to a notebook: a function's text or table is in all languages.

    Others are as they are. A function has the lab as its first argument.
    """
    return _said_again(added) if isfunction(added) else added


@cache
def _said_again(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def called(*given: Any, **named: Any) -> Any:
        made = function(*given, **named)
        lab = given[0] if given and isinstance(given[0], Data) else None
        if lab is None or not lab.others:
            return made
        from IPython.display import Markdown  # a notebook has it already

        if isinstance(made, Markdown):
            again = {of.words.lang: function(of, *given[1:], **named).data for of in lab.others}
            return Text({lab.words.lang: made.data, **again})
        if isinstance(made, str):
            for other in lab.others:
                other.words.noted[made] = partial(str, function(other, *given[1:], **named))
        elif isinstance(made, Table) and not made.others:
            tables = {of.words.lang: function(of, *given[1:], **named) for of in lab.others}
            return replace(made, others=tables)
        return made

    return called
