"""Reading a failure out of whatever a call came back with."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from types import EllipsisType
from typing import Any, Final, cast

from mcpcore.contract.codes import PROTOCOL_CODES, Code, ErrorCode, Retry, code_named
from mcpcore.contract.effects import CallState, settled
from mcpcore.values.bounds import MESSAGE
from mcpcore.values.jsonable import clean_cut
from mcpcore.values.untrusted import json_object, quietly
from mcpcore.wire.dialects.dialect import Dialect
from mcpcore.wire.dialects.fields import Fields, fact_of, fields_of, word_of
from mcpcore.wire.dialects.repeating import forbids_retry
from mcpcore.wire.dialects.result_forms import MAX_TEXT, Answer, answer_of
from mcpcore.wire.envelope import UNKNOWN_DIALECT, Envelope
from mcpcore.wire.envelope_text import read as read_text
from mcpcore.wire.tool_failure import TOOL_FAILURE


def read(result: object, dialects: Collection[Dialect]) -> Envelope | None:
    """The failure in `result`; None for a success.

    Raises:
        TypeError: If `result` is a Python object of an unknown type.
    """
    if issubclass(type(result), Envelope):
        return cast("Envelope", result)
    answer = answer_of(result)
    if not isinstance(answer, Answer):
        return answer
    # Reading can fail only on objects whose methods raise and on JSON that is nested too deeply.
    envelope = quietly(lambda: _plain_failure_in(answer, dialects), ...)
    return _failure_in(answer.converted(), dialects) if envelope is ... else envelope


def _plain_failure_in(answer: Answer, dialects: Collection[Dialect]) -> Envelope | EllipsisType | None:
    """The failure in an answer; `...` if it has values that are not JSON."""
    envelope = _failure_in(answer, dialects)
    return envelope if envelope is None or _is_plain([envelope.to_json(), envelope.native_code]) else ...


def _is_plain(value: object) -> bool:
    """Whether `value` consists of JSON's own types alone."""
    stack = [value]
    for _ in range(_MAX_VALUES):
        if not stack:
            return True
        item: Any = stack.pop()
        kind = type(item)
        if kind is list:
            stack.extend(item)
        elif kind is dict:
            stack.extend(item)
            stack.extend(item.values())
        elif item is not None and kind not in _PLAIN:
            return False
    return False  # a cycle, or more than any envelope has


_PLAIN: Final = frozenset({str, bool, int, float})
_MAX_VALUES: Final = 100_000


def _failure_in(answer: Answer, dialects: Collection[Dialect]) -> Envelope | None:
    envelope = _read_failure(answer, dialects)
    if envelope is None:
        return None
    own = envelope.retry_stated
    if not own and envelope.dialect != UNKNOWN_DIALECT:
        envelope = _completed(envelope, fields_of(_roots(answer)))
    return _with_word(envelope, answer, own=own)


def _roots(answer: Answer) -> Iterator[object]:
    """The objects of a failed answer, the most telling first."""
    if isinstance(answer.meta, Mapping):
        yield {key: value for key, value in answer.meta.items() if key == TOOL_FAILURE}
    yield from (answer.structured, answer.error, *filter(None, map(_object_of, answer.texts)))


def _completed(envelope: Envelope, fields: Fields) -> Envelope:
    """`envelope` with what the fields of the answer say, where its dialect has no field for it."""
    data, recovery = dict(envelope.data or {}), dict(envelope.recovery or {})
    for part, value in (("hint", fields.hint), ("fallbackTool", fields.fallback_tool)):
        if value is not None:
            recovery.setdefault(part, value)
    if recovery:
        data["recovery"] = recovery
    # A dialect that knows the code says it all; of any other failure, the name is all that tells it from others.
    is_known = envelope.dialect != UNKNOWN_DIALECT and envelope.error_code is not ErrorCode.UNKNOWN_ERROR
    if fields.reason is not None and not is_known:
        data.setdefault("reason", fields.reason)
    return replace(
        envelope,
        data=data or envelope.data,
        effects=envelope.effects or fields.effects,
        correlation_id=envelope.correlation_id or fields.correlation_id or "",
    )


