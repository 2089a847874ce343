"""Small words about names."""

import difflib
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the member of `known` that looks most like `name`."""
    names = list(known)
    return (difflib.get_close_matches(name, names, n=1, cutoff=0.0) or names or [""])[0]
