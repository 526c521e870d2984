"""The tools that a server lists, and a call of one that failed: what the client knows of both.

A failure is read with what the server lists of the tool: its contract, its hints and its schema.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import Any, Final, Generic, Literal, TypeVar, cast
from weakref import WeakKeyDictionary, ref

import anyio

from mcpcore.boundary.upstream import declares_retry
from mcpcore.classification import explain
from mcpcore.classification.status import as_retry, in_words
from mcpcore.client.schemas import error_path
from mcpcore.contract.checks import MAX_REASON
from mcpcore.contract.codes import Effects, ErrorCode, Retry
from mcpcore.contract.effects import CHANGED, CallState, ToolEffects, default_effects, settled
from mcpcore.contract.failure_modes import NO_CONTRACT, Contract, FailureMode
from mcpcore.contract.mapping import R_co
from mcpcore.sdk.private import watch_tools
from mcpcore.values.bounds import MESSAGE
from mcpcore.values.escaping import one_line
from mcpcore.values.json_schema import properties
from mcpcore.values.untrusted import quietly
from mcpcore.wire.dialects.repeating import asks_to_wait, forbids_retry
from mcpcore.wire.dialects.result_forms import answer_of
from mcpcore.wire.envelope import UNKNOWN_DIALECT, Envelope

MAX_PAGES: Final = 100
"""The most pages of tools that are read, since a list may be endless."""

LISTING_TIMEOUT: Final = 10.0
"""How long a server may take to list its tools, in seconds; without the list, a failure has no declared entry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTool:
    """What a server says of one of its tools.

    Attributes:
        name: The name of the tool.
        contract: The contract that the server advertises; empty without one.
        read_only: Whether the annotations say that the tool changes nothing.
        idempotent: Whether the annotations say that a second call changes nothing more.
        effects: The effects that follow from the annotations for a failure that declares none, by the defaults of MCP
            where a hint is left out.
        input_schema: The JSON schema of the arguments.
    """

    name: str
    contract: Contract[Any] = NO_CONTRACT
    read_only: bool = False
    idempotent: bool = False
    effects: ToolEffects | None = None
    input_schema: Mapping[str, Any] = field(default_factory=dict)

    @property
    def repeatable(self) -> bool:
        """Whether the same call can be made twice."""
        return self.read_only or self.idempotent

    def misfit(self, arguments: Mapping[str, Any]) -> str | None:
        """Why `arguments` cannot be sent to the tool, as the end of a sentence; None if they fit its input schema.

        An argument that the schema does not name is a misfit, unless the schema expressly takes others: a server may
        ignore it in silence, and it may be the one that mattered.

        Args:
            arguments: The arguments of a call.
        """
        schema = self.input_schema
        named = quietly(lambda: properties(schema, schema), dict[str, Any]())
        open_ended = "patternProperties" in schema or schema.get("additionalProperties", False) is not False
        unknown = [] if open_ended else [name for name in arguments if name not in named]
        if unknown:
            return f"{self.name} takes no argument {unknown[0]!r}"
        # A schema of a server may be broken; then nobody can say that the arguments fit.
        path = quietly(lambda: error_path(schema, arguments), ...)
        if path is ...:
            return f"the schema of {self.name} is broken or cannot be checked"
        if path is None:
            return None
        return f"the argument {path!r} does not fit {self.name}" if path else f"the arguments do not fit {self.name}"


def listed_tool(tool: object) -> ListedTool | None:
    """Read a tool of `tools/list`; None if it has no name.

    ```python
    schema = {"type": "object", "properties": {"number": {"type": "string"}}}
    tool = listed_tool({"name": "track", "inputSchema": schema})
    assert tool.misfit({"number": 7}) == "the argument 'number' does not fit track"
    ```

    Args:
        tool: A `Tool` of the SDK, a tool of FastMCP, or the JSON of one as a dict.
    """
    name = _part(tool, "name", "name")
    if not isinstance(name, str):
        return None
    annotations = _part(tool, "annotations", "annotations")
    schema = _part(tool, "input_schema", "inputSchema")
    if schema is None:
        schema = _part(tool, "parameters", "parameters")  # the name of FastMCP
    return ListedTool(
        name=name,
        contract=Contract.from_listing(tool),
        read_only=_part(annotations, "read_only_hint", "readOnlyHint") is True,
        idempotent=_part(annotations, "idempotent_hint", "idempotentHint") is True,
        effects=cast("ToolEffects", quietly(lambda: default_effects(annotations), "unstated")),
        input_schema=schema if isinstance(schema, Mapping) else {},
    )


