"""A record is created only if something handles it."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from mcpcore import Contract, not_found
from mcpcore.audit import AuditTrail
from mcpcore.boundary.script import Boundary
from tests.boundaries import answer_to

LOGGER = logging.getLogger("mcpcore.audit")


class Taking:
    """A sink with `listens`."""

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
    """The logger handles only server faults, as in a process without logging setup."""
    before = LOGGER.level
    LOGGER.setLevel(logging.WARNING)
    yield
    LOGGER.setLevel(before)


def test_without_a_file_a_handler_or_a_sink_records_are_skipped() -> None:
    """A caller's failure is below the logger's level, but a server's failure is not."""
    trail = AuditTrail(sinks=())
    assert not trail.listens("NOT_FOUND")
    assert trail.listens("INTERNAL_ERROR")


def test_a_file_gets_every_record(tmp_path: Any) -> None:
    """The logger's level does not matter."""
    assert AuditTrail(tmp_path / "audit.jsonl", sinks=()).listens("NOT_FOUND")


def test_the_logger_gets_records_at_its_level() -> None:
    """With the lowest level, it gets every record."""
    LOGGER.setLevel(logging.INFO)
    assert AuditTrail(sinks=()).listens("NOT_FOUND")


@pytest.mark.parametrize(("answer", "due"), [(True, 1), (False, 0), (ValueError(), 1)])
def test_a_sink_decides_first(answer: Any, due: int) -> None:
    """A sink whose `listens` raises gets the record."""
    sink = Taking(answer)
    answer_to(Boundary(server="s", audit=AuditTrail(sinks=[sink])), not_found(), contract=Contract(), name="f")
    assert due == len(sink.taken)


def test_a_sink_without_listens_gets_every_record() -> None:
    """The protocol requires only `failure`."""
    taken: list[Mapping[str, Any]] = []

    class Plain:
        def failure(self, record: Mapping[str, Any], line: str) -> None:
            taken.append(record)

    answer_to(Boundary(server="s", audit=AuditTrail(sinks=[Plain()])), not_found(), contract=Contract(), name="f")
    assert ["NOT_FOUND"] == [record["name"] for record in taken]


def test_a_subclass_with_its_own_recording_gets_every_record() -> None:
    """The base class cannot know which records a subclass needs."""

    class Own(AuditTrail):
        def record(self, record: Mapping[str, Any]) -> None:
            raise NotImplementedError

    assert Own(sinks=()).listens("NOT_FOUND")
