"""A few of many cases for daily tests; `make test-all` tries them all."""

from collections.abc import Sequence
from typing import Any

import pytest


def some(cases: Sequence[Any], one_in: int) -> list[Any]:
    """Return the cases as parameters, of which all but one in so many are of the matrix."""
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=_marks(place, one_in))
        for place, case in enumerate(cases)
    ]


def _marks(place: int, one_in: int) -> Sequence[pytest.MarkDecorator]:
    return () if place % one_in == 0 else (pytest.mark.matrix,)
