"""A failure that a call creates but neither raises nor returns is logged with its name and location."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import gc
import inspect
import logging
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio.to_thread
import httpx
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from mcpcore import (
    CodedError,
    Context,
    ErrorCode,
    FailureMode,
    Retry,
    Server,
    conflict,
    from_http_response,
    guard,
    not_found,
    retrying,
    service_unavailable,
)
from mcpcore.contract.unraised import MAX_NOTED
from mcpcore.sdk.errors import ToolFailure
from mcpcore.values.request_var import current
from tests.answers import ask
from tests.runtime.test_strict import batch_of

pytestmark = pytest.mark.usefixtures("door")

HERE = Path(__file__)
NO_MATCH = FailureMode("no_match", ErrorCode.NOT_FOUND, when="Nothing matches.", recovery="Call search_articles first.")


class OwnError(CodedError):
    """An application's subclass with a different constructor."""

    def __init__(self, what: str) -> None:
        super().__init__(ErrorCode.CONFLICT, what, reason="own")


def warnings_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [
        record.getMessage() for record in caplog.records if record.name == "mcpcore" and record.levelname == "WARNING"
    ]


def run(handler: Callable[..., Any], *, contract: bool = True) -> Any:
    """Call a tool with `handler` once."""
    server: Server[Any] = Server("s")
    if contract:
        server.add_tool(handler, name="act", errors=[NO_MATCH])
    else:
        server.add_tool(handler, name="act")

    return ask(Client(server), lambda client: client.call_tool("act", {}))


def line_of(handler: Callable[..., Any], text: str) -> int:
    """Return the line of the only statement of `handler` that contains `text`."""
    lines, first = inspect.getsourcelines(handler)
    (number,) = (number for number, line in enumerate(lines) if text in line)
    return first + number


# --- lost -------------------------------------------------------------------------------------------------------------


def by_context(ctx: Context[Any]) -> str:
    ctx.fail("no_match")  # lost
    return "done"


def by_factory() -> str:
    not_found("x")  # lost
    return "done"


def by_constructor() -> str:
    error = CodedError(ErrorCode.CONFLICT, "x", reason="held")  # lost
    return str(error)


def by_subclass() -> str:
    OwnError("x")  # lost
    return "done"


def by_from_unknown() -> str:
    CodedError.from_unknown(KeyError("x"))  # lost
    return "done"


def by_response() -> str:
    from_http_response(httpx.Response(503))  # lost
    return "done"


def before_another_is_raised() -> str:
    not_found("x")  # lost
    raise conflict("y")


def before_a_crash() -> str:
    not_found("x")  # lost
    raise KeyError("y")


async def in_a_task() -> str:
    async def work() -> None:
        not_found("x")  # lost

    await asyncio.gather(work(), work())
    return "done"


async def in_a_thread() -> str:
    def work() -> None:
        not_found("x")  # lost

    await anyio.to_thread.run_sync(work)
    return "done"


def beside_a_raise() -> str:
    try:
        not_found("x")  # lost
        raise ValueError("y")
    except ValueError:
        return "done"


def as_data() -> dict[str, str]:
    return {"problem": not_found("x").message}  # lost


LOST = [
    (by_context, "NOT_FOUND with the reason 'no_match'"), (by_factory, "NOT_FOUND"),
    (by_constructor, "CONFLICT with the reason 'held'"), (by_subclass, "CONFLICT with the reason 'own'"),
    (by_from_unknown, "INTERNAL_ERROR"), (by_response, "SERVICE_UNAVAILABLE"), (before_another_is_raised, "NOT_FOUND"),
    (before_a_crash, "NOT_FOUND"), (in_a_task, "NOT_FOUND"), (in_a_thread, "NOT_FOUND"), (as_data, "NOT_FOUND"),
    (beside_a_raise, "NOT_FOUND"),
]  # fmt: skip