def _part(value: object, name: str, wire_name: str) -> Any:
    if isinstance(value, Mapping):
        return quietly(lambda: value.get(wire_name), None)
    return quietly(lambda: getattr(value, name, None), None)


Tools = Mapping[str, ListedTool]
NO_TOOLS: Final[Tools] = MappingProxyType({})

_listings: Final[WeakKeyDictionary[Any, Tools]] = WeakKeyDictionary()


async def list_tools(session: Any, *, fresh: bool = False) -> tuple[Tools, bool]:
    """The tools of the server of `session`, by name, and whether the list was read just now.

    It is empty if the server does not list its tools.

    The list is read once for each session, and again after the server says that it has changed. Never raises, except
    for a cancellation.

    ```python
    tools, _ = await list_tools(session)
    print(tools["fetch_articles"].contract.reasons)
    ```

    Args:
        session: The SDK's `Client` or `ClientSession`, or the client of FastMCP.
        fresh: Whether to read the list again.
    """
    key = _connection_of(session)
    # A session of another kind may be impossible to hash; then its tools are listed for each failed call.
    known = None if fresh else quietly(lambda: _listings.get(key), None)
    if known is not None:
        return known, False
    tools: dict[str, ListedTool] = {}
    try:
        with anyio.fail_after(LISTING_TIMEOUT):
            async for page in pages_of(partial(_page, session)):
                for tool in filter(None, map(listed_tool, page.tools)):
                    tools.setdefault(tool.name, tool)
    except Exception:  # noqa: BLE001 - without the list, the failure of the call is still known
        return NO_TOOLS, True
    listing = MappingProxyType(tools)
    quietly(lambda: _keep(key, listing), None)
    return listing, True


async def pages_of(list_page: Callable[[str | None], Awaitable[Any]], *, most: int = MAX_PAGES) -> AsyncIterator[Any]:
    """The pages of a list, the first `most` of them; `list_page` gets the cursor of a page.

    Raises:
        Exception: What `list_page` raises.
    """
    cursor: str | None = None
    for _ in range(most):
        page = await list_page(cursor)
        yield page
        cursor = page.next_cursor
        if not cursor:
            return


def _keep(connection: Any, tools: Tools) -> None:
    _listings[connection] = tools
    # The connection itself keeps the watcher, which must not keep the connection alive in turn.
    reference = ref(connection)
    watch_tools(connection, lambda: _listings.pop(reference(), None))


def forget_tools(session: Any) -> None:
    """Forget the list of tools of `session`, so that it is read again when it is needed next.

    A session of the SDK or of FastMCP does this by itself when the server says that its tools have changed.

    ```python
    forget_tools(session)
    ```

    Args:
        session: The session, or the client around it.
    """
    quietly(lambda: _listings.pop(_connection_of(session), None), None)


def _connection_of(session: Any) -> Any:
    """The `ClientSession` inside a client: a client cannot be hashed, and may connect again to another server."""
    return quietly(lambda: session.session, session)


async def _page(session: Any, cursor: str | None) -> Any:
    if hasattr(session, "list_tools_mcp"):  # the client of FastMCP
        return await session.list_tools_mcp(cursor=cursor, cache_mode="refresh")
    if _connection_of(session) is not session:  # the SDK's Client; its own cache may be older than the change
        return await session.list_tools(cursor=cursor, cache_mode="refresh")
    from mcp_types import PaginatedRequestParams

    return await session.list_tools(params=PaginatedRequestParams(cursor=cursor))


