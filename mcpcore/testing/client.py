"""`tool_client`, the SDK's client for any server, in memory and strict by default; and a context for a bare handler.

The effects that failures declare are checked: a probe looks at the world before and after each call. A failure that
says "nothing was changed" must leave the probe's value as it was, and one that says "partial" must not. Resources and
prompts are judged like tools. Calls that overlap are not judged, since each could have made the change.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

import anyio
from mcp import Client

from mcpcore.boundary import coverage_hook
from mcpcore.boundary.strictness import strict_scope
from mcpcore.client.failures import pages_of
from mcpcore.contract.failure_modes import ContractError
from mcpcore.declare.context import Context
from mcpcore.declare.declaration import Declared, DeclaredMethod
from mcpcore.testing.servers import connectable, lowlevel_server
from mcpcore.values.jsonable import cut_text, safe_str
from mcpcore.values.untrusted import quietly
from mcpcore.values.unwrapping import is_a, leaves_of
from mcpcore.wire.envelope import Envelope

if TYPE_CHECKING:
    from types import CodeType

    from fastmcp import FastMCP
    from mcp.server import Server as LowLevelServer
    from mcp.server.mcpserver import MCPServer
    from mcp_types import Tool as ListedTool

    from mcpcore.contract.errors import CodedError

_probes: WeakKeyDictionary[object, Callable[[], Any]] = WeakKeyDictionary()
"""The probe of each server that a contract suite has one for."""


def watch(server: Any, probe: Callable[[], Any]) -> None:
    """Check every tool call that a test makes with `tool_client(server)` from now on."""
    _probes[server] = probe


_JUDGED: Final = frozenset({"tools/call", "resources/read", "prompts/get"})


class EffectsCheck:
    """A middleware of the SDK's own server, which compares the world before and after each call.

    Attributes:
        broken: The claims that were not true, as sentences.
    """

    def __init__(self, probe: Callable[[], Any]) -> None:
        """Look at the world with `probe`, which may be async."""
        self.broken: list[str] = []
        self._probe = probe
        self._running = 0
        self._started = 0

    async def __call__(self, ctx: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
        """Pass a message on, and judge the failure of a call."""
        if ctx.method not in _JUDGED or ctx.request_id is None:
            return await call_next(ctx)
        self._running += 1
        self._started += 1
        alone, started = self._running == 1, self._started
        try:
            before = await self._state()
            try:
                outcome: Any = await call_next(ctx)
            except Exception as exc:  # noqa: BLE001 - raised again below: a resource fails with an error of the protocol
                outcome = exc
            after = await self._state()
        finally:
            self._running -= 1
        if alone and started == self._started and before and after:
            self._judge(outcome, before[0], after[0])
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def _state(self) -> tuple[Any] | None:
        """The probe's value; None if it cannot be known, which is reported.

        The server would mask an exception of the probe as its own crash.
        """
        try:
            value = self._probe()
            # A copy, since the probe may return the very list or dict that a call changes.
            state = _copy_of(await value if inspect.isawaitable(value) else value)
            is_comparable = bool(_copy_of(state) == state)
        except Exception as exc:  # noqa: BLE001 - the probe is the test's own
            problem = f"the probe of state= failed: {type(exc).__name__}: {safe_str(exc)}"
        else:
            if is_comparable:
                return (state,)
            problem = (
                f"state= returns a {type(state).__name__} that does not equal its own copy, so no change can be seen; "
                "return numbers, texts, or lists and dicts of them"
            )
        if problem not in self.broken:
            self.broken.append(problem)
        return None

    def _judge(self, result: object, before: Any, after: Any) -> None:
        failure = quietly(lambda: Envelope.from_result(result), None)
        if failure is None or failure.effects not in ("none", "partial"):
            return
        changed = bool(before != after)
        what = f"{failure.tool} failed with {failure.reason or failure.name}"
        if failure.effects == "none" and changed:
            states = f"before: {_shown(before)}, after: {_shown(after)}"
            self.broken.append(f"{what}, which says that nothing was changed, but the state changed ({states})")
        elif failure.effects == "partial" and not changed:
            self.broken.append(
                f"{what}, which says that something was changed, but the state is unchanged: {_shown(after)}"
            )


def _copy_of(value: Any) -> Any:
    """A copy that later changes of `value` do not reach; rows, cursors and views become lists."""
    if isinstance(value, Iterator):
        value = list(value)
    if type(value) in (list, tuple):
        return [_copy_of(item) for item in value]
    if type(value) is dict:
        return {key: _copy_of(item) for key, item in value.items()}
    try:
        return copy.deepcopy(value)
    except TypeError:
        if isinstance(value, Iterable):  # such as a row of SQLite, or the keys of a dict
            return [_copy_of(item) for item in value]
        raise


def _shown(value: Any) -> str:
    return cut_text(quietly(lambda: repr(value), f"a {type(value).__name__}"), 200)


@contextlib.contextmanager
def checking(server: Any, probe: Callable[[], Any] | None) -> Iterator[list[str]]:
    """Check the calls of `server` with `probe`, else with that of its suite; yields the claims that are not true."""
    probe = probe or _probes.get(server)
    if probe is None:
        yield []
        return
    check, chain = EffectsCheck(probe), lowlevel_server(server).middleware
    chain.insert(0, check)  # outermost, since on FastMCP a failure gets its envelope on the way out
    try:
        yield check.broken
    finally:
        chain.remove(check)


@asynccontextmanager
async def tool_client(
    server: MCPServer[Any] | FastMCP[Any] | LowLevelServer[Any],
    *,
    strict: bool | None = True,
    fail: str | Mapping[str, str | Sequence[str]] | None = None,
    seed: int = 0,
    state: Callable[[], Any] | None = None,
    **options: Any,
) -> AsyncIterator[Client]:
    """Start `server` in memory, and yield the SDK's client for it.

    ```python
    async with tool_client(server) as client:
        result = await client.call_tool("get_order", {"order_id": "A-9"})
    assert result.is_error
    ```

    The client is the same for each kind of server. A tool that fails returns a `CallToolResult` whose `is_error` is
    true. A resource or a prompt that fails raises the SDK's `MCPError`, as an unknown tool does by default.

    Args:
        server: A `mcpcore.Server`, a server of the SDK or a FastMCP server; its lifespan runs.
        strict: Whether the server is strict while the client is open. With None, the server's own option decides.
        fail: Failures on demand, by tool: with `{"place_order": "payment_unconfirmed"}` every call fails with that
            reason, and `"all"` raises each reason of each tool once. A reason may have options, such as
            `"payment_unconfirmed,first=2"`; `mcpcore run --help` lists them.
        seed: Decides which calls fail on demand where a failure has a probability.
        state: Returns a value of the world, such as the number of rows in a table; it may be async. A failure that says
            that nothing was changed must leave it as it was, and one that says "partial" must not. By default, the
            `state` of the `contract_suite` of the server, if it has any.
        **options: Options of `mcp.Client`, such as `elicitation_callback` or `mode`. The default of `cache` is None, so
            that each request reaches the server.

    Raises:
        TypeError: If `server` is not a server.
        AssertionError: At the end, if the effects of a failure were not what it says.
        FaultError: If a failure on demand cannot be raised: it names a tool or a reason that does not exist, say.
        Exception: The exception that keeps the server from starting, as its own code raised it. A strict server with an
            unknown fallback tool raises a `ContractError`.
    """
    # Without a cache, a test gets each list as the server has it now.
    client = Client(connectable(server), **{"cache": None, **options})
    failure: BaseException | None = None
    async with AsyncExitStack() as scopes:
        if strict is not None:
            scopes.enter_context(strict_scope(server, strict=strict))
        if fail is not None:
            from mcpcore.testing.faults import failing

            await scopes.enter_async_context(failing(server, fail, seed=seed))
        broken = scopes.enter_context(checking(server, state))
        try:
            async with client:
                try:
                    _require_accepted(server)
                    yield client
                except BaseException as exc:
                    if _ends_the_task(exc):
                        raise
                    failure = exc
        except BaseException as exc:
            if _ends_the_task(exc):
                raise
            if failure is None:
                failure = _cause_of(exc, server)
            else:
                failure.add_note(f"The server also failed to stop: {type(exc).__name__}: {safe_str(exc)}")
    if failure is None and broken:
        failure = AssertionError("\n".join(broken))
    elif failure is not None and broken:
        failure.add_note("\n".join(broken))
    if failure is not None:
        # Here, since the task groups of the client would put it into a group.
        try:
            raise failure
        finally:
            del failure


async def all_tools(client: Client) -> list[ListedTool]:
    """The tools on all pages of the list."""
    pages = pages_of(lambda cursor: client.list_tools(cursor=cursor))
    return [tool async for page in pages for tool in page.tools]


def _ends_the_task(exc: BaseException) -> bool:
    return is_a(exc, (anyio.get_cancelled_exc_class(), GeneratorExit))


def _refusal_of(server: object) -> ContractError | None:
    """Why a `ContractMiddleware` refuses the messages to `server`: FastMCP has no way to refuse the start."""
    for middleware in getattr(server, "middleware", ()):
        startup_failure = getattr(middleware, "startup_failure", None)
        refusal = None if startup_failure is None else startup_failure(server)
        if refusal is not None:
            return ContractError(str(refusal))  # without the errors of the client, which reads the refusal
    return None


def _require_accepted(server: object) -> None:
    refusal = _refusal_of(server)
    if refusal is not None:
        raise refusal


def _cause_of(exc: BaseException, server: object) -> BaseException:
    """The exception behind `exc`: the one that kept `server` from starting, or the only one in a group."""
    leaves = list(leaves_of(exc))
    return _refusal_of(server) or (leaves[0] if len(leaves) == 1 else exc)


class _MadeContext(Context[Any, Any]):
    """A context outside a request. It counts the failures of the handler, since no server sees what is raised."""

    __slots__ = ("_code", "_lifespan_context")

    _code: CodeType | None
    _lifespan_context: Any

    @property
    def lifespan_context(self) -> Any:
        """The object that the test passed."""
        return super().lifespan_context if self._lifespan_context is None else self._lifespan_context

    def fail(self, *args: Any, **options: Any) -> CodedError:  # type: ignore[override]
        """The failure of a declared reason, which counts as raised if the handler makes it."""
        error: CodedError = super().fail(*args, **options)
        if coverage_hook.observer is not None and self._is_in_handler():
            coverage_hook.observer.failed("tool", self._name, self._contract, error.code.name, error.reason)
        return error

    def _is_in_handler(self) -> bool:
        """Whether the handler is among the callers: a test that makes a failure itself has tried no tool."""
        if self._code is None:  # a callable object, or a partial
            return True
        frame = sys._getframe(2)  # noqa: SLF001 - as `inspect.currentframe`, without the frames of this class
        while frame is not None and frame.f_code is not self._code:
            frame = frame.f_back  # type: ignore[assignment]
        return frame is not None


def make_context(
    tool: Declared[..., Any] | DeclaredMethod[Any, ..., Any], *, lifespan_context: Any = None
) -> Context[Any, Any]:
    """The context that the handler of `tool` takes, with its contract and outside any request.

    ```python
    order = await get_order.handler(make_context(get_order, lifespan_context=database), order_id="A-1")
    ```

    A tool that is called like a function makes its own context; `make_context` is for handlers that need
    `ctx.lifespan_context`, and for functions that take the context of a tool. A failure counts
    for reason coverage if the handler makes it, and not if the test does so itself.

    Args:
        tool: A tool, a resource or a prompt of mcpcore.
        lifespan_context: The value of `ctx.lifespan_context`, which the lifespan of a server would yield.

    Raises:
        TypeError: If `tool` was not declared with a decorator of mcpcore.
    """
    if not isinstance(tool, Declared | DeclaredMethod):
        raise TypeError(
            f"make_context(...) takes a tool, a resource or a prompt of mcpcore, not {type(tool).__name__}; declare it "
            "with @tool, @resource or @prompt"
        )
    ctx = _MadeContext(tool.contract, name=tool.name)
    ctx._code = getattr(inspect.unwrap(tool.declaration.handler), "__code__", None)  # noqa: SLF001 - its own
    ctx._lifespan_context = lifespan_context  # noqa: SLF001 - its own
    return ctx
