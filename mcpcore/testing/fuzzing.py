"""`fuzz_tool`: calls a tool with arguments that are drawn from its input schema, and reports how it fails."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import time
from concurrent.futures import Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Thread
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast

import anyio
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.tools import Tool as SDKTool

from mcpcore.contract.errors import CodedError
from mcpcore.contract.failure_modes import Contract
from mcpcore.declare.decorators import Tool
from mcpcore.testing.client import all_tools, tool_client
from mcpcore.values.escaping import clean_text, one_line
from mcpcore.values.jsonable import safe_str
from mcpcore.wire.dialects.result_forms import Answer, answer_of
from mcpcore.wire.envelope import Envelope
from mcpcore.wire.redaction import redact_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hypothesis.strategies import SearchStrategy
    from mcp import Client


_Key: TypeAlias = "tuple[str, ...]"
Kind = Literal["crash", "leak", "undeclared failure", "broken contract", "timeout"]

_OWN_REASONS: Final = frozenset(
    {"call_timeout", "invalid_arguments", "missing_scope", "no_access_token", "too_many_calls"}
)
_AUTHORED: Final = frozenset({"ToolError", "MCPError"})
"""Exceptions of the SDK and of FastMCP that an author raises for clients to read."""

_MOST_PROBLEMS: Final = 10
_MAX_LISTED: Final = 4
"""Problems in the text of an error, which has ten lines at most."""

_MAX_SHOWN: Final = 2_000
_GRACE: Final = 2
"""Seconds for which a call may outlast its timeout; after that, the handler blocks the event loop."""

_MIN_LEAK: Final = 6
"""Characters of an exception's text that are searched for in an answer; a shorter one may be there by chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One way in which the tool failed badly, with the smallest arguments that were found for it."""

    kind: Kind
    text: str
    arguments: Mapping[str, Any]

    def __str__(self) -> str:
        shown = json.dumps(self.arguments, ensure_ascii=True, sort_keys=True)
        return f"{self.kind}: {self.text}\n  arguments: {shown[:_MAX_SHOWN]}"


class FuzzError(AssertionError):
    """A tool failed badly.

    Attributes:
        tool: The name of the tool.
        problems: What went wrong, each once.
    """

    def __init__(self, tool: str, problems: tuple[Problem, ...]) -> None:
        super().__init__(tool, problems)
        self.tool = tool
        self.problems = problems

    def __str__(self) -> str:
        count = len(self.problems)
        noun = "problem" if count == 1 else "problems"
        head = f"{self.tool}: {count} {noun}; call it with the arguments to see one again"
        lines = [head, *map(str, self.problems[:_MAX_LISTED])]
        if count > _MAX_LISTED:
            lines.append(f"and {count - _MAX_LISTED} more, in the attribute `problems` of this error")
        return "\n".join(lines)


class CannotDrawError(ValueError):
    """No arguments can be drawn from the input schema of a tool."""


class _Found(Exception):  # noqa: N818 - how a run of hypothesis ends that found something
    pass


class _Stopped(BaseException):
    """Ends a run of hypothesis immediately: the time is over, or the server does not answer any more."""


