"""`CallPolicy` and `decide`: the next step after a failed call. Nothing here waits, calls or keeps state."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from mcpcore.client.failures import NO_TOOLS, ListedTool, Step, ToolCallFailed
from mcpcore.contract.codes import Code, is_code
from mcpcore.contract.effects import CHANGED
from mcpcore.contract.recovery import filled_arguments
from mcpcore.values.bounds import MESSAGE
from mcpcore.values.escaping import one_line
from mcpcore.values.jsonable import clean_cut
from mcpcore.values.untrusted import is_async


class RetryBudget:
    """Allows retries while they are at most `minimum + ratio * calls`.

    Share one budget between all calls of a session, or of a process. While most calls succeed, it is never spent. When
    a server is down, every call fails, and the budget ends the retries of all calls together.

    ```python
    budget = RetryBudget(ratio=0.5, minimum=1)
    budget.called()
    assert [budget.spend() for _ in range(2)] == [True, False]
    ```
    """

    def __init__(self, ratio: float = 0.1, minimum: int = 10) -> None:
        """Start a budget.

        Args:
            ratio: The retries that each call adds.
            minimum: The retries that are allowed before any call.

        Raises:
            ValueError: If one of the two is negative or not finite.
        """
        for name, value in (("ratio", ratio), ("minimum", minimum)):
            if not (math.isfinite(value) and value >= 0):
                raise ValueError(f"RetryBudget({name}=...) takes a finite number from 0 up, not {value!r}")
        self.ratio = ratio
        self.minimum = minimum
        self.calls = 0
        self.retries = 0

    @property
    def left(self) -> bool:
        """Whether one more retry is allowed."""
        return self.retries + 1 <= self.minimum + self.ratio * self.calls

    def called(self) -> None:
        """Count a call of the application; its retries do not count."""
        self.calls += 1

    def spend(self) -> bool:
        """Count a retry, if one more is allowed."""
        if not self.left:
            return False
        self.retries += 1
        return True

    def __repr__(self) -> str:
        return f"RetryBudget(ratio={self.ratio}, minimum={self.minimum}): {self.retries} retries of {self.calls} calls"


Action = Callable[["ToolCallFailed"], Any]
"""An application's own action: sync or async; it may return the arguments of the next call."""


@dataclass(frozen=True, slots=True)
class ReadOnly:
    """An action of the application that changes nothing, so that it may run whatever the failed call did.

    ```python
    policy = CallPolicy(on={"no_answer": ReadOnly(find_the_order)})
    ```

    Attributes:
        action: The action.
    """

    action: Action

    def __post_init__(self) -> None:
        """Check the action."""
        if not callable(self.action):
            raise TypeError(f"ReadOnly(...) takes a function of the failure, not {type(self.action).__name__}")

    def __call__(self, failure: ToolCallFailed) -> Any:
        """Run the action."""
        return self.action(failure)


DecisionKind = Literal["retry", "wait", "correct", "fall_back", "act", "give_up"]
"""The next step after a failure, as `decide` names it.

```python
if decide(failure, CallPolicy(), Progress()).kind == "give_up":
    raise failure
```
"""


