"""Whatever a server lists and answers, each call that a policy makes is allowed by the contract, the policy and the failure.

The test keeps a second account of the rules, as the documentation of `mcpcore.client` states them.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import anyio
from hypothesis import given, settings, strategies as st
from mcp.shared.exceptions import MCPError

from mcpcore.client import CallPolicy, Step, ToolCallFailed, call
from tests.client.hostile import entry, failed, listed

TOOLS = ("a", "b", "c")
CHANGED = ("partial", "unknown")
READ_ONLY = {"readOnlyHint": True}
PROPERTIES = {"limit": {"type": "integer", "maximum": 9}, "q": {"type": "string", "pattern": "^[a-z]*$"}}
ARGUMENTS = {"q": "word"}

# The likely values come several times, so that most examples have calls of several tools.

params = st.dictionaries(
    st.sampled_from(["limit", "q", "force"]), st.sampled_from([1, 5, 10, True, "word", "other", "NO", None]), max_size=2
)
effects = st.sampled_from([None, "none", "none", "partial", "unknown", "unknown", "forged", 7])
entries = st.builds(
    lambda reason, **parts: entry(reason, **{name: part for name, part in parts.items() if part is not None}),
    st.sampled_from(["x", "x", "y"]),
    fallbackTool=st.sampled_from([None, *TOOLS, *TOOLS, "unlisted"]),
    correctiveParams=st.sampled_from([None, None]) | params,
    effects=effects,
)
annotations = st.sampled_from(
    [None, READ_ONLY, READ_ONLY, {"idempotentHint": True}, {"readOnlyHint": False, "idempotentHint": False}]
)
properties = st.sampled_from([("limit", "q"), ("limit", "q"), ("q",), ("limit",)]).map(
    lambda names: {name: PROPERTIES[name] for name in names}
)
tools = st.tuples(st.lists(entries, min_size=1, max_size=3), annotations, properties)
listings = (
    st.fixed_dictionaries(dict.fromkeys(TOOLS, tools)) | st.fixed_dictionaries({}, optional=dict.fromkeys(TOOLS, tools))
).map(
    lambda by_name: [
        listed(name, *contract, properties=schema, annotations=hints)
        for name, (contract, hints, schema) in by_name.items()
    ]
)
retries = st.sampled_from(
    [
        *[{"kind": "not_retryable"}] * 4,
        *[{"kind": "retryable_immediate"}] * 2,
        {"kind": "retryable_after_ms", "afterMs": 1},
        {"kind": "retryable_after_ms", "afterMs": 10**9},
        {"kind": "retryable_after_ms", "afterMs": -1},
        {"kind": "for_ever"},
        None,
    ]
)
recoveries = st.fixed_dictionaries(
    {"hint": st.just("Do it.")},
    optional={"fallbackTool": st.sampled_from([*TOOLS, "unlisted", 7]), "correctiveParams": params},
)
envelopes = st.builds(
    lambda reason, retry, effect, recovery: failed(
        reason, retry=retry, effects=effect, data={} if recovery is None else {"recovery": recovery}
    ),
    st.sampled_from([None, "x", "x", "x", "y", "undeclared"]),
    retries,
    effects,
    st.sampled_from([None, None]) | recoveries,
)
TEXT = "Error: No.\n\nRecovery: Call b.\n\n(reason x · NOT_FOUND · retry now · try b · id 0123456789abcdef)"
TEXT_ERROR = {"retry": {"kind": "retryable_immediate"}, "data": {"reason": "x", "recovery": {"fallbackTool": "b"}}}
"""An envelope as a text alone, and its parts."""

texts = st.sampled_from(
    [
        "503 Service Unavailable, retry now",
        "Error executing tool a: timed out",
        "Rate limit exceeded. Retry after 0 seconds.",
        TEXT,
        "",
    ]
).map(lambda text: {"isError": True, "content": [{"type": "text", "text": text}]})
protocol_errors = st.builds(
    MCPError, code=st.sampled_from([-32602, -32603, -32601, -32000, 7]), message=st.sampled_from(["No.", "timed out"])
)
successes = st.just({"content": [], "structuredContent": {"done": True}})
answers = st.lists(envelopes, min_size=1, max_size=8) | st.lists(
    envelopes | texts | protocol_errors | successes, min_size=1, max_size=8
)
policies = st.builds(
    CallPolicy,
    max_attempts=st.sampled_from([1, 2, 3, 7, 7]),
    max_wait=st.sampled_from([0, 1]),
    jitter=st.just(0),
    retry_unsafe=st.sampled_from([False, False, False, True]),
    fallbacks=st.sampled_from([True, True, False]) | st.sets(st.sampled_from(TOOLS)),
    corrections=st.booleans() | st.sets(st.sampled_from(TOOLS)),
)


class Hostile:
    """A server, as far as a client sees it."""

    def __init__(self, lists: list[Any], answers: list[Any]) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.seen: list[list[Any] | None] = []
        """The tools as they were listed last, when each call was made."""

        self.answers = answers
        self._lists = lists
        self._listed: list[Any] | None = None

    async def call_tool(self, name: str, arguments: Any = None) -> Any:
        self.calls.append((name, dict(arguments)))
        self.seen.append(self._listed)
        answer = self.answers[(len(self.calls) - 1) % len(self.answers)]
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def list_tools(self, *, params: Any) -> Any:
        self._listed = self._lists.pop(0) if len(self._lists) > 1 else self._lists[0]
        return SimpleNamespace(tools=self._listed, next_cursor=None)


def error_in(answer: Any) -> Any:
    """The envelope in an answer, or None."""
    if not isinstance(answer, dict) or "structuredContent" in answer:
        return (answer["structuredContent"] if isinstance(answer, dict) else {}).get("error")
    return TEXT_ERROR if answer["content"][0]["text"] == TEXT else None


def allows(allowed: Any, tool: str) -> bool:
    """Whether an option of the policy allows a tool."""
    return allowed if isinstance(allowed, bool) else tool in allowed


def fits(arguments: dict[str, Any], tool: Any) -> bool:
    """Whether a listed tool takes the arguments."""
    limit, q = arguments.get("limit", 1), arguments.get("q", "")
    return (
        arguments.keys() <= tool["inputSchema"]["properties"].keys()
        and type(limit) is int and limit <= 9
        and isinstance(q, str) and (q == "" or (q.isalpha() and q.islower()))
    )  # fmt: skip


def require_allowed(server: Hostile, policy: CallPolicy) -> None:
    """Check every call after the first."""
    assert len(server.calls) <= policy.max_attempts
    changed = False
    corrected = set()
    for number, (tool, arguments) in enumerate(server.calls[1:], start=1):
        before, before_arguments = server.calls[number - 1]
        answer = server.answers[(number - 1) % len(server.answers)]
        error = error_in(answer)
        tools = {listed["name"]: listed for listed in reversed(server.seen[number] or [])}
        hints = {name: listed["annotations"] or {} for name, listed in tools.items()}
        read_only = hints.get(tool, {}).get("readOnlyHint") is True
        repeatable = read_only or hints.get(tool, {}).get("idempotentHint") is True
        assert not (isinstance(answer, dict) and not answer.get("isError")), "a success was followed by a call"
        reason = None if error is None else error["data"].get("reason")
        contract = tools.get(before, {}).get("_meta", {}).get("dev.mcpcore/errors", ())
        declared = next((part for part in contract if part["reason"] == reason), {})
        effect = None if error is None else error.get("effects")
        effect = effect if effect in ("none", *CHANGED) else declared.get("effects")
        # By its annotation, a read-only tool has changed nothing, whatever its failure says.
        changed = changed or (effect in CHANGED and hints.get(before, {}).get("readOnlyHint") is not True)
        if (tool, arguments) == (before, before_arguments):
            if isinstance(answer, dict) and error is not None:
                retry = error["retry"]
                assert retry is not None, "NOT_FOUND is not retried by default"
                assert retry["kind"] in ("retryable_immediate", "retryable_after_ms")
                assert 0 <= retry.get("afterMs", 0) <= policy.max_wait * 1000
                assert policy.retry_unsafe or repeatable or error.get("effects") == "none"
            elif isinstance(answer, dict):
                assert policy.retry_unsafe or repeatable, "a text says nothing of effects"
        elif tool == before:
            assert allows(policy.corrections, tool)
            assert arguments == {**before_arguments, **declared["correctiveParams"]}
            assert (tool, reason) not in corrected
            corrected.add((tool, reason))
            assert fits(arguments, tools[tool])
            assert policy.retry_unsafe or read_only or not changed
        else:
            assert allows(policy.fallbacks, tool)
            assert tool == declared["fallbackTool"]
            assert (error or {}).get("data", {}).get("recovery", {}).get("fallbackTool") in (None, 7, tool)
            assert tool in tools
            assert tool not in {name for name, _ in server.calls[:number]}
            assert arguments == before_arguments
            assert fits(arguments, tools[tool])
            assert policy.retry_unsafe or read_only or not changed


@settings(max_examples=250)
@given(st.lists(listings, min_size=1, max_size=3), answers, policies)
def test_each_call_of_a_policy_is_allowed(lists: list[Any], answers: list[Any], policy: CallPolicy) -> None:
    """By the contract as it was listed last, by the policy, by the failure, and by all failures before it."""
    server = Hostile(list(lists), answers)

    async def run() -> None:
        with anyio.fail_after(20):
            with contextlib.suppress(ToolCallFailed):
                await call(server, "a", ARGUMENTS, policy=replace(policy, on_step=steps.append))

    steps: list[Step] = []
    anyio.run(run)
    assert steps[-1].kind in ("gave_up", "succeeded")
    assert steps[-1].attempt == len(server.calls)
    require_allowed(server, policy)
