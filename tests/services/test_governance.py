"""Bound fields are in every envelope and record of the failures inside, and in no other."""

from __future__ import annotations

import contextvars
from collections.abc import Iterator
from typing import Any

import anyio
import anyio.to_thread
import pytest
from mcp.client import Client

from mcpcore import CodedError, Context, ErrorCode, Server, guard, not_found, tool
from mcpcore.contract.bound_fields import bind, bound, carried, carry, hand_on
from mcpcore.services.batch import Batch, BatchResult
from tests.answers import envelope_of

pytestmark = pytest.mark.usefixtures("door")


async def context_of(server: Server, name: str = "act") -> Any:
    """Return the context of a call's failure."""
    async with Client(server) as client:
        envelope = envelope_of(await client.call_tool(name, {}))
    return envelope.context


@pytest.mark.no_server
def test_blocks_nest_and_none_unbinds() -> None:
    """The innermost value applies, and leaving a block restores the previous state."""
    with bind(role="a", phase_id="P"):
        with bind(role=None, plan_hash="H"):
            assert {"phase_id": "P", "plan_hash": "H"} == bound()
        assert {"role": "a", "phase_id": "P"} == bound()
    assert {} == bound()


@pytest.mark.no_server
@pytest.mark.parametrize("fields", [{"user": "x"}, {"role": 3}])
def test_invalid_fields_cannot_be_bound(fields: Any) -> None:
    """Blocks, servers and constructors refuse them and list the valid names."""
    for act in (lambda: bind(**fields), lambda: Server("s", bind=fields), lambda: CodedError.startup_failure(**fields)):
        with pytest.raises(TypeError, match=r"role"):
            act()


@pytest.mark.anyio
async def test_fields_of_tasks_threads_and_groups_are_sent() -> None:
    """A failure in a task has the fields bound in that task, even after leaving in a group."""

    @tool
    async def act() -> None:
        async def work(phase: str) -> None:
            with bind(phase_id=phase):
                await anyio.to_thread.run_sync(inner)

        def inner() -> None:
            with bind(invariant_id="I1"):
                raise not_found(f"of {bound()['phase_id']}", reason="gone")

        async with anyio.create_task_group() as group:
            group.start_soon(work, "P1")

    assert {"session_id": "S", "phase_id": "P1", "invariant_id": "I1"} == await context_of(
        Server("s", tools=[act], bind={"session_id": "S"})
    )


@pytest.mark.anyio
async def test_unbinding_affects_fields_of_the_server_and_the_call() -> None:
    """A field that is None when the failure occurs is left out, wherever it was bound."""

    @tool
    def act(ctx: Context) -> None:
        ctx.bind(role=None, phase_id="P")
        with bind(session_id="inner"), bind(session_id=None):
            raise not_found("x")

    server = Server("s", tools=[act], bind={"session_id": "S", "role": "R", "plan_hash": "H"})
    assert {"phase_id": "P", "plan_hash": "H"} == await context_of(server)


@pytest.mark.anyio
async def test_a_reused_exception_brings_nothing_to_another_call() -> None:
    """The session of one caller never appears in the failure of the next."""
    gone = not_found("gone")
    sessions = iter(["A", None])

    @tool
    def act() -> None:
        session = next(sessions)
        if session is None:
            raise gone
        with bind(session_id=session):
            raise gone

    server = Server("s", tools=[act])
    assert {"session_id": "A"} == await context_of(server)
    assert await context_of(server) is None


@pytest.mark.anyio
async def test_fields_given_to_a_constructor_outside_any_call_are_kept() -> None:
    """A module constant keeps its invariant in every call."""
    broken = CodedError.invariant_violation("I7")

    @tool
    def act() -> None:
        raise broken

    server = Server("s", tools=[act])
    for _ in range(2):
        assert {"invariant_id": "I7"} == await context_of(server)


@pytest.mark.anyio
async def test_fields_are_kept_when_a_guard_converts_an_exception() -> None:
    """The block inside the guard counts, alone and in a group."""

    @tool
    def act() -> None:
        with guard(errors={KeyError: ErrorCode.NOT_FOUND}), bind(phase_id="P"):
            raise KeyError

    assert {"phase_id": "P"} == await context_of(Server("s", tools=[act]))


