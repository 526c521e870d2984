"""A record is made where somebody takes it, and only there."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from mcpcore.audit import AuditTrail
from mcpcore.boundary import Boundary
from mcpcore.contract import Contract
from mcpcore.errors import not_found
from tests.boundaries import answer_to

LOGGER = logging.getLogger("mcpcore.audit")


class Taking:
    """A sink that says whether it listens."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.taken: list[Mapping[str, Any]] = []

    def listens(self) -> bool:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def failure(self, record: Mapping[str, Any], line: str) -> None:
        self.taken.append(record)


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """The logger takes server faults only, as in a process that set up no logging."""
    before = LOGGER.level
    LOGGER.setLevel(logging.WARNING)
    yield
    LOGGER.setLevel(before)


def test_without_a_file_a_handler_or_a_sink_nobody_listens() -> None:
    """A failure of the caller is below the logger's level; one of the server is not."""
    trail = AuditTrail(sinks=())
    assert not trail.listens("NOT_FOUND")
    assert trail.listens("INTERNAL_ERROR")


def test_a_file_listens_always(tmp_path: Any) -> None:
    """Whatever the logger's level."""
    assert AuditTrail(tmp_path / "audit.jsonl", sinks=()).listens("NOT_FOUND")


def test_the_logger_listens_at_its_level() -> None:
    """Every record, where the application asks for them."""
    LOGGER.setLevel(logging.INFO)
    assert AuditTrail(sinks=()).listens("NOT_FOUND")


@pytest.mark.parametrize(("answer", "due"), [(True, 1), (False, 0), (ValueError(), 1)])
def test_a_sink_is_asked_first(answer: Any, due: int) -> None:
    """A sink whose `listens` raises gets the record."""
    sink = Taking(answer)
    boundary = Boundary(server="s", audit=AuditTrail(sinks=[sink]))
    answer_to(boundary, not_found(), contract=Contract(), name="f")
    assert due == len(sink.taken)


def test_a_sink_that_says_nothing_takes_everything() -> None:
    """The protocol asks for `failure` alone."""
    taken: list[Mapping[str, Any]] = []

    class Plain:
        def failure(self, record: Mapping[str, Any], line: str) -> None:
            taken.append(record)

    answer_to(Boundary(server="s", audit=AuditTrail(sinks=[Plain()])), not_found(), contract=Contract(), name="f")
    assert ["NOT_FOUND"] == [record["name"] for record in taken]


def test_a_subclass_that_records_in_its_own_way_takes_everything() -> None:
    """The base class does not know which records a subclass needs."""

    class Own(AuditTrail):
        def record(self, record: Mapping[str, Any]) -> None:
            raise NotImplementedError

    assert Own(sinks=()).listens("NOT_FOUND")
