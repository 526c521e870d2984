"""`guard` gives exceptions a code or a reason, logs once without secrets, and never swallows an exception."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, Literal

import pytest
from mcp.client import Client

from mcpcore import CodedError, Context, ErrorCode, FailureMode, Server, guard, not_found, tool
from tests.answers import envelope_of

NO_ROW = FailureMode(
    "no_row", ErrorCode.NOT_FOUND, when="No such row.", recovery="Call list_rows to see what there is."
)


def test_a_mapped_exception_becomes_its_code_with_the_exception_as_its_cause() -> None:
    """The most specific type decides, and the error contains none of the exception's text."""
    with pytest.raises(CodedError) as caught, guard("get", errors={LookupError: ErrorCode.CONFLICT, KeyError: NO_ROW}):
        raise KeyError("hunter2")
    error = caught.value
    assert (ErrorCode.NOT_FOUND, "no_row", "No such row.") == (error.code, error.reason, error.message)
    assert isinstance(error.__cause__, KeyError)
    assert "hunter2" not in f"{error!r}{error.data}"


def test_an_unmapped_exception_is_classified() -> None:
    """Without a table or a code, the kind of exception decides."""
    with pytest.raises(CodedError) as caught, guard("read"):
        raise FileNotFoundError(2, "No such file", "/etc/secret")
    assert (ErrorCode.NOT_FOUND, ErrorCode.NOT_FOUND.sentence) == (caught.value.code, caught.value.message)


def test_a_code_applies_to_all_other_exceptions() -> None:
    """`code=` applies to any exception without an entry."""
    with pytest.raises(CodedError) as caught, guard("load", code=ErrorCode.CONFIGURATION_ERROR):
        raise ValueError("no")
    assert ErrorCode.CONFIGURATION_ERROR == caught.value.code


def test_a_coded_error_passes_unchanged() -> None:
    """A deliberate failure is not wrapped again."""
    original = not_found("gone")
    with pytest.raises(CodedError) as caught, guard("get", code=ErrorCode.INTERNAL_ERROR):
        raise original
    assert original is caught.value


def test_no_exception_is_swallowed() -> None:
    """Exits and cancellations propagate unchanged, and a block without an exception has no effect."""
    for kind in (KeyboardInterrupt, SystemExit, GeneratorExit, asyncio.CancelledError):
        with pytest.raises(kind), guard("x", code=ErrorCode.TIMEOUT):
            raise kind
    with guard("x"):
        pass


def test_decorating_guards_sync_and_async_functions() -> None:
    """Results pass, failures are mapped, and signatures and names are kept."""

    @guard(errors={ZeroDivisionError: ErrorCode.VALIDATION_ERROR})
    def divide(a: int, b: int) -> float:
        return a / b

    @guard("slow", errors={ZeroDivisionError: ErrorCode.VALIDATION_ERROR})
    async def divide_async(a: int, b: int) -> float:
        return a / b

    assert (2.0, "divide") == (divide(4, 2), divide.__name__)
    assert 2.0 == asyncio.run(divide_async(4, 2))
    for call in (lambda: divide(1, 0), lambda: asyncio.run(divide_async(1, 0))):
        with pytest.raises(CodedError) as caught:
            call()
        assert ErrorCode.VALIDATION_ERROR == caught.value.code


def test_a_failure_is_logged_once_with_details_and_without_secrets(caplog: pytest.LogCaptureFixture) -> None:
    """Two nested guards make one record with operation, context and redacted input."""

    @guard("inner", context={"table": "rows"}, input=lambda user, password: {"user": user, "password": password})
    def inner(user: str, password: str) -> None:
        raise RuntimeError(f"password={password}")

    with caplog.at_level(logging.DEBUG, "mcpcore.services"), pytest.raises(CodedError), guard("outer"):
        inner("ann", "hunter2secret")
    assert 1 == len(caplog.records)
    record = caplog.records[0]
    facts: dict[str, Any] = record.mcpcore  # type: ignore[attr-defined]
    assert ("inner", {"table": "rows"}, "ann") == (facts["operation"], facts["context"], facts["input"]["user"])
    assert "hunter2secret" not in record.getMessage()
    assert record.exc_info


