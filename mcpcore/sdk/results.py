"""The results of handlers on their way to the client: failures among them, and values that JSON cannot hold.

A failure counts as one even if the handler returned it. A result that cannot be written becomes a failure; it neither
ends the server nor reaches a client as broken JSON.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from mcp_types import CallToolResult, InputRequiredResult, TextContent
from pydantic import BaseModel
from pydantic_core import from_json, to_json

from mcpcore.boundary.upstream import UpstreamError
from mcpcore.contract.codes import ErrorCode
from mcpcore.contract.errors import FrameworkError
from mcpcore.contract.failure_modes import ContractError
from mcpcore.sdk.returned import ResultForm, content_of, raise_within, require_no_exceptions, structured_of
from mcpcore.values.jsonable import MAX_DIGITS
from mcpcore.values.logs import LOGGER
from mcpcore.values.untrusted import quietly
from mcpcore.values.unwrapping import BrokenResultError, ReturnedError
from mcpcore.wire.envelope import UNKNOWN_DIALECT, Envelope

_MAX_DEPTH: Final = 190
"""Levels of a result; readers on pydantic, as the SDK's client, take 200 of a whole message."""

_AROUND: Final = 200 - _MAX_DEPTH


_TELLTALE: Final = frozenset({"error", "ok", "code", "error_code", "result"})
"""Keys without one of which nothing is a failure in any dialect."""


def converted(form: ResultForm, returned: Any) -> CallToolResult | InputRequiredResult:
    """The result of a handler, as the SDK converts it and as JSON can hold it.

    Raises:
        ReturnedError: If it is a failure, or there are exceptions within it.
        BrokenResultError: If it breaks the tool's own output model, or cannot be written.
    """
    if issubclass(type(returned), _RESULTS):
        return _made_by_handler(form, returned)
    content, structured = written_parts(form, returned)
    return CallToolResult(content=content, structured_content=structured)


def written_result(form: ResultForm, returned: Any) -> dict[str, Any] | CallToolResult | InputRequiredResult:
    """The same in the form of the wire, which saves the SDK one conversion; a result of the handler's own stays one.

    Raises:
        ReturnedError: If it is a failure, or there are exceptions within it.
        BrokenResultError: If it breaks the tool's own output model, or cannot be written.
    """
    if issubclass(type(returned), _RESULTS):
        return _made_by_handler(form, returned)
    content, structured = written_parts(form, returned)
    blocks = [
        block if type(block) is dict else block.model_dump(by_alias=True, mode="json", exclude_none=True)
        for block in content
    ]
    result: dict[str, Any] = {"content": blocks, "isError": False, "resultType": "complete"}
    if structured is not None:
        result["structuredContent"] = structured
    return result


def written_parts(form: ResultForm, returned: Any) -> tuple[list[Any], Any]:
    """The content and the structured content of a value that a handler returned, as JSON can hold them.

    Raises:
        ReturnedError: If it is a failure, or there are exceptions within it.
        BrokenResultError: If it breaks the tool's own output model, or cannot be written.
    """
    try:
        content, structured = content_of(returned), structured_of(form, returned)
    except ReturnedError:
        raise
    except Exception as exc:
        raise BrokenResultError(_BREAKS_MODEL) from exc
    return _sendable(content, structured, None, form.schema, returned) or (content, structured)


def _made_by_handler(
    form: ResultForm, returned: CallToolResult | InputRequiredResult
) -> CallToolResult | InputRequiredResult:
    if isinstance(returned, CallToolResult):
        require_no_exceptions(returned)
    try:
        result: CallToolResult | InputRequiredResult = form.metadata.convert_result(returned)
    except Exception as exc:
        raise BrokenResultError(_BREAKS_MODEL) from exc
    if not isinstance(result, CallToolResult) or result.is_error:
        return result
    return sendable(result, form.schema)


_RESULTS: Final = (CallToolResult, InputRequiredResult)
"""The results that a handler may make itself, known by their type: an object may lie about its class, or raise."""

_BREAKS_MODEL: Final = "the result breaks the tool's own output model"


