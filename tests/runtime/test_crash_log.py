"""The log of a crash has a useful traceback without the secrets that the audit record leaves out."""

from __future__ import annotations

import logging
import traceback
from typing import Any

import pytest
from mcp import Client

from mcpcore import Contract, Server, tool
from mcpcore.audit import AuditTrail
from mcpcore.boundary.crash_log import described, traced
from mcpcore.boundary.script import Boundary
from tests.boundaries import answer_to, caught


def connect(url: str, *, password: str) -> None:
    raise OSError(f"{url} refused for {len(password)}")


def chained() -> None:
    try:
        connect("postgresql://app:hunter2-in-cause@db/main", password="hunter2-in-source")
    except OSError as exc:
        failed = RuntimeError("no answer, api_key=hunter2-in-message")
        failed.add_note("token: hunter2-in-note")
        raise failed from exc


def grouped() -> None:
    raise ExceptionGroup("password=hunter2-in-group", [ValueError("secret=hunter2-in-member"), KeyError("kept")])


async def crashing(fails: Any) -> None:
    """Call a tool that crashes."""
    async with Client(Server("s", tools=[tool(fails)])) as client:
        await client.call_tool(fails.__name__, {})


@pytest.mark.anyio
@pytest.mark.usefixtures("door")
@pytest.mark.parametrize("fails", [chained, grouped])
async def test_the_log_of_a_crash_and_its_record_hold_no_secret(fails: Any, caplog: pytest.LogCaptureFixture) -> None:
    """Messages, source lines, causes, notes and group members are redacted, and the log still shows where it failed."""
    caplog.set_level(logging.INFO)

    await crashing(fails)
    logged = "\n".join(logging.Formatter("%(name)s %(message)s").format(record) for record in caplog.records)
    assert "hunter2" not in logged
    assert "[redacted]" in logged
    assert f"in {fails.__name__}\n" in logged
    assert 'Traceback (most recent call last):\n  File "' in logged
    if fails is chained:
        assert 'password="[redacted]' in logged


@pytest.mark.anyio
@pytest.mark.usefixtures("door")
@pytest.mark.parametrize("fails", [chained, grouped])
async def test_formatters_that_format_exceptions_themselves_get_no_secret(
    fails: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """JSON formatters and collectors use `formatException`, `traceback` or the exception's text."""

    await crashing(fails)
    (crash,) = [record for record in caplog.records if record.exc_info]
    assert crash.exc_info is not None
    kind, exc, trace = crash.exc_info
    assert kind is not None
    assert exc is not None
    assert kind.__qualname__ == type(caught(fails)).__qualname__
    formatted = logging.Formatter().formatException(crash.exc_info)
    for text in (
        formatted,
        "".join(traceback.format_exception(exc)),
        "".join(traceback.format_exception(kind, exc, trace)),
    ):
        assert text.startswith(f"{kind.__qualname__}: ")
        assert "Traceback (most recent call last):" in text
        assert f"in {fails.__name__}\n" in text
        assert "[redacted]" in text
    assert "hunter2" not in formatted + repr((exc, exc.args, vars(exc), exc.__cause__, exc.__context__, vars(crash)))


def test_an_error_while_a_crash_is_recorded_does_not_reveal_its_secrets(caplog: pytest.LogCaptureFixture) -> None:
    """A sink or filter that raises has the crash as its context."""

    class Broken:
        def failure(self, record: object, line: str) -> None:
            raise RuntimeError("api_key=hunter2-in-sink")

    class Faulty(AuditTrail):
        def record(self, record: object) -> None:
            raise LookupError("api_key=hunter2-in-recording")

    for trail in (AuditTrail(sinks=(Broken(),)), Faulty()):
        try:
            chained()
        except RuntimeError as exc:
            answer_to(Boundary(server="s", audit=trail), exc, contract=Contract(), name="f")
    assert "audit sink Broken failed: RuntimeError" in caplog.text
    assert "went wrong" in caplog.text
    for record in caplog.records:
        formatted = logging.Formatter().formatException(record.exc_info) if record.exc_info else ""
        assert "hunter2" not in formatted + str(record.exc_text) + record.getMessage()
    assert "in record\n" in caplog.text


def test_the_log_shows_causes_and_members_in_the_order_of_python() -> None:
    """First the cause, then the connecting sentence, the exception and its notes, with members below their group."""
    text = traced(caught(chained))
    assert text.index("OSError") < text.index("direct cause of the following") < text.index("RuntimeError: no answer")
    assert text.endswith("token: [redacted]")
    text = traced(caught(grouped))
    assert "  --- 2 of 2 ---\n  KeyError: 'kept'" in text


def test_a_deep_recursion_is_logged_within_bounds() -> None:
    """The log has the innermost frames, counts repetitions, and says how many frames came before."""

    def deep() -> None:
        deep()

    text = described(caught(deep))["traceback"]
    assert isinstance(text, str)
    assert "earlier frames)" in text
    assert "[Previous line repeated" in text
    assert "RecursionError" in text
    assert len(text) < 8_000


def test_a_password_split_by_a_cut_is_not_shown() -> None:
    """A URL cut inside its password is not recognised, so its last word is removed first."""
    for length in range(1_960, 2_010):
        text = str(described(ValueError("x " * (length // 2) + "postgresql://app:hunter2hunter2@db " + "y " * 3_000)))
        assert "hunter2" not in text
    assert "hunter2" not in str(described(ValueError("x" * 3_370 + " postgresql://app:hunter2@db" + "y" * 4_000)))