class ToolContract(Generic[R_co]):
    """The name of a tool and its failure modes; pass it to `call` in place of the name.

    ```python
    FETCH: ToolContract[Literal["no_match", "queue_full"]] = ToolContract("fetch_articles", (NO_MATCH, QUEUE_FULL))

    try:
        result = await call(session, FETCH, {"pmids": ["1"]})
    except ToolCallFailed as failed:
        match FETCH.reason_of(failed):
            case "no_match":
                print(failed.data_of(NO_MATCH).pmids)
            case "queue_full" | None:
                raise
            case other:
                assert_never(other)
    ```

    Attributes:
        name: The name of the tool.
        errors: Its failure modes.
    """

    __slots__ = ("contract", "name")

    def __init__(self, name: str, errors: Iterable[FailureMode[R_co]] = ()) -> None:
        """Name the tool and its failure modes.

        Raises:
            ContractError: If an entry is not a `FailureMode` or two entries have the same reason.
        """
        self.name = name
        self.contract: Contract[R_co] = Contract(errors, tool=name)

    def reason_of(self, failed: ToolCallFailed) -> R_co | None:
        """The declared reason of a failure of this tool; None for any other failure.

        Args:
            failed: The failure of a call.
        """
        entry = self.contract.get(failed.reason)
        return None if entry is None or failed.tool != self.name else entry.reason

    def __repr__(self) -> str:
        return f"ToolContract({self.name!r}, {list(self.contract.reasons)})"


D = TypeVar("D")

StepKind = Literal["called", "failed", "waited", "retried", "corrected", "fell_back", "acted", "gave_up", "succeeded"]
"""What happened in a step of a call under a policy.

```python
if any(step.kind == "waited" for step in failed.steps):
    print("the server asked for a pause")
```
"""

_MAX_TEXT: Final = 10_000
"""Characters of a plain text that are searched for what went wrong."""

_PREFIX: Final = re.compile(r"Error (?:executing|calling) tool '?[A-Za-z0-9._-]{1,128}'?: ")

# "Sent 3 of 10 messages, then: HTTP 429" does not say that the whole call was refused.
_FIRST_CLAUSE: Final = re.compile(r"(?i:\s*error:\s)*(?:[^\n,;:.]|[.:](?!\s))*")

VAGUE: Final = frozenset({ErrorCode.UNKNOWN_ERROR, ErrorCode.INTERNAL_ERROR})
"""Codes that say nothing; the text may say more."""

