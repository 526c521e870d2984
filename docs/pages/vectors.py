"""The vectors of mcpcore's own failures in each dialect, and the table of the names that are read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final, NamedTuple

from mcpcore.contract.codes import ErrorCode, Retry
from mcpcore.contract.limits import DEFAULT_LIMITS
from mcpcore.wire.dialects import DIALECTS
from mcpcore.wire.dialects.fields import CONTAINERS, NAMES, WORDS
from mcpcore.wire.envelope import Envelope
from mcpcore.wire.tool_failure import CODES, TOOL_FAILURE, class_of, tool_failure
from pages.markdown import table

FOLDER: Final = Path(__file__).parents[1] / "reference" / "vectors"


class Declared(NamedTuple):
    """A failure of a server, and the next step that it allows for each tool of `tools.json`."""

    about: str
    envelope: Envelope
    next: dict[str, Any]


def _envelope(code: ErrorCode, message: str, retry: Retry, *, effects: Any = None, **data: Any) -> Envelope:
    return Envelope(
        code=int(code),
        name=code.name,
        message=message,
        retry=retry,
        effects=effects,
        tool="order",
        correlation_id="7c1e0f6a91b2d4e5",
        timestamp="2026-11-02T08:00:00.000Z",
        data={**data, "retryable": retry.retryable},
    )


def _steps(reads: Any, repeats: Any, writes: Any) -> dict[str, Any]:
    return {"reads": reads, "repeats": repeats, "writes": writes}


_STOP: Final = _steps("stop", "stop", "stop")

FAILURES: Final = (
    Declared(
        "a declared failure with a recovery and facts",
        _envelope(
            ErrorCode.NOT_FOUND, "There is no order 7.", Retry.never(), effects="none", reason="no_order",
            recovery={"hint": "Call find_orders to see the ids."}, order=7,
        ),
        _STOP,
    ),
    Declared(
        "a wait, after which any tool may be called again, since nothing was changed",
        _envelope(
            ErrorCode.RATE_LIMITED, "Too many orders.", Retry.after(seconds=15), effects="none", reason="too_many",
            recovery={"hint": "Wait, then order again."},
        ),
        _steps({"repeat": 15_000}, {"repeat": 15_000}, {"repeat": 15_000}),
    ),
    Declared(
        "unknown effects and no advice to repeat: look first",
        _envelope(
            ErrorCode.TIMEOUT, "The warehouse did not answer.", Retry.never(), effects="unknown", reason="no_answer",
            recovery={"hint": "Call find_orders to see whether the order is there."},
        ),
        _STOP,
    ),
    Declared(
        "unknown effects of a call that may be repeated: only where a second call adds nothing",
        _envelope(
            ErrorCode.TIMEOUT, "The warehouse did not answer.", Retry.now(), effects="unknown", reason="no_answer",
            recovery={"hint": "Order again with the same key."},
        ),
        _steps({"repeat": 0}, {"repeat": 0}, "stop"),
    ),
    Declared(
        "a person decides",
        _envelope(
            ErrorCode.FORBIDDEN, "Orders above 500 need approval.", Retry.never(), effects="none", reason="not_approved",
            recovery={"hint": "Ask the user to approve the order.", "userMessage": "Please approve the order."},
        ),
        _STOP,
    ),
    Declared(
        "another tool, which counts only where the contract in tools/list names it for this reason",
        _envelope(
            ErrorCode.NOT_FOUND, "The archive has no such order.", Retry.never(), effects="none", reason="archived",
            recovery={"hint": "Call find_orders instead.", "fallbackTool": "find_orders"},
        ),
        {**_STOP, "declares": {"call": "find_orders"}},
    ),
)  # fmt: skip

_SENT_MS: Final = 1_793_606_400_000
"""2026-11-02T08:00:00Z, when the failures were sent."""

_LOST: Final = frozenset({"reason", "hint", "fallbackTool", "effects", "retry", "data", "correlationId"})
"""Facts for which the dialect system_error has no field."""


def facts(envelope: Envelope) -> dict[str, Any]:
    """What a vector says of a failure."""
    said = {
        "code": envelope.name,
        "message": envelope.message,
        "reason": envelope.reason,
        "hint": envelope.hint,
        "fallbackTool": envelope.fallback_tool,
        "retry": envelope.retry.to_json(),
        "effects": envelope.effects,
        "correlationId": envelope.correlation_id or None,
        "data": envelope.details or None,
    }
    return {name: value for name, value in said.items() if value is not None}


def own() -> str:
    """The file of mcpcore's own failures: in each dialect, in the canonical text alone, and as the draft `ToolFailure`."""
    vectors: list[dict[str, Any]] = []
    for about, envelope, steps in FAILURES:
        expected = facts(envelope)
        for name, dialect in DIALECTS.items():
            structured, text = dialect.write(envelope, limits=DEFAULT_LIMITS)
            content = [{"type": "text", "text": text}]
            result = {"content": content, "structuredContent": structured, "isError": dialect.is_error}
            if name != "system_error":
                vectors.append(_vector(f"{about}, {name}", result, expected, steps))
            elif not ErrorCode(envelope.code).retry.retryable:
                # It has the code alone, which may say something else of repeating the call than the author.
                kept = {key: value for key, value in expected.items() if key not in _LOST}
                vectors.append(_vector(f"{about}, {name}", result, kept, _STOP))
        structured, text = DIALECTS["canonical"].write(envelope, limits=DEFAULT_LIMITS)
        alone = {"content": [{"type": "text", "text": text}], "isError": True}
        # A text may hold that of another server, so nobody repeats a call because it says that nothing was changed.
        careful = {**steps, "writes": "stop"}
        vectors.append(_vector(f"{about}, the text alone", alone, expected, careful))
        both = {
            **alone,
            "structuredContent": structured,
            "_meta": {TOOL_FAILURE: tool_failure(envelope, now_ms=_SENT_MS)},
        }
        vectors.append(_vector(f"{about}, with a ToolFailure of class {class_of(envelope)}", both, expected, steps))
    return json.dumps(vectors, indent=2, ensure_ascii=False) + "\n"


def _vector(name: str, result: dict[str, Any], failure: dict[str, Any], steps: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "result": result, "failure": failure, "next": steps}


def names() -> str:
    """The table of names."""
    rows: list[list[object]] = [[fact, ", ".join(f"`{name}`" for name in spelled)] for fact, spelled in NAMES.items()]
    words: list[list[object]] = [
        [f"`{name}`", f"`{json.dumps(word)}`", "yes" if allows else "no", "" if code is None else f"`{code.name}`"]
        for name, meanings in WORDS.items()
        for word, (allows, code) in meanings.items()
    ]
    return "\n\n".join(
        (
            table(["fact", "fields"], rows),
            f"They count at the root and in {', '.join(f'`{name}`' for name in CONTAINERS)}. These words count too:",
            table(["field", "word", "the same call again", "the code of a failure without another"], words),
            "The codes that SEP-3313 recommends:",
            table(
                ["code", "class", "code here"],
                [[f"`{name}`", kind, f"`{code.name}`"] for name, (kind, code) in CODES.items()],
            ),
        )
    )
