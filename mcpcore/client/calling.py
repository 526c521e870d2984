"""`call`: calls a tool, and follows a policy while it fails."""

from __future__ import annotations

import copy
import inspect
import random
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

import anyio

from mcpcore.client.failures import (
    NO_TOOLS,
    ListedTool,
    Step,
    StepKind,
    ToolCallFailed,
    Tools,
    failure_of,
    inferred_envelope,
    is_lost,
    list_tools,
    unanswered,
)
from mcpcore.client.policy import (
    CallPolicy,
    Decision,
    Progress,
    arguments_from,
    checked_policy,
    decide,
    may_follow_action,
    unchanged,
)
from mcpcore.contract.checks import MAX_REASON
from mcpcore.contract.failure_modes import NO_CONTRACT, Contract
from mcpcore.values.escaping import one_line

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from mcp.shared.exceptions import MCPError


T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

SPAN_EVENT: Final = "mcpcore.call.step"
"""The name of the span events, one for each step."""


class Session(Protocol[T_co]):
    """The SDK's `Client` or `ClientSession`, or the client of FastMCP."""

    def call_tool(self, name: str, arguments: dict[str, Any] | None = None, /) -> Awaitable[T_co]:
        """Call a tool."""
        ...


class NamedContract(Protocol):
    """A `ToolContract`, or a `Tool` of the server."""

    @property
    def name(self) -> str:
        """The name of the tool."""
        ...

    @property
    def contract(self) -> Contract[Any]:
        """The failure modes of the tool."""
        ...


async def call(
    session: Session[T],
    tool: str | NamedContract,
    args: Mapping[str, Any] | None = None,
    *,
    policy: CallPolicy | None = None,
    tools: Callable[[], Mapping[str, ListedTool]] | None = None,
) -> T:
    """Call a tool: its result, or a `ToolCallFailed`.

    ```python
    result = await call(session, "fetch_articles", {"pmids": ["1"]}, policy=CallPolicy())
    ```

    A failure is read in any known dialect. If the server sent no envelope, the failure is inferred from the text and
    from the annotations of the tool. The tools are listed only after a failure, once for each session.

    Args:
        session: The SDK's `Client` or `ClientSession`, or the client of FastMCP.
        tool: The name of the tool, or a `ToolContract` or `Tool` that has it.
        args: The arguments.
        policy: The policy for failures; with None, the tool is called once.
        tools: Returns the tools of the server by name, for callers that have listed them; it is called after a failure.
            With None, `session` lists them.

    Returns:
        The result, as the client returns it.

    Raises:
        ToolCallFailed: If the tool failed, is unknown, or the call was answered with a protocol error.
        TypeError: If `session` is a server, `policy` is not a `CallPolicy`, or a function of the policy returned
            something other than arguments.
        Exception: What the client raises if the connection is lost or the answer breaks the protocol, and what an
            action or `on_step` raises.
    """
    name, contract = (tool, NO_CONTRACT) if isinstance(tool, str) else (tool.name, tool.contract)
    # A server of the SDK has a method `call_tool` as well.
    if hasattr(session, "run_stdio_async"):
        raise TypeError(
            f"call(session, ...) takes a client, not the server itself, a {type(session).__name__}; connect to it "
            "first: `async with mcp.Client(server) as session`"
        )
    return await _Run(session, checked_policy(policy), contract, name, tools).run(name, dict(args or {}))  # type: ignore[no-any-return]


_NEXT: Final[dict[str, StepKind]] = {
    "retry": "retried",
    "wait": "retried",
    "correct": "corrected",
    "fall_back": "fell_back",
    "act": "acted",
}
"""The kind of the call that each decision leads to."""


