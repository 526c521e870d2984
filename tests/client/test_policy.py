"""`decide` and the options of a policy, without a server."""

from __future__ import annotations

import math
from typing import Any

import anyio
import pytest
from hypothesis import given, strategies as st

from mcpcore import Contract, Envelope, ErrorCode, FailureMode, Retry
from mcpcore.client import CallPolicy, ListedTool, Progress, ReadOnly, RetryBudget, ToolCallFailed, decide

NAMES = ("a", "b", "c")
REASONS = ("x", "y")
OBJECT = {"type": "object", "properties": {"limit": {"type": "integer"}}}

retries = st.just(Retry.never()) | st.just(Retry.now()) | st.floats(0, 100).map(lambda s: Retry.after(seconds=s))
effects = st.sampled_from([None, "none", "partial", "unknown"])
allowed = st.booleans() | st.sets(st.sampled_from(NAMES))


@st.composite
def entries(draw: Any, reason: str) -> FailureMode[Any]:
    tool = draw(st.none() | st.sampled_from(NAMES))
    arguments = st.none() | st.sampled_from([{"limit": "{limit}"}, {"limit": "{other}"}, {"limit": 2}, {"other": 1}])
    return FailureMode(
        reason,
        ErrorCode.TIMEOUT,
        when="It happens.",
        recovery="Do this.",
        fallback_tool=tool,
        fallback_arguments=None if tool is None else draw(arguments),
        corrective_params=draw(st.none() | st.sampled_from([{"limit": 1}, {"limit": "x"}, {"other": 1}])),
        effects=draw(effects),
    )


@st.composite
def tools(draw: Any) -> dict[str, ListedTool]:
    return {
        name: ListedTool(
            name=name,
            contract=Contract([draw(entries(reason)) for reason in draw(st.sets(st.sampled_from(REASONS)))]),
            read_only=draw(st.booleans()),
            idempotent=draw(st.booleans()),
            input_schema=draw(st.sampled_from([OBJECT, {}])),
        )
        for name in draw(st.sets(st.sampled_from(NAMES)))
    }


@st.composite
def policies(draw: Any) -> CallPolicy:
    return CallPolicy(
        max_attempts=draw(st.integers(1, 6)),
        max_elapsed=draw(st.floats(0.1, 100)),
        max_wait=draw(st.floats(0, 100)),
        retry_unsafe=draw(allowed),
        fallbacks=draw(allowed),
        corrections=draw(allowed),
        on=dict.fromkeys(
            draw(st.sets(st.sampled_from(["x", "TIMEOUT", ErrorCode.TIMEOUT]))),
            draw(st.sampled_from([print, ReadOnly(print)])),
        ),
        budget=draw(st.none() | st.just(RetryBudget(0, 0)) | st.just(RetryBudget())),
    )


@st.composite
def failures(draw: Any, listing: dict[str, ListedTool], tool: str, arguments: Any) -> ToolCallFailed:
    reason = draw(st.none() | st.sampled_from(REASONS))
    data: dict[str, Any] = {} if reason is None else {"reason": reason}
    if (sent := draw(st.none() | st.sampled_from(NAMES))) is not None:
        data["recovery"] = {"hint": "Do this.", "fallbackTool": sent}
    code = draw(st.sampled_from([ErrorCode.TIMEOUT, ErrorCode.NOT_FOUND]))
    envelope = Envelope(
        code=int(code), name=code.name, message="No.", retry=draw(retries), effects=draw(effects), data=data
    )
    entry = listing[tool].contract.get(reason) if tool in listing else None
    return ToolCallFailed(tool, envelope, arguments=arguments, entry=entry)


