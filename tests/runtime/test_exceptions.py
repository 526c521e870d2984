"""Every exception of the package survives pickling and copying; one raised often does not grow."""

from __future__ import annotations

import copy
import gc
import importlib
import pickle
import pkgutil
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

import anyio
import pytest
from mcp import Client
from mcp.server.mcpserver.exceptions import ResourceError

import mcpcore
from mcpcore import CodedError, Context, Envelope, ErrorCode, FailureMode, Retry, Server, not_found, tool
from mcpcore.boundary.outcome import Breach, BrokenContractError
from mcpcore.boundary.upstream import UpstreamError
from mcpcore.client import ToolCallFailed
from mcpcore.integrations.fastmcp import ContractFailure
from mcpcore.integrations.fastmcp.errors import ProtocolFailure
from mcpcore.integrations.fastmcp_client import PolicyToolError
from mcpcore.sdk.errors import ToolFailure
from mcpcore.services.batch import Batch, BatchResult
from mcpcore.services.breaker import CircuitOpenError
from mcpcore.testing.fuzzing import FuzzError, Problem
from mcpcore.values.unwrapping import ReturnedError
from mcpcore.wire.envelope_builder import build_envelope


class RateLimitError(CodedError):
    """A failure with a different constructor."""

    def __init__(self, seconds: int, *, host: str) -> None:
        super().__init__(ErrorCode.RATE_LIMITED, f"{host} is busy.", {"host": host}, retry=Retry.after(seconds=seconds))
        self.seconds = seconds


class PairError(CodedError):
    """A failure whose `__new__` takes arguments, too."""

    def __new__(cls, *args: Any) -> Self:
        return super().__new__(cls)

    def __init__(self, left: str, right: str) -> None:
        super().__init__(ErrorCode.CONFLICT, f"{left} and {right}", reason="pair")


ENTRY = FailureMode("gone", ErrorCode.NOT_FOUND, when="It is gone.", recovery="Look for another one.")
ENVELOPE = Envelope(
    code=-32001,
    name="NOT_FOUND",
    message="It left.",
    retry=Retry.never(),
    tool="look",
    data=MappingProxyType({"reason": "gone", "retryable": False, "nested": {"a": [1]}}),
    context=MappingProxyType({"session_id": "s"}),
    native_code="gone",
)


def _declared() -> CodedError:
    from mcpcore.contract.errors import failure_of

    return failure_of(ENTRY, None, {"id": 7}, recovery={"strategy": "check_input"}, retry=Retry.now())


SPECIAL: dict[str, list[Callable[[], BaseException]]] = {
    "CodedError": [
        _declared,
        lambda: CodedError(ErrorCode.NOT_FOUND, "It left.", MappingProxyType({"id": 7}), recovery="Wait."),
        lambda: CodedError.startup_failure(session_id="s"),
        lambda: CodedError(ErrorCode.NOT_FOUND, "m" * 200_000, recovery=None),
        lambda: RateLimitError(5, host="example.org"),
        lambda: PairError("a", "b"),
    ],
    "FrameworkError": [lambda: mcpcore.contract.errors.FrameworkError(ErrorCode.INVALID_PARAMS, "No.", {"issues": []})],
    "ToolFailure": [lambda: ToolFailure(ENVELOPE), lambda: ToolFailure(_made())],
    "UpstreamError": [lambda: UpstreamError(ENVELOPE)],
    "BrokenContractError": [lambda: BrokenContractError(Breach("lost", "It was lost."), Breach("data", "It is bad."))],
    "ReturnedError": [lambda: ReturnedError(ValueError("It went wrong."))],
    "ContractFailure": [lambda: ContractFailure(KeyError("left"), "It left.")],
    "ProtocolFailure": [lambda: ProtocolFailure(code=-32603, message="It left.", data={"a": 1})],
    "UnansweredError": [lambda: mcpcore.sdk.errors.UnansweredError(ResourceError("It left."))],
    "CircuitOpenError": [
        lambda: CircuitOpenError(ErrorCode.SERVICE_UNAVAILABLE, "It is open.", retry=Retry.after(seconds=3))
    ],
    "ToolCallFailed": [
        lambda: ToolCallFailed("look", ENVELOPE, arguments={"id": 7}, entry=ENTRY, inferred=True, attempts=2)
    ],
    "PolicyToolError": [lambda: PolicyToolError("look", ENVELOPE, attempts=2)],
    "FuzzError": [lambda: FuzzError("look", (Problem(kind="crash", text="KeyError", arguments={"id": 7}),))],
    "Problem": [lambda: mcpcore.cli.problems.Problem("No.", hint="Do it.", detail="x")],
    "Failed": [lambda: mcpcore.cli.problems.Failed("No.", hint="Do it.", detail="x")],
}