@dataclass(frozen=True, kw_only=True)
class CallPolicy:
    """The steps that `call` may take after a failure. Frozen and stateless, so that all calls can share one policy.

    By default it makes the same call again when the failure says that this may help, and only if that is safe: the
    annotations of the tool say that it is read-only or idempotent, or the failure says that nothing was changed. A
    corrected call, a fallback and an action need more, since they are not the same call: the failure says that nothing
    was changed, or the tool that failed is read-only. Read-only fallbacks and actions may always run.

    ```python
    policy = CallPolicy(
        max_attempts=3,
        fallbacks={"search_articles"},
        on={"session_expired": begin_session},
        budget=RetryBudget(),
    )
    ```

    Attributes:
        max_attempts: The most calls, fallbacks and corrections included.
        max_elapsed: The most seconds in all, waits included; a call that is still running then is cancelled.
        max_wait: The longest wait in seconds. Advice to wait longer is not followed.
        jitter: How much longer than advised to wait, at most, as a share of the wait; a random part of it is taken.
        retry_unsafe: The tools that are called again although the first call may have taken effect, or True for all.
        fallbacks: The fallback tools that may be called, or True for any. They get the declared `fallback_arguments`;
            without these, a fallback tool is advice for the model and is not called. A mapping gives, for each tool,
            a function from the failure to the arguments. The last attempt is reserved for a possible fallback.
            Arguments are sent only if the input schema of the tool accepts them, and not if this check takes over half
            a second, or if the schema has look-around, back-references, `unevaluatedProperties` or references to other
            documents.
        corrections: The tools whose declared `corrective_params` may be merged into the arguments, or True for all.
        on: The application's own actions, by reason or by code, each run once for a reason. Afterwards the call is made
            again, with the arguments that the action returned, if any. An action in `ReadOnly` also runs where the
            call may have taken effect; then the same call is made again only if that is safe and the failure is
            retryable, since an action that only looked changes neither.
        budget: A budget that several calls share, or None.
        on_step: A function that gets each step.

    Raises:
        TypeError: If a function is not callable, or another option is of the wrong type.
        ValueError: If a number is out of range.
    """

    max_attempts: int = 4
    max_elapsed: float = 60.0
    max_wait: float = 30.0
    jitter: float = 0.1
    retry_unsafe: bool | Collection[str] = False
    fallbacks: bool | Collection[str] | Mapping[str, Callable[[ToolCallFailed], Mapping[str, Any]]] = False
    corrections: bool | Collection[str] = False
    on: Mapping[str | Code, Action] | None = None
    budget: RetryBudget | None = None
    on_step: Callable[[Step], object] | None = None

    def __post_init__(self) -> None:
        """Check the options."""
        if isinstance(self.max_attempts, bool) or not isinstance(self.max_attempts, int) or self.max_attempts < 1:
            raise ValueError(f"CallPolicy(max_attempts=...) takes an integer from 1 up, not {self.max_attempts!r}")
        for name in ("max_elapsed", "max_wait", "jitter"):
            value = getattr(self, name)
            # `not value >= 0` also refuses a NaN, which `value < 0` would admit.
            if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
                raise ValueError(f"CallPolicy({name}=...) takes a number from 0 up, not {value!r}")
        if not self.max_elapsed > 0:
            raise ValueError("CallPolicy(max_elapsed=...) takes more than 0 seconds; use max_attempts=1 for one call")
        if not math.isfinite(self.jitter):
            raise ValueError("CallPolicy(jitter=...) takes a finite number")
        for name in ("retry_unsafe", "fallbacks", "corrections"):
            value = getattr(self, name)
            # A text is a collection too, of letters.
            if isinstance(value, str) or not isinstance(value, bool | Collection):
                raise TypeError(
                    f"CallPolicy({name}=...) takes True, False or a set of tools, not {type(value).__name__}"
                )
        for tool, make in self.fallbacks.items() if isinstance(self.fallbacks, Mapping) else ():
            if not callable(make):
                raise TypeError(f"CallPolicy(fallbacks=...): the arguments for {tool!r} are not made by a function")
        if self.on is not None and not isinstance(self.on, Mapping):
            raise TypeError(f"CallPolicy(on=...) takes a mapping from reasons to actions, not {type(self.on).__name__}")
        for key, action in (self.on or {}).items():
            if not isinstance(key, str) and not is_code(key):
                raise TypeError(f"CallPolicy(on=...): a key is a reason or a code, not {key!r}")
            if not callable(action):
                raise TypeError(f"CallPolicy(on=...): the action of {key!r} is not callable")
        if self.budget is not None and not isinstance(self.budget, RetryBudget):
            raise TypeError(f"CallPolicy(budget=...) takes a RetryBudget, not {type(self.budget).__name__}")
        if self.on_step is not None and (not callable(self.on_step) or is_async(self.on_step)):
            raise TypeError("CallPolicy(on_step=...) takes a function that is not async: it is called, and not awaited")

    def action_of(self, failure: ToolCallFailed) -> tuple[str | Code, Action] | None:
        """The action for a failure, with its key: of the reason, of the code as sent, or of the code."""
        envelope, actions = failure.envelope, self.on or {}
        code = envelope.error_code
        for key in (envelope.reason, envelope.native_code, envelope.name):
            if isinstance(key, str) and key in actions:
                return key, actions[key]
        return (code, actions[code]) if code is not None and code in actions else None

    def allows_repeat(self, tool: str) -> bool:
        """Whether this tool may be called again although the first call may have taken effect."""
        return _names(self.retry_unsafe, tool)


