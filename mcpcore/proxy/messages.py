"""JSON-RPC messages: the bytes as they arrived, and what they say."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from pydantic_core import from_json

from mcpcore.escaping import clean_text
from mcpcore.foreign import quietly

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


def write(message: Json) -> bytes:
    """`message` as one line of JSON, without the line feed."""
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(message, separators=(",", ":")).encode()


def key_of(request_id: object) -> tuple[type, object] | None:
    """The key of a request in a table: 1 and "1" are different ids. None if it is no id."""
    if isinstance(request_id, bool) or not isinstance(request_id, str | int):
        return None
    return type(request_id), request_id


def params_of(message: Json) -> Json:
    """The parameters of a request or a notification."""
    params = message.get("params")
    return params if isinstance(params, dict) else {}


def meta_of(message: Json) -> Json:
    """The `_meta` of a request or a notification."""
    meta = params_of(message).get("_meta")
    return meta if isinstance(meta, dict) else {}


def server_name(result: object) -> str | None:
    """The name of the server, in the result of a handshake or in the `_meta` of any; None if it is not there."""
    if not isinstance(result, dict):
        return None
    meta = result.get("_meta")
    info = result.get("serverInfo") or (meta.get(_SERVER_INFO) if isinstance(meta, dict) else None)
    name = info.get("name") if isinstance(info, dict) else None
    return clean_text(name[:_MAX_SERVER_NAME]).strip() or None if isinstance(name, str) else None


@dataclass(slots=True)
class Step:
    """What to send, and to whom, after a message arrived."""

    to_server: list[bytes] = field(default_factory=list)
    to_client: list[bytes] = field(default_factory=list)