def _made() -> Envelope:
    return build_envelope(
        ErrorCode.NOT_FOUND, "It left.", retry=Retry.now(), tool="look", data={"rows": ["r" * 9_999] * 99}
    )


def _classes() -> dict[str, type[BaseException]]:
    """Return every public exception class of the package."""
    classes: dict[str, type[BaseException]] = {}
    for module in pkgutil.walk_packages(mcpcore.__path__, "mcpcore."):
        if module.name.endswith("__main__"):
            continue
        try:
            members = vars(importlib.import_module(module.name))
        except ModuleNotFoundError as error:
            if str(error.name).startswith("mcpcore"):
                raise
            continue  # the environment with FastMCP 4.0 has neither mypy nor the frameworks for agents
        for thing in members.values():
            if isinstance(thing, type) and issubclass(thing, BaseException) and thing.__module__.startswith("mcpcore"):
                classes[thing.__name__] = thing
    return {name: kind for name, kind in classes.items() if not name.startswith("_")}


def _instances() -> Iterator[Callable[[], BaseException]]:
    for name, kind in sorted(_classes().items()):
        yield from SPECIAL.get(name, [lambda kind=kind: kind("It went wrong.")])


def _facts(value: Any) -> Any:
    """Return all state of an exception in a comparable form."""
    if isinstance(value, BaseException):
        state = {key: _facts(item) for key, item in sorted(vars(value).items())}
        return type(value), str(value), _facts(value.args), state
    if isinstance(value, Envelope):
        return value.to_json(), value.dialect, value.native_code, value.context
    if isinstance(value, MappingProxyType):
        return dict(value)
    return [_facts(item) for item in value] if isinstance(value, tuple) else value


def test_every_exception_survives_pickle_and_copy() -> None:
    """All of its state survives, even in a copy of a copy."""
    # Not parametrized: to find the classes imports all of the package, and then each worker would.
    makers = list(_instances())
    assert len(makers) > 30
    for exc in (make() for make in makers):
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
            assert _facts(pickle.loads(pickle.dumps(exc, protocol))) == _facts(exc)
        for duplicate in (copy.copy, copy.deepcopy, lambda it: copy.copy(pickle.loads(pickle.dumps(it)))):
            assert _facts(duplicate(exc)) == _facts(exc)
            assert duplicate(exc) is not exc


def test_an_envelope_with_views_of_mappings_can_be_copied() -> None:
    """A mapping view itself can be neither pickled nor copied."""
    assert copy.deepcopy(ENVELOPE) == ENVELOPE
    assert pickle.loads(pickle.dumps(ENVELOPE)) == ENVELOPE


# --- one exception, many calls ----------------------------------------------------------------------------------------

SHARED = not_found("It left.", {"id": 7}, reason="gone")
CAUSE = OSError("no route")
CRASH = RuntimeError("broken")


HELD: weakref.WeakSet[Held] = weakref.WeakSet()


class Held:
    """A resource that a call holds."""

    def __init__(self) -> None:
        HELD.add(self)


def _fail_shared() -> None:
    held = Held()
    assert held  # a variable of the frame, which a traceback keeps
    raise SHARED


