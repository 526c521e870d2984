"""Follows the errors that a function creates: raised, returned, dropped, or passed on."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcpcore_lint.flow.bodies.nodes import BodyNodes
    from mcpcore_lint.model import Fate


class Fates:
    """Finds the fate of the errors in one function."""

    def __init__(self, body: BodyNodes) -> None:
        self.body = body

    def of(self, node: ast.AST) -> Fate:
        """Return the fate of the error that an expression creates."""
        current = node
        for _ in range(50):
            parent = self.body.parents.get(current)
            if parent is None:
                return "escapes"
            if isinstance(parent, ast.Raise):
                return "raised" if parent.exc is current else "escapes"
            if isinstance(parent, ast.Return):
                return "returned"
            if isinstance(parent, ast.Lambda) and parent.body is current:
                return "returned"
            if isinstance(parent, ast.Expr):
                return "discarded"
            if isinstance(parent, (ast.Assign, ast.AnnAssign, ast.NamedExpr)):
                targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
                names = [target.id for target in targets if isinstance(target, ast.Name)]
                if len(names) != len(targets):
                    return "escapes"
                fates = {self._name_fate(name, parent) for name in names}
                if isinstance(parent, ast.NamedExpr) and fates == {"unused"}:
                    current = parent
                    continue
                for fate in ("raised", "returned", "escapes"):
                    if fate in fates:
                        return fate
                return "unused"
            if isinstance(parent, ast.Attribute):
                call = self.body.parents.get(parent)
                if parent.attr == "with_traceback" and isinstance(call, ast.Call) and call.func is parent:
                    current = call
                    continue
                return "escapes"
            if isinstance(parent, (ast.IfExp, ast.BoolOp, ast.Await)):
                if isinstance(parent, ast.IfExp) and parent.test is current:
                    return "escapes"
                current = parent
                continue
            return "escapes"
        return "escapes"

    def _name_fate(self, name: str, assignment: ast.AST) -> Fate:
        """Return the fate of an error that is assigned to a variable."""
        scope = self.body.scope_at(assignment)
        match = scope.lookup(name)
        if match is None or match[0].is_module:
            return "escapes"
        fate: Fate = "unused"
        for use in self.body.loads.get(name, ()):
            parent = self.body.parents[use]
            if isinstance(parent, ast.Raise) and parent.exc is use:
                return "raised"
            if isinstance(parent, ast.Return):
                fate = "returned"
            elif isinstance(parent, ast.Attribute) and parent.attr in {"add_note", "with_traceback"}:
                continue
            elif isinstance(parent, (ast.IfExp, ast.BoolOp)) and self.of(use) == "raised":
                return "raised"
            elif fate == "unused":
                fate = "escapes"
        return fate
