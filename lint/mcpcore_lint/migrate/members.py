"""The methods of FastMCP's servers and contexts that a release removed or made async."""

import ast
from typing import Final

from mcpcore_lint.codemods import edits as codemods
from mcpcore_lint.diagnostics import Edit
from mcpcore_lint.engine.semantics.symbols import last_name
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.parse import own_nodes, walk
from mcpcore_lint.migrate.body import RUNNERS, classes_of, scope_around
from mcpcore_lint.migrate.model import Left
from mcpcore_lint.migrate.renames import CONTEXT, METHODS

_SERVERS: Final = frozenset({"fastmcp.FastMCP"})
_CONTEXTS: Final = frozenset({"fastmcp.Context", "fastmcp.server.dependencies.get_context"})
_MEMBERS: Final = (
    (_SERVERS, METHODS, "{}() of the server, which {} does not have"),
    (_CONTEXTS, CONTEXT, "{}() of the context, which {} changed"),
)
_STATE: Final = frozenset({"get_state", "set_state"})
_KEYS: Final = {
    "get_tools": "tool.name: tool for tool",
    "get_prompts": "prompt.name: prompt for prompt",
    "get_resources": "str(resource.uri): resource for resource",
    "get_resource_templates": "template.uri_template: template for template",
}
"""The methods that returned a dict, which one that lists the same returns as a list, each with what the dict had."""
_OF_MIDDLEWARE: Final = "fastmcp_context"
"""The attribute of what middleware gets that has the context."""


def plan_members(module: Module) -> tuple[list[Edit], list[Left]]:
    """The edits of calls that must be awaited now, and the lines about other methods, called or handed on."""
    edits: list[Edit] = []
    left: list[Left] = []
    for node in walk([module.tree]) if any(map(module.source.has, (*METHODS, *CONTEXT))) else ():
        if not isinstance(node, ast.Attribute) or node.attr not in {*METHODS, *CONTEXT}:
            continue
        kinds, call = classes_of(node.value, scope_around(node, module)), module.parents.get(node)
        if getattr(node.value, "attr", "") == _OF_MIDDLEWARE:
            kinds |= _CONTEXTS
        for owners, table, pattern in _MEMBERS:
            if not owners & kinds or node.attr not in table:
                continue
            if node.attr in _STATE and isinstance(call, ast.Call) and call.func is node:
                if isinstance(module.parents.get(call), ast.Await):
                    continue
                if _may_await(call, module):
                    edits += _awaited(call, node.attr, module)
                    continue
            if (listing := _listed(node, call, module)) is not None:
                edits += listing
                continue
            release, instead = table[node.attr]
            left.append(Left(module.path, node.lineno, (), pattern.format(node.attr, release), instead))
    return edits, left


def _listed(node: ast.Attribute, call: ast.AST | None, module: Module) -> list[Edit] | None:
    """The edits that make of a list the dict of FastMCP 2; None for other methods, and for calls that are not run."""
    around = module.parents.get(call) if isinstance(call, ast.Call) and call.func is node else None
    is_run = isinstance(around, ast.Await) or (isinstance(around, ast.Call) and last_name(around) in RUNNERS)
    if (
        node.attr not in _KEYS
        or not isinstance(around, ast.expr)
        or not is_run
        # In an f-string, `{{` is the text of a brace.
        or isinstance(module.parents.get(around), ast.FormattedValue)
    ):
        return None
    (start, end), method = module.source.node_range(around), module.source.node_range(node)[1]
    return [
        Edit(start, start, f"{{{_KEYS[node.attr]} in "),
        Edit(method - len(node.attr), method, node.attr.replace("get", "list")),
        Edit(end, end, "}"),
    ]


def _may_await(call: ast.Call, module: Module) -> bool:
    """Whether the body of an async function makes a call itself, so that the call may be awaited."""
    function = scope_around(call, module).node
    nodes = own_nodes(function) if isinstance(function, ast.AsyncFunctionDef) else []
    # With an `await`, `(... for key in keys)` is an async generator, which any() and its like refuse.
    in_generator = any(
        isinstance(part, ast.GeneratorExp) and call in walk([part]) and call not in walk([part.generators[0].iter])
        for part in nodes
    )
    return call in nodes and not in_generator


def _awaited(call: ast.Call, method: str, module: Module) -> list[Edit]:
    """The edits that await a call. A stored value is kept for one request, as in FastMCP 2, and may be any object."""
    start, end = module.source.node_range(call)
    around = module.parents.get(call)
    is_used = isinstance(around, (ast.Attribute, ast.Subscript, ast.Call)) and call in {
        getattr(around, "value", None),
        getattr(around, "func", None),
    }
    opening, closing = ("(await ", [Edit(end, end, ")")]) if is_used else ("await ", [])
    stored = [codemods.add_argument(module, call, "serializable=False")] if method == "set_state" else []
    return [Edit(start, start, opening), *stored, *closing]