def _names(option: bool | Collection[str], tool: str) -> bool:  # noqa: FBT001 - True names every tool
    return option if isinstance(option, bool) else tool in option


def checked_policy(policy: object) -> CallPolicy:
    """`policy`, or `NO_POLICY` for None.

    Raises:
        TypeError: If it is something else.
    """
    if policy is None:
        return NO_POLICY
    if not isinstance(policy, CallPolicy):
        shown = "the class CallPolicy" if policy is CallPolicy else type(policy).__name__
        raise TypeError(f"policy=... takes a CallPolicy, such as CallPolicy(max_attempts=3), not {shown}")
    return policy


def arguments_from(returned: object, source: str) -> dict[str, Any]:
    """The arguments that a function of the application returned.

    Raises:
        TypeError: If they are not a mapping.
    """
    if not isinstance(returned, Mapping):
        raise TypeError(f"{source} must return a mapping of arguments, not {type(returned).__name__}")
    return dict(returned)


NO_POLICY: Final = CallPolicy(max_attempts=1, max_elapsed=math.inf)
"""One call, and nothing else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a call has come when it fails.

    Attributes:
        attempts: The number of calls that were made.
        elapsed: Seconds since the beginning.
        tools: The tools that the server lists, by name.
        called: The tools that were called; none of them is a fallback again.
        corrected: The tools and reasons after which the arguments were corrected.
        acted: The reasons after which an action has run; for a failure without one, the key of the action.
        changed: The tools whose failed calls are not known to have changed nothing; what happens later does not undo
            that.
    """

    attempts: int = 1
    elapsed: float = 0.0
    tools: Mapping[str, ListedTool] = field(default_factory=lambda: NO_TOOLS)
    called: frozenset[str] = frozenset()
    corrected: frozenset[tuple[str, str]] = frozenset()
    acted: frozenset[str] = frozenset()
    changed: tuple[str, ...] = ()


class Decision(NamedTuple):
    """The next step after a failure.

    "retry" makes the same call immediately, and "wait" makes it after `wait` seconds. "correct" calls the tool with new
    arguments, and "fall_back" calls another tool. "act" runs the application's action and then makes the call again.

    ```python
    decision = decide(failure, CallPolicy(), Progress())
    if decision.kind == "wait":
        print(f"waiting {decision.wait} s: {decision.why}")
    ```

    Attributes:
        kind: The step.
        why: The reason for it, as a sentence.
        wait: The seconds to wait.
        tool: The tool to call, if it is another one.
        arguments: The arguments to call it with, if they are new.
    """

    kind: DecisionKind
    why: str
    wait: float = 0.0
    tool: str = ""
    arguments: Mapping[str, Any] | None = None


def decide(failure: ToolCallFailed, policy: CallPolicy, state: Progress) -> Decision:
    """Choose the next step after a failure.

    In this order: the application's own action, the declared correction, the same call again, the declared fallback.
    The last attempt goes to the fallback if there is one.

    ```python
    decision = decide(failure, CallPolicy(), Progress())
    print(decision.kind)
    ```

    Args:
        failure: The failure of the last call.
        policy: What is allowed.
        state: How far the call has come.
    """
    if state.attempts >= policy.max_attempts:
        allowed = "1 call" if policy.max_attempts == 1 else f"{policy.max_attempts} calls"
        return _give_up(f"the policy allows {allowed}", failure)
    if not state.elapsed < policy.max_elapsed:
        return _give_up(f"the policy's time limit of {policy.max_elapsed:g} s is over", failure)
    if policy.budget is not None and not policy.budget.left:
        return _give_up("the budget of retries is spent", failure)
    acting = _action(failure, policy, state)
    if acting is not None and acting.kind == "act":
        return acting
    correction = _correction(failure, policy, state)
    if correction is not None and correction.kind == "correct":
        return correction
    again = _again(failure, policy, state)
    if again.kind != "give_up" and state.attempts + 1 < policy.max_attempts:
        return again
    fallback = _fallback(failure, policy, state)
    if fallback is not None and fallback.kind == "fall_back":
        return fallback
    if again.kind != "give_up":
        return again
    hindrances = [step for step in (acting, correction, fallback) if step is not None]
    return hindrances[0] if hindrances else again


