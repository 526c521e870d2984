"""Take an answer apart: the objects of the SDK's and FastMCP's clients, what they raise, and JSON.

Source of the classes: the MCP SDK 2.3 (`mcp.client`, `mcp_types`) and FastMCP 4.0 and 4.1 (`fastmcp.client`,
`fastmcp.tools`).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from mcpcore.values.escaping import one_line
from mcpcore.values.jsonable import safe_str, to_json
from mcpcore.values.untrusted import quietly
from mcpcore.wire.envelope import Envelope

MAX_TEXT: Final = 1_000_000
"""Characters of a text that is searched for an envelope."""

_MAX_NAME: Final = 200
"""Characters of the name of a type in a message."""

_DEPTH: Final = 50
"""Levels of an object that is converted to JSON; no envelope has as many."""


# Internal, so not frozen: freezing slows the import.
@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Answer:
    """The parts of an answer that say whether a call failed, and how."""

    is_error: bool = False
    structured: object = None
    """The structured content."""

    texts: tuple[str, ...] = ()
    """The texts of the content blocks."""

    blocks: int = 0
    """The number of content blocks."""

    meta: object = None
    """The `_meta` of a result."""

    error: object = None
    """The error of a JSON-RPC response, as its JSON."""

    instead: str | None = None
    """The kind of an answer that is neither a result nor an error, such as "a number"."""

    def converted(self) -> Answer:
        """The same answer as plain JSON; objects whose methods raise are replaced by their names."""
        return Answer(
            is_error=self.is_error,
            structured=to_json(self.structured, depth=_DEPTH),
            texts=self.texts,
            blocks=self.blocks,
            meta=to_json(self.meta, depth=_DEPTH),
            error=to_json(self.error, depth=_DEPTH),
            instead=self.instead,
        )


def answer_of(result: object) -> Answer | Envelope:
    """The parts of `result`, or the envelope that it carries.

    Raises:
        TypeError: If `result` is a Python object of an unknown type.
    """
    kind = type(result)
    if issubclass(kind, str | bytes | bytearray):
        return _of_text(cast("str | bytes | bytearray", result))
    if result is None or issubclass(kind, int | float | list | tuple | Mapping):
        return _of_json(result)
    for module, name, read in _READERS:
        # An object of a class exists only if its module is loaded already.
        known = vars(sys.modules[module]).get(name) if module in sys.modules else None
        if isinstance(known, type) and issubclass(kind, known):
            return read(result)
    raise _unknown_type(result)


def _unknown_type(result: object) -> TypeError:
    kind = type(result)
    module, name = (type.__dict__[part].__get__(kind) for part in ("__module__", "__qualname__"))
    shown = one_line(f"{module}.{name}"[:_MAX_NAME])
    return TypeError(
        f"Envelope.from_result() cannot read an object of the type {shown}; pass what a client of the MCP SDK or of "
        "FastMCP returned (CallToolResult, ToolResult, JSONRPCResponse) or raised (MCPError, ToolError), or the JSON "
        "of an answer as a dict, a str or bytes"
    )


def _of_text(text: str | bytes | bytearray) -> Answer:
    """A text of an answer: its JSON, or the text of a failure."""
    # A subclass may have methods that raise.
    plain = str.__str__(text) if isinstance(text, str) else bytes(memoryview(text))
    try:
        parsed = json.loads(plain)
    except (ValueError, RecursionError):
        shown = plain if isinstance(plain, str) else plain.decode("utf-8", "replace")
        return Answer(is_error=True, texts=(shown,), instead="a text that is not JSON")
    return _of_json(parsed)


def _of_json(value: object) -> Answer:
    """A JSON value, as Python's containers."""
    kind = type(value)
    if issubclass(kind, Mapping):
        answer = quietly(lambda: _of_object(cast("Mapping[str, Any]", value)), None)
        return answer if answer is not None else _of_json(to_json(value, depth=_DEPTH))
    if issubclass(kind, list | tuple):
        return Answer() if _is_listing(value) else Answer(is_error=True, instead="a list")
    if kind is str:
        return Answer(is_error=True, texts=(cast("str", value),), instead="a string")
    return Answer(is_error=True, instead="null" if value is None else "a number or a boolean")


def _is_listing(value: Any) -> bool:
    """Whether these are objects of the SDK: FastMCP's client returns contents and listings without their result."""
    return quietly(lambda: all(type(item).__module__.startswith("mcp_types") for item in value), otherwise=False)


def _of_object(message: Mapping[str, Any]) -> Answer:
    is_response, result = "jsonrpc" in message, message.get("result")
    if issubclass(type(result), Mapping) and (is_response or _FIELDS.isdisjoint(message)):
        message = cast("Mapping[str, Any]", result)
    elif is_response:
        if "error" in message:
            return Answer(is_error=True, error=message["error"] or {})
        return Answer(is_error=True, instead="a JSON-RPC message without a result")
    texts, blocks = _texts(message.get("content"))
    structured = next((message[name] for name in _STRUCTURED if message.get(name) is not None), None)
    if structured is None and not texts:
        # Without the result around it, such as the data of a JSON-RPC error; of a resource, it has the URI too.
        structured = {key: value for key, value in message.items() if key != "uri"}
    is_error = any(is_true(message.get(name)) for name in _IS_ERROR)
    return Answer(is_error=is_error, structured=structured, texts=texts, blocks=blocks, meta=message.get("_meta"))


