"""JSON-RPC messages: the bytes as they arrived, and what they say."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from mcp_types import JSONRPCError, JSONRPCResponse, jsonrpc_message_adapter
from pydantic_core import from_json

from mcpcore.values.escaping import clean_text
from mcpcore.values.untrusted import list_in, object_in, quietly

Json: TypeAlias = dict[str, Any]

VERSION_META_KEY: Final = "io.modelcontextprotocol/protocolVersion"
"""The key in the `_meta` of a request that says its version; only requests since 2026-07-28 have it."""

_SERVER_INFO: Final = "io.modelcontextprotocol/serverInfo"
_MAX_SERVER_NAME: Final = 200

SURFACES: Final = {
    "tools/call": "tool",
    "resources/read": "resource",
    "resources/subscribe": "resource",
    "resources/unsubscribe": "resource",
    "resources/list": "resource",
    "resources/templates/list": "resource",
    "prompts/get": "prompt",
    "prompts/list": "prompt",
    "tools/list": "tool",
}
"""The requests whose answers are looked into, and what they are about."""


def parse(raw: bytes) -> Any:
    """The JSON in `raw`; None if it is not JSON, or nested too deeply."""
    try:
        return from_json(raw)
    except ValueError:
        # Lone surrogates, which the faster reader refuses.
        return quietly(lambda: json.loads(raw), None)


# The pattern is possessive and atomic, so a string that never ends is not tried in other ways.
_PART: Final = re.compile(r'"[^"\\]*+(?>(?:\\.[^"\\]*+)*)"|[\[\]{}]', re.DOTALL)
_MAX_DEPTH: Final = 100
_MAX_DIGITS: Final = 4_300
"""Digits of an integer that Python reads."""


def read(raw: bytes) -> Any:
    """The JSON in a message of the server, as the most lenient client reads it; None if it is not JSON.

    A client in JavaScript takes bytes that are no UTF-8, long integers, and any depth. What it reads as a failure must
    not pass because it is odd elsewhere: there, the bytes become U+FFFD, the integers texts, and deep parts null.
    """
    message = parse(raw)
    if message is not None:
        return message
    return quietly(lambda: json.loads(_shallow(raw.decode("utf-8-sig", "replace")), parse_int=_integer), None)


def _integer(digits: str) -> int | str:
    return int(digits) if len(digits) <= _MAX_DIGITS else digits


def _shallow(text: str) -> str:
    """JSON without what is nested too deeply."""
    pieces: list[str] = []
    depth = done = 0
    for part in _PART.finditer(text):
        if part[0] in "[{":
            depth += 1
            if depth == _MAX_DEPTH:
                pieces += text[done : part.start()], "null"
        elif part[0] in "]}":
            if depth == _MAX_DEPTH:
                done = part.end()
            depth -= 1
    return "".join((*pieces, text[done:]))


def answer_in(message: Json) -> Json | None:
    """The answer to a request that clients read in a message of the server; None for any other message.

    The SDK decides where a message has parts of several kinds: a `method` that is null or has wrong parameters makes no
    request, and an error beside a result counts. The answer has no parts of another kind.
    """
    has_result, has_error = "result" in message, "error" in message
    kind: object = None
    if has_result + has_error + ("method" in message) > 1:
        kind = type(quietly(lambda: jsonrpc_message_adapter.validate_python(message, by_name=False), None))
    if "method" in message:
        is_answer = kind in (JSONRPCResponse, JSONRPCError) or not isinstance(message["method"], str)
        if not is_answer or not (has_result or has_error):
            return None
    elif not (has_result and has_error):
        return message
    is_error = has_error and (kind is JSONRPCError or not has_result)
    unread = {"method", "params", "result" if is_error else "error"}
    return {key: value for key, value in message.items() if key not in unread}


def write(message: Json) -> bytes:
    """`message` as one line of JSON, without the line feed."""
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        # Half of a surrogate pair cannot be written in UTF-8, and passes as an escape.
        return json.dumps(message, separators=(",", ":")).encode()


def key_of(request_id: object) -> tuple[type, object] | None:
    """The key of a request in a table: 1 and "1" are different ids. None if it is no id."""
    if isinstance(request_id, bool) or not isinstance(request_id, str | int):
        return None
    return type(request_id), request_id


def loose_key(request_id: object) -> object:
    """An id as the SDKs compare it, for which "7", 7 and 7.0 are one; None if they read none.

    Source: `mcp.shared.dispatcher.coerce_request_id`, and `Number(response.id)` in the SDK for TypeScript.
    """
    if isinstance(request_id, float):
        return request_id if request_id.is_integer() else None
    if not isinstance(request_id, str):
        return request_id if key_of(request_id) is not None else None
    # JavaScript reads "0x7" as 7, and an empty text as 0.
    readers: tuple[Any, ...] = (int, float, lambda text: int(text, 0))
    numbers = (quietly(lambda reader=reader: reader(request_id or "0"), None) for reader in readers)  # type: ignore[misc]
    return next((number for number in numbers if number is not None and number == number), request_id)  # noqa: PLR0124 - NaN


def params_of(message: Json) -> Json:
    """The parameters of a request or a notification."""
    return object_in(message, "params")


def meta_of(message: Json) -> Json:
    """The `_meta` of a request or a notification."""
    return object_in(params_of(message), "_meta")


def texts_of(result: Json) -> str:
    """The text blocks of a result, joined."""
    blocks = [block for block in list_in(result, "content") if isinstance(block, dict)]
    return "\n".join(block["text"] for block in blocks if isinstance(block.get("text"), str))


def server_name(result: object) -> str | None:
    """The name of the server, in the result of a handshake or in the `_meta` of any; None if it is not there."""
    info = object_in(result, "serverInfo") or object_in(object_in(result, "_meta"), _SERVER_INFO)
    name = info.get("name")
    return clean_text(name[:_MAX_SERVER_NAME]).strip() or None if isinstance(name, str) else None


@dataclass(slots=True)
class Step:
    """What to send, and to whom, after a message arrived."""

    to_server: list[bytes] = field(default_factory=list)
    to_client: list[bytes] = field(default_factory=list)