def _with_word(envelope: Envelope, answer: Answer, *, own: bool) -> Envelope:
    """`envelope` with what the answer says about repeating the call, where its dialect has no field for it."""
    values: list[object] = [answer.structured, answer.meta, answer.error]
    texts: list[str] = []
    if not own:
        values += map(_object_of, answer.texts)
        texts += [envelope.message, envelope.hint or "", *answer.texts]
    word = word_of(values, own=own)
    if word.forbidden or any(map(forbids_retry, texts)):
        return replace(envelope, retry=Retry.never(), retry_stated=True)
    if own:
        # The draft of MCP may ask for a longer wait. Any other field may be one of the author's facts.
        draft = answer.meta.get(TOOL_FAILURE) if isinstance(answer.meta, Mapping) else None
        later = word_of([{TOOL_FAILURE: draft}]).retry(envelope.retry)
        longer = later is not None and envelope.retryable and (later.seconds or 0) > (envelope.retry.seconds or 0)
        return replace(envelope, retry=later) if longer and later is not None else envelope
    code = envelope.error_code
    retry = word.retry(envelope.retry if code is None else code.retry)
    if retry is None and envelope.dialect == UNKNOWN_DIALECT:
        # A code that is final although others of its kind pass with time, such as a quota that is spent.
        fact = fact_of(envelope.native_code)
        retry = Retry.never() if fact is not None and fact.retry == Retry.never() else None
    return envelope if retry is None else replace(envelope, retry=retry, retry_stated=True)


def _read_failure(answer: Answer, dialects: Collection[Dialect]) -> Envelope | None:
    if answer.error is not None:
        return _of_protocol(answer, dialects)
    structured, is_error = answer.structured, answer.is_error
    if isinstance(structured, Mapping):
        envelope = _of_structured(structured, dialects, is_error=is_error)
        if envelope is not None:
            return envelope
    if not is_error and (answer.blocks != 1 or not _is_text_alone(structured)):
        # The text of a success repeats its structured content, or is a part of it: a file, a line of a log.
        return None
    for text in answer.texts:
        envelope = _of_text(text, dialects, is_error=is_error)
        if envelope is not None:
            return envelope
    if answer.instead is not None:
        return _no_result(answer.instead, answer.texts)
    return _unknown(answer) if is_error else None


def _is_text_alone(structured: object) -> bool:
    """Whether a result has no structured content but its text, which the SDKs wrap as `result`."""
    if not isinstance(structured, Mapping):
        return structured is None
    return structured.keys() == {"result"} and isinstance(structured["result"], str)


def _of_structured(structured: Mapping[str, Any], dialects: Collection[Dialect], *, is_error: bool) -> Envelope | None:
    forms = [structured]
    # The SDKs wrap the value of a handler that declares no model.
    if structured.keys() == {"result"} and isinstance(structured["result"], Mapping):
        forms.append(structured["result"])
    for form in forms:
        for dialect in dialects:
            envelope = dialect.read(form, is_error=is_error)
            if envelope is not None:
                return envelope
    return None


def _of_text(text: str, dialects: Collection[Dialect], *, is_error: bool) -> Envelope | None:
    parsed = _object(text)
    if parsed is not None:
        return _of_structured(parsed, dialects, is_error=is_error)
    if not is_error:
        return None
    envelope = _canonical_text(text)
    within = _object_within(text) if envelope is None else None
    return envelope if within is None else _of_structured(within, dialects, is_error=True)


def _canonical_text(text: str) -> Envelope | None:
    """The canonical envelope from its text block alone, which is all that some clients keep."""
    fields = read_text(text)
    if fields is None:
        return None
    data: dict[str, Any] = dict(fields.details)
    recovery: dict[str, Any] = {}
    if fields.hint is not None:
        recovery["hint"] = fields.hint
    if fields.fallback_tool is not None:
        recovery.setdefault("hint", f"Try {fields.fallback_tool}.")
        recovery["fallbackTool"] = fields.fallback_tool
    if recovery:
        data["recovery"] = recovery
    if fields.reason is not None:
        data["reason"] = fields.reason
    if data:
        data["retryable"] = fields.retry.retryable
    code = code_named(fields.name)
    return Envelope(
        code=int(ErrorCode.UNKNOWN_ERROR if code is None else code),
        name=fields.name,
        message=fields.message,
        retry=fields.retry,
        retry_stated=True,
        effects=fields.effects,
        correlation_id=fields.correlation_id,
        data=data or None,
        repeated=fields.repeated,
        inferred=fields.inferred,
        injected=fields.injected,
    )