def _give_up(why: str, failure: ToolCallFailed) -> Decision:
    return Decision("give_up", _sentence(why), tool=failure.tool, arguments=failure.arguments)


def _sentence(why: str) -> str:
    """A sentence of `why`, in which the names of tools and arguments may be a server's."""
    return one_line(clean_cut(f"{why[0].upper()}{why[1:]}.", MESSAGE))


def _listed(failure: ToolCallFailed, state: Progress) -> ListedTool:
    return state.tools.get(failure.tool) or ListedTool(name=failure.tool)


def unchanged(failure: ToolCallFailed, tool: ListedTool | None) -> bool:
    """Whether the failed call changed nothing: the failure says so, or the tool only reads.

    Effects that nobody stated may be any.

    Args:
        failure: The failure of the call.
        tool: The tool, as the server lists it.
    """
    return failure.effects == "none" or (tool is not None and tool.read_only)


def repeatable(failure: ToolCallFailed, tool: ListedTool | None) -> bool:
    """Whether the identical call can be made again: nothing was changed, or the tool is declared as idempotent.

    Args:
        failure: The failure of the call.
        tool: The tool, as the server lists it.
    """
    return unchanged(failure, tool) or (tool is not None and tool.idempotent)


def _hindrance(failure: ToolCallFailed, policy: CallPolicy, state: Progress) -> str | None:
    """The tool that keeps back every call that may write and is not the identical one, or None."""
    this = () if unchanged(failure, state.tools.get(failure.tool)) else (failure.tool,)
    return next((tool for tool in (*state.changed, *this) if not policy.allows_repeat(tool)), None)


def _is_safe_again(failure: ToolCallFailed, policy: CallPolicy, state: Progress) -> bool:
    return policy.allows_repeat(failure.tool) or repeatable(failure, state.tools.get(failure.tool))


def may_follow_action(failure: ToolCallFailed, policy: CallPolicy, state: Progress, *, identical: bool) -> bool:
    """Whether the call may be made again after an action.

    A failure that advises against the same call is overruled only by an action that writes, and not where the call
    may have taken effect: a session that it began, for one, makes the same call another one.

    Args:
        failure: The failure of the call.
        policy: What is allowed.
        state: How far the call has come.
        identical: Whether the arguments stay the same.
    """
    if identical:
        # An action that writes was made to change what the failure speaks of; after one that only looked, that holds.
        match, code = policy.action_of(failure), failure.envelope.error_code
        wrote = match is not None and not isinstance(match[1], ReadOnly)
        # A code such as UNAUTHORIZED is never retryable. A TIMEOUT usually is, so its server speaks of this very call.
        is_usual = code is not None and not code.retry.retryable and failure.effects not in CHANGED
        is_lifted = wrote and (is_usual or unchanged(failure, state.tools.get(failure.tool)))
        return _is_safe_again(failure, policy, state) and (failure.envelope.retryable or is_lifted)
    return _hindrance(failure, policy, state) is None or _listed(failure, state).read_only


def _action(failure: ToolCallFailed, policy: CallPolicy, state: Progress) -> Decision | None:
    match = policy.action_of(failure)
    if match is None or (failure.reason or str(match[0])) in state.acted:
        return None
    key, action = match
    changed_by = _hindrance(failure, policy, state)
    if changed_by is not None and not isinstance(action, ReadOnly):
        return _give_up(f"the call of {changed_by} may have taken effect, and the action is not ReadOnly", failure)
    why = _sentence(f"the application has an action for {key}")
    return Decision("act", why, tool=failure.tool, arguments=failure.arguments)


