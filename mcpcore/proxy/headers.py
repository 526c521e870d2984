"""The HTTP headers of a message, which a client of stdio does not send.

Source: the MCP specification of 2026-07-28, section "Streamable HTTP", and 2025-11-25 for `MCP-Protocol-Version` alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    encode_header_value,
    mcp_param_headers,
    x_mcp_header_map,
)

from mcpcore.proxy.messages import VERSION_META_KEY, meta_of, params_of, parse
from mcpcore.values.untrusted import quietly

if TYPE_CHECKING:
    from mcpcore.proxy.conversation import Conversation


def headers_for(raw: bytes, conversation: Conversation) -> dict[str, str]:
    """The headers of a message of the client, which is one of JSON-RPC."""
    message: Any = parse(raw)
    version = meta_of(message).get(VERSION_META_KEY)
    if not isinstance(version, str):
        known = conversation.version
        return {} if known is None or message.get("method") == "initialize" else {MCP_PROTOCOL_VERSION_HEADER: known}
    method, params = str(message.get("method", "")), params_of(message)
    headers = {MCP_PROTOCOL_VERSION_HEADER: version, MCP_METHOD_HEADER: method}
    name = params.get("uri") if method.startswith("resources/") else params.get("name")
    if isinstance(name, str):
        headers[MCP_NAME_HEADER] = encode_header_value(name)
    tool = conversation.listing.get(cast("str", name)) if method == "tools/call" else None
    arguments = params.get("arguments")
    if tool is not None and isinstance(arguments, dict):
        schema = tool.input_schema
        headers |= quietly(lambda: mcp_param_headers(x_mcp_header_map(schema), arguments), {})
    return headers