def fuzz_tool(
    tool: object,
    *,
    server: Any = None,
    max_examples: int = 100,
    timeout: float = 10,
    max_seconds: float = 60,
    seed: int | None = None,
    arguments: SearchStrategy[Any] | None = None,
) -> None:
    """Call `tool` with arguments that fit its input schema, and report how it fails with the smallest ones.

    ```python
    def test_get_order() -> None:
        fuzz_tool(get_order, server=server)
    ```

    A problem is a crash, a failure that the contract does not declare, a call that breaks its contract, a secret, a
    traceback or the text of an exception in an answer, or a call without an answer. Arguments that the tool rejects
    are no problem. Without a `seed` each run draws the same arguments.

    The search ends after `max_seconds`. The arguments of a problem may then not be the smallest ones. It also ends when
    a handler blocks the event loop of the server, since nothing can stop that handler.

    Args:
        tool: A tool of mcpcore, of the SDK or of FastMCP; with `server`, also its name.
        server: The server that has the tool, of any kind that `tool_client` takes; its lifespan runs once. By default,
            a new server with this tool alone.
        max_examples: The number of calls for a tool without problems.
        timeout: Seconds that a call may take.
        max_seconds: Seconds that the whole search may take, apart from one last call.
        seed: Draws other arguments.
        arguments: A strategy of hypothesis for the arguments, in place of the schema.

    Raises:
        FuzzError: If there are problems.
        CannotDrawError: If no arguments can be drawn from the schema, or if the tool rejects all of them.
        TypeError: If `tool` is not a tool.
        LookupError: If the server has no tool of this name.
        ModuleNotFoundError: If hypothesis is not installed.
    """
    __tracebackhide__ = True
    _require_installed()
    name, target = _target(tool, server)
    with _alone() as logged, _served(target) as (loop, client):
        listed = {tool.name: tool for tool in asyncio.run_coroutine_threadsafe(all_tools(client), loop).result()}
        if name not in listed:
            raise LookupError(f"the server has no tool {name!r}; it has {', '.join(map(repr, sorted(listed)))}")
        contract = Contract.from_listing(listed[name])
        drawn = arguments if arguments is not None else _strategy(name, listed[name].input_schema)
        caller = _Caller(name, contract, loop, client, logged, timeout=timeout, max_seconds=max_seconds)
        problems = _search(caller, drawn, max_examples=max_examples, seed=seed)
    if problems:
        raise FuzzError(name, tuple(problems))
    if caller.calls == caller.rejected:
        cause = f"the tool rejected all {caller.calls} arguments that were drawn, as invalid_arguments"
        if not caller.calls:
            cause = f"no arguments could be drawn within {max_seconds:g} seconds"
        raise CannotDrawError(f"{name}: {cause}; pass a strategy of hypothesis as arguments=")


@contextmanager
def _served(server: Any) -> Iterator[tuple[asyncio.AbstractEventLoop, Client]]:
    """Run `server` with a client in another thread.

    The thread is left behind if a handler blocks its event loop, which would otherwise keep the test from ending. As a
    daemon, it does not keep the program from ending either, and neither do the threads of sync handlers.
    """
    started: Future[tuple[asyncio.AbstractEventLoop, Client]] = Future()
    ended: Future[None] = Future()
    stop = asyncio.Event()

    async def serve() -> None:
        async with tool_client(server) as client:
            started.set_result((asyncio.get_running_loop(), client))
            await stop.wait()

    def run() -> None:
        try:
            asyncio.run(serve())
        except BaseException as exc:  # noqa: BLE001 - raised in the thread of the test
            (ended if started.done() else started).set_exception(exc)
        else:
            ended.set_result(None)  # pragma: no cover - coverage loses the thread when its event loop ends

    Thread(target=run, name="fuzz_tool", daemon=True).start()
    loop, client = started.result()
    try:
        yield loop, client
    finally:
        loop.call_soon_threadsafe(stop.set)
        if wait([ended], _GRACE).done:
            ended.result()


@contextmanager
def _alone() -> Iterator[_Logged]:
    """Keep what is logged from everybody else: hundreds of calls that fail would bury the problem that is found."""
    logged = _Logged()
    root = logging.getLogger()
    known = [logger for logger in [*root.manager.loggerDict.values()] if isinstance(logger, logging.Logger)]
    before = [(logger, logger.handlers) for logger in (root, *known) if logger is root or logger.handlers]
    for logger, _ in before:
        logger.handlers = [logged]
    try:
        yield logged
    finally:
        for logger, handlers in before:
            logger.handlers = handlers


def _require_installed() -> None:
    try:
        import hypothesis  # noqa: F401
    except ModuleNotFoundError as exc:
        raise ModuleNotFoundError(
            'fuzz_tool(...) needs hypothesis; install it with `pip install "mcpcore[testing]"`', name=exc.name
        ) from None


def _target(tool: object, server: Any) -> tuple[str, Any]:
    """The name of the tool and the server that has it."""
    if isinstance(tool, str):
        if server is None:
            raise TypeError("fuzz_tool(...) takes the name of a tool only with server=")
        return tool, server
    name = getattr(tool, "name", None)
    if not isinstance(name, str):
        raise TypeError(f"fuzz_tool(...) takes a tool or, with server=, its name, not {type(tool).__name__}")
    if server is not None:
        return name, server
    if isinstance(tool, Tool):
        from mcpcore import Server

        others = [entry.fallback_tool for entry in tool.contract if entry.fallback_tool not in (None, name)]
        return name, Server("fuzz", tools=[tool], external_tools=[other for other in others if other is not None])
    if isinstance(tool, SDKTool):
        return name, MCPServer("fuzz", tools=[tool])
    if "fastmcp" in sys.modules:
        from fastmcp import FastMCP
        from fastmcp.tools import Tool as FastMCPTool

        if isinstance(tool, FastMCPTool):
            mcp: FastMCP[Any] = FastMCP("fuzz")
            mcp.add_tool(tool)
            return name, mcp
    raise TypeError(f"fuzz_tool(...) takes a tool or, with server=, its name, not {type(tool).__name__}")


