"""The draft `ToolFailure` of MCP (SEP-3313) through the proxy: preserved, or written on demand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from mcpcore import ErrorCode, Retry
from mcpcore.boundary.script import Boundary
from mcpcore.contract.limits import DEFAULT_LIMITS
from mcpcore.proxy.answers import ResponseRewriter
from mcpcore.proxy.conversation import Conversation
from mcpcore.proxy.listings import Listing
from mcpcore.proxy.overlay import Overlay
from mcpcore.wire.dialects import DIALECTS
from mcpcore.wire.envelope import CANONICAL
from mcpcore.wire.envelope_builder import build_envelope
from mcpcore.wire.tool_failure import TOOL_FAILURE
from tests.answers import envelope_of
from tests.proxy.conftest import Connect, request
from tests.runtime.test_tool_failure import checked

SENT = {"class": "governance", "code": "policy_blocked", "correlationId": "c1", "later": [1]}


def through_proxy(answers: ResponseRewriter | None = None, *, on: bool = True, **parts: Any) -> dict[str, Any]:
    """Return the result that a client of the proxy gets for a failed one of the server."""
    answers = answers or ResponseRewriter(Boundary(server="s", tool_failure_meta=on))
    talk = Conversation(answers, Listing(complete=True))
    talk.from_client(request("tools/call", 1, name="order"))
    result = {"isError": True, "content": [{"type": "text", "text": "Blocked."}], **parts}
    (sent,) = talk.from_server(json.dumps({"jsonrpc": "2.0", "id": 1, "result": result}).encode()).to_client
    answer: dict[str, Any] = json.loads(sent)["result"]
    return answer


def test_the_proxy_writes_it_where_there_is_none() -> None:
    """The rest of `_meta` stays, and an envelope that is passed on as it is gets one too."""
    failure = checked(
        through_proxy(_meta={"a": 1}, content=[{"type": "text", "text": "Forbidden."}])["_meta"][TOOL_FAILURE]
    )
    assert "governance" == failure["class"]
    assert 1 == through_proxy(_meta={"a": 1})["_meta"]["a"]
    assert TOOL_FAILURE in through_proxy(_meta="odd")["_meta"]
    assert "_meta" not in through_proxy(on=False)
    retry = Retry.never()
    envelope = build_envelope(ErrorCode.FORBIDDEN, "Not approved.", retry=retry, tool="order", reason="not_approved")
    structured, text = DIALECTS[CANONICAL].write(envelope, limits=DEFAULT_LIMITS)
    whole = {"content": [{"type": "text", "text": text}], "structuredContent": structured}
    relayed = through_proxy(**whole)
    assert ("governance", envelope.correlation_id) == (
        relayed["_meta"][TOOL_FAILURE]["class"],
        relayed["_meta"][TOOL_FAILURE]["correlationId"],
    )
    assert structured == relayed["structuredContent"]
    assert "_meta" not in through_proxy(on=False, **whole)


CRASH = 'Traceback (most recent call last):\n  File "/srv/app.py", line 3, in f\nKeyError: 7'


@pytest.mark.parametrize("on", [True, False])
@pytest.mark.parametrize("text", ["Blocked.", CRASH])
def test_the_proxy_preserves_that_of_the_server(text: str, on: bool) -> None:
    """SEP-3313, "Client behavior": unchanged; its facts are those of the envelope too."""
    answer = through_proxy(on=on, content=[{"type": "text", "text": text}], _meta={TOOL_FAILURE: SENT, "a": 1})
    assert SENT == answer["_meta"][TOOL_FAILURE]
    assert not envelope_of(answer).retryable
    if text == "Blocked.":
        assert "policy_blocked" == envelope_of(answer).reason


def test_a_traceback_is_not_preserved() -> None:
    """Whatever the key, the client gets no internals of a crash."""
    sent = {**SENT, "agentGuidance": CRASH}
    answer = through_proxy(content=[{"type": "text", "text": CRASH}], _meta={TOOL_FAILURE: sent})
    assert "app.py" not in json.dumps(answer)
    assert answer["_meta"][TOOL_FAILURE] != sent


def test_the_command_has_the_option(through: Connect) -> None:
    """`mcpcore proxy --tool-failure-meta` writes it."""

    async def call(*options: str) -> Any:
        async with through(*options) as client:
            return await client.call_tool("look_up", {"word": "rust"})

    checked(anyio.run(call, "--tool-failure-meta").meta[TOOL_FAILURE])
    assert TOOL_FAILURE not in (anyio.run(call).meta or {})


def test_a_prohibition_in_a_hint_holds_against_the_default_of_an_entry(tmp_path: Path) -> None:
    """An overlay that declares no retry advice adds none to what the server forbids."""
    overlay = tmp_path / "overlay.toml"
    overlay.write_text(
        'version = 1\n[[tools.order]]\nreason = "busy"\ncode = "RATE_LIMITED"\nwhen = "It is busy."\n'
        'recovery = "Order less."\nmatch.text = "Busy"\n'
    )
    for hint, retryable in (("Do not retry the order.", False), ("Order less.", True)):
        answers = ResponseRewriter(Boundary(server="s"), Overlay.read(overlay))
        parts = {"content": [{"type": "text", "text": "Busy."}], "structuredContent": {"error": {"hint": hint}}}
        assert retryable == envelope_of(through_proxy(answers, **parts)).retryable
