"""Tables of cases that run in one test."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

_SET = type(pytest.param())
_DEFECTS = (Exception, BaseExceptionGroup, pytest.fail.Exception)


def in_one_test(
    names: str | Sequence[str], cases: Iterable[Any]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run the cases in one test, and report all that fail; write it where `pytest.mark.parametrize` would stand.

    For cases that share no state and take less than a millisecond: to collect, start and report a test takes several.
    The fixtures of the test are made once.
    """
    words = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    sets = [
        case if isinstance(case, _SET) else pytest.param(*((case,) if [names] == words else case)) for case in cases
    ]

    assert {tuple(case.marks) for case in sets} == {()}, "a table has cases, and a mark holds for the whole test"

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        def run(*owner: Any, **fixtures: Any) -> None:
            errors = []
            for case in sets:
                try:
                    function(*owner, **fixtures, **dict(zip(words, case.values, strict=True)))
                except _DEFECTS as error:
                    error.add_note(f"The case is {case.id or f'{case.values!r:.300}'}.")
                    errors.append(error)
            if errors:
                raise BaseExceptionGroup(f"{len(errors)} of {len(sets)} cases fail", errors)

        for name in ("__module__", "__name__", "__qualname__", "__doc__", "__dict__"):
            setattr(run, name, getattr(function, name))
        # From this, pytest learns the fixtures.
        kept = [parameter for name, parameter in inspect.signature(function).parameters.items() if name not in words]
        run.__signature__ = inspect.Signature(kept)  # type: ignore[attr-defined]
        return run

    return decorate
