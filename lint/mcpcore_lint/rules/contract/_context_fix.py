"""The fix of error-contract-context-mismatch: writes the declared reasons into `Context[Literal[...]]`."""

from __future__ import annotations

import ast
import json
from typing import TYPE_CHECKING

from mcpcore_lint.codemods import edits as codemods
from mcpcore_lint.model import Symbol
from mcpcore_lint.semantics.evaluate import Resolver
from mcpcore_lint.syntax.parse import walk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpcore_lint.diagnostics import Change, Fix
    from mcpcore_lint.model import Handler
    from mcpcore_lint.rule import RuleContext


def context_fix(handler: Handler, declared: Sequence[str], ctx: RuleContext) -> Fix | None:
    """Name the declared reasons in the type argument; None if the annotation is quoted, or uses an alias."""
    module, context = handler.module, handler.context
    if context is None or context.annotation is None:
        return None
    literal = codemods.import_name(module, "typing", "Literal")
    reasons = f"{literal.text}[{', '.join(map(quoted, declared))}]"
    scope = module.scope_of(handler.node)
    changes: list[Change | None] = []
    for node in walk([context.annotation]):
        if not context.bare:
            if node is context.argument and isinstance(node, ast.Subscript):
                changes.append(codemods.replace_node(module, node, reasons))
        elif isinstance(node, (ast.Name, ast.Attribute)):
            value = Resolver().expression(node, scope.parent or scope)
            if isinstance(value, Symbol) and value.name == "mcpcore.Context":
                changes.append(codemods.replace_node(module, node, f"{module.source.segment(node)}[{reasons}]"))
    return ctx.fix("Name the declared reasons", [*changes, *literal.edits]) if len(changes) == 1 else None


def quoted(reason: str) -> str:
    """A reason as a string literal."""
    return json.dumps(reason, ensure_ascii=not reason.isprintable())
