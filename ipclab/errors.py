"""Errors that a person can act on: one line that says what, why and the fix."""

import difflib
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

# What moves a terminal's cursor, colours it, or turns the direction of what follows.
_COMMANDS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]"
)


def plain(text: str) -> str:
    """Return `text` as a terminal and XML may have it: each character that commands is a `?`.

    Lines and tabs stay. A surrogate does, too: it is a byte of a file's name.
    """
    return _COMMANDS.sub("?", text)


class LabError(Exception):
    """The work failed: `what` went wrong, `why`, and the `fix`; one line, exit code 1."""

    exit_code = 1

    def __init__(self, what: str, why: str = "", fix: str = "") -> None:
        super().__init__(what, why, fix)
        self.what = what
        self.why = why
        self.fix = fix

    def __str__(self) -> str:
        why = f": {self.why}" if self.why else ""
        fix = f"; {self.fix}" if self.fix else ""
        return plain(" ".join(f"{self.what}{why}{fix}".split()))


class UsageError(LabError):
    """The call was wrong: an unknown name, a size of 0, a mistyped parameter. Exit code 2."""

    exit_code = 2


@contextmanager
def blamed(what: str, fix: str, kind: type[LabError] = LabError) -> Iterator[None]:
    """Raise what the system refuses in the block as a `kind` of error, which says why."""
    try:
        yield
    except OSError as error:
        raise kind(what, error.strerror or str(error), fix) from error


ALIKE = 0.6  # of what is offered as meant
MOST_NAMED, NEAREST = 12, 3  # more names are not read, and of many so many are named


def hint(name: str, possible: Iterable[str]) -> str:
    """Return the fix for an unknown `name`: which of `possible` is meant, if one looks like it,
    else what there is; of many names, which look most like it.
    """
    names = list(possible)
    if alike := difflib.get_close_matches(name, names, n=1, cutoff=ALIKE):
        return f"did you mean {alike[0]!r}?"
    if len(names) > MOST_NAMED:
        near = difflib.get_close_matches(name, names, n=NEAREST, cutoff=0.0)
        return f"there are {len(names)}, such as {', '.join(near)}"
    return f"there are {', '.join(names)}" if names[1:] else f"there is {(names or ['none'])[0]}"
