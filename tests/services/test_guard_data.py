"""`ctx.guard(...)`, and the data that a guard creates from exceptions."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, Literal

import pytest
from mcp import Client
from pydantic import BaseModel

from mcpcore import CodedError, Context, ContractError, ErrorCode, FailureMode, Server, guard, tool
from tests.answers import ask


class NoOrderError(Exception):
    def __init__(self, order_id: int) -> None:
        super().__init__(f"no order {order_id}, password=hunter2")
        self.order_id = order_id


class BusyError(Exception):
    pass


class NoOrder(BaseModel):
    order_id: int


NO_ORDER = FailureMode(
    "no_order", ErrorCode.NOT_FOUND, when="There is no such order.", recovery="List the orders.", data=NoOrder
)
BUSY = FailureMode("busy", ErrorCode.RATE_LIMITED, when="The shop is busy.", recovery="Wait a minute.")


@tool(errors=[NO_ORDER, BUSY])
async def get_order(ctx: Context[Literal["no_order", "busy"]], order_id: int, how: str = "with") -> str:
    """Get an order."""
    errors: Any = {NoOrderError: "no_order", BusyError: BUSY}

    def data(exc: NoOrderError) -> NoOrder:
        return NoOrder(order_id=exc.order_id)

    def get() -> str:
        if order_id == 0:
            raise BusyError
        raise NoOrderError(order_id)

    if how == "with":
        with ctx.guard(errors, data=data):
            return get()
    if how == "async with":
        async with ctx.guard(errors, data=data):
            return get()

    @ctx.guard(errors, data=data)
    async def guarded() -> str:
        return get()

    return await guarded()


def envelope_of(arguments: dict[str, Any]) -> dict[str, Any]:

    return ask(
        Client(Server("orders", tools=[get_order])), lambda client: client.call_tool("get_order", arguments)
    ).structured_content["error"]


@pytest.mark.usefixtures("door")
@pytest.mark.parametrize("how", ["with", "async with", "decorator"])
def test_an_exception_becomes_the_declared_failure_with_its_data(how: str) -> None:
    """The client gets the entry's message and the data from the exception, but none of its text."""
    error = envelope_of({"order_id": 7, "how": how})
    assert ("no_order", 7) == (error["data"]["reason"], error["data"]["order_id"])
    assert "There is no such order." == error["message"]
    assert "hunter2" not in str(error)


