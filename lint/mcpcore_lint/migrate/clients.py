"""Clients of the project: version 2 of the SDK has `streamable_http_client`, which yields two streams."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.diagnostics import Edit
from mcpcore_lint.engine.syntax.parse import walk
from mcpcore_lint.migrate.contracts import Names

if TYPE_CHECKING:
    from mcpcore_lint.engine.syntax.module import Module

PACKAGE: Final = "mcp.client.streamable_http"
OLD: Final = "streamablehttp_client"
NEW: Final = "streamable_http_client"
_MAKER: Final = ("mcp.shared._httpx_utils", "create_mcp_http_client")
"""What makes an HTTP client with the timeouts of the SDK."""


def client_edits(module: Module) -> list[Edit] | None:
    """The edits of the calls that connect a client over HTTP; None if one of them cannot follow for certain."""
    source, names, nodes = module.source, Names(module), [*walk([module.tree])]
    edits: list[Edit] = []
    loads = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    for call in (module.parents[node] for node in nodes if isinstance(node, ast.Name) and node.id == OLD):
        match call, module.parents.get(call):
            case ast.Call(keywords=options), ast.withitem(
                optional_vars=ast.Tuple(elts=[ast.Name(), ast.Name() as writes, ast.Name() as session])
            ) if session.id not in loads:
                pass
            case _:
                return None
        given = {option.arg: option for option in options}
        headers = given.get("headers")
        if given.keys() - {"url", "headers"} or len(call.args) > 1 or (headers and "http_client" in loads):
            return None
        made = f"{names.spell(*_MAKER)}({source.segment(headers)}) as http_client, " if headers else ""
        edits += [Edit(*source.node_range(headers), "http_client=http_client")] if headers else []
        edits += [
            Edit(*source.node_range(call.func), f"{made}{NEW}"),
            Edit(source.node_range(writes)[1], source.node_range(session)[1], ""),
        ]
    return [*edits, *names.edits({_MAKER})]
