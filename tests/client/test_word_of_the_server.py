"""The server's own word about repeating a call: it wins over what its text suggests, and a prohibition over all else."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st
from mcp import Client

from mcpcore import Retry
from mcpcore.client import CallPolicy, ListedTool, Progress, ReadOnly, ToolCallFailed, call, decide, failure_of
from tests.answers import envelope_of
from tests.client.hostile import failed, listed, server

TOOL = ListedTool(name="a", read_only=True)
STATE = Progress(tools={"a": TOOL})
NOW = {"kind": "retryable_immediate"}


def result(structured: Any = None, text: str = "timed out, please try again in 32 s", **more: Any) -> dict[str, Any]:
    return {"isError": True, "content": [{"type": "text", "text": text}], "structuredContent": structured, **more}


def advised(answer: Any) -> Retry:
    """Return the advice that a policy follows for a read-only tool, which annotations do not keep back."""
    failure = failure_of(answer, "a", listed=TOOL)
    assert failure is not None
    decision = decide(failure, CallPolicy(max_wait=3600), STATE)
    if decision.kind == "give_up":
        return Retry.never()
    assert decision.wait == failure.envelope.retry.seconds
    return failure.envelope.retry


FORBIDDEN: dict[str, Any] = {
    "beside a text": result({"error": {"message": "timed out", "retryable": False}}),
    "at the root": result({"retryable": False}),
    "in data": result({"error": {"message": "timed out", "data": {"retryable": False}}}),
    "in an object of any name": result({"verdict": {"category": "TIMEOUT", "is_retryable": False}}),
    "in a list": result({"error": {"code": "TIMEOUT", "causes": [{"isRetryable": "false"}]}}),
    "in details deep inside": result({"a": {"b": {"c": {"d": {"retryable": False}}}}, "code": "TIMEOUT"}),
    "as retry": result({"error": {"code": "TIMEOUT", "retry": "never"}}),
    "as a kind": result({"error": {"code": "TIMEOUT", "retry": {"kind": "not_retryable"}}}),
    "in the text": result(None, '{"error": "timed out", "retryable": false}'),
    "in the text of an exception": result(None, 'Error executing tool a: {"error": "timed out", "retryable": false}'),
    "in words": result(None, "Timed out. Do not retry: the order may be placed."),
    "in words beside a permission": result({"error": {"message": "Timed out.", "retryable": True}}, "Do not retry."),
    "in words about more": result(None, "Timed out. Do not retry: the order was placed for 2 chairs."),
    "in words and a later time": result(None, "Timed out. Never retry, a refund arrives within 5 days."),
    "in words with marks": result(None, "Timed out. Do **not**  retry."),
    "in words of a wrapped line": result(None, "Timed out. Please do not\nretry."),
    "in words without an apostrophe": result(None, "Timed out. Dont retry."),
    "in words as one": result(None, "Timed out. DO_NOT_RETRY"),
    "as a number": result({"error": {"message": "Timed out.", "retryable": 0}}),
    "as the word none": result({"error": {"message": "Timed out.", "retry": "none"}}),
    "as a flag of another name": result({"error": {"message": "Timed out.", "should_retry": False}}),
    "as a ban": result({"error": {"message": "Timed out.", "do_not_retry": True}}),
    "in words after a long text": result(None, "timed out " + "x " * 2_000 + "Do not retry."),
    "in _meta": result(None, "timed out", _meta={"example.com/failure": {"retryable": False}}),
    "beside a wait": result({"error": {"code": "TIMEOUT", "retryable": False, "retry_after": 1}}),
    "a wait too long": result({"error": {"code": "TIMEOUT", "retry_after": 1_790_000_000}}),
    "a wait that is no float": result({"error": {"code": "TIMEOUT", "retry_after": 10**400}}),
    "of the protocol": {"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": "timed out", "data": {"retryable": False}}},
    "in an envelope without advice": result({"error": {"code": -32004, "message": "timed out", "retryable": False}}),
    "in an envelope with advice": failed(retry=NOW, retryable=False),
    "in the message of an envelope": failed(retry=NOW, message="Never retry this."),
    "in the hint of an envelope": failed(retry=NOW, data={"recovery": {"hint": "Do not retry the order."}}),
    "in another dialect": result(
        {"code": "TIMEOUT", "message": "timed out", "recovery_actions": [], "correlation_id": "x", "timestamp": "t",
         "details": {"retryable": False}}
    ),
}  # fmt: skip


@pytest.mark.parametrize("answer", FORBIDDEN.values(), ids=FORBIDDEN.keys())
def test_a_prohibition_is_never_overruled(answer: Any) -> None:
    """Wherever the server says that the call must not be repeated, it is not repeated."""
    assert Retry.never() == advised(answer)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("action", "options", "count"),
    [
        (ReadOnly(lambda _: None), {}, 1),
        (ReadOnly(lambda _: None), {"retry_unsafe": True}, 1),
        (lambda _: None, {"retry_unsafe": True}, 1),
        (lambda _: None, {}, 1),
    ],
)
@pytest.mark.parametrize("answer", [FORBIDDEN["in words"], FORBIDDEN["beside a text"], FORBIDDEN["in the text"]])
async def test_an_action_does_not_overrule_a_prohibition(
    answer: Any, action: Any, options: dict[str, Any], count: int
) -> None:
    """After a call that may have taken effect, an action is no reason for the same call; a look never is."""
    made, calls = server([listed("a", annotations={"idempotentHint": True})], lambda _: answer)
    async with Client(made) as client:
        with pytest.raises(ToolCallFailed):
            await call(client, "a", policy=CallPolicy(on={"TIMEOUT": action}, max_attempts=5, **options))
    assert count == len(calls)


@pytest.mark.anyio
async def test_an_action_that_writes_makes_the_same_call_another_one() -> None:
    """A session that was begun is what the failure asked for; nothing was changed before."""
    answer = failed("expired", name="UNAUTHORIZED", code=-32011, effects="none", retry={"kind": "not_retryable"})
    made, calls = server([listed("a")], lambda _: answer)
    async with Client(made) as client:
        with pytest.raises(ToolCallFailed):
            await call(client, "a", policy=CallPolicy(on={"expired": lambda _: None}, max_attempts=5))
    assert 2 == len(calls)


STATED: dict[str, tuple[Any, float]] = {
    "seconds": (result({"error": {"code": "RATE_LIMITED", "message": "slow", "retry_after_seconds": 1}}), 1),
    "seconds of an envelope": (result({"error": {"code": -32003, "message": "slow", "retry_after_seconds": 1}}), 1),
    "seconds as a text": (result({"error": {"message": "slow down", "retryAfter": "2"}}), 2),
    "milliseconds": (result({"retry-after-ms": 1500}), 1.5),
    "an advice": (result({"error": {"code": "X", "retry": {"kind": "retryable_after_ms", "afterMs": 1000}}}), 1),
    "the longest": (result({"retry_after": 1, "error": {"code": "X", "retryAfterMs": 4000}}), 4),
    "in the text": (result(None, '{"message": "rate limit", "retry_after": 1}'), 1),
    "a flag, with the wait of the text": (result({"error": {"message": "try again in 32 s", "retryable": True}}), 32),
    "a flag, with the wait of the code": (result({"error": {"code": "RATE_LIMITED", "retryable": True}}, ""), 30),
    "a flag for what is final by its code": (result({"error": {"code": "NOT_FOUND", "retryable": "true"}}, ""), 0),
    "of the protocol": (
        {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "", "data": {"retry_after": 1}}},
        1,
    ),
    "an envelope": (failed(retry={"kind": "retryable_after_ms", "afterMs": 500}, data={"retry_after": 9}), 0.5),
}


@pytest.mark.parametrize(("answer", "seconds"), STATED.values(), ids=STATED.keys())
def test_a_stated_wait_wins_over_the_text_and_the_code(answer: Any, seconds: float) -> None:
    """Words such as "try again in 32 s" count only where no field says anything."""
    assert seconds == advised(answer).seconds


@pytest.mark.parametrize(
    ("answer", "seconds"),
    [
        (result({"items": [{"retryable": True, "retry_after": 1}], "code": "TIMEOUT"}), 32),
        (result({"job": {"retry": False, "retry_after": 1}, "code": "TIMEOUT"}), 32),
        (result({"error": {"code": "TIMEOUT", "retry_after": 0}}), 32),
        (result({"error": {"code": "TIMEOUT", "retry_after": -1, "retryAfterMs": True, "retryAfter": "soon"}}), 32),
        (result(None), 32),
    ],
)
def test_what_is_about_something_else_states_nothing(answer: Any, seconds: float) -> None:
    """The items of a list, and an object of an unknown name among other fields, may be about other calls."""
    assert not envelope_of(answer).retry_stated
    failure = failure_of(result(None), "a", listed=TOOL)
    assert failure is not None
    assert seconds == failure.envelope.retry.seconds


def test_the_facts_of_an_author_forbid_nothing() -> None:
    """An envelope has its fields for that; objects deep in its data are about something else."""
    assert Retry.now() == advised(failed(retry=NOW, data={"job": {"retryable": False, "state": "done"}}))


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["error", "retry", "retryable", "retry_after", "kind", "x"]), inner, max_size=4
            )
        ),
        max_leaves=10,
    )
)
def test_no_answer_makes_reading_its_word_fail(structured: Any) -> None:
    """Whatever a server sends, the advice is one that a policy can follow."""
    failure = failure_of(result(structured), "a")
    assert failure is not None
    seconds = failure.envelope.retry.seconds
    assert seconds is None or 0 <= seconds <= 366 * 24 * 3600


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ({"code": -32001, "message": "Request timed out"}, Retry.never()),
        ({"code": -32001, "message": "Request timed out", "data": {"retryable": True}}, Retry.now()),
        ({"code": -32000, "message": "busy", "data": {"retry_after": 7}}, Retry.after(seconds=7)),
    ],
)
def test_an_error_of_a_tool_that_nobody_knows_is_no_advice_to_repeat(error: dict[str, Any], expected: Retry) -> None:
    """The tool may have changed something; of a read-only one, a timeout may be tried again."""
    answer = {"jsonrpc": "2.0", "id": 1, "error": error}
    assert expected == envelope_of(answer).retry
    assert advised(answer).retryable


@pytest.mark.parametrize("number", [-32000, -32001])
@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("The invoice is already paid", "UNKNOWN_ERROR"),
        ("Session expired", "UNAUTHORIZED"),
        ("Connection closed", "SERVICE_UNAVAILABLE"),
        ("Request timed out", "TIMEOUT"),
    ],
)
def test_a_number_that_servers_use_for_anything_says_nothing(number: int, message: str, name: str) -> None:
    """The words decide, also where a session of the SDK made the error."""
    failure = failure_of({"jsonrpc": "2.0", "id": 1, "error": {"code": number, "message": message}}, "a")
    assert failure is not None
    assert name == failure.envelope.name


@pytest.mark.anyio
async def test_a_reason_of_a_server_without_contracts_makes_no_list_old() -> None:
    """A tool that declares nothing is not listed again after each failure."""
    pages: list[Any] = []

    def page(params: Any) -> Any:
        pages.append(params)
        return [listed("a")]

    made, _ = server(page, lambda _: result({"error": {"code": "odd_one", "message": "No."}}))
    async with Client(made) as client:
        for _ in range(2):
            with pytest.raises(ToolCallFailed) as caught:
                await call(client, "a", policy=CallPolicy())
            assert "odd_one" == caught.value.reason
    assert 1 == len(pages)
