"""Ctrl+C may arrive while the framework runs foreign code, and always ends the program."""

from __future__ import annotations

import enum
import logging
from typing import Any

import pytest

from mcpcore import Contract, ErrorCode, guard, not_found
from mcpcore.audit import AuditTrail
from mcpcore.boundary.script import Boundary
from mcpcore.values.jsonable import to_json
from tests.boundaries import answer_to


def interrupt(*_: object, **__: object) -> Any:
    raise KeyboardInterrupt


class InterruptedEnum(enum.Enum):
    """An enum whose value is read when a key is written."""

    KEY = 1

    @property
    def value(self) -> Any:
        interrupt()


class Uncounted(list[int]):
    """A container whose length is read when items are left out."""

    def __len__(self) -> int:
        interrupt()
        return 0


@pytest.mark.parametrize("value", [{InterruptedEnum.KEY: 1}, Uncounted(range(20_000))], ids=["a key", "a length"])
def test_while_a_value_is_converted(value: Any) -> None:
    """Any other exception is replaced by the name of the type."""
    with pytest.raises(KeyboardInterrupt):
        to_json(value)


def test_while_a_failure_is_recorded() -> None:
    """The interrupt comes from a sink of the application."""

    class Sink:
        failure = interrupt

    boundary = Boundary(server="s", audit=AuditTrail(sinks=[Sink()]))
    with pytest.raises(KeyboardInterrupt):
        answer_to(boundary, not_found("It left."), contract=Contract(), name="look")


def test_while_a_crash_is_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    """The interrupt comes from a log handler of the application."""
    monkeypatch.setattr(logging.getLogger("mcpcore"), "handlers", [handler := logging.Handler()])
    monkeypatch.setattr(handler, "emit", interrupt)
    with pytest.raises(KeyboardInterrupt):
        answer_to(Boundary(server="s"), RuntimeError("broken"), contract=Contract(), name="look")


@pytest.mark.parametrize("options", [{"error_mapper": interrupt}, {"input": interrupt}], ids=["mapper", "input"])
def test_while_a_guarded_operation_fails(options: dict[str, Any]) -> None:
    """The interrupt comes from a function that `guard` calls."""

    @guard("look", code=ErrorCode.TIMEOUT, **options)
    def look() -> None:
        raise OSError("no route")

    with pytest.raises(KeyboardInterrupt):
        look()