def test_critical_and_include_stack_shape_the_record(caplog: pytest.LogCaptureFixture) -> None:
    """`critical` sets the level, and `include_stack=False` leaves the traceback out."""
    with caplog.at_level(logging.DEBUG), pytest.raises(CodedError), guard("x", critical=True, include_stack=False):
        raise RuntimeError("no")
    assert (logging.CRITICAL, None) == (caplog.records[0].levelno, caplog.records[0].exc_info)


def test_an_error_mapper_decides_and_cannot_lose_the_failure(caplog: pytest.LogCaptureFixture) -> None:
    """Its result is raised; if it raises or returns an invalid value, the original failure propagates."""
    with pytest.raises(OSError, match="mapped"), guard("x", error_mapper=lambda exc: OSError("mapped")):
        raise ValueError
    for mapper in (lambda exc: 1 / 0, lambda exc: None):
        with pytest.raises(CodedError), guard("x", error_mapper=mapper):  # type: ignore[arg-type]
            raise TimeoutError
    assert "error_mapper" in caplog.text


def test_misuse_is_reported_when_the_guard_is_created() -> None:
    """Missing parentheses, an invalid code and invalid keys and values are refused."""

    def generator() -> Any:
        yield 1

    for misuse in (
        lambda: guard(generator),  # type: ignore[arg-type]
        lambda: guard(code=404),  # type: ignore[arg-type]
        lambda: guard(errors={"KeyError": ErrorCode.NOT_FOUND}),  # type: ignore[dict-item]
        lambda: guard(errors={KeyError: 404}),  # type: ignore[dict-item]
    ):
        with pytest.raises(TypeError):
            misuse()


@pytest.mark.usefixtures("door")
@pytest.mark.anyio
async def test_a_reason_belongs_to_the_running_tool() -> None:
    """A service without a context maps to a reason in the contract of the calling tool."""

    @guard(errors={KeyError: "no_row"})
    def service(key: str) -> str:
        return {"a": "b"}[key]

    @tool(errors=[NO_ROW])
    def get(ctx: Context[Literal["no_row"]], key: str) -> str:
        return service(key)

    async with Client(Server("rows", tools=[get])) as client:
        envelope = envelope_of(await client.call_tool("get", {"key": "zebra"}))
    assert ("no_row", "No such row.", "Call list_rows to see what there is.") == (
        envelope.reason,
        envelope.message,
        envelope.hint,
    )


@pytest.mark.parametrize(
    ("made", "code", "reason", "context"),
    [
        (
            CodedError.from_unknown(FileNotFoundError(2, "x"), session_id="S"),
            ErrorCode.NOT_FOUND,
            None,
            {"session_id": "S"},
        ),
        (CodedError.from_unknown("a string"), ErrorCode.UNKNOWN_ERROR, None, {}),
        (
            CodedError.invariant_violation("I1", "no"),
            ErrorCode.INTERNAL_ERROR,
            "invariant_violation",
            {"invariant_id": "I1"},
        ),
        (CodedError.tool_failure(ErrorCode.CONFLICT, reason="r"), ErrorCode.CONFLICT, "r", {}),
        (CodedError.startup_failure(), ErrorCode.INITIALIZATION_FAILED, "startup_failure", {}),
    ],
)
def test_governance_constructors(
    made: CodedError, code: ErrorCode, reason: str | None, context: dict[str, str]
) -> None:
    """Each constructor makes a coded error with its fields."""
    from mcpcore.contract.bound_fields import carried

    assert (code, reason, context) == (made.code, made.reason, carried(made))


def test_governance_constructors_refuse_unknown_fields() -> None:
    """An unknown field is a mistake, and the message lists the valid ones."""
    with pytest.raises(TypeError, match="session_id"):
        CodedError.startup_failure(sesion_id="S")