# -- drawing -----------------------------------------------------------------------------------------------------------


def _strategy(name: str, schema: Any) -> SearchStrategy[Any]:
    """A strategy for the arguments.

    Raises:
        CannotDrawError: If the schema has no strategy.
    """
    from mcpcore.testing.value_strategies import UndrawableSchemaError, values_of

    try:
        return values_of({**schema, "type": "object"})
    except UndrawableSchemaError as exc:
        raise _cannot_draw(name, exc) from exc


def _cannot_draw(name: str, exc: BaseException) -> CannotDrawError:
    return CannotDrawError(
        f"{name}: no arguments can be drawn from the input schema: {one_line(str(exc))[:500]}; pass a strategy of "
        "hypothesis as arguments="
    )


# -- searching ---------------------------------------------------------------------------------------------------------


def _search(caller: _Caller, drawn: SearchStrategy[Any], *, max_examples: int, seed: int | None) -> list[Problem]:
    """The problems: a run of hypothesis finds and shrinks one of them, and the last run finds no more."""
    import hypothesis
    from hypothesis import strategies as st
    from hypothesis.errors import HypothesisException

    from mcpcore.testing.value_strategies import UndrawableSchemaError

    @st.composite
    def in_time(draw: Any) -> Any:
        caller.require_time()
        return draw(drawn)

    every_check: Any = hypothesis.HealthCheck
    # `timeout` and `max_seconds` are the limits here, and CannotDrawError says that all arguments were rejected.
    settings = hypothesis.settings(
        max_examples=max_examples,
        derandomize=seed is None,
        database=None,
        deadline=None,
        suppress_health_check=list(every_check),
        verbosity=hypothesis.Verbosity.quiet,
        phases=[hypothesis.Phase.generate, hypothesis.Phase.shrink],
    )
    problems: dict[_Key, Problem] = {}
    smallest: dict[_Key, Problem] = {}
    """The problem of the current run."""

    def check(values: Any) -> None:
        for key, problem in caller.problems(values):
            # A run shrinks the first problem that it finds. Each other problem gets its own run.
            if key not in problems and (key in smallest or not smallest):
                smallest[key] = min(problem, smallest.get(key, problem), key=_size)
                raise _Found

    while not caller.is_over and len(problems) < _MOST_PROBLEMS:
        smallest.clear()
        run: Any = settings(hypothesis.given(in_time())(check))
        if seed is not None:
            run = hypothesis.seed(seed)(run)
        try:
            run()
        except _Found:
            pass
        except (_Stopped, HypothesisException, UndrawableSchemaError, RecursionError) as exc:
            # Hypothesis takes a stop for arguments that cannot be drawn twice. A tool may be random, too.
            if not smallest and not caller.is_over:
                raise _cannot_draw(caller.name, exc) from exc
        if not smallest:
            break
        problems.update(smallest)
    return list(problems.values())


def _size(problem: Problem) -> tuple[int, str]:
    text = json.dumps(problem.arguments, ensure_ascii=False, sort_keys=True)
    return len(text), text


