"""Failures on demand on a server of any kind, and a log of its calls."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

from mcpcore.boundary.faults import ALL, INSTRUCTIONS, FaultError, failing_on_demand, faults_of_tools
from mcpcore.client.schemas import sample_data
from mcpcore.sdk.private import session_of
from mcpcore.testing.servers import declared_tools, lowlevel_server
from mcpcore.values.untrusted import quietly

if TYPE_CHECKING:
    from mcpcore.boundary.call_log import CallLog
    from mcpcore.declare.declaration import Declaration


def as_faults(fail: str | Mapping[str, str | Sequence[str]]) -> dict[str, list[str]]:
    """The faults of each tool: of `"all"`, of a text such as `"declined,first=1"` for a tool, or of several.

    Raises:
        FaultError: If `fail` is something else.
    """
    if fail == ALL:
        return {ALL: [ALL]}
    if isinstance(fail, str):
        raise FaultError(f"fail={fail!r}: write {{'the_tool': {fail!r}}}, or {ALL!r} for every reason of every tool")
    if not isinstance(fail, Mapping):
        raise FaultError(f"fail= takes a dict of failures by tool, or {ALL!r}, not {type(fail).__name__}")
    for tool, texts in fail.items():
        if not isinstance(tool, str) or not isinstance(texts, str | Sequence) or isinstance(texts, bytes):
            raise FaultError(f"fail={{{tool!r}: ...}} takes a text or a list of texts, by the name of a tool")
    return {tool: [texts] if isinstance(texts, str) else list(texts) for tool, texts in fail.items()}


@contextlib.asynccontextmanager
async def failing(server: Any, fail: str | Mapping[str, str | Sequence[str]], *, seed: int = 0) -> AsyncIterator[None]:
    """Have tools of `server` fail on demand, and say so in its instructions.

    ```python
    async with failing(server, {"place_order": "payment_unconfirmed,first=1"}):
        await run_the_agent(server)
    ```

    Args:
        server: A server of mcpcore, of the SDK or of FastMCP.
        fail: The failures by tool, or `"all"` for each reason of each tool, once; as in `tool_client`.
        seed: Decides which calls fail where a failure has a probability.

    Raises:
        FaultError: If a failure is misspelt, names a tool or a reason that does not exist, or has data that cannot be
            made up; or if a tool fails on demand already.
    """
    with installed(server, await declared_tools(server), fail, seed=seed):
        yield


@contextlib.contextmanager
def installed(
    server: Any, declarations: Mapping[str, Declaration], fail: str | Mapping[str, str | Sequence[str]], *, seed: int
) -> Iterator[None]:
    """The same for the tools in `declarations`.

    Raises:
        FaultError: As above.
    """
    contracts = {name: declaration.contract for name, declaration in declarations.items()}
    lowlevel = lowlevel_server(server)
    # Another server, or another name on this one, may have the same handler: only calls of this name fail.
    called: ContextVar[str] = ContextVar("called", default="")
    marked: set[int] = set()

    async def noting_name(ctx: Any, call_next: Callable[[Any], Any]) -> Any:
        if ctx.method != "tools/call" or not isinstance(ctx.params, Mapping):
            return await call_next(ctx)
        token = called.set(str(ctx.params.get("name")))
        try:
            return await call_next(ctx)
        finally:
            called.reset(token)

    with contextlib.ExitStack() as undo:
        for name, faults in faults_of_tools(as_faults(fail), contracts, seed=seed):
            declaration = declarations[name]
            if hasattr(declaration.run, _MARK) and id(declaration) not in marked:
                raise FaultError(f"the tool {name!r} fails on demand already, for another client of this process")
            marked.add(id(declaration))
            for entry in faults.entries:
                sample_data(name, entry, {})  # before any call
            undo.callback(setattr, declaration, "run", declaration.run)
            declaration.run = failing_on_demand(
                declaration.run,
                faults,
                functools.partial(sample_data, name),
                is_async=declaration.is_async,
                is_meant=functools.partial(_is_name, called, name),
            )
            setattr(declaration.run, _MARK, True)
        lowlevel.middleware.insert(0, noting_name)
        undo.callback(lowlevel.middleware.remove, noting_name)
        undo.callback(setattr, lowlevel, "instructions", lowlevel.instructions)
        lowlevel.instructions = "\n\n".join(filter(None, (lowlevel.instructions, INSTRUCTIONS)))
        yield


def _is_name(called: ContextVar[str], name: str) -> bool:
    return called.get() == name


_MARK: Final = "mcpcore_fails_on_demand"


@contextlib.contextmanager
def logging_calls(server: Any, log: CallLog) -> Iterator[None]:
    """Write the tool calls of `server` to `log`."""
    lowlevel = lowlevel_server(server)

    async def logged(ctx: Any, call_next: Callable[[Any], Any]) -> Any:
        if ctx.method != "tools/call" or ctx.request_id is None:
            return await call_next(ctx)
        session = quietly(lambda: session_of(ctx), None)
        try:
            result = await call_next(ctx)
        except Exception as exc:
            log.write(ctx.params, session, exc)
            raise
        log.write(ctx.params, session, result)
        return result

    lowlevel.middleware.insert(0, logged)
    try:
        yield
    finally:
        lowlevel.middleware.remove(logged)
