"""Reading a failure out of whatever a call came back with."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from mcpcore.codes import ErrorCode, code_named
from mcpcore.retry import Retry

if TYPE_CHECKING:
    from mcpcore.dialects import Dialect
    from mcpcore.envelope import Envelope

UNKNOWN_DIALECT: Final = "unknown"

_MAX_TEXT: Final = 1_000_000

_LAST_LINE: Final = re.compile(
    r"\((?:reason (?P<reason>\S+) · )?(?P<name>[A-Z][A-Z0-9_]*) · "
    r"(?P<retry>not retryable|retry now|retry after (?P<seconds>[0-9.e+-]+) s)"
    r"(?: · try (?P<tool>\S+))? · id (?P<id>[0-9a-f]{16})\)\s*\Z"
)


def read(result: object, dialects: Iterable[Dialect]) -> Envelope | None:
    """The failure in `result`; None for a success."""
    from mcpcore.envelope import Envelope

    if isinstance(result, Envelope):
        return result
    raised = _protocol_error(result)
    if raised is not None:
        return _of_structured(raised, dialects, is_error=True)
    is_error, structured, texts = _parts(result)
    if isinstance(structured, Mapping):
        found = _of_structured(structured, dialects, is_error=is_error)
        if found is not None:
            return found
    for text in texts:
        found = _of_text(text, dialects, is_error=is_error)
        if found is not None:
            return found
    return _unknown(texts) if is_error else None


def _of_structured(structured: Mapping[str, Any], dialects: Iterable[Dialect], *, is_error: bool) -> Envelope | None:
    forms = [structured]
    # The SDKs wrap what a handler returns without a model of its own.
    if structured.keys() == {"result"} and isinstance(structured["result"], Mapping):
        forms.append(structured["result"])
    for form in forms:
        for dialect in dialects:
            found = dialect.read(form, is_error=is_error)
            if found is not None:
                return found
    return None


def _of_text(text: str, dialects: Iterable[Dialect], *, is_error: bool) -> Envelope | None:
    stripped = text.strip()
    if stripped.startswith("{") and len(stripped) <= _MAX_TEXT:
        try:
            parsed = json.loads(stripped)
        except (ValueError, RecursionError):
            return None
        return _of_structured(parsed, dialects, is_error=is_error) if isinstance(parsed, dict) else None
    return _canonical_text(stripped) if is_error else None


def _canonical_text(text: str) -> Envelope | None:
    """The canonical envelope from its text block alone, which is all that some clients keep."""
    from mcpcore.envelope import Envelope

    last = _LAST_LINE.search(text[-600:])
    if last is None or not text.startswith("Error: "):
        return None
    name, reason, tool = last["name"], last["reason"], last["tool"]
    body = text[len("Error: ") : len(text) - len(last[0])].rstrip()
    message, hint, details = _sections(body)
    data: dict[str, Any] = dict(details)
    retry = _phrase(last)
    recovery: dict[str, Any] = {}
    if hint is not None:
        recovery["hint"] = hint
    if tool is not None:
        recovery.setdefault("hint", f"Try {tool}.")
        recovery["fallbackTool"] = tool
    if recovery:
        data["recovery"] = recovery
    if reason is not None:
        data["reason"] = reason
    if data:
        data["retryable"] = retry.retryable
    try:
        number = int(code_named(name))
    except KeyError:
        number = int(ErrorCode.UNKNOWN_ERROR)
    return Envelope(code=number, name=name, message=message, retry=retry, correlation_id=last["id"], data=data or None)


def _sections(body: str) -> tuple[str, str | None, dict[str, Any]]:
    """The message, the hint and the details of the text; a message may itself hold blank lines."""
    details: dict[str, Any] = {}
    before, mark, rest = body.rpartition("\n\nDetails: ")
    if mark:
        try:
            parsed = json.loads(rest)
        except (ValueError, RecursionError):
            parsed = None
        if isinstance(parsed, dict):
            body, details = before, parsed
    message, mark, hint = body.rpartition("\n\nRecovery: ")
    return (message, hint, details) if mark else (body, None, details)


def _phrase(last: re.Match[str]) -> Retry:
    if last["seconds"] is not None:
        try:
            return Retry.after(seconds=float(last["seconds"]))
        except ValueError:
            return Retry.now()
    return Retry.now() if last["retry"] == "retry now" else Retry.never()


def _unknown(texts: list[str]) -> Envelope:
    from mcpcore.envelope import envelope

    code = ErrorCode.UNKNOWN_ERROR
    message = next((text for text in texts if text.strip()), code.sentence)
    told = envelope(code, message, retry=code.retry, tool=None, masked=True)
    return replace(told, correlation_id="", timestamp="", dialect=UNKNOWN_DIALECT)


def _parts(result: object) -> tuple[bool, Any, list[str]]:
    """`isError`, the structured content and the texts, of the SDK's object or of its JSON in either spelling."""
    if isinstance(result, str | bytes):
        try:
            result = json.loads(result)
        except (ValueError, RecursionError):
            return False, None, []
    if isinstance(result, Mapping):
        inner = result.get("result")
        if "jsonrpc" in result and isinstance(inner, Mapping):
            result = inner

        def get(*names: str) -> Any:
            return next((result[name] for name in names if name in result), None)

    else:

        def get(*names: str) -> Any:
            return next((getattr(result, name) for name in names if hasattr(result, name)), None)

    content = get("content")
    texts: list[str] = []
    for block in content if isinstance(content, list | tuple) else ():
        text = block.get("text") if isinstance(block, Mapping) else getattr(block, "text", None)
        if isinstance(text, str):
            texts.append(text)
    structured = get("structured_content", "structuredContent")
    return get("is_error", "isError") is True, structured, texts


def _protocol_error(result: object) -> Mapping[str, Any] | None:
    """The `data` of a JSON-RPC error that carries an envelope: an exception of the SDK's, or its JSON."""
    error = getattr(result, "error", None)
    if isinstance(result, Mapping):
        error = result.get("error") if "jsonrpc" in result else None
    data = error.get("data") if isinstance(error, Mapping) else getattr(error, "data", None)
    return data if isinstance(data, Mapping) and isinstance(data.get("error"), Mapping) else None