class _Caller:
    """Calls the tool, and judges each answer."""

    def __init__(
        self,
        name: str,
        contract: Contract[Any],
        loop: asyncio.AbstractEventLoop,
        client: Client,
        logged: _Logged,
        *,
        timeout: float,
        max_seconds: float,
    ) -> None:
        self.name = name
        self._logged = logged
        self.calls = 0
        self.rejected = 0
        self.is_over = False
        """Whether the time is over, or a handler blocks the event loop, so that no further call can be answered."""
        self._contract = contract
        self._loop = loop
        self._client = client
        self._timeout = timeout
        self._end = time.monotonic() + max_seconds

    def require_time(self) -> None:
        """Stop the search if it is over."""
        self.is_over = self.is_over or time.monotonic() > self._end
        if self.is_over:
            raise _Stopped

    async def _answer(self, arguments: dict[str, Any]) -> Any:
        with anyio.fail_after(self._timeout):
            return await self._client.call_tool(self.name, arguments)

    def problems(self, arguments: Any) -> list[tuple[_Key, Problem]]:
        """The problems of a call with these arguments, each with a key that the same problem has in other calls."""
        self.calls += 1
        logged = self._logged
        logged.crash = logged.breach = None
        future = asyncio.run_coroutine_threadsafe(self._answer(arguments), self._loop)
        try:
            result = future.result(self._timeout + _GRACE)
        except TimeoutError:
            text = f"no answer within {self._timeout:g} seconds"
            if not future.done():
                self.is_over = True
                text += ", since the handler blocks the event loop"
            return [(("timeout",), Problem(kind="timeout", text=text, arguments=arguments))]
        except Exception as exc:  # noqa: BLE001 - an error of the protocol
            text = one_line(f"{type(exc).__name__}: {exc}")[:_MAX_SHOWN]
            return [(("protocol", type(exc).__name__), Problem(kind="crash", text=text, arguments=arguments))]
        envelope = Envelope.from_result(result)
        if envelope is None:
            return []
        if envelope.reason in _OWN_REASONS and self._contract.get(envelope.reason) is None:
            self.rejected += envelope.reason == "invalid_arguments"
            return []
        judged = self._judged(envelope, result, arguments, logged)
        return [(key, Problem(kind=kind, text=text, arguments=arguments)) for key, kind, text in judged]

    def _judged(
        self, envelope: Envelope, result: object, arguments: object, logged: _Logged
    ) -> Iterator[tuple[_Key, Kind, str]]:
        leak = _leak_in(result, arguments, logged)
        if leak is not None:
            yield ("leak", leak[0]), "leak", leak[1]
        if self._contract.get(envelope.reason) is not None:
            return  # the client sees a declared failure, whatever the log says of its cause
        if logged.breach is not None:
            yield ("breach", envelope.name, logged.breach[:40]), "broken contract", logged.breach
        elif logged.crash is not None:
            kind, _, last = logged.crash
            yield ("crash", kind), "crash", f"{last} (clients see {envelope.name})"
        elif envelope.reason is None and envelope.message == getattr(envelope.error_code, "sentence", None):
            # The message of an exception that was masked; its class is not known if nothing is logged.
            yield ("crash", envelope.name), "crash", f"{envelope.name}: {envelope.message}"
        else:
            reason = "without a reason" if envelope.reason is None else f"with the reason {envelope.reason!r}"
            text = f"{clean_text(envelope.name)} {reason}: {one_line(envelope.message)[:300]}"
            yield ("undeclared", envelope.name, envelope.reason or ""), "undeclared failure", text


class _Logged(logging.Handler):
    """Keeps the crash and the breach that a server logs while it answers one call."""

    def __init__(self) -> None:
        super().__init__()
        self.crash: tuple[str, str, str] | None = None
        """The class of the exception, its text, and both on one line."""
        self.breach: str | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Read one record of the log."""
        message = record.getMessage()
        if record.name == "mcpcore" and "broke its contract" in message:
            self.breach = one_line(message.partition(" (id ")[0])[:_MAX_SHOWN]
        elif record.exc_info and (exc := record.exc_info[1]) is not None:
            leaf = exc
            while leaf.__cause__ is not None and not isinstance(leaf, CodedError):
                leaf = leaf.__cause__
            if not (isinstance(leaf, CodedError) or type(leaf).__qualname__ in _AUTHORED):
                # The log has a stand-in for the exception, with the name of its class as the qualified name.
                kind, text = type(leaf).__qualname__, safe_str(leaf)
                self.crash = kind, text, one_line(f"{kind}: {text}")[:_MAX_SHOWN]


def _leak_in(result: object, arguments: object, logged: _Logged) -> tuple[str, str] | None:
    """What the failed answer shows that no client may see, and a sentence about it."""
    answer = cast("Answer", answer_of(result))  # the client returns no envelope
    shown = "\n".join(answer.texts)
    if answer.structured is not None:
        shown += "\n" + json.dumps(answer.structured, ensure_ascii=False, default=str)
    sent = json.dumps(arguments, ensure_ascii=False, default=str)
    if "Traceback (most recent call last)" in shown and "Traceback" not in sent:
        return "traceback", "the answer has a traceback"
    if redact_text(shown) != shown and redact_text(sent) == sent:
        return "secret", "the answer has the shape of a secret: " + one_line(redact_text(shown))[:300]
    if logged.crash is not None:
        kind, text, _ = logged.crash
        if len(text) >= _MIN_LEAK and text in shown and text not in sent:
            return f"text of {kind}", f"the answer has the text of {kind}: {one_line(text)[:300]}"
    return None