def failure_in(
    result: dict[str, Any] | CallToolResult | InputRequiredResult,
    schema: Mapping[str, Any] | None,
    *,
    name: str,
    strict: bool,
) -> Exception | None:
    """The failure in a result; None for a success.

    A result that a client could mistake for a failure is one on a strict server. On another, it is sent as it was
    returned, and the log says so.

    The failure of another server is an `UpstreamError`, whatever its dialect. Of the content blocks only the texts of
    a failure in no known dialect are kept: a failure is one text and its structured content.
    """
    if type(result) is dict:
        content = result.get("structuredContent")
        if not isinstance(content, dict) or _TELLTALE.isdisjoint(content):
            return None
        result = CallToolResult.model_validate(result)
    made = cast("CallToolResult | InputRequiredResult", result)
    # A result that was made without validation may hold objects of any kind, whose own code may raise.
    failure = quietly(lambda: _failure_in(made, schema), BrokenResultError("the result cannot be read"))
    if type(failure) is ContractError and not strict:
        LOGGER.warning("%r broke its contract: %s", name, failure)
        return None
    return failure


def _failure_in(result: CallToolResult | InputRequiredResult, schema: Mapping[str, Any] | None) -> Exception | None:
    if not isinstance(result, CallToolResult):
        return None
    content = result.structured_content
    if not result.is_error and (not isinstance(content, dict) or _TELLTALE.isdisjoint(content)):
        return None
    # The text alone of a success may be anybody's: a file, a line of a log.
    sent = Envelope.from_result(result if result.is_error else {"structuredContent": content})
    if sent is not None and sent.dialect != UNKNOWN_DIALECT:
        return UpstreamError(sent)
    if result.is_error:
        return _own_failure(result, sent)
    assert content is not None
    if "error" not in content or "error" in (schema or {}).get("properties", {}):
        return None  # else a tool of the SDK's own says that its results have it
    return ContractError(
        "the result has a key 'error', where clients look for a failure; return it under another name, or raise a "
        "declared failure"
    )


def _own_failure(result: CallToolResult, sent: Envelope | None) -> FrameworkError:
    """A failure in no known dialect, with its text; `{"error": "It is gone."}` alone says the same as its text."""
    text = "\n".join(block.text for block in result.content if isinstance(block, TextContent))
    inner = quietly(lambda: json.loads(text), None) if text.startswith("{") else None
    data = result.structured_content if result.structured_content is not None else inner
    word = next(iter(data.values())) if isinstance(data, dict) and len(data) == 1 else None
    if sent is not None and isinstance(word, str) and word == sent.message and (text == word or inner == data):
        return FrameworkError(ErrorCode.INTERNAL_ERROR, word)
    return FrameworkError(ErrorCode.INTERNAL_ERROR, text, result.structured_content)


def sendable(result: CallToolResult, schema: Mapping[str, Any] | None = None) -> CallToolResult:
    """`result`, which a handler made itself, as JSON can hold it: a NaN or an infinity is null, if `schema` admits it.

    Raises:
        BrokenResultError: If it cannot be written, or has a number that JSON lacks where null is not allowed.
    """
    changed = _sendable(result.content, result.structured_content, result.meta, schema, "")
    return result if changed is None else result.model_copy(update={"structured_content": changed[1]})


def _sendable(
    content: list[Any], structured: Any, meta: Any, schema: Mapping[str, Any] | None, made_of: object
) -> tuple[list[Any], Any] | None:
    """The content and the structured content of a result as JSON can hold them; None if they are so already.

    A NaN or an infinity becomes null, as JSON writers have it, where `schema` admits that. Texts that the SDK writes of
    `made_of`, the value that the handler returned, change likewise; a tool's own texts stay.

    Raises:
        BrokenResultError: If they cannot be written, or have a number that JSON lacks where null is not allowed.
    """
    written = _written(content, structured, meta)
    mended, blocks = structured, content
    if b"NaN" in written or b"Infinity" in written:
        places = list(_not_finite(structured))
        if places:
            mended = _finite(structured)
            if schema is not None and not fits_schema(mended, schema):
                raise BrokenResultError(_not_finite_message(places))
    if not isinstance(made_of, str) and any(map(_is_suspect, content)):
        blocks = [_finite_text(block, made_of) for block in content]
    return None if blocks is content and mended is structured else (blocks, mended)