@pytest.mark.anyio
async def test_items_of_a_batch_have_the_fields_of_the_blocks_around_them() -> None:
    """A failure reported inside an open block has the block's fields, which override those of the call."""

    @tool
    def act(ctx: Context) -> BatchResult[str]:
        ctx.bind(role="call", plan_hash="H")
        batch = Batch[str](ctx)
        batch.add("done")
        with bind(role="block"), batch.item(1), bind(phase_id="P"):
            raise not_found("x")
        return batch.result()

    with bind(role="around the server", workspace_root="/w"):
        async with Client(Server("s", tools=[act])) as client:
            content: Any = (await client.call_tool("act", {})).structured_content
    context = content["failed"][0]["error"]["context"]
    assert {"role": "block", "plan_hash": "H", "phase_id": "P", "workspace_root": "/w"} == context


@pytest.mark.no_server
def test_a_block_left_in_another_context_undoes_nothing() -> None:
    """A generator closed in another context does not change the fields bound there."""

    def generator() -> Iterator[None]:
        with bind(role="generator"):
            yield

    suspended = generator()
    contextvars.copy_context().run(next, suspended)
    with bind(role="here"):
        suspended.close()
        assert {"role": "here"} == bound()


class RefusingError(Exception):
    """Rejects new attributes and returns unexpected ones."""

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(name)

    def __getattr__(self, name: str) -> object:
        return ("x", "y")


@pytest.mark.no_server
def test_an_exception_that_rejects_attributes_still_has_its_fields() -> None:
    """An exception that returns a value for any attribute has no fields that were not bound."""
    exc = RefusingError()
    assert {} == carried(exc)
    with pytest.raises(RefusingError), bind(role="R"):
        raise exc
    assert {"role": "R"} == carried(exc)
    other = KeyError()
    hand_on(exc, other)
    hand_on(ValueError(), other)
    assert {"role": "R"} == carried(other)
    carry(other, {"role": "later", "phase_id": "P"})
    assert {"role": "R", "phase_id": "P"} == carried(other)


@pytest.mark.no_server
def test_from_unknown_keeps_the_advice_and_the_cause() -> None:
    """Strings, mappings, groups, exceptions with advice and coded errors are accepted."""
    import httpx

    request = httpx.Request("GET", "http://x")
    answer = httpx.Response(429, headers={"Retry-After": "7"}, request=request)
    limited = CodedError.from_unknown(httpx.HTTPStatusError("x", request=request, response=answer))
    assert (ErrorCode.RATE_LIMITED, 7.0) == (limited.code, limited.advice.seconds)
    for thrown in ("text", {"code": 3}, None):
        made = CodedError.from_unknown(thrown, phase_id="P")
        assert (ErrorCode.UNKNOWN_ERROR, str(thrown)) == (made.code, str(made.__cause__))
        assert {"phase_id": "P"} == carried(made)
    group = ExceptionGroup("g", [TimeoutError(), TimeoutError()])
    assert (ErrorCode.TIMEOUT, group) == (
        (made := CodedError.from_unknown(group)).code,
        made.__cause__,
    )
    assert ErrorCode.CONFLICT == CodedError.from_unknown(KeyError(), code=ErrorCode.CONFLICT).code
    own = not_found("x")
    assert own is CodedError.from_unknown(own, role="R")
    assert {"role": "R"} == carried(own)
    cause = OSError()
    assert cause is CodedError.tool_failure(ErrorCode.CONFLICT, cause=cause).__cause__


@pytest.mark.no_server
def test_a_block_that_cannot_give_its_fields_to_an_exception_ends_all_the_same() -> None:
    """Otherwise the fields of one caller would be in the failures of others."""

    class Exiting(dict[str, Any]):
        def get(self, *_: Any) -> Any:
            raise SystemExit

    failure = ValueError()
    failure.__dict__ = Exiting()
    with pytest.raises(SystemExit), bind(session_id="s1"):
        raise failure
    assert bound() == {}


@pytest.mark.anyio
async def test_an_exception_with_a_hostile_namespace_is_a_crash_like_any_other() -> None:
    """Its attributes are in a mapping of its author's, which raises."""

    class Raising(dict[str, Any]):
        def __contains__(self, key: object) -> bool:
            raise RuntimeError

    @tool
    def f() -> int:
        failure = ValueError()
        failure.__dict__ = Raising()
        raise failure

    async with Client(Server("s", tools=[f])) as client:
        envelope = envelope_of(await client.call_tool("f", {}))
    assert envelope.correlation_id
    assert envelope.context is None