@given(st.data())
def test_a_policy_is_never_exceeded_and_always_ends(data: st.DataObject) -> None:
    """Whatever a server answers, each step is one that the policy, the contract and the failure allow."""
    policy, listing = data.draw(policies()), data.draw(tools())
    tool, arguments, state = "a", {"limit": 5}, Progress(tools=listing, called=frozenset({"a"}))
    while True:
        failure = data.draw(failures(listing, tool, arguments))
        decision = decide(failure, policy, state)
        assert decision.why[0].isupper()
        assert decision.why.endswith(".")
        if decision.kind == "give_up":
            return
        assert state.attempts < policy.max_attempts
        assert state.elapsed + decision.wait < policy.max_elapsed
        assert policy.budget is None or policy.budget.left
        known = listing.get(tool, ListedTool(name=tool))
        unchanged = failure.effects == "none" or known.read_only or policy.allows_repeat(failure.tool)
        if decision.kind in ("retry", "wait"):
            assert failure.envelope.retry.seconds == decision.wait <= policy.max_wait
            assert unchanged or known.idempotent
            assert (tool, arguments) == (decision.tool, decision.arguments)
        elif decision.kind == "correct":
            assert failure.entry is not None
            assert policy.corrections is True or tool in policy.corrections  # type: ignore[operator]
            assert unchanged
            assert {"limit": 1} == failure.entry.corrective_params
        elif decision.kind == "fall_back":
            assert failure.entry is not None
            assert failure.entry.fallback_tool == decision.tool != tool
            assert decision.tool in listing.keys() - state.called
            assert policy.fallbacks is True or decision.tool in policy.fallbacks  # type: ignore[operator]
            assert unchanged or listing[decision.tool].read_only
            declared = failure.entry.fallback_arguments
            assert decision.arguments == (arguments if declared == {"limit": "{limit}"} else declared)
        else:
            match = policy.action_of(failure)
            assert match is not None
            assert unchanged or isinstance(match[1], ReadOnly)
        tool, arguments = decision.tool, dict(decision.arguments or {})
        state = Progress(
            attempts=state.attempts + 1,
            elapsed=state.elapsed + decision.wait,
            tools=listing,
            called=state.called | {tool},
            corrected=state.corrected | ({(tool, str(failure.reason))} if decision.kind == "correct" else set()),
            acted=state.acted | ({str(failure.reason)} if decision.kind == "act" else set()),
        )


def failed(retry: Retry, reason: str | None = None, *, native: Any = None) -> ToolCallFailed:
    data = {} if reason is None else {"reason": reason}
    envelope = Envelope(code=-32004, name="TIMEOUT", message="No.", retry=retry, data=data, native_code=native)
    return ToolCallFailed("a", envelope)


READ_ONLY = Progress(tools={"a": ListedTool(name="a", read_only=True)})


@pytest.mark.parametrize("wait", [math.nan, math.inf, -1])
def test_a_wait_that_is_no_time_is_not_obeyed(wait: float) -> None:
    """An envelope that a program made itself may have any number."""
    advice = Retry("retryable_after_ms", wait)  # type: ignore[arg-type]
    assert "give_up" == decide(failed(advice), CallPolicy(), READ_ONLY).kind


def test_a_wait_beyond_the_time_that_is_left_is_not_begun() -> None:
    """The failure comes now, not after the wait."""
    decision = decide(failed(Retry.after(seconds=10)), CallPolicy(), Progress(elapsed=55, tools=READ_ONLY.tools))
    assert ("give_up", "Waiting 10 s would exceed the 60 s that the policy allows.") == (decision.kind, decision.why)
    over = decide(failed(Retry.now()), CallPolicy(), Progress(elapsed=60, tools=READ_ONLY.tools))
    assert "The policy's time limit of 60 s is over." == over.why


def test_the_last_attempt_goes_to_the_fallback() -> None:
    """A service that is down for long would otherwise use up the attempts."""
    entry = FailureMode(
        "x", ErrorCode.TIMEOUT, when="It happens.", recovery="Do this.", fallback_tool="b", fallback_arguments={}
    )
    failure = failed(Retry.now(), "x")
    failure.entry = entry
    listing = {"a": ListedTool(name="a", read_only=True), "b": ListedTool(name="b", read_only=True)}
    kinds = [
        decide(failure, CallPolicy(fallbacks=True), Progress(attempts=attempts, tools=listing)).kind
        for attempts in (1, 2, 3, 4)
    ]
    assert ["retry", "retry", "fall_back", "give_up"] == kinds
    assert "retry" == decide(failure, CallPolicy(), Progress(attempts=3, tools=listing)).kind


