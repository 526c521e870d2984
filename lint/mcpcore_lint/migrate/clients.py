"""The calls that connect a client, as version 2 of the SDK has them."""

import ast
from typing import Final

from mcpcore_lint.diagnostics import Edit
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.parse import walk
from mcpcore_lint.migrate.body import classes_of, scope_around

CLIENTS: Final = {
    ("mcp.client.streamable_http", "streamablehttp_client"): ("mcp.client.streamable_http", "streamable_http_client"),
    ("mcp.shared.memory", "create_connected_server_and_client_session"): ("mcp", "Client"),
}
"""The functions that connect a client, with their names in version 2."""
MAKER: Final = ("mcp.shared._httpx_utils", "create_mcp_http_client")
"""What makes an HTTP client with the timeouts of the SDK."""
_METHODS: Final = frozenset({"list_tools", "call_tool", "list_prompts", "get_prompt", "list_resources"})
"""What `Client` has, with the same parameters and results as a session."""


def client_edits(module: Module, old: str, new: str) -> list[Edit] | None:
    """The edits of the calls of a function that connects a client; None if no call or not each of them can follow."""
    source, nodes = module.source, [*walk([module.tree])]
    edits: list[Edit] = []
    loads = [node for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    known = {node.id for node in loads}
    for call in (module.parents[node] for node in loads if node.id == old and new not in module.scope.bindings):
        match call, getattr(module.parents.get(call), "optional_vars", None):
            case ast.Call(args=[server], keywords=[]), ast.Name(id=client):
                uses = (module.parents[node] for node in loads if node.id == client)
                if not all(isinstance(use, ast.Attribute) and use.attr in _METHODS for use in uses):
                    return None
                edits.append(Edit(*source.node_range(call.func), new))
                # FastMCP 4 still has the attribute, and `Client` takes no object of its class.
                if (
                    isinstance(server, ast.Attribute)
                    and server.attr == "_mcp_server"
                    and "fastmcp.FastMCP" not in classes_of(server.value, scope_around(server, module))
                ):
                    edits.append(Edit(source.node_range(server.value)[1], source.node_range(server)[1], ""))
            case ast.Call(keywords=options), ast.Tuple(
                elts=[ast.Name(), ast.Name() as writes, ast.Name(id=session) as last]
            ) if session not in known:
                by_name = {option.arg: option for option in options}
                headers = by_name.get("headers")
                if by_name.keys() - {"url", "headers"} or len(call.args) > 1 or (headers and "http_client" in known):
                    return None
                made = f"{MAKER[1]}({source.segment(headers)}) as http_client, " if headers else ""
                edits += [Edit(*source.node_range(headers), "http_client=http_client")] if headers else []
                edits += [
                    Edit(*source.node_range(call.func), f"{made}{new}"),
                    Edit(source.node_range(writes)[1], source.node_range(last)[1], ""),
                ]
            case _:
                return None
    return edits or None
