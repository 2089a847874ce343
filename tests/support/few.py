"""A few of many cases for daily tests; `make test-all` tries them all."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest


def some(cases: Sequence[Any], one_in: int) -> list[Any]:
    """Return the cases as parameters, of which all but one in so many are of the matrix."""
    return [_case(case, place % one_in == 0) for place, case in enumerate(cases)]


def where(cases: Sequence[Any], daily: Callable[[Any], bool]) -> list[Any]:
    """Return the cases as parameters, of which those that are not daily are of the matrix."""
    return [_case(case, daily(case)) for case in cases]


def all_asked(request: pytest.FixtureRequest) -> bool:
    """Tell whether tests of the matrix run, too."""
    return any(item.get_closest_marker("matrix") for item in request.session.items)


def _case(case: Any, daily: bool) -> Any:
    marks = () if daily else (pytest.mark.matrix,)
    return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=marks)