# Failures of a request that never became a call.
_NOT_BEGUN: Final = frozenset({ErrorCode.PARSE_ERROR, ErrorCode.INVALID_REQUEST, ErrorCode.METHOD_NOT_FOUND})


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of a call under a policy.

    Attributes:
        kind: "called" for the first call; "retried", "corrected", "fell_back" and "acted" for each further one, after
            what made it worth making; "failed" or "succeeded" for how a call ended; "waited" before a wait; "gave_up"
            at the end of a call that failed.
        tool: The tool that is called.
        attempt: The number of the call, from 1.
        elapsed: Seconds since the beginning.
        why: The reason for the step, as one plain sentence.
        failure: The failure that led to the step, or None.
        wait: The seconds of a wait, or None.
    """

    kind: StepKind
    tool: str
    attempt: int
    elapsed: float
    why: str
    failure: ToolCallFailed | None = None
    wait: float | None = None


class ToolCallFailed(Exception):  # noqa: N818 - it names what happened, and is public API
    """A tool call failed.

    ```python
    try:
        await call(session, "fetch_articles", {"pmids": ["1"]})
    except ToolCallFailed as failed:
        print(failed.reason, failed.envelope.hint, failed.envelope.fallback_tool)
    ```

    Attributes:
        tool: The tool that failed; with a policy, it may be a fallback of the one that was called.
        arguments: The arguments of the call that failed.
        envelope: The failure as the server sent it, or as it was inferred. In a text alone, the effects "none" do not
            count unless the contract declares them.
        entry: The entry of the contract that declares the reason, or None.
        inferred: Whether the server sent no envelope, as a proxy in front of it may say; then `envelope` is made of the
            fields and the text that it sent, and of the annotations.
        result: The result as the client returned it; None if the call was answered with a protocol error or not at all.
        steps: All steps up to the failure.
        attempts: The number of calls that were made, fallbacks included.
    """

    def __init__(
        self,
        tool: str,
        envelope: Envelope,
        *,
        arguments: Mapping[str, Any] | None = None,
        entry: FailureMode[Any] | None = None,
        inferred: bool = False,
        result: object = None,
        steps: tuple[Step, ...] = (),
        attempts: int = 1,
    ) -> None:
        super().__init__(tool, envelope)
        self.tool = tool
        self.arguments: dict[str, Any] = dict(arguments or {})
        self.envelope = envelope
        self.entry = entry
        self.inferred = inferred
        self.result = result
        self.steps = steps
        self.attempts = attempts

    @property
    def reason(self) -> str | None:
        """The declared reason, or None."""
        return self.envelope.reason

    @property
    def effects(self) -> Effects | None:
        """Whether the call changed anything; what the entry warns of counts if the envelope says nothing."""
        if self.envelope.effects is None and self.entry is not None and self.entry.effects in CHANGED:
            return self.entry.effects
        return self.envelope.effects

    def data_of(self, mode: FailureMode[Any, D]) -> D:
        """The data of the failure as the model that `mode` declares; None if it declares none.

        ```python
        try:
            await call(session, "fetch_articles", {"pmids": ["1"]})
        except ToolCallFailed as failed:
            if failed.reason == "no_match":
                print(failed.data_of(NO_MATCH).pmids)
        ```

        Args:
            mode: The failure mode.

        Raises:
            ValueError: If the failure has another reason, or data that does not fit the model.
        """
        if self.reason != mode.reason:
            raise ValueError(f"{self.tool} failed with the reason {self.reason!r}, not {mode.reason!r}")
        return mode.read_data(self.envelope.data or {})

    def __reduce__(self) -> tuple[Any, ...]:
        # The result and the steps hold objects of the client, which need not be picklable.
        options = {name: getattr(self, name) for name in ("arguments", "entry", "inferred", "attempts")}
        return partial(type(self), **options), (self.tool, self.envelope)

    def __str__(self) -> str:
        # The texts are the server's.
        reason = (self.reason or self.envelope.name)[:MAX_REASON]
        return one_line(f"{self.tool[:MESSAGE]} failed ({reason}): {self.envelope.message[:MESSAGE]}")


def failure_of(
    answer: object,
    tool: str,
    arguments: Mapping[str, Any] | None = None,
    *,
    listed: ListedTool | None = None,
    contract: Contract[Any] = NO_CONTRACT,
) -> ToolCallFailed | None:
    """The failure in the answer to a call; None if the call succeeded.

    ```python
    result = await session.call_tool("fetch_articles", {"pmids": ["1"]})
    if (failed := failure_of(result, "fetch_articles")) is not None:
        print(failed.reason)
    ```

    Args:
        answer: What a client returned or raised, as for `Envelope.from_result`.
        tool: The tool that was called.
        arguments: Its arguments.
        listed: The tool as the server lists it.
        contract: The contract that the application knows; it counts where the server advertises no entry.

    Raises:
        TypeError: If `answer` is an object of an unknown type.
    """
    envelope = Envelope.from_result(answer)
    if envelope is None:
        return None
    if envelope.dialect == UNKNOWN_DIALECT:
        envelope = inferred_envelope(envelope, listed)
    inferred = envelope.inferred
    if envelope.retry.retryable and (forbids_retry(envelope.message) or forbids_retry(envelope.hint or "")):
        envelope = replace(envelope, retry=Retry.never(), retry_stated=True)
    advertised = None if listed is None else listed.contract.get(envelope.reason)
    # The entry that declares the reason: the server's, else the application's.
    entry = contract.get(envelope.reason) if advertised is None else advertised
    declared_none = entry is not None and entry.effects == "none"
    if envelope.effects == "none" and not inferred and not declared_none and _is_in_text_alone(answer):
        envelope = replace(envelope, effects=None)
    is_exception = isinstance(answer, BaseException)
    return ToolCallFailed(
        tool,
        envelope,
        arguments=arguments,
        entry=entry,
        inferred=inferred,
        result=None if is_exception else answer,
    )


def _is_in_text_alone(answer: object) -> bool:
    """Whether the envelope in `answer` is in a text alone.

    A text may be that of an upstream or of a caller, which a server passes on in the text of its exception. If it says
    that nothing was changed, nobody may make the call twice because of it.
    """
    parts = answer if isinstance(answer, Envelope) else answer_of(answer)
    if isinstance(parts, Envelope) or parts.error is not None:
        return False
    structured = Envelope.from_result({"isError": True, "structuredContent": parts.structured, "content": []})
    return structured is None or structured.dialect == UNKNOWN_DIALECT


def inferred_envelope(envelope: Envelope, listed: ListedTool | None) -> Envelope:
    """The envelope of a failure in no dialect: its text may say its code, and the annotations of the tool its effects.

    The advice is the server's own word, else it follows from the annotations, else from the text.
    """
    code = envelope.error_code or ErrorCode.UNKNOWN_ERROR
    stated = envelope.retry if envelope.retry_stated else None
    retry = code.retry if stated is None else stated
    is_partial = False
    if code in VAGUE:
        # The name of a tool, such as `set_timeout`, says nothing about the failure.
        text = _PREFIX.sub("", envelope.message[:_MAX_TEXT], count=1)
        # Exception itself matches no type of the table, so only the text counts.
        explanation = explain(Exception(text))
        if explanation.matched.layer == "message":
            code, retry = explanation.code, explanation.retry
            first = _FIRST_CLAUSE.match(text)
            is_partial = retry.retryable and first is not None and explain(Exception(first[0])).code is not code
        elif stated is None and asks_to_wait(text):
            # The text may name no time. The advice stays only where a second call does no harm.
            retry = as_retry(in_words(text) or 5)
    inferred = replace(envelope, code=int(code), name=code.name, retry=retry, inferred=True)
    settled_envelope = with_default_effects(inferred, listed, is_partial=is_partial)
    if stated is None:
        return settled_envelope
    # A text may say how long to wait where the server's own word is only that the call may be repeated.
    return replace(settled_envelope, retry=retry if stated.seconds == 0 and retry.retryable else stated)


def with_default_effects(envelope: Envelope, listed: ListedTool | None, *, is_partial: bool = False) -> Envelope:
    """`envelope` with the effects that follow from the annotations of the tool, if it declares none.

    A call that was refused, by its code, has none, unless `is_partial`: then it may have done something before.
    """
    code = envelope.error_code
    if code is None:
        return envelope
    state = CallState(None if listed is None else listed.effects, began=code not in _NOT_BEGUN)
    settled_as = ErrorCode.UNKNOWN_ERROR if is_partial else code
    effects, retry = settled(
        state,
        settled_as,
        envelope.retry,
        is_declared=declares_retry(envelope),
        effects=envelope.effects,
        crashed=settled_as in VAGUE,
    )
    return replace(envelope, retry=retry, effects=effects)


def unanswered(tool: str, limit: str) -> Envelope:
    """The envelope of a call that did not end in time."""
    return Envelope(
        code=int(ErrorCode.TIMEOUT),
        name=ErrorCode.TIMEOUT.name,
        message=f"{tool} did not answer within the {limit} that the policy allows.",
        retry=ErrorCode.TIMEOUT.retry,
        dialect=UNKNOWN_DIALECT,
    )


_LOST: Final = ("Connection closed", "SSE stream ")
"""How the SDK's client begins the messages about a lost connection (`mcp.shared` and `mcp.client`, 2.3)."""


def is_lost(error: Any) -> bool:
    """Whether an error is the client's own: the connection is lost. Servers use the number for other things."""
    return error.code == -32000 and error.data is None and error.message.startswith(_LOST)