def _of_result(result: object) -> Answer:
    """A result as an object of the SDK or of FastMCP; one without these attributes is a success."""
    texts, blocks = _texts(_attribute(result, "content"))
    return Answer(
        is_error=is_true(_attribute(result, "is_error", broken=True)),
        structured=_attribute(result, "structured_content"),
        texts=texts,
        blocks=blocks,
        meta=_attribute(result, "meta"),
    )


def _refuse(result: object) -> Answer:
    """A result that the SDK leaves empty: whether the call failed is not in it."""
    raise _unknown_type(result)


def _of_error(error: object) -> Answer:
    return Answer(is_error=True, error={name: _attribute(error, name) for name in ("code", "message", "data")})


def _of_holder(holder: object) -> Answer:
    """An object that has a JSON-RPC error: a response, or the SDK's exception."""
    return _of_error(_attribute(holder, "error"))


def _of_response(response: object) -> Answer:
    return _of_json({"jsonrpc": "2.0", "result": _attribute(response, "result")})


def _of_raised(exc: object) -> Answer:
    """An exception that has the text of a failed result and nothing else."""
    return Answer(is_error=True, texts=(safe_str(exc, limit=MAX_TEXT),), blocks=1)


def _of_failure(failure: object) -> Answer | Envelope:
    """The error of mcpcore's own server for code on the same server, which has the envelope."""
    envelope = _attribute(failure, "envelope")
    return envelope if type(envelope) is Envelope else _of_raised(failure)


_IS_ERROR: Final = ("is_error", "isError")
_STRUCTURED: Final = ("structured_content", "structuredContent")
_FIELDS: Final = frozenset({*_IS_ERROR, *_STRUCTURED, "content"})
"""The fields of a result of a tool."""

# The first class that fits counts, so a class comes before its bases.
_READERS: Final[tuple[tuple[str, str, Callable[[object], Answer | Envelope]], ...]] = (
    ("mcp_types", "GetTaskPayloadResult", _refuse),
    ("mcp_types", "Result", _of_result),
    ("mcp_types", "ErrorData", _of_error),
    ("mcp_types", "JSONRPCError", _of_holder),
    ("mcp_types", "JSONRPCResponse", _of_response),
    ("mcp.shared.exceptions", "MCPError", _of_holder),
    ("mcpcore.sdk.tools", "ToolFailure", _of_failure),
    ("mcp.server.mcpserver.exceptions", "MCPServerError", _of_raised),
    ("fastmcp.client.client", "CallToolResult", _of_result),
    ("fastmcp.tools.base", "ToolResult", _of_result),
    ("fastmcp.resources.base", "ResourceResult", _of_result),
    ("fastmcp.prompts.base", "PromptResult", _of_result),
    ("fastmcp.exceptions", "FastMCPError", _of_raised),
)
"""The classes that are read, by their modules, and how."""


def _attribute(value: object, name: str, *, broken: object = None) -> Any:
    """An attribute; None without one, and `broken` if reading it raises anything else."""
    # A result that was made without validation may hold any object.
    return quietly(lambda: getattr(value, name, None), broken)


def is_true(flag: object) -> bool:
    """Whether a result says that it failed. A flag of a wrong type counts as a failure unless it clearly says no.

    Source of the texts that say no: pydantic's table of conversions to `bool`, with which the SDK reads the flag.
    """
    if flag is None or type(flag) is bool:
        return bool(flag)
    if type(flag) is str:
        return flag.strip().lower() not in ("", "0", "off", "f", "false", "n", "no")
    return not (type(flag) in (int, float) and flag == 0)


def _texts(content: object) -> tuple[tuple[str, ...], int]:
    """The texts of the content blocks, and how many blocks there are."""
    kind = type(content)
    if issubclass(kind, str | Mapping):
        blocks = [content]
    elif issubclass(kind, list | tuple):
        blocks = quietly(lambda: list(cast("list[object]", content)), [])
    else:
        return (), 0
    texts = [quietly(lambda block=block: _text(block), None) for block in blocks]  # type: ignore[misc]
    return tuple(text for text in texts if text is not None), len(blocks)


def _text(block: object) -> str | None:
    """The text of a content block, or of the resource in it."""
    for text in (block, _member(block, "text"), _member(_member(block, "resource"), "text")):
        if issubclass(type(text), str):
            return str.__str__(cast("str", text))
    return None


def _member(value: object, name: str) -> Any:
    if issubclass(type(value), Mapping):
        return cast("Mapping[str, Any]", value).get(name)
    return getattr(value, name, None)