def _correction(failure: ToolCallFailed, policy: CallPolicy, state: Progress) -> Decision | None:
    entry, tool = failure.entry, failure.tool
    if entry is None or entry.corrective_params is None:
        return None
    arguments = {**failure.arguments, **entry.corrective_params}
    # With the same arguments it would be the same call, which `_again` decides about.
    if (tool, entry.reason) in state.corrected or arguments == failure.arguments:
        return None
    if not _names(policy.corrections, tool):
        return _give_up(f"the policy does not allow the correction of {tool}", failure)
    changed_by = _hindrance(failure, policy, state)
    if changed_by is not None and not _listed(failure, state).read_only:
        return _give_up(f"the call of {changed_by} may have taken effect, so {tool} gets no other arguments", failure)
    if tool not in state.tools:
        return _give_up(f"the server does not list {tool}, so the corrected arguments cannot be checked", failure)
    if (misfit := state.tools[tool].misfit(arguments)) is not None:
        return _give_up(f"the declared correction is not sent: {misfit}", failure)
    changed = ", ".join(map(str, entry.corrective_params))
    why = _sentence(f"the contract says to call with another {changed}")
    return Decision("correct", why, tool=tool, arguments=arguments)


def _again(failure: ToolCallFailed, policy: CallPolicy, state: Progress) -> Decision:
    wait = failure.envelope.retry.seconds
    if wait is None:
        return _give_up("the failure is not retryable", failure)
    if not _is_safe_again(failure, policy, state):
        unknown = f"it is not known to be safe to call {failure.tool} twice"
        return _give_up(f"{unknown}: its annotations say neither readOnlyHint nor idempotentHint", failure)
    # A NaN fails every comparison.
    if not 0 <= wait <= policy.max_wait:
        return _give_up(f"the advice is to wait {wait:g} s, and the policy allows {policy.max_wait:g} s", failure)
    if not state.elapsed + wait < policy.max_elapsed:
        return _give_up(f"waiting {wait:g} s would exceed the {policy.max_elapsed:g} s that the policy allows", failure)
    kind: DecisionKind = "wait" if wait > 0 else "retry"
    why = f"The failure is retryable after {wait:g} s." if wait > 0 else "The failure is retryable immediately."
    return Decision(kind, why, wait, failure.tool, failure.arguments)


def _fallback(failure: ToolCallFailed, policy: CallPolicy, state: Progress) -> Decision | None:
    entry, sent = failure.entry, failure.envelope.fallback_tool
    # An envelope may be made of the words of a caller, so only the tool that the contract names is called.
    name = None if entry is None else entry.fallback_tool
    if name is None:
        return None if sent is None else _give_up("the fallback tool is not in the contract", failure)
    if sent not in (None, name):
        return _give_up(f"the failure names another fallback tool than the contract, which names {name}", failure)
    if not _names(policy.fallbacks, name):
        return _give_up(f"the policy does not allow the fallback tool {name}", failure)
    if name in state.called or name == failure.tool:
        return _give_up(f"the fallback tool {name} was called already", failure)
    if name not in state.tools:
        return _give_up(f"the server does not list the fallback tool {name}", failure)
    tool = state.tools[name]
    changed_by = _hindrance(failure, policy, state)
    if changed_by is not None and not tool.read_only:
        return _give_up(f"the call of {changed_by} may have taken effect, and {name} is not read-only", failure)
    arguments: Mapping[str, Any] | None = None
    if entry is not None and entry.fallback_arguments is not None:
        # What the server took from its data may be hidden or cut in the data that it sent.
        sent_arguments = failure.envelope.fallback_arguments
        arguments = filled_arguments(entry, failure.arguments, None) if sent_arguments is None else sent_arguments
    if isinstance(policy.fallbacks, Mapping):
        make: Callable[[ToolCallFailed], Mapping[str, Any]] = policy.fallbacks[name]
        arguments = arguments_from(make(failure), f"the function for the fallback {name}")
    if arguments is None:
        return _give_up(f"the fallback tool {name} is advice for the model: no arguments for it are known", failure)
    if (misfit := tool.misfit(arguments)) is not None:
        return _give_up(f"the fallback is not called: {misfit}", failure)
    why = _sentence(f"the contract names {name} as the fallback")
    return Decision("fall_back", why, tool=name, arguments=arguments)
