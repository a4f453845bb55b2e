"""Which variants of a costly test run every time; the others are `thorough`, and run in `make search`."""

from collections.abc import Iterable
from typing import Any

import pytest
from _pytest.mark import ParameterSet


def a_few(cases: Iterable[Any], few: int) -> list[Any]:
    """The cases of a parametrized test, of which only `few`, spread over them all, run every time."""
    given = list(cases)
    always = {at * len(given) // few for at in range(few)}
    return [case if at in always else _thorough(case) for at, case in enumerate(given)]


def _thorough(case: Any) -> ParameterSet:
    if isinstance(case, ParameterSet):
        return pytest.param(*case.values, marks=(*case.marks, pytest.mark.thorough), id=case.id)
    return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.thorough)