def _fail_with_shared_cause() -> None:
    held = Held()
    assert held  # a variable of the frame, which a traceback keeps
    try:
        raise CAUSE
    except OSError as exc:
        raise not_found("It left.") from exc


def _fail_after_shared_context() -> None:
    try:
        raise CAUSE
    except OSError:
        raise ValueError("new")  # noqa: B904 - the context is what matters


def _crash_shared() -> None:
    held = Held()
    assert held  # a variable of the frame, which a traceback keeps
    raise CRASH


def _group_shared() -> None:
    raise ExceptionGroup("several", [SHARED, CRASH])


def _depth(exc: BaseException) -> int:
    depth, trace = 0, exc.__traceback__
    while trace is not None:
        depth, trace = depth + 1, trace.tb_next
    return depth


@pytest.mark.anyio
@pytest.mark.usefixtures("door")
@pytest.mark.parametrize(
    "fail", [_fail_shared, _fail_with_shared_cause, _fail_after_shared_context, _crash_shared, _group_shared]
)
async def test_an_exception_raised_in_many_calls_does_not_grow(fail: Callable[[], None], trail: Path) -> None:
    """Its traceback, state and records stay the same size, and nothing that a call held stays alive."""

    @tool(errors=[ENTRY])
    def look(ctx: Context) -> str:
        with mcpcore.bind(session_id="s"):
            fail()
        return ""

    @tool(errors=[ENTRY])
    def look_at_all(ctx: Context) -> BatchResult[str]:
        batch = Batch[str](ctx)
        for item in range(3):
            with batch.item(item):
                fail()
        batch.add("found")
        return batch.result()

    server = Server("s", tools=[look, look_at_all], audit=trail)

    @server.resource("x://shared")
    def read() -> str:
        fail()
        return ""

    @server.prompt()
    def ask() -> str:
        fail()
        return ""

    async with Client(server) as client:
        for _ in range(12):
            assert (await client.call_tool("look", {})).is_error
            await client.call_tool("look_at_all", {})
            for request in (client.read_resource, client.get_prompt):
                with pytest.raises(Exception, match=r"."):
                    await request("x://shared" if request == client.read_resource else "ask")
    gc.collect()
    for exc in (SHARED, CAUSE, CRASH):
        assert _depth(exc) < 10
        assert len(vars(exc)) < 20
        assert not getattr(exc, "__notes__", [])
    assert not HELD
    lengths = [len(line) for line in trail.read_text().splitlines() if '"tool":"look"' in line]
    assert len(lengths) == 12
    assert max(lengths[1:]) <= max(lengths[0], 2_000) * 1.5


@pytest.mark.usefixtures("door")
def test_an_exception_that_the_caller_of_a_server_is_handling_keeps_its_traceback() -> None:
    """It is only the context of later failures, not a failure of the server."""

    @tool
    def look() -> str:
        raise not_found("It left.")

    async def call() -> None:
        async with Client(Server("s", tools=[look])) as client:
            assert (await client.call_tool("look", {})).is_error

    try:
        raise LookupError("outside")
    except LookupError as exc:
        anyio.run(call)
        depth = _depth(exc)
    assert depth == 1


@pytest.mark.anyio
@pytest.mark.usefixtures("door")
@pytest.mark.parametrize("threads", [True, False])
async def test_concurrent_calls_may_raise_the_same_exception(threads: bool) -> None:
    """Each call is answered with it."""

    def fail() -> str:
        raise SHARED

    async def fail_soon() -> str:
        await anyio.sleep(0.001)
        raise SHARED

    server = Server("s")
    server.add_tool(fail if threads else fail_soon, name="look", errors=[ENTRY])

    async with Client(server) as client, anyio.create_task_group() as tasks:

        async def call() -> None:
            assert (await client.call_tool("look", {})).structured_content["error"]["data"]["id"] == 7

        for _ in range(50):
            tasks.start_soon(call)
    assert _depth(SHARED) < 10
