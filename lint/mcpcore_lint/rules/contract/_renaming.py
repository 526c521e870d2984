"""The fix of error-contract-reason-format: renames a reason and every use of it in the file."""

from __future__ import annotations

import ast
import json
from typing import TYPE_CHECKING

from mcpcore_lint.codemods import edits
from mcpcore_lint.model import Symbol, strings
from mcpcore_lint.rules._contracts import contracts_of
from mcpcore_lint.rules.contract._values import FAILURE_MODE
from mcpcore_lint.syntax.parse import children, walk

if TYPE_CHECKING:
    from mcpcore_lint.diagnostics import Fix
    from mcpcore_lint.model import ToolDef
    from mcpcore_lint.rule import RuleContext
    from mcpcore_lint.rules.contract._entries import Entry


def renamed(entry: Entry, old: str, new: str, ctx: RuleContext) -> Fix | None:
    """The fix that renames a reason throughout the file; None if another string is equal, or another file uses it.

    It is unsafe: clients that look for the old reason no longer find it.
    """
    module = ctx.module
    tools = [tool for tool in ctx.tools if any(old in contract.by_reason for contract in contracts_of(tool))]
    known = {reason for tool in tools for contract in contracts_of(tool) for reason in contract.by_reason}
    if (
        entry.module is not module
        or not tools
        or new in known
        or any(_used_elsewhere(tool, old, ctx) for tool in tools)
    ):
        return None
    module.complete()
    strings = [node for node in walk([module.tree]) if isinstance(node, ast.Constant) and node.value == old]
    uses = [node for node in strings if not isinstance(module.parents[node], ast.Expr)]
    if not all(_is_reason(node, ctx) for node in uses):
        return None
    changes = [edits.replace_node(module, node, json.dumps(new)) for node in uses]
    return ctx.fix(f"Rename the reason to {new!r}", changes, unsafe=True)


def _used_elsewhere(tool: ToolDef, old: str, ctx: RuleContext) -> bool:
    """Whether the reason is, or may be, used somewhere that cannot be seen from the file."""
    context = tool.handler.context
    quoted = context is not None and isinstance(context.annotation, ast.Constant)
    reach = ctx.reach(tool)
    return (
        tool.handler.module is not ctx.module
        or quoted
        or any(strings(call.reason) is None for call in tool.handler.fail_calls)
        or any(call.takes_context for call in reach.unresolved)
        or any(old in (throw.reasons or ()) and throw.site.path != ctx.module.path for throw in reach.throws)
    )


def _is_reason(node: ast.Constant, ctx: RuleContext) -> bool:
    """Whether the place of a string shows that it is a reason."""
    parents = ctx.module.parents
    parent = parents[node]
    if isinstance(parent, ast.Tuple):
        parent = parents[parent]
    match parent:
        case ast.keyword(arg="reason") | ast.Call(func=ast.Attribute(attr="fail" | "recovery_for")) | ast.Assign():
            return True
        case ast.Compare():
            return any(isinstance(each, ast.Attribute) and each.attr == "reason" for each in children(parent))
        case ast.Call(func=head) | ast.Subscript(value=head):
            value = ctx.resolve(head)
            return isinstance(value, Symbol) and value.name in {FAILURE_MODE, "typing.Literal"}
        case ast.Dict():
            place = parent.values.index(node) if node in parent.values else -1
            key = parent.keys[place] if place >= 0 else None
            return isinstance(key, ast.Constant) and key.value == "reason"
    return False
