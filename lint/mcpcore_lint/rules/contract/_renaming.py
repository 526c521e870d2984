"""The fix of error-contract-reason-format: renames a reason and every use of it in the file."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from mcpcore_lint.codemods import edits
from mcpcore_lint.model import Missing, Symbol, options, string
from mcpcore_lint.rules.contract._entries import Entry, contracts_of, holds_comment
from mcpcore_lint.rules.contract._values import FAILURE_MODE
from mcpcore_lint.syntax.parse import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore_lint.diagnostics import Fix
    from mcpcore_lint.model import ToolDef, Value
    from mcpcore_lint.rules.base import RuleContext
    from mcpcore_lint.syntax.module import Module


def renamed(entry: Entry, old: str, new: str, ctx: RuleContext) -> Fix | None:
    """The fix that renames a reason throughout the file; None where some use may lie out of sight.

    Unsafe, since a client that switches on the reason sees another one afterwards.
    """
    module = ctx.module
    users = [tool for tool in ctx.tools if any(old in each.by_reason for each in contracts_of(tool, ctx))]
    if entry.module is not module or not users:
        return None
    if any(new in each.by_reason for tool in users for each in contracts_of(tool, ctx)):
        return None
    known: set[ast.AST] = set()
    for tool in users:
        if not all(_take(value, old, module, known) for value in _reasons(tool, ctx)):
            return None
        if _out_of_sight(tool, old, module, ctx):
            return None
    found: list[ast.Constant] = []
    named_in_literal = False
    module.complete()
    for node in walk([module.tree]):
        if not isinstance(node, ast.Constant) or node.value != old:
            continue
        in_literal = _in_literal(node, module, ctx)
        named_in_literal = named_in_literal or in_literal
        if node in known or in_literal or _is_use(node, module, ctx):
            found.append(node)
        elif not isinstance(module.parents.get(node), ast.Expr):
            return None
    for tool in users:
        context = tool.handler.context
        if context is not None and context.reasons is not None and old in context.reasons and not named_in_literal:
            return None
    if not found or any(holds_comment(module, each) for each in found):
        return None
    return ctx.fix(
        f"Rename the reason to {new!r}",
        [edits.replace_node(module, node, _spelled(node, new, module)) for node in found],
        unsafe=True,
    )


def _reasons(tool: ToolDef, ctx: RuleContext) -> Iterator[Value]:
    """Every value that stands for a reason at a tool: in its contract, and in its handler."""
    for contract in contracts_of(tool, ctx):
        for entry in contract.entries:
            yield from options(entry.reason.value)
    for error in tool.handler.errors:
        if error.form == "fail":
            yield from options(error.reason)
        elif error.form in {"factory", "coded"}:
            # Data that cannot be read may hold a reason: where it does, its string stands elsewhere in the file.
            yield from (each for each in options(error.reason) if string(each) is not None)
    for reason in tool.handler.named_reasons:
        yield from options(reason)


def _take(value: Value, old: str, module: Module, known: set[ast.AST]) -> bool:
    """Note the string behind a reason; False where it may be the one that is renamed, and cannot be."""
    text = string(value)
    if text is None:
        return isinstance(value, Missing)
    if text != old:
        return True
    if value.module is not module:
        return False
    if isinstance(value.node, ast.Constant) and value.node.value == old:
        known.add(value.node)
        return True
    # A parameter with a Literal type stands for strings that are found in that type.
    return isinstance(value.node, ast.Name)


def _out_of_sight(tool: ToolDef, old: str, module: Module, ctx: RuleContext) -> bool:
    """Whether the reason is, or may be, used in another file, or in an annotation that is a string."""
    if tool.handler.module is not module:
        return True
    context = tool.handler.context
    if context is not None and isinstance(context.annotation, ast.Constant) and old in str(context.annotation.value):
        return True
    reach = ctx.reach(tool)
    return any(each.takes_context for each in reach.unresolved) or any(
        each.reasons is not None and old in each.reasons and each.site.path != module.path for each in reach.throws
    )


def _in_literal(node: ast.Constant, module: Module, ctx: RuleContext) -> bool:
    parent = module.parents.get(node)
    if isinstance(parent, ast.Tuple):
        parent = module.parents.get(parent)
    if not isinstance(parent, ast.Subscript) or parent.value is node:
        return False
    head = ctx.resolve(parent.value)
    return isinstance(head, Symbol) and head.name == "typing.Literal"


def _is_use(node: ast.Constant, module: Module, ctx: RuleContext) -> bool:
    """Whether a string is a reason by the place that it stands in."""
    parent = module.parents.get(node)
    if isinstance(parent, ast.keyword):
        return parent.arg == "reason"
    if isinstance(parent, ast.Call):
        if not parent.args or parent.args[0] is not node:
            return False
        if isinstance(parent.func, ast.Attribute) and parent.func.attr in {"fail", "recovery_for"}:
            return True
        head = ctx.resolve(parent.func)
        return isinstance(head, Symbol) and head.name == FAILURE_MODE
    if isinstance(parent, ast.Dict):
        return any(
            value is node and isinstance(key, ast.Constant) and key.value == "reason"
            for key, value in zip(parent.keys, parent.values, strict=True)
        )
    if isinstance(parent, ast.Compare):
        return any(_reads_reason(each) for each in (parent.left, *parent.comparators))
    if isinstance(parent, ast.MatchValue):
        match = module.parents.get(parent)
        while isinstance(match, (ast.pattern, ast.match_case)):
            match = module.parents.get(match)
        return isinstance(match, ast.Match) and _reads_reason(match.subject)
    return False


def _reads_reason(node: ast.expr) -> bool:
    """`error.reason`, `data["reason"]`, `data.get("reason")`."""
    if isinstance(node, ast.Attribute):
        return node.attr == "reason"
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Constant) and node.slice.value == "reason"
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "get"
        and bool(node.args)
        and isinstance(node.args[0], ast.Constant)
        and node.args[0].value == "reason"
    )


def _spelled(node: ast.Constant, text: str, module: Module) -> str:
    """A string in the quotes that the one in its place has."""
    quote = "'" if module.source.segment(node).startswith("'") else '"'
    return f"{quote}{text}{quote}"
