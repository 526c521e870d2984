"""`FailureMode.on` and `.on_code`: what leaves a handler becomes a declared failure, on both servers."""

from __future__ import annotations

import asyncio
import copy
import functools
import logging
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import anyio
import anyio.lowlevel
import pytest
from mcp import Client
from pydantic import BaseModel, ConfigDict

from mcpcore import (
    CodedError,
    Context,
    Contract,
    ContractError,
    Envelope,
    ErrorCode,
    FailureMode,
    Retry,
    Server,
    guard,
    prompt,
    rate_limited,
    resource,
    tool,
)
from mcpcore.services.batch import Batch, BatchResult
from mcpcore.testing import make_context
from tests.answers import envelope_of, outcome_of, records_of

pytestmark = pytest.mark.usefixtures("door")
SECRET = "password=hunter2"


class OrderError(Exception):
    order_id = 7


class NoOrderError(OrderError, LookupError):
    pass


class BusyError(Exception):
    pass


class Order(BaseModel):
    order_id: int


class Shop(BaseModel):
    model_config = ConfigDict(extra="forbid")

    shop: str | None = None


NO_ORDER = FailureMode(
    "no_order", ErrorCode.NOT_FOUND, when="There is no order {order_id}.", recovery="List them.", data=Order
)
REFUSED = FailureMode("refused", ErrorCode.CONFLICT, when="It is refused.", recovery="Read the rules.")
BUSY = FailureMode("busy", ErrorCode.RATE_LIMITED, when="The shop is busy.", recovery="Wait.", data=Shop)
DOWN = FailureMode("down", ErrorCode.SERVICE_UNAVAILABLE, when="The shop is down.", recovery="Wait.")
NEVER = FailureMode("never", ErrorCode.TIMEOUT, when="Too slow.", recovery="Give up.", retry=Retry.never())
MAPPED = (
    NO_ORDER.on(NoOrderError, data=lambda exc: Order(order_id=exc.order_id)),
    REFUSED.on(OrderError, KeyError, message=lambda exc: f"Refused: {type(exc).__name__}."),
    BUSY.on(BusyError).on_code(ErrorCode.RATE_LIMITED),
    DOWN.on_code(ErrorCode.SERVICE_UNAVAILABLE, ErrorCode.DATABASE_ERROR, message="It is down."),
    NEVER.on_code(ErrorCode.TIMEOUT),
)


def served(handler: Callable[[], Any], trail: Path | None = None, *, errors: Any = MAPPED, **options: Any) -> Envelope:
    """Return the failure of a tool with this handler."""
    made = tool(errors=errors, name="get_order", **options.pop("tool", {}))(handler)
    server = Server("orders", tools=[made], audit=trail, **options)
    return envelope_of(outcome_of(Client(server), lambda client: client.call_tool("get_order", {})))


def failing(exc: BaseException) -> Callable[[], str]:
    def handler() -> str:
        """Get an order."""
        raise exc

    return handler


def failed(exc: BaseException, trail: Path | None = None, **options: Any) -> Envelope:
    return served(failing(exc), trail, **options)


def coded(code: ErrorCode, data: Any = None, **options: Any) -> CodedError:
    return CodedError(code, SECRET, data, **options)