def test_an_action_is_found_by_reason_by_code_as_sent_and_by_code() -> None:
    """The most specific key wins."""
    on: Any = {"x": len, "SESSION_LOCKED": abs, ErrorCode.TIMEOUT: max}
    policy = CallPolicy(on=on)
    assert ("x", len) == policy.action_of(failed(Retry.never(), "x", native="SESSION_LOCKED"))
    assert ("SESSION_LOCKED", abs) == policy.action_of(failed(Retry.never(), "y", native="SESSION_LOCKED"))
    assert (ErrorCode.TIMEOUT, max) == policy.action_of(failed(Retry.never(), native=7))
    assert None is CallPolicy(on={"x": len}).action_of(failed(Retry.never()))


def test_a_read_only_action_is_a_function() -> None:
    """A mistake is reported where the policy is made."""
    with pytest.raises(TypeError, match="takes a function of the failure, not str"):
        ReadOnly("find_orders")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"max_attempts": 0}, ValueError, "max_attempts"),
        ({"max_attempts": True}, ValueError, "max_attempts"),
        ({"max_attempts": 1.5}, ValueError, "max_attempts"),
        ({"max_elapsed": 0}, ValueError, "max_elapsed"),
        ({"max_elapsed": math.nan}, ValueError, "max_elapsed"),
        ({"max_wait": -1}, ValueError, "max_wait"),
        ({"max_wait": "1"}, ValueError, "max_wait"),
        ({"jitter": math.inf}, ValueError, "jitter"),
        ({"fallbacks": "search"}, TypeError, "fallbacks"),
        ({"fallbacks": {"search": {}}}, TypeError, "not made by a function"),
        ({"corrections": "search"}, TypeError, "corrections"),
        ({"on": {7: print}}, TypeError, "a reason or a code"),
        ({"on": {"x": 7}}, TypeError, "not callable"),
        ({"on": ["session_expired"]}, TypeError, "a mapping from reasons to actions, not list"),
        ({"on_step": 7}, TypeError, "on_step"),
        ({"on_step": anyio.sleep}, TypeError, "not async"),
        ({"retry_unsafe": "place_order"}, TypeError, "True, False or a set of tools, not str"),
        ({"retry_unsafe": 1}, TypeError, "True, False or a set of tools, not int"),
        ({"budget": 3}, TypeError, "takes a RetryBudget, not int"),
    ],
)
def test_a_policy_refuses_options_that_cannot_stand(options: Any, error: type[Exception], message: str) -> None:
    """A mistake is reported where the policy is made."""
    with pytest.raises(error, match=message):
        CallPolicy(**options)


@pytest.mark.parametrize(("ratio", "minimum"), [(-1, 1), (math.nan, 1), (0.1, -1), (0.1, math.inf)])
def test_a_budget_refuses_numbers_that_cannot_stand(ratio: float, minimum: int) -> None:
    """A budget without an end would be none."""
    with pytest.raises(ValueError, match="finite number"):
        RetryBudget(ratio, minimum)


def test_a_budget_grows_with_the_calls() -> None:
    """Ten calls allow one retry more."""
    budget = RetryBudget(ratio=0.1, minimum=0)
    assert not budget.spend()
    for _ in range(10):
        budget.called()
    assert [True, False] == [budget.spend(), budget.spend()]


def test_a_fallback_tool_is_called_once() -> None:
    """One that was called before is no way out any more."""
    entry = FailureMode(
        "x",
        ErrorCode.CONFLICT,
        when="It happens.",
        recovery="Do this.",
        fallback_tool="b",
        fallback_arguments={},
        effects="none",
    )
    listing = {"a": ListedTool(name="a", contract=Contract([entry])), "b": ListedTool(name="b")}
    envelope = Envelope(
        code=-32002, name="CONFLICT", message="m", retry=Retry.never(), effects="none", data={"reason": "x"}
    )
    failure = ToolCallFailed("a", envelope, entry=entry)
    first, second = (
        decide(failure, CallPolicy(fallbacks=True), Progress(tools=listing, called=frozenset(called)))
        for called in ({"a"}, {"a", "b"})
    )
    assert ("fall_back", "give_up") == (first.kind, second.kind)
    assert "The fallback tool b was called already." == second.why