def _not_finite_message(places: list[str]) -> str:
    more = f" and in {len(places) - 1} more places" if len(places) > 1 else ""
    return (
        f"the result has a NaN or an infinity in {places[0]}{more}, for which JSON has no number: return None, in a "
        "field that may be null, or raise a failure"
    )


def require_writable_result(result: CallToolResult) -> None:
    """Check that `result` can be written as JSON.

    Raises:
        ReturnedError: If there are exceptions within it.
        BrokenResultError: If it cannot be written.
    """
    _written(result.content, result.structured_content, result.meta)


def _written(content: list[Any], structured: Any, meta: Any) -> bytes:
    """The structured content as JSON; all else of a result is tried too."""
    try:
        for block in content:
            if type(block) is dict:
                block["text"].encode()
            elif type(block) is TextContent and block.annotations is None and block.meta is None:
                block.text.encode()
            else:
                require_writable(block)
        if meta:
            _require_short_integers(to_json(meta))
        written = b"null" if structured is None else to_json(structured)
        if len(written) >= _BLOCK:
            _require_short_integers(written)
        if written.count(b"{") + written.count(b"[") > _MAX_DEPTH:
            # Read as the SDK's client reads it, which never answers a call whose result is deeper than 200 levels.
            from_json(b"%b%b%b" % (b"[" * _AROUND, written, b"]" * _AROUND), cache_strings="none")
    except (ValueError, RecursionError) as exc:
        raise_within(structured, meta)
        raise BrokenResultError(_UNWRITABLE) from exc
    return written


def require_writable(model: BaseModel) -> None:
    """Check that an answer can be written as JSON.

    Raises:
        BrokenResultError: If it cannot: a lone surrogate, bytes that are no text, an object that JSON does not have.
    """
    try:
        _require_short_integers(model.model_dump_json(by_alias=True).encode())
    except (ValueError, RecursionError) as exc:
        raise BrokenResultError(_UNWRITABLE) from exc


_UNWRITABLE: Final = "the result cannot be written as JSON"

_BLOCK: Final = MAX_DIGITS // 2


def _require_short_integers(written: bytes) -> None:
    """Check that JSON readers can read the integers of `written`, which is JSON.

    Raises:
        BrokenResultError: If one has more than 4,300 digits. A client would drop the whole message, and wait forever.
    """
    # A run of more digits fills one of these blocks, wherever it begins. Only then is the JSON read, since the digits
    # may be those of a string.
    if any(written[start : start + _BLOCK].isdigit() for start in range(0, len(written) - _BLOCK + 1, _BLOCK)):
        try:
            from_json(written, cache_strings="none")
        except ValueError as exc:
            raise BrokenResultError(
                f"the result has an integer of more than {MAX_DIGITS:,} digits, which JSON readers refuse: return it "
                "as a string, or raise a failure"
            ) from exc


def _is_suspect(block: Any) -> bool:
    return type(block) is dict and ("NaN" in block["text"] or "Infinity" in block["text"])


def _finite_text(block: Any, made_of: object) -> Any:
    """A text without numbers that JSON does not have, where it is JSON: an object, a list, or such a number alone."""
    if not _is_suspect(block):
        return block
    try:
        parsed = json.loads(block["text"])
    except (ValueError, RecursionError):
        return block  # a sentence that a tool returned among others
    whole = isinstance(parsed, float)
    if not any(_not_finite(parsed)) or (whole and not any(_not_finite(made_of))):
        return block
    return {**block, "text": json.dumps(_finite(parsed), indent=2, ensure_ascii=False)}


def _not_finite(value: object, place: str = "", depth: int = 0) -> Iterator[str]:
    """The places of numbers that JSON does not have."""
    if isinstance(value, float) and not math.isfinite(value):
        yield place or "the result"
    elif depth < _MAX_DEPTH and isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _not_finite(inner, f"{place}.{key}" if place else str(key), depth + 1)
    elif depth < _MAX_DEPTH and isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield from _not_finite(inner, f"{place}.{index}" if place else str(index), depth + 1)


def _finite(value: object) -> Any:
    return from_json(to_json(value, inf_nan_mode="null"))


def fits_schema(content: Any, schema: Mapping[str, Any]) -> bool:
    """Whether `content` is valid by `schema`."""
    from jsonschema.validators import Draft202012Validator, validator_for

    return bool(validator_for(schema, default=Draft202012Validator)(schema).is_valid(content))