@pytest.mark.parametrize(
    ("exc", "reason", "message"),
    [
        (NoOrderError(SECRET), "no_order", "There is no order 7."),
        (OrderError(SECRET), "refused", "Refused: OrderError."),
        (KeyError(SECRET), "refused", "Refused: KeyError."),
        (BusyError(SECRET), "busy", "The shop is busy."),
        (coded(ErrorCode.RATE_LIMITED), "busy", "The shop is busy."),
        (coded(ErrorCode.DATABASE_ERROR), "down", "It is down."),
        (coded(ErrorCode.RATE_LIMITED, {"reason": "from upstream"}), "busy", "The shop is busy."),
    ],
)
def test_the_most_specific_class_or_the_code_decides(
    exc: Exception, reason: str, message: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The failure counts as declared, and only the log and the trail have the exception."""
    caplog.set_level(logging.INFO)
    envelope = failed(exc, tmp_path / "trail.jsonl", strict=True)
    assert (reason, message) == (envelope.reason, envelope.message)
    assert SECRET not in str(envelope)
    (record,) = records_of(tmp_path / "trail.jsonl")
    assert "broken_contract" not in record
    assert [type(exc).__name__] == [cause["type"].rpartition(".")[2] for cause in record["exception"]["causes"]]
    (logged,) = [record for record in caplog.records if record.name == "mcpcore.services"]
    assert ("get_order", reason) == (logged.mcpcore["operation"], logged.mcpcore["reason"])  # type: ignore[attr-defined]


def chained() -> Exception:
    exc = ValueError(SECRET)
    exc.__cause__ = NoOrderError()
    return exc


@pytest.mark.parametrize(
    ("exc", "name", "reason"),
    [
        (ValueError(SECRET), "VALIDATION_ERROR", None),
        (TimeoutError(), "TIMEOUT", None),  # classified, which is no code
        (chained(), "VALIDATION_ERROR", None),
        (coded(ErrorCode.CONFLICT), "CONFLICT", None),
        (coded(ErrorCode.RATE_LIMITED, reason="refused"), "RATE_LIMITED", "refused"),
        (coded(ErrorCode.RATE_LIMITED, {"reason": "refused"}), "RATE_LIMITED", "refused"),
        (ExceptionGroup("g", [ValueError(), ZeroDivisionError()]), None, None),
    ],
)
def test_all_else_stays_what_it_is(exc: Exception, name: str | None, reason: str | None) -> None:
    """A crash is a crash, and neither a cause nor a reason that is there already is replaced."""
    envelope = failed(exc)
    assert reason == envelope.reason
    assert name in (None, envelope.name)


@pytest.mark.parametrize(
    ("members", "reason", "others"),
    [
        ([NoOrderError(), NoOrderError()], "no_order", None),
        ([ValueError(), BusyError()], "busy", 1),
        ([KeyError(), NoOrderError(), coded(ErrorCode.CONFLICT)], "refused", 2),
        ([coded(ErrorCode.RATE_LIMITED), ValueError()], "busy", 1),
    ],
)
def test_members_of_a_group_are_mapped_first(
    members: list[Exception], reason: str, others: int | None, tmp_path: Path
) -> None:
    """Then the one that answers is chosen as it always is."""
    assert reason == failed(ExceptionGroup("g", members), tmp_path / "trail.jsonl").reason
    assert others == records_of(tmp_path / "trail.jsonl")[0].get("others")


def test_a_mistake_of_the_handler_is_not_mapped() -> None:
    """An undeclared reason is a ValueError, and breaks the contract also where ValueError is mapped."""

    def handler(ctx: Context[Any]) -> str:
        """Get an order."""
        raise ctx.fail("misspelt")

    assert "INTERNAL_ERROR" == served(handler, errors=[REFUSED.on(ValueError)]).name


def test_a_group_may_itself_be_mapped() -> None:
    """Its class is a class like any other."""
    errors = [DOWN.on(ExceptionGroup), REFUSED.on(KeyError)]
    assert "down" == failed(ExceptionGroup("g", [KeyError()]), errors=errors).reason


@pytest.mark.parametrize(("errors", "reason"), [([BUSY.on_code(ErrorCode.CONFLICT)], "busy"), ([REFUSED], "refused")])
def test_a_coded_member_of_a_group_keeps_its_reason_and_effects(errors: Any, reason: str) -> None:
    """Whether all members become the same failure, or the group's own class is mapped."""
    own = None if reason == "busy" else reason
    group = ExceptionGroup("g", [coded(ErrorCode.CONFLICT), coded(ErrorCode.CONFLICT, reason=own, effects="partial")])
    envelope = failed(group, errors=[*errors, DOWN.on(ExceptionGroup)])
    assert (reason, "partial", Retry.never()) == (envelope.reason, envelope.effects, envelope.retry)


def test_a_guard_inside_acts_first() -> None:
    """The failure that it makes has a reason already."""

    async def handler(ctx: Context[Literal["no_order", "refused", "busy", "down", "never"]]) -> str:
        """Get an order."""
        with ctx.guard({OrderError: "down", ErrorCode.CONFLICT: "refused"}):
            raise NoOrderError

    assert "down" == served(handler).reason


class Handler:
    def __call__(self) -> str:
        """Get an order."""
        raise NoOrderError


class Later:
    def __await__(self) -> Any:
        raise NoOrderError
        yield


async def get_async() -> str:
    """Get an order."""
    await anyio.lowlevel.checkpoint()
    raise NoOrderError


def get_later() -> Any:
    """Get an order."""
    return Later()


@pytest.mark.parametrize("handler", [get_async, get_later, Handler(), functools.partial(failing(NoOrderError()))])
def test_every_kind_of_handler_is_mapped(handler: Any) -> None:
    """Async functions, callable objects, partials, and functions that return something to await."""
    assert "no_order" == served(handler).reason


class Desk:
    @tool(errors=MAPPED)
    async def get_order(self) -> str:
        """Get an order."""
        raise NoOrderError

    @resource("orders://mine", errors=MAPPED)
    def mine(self) -> str:
        """My orders."""
        raise NoOrderError

    @resource("orders://{number}", errors=MAPPED)
    async def of(self, number: str) -> str:
        """An order."""
        raise NoOrderError

    @prompt(errors=MAPPED)
    def ask(self) -> str:
        """Ask for an order."""
        raise NoOrderError


@pytest.mark.parametrize(
    "request_it",
    [
        lambda client: client.call_tool("get_order", {}),
        lambda client: client.read_resource("orders://mine"),
        lambda client: client.read_resource("orders://7"),
        lambda client: client.get_prompt("ask"),
    ],
)
def test_methods_resources_and_prompts_are_mapped(request_it: Any) -> None:
    """All of them are handlers with a contract."""
    desk = Desk()
    server = Server("desk", tools=[desk.get_order], resources=[desk.mine, desk.of], prompts=[desk.ask])
    assert "no_order" == envelope_of(outcome_of(Client(server), request_it)).reason


@pytest.mark.no_server
def test_a_unit_test_gets_the_failure() -> None:
    """Called like a function, or through `handler`, the tool raises the failure, with the exception as its cause."""
    made = tool(errors=MAPPED)(failing(NoOrderError()))
    for call in (made, made.handler, lambda: asyncio.run(Desk().get_order())):  # type: ignore[arg-type]
        with pytest.raises(CodedError) as raised:
            call()
        assert ("no_order", {"order_id": 7}) == (raised.value.reason, raised.value.data)
        assert isinstance(raised.value.__cause__, NoOrderError)
    assert made.declaration.handler is made.with_options(errors=[]).handler
    with pytest.raises(CodedError):
        asyncio.run(Desk().get_order.handler())
    assert "handler" == made.handler.__name__
    assert make_context(made).contract is made.contract


@pytest.mark.parametrize("whole", [False, True])
def test_an_item_of_a_batch_is_mapped(whole: bool) -> None:
    """Its failure is the declared one, which may also fail the whole batch."""
    mode = FailureMode("gone", ErrorCode.NOT_FOUND, when="Gone.", recovery="Go.", fails_batch=whole).on(KeyError)

    def handler(ctx: Context[Literal["gone"]]) -> BatchResult[str]:
        """Get orders."""
        batch = Batch[str](ctx)
        with batch.item(1):
            batch.add("one")
        with batch.item(2):
            raise KeyError(SECRET)
        return batch.result()

    server = Server("orders", tools=[tool(errors=[mode], name="get")(handler)])
    result = outcome_of(Client(server), lambda client: client.call_tool("get", {}))
    if whole:
        assert "gone" == envelope_of(result).reason
    else:
        (item,) = result.structured_content["failed"]
        assert ("gone", "Gone.") == (item["error"]["data"]["reason"], item["error"]["message"])


def test_a_batch_whose_items_fail_for_different_reasons_is_not_mapped() -> None:
    """The code of the worst item speaks for no other item, so its declared advice and effects do not either."""
    mode = FailureMode("mine", ErrorCode.RATE_LIMITED, when="!", recovery="!", retry=Retry.now(), effects="none")

    def handler(ctx: Context[Any]) -> BatchResult[str]:
        """Get orders."""
        batch = Batch[str](ctx)
        for exc in (coded(ErrorCode.RATE_LIMITED), KeyError()):
            with batch.item(1):
                raise exc
        return batch.result()

    envelope = served(handler, errors=[REFUSED.on(KeyError), mode.on_code(ErrorCode.RATE_LIMITED)])
    assert (None, None, Retry.never()) == (envelope.reason, envelope.effects, envelope.retry)
    assert envelope.message.startswith("All 2 items failed: 1 mine, 1 refused.")


class RefusingError(Exception):
    """One that cannot be asked for anything, its class included."""

    def __getattribute__(self, name: str) -> Any:
        raise ValueError(name)


@pytest.mark.parametrize(
    ("errors", "expected"),
    [
        ([DOWN.on(RefusingError)], ("SERVICE_UNAVAILABLE", "down")),
        ([REFUSED.on(KeyError)], ("INTERNAL_ERROR", None)),
        ([REFUSED], ("INTERNAL_ERROR", None)),
    ],
)
def test_an_exception_that_cannot_be_asked_is_mapped_like_any_other(errors: Any, expected: Any) -> None:
    """Asking it replaces neither the exception nor the other items of a batch."""

    def handler(ctx: Context[Any]) -> BatchResult[str]:
        """Get orders."""
        batch = Batch[str](ctx)
        batch.add("one")
        with batch.item(2):
            raise RefusingError
        return batch.result()

    envelope = failed(RefusingError(), errors=errors)
    assert expected == (envelope.name, envelope.reason)
    server = Server("orders", tools=[tool(errors=errors, name="get")(handler)])
    (item,) = outcome_of(Client(server), lambda client: client.call_tool("get", {})).structured_content["failed"]
    assert expected == (item["error"]["name"], item["error"].get("data", {}).get("reason"))


def test_only_the_body_is_mapped() -> None:
    """Bad arguments, a result that does not fit and the time limit of the tool itself are not."""

    def handler(number: int = 0) -> Order:
        """Get an order."""
        return {"order_id": "none"}  # type: ignore[return-value]

    async def slow() -> str:
        """Get an order."""
        await anyio.sleep(5)
        return ""

    every = [DOWN.on(ValueError, TypeError, TimeoutError, RuntimeError).on_code(*ErrorCode)]
    assert served(handler, errors=every).reason is None
    server = Server("orders", tools=[tool(errors=every, name="get")(handler)])
    bad = outcome_of(Client(server), lambda client: client.call_tool("get", {"number": "none"}))
    assert "invalid_arguments" == envelope_of(bad).reason
    assert "call_timeout" == served(slow, errors=every, tool={"timeout": 0.05}).reason


def test_a_tool_that_the_handler_calls_keeps_its_reason() -> None:
    """Its failure carries a reason, even inside an error of the framework."""
    inner = tool(errors=[REFUSED.on(KeyError)], name="inner")(failing(KeyError()))

    async def handler(ctx: Context[Any]) -> str:
        """Get an order."""
        if ctx._request is not None and ctx._request.fastmcp is not None:
            return str(await ctx.fastmcp.fastmcp.call_tool("inner", {}))
        return str(await ctx.mcp_server.call_tool("inner", {}))

    outer = tool(errors=[REFUSED, DOWN.on(RuntimeError, OSError, ValueError, BusyError)], name="outer")(handler)
    from fastmcp.exceptions import ToolError as FastMCPError
    from mcp.server.mcpserver.exceptions import ToolError

    catching = tool(errors=[REFUSED, DOWN.on(ToolError, FastMCPError)], name="catching")(handler)
    for name in ("outer", "catching"):
        server = Server("orders", tools=[inner, outer, catching])
        answer = outcome_of(Client(server), lambda client, name=name: client.call_tool(name, {}))
        assert "refused" == envelope_of(answer).reason


@pytest.mark.parametrize(
    ("exc", "options", "retry"),
    [
        (rate_limited(SECRET, {"shop": "a"}).with_found_advice(Retry.after(seconds=30)), {}, Retry.after(seconds=30)),
        # The wait of another code is kept; advice never to retry is not, nor is a wait against what is declared.
        (coded(ErrorCode.DATABASE_ERROR, retry=Retry.after(seconds=30)), {}, Retry.after(seconds=30)),
        (coded(ErrorCode.DATABASE_ERROR, retry=Retry.never()), {}, ErrorCode.SERVICE_UNAVAILABLE.retry),
        (coded(ErrorCode.TIMEOUT, retry=Retry.after(seconds=30)), {}, Retry.never()),
        (coded(ErrorCode.RATE_LIMITED, retry=Retry.after(seconds=30), effects="partial"), {}, Retry.never()),
    ],
)
def test_the_wait_of_a_coded_error_obeys_what_is_declared(exc: CodedError, options: Any, retry: Retry) -> None:
    """Its Retry-After is found advice, which a declared one and the effects overrule."""
    assert retry == failed(exc, tool={"read_only": exc.effects is None}, **options).retry


@pytest.mark.parametrize(
    ("data", "errors", "kept"),
    [
        ({"shop": "a", "floor": 2, "recovery": SECRET}, MAPPED, {"shop": "a"}),
        ({"shop": 3}, MAPPED, {}),
        ({"floor": 2}, [REFUSED.on_code(ErrorCode.RATE_LIMITED)], {"floor": 2}),
        ({"floor": 2}, [BUSY.on_code(ErrorCode.RATE_LIMITED, data=lambda exc: Shop(shop="b"))], {"shop": "b"}),
    ],
)
def test_the_data_of_a_coded_error_is_kept_as_far_as_the_model_admits_it(data: Any, errors: Any, kept: Any) -> None:
    """That is no broken contract, since nobody made the data for the mode."""
    envelope = failed(coded(ErrorCode.RATE_LIMITED, data), errors=errors, strict=True)
    own = {key: value for key, value in (envelope.data or {}).items() if key not in {"reason", "retryable", "recovery"}}
    assert kept == {key: value for key, value in own.items() if value is not None}


def raising(exc: Exception) -> Any:
    raise ZeroDivisionError(SECRET)


@pytest.mark.parametrize(
    ("mode", "text"),
    [
        (NO_ORDER.on(KeyError, data=raising), "data raised ZeroDivisionError"),
        (NO_ORDER.on(KeyError, data=lambda exc: {"order_id": SECRET}), "breaks its model"),  # type: ignore[arg-type,return-value]
        (REFUSED.on(KeyError, message=raising), "message raised ZeroDivisionError"),
        (REFUSED.on(KeyError, message=lambda exc: 7), "message made int, not a sentence"),  # type: ignore[arg-type,return-value]
    ],
)
def test_what_cannot_be_made_breaks_the_contract(mode: Any, text: str, tmp_path: Path) -> None:
    """The failure goes on without it; on a strict server it is an internal error."""
    envelope = failed(KeyError(), tmp_path / "trail.jsonl", errors=[mode])
    assert mode.reason == envelope.reason
    assert envelope.message in {mode.when, mode.code.sentence}
    assert SECRET not in str(envelope)
    (record,) = records_of(tmp_path / "trail.jsonl")
    assert text in record["broken_contract"]
    assert "INTERNAL_ERROR" == failed(KeyError(), errors=[mode], strict=True).name


def test_advice_that_cannot_be_read_breaks_the_contract() -> None:
    """It does so in a coded error that no code maps, too."""
    error = coded(ErrorCode.CONFLICT, retry=5)
    assert "INTERNAL_ERROR" == failed(error, errors=[BUSY.on_code(ErrorCode.CONFLICT)], strict=True).name


async def later(exc: Exception) -> Any: ...


@pytest.mark.no_server
@pytest.mark.parametrize(
    ("declare", "problem"),
    [
        (REFUSED.on, "name what is mapped, such as KeyError"),
        (REFUSED.on_code, r"name what is mapped, such as ErrorCode\.NOT_FOUND"),
        (lambda: REFUSED.on("KeyError"), "takes exception classes, not 'KeyError'"),
        (lambda: REFUSED.on(Exception), "cannot map Exception itself"),
        (
            lambda: REFUSED.on(KeyboardInterrupt),
            "cancellation and exits are not failures; name subclasses of Exception",
        ),
        (lambda: REFUSED.on(CodedError), r"write \.on_code\(ErrorCode\.…\)"),
        (lambda: REFUSED.on_code("CONFLICT"), "did you mean ErrorCode.CONFLICT"),
        (lambda: REFUSED.on(KeyError, data={"shop": 3}), "data must be a function that makes the data .* not dict"),
        (lambda: REFUSED.on(KeyError, data=later), "data must be a function that returns the data, not an async one"),
        (lambda: REFUSED.on(KeyError, message=7), "message must be a function"),
        (lambda: NO_ORDER.on(KeyError), "the data model requires 'order_id'; add data="),
        (lambda: NO_ORDER.on_code(ErrorCode.CONFLICT), "the data model requires 'order_id'; add data="),
        (lambda: Contract([REFUSED.on(KeyError).on(KeyError)]), "KeyError is mapped twice, to 'refused' and to 'ref"),
        (
            lambda: tool(errors=[REFUSED.on(KeyError), DOWN.on(KeyError)])(failing(KeyError())),
            "tool 'handler': KeyError is mapped twice, to 'refused' and to 'down'",
        ),
        (lambda: Contract([*MAPPED, REFUSED.on_code(ErrorCode.TIMEOUT)]), "'refused' is declared already"),
        (
            lambda: Contract([DOWN.on_code(ErrorCode.TIMEOUT), REFUSED.on_code(ErrorCode.TIMEOUT)]),
            "TIMEOUT is mapped twice, to 'down' and to 'refused'",
        ),
    ],
)
def test_a_mapping_that_cannot_stand_is_an_error_at_import(declare: Callable[[], Any], problem: str) -> None:
    """The message says where, what and what to write."""
    with pytest.raises(ContractError, match=problem):
        declare()


@pytest.mark.no_server
def test_a_mapped_mode_is_the_same_mode() -> None:
    """It is equal to the one without, so `ctx.fail` takes both; a copy maps the same, and a pickled one nothing."""
    mapped = DOWN.on(KeyError, message=lambda exc: "…")
    assert mapped == DOWN
    assert Context(Contract([mapped])).fail(DOWN).reason == "down"
    assert copy.deepcopy(mapped) is copy.copy(mapped) is mapped
    assert DOWN == pickle.loads(pickle.dumps(mapped))
    assert {} == pickle.loads(pickle.dumps(Contract([mapped]))).mapped


@pytest.mark.no_server
def test_what_maps_nothing_is_called_as_it_is() -> None:
    """A contract without a mapping costs its calls nothing."""
    handler = failing(KeyError())
    assert tool(errors=[REFUSED])(handler).declaration.run is handler


@pytest.mark.no_server
def test_guard_takes_codes_too() -> None:
    """A coded error without a reason becomes a failure of the mode, the reason or the code, with its advice."""
    error = coded(ErrorCode.RATE_LIMITED, {"floor": 2}, retry=Retry.after(seconds=3))
    ctx: Context[Any] = Context(Contract([REFUSED, DOWN]))
    for guarded in (
        guard("get", errors={(ErrorCode.RATE_LIMITED, KeyError): DOWN}),
        ctx.guard({ErrorCode.RATE_LIMITED: "down"}),
        guard("get", errors={ErrorCode.RATE_LIMITED: "down"}),
        guard("get", errors={ErrorCode.RATE_LIMITED: ErrorCode.SERVICE_UNAVAILABLE}),
    ):
        with pytest.raises(CodedError) as raised, guarded:
            raise error
        assert {"floor": 2} == raised.value.data
        assert raised.value.__cause__ is error
    with pytest.raises(CodedError) as raised, ctx.guard({ErrorCode.CONFLICT: "down"}):
        raise coded(ErrorCode.CONFLICT, reason="refused")
    assert "refused" == raised.value.reason
    with pytest.raises(CodedError) as raised, ctx.guard({ErrorCode.RATE_LIMITED: "down"}):
        raise ConnectionResetError
    assert raised.value.reason is None