class _Run:
    """One call under a policy, with what has happened so far."""

    def __init__(
        self,
        session: Any,
        policy: CallPolicy,
        contract: Contract[Any],
        tool: str,
        listed: Callable[[], Tools] | None,
    ) -> None:
        self._session = session
        self._policy = policy
        self._contract = contract
        self._contract_of = tool
        self._started = anyio.current_time()
        self._steps: list[Step] = []
        self._listed_by_caller = listed
        self._tools: Tools | None = None
        self._state = Progress(attempts=0)
        self._calling: tuple[str, dict[str, Any]] | None = None
        self._failure: ToolCallFailed | None = None

    async def run(self, tool: str, arguments: dict[str, Any]) -> Any:
        if self._policy.budget is not None:
            self._policy.budget.called()
        with anyio.move_on_after(self._policy.max_elapsed):
            return await self._follow(tool, arguments)
        limit = f"{self._policy.max_elapsed:g} s"
        if self._calling is not None:
            name, sent = self._calling
            envelope = unanswered(name, limit)
            listed = None if self._tools is None else self._tools.get(name)
            self._failed(ToolCallFailed(name, inferred_envelope(envelope, listed), arguments=sent, inferred=True))
        assert self._failure is not None
        raise self._given_up(self._failure, f"The policy's time limit of {limit} is over.")

    async def _follow(self, tool: str, arguments: dict[str, Any]) -> Any:
        kind: StepKind = "called"
        why = "The application calls the tool."
        while True:
            self._state = replace(self._state, attempts=self._state.attempts + 1, called=self._state.called | {tool})
            self._report(kind, tool, why, self._failure)
            result, failure = await self._call(tool, arguments)
            if failure is None:
                self._report("succeeded", tool, f"{one_line(tool)} returned a result.")
                return result
            decision = decide(failure, self._policy, self._progress())
            budget = self._policy.budget
            if decision.kind == "give_up" or (budget is not None and not budget.spend()):
                raise self._given_up(failure, decision.why)
            if decision.kind == "act":
                decision = await self._act(failure, decision)
                if decision.kind == "give_up":
                    raise self._given_up(failure, decision.why)
            kind, why = _NEXT[decision.kind], decision.why
            tool, arguments = decision.tool, dict(decision.arguments or {})
            if decision.kind == "correct":
                corrected = self._state.corrected | {(tool, str(failure.reason))}
                self._state = replace(self._state, corrected=corrected)
            elif decision.kind == "wait":
                await self._wait(failure, decision)

    async def _call(self, tool: str, arguments: dict[str, Any]) -> tuple[Any, ToolCallFailed | None]:
        """The result of one call, and the failure in it."""
        # The client of FastMCP raises the text of a failure, without its structured content.
        options = {"raise_on_error": False} if hasattr(self._session, "call_tool_mcp") else {}
        # If the time is over before the answer, the failure is about this call.
        self._calling = tool, arguments
        cause: Exception | None = None
        try:
            answer = await self._session.call_tool(tool, arguments, **options)
        except _protocol_errors() as error:
            if is_lost(error):
                raise
            answer = cause = error
        self._calling = None
        failure = failure_of(answer, tool, arguments)
        if failure is None:
            return answer, None
        self._failure = failure  # in case that the time is over before the tools are listed
        listed = await self._listed(tool, failure)
        contract = self._contract if tool == self._contract_of else NO_CONTRACT
        # Read again, now with the annotations and the contract, which say what the call may have changed.
        failure = failure_of(answer, tool, arguments, listed=listed, contract=contract) or failure
        failure.__cause__ = cause
        self._failed(failure)
        return answer, failure

    async def _listed(self, tool: str, failure: ToolCallFailed) -> ListedTool | None:
        """The tool as it is listed; a list that does not have it or its reason may be an old one, and is read again."""
        if self._listed_by_caller is not None:
            if self._tools is None:
                self._tools = self._listed_by_caller()
            return self._tools.get(tool)
        if self._tools is NO_TOOLS:
            return None  # a server that lists nothing is not asked twice
        # Again after each failure, since the server may have said in between that its tools have changed.
        self._tools, is_new = await list_tools(self._session)
        listed = self._tools.get(tool)
        # A server that sends no envelopes declares no reasons either.
        is_plain = failure.inferred or failure.reason is None
        is_known = listed is not None and (is_plain or failure.reason in listed.contract.reasons)
        if not is_known and not is_new:
            self._tools, _ = await list_tools(self._session, fresh=True)
        return self._tools.get(tool)

    async def _act(self, failure: ToolCallFailed, decision: Decision) -> Decision:
        """Run the action; the call after it, or another step where the call may not be made again."""
        match = self._policy.action_of(failure)
        assert match is not None
        key, action = match
        self._state = replace(self._state, acted=self._state.acted | {failure.reason or str(key)})
        sent = copy.deepcopy(failure.arguments)
        returned = action(failure)
        if inspect.isawaitable(returned):
            returned = await returned
        arguments = failure.arguments if returned is None else arguments_from(returned, f"the action for {key}")
        failure.arguments = sent  # an action that changed them in place means the next call
        state = self._progress()
        if may_follow_action(failure, self._policy, state, identical=arguments == sent):
            return decision._replace(arguments=arguments)
        return decide(failure, self._policy, state)

    async def _wait(self, failure: ToolCallFailed, decision: Decision) -> None:
        wait = decision.wait * (1 + self._policy.jitter * random.random())  # noqa: S311 - not a secret
        self._report("waited", decision.tool, f"The failure says to wait {decision.wait:g} s.", failure, wait)
        await anyio.sleep(wait)

    def _progress(self) -> Progress:
        return replace(self._state, elapsed=anyio.current_time() - self._started, tools=self._tools or NO_TOOLS)

    def _failed(self, failure: ToolCallFailed) -> None:
        self._failure = failure
        if not unchanged(failure, (self._tools or NO_TOOLS).get(failure.tool)):
            self._state = replace(self._state, changed=(*self._state.changed, failure.tool))
        failure.attempts = self._state.attempts
        self._report("failed", failure.tool, str(failure), failure)
        failure.steps = tuple(self._steps)

    def _given_up(self, failure: ToolCallFailed, why: str) -> ToolCallFailed:
        self._report("gave_up", failure.tool, why, failure)
        failure.steps = tuple(self._steps)
        return failure

    def _report(
        self, kind: StepKind, tool: str, why: str, failure: ToolCallFailed | None = None, wait: float | None = None
    ) -> None:
        elapsed = anyio.current_time() - self._started
        step = Step(
            kind=kind, tool=tool, attempt=self._state.attempts, elapsed=elapsed, why=why, failure=failure, wait=wait
        )
        self._steps.append(step)
        _mark_span(step)
        if self._policy.on_step is not None:
            self._policy.on_step(step)


def _protocol_errors() -> tuple[type[MCPError], ...]:
    """The SDK's exception for an error of the protocol; nothing can raise it while the SDK is not loaded."""
    error = getattr(sys.modules.get("mcp.shared.exceptions"), "MCPError", None)
    return () if error is None else (error,)


def _mark_span(step: Step) -> None:
    """Add the step to the current span, if the application has set up OpenTelemetry."""
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:
        return
    span = trace.get_current_span()
    if not span.is_recording():
        return
    attributes: dict[str, str | int | float] = {
        "mcpcore.step": step.kind,
        "gen_ai.tool.name": _attribute(step.tool),
        "mcpcore.attempt": step.attempt,
    }
    if step.wait is not None:
        attributes["mcpcore.wait"] = step.wait
    if step.failure is not None:
        attributes["mcpcore.code"] = _attribute(step.failure.envelope.name)
        if step.failure.reason is not None:
            attributes["mcpcore.reason"] = _attribute(step.failure.reason)
    span.add_event(SPAN_EVENT, attributes)


def _attribute(text: str) -> str:
    """A text of a server as the value of an attribute."""
    return one_line(text[:MAX_REASON])
