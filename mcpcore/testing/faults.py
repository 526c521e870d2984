"""Failures on demand on a server of any kind, and a log of its calls."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from mcpcore.boundary.faults import ALL, INSTRUCTIONS, FaultError, failing_on_demand, faults_of_tools
from mcpcore.client.sample_values import SampleValues
from mcpcore.sdk.private import session_of
from mcpcore.testing.servers import declared_tools, lowlevel_server
from mcpcore.values.jsonable import to_json
from mcpcore.values.logs import LOGGER
from mcpcore.values.untrusted import quietly
from mcpcore.wire.envelope import Envelope

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from mcpcore.contract.failure_modes import FailureMode
    from mcpcore.declare.declaration import Declaration


def as_faults(fail: str | Mapping[str, str | Sequence[str]]) -> dict[str, list[str]]:
    """The faults of each tool: of `"all"`, of a text such as `"declined,first=1"` for a tool, or of several.

    Raises:
        FaultError: If `fail` is none of these.
    """
    if fail == ALL:
        return {ALL: [ALL]}
    if isinstance(fail, str):
        raise FaultError(f"fail={fail!r}: write {{'the_tool': {fail!r}}}, or {ALL!r} for every reason of every tool")
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
    with contextlib.ExitStack() as undo:
        for name, faults in faults_of_tools(as_faults(fail), contracts, seed=seed):
            declaration = declarations[name]
            if hasattr(declaration.run, _MARK):
                raise FaultError(f"the tool {name!r} fails on demand already, for another client of this process")
            for entry in faults.entries:
                sample_data(name, entry, {})  # before any call
            undo.callback(setattr, declaration, "run", declaration.run)
            declaration.run = failing_on_demand(
                declaration.run, faults, functools.partial(sample_data, name), is_async=declaration.is_async
            )
            setattr(declaration.run, _MARK, True)
        undo.callback(setattr, lowlevel, "instructions", lowlevel.instructions)
        lowlevel.instructions = "\n\n".join(filter(None, (lowlevel.instructions, INSTRUCTIONS)))
        yield


_MARK: Final = "mcpcore_fails_on_demand"


def sample_data(tool: str, entry: FailureMode[Any], arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    """Data for a failure of `entry`: its example, else values that fit its model; None where it has no model.

    A field that is called like an argument of the call gets its value, if that fits.

    Raises:
        FaultError: If no values that fit can be made up.
    """
    if entry.example is not None:
        return dict(entry.example)
    schema = entry.data_schema()
    if schema is None:
        return None
    data = SampleValues(schema, "example").object_of(schema, every=False)
    sent = to_json({name: value for name, value in arguments.items() if name in data})
    for candidate in ({**data, **sent} if isinstance(sent, dict) else data, data):
        problem = quietly(functools.partial(entry.check_data, candidate), "it cannot be checked")
        if problem is None:
            return candidate
    raise FaultError(
        f"the tool {tool!r}: no data for {entry.reason!r} can be made up ({problem}); add example= to its FailureMode"
    )


class CallLog:
    """Appends a line of JSON to a file for each tool call of a server: a middleware of the SDK's own server.

    A line has `time`, `session` (a number; 0 where requests belong to no session), `tool`, `outcome` and `arguments`,
    which is a digest, since arguments may hold secrets. Of a failure it also has `code`, `reason`, `advice`, `retry`, `effects`, `fallbackTool` and `injected`, where known.
    """

    def __init__(self, path: Path) -> None:
        """Open `path` for appending.

        Raises:
            OSError: If it cannot be opened.
        """
        self._path = path
        self._file = path.open("a", encoding="utf-8", buffering=1)
        self._lock = threading.Lock()
        self._sessions: WeakKeyDictionary[object, int] = WeakKeyDictionary()

    async def __call__(self, ctx: Any, call_next: Callable[[Any], Any]) -> Any:
        """Pass a message on; of a tool call, write a line."""
        if ctx.method != "tools/call" or ctx.request_id is None:
            return await call_next(ctx)
        try:
            result = await call_next(ctx)
        except Exception as exc:
            self._write(ctx, exc)
            raise
        self._write(ctx, result)
        return result

    def _write(self, ctx: Any, answer: object) -> None:
        params = ctx.params if isinstance(ctx.params, dict) else {}
        arguments = params.get("arguments") or {}
        session = quietly(lambda: session_of(ctx), None)
        line: dict[str, Any] = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "session": 0 if session is None else self._sessions.setdefault(session, len(self._sessions) + 1),
            "tool": str(params.get("name", ""))[:_MAX_NAME],
            "arguments": digest_of(arguments),
            **outcome_of(answer),
        }
        try:
            with self._lock:
                self._file.write(json.dumps(line, ensure_ascii=False) + "\n")
        except (OSError, ValueError) as exc:
            LOGGER.error("a call could not be written to %s: %s", self._path, exc)  # noqa: TRY400 - its traceback says nothing more


_MAX_NAME: Final = 200


def digest_of(arguments: object) -> str:
    """16 hex digits by which equal arguments are known again."""
    text = json.dumps(arguments, sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def outcome_of(answer: object) -> dict[str, Any]:
    """The part of a line that says how a call ended, from its result or from the error that it raised."""
    envelope = quietly(lambda: Envelope.from_result(answer), None)
    if envelope is None:
        return {"outcome": "success"}
    facts: dict[str, Any] = {
        "outcome": "failure",
        "code": envelope.name,
        "reason": envelope.reason,
        "advice": envelope.advice,
        "retry": envelope.retry.to_json(),
        "effects": envelope.effects,
        "fallbackTool": envelope.fallback_tool,
        "injected": envelope.injected or None,
        "id": envelope.correlation_id or None,
    }
    return {name: value for name, value in facts.items() if value is not None}


@contextlib.contextmanager
def logging_calls(server: Any, path: Path) -> Iterator[None]:
    """Append the tool calls of `server` to the file `path`.

    Raises:
        OSError: If the file cannot be opened.
    """
    lowlevel = lowlevel_server(server)
    log = CallLog(path)
    lowlevel.middleware.insert(0, log)
    try:
        yield
    finally:
        lowlevel.middleware.remove(log)