@pytest.mark.parametrize(("handler", "what"), LOST, ids=[handler.__name__ for handler, _ in LOST])
@pytest.mark.parametrize("contract", [True, False], ids=["contract", "sdk"])
def test_a_lost_failure_is_reported(
    handler: Callable[..., Any], what: str, contract: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """The log names the tool, code, reason, file and line, and the fix; the call ends as usual."""
    result = run(handler, contract=contract or handler is by_context)
    assert (handler in (before_another_is_raised, before_a_crash)) == result.is_error
    place = f"{HERE}:{line_of(handler, '# lost')}"
    expected = (
        f"'act' made a failure, {what}, at {place}, and did not raise it, so clients did not get it; put `raise` before it"
        " (or ignore this if it was the cause or a member of an exception that was handled)"
    )
    assert [expected] * (2 if handler is in_a_task else 1) == warnings_of(caplog)


@pytest.mark.anyio
async def test_resources_prompts_and_nested_tools_report_too(caplog: pytest.LogCaptureFixture) -> None:
    """The report has their names, whether or not they fail."""
    server: Server[Any] = Server("s")

    @server.resource("data://{how}")
    def read(how: str) -> str:
        not_found("x")
        if how == "fails":
            raise conflict("y")
        return "done"

    @server.prompt()
    def ask(how: str) -> str:
        return read(how)

    @server.tool(errors=[NO_MATCH])
    def inner(how: str) -> str:
        return read(how)

    async with Client(server) as client:
        for how in ("works", "fails"):
            with contextlib.suppress(MCPError):
                await client.read_resource(f"data://{how}")
            with contextlib.suppress(MCPError):
                await client.get_prompt("ask", {"how": how})
            with contextlib.suppress(ToolFailure):
                await server.call_tool("inner", {"how": how})
    names = [message.partition(" made a failure")[0] for message in warnings_of(caplog)]
    assert ["'data://works'", "'ask'", "'inner'", "'data://fails'", "'ask'", "'inner'"] == names


def test_a_reason_cannot_forge_a_line_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """It cannot control the terminal that shows the log, either."""

    def handler() -> str:
        CodedError(ErrorCode.CONFLICT, "x", reason="a\nb\x1b[2J" + "c" * 1_000)
        return "done"

    run(handler)
    (message,) = warnings_of(caplog)
    assert message.isprintable()
    assert 700 > len(message)


def test_some_of_many_lost_failures_are_named(caplog: pytest.LogCaptureFixture) -> None:
    """The others are counted, up to a limit."""

    def handler() -> str:
        for _ in range(3 * MAX_NOTED):
            not_found("x")
        return "done"

    run(handler)
    warnings = warnings_of(caplog)
    assert 11 == len(warnings)
    assert f"'act' lost {MAX_NOTED - 10} more failures in the same call" == warnings[-1]


# --- not lost ---------------------------------------------------------------------------------------------------------


def raised(ctx: Context[Any]) -> str:
    raise ctx.fail("no_match")


def raised_and_handled() -> str:
    try:
        raise not_found("x")
    except CodedError:
        return "done"


def returned() -> Any:
    return not_found("x")


def returned_among_others() -> Any:
    return {"a": [not_found("x"), conflict("y")]}


def raised_as_a_group() -> str:
    raise ExceptionGroup("several", [not_found("x"), ExceptionGroup("more", [conflict("y")])])


def a_cause_of_the_outcome() -> str:
    raise KeyError("x") from not_found("y")


def a_cause_that_is_set() -> str:
    error = conflict("x")
    error.__cause__ = not_found("y")
    raise error


def kept_in_a_batch(ctx: Context[Any]) -> Any:
    return batch_of(ctx, lambda: ctx.fail("no_match"), good=1)


def a_batch_that_fails(ctx: Context[Any]) -> Any:
    return batch_of(ctx, lambda: ctx.fail("no_match"), good=0)


def told_as_an_item(ctx: Context[Any]) -> Any:
    return {"failed": [ctx.render_item(ctx.record_failure(ctx.fail("no_match")))]}


def guarded() -> str:
    try:
        with guard("op", errors={KeyError: ErrorCode.NOT_FOUND}):
            raise KeyError("x")
    except CodedError:
        pass
    try:
        with guard("op", errors={KeyError: ErrorCode.NOT_FOUND}):
            raise ExceptionGroup("several", [KeyError("x"), OSError("y")])
    except ExceptionGroup:
        return "done"
    return "not reached"


def retried() -> str:
    @retrying(attempts=2, backoff=0.001)
    def flaky() -> str:
        raise service_unavailable("x", retry=Retry.now())

    try:
        return flaky()
    except CodedError:
        return "done"


def copied_and_raised() -> str:
    error = not_found("x")
    try:
        raise error
    except CodedError:
        raise copy.copy(error) from error


async def raised_in_a_task() -> Any:
    async def work() -> None:
        raise not_found("x")

    await asyncio.gather(work(), work(), return_exceptions=True)
    return "done"


def members_of_a_group_that_is_handled(ctx: Context[Any]) -> str:
    try:
        raise ExceptionGroup(
            "several",
            [
                ctx.fail("no_match"),
                conflict("x"),
            ],
        )
    except* CodedError:
        pass
    return "done"


def copied_before_it_is_raised(ctx: Context[Any]) -> str:
    error = ctx.fail("no_match")
    again = copy.copy(error)
    raise again


def raised_and_without_its_traceback() -> str:
    error = not_found("x")
    try:
        raise error
    except CodedError as failed:
        failed.with_traceback(None)
    return "done"


NOT_LOST = [
    raised, raised_and_handled, returned, returned_among_others, raised_as_a_group, a_cause_of_the_outcome,
    a_cause_that_is_set, kept_in_a_batch, a_batch_that_fails, told_as_an_item, guarded, retried,
    copied_and_raised, raised_in_a_task, members_of_a_group_that_is_handled,
    copied_before_it_is_raised, raised_and_without_its_traceback,
]  # fmt: skip


@pytest.mark.parametrize("handler", NOT_LOST, ids=lambda handler: handler.__name__)
def test_a_failure_that_is_used_is_not_reported(handler: Callable[..., Any], caplog: pytest.LogCaptureFixture) -> None:
    """Failures that are raised, returned, grouped, chained or kept in a batch are used, like the framework's own."""
    run(handler)
    assert not [message for message in warnings_of(caplog) if "did not raise it" in message]


@pytest.mark.anyio
@pytest.mark.no_server
async def test_outside_a_call_nothing_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    """A module may keep failures for later use."""
    not_found("x")

    conflict("y")
    assert not warnings_of(caplog)


def test_nothing_is_kept_after_the_call(caplog: pytest.LogCaptureFixture) -> None:
    """Failures in a task that continues are no longer tracked, either."""
    kept: list[weakref.ref[Any]] = []
    requests: list[Any] = []

    class Big:
        pass

    def handler() -> str:
        big = Big()
        kept.append(weakref.ref(big))
        requests.append(current.get())
        for error in (not_found("x", {"big": big}), conflict("y")):
            try:
                raise error
            except CodedError:
                pass
        return "done"

    run(handler)
    gc.collect()
    assert [None] == [reference() for reference in kept]
    (request,) = requests
    token = current.set(request)
    try:
        not_found("z")
        assert [] == list(request.unraised())
    finally:
        current.reset(token)
    assert not warnings_of(caplog)


@pytest.mark.anyio
async def test_a_cancelled_call_reports_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """It had no time to raise the failure that it created."""
    caplog.set_level(logging.WARNING)
    server: Server[Any] = Server("s")
    began = asyncio.Event()

    @server.tool()
    async def waits() -> str:
        error = not_found("x")
        began.set()
        await asyncio.sleep(60)
        raise error

    async with Client(server) as client:
        task = asyncio.create_task(client.call_tool("waits", {}))
        await began.wait()
        task.cancel()
        with pytest.raises((asyncio.CancelledError, MCPError)):
            await task
    assert not [message for message in warnings_of(caplog) if "did not raise it" in message]