@pytest.mark.usefixtures("door")
@pytest.mark.parametrize(
    ("how", "operation"),
    [("with", "get_order"), ("async with", "get_order"), ("decorator", "get_order.<locals>.guarded")],
)
def test_the_log_names_the_tool_or_the_decorated_function(
    how: str, operation: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A guard without `operation` is logged under a name that can be found in the code."""
    caplog.set_level(logging.INFO, logger="mcpcore.services")
    envelope_of({"order_id": 7, "how": how})
    names = [record.mcpcore["operation"] for record in caplog.records if record.name == "mcpcore.services"]  # type: ignore[attr-defined]
    assert [operation] == names


def test_a_context_without_a_tool_guards_an_operation(caplog: pytest.LogCaptureFixture) -> None:
    """A context created by a test has no tool to name."""
    ctx: Context[str] = Context(get_order.contract)
    with pytest.raises(CodedError), ctx.guard({BusyError: BUSY}):
        raise BusyError
    assert ["operation"] == [record.mcpcore["operation"] for record in caplog.records]  # type: ignore[attr-defined]


@pytest.mark.usefixtures("door")
def test_data_that_cannot_be_created_is_logged_and_left_out(caplog: pytest.LogCaptureFixture) -> None:
    """The failure itself propagates without data."""
    error = envelope_of({"order_id": 0})
    assert ("busy", "The shop is busy.") == (error["data"]["reason"], error["message"])
    assert "order_id" not in error["data"]
    assert [r for r in caplog.records if "data raised; the failure goes on without data" in r.getMessage()]


@pytest.mark.parametrize("raised", [SystemExit(1), asyncio.CancelledError(), ZeroDivisionError()])
def test_data_that_raises_an_exit_does_not_end_the_call(raised: BaseException) -> None:
    """Whatever the function raises, the exception is translated as it would be without data."""

    def data(exc: Exception) -> None:
        raise raised

    with pytest.raises(CodedError) as failed, guard("get", errors={BusyError: BUSY}, data=data):
        raise BusyError
    assert ("busy", None) == (failed.value.reason, failed.value.data)
    assert isinstance(failed.value.__cause__, BusyError)


def test_an_interrupt_while_data_is_created_propagates() -> None:
    """Ctrl+C ends the program."""

    def data(exc: Exception) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), guard("get", errors={BusyError: BUSY}, data=data):
        raise BusyError


def test_data_is_created_for_translated_exceptions_only() -> None:
    """`errors` and `code` select them, so the function never gets other exceptions or coded failures."""
    made: list[Exception] = []

    def data(exc: Exception) -> dict[str, int]:
        made.append(exc)
        return {"made": len(made)}

    def failure(exc: Exception, **options: Any) -> CodedError:
        with pytest.raises(CodedError) as failed, guard("get", data=data, **options):
            raise exc
        return failed.value

    assert failure(ValueError()).data is None
    assert failure(ValueError(), errors={BusyError: BUSY}).data is None
    assert failure(CodedError(ErrorCode.TIMEOUT), code=ErrorCode.CONFLICT).data is None
    assert not made
    assert {"made": 1} == failure(BusyError(), errors={BusyError: ErrorCode.CONFLICT}).data
    assert {"made": 2} == failure(ValueError(), code=ErrorCode.CONFLICT).data
    assert {"made": 3} == failure(BusyError(), errors={BusyError: "undeclared"}).data


def test_group_members_have_the_data() -> None:
    """The function gets each exception instead of the group, and each member of a mixed group has its own data."""

    def data(exc: Any) -> NoOrder | None:
        return NoOrder(order_id=exc.order_id) if isinstance(exc, NoOrderError) else None

    with pytest.raises(CodedError) as failed, guard("get", errors={NoOrderError: NO_ORDER}, data=data):
        raise ExceptionGroup("both", [NoOrderError(7), NoOrderError(8)])
    assert {"order_id": 7} == failed.value.data

    with (
        pytest.raises(ExceptionGroup) as mixed,
        guard("get", errors={NoOrderError: NO_ORDER, BusyError: BUSY}, data=data),
    ):
        raise ExceptionGroup("both", [BusyError(), NoOrderError(8)])
    assert [None, {"order_id": 8}] == [member.data for member in mixed.value.exceptions]  # type: ignore[union-attr]


def test_data_may_be_a_value() -> None:
    """The value is the data of every translated exception."""
    with pytest.raises(CodedError) as failed, guard("get", errors={BusyError: BUSY}, data={"shop": 3}):
        raise BusyError
    assert {"shop": 3} == failed.value.data


def test_an_async_function_cannot_create_data() -> None:
    """It could not be awaited."""

    async def data(exc: Exception) -> None: ...

    with pytest.raises(TypeError, match=r"guard\(data=\.\.\.\) must be a function that returns the data"):
        guard("get", errors={BusyError: BUSY}, data=data)


class TestInAContext:
    ctx: Context = Context(get_order.contract, name="get_order")

    def test_an_undeclared_reason_is_an_immediate_error(self) -> None:
        """It is reported when the guard is created, not when an exception occurs, with the nearest reason."""
        with pytest.raises(
            ContractError, match=r"tool 'get_order': ctx\.guard\('no_ordr'\).*did you mean 'no_order'\?"
        ):
            self.ctx.guard({NoOrderError: "no_ordr"})
        other = FailureMode("bussy", ErrorCode.CONFLICT, when="Busy.", recovery="Wait.")
        with pytest.raises(ContractError, match=r"ctx\.guard\('bussy'\).*did you mean 'busy'\?"):
            self.ctx.guard({BusyError: other})
        with pytest.raises(ContractError, match=r"ctx\.guard\('busy'\): the tool declares no failure modes"):
            Context().guard({BusyError: "busy"})

    def test_another_mode_of_a_declared_reason_is_an_error(self) -> None:
        """The message names the fields that differ."""
        other = FailureMode("busy", ErrorCode.CONFLICT, when="Busy.", recovery="Wait.")
        with pytest.raises(
            ContractError, match="another FailureMode for the reason 'busy', with another code, when, recovery"
        ):
            self.ctx.guard({BusyError: other})

    def test_a_code_is_refused(self) -> None:
        """A context guards with declared reasons only."""
        with pytest.raises(
            ContractError, match=r"ctx\.guard\(…\) takes a declared reason or a FailureMode, not the code"
        ):
            self.ctx.guard({BusyError: ErrorCode.CONFLICT})  # type: ignore[dict-item]

    @pytest.mark.parametrize("errors", [{"Busy": "busy"}, {asyncio.CancelledError: "busy"}, ["busy"]])
    def test_the_keys_must_be_exception_types(self, errors: Any) -> None:
        """Misuse raises when the guard is created."""
        with pytest.raises(TypeError, match=r"guard\(errors=\.\.\.\)"):
            self.ctx.guard(errors)

    def test_other_options_work_as_with_the_function(self, caplog: pytest.LogCaptureFixture) -> None:
        """The operation, the code of other exceptions, the message and the log facts can be set."""
        caplog.set_level(logging.INFO)
        with (
            pytest.raises(CodedError) as failed,
            self.ctx.guard(
                {(BusyError, OSError): BUSY},
                code=ErrorCode.DATABASE_ERROR,
                operation="Orders.get",
                message="It failed.",
                context={"shop": 3},
                input={"order": 7},
                critical=True,
                include_stack=False,
            ),
        ):
            raise ValueError
        assert (ErrorCode.DATABASE_ERROR, "It failed.") == (failed.value.code, failed.value.message)
        (record,) = [r for r in caplog.records if r.name == "mcpcore.services"]
        assert "Orders.get failed" in record.getMessage()
        assert logging.CRITICAL == record.levelno
        with pytest.raises(KeyError), self.ctx.guard({BusyError: BUSY}, error_mapper=lambda exc: KeyError(str(exc))):
            raise BusyError
