"""The fix of error-contract-reason-format: renames a reason and every use of it in the file."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from mcpcore_lint.codemods import edits
from mcpcore_lint.model import Missing, Symbol, options, string
from mcpcore_lint.rules._contracts import contracts_of
from mcpcore_lint.rules.contract._values import FAILURE_MODE
from mcpcore_lint.syntax.parse import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore_lint.diagnostics import Fix
    from mcpcore_lint.model import ToolDef, Value
    from mcpcore_lint.rule import RuleContext
    from mcpcore_lint.rules.contract._entries import Entry
    from mcpcore_lint.syntax.module import Module


def renamed(entry: Entry, old: str, new: str, ctx: RuleContext) -> Fix | None:
    """The fix that renames a reason throughout the file; None if there may be uses that cannot be seen.

    It is unsafe: clients that look for the old reason no longer find it.
    """
    module = ctx.module
    tools = [tool for tool in ctx.tools if any(old in contract.by_reason for contract in contracts_of(tool))]
    if entry.module is not module or not tools:
        return None
    if any(new in contract.by_reason for tool in tools for contract in contracts_of(tool)):
        return None
    strings: set[ast.AST] = set()
    for tool in tools:
        if _used_elsewhere(tool, old, module, ctx):
            return None
        if not all(_collect(value, old, module, strings) for value in _reasons(tool)):
            return None
    uses: list[ast.Constant] = []
    in_literals = False
    module.complete()
    for node in walk([module.tree]):
        if not isinstance(node, ast.Constant) or node.value != old:
            continue
        in_literal = _in_literal(node, module, ctx)
        in_literals = in_literals or in_literal
        if in_literal or node in strings or _is_reason(node, module, ctx):
            uses.append(node)
        elif not isinstance(module.parents.get(node), ast.Expr):
            return None
    contexts = (tool.handler.context for tool in tools)
    named_in_context = any(context is not None and old in (context.reasons or ()) for context in contexts)
    if not uses or (named_in_context and not in_literals) or any(holds_comment(module, node) for node in uses):
        return None
    return ctx.fix(
        f"Rename the reason to {new!r}",
        [edits.replace_node(module, node, _spelled(node, new, module)) for node in uses],
        unsafe=True,
    )


def holds_comment(module: Module, node: ast.AST) -> bool:
    """Whether an expression spans several lines with a comment, which replacing it would delete."""
    text = module.source.segment(node)
    return "#" in text and ("\n" in text or "\r" in text)


def _reasons(tool: ToolDef) -> Iterator[Value]:
    """Every value that is used as a reason in the contract and the handler of a tool."""
    for contract in contracts_of(tool):
        for entry in contract.entries:
            yield from options(entry.reason.value)
    for error in tool.handler.errors:
        if error.form == "fail":
            yield from options(error.reason)
        elif error.form in {"factory", "coded"}:
            # The reason may be in data that cannot be read. Then its string is found elsewhere in the file.
            yield from (value for value in options(error.reason) if string(value) is not None)
    for reason in tool.handler.named_reasons:
        yield from options(reason)


def _collect(value: Value, old: str, module: Module, strings: set[ast.AST]) -> bool:
    """Add the string of a reason to `strings`; False if the value may be the old reason and cannot be renamed."""
    text = string(value)
    if text is None:
        return isinstance(value, Missing)
    if text != old:
        return True
    if value.module is not module:
        return False
    if isinstance(value.node, ast.Constant) and value.node.value == old:
        strings.add(value.node)
        return True
    # The values of a parameter with a Literal type are the strings in that type, which are found there.
    return isinstance(value.node, ast.Name)


def _used_elsewhere(tool: ToolDef, old: str, module: Module, ctx: RuleContext) -> bool:
    """Whether the reason is, or may be, used in another file, or in a quoted annotation."""
    if tool.handler.module is not module:
        return True
    context = tool.handler.context
    if context is not None and isinstance(context.annotation, ast.Constant) and old in str(context.annotation.value):
        return True
    reach = ctx.reach(tool)
    return any(call.takes_context for call in reach.unresolved) or any(
        throw.reasons is not None and old in throw.reasons and throw.site.path != module.path for throw in reach.throws
    )


def _in_literal(node: ast.Constant, module: Module, ctx: RuleContext) -> bool:
    parent = module.parents.get(node)
    if isinstance(parent, ast.Tuple):
        parent = module.parents.get(parent)
    if not isinstance(parent, ast.Subscript) or parent.value is node:
        return False
    head = ctx.resolve(parent.value)
    return isinstance(head, Symbol) and head.name == "typing.Literal"


def _is_reason(node: ast.Constant, module: Module, ctx: RuleContext) -> bool:
    """Whether the place of a string shows that it is a reason."""
    parent = module.parents.get(node)
    if isinstance(parent, ast.keyword):
        return parent.arg == "reason"
    if isinstance(parent, ast.Call) and parent.args and parent.args[0] is node:
        if isinstance(parent.func, ast.Attribute) and parent.func.attr in {"fail", "recovery_for"}:
            return True
        head = ctx.resolve(parent.func)
        return isinstance(head, Symbol) and head.name == FAILURE_MODE
    if isinstance(parent, ast.Dict):
        pairs = zip(parent.keys, parent.values, strict=True)
        return any(value is node and isinstance(key, ast.Constant) and key.value == "reason" for key, value in pairs)
    if isinstance(parent, ast.Compare):
        operands = (parent.left, *parent.comparators)
        return any(isinstance(operand, ast.Attribute) and operand.attr == "reason" for operand in operands)
    return False


def _spelled(node: ast.Constant, text: str, module: Module) -> str:
    """A string in the same quotes as the one that it replaces."""
    quote = "'" if module.source.segment(node).startswith("'") else '"'
    return f"{quote}{text}{quote}"
