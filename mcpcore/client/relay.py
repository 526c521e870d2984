"""`relay`: a call that a framework for agents makes for a model, under a policy. The integrations are built on it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, Generic, NamedTuple, TypeVar

from mcpcore.client.calling import call
from mcpcore.client.failures import Step, ToolCallFailed, listed_tool
from mcpcore.client.policy import CallPolicy, checked_policy

T = TypeVar("T")

_OTHER_CALLS: Final = ("corrected", "fell_back")
"""Steps to a call that the model did not ask for."""


class Relayed(NamedTuple, Generic[T]):
    """How a relayed call ended.

    ```python
    relayed = await relay(call_tool, "fetch_articles", {"pmids": ["1"]}, read=lambda answer: answer)
    print(relayed.answer if relayed.failure is None else relayed.text)
    ```

    Attributes:
        answer: The last answer of the framework; None if the last call ended without one.
        failure: The failure in it, or None.
        note: Sentences for the model about calls that it did not ask for, or an empty text.
    """

    answer: T | None
    failure: ToolCallFailed | None
    note: str

    @property
    def text(self) -> str:
        """The note, and the failure as the text that a server sends of it."""
        text = "" if self.failure is None else self.failure.envelope.text()
        return "\n\n".join(filter(None, (self.note, text)))


async def relay(
    call_tool: Callable[[str, dict[str, Any]], Awaitable[T]],
    tool: str,
    arguments: Mapping[str, Any] | None,
    *,
    read: Callable[[T], object],
    tools: Iterable[object],
    policy: CallPolicy,
) -> Relayed[T]:
    """Make a call through the functions of a framework, and follow a policy while it fails.

    The model sees only the last answer. If that is the answer to other arguments or of a fallback tool, `note` says so.

    ```python
    relayed = await relay(
        framework.call_tool, "fetch_articles", {"pmids": ["1"]}, read=as_result, tools=listed, policy=CallPolicy()
    )
    print(relayed.text)
    ```

    Args:
        call_tool: Makes one call in the framework, with the name of the tool and its arguments.
        tool: The name of the tool.
        arguments: The arguments from the model.
        read: Turns an answer of the framework into a value for `Envelope.from_result`.
        tools: The tools as the server lists them: SDK tools, or their JSON. They are read only after a failure.
        policy: The policy for failures.

    Raises:
        Exception: What `call_tool` raises, other than the SDK's error of the protocol.
    """
    policy = checked_policy(policy)
    notes: list[str] = []

    def keep(step: Step) -> None:
        if step.kind in _OTHER_CALLS:
            notes.append(f"{step.failure} {step.why}")
        if policy.on_step is not None:
            policy.on_step(step)

    session = _Session(call_tool, read)
    failure: ToolCallFailed | None = None
    try:
        await call(
            session,
            tool,
            dict(arguments or {}),
            policy=replace(policy, on_step=keep),
            tools=lambda: {listed.name: listed for listed in map(listed_tool, tools) if listed is not None},
        )
    except ToolCallFailed as failed:
        failure = failed
    return Relayed(session.answer, failure, " ".join(notes))


class _Session(Generic[T]):
    """The functions of a framework as a session, which keeps the last answer."""

    def __init__(self, call_tool: Callable[[str, dict[str, Any]], Awaitable[T]], read: Callable[[T], object]) -> None:
        self._call_tool = call_tool
        self._read = read
        self.answer: T | None = None

    async def call_tool(self, name: str, arguments: dict[str, Any] | None = None, /) -> object:
        # A call that raises must not leave the answer of the call before it.
        self.answer = None
        self.answer = await self._call_tool(name, arguments or {})
        return self._read(self.answer)