def _unknown(answer: Answer) -> Envelope:
    """A failure in no known dialect: its words unchanged, and what its fields say."""
    fields = fields_of(_roots(answer))
    shown = next((text for text in answer.texts if text.strip()), "")
    is_json = not shown or _object_of(shown) is not None
    message = fields.message if is_json and fields.message is not None else shown
    return _completed(_as_sent(fields.code or ErrorCode.UNKNOWN_ERROR, message, native=fields.native), fields)


def _object(text: str) -> Mapping[str, Any] | None:
    """The JSON object that a text is, or None."""
    stripped = text.strip()
    return json_object(stripped) if stripped.startswith("{") and len(stripped) <= MAX_TEXT else None


_AROUND_JSON: Final = re.compile(
    r"(?:Error (?:executing|calling) tool '?[A-Za-z0-9._-]{1,128}'?: )?"
    r"(?:```(?:json)?\n)?(?=\{)(?P<json>.*\})(?:\n```)?",
    re.DOTALL,
)


def _object_of(text: str) -> Mapping[str, Any] | None:
    """The JSON object that the text of a failure is, or holds."""
    return _object(text) or _object_within(text)


def _object_within(text: str) -> Mapping[str, Any] | None:
    """The JSON object in the text of a failure, surrounded by nothing but an SDK's prefix or a fence.

    The SDKs put "Error executing tool NAME: " before the text of an exception. An object among other words may be a
    caller's, and is not read.
    """
    if len(text) > MAX_TEXT:
        return None
    if text.lstrip().startswith('"'):
        said = quietly(lambda: json.loads(text), None)
        return _object(said) if isinstance(said, str) else None
    match = _AROUND_JSON.fullmatch(text.strip())
    return _object(match["json"]) if match is not None else None


# What the numbers of a server's error say. It uses -32000 and -32001 for anything; only to the session of an SDK, they
# mean a lost connection and a timeout, which the text says too.
_NEAREST: Final = {number: code for number, code in PROTOCOL_CODES.items() if number not in (-32000, -32001)}


def _of_protocol(answer: Answer, dialects: Collection[Dialect]) -> Envelope:
    """The envelope that a JSON-RPC error carries; else its own words and the nearest code."""
    error = answer.error
    if not isinstance(error, Mapping):
        return _unknown(Answer(structured={"error": error}))
    data, code, message = error.get("data"), error.get("code"), error.get("message")
    if isinstance(data, Mapping):
        envelope = _of_structured(data, dialects, is_error=True)
        if envelope is not None:
            return envelope
    if isinstance(code, bool) or not isinstance(code, int):
        return _unknown(answer)
    fields = fields_of([data])
    nearest = fields.code or _NEAREST.get(code, ErrorCode.UNKNOWN_ERROR)
    return _completed(_as_sent(nearest, message if isinstance(message, str) else "", native=code), fields)


def _no_result(instead: str, texts: Sequence[str]) -> Envelope:
    """The failure of an answer that is neither a result nor an error."""
    shown = f": {texts[0]}" if texts else ""
    return _as_sent(ErrorCode.UNKNOWN_ERROR, f"The answer is not the result of a call, but {instead}{shown}")


def _as_sent(code: Code, message: str, *, native: str | int | None = None) -> Envelope:
    """An envelope with the words and the code of another server, and with no data; the server had to redact it.

    Its advice is that for a tool of which nothing is known.
    """
    return Envelope(
        code=int(code),
        name=code.name,
        message=clean_cut(message, MESSAGE) or code.sentence,
        retry=settled(CallState("unstated"), code, code.retry)[1],
        dialect=UNKNOWN_DIALECT,
        native_code=native,
    )
