"""Reads the errors that a function raises, and the clauses that catch them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from mcpcore_lint.dataclasses import replace
from mcpcore_lint.flow.bodies.errors import CODED_ARGUMENTS
from mcpcore_lint.model import (
    Argument,
    CallValue,
    CatchSite,
    Cause,
    ErrorSite,
    FunctionNode,
    Items,
    Missing,
    Symbol,
    ThrowSite,
    Unknown,
    Value,
    options,
)
from mcpcore_lint.semantics.evaluate import evaluate
from mcpcore_lint.semantics.subclasses import CODED_ERROR
from mcpcore_lint.syntax.parse import walk_shallow

if TYPE_CHECKING:
    from mcpcore_lint.flow.bodies.errors import ErrorReader
    from mcpcore_lint.flow.bodies.nodes import BodyNodes
    from mcpcore_lint.syntax.scopes import Scope


class RaiseReader:
    """Reads the `raise` statements of one function and the clauses that catch exceptions."""

    def __init__(self, body: BodyNodes, errors: ErrorReader) -> None:
        self.body = body
        self.module = body.module
        self.errors = errors
        self.catches: dict[ast.AST, CatchSite] = {}
        for clause in body.clauses:
            self.catches[clause] = self._clause(clause)
        for block in body.withs:
            suppress = self._suppress(block)
            if suppress is not None:
                self.catches[block] = suppress

    def throws(self, node: ast.Raise) -> list[ThrowSite]:
        """Return the errors that a `raise` may raise."""
        function = self.body.function_of.get(node, self.body.node)
        catch = self.catch_of(node)
        if node.cause is None:
            cause: Cause = "implicit"
        elif isinstance(node.cause, ast.Constant) and node.cause.value is None:
            cause = "from_none"
        else:
            cause = "from"
        if node.exc is None:
            return [
                ThrowSite(node, self.module, None, None, cause, catch, reraise=True, escapes=True, function=function)
            ]
        results: list[ThrowSite] = []
        for leaf in leaves(node.exc, self.body.scope_at(node)):
            members = self._group_members(leaf)
            if members:
                for member in members:
                    throw = self._throw(node, member, cause, catch, function)
                    if throw.error is not None and throw.error.fate != "raised":
                        raised = replace(throw.error, fate="raised")
                        self.errors.sites[member] = raised
                        throw = replace(throw, error=raised)
                    results.append(replace(throw, grouped=True))
            else:
                results.append(self._throw(node, leaf, cause, catch, function))
        return results

    def _group_members(self, leaf: ast.expr) -> list[ast.expr]:
        """Return the errors in `ExceptionGroup("...", [first, second])`; an empty list if not all are known."""
        if not isinstance(leaf, ast.Call) or len(leaf.args) < 2 or not isinstance(leaf.args[1], (ast.List, ast.Tuple)):
            return []
        func = evaluate(leaf.func, self.body.scope_at(leaf))
        if not isinstance(func, Symbol) or func.name not in {"builtins.ExceptionGroup", "builtins.BaseExceptionGroup"}:
            return []
        scope = self.body.scope_at(leaf)
        members: list[ast.expr] = []
        for item in leaf.args[1].elts:
            for member in leaves(item, scope):
                members.extend(self._group_members(member) or [member])
        return members if members and all(member in self.errors.sites for member in members) else []

    def _throw(
        self, node: ast.Raise, leaf: ast.expr, cause: Cause, catch: CatchSite | None, function: FunctionNode
    ) -> ThrowSite:
        error = self.errors.sites.get(leaf)
        if error is not None:
            return self._thrown(node, error, cause, catch, function)
        if isinstance(leaf, ast.Name):
            # Look at the clauses around the `raise`, then at those around the assignment of the raised name.
            for innermost in (catch, self.catch_of(leaf)):
                clause = innermost
                while clause is not None:
                    if clause.name == leaf.id:
                        return ThrowSite(
                            node, self.module, None, None, cause, catch, reraise=True, escapes=True, function=function
                        )
                    clause = self.catch_of(clause.node)
        scope = self.body.scope_at(leaf) if leaf in self.body.parents else self.body.scope_at(node)
        if isinstance(leaf, (ast.Name, ast.Attribute)):
            value = evaluate(leaf, scope)
            if isinstance(value, Symbol):
                form = self.errors.form_of(value)
                if form is not None:
                    missing = {argument: Argument(argument, Missing(leaf, self.module)) for argument in CODED_ARGUMENTS}
                    code: Value = Missing(leaf, self.module)
                    if form == "protocol" or value.name == CODED_ERROR:
                        code = Unknown(leaf, self.module, "the class sets it")
                    if form == "coded" and value.name != CODED_ERROR:
                        error = self.errors.subclass(CallValue(leaf, self.module, value), leaf, missing)
                    else:
                        error = self.errors.site(form, leaf, value.name, value.name, code, missing)
                    error = self.errors.sites[leaf] = replace(error, fate="raised")
                    return self._thrown(node, error, cause, catch, function)
        call: ast.expr = leaf
        while isinstance(call, ast.Await):
            call = call.value
        return ThrowSite(
            node,
            self.module,
            None,
            None,
            cause,
            catch,
            reraise=False,
            escapes=True,
            function=function,
            call=call if isinstance(call, ast.Call) else None,
            made=leaf,
        )

    def _thrown(
        self, node: ast.Raise, error: ErrorSite, cause: Cause, catch: CatchSite | None, function: FunctionNode
    ) -> ThrowSite:
        """Return the throw of a known error."""
        escapes = self._escapes(node, error.type_name)
        return ThrowSite(
            node, self.module, error, error.type_name, cause, catch, reraise=False, escapes=escapes, function=function
        )

    def catch_of(self, node: ast.AST) -> CatchSite | None:
        """Return the innermost `except` clause around a node, in the function of the node."""
        current = self.body.parents.get(node)
        while current is not None and current is not self.body.node:
            if isinstance(current, ast.ExceptHandler):
                return self.catches.get(current)
            if isinstance(current, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
                return None
            current = self.body.parents.get(current)
        return None

    def _escapes(self, node: ast.AST, type_name: str) -> bool:
        """Whether an exception raised at a node may leave its function: no clause definitely catches it."""
        current = node
        while True:
            parent = self.body.parents.get(current)
            if parent is None or parent is self.body.node:
                return True
            if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                return True
            if isinstance(parent, (ast.Try, ast.TryStar)) and current in parent.body:
                for clause in parent.handlers:
                    catch = self.catches[clause]
                    verdict = self._caught(type_name, catch)
                    if verdict is None:
                        break
                    if verdict:
                        if not self._passes_on(clause):
                            return False
                        break
            if (
                isinstance(parent, (ast.With, ast.AsyncWith))
                and parent in self.catches
                and current in parent.body
                and self._caught(type_name, self.catches[parent])
            ):
                return False
            current = parent

    def _caught(self, type_name: str, catch: CatchSite) -> bool | None:
        unknown = False
        for caught in catch.types:
            verdict = self.errors.hierarchy.is_kind_of(type_name, caught) if caught is not None else None
            if verdict:
                return True
            unknown = unknown or verdict is None
        return None if unknown else False

    def _passes_on(self, clause: ast.ExceptHandler) -> bool:
        """Whether a clause raises the caught exception again."""
        for part in walk_shallow([*clause.body]):
            if isinstance(part, ast.Raise):
                if part.exc is None and self.catch_of(part) is self.catches.get(clause):
                    return True
                if isinstance(part.exc, ast.Name) and part.exc.id == clause.name:
                    return True
        return False

    def _clause(self, node: ast.ExceptHandler) -> CatchSite:
        parent = self.body.parents.get(node)
        body = tuple(parent.body) if isinstance(parent, (ast.Try, ast.TryStar)) else ()
        types = types_of(node.type, self.body.scope_at(node)) if node.type is not None else ("builtins.BaseException",)
        return CatchSite(
            node,
            self.module,
            types,
            node.name,
            bare=node.type is None,
            star=isinstance(parent, ast.TryStar),
            suppress=False,
            body=tuple(node.body),
            try_body=body,
            function=self.body.function_of.get(node, self.body.node),
        )

    def _suppress(self, node: ast.With | ast.AsyncWith) -> CatchSite | None:
        for item in node.items:
            if isinstance(item.context_expr, ast.Call):
                func = evaluate(item.context_expr.func, self.body.scope_at(node))
                if isinstance(func, Symbol) and func.name in {"contextlib.suppress", "anyio.suppress"}:
                    scope = self.body.scope_at(node)
                    types = [name for argument in item.context_expr.args for name in types_of(argument, scope)]
                    function = self.body.function_of.get(node, self.body.node)
                    return CatchSite(
                        node,
                        self.module,
                        tuple(types),
                        None,
                        bare=False,
                        star=False,
                        suppress=True,
                        body=(),
                        try_body=tuple(node.body),
                        function=function,
                    )
        return None

    def forget(self) -> None:
        """Drop the references to the syntax tree."""
        self.catches.clear()


def leaves(node: ast.expr, scope: Scope) -> list[ast.expr]:
    """Return the possible sources of an expression, through conditions, names and `with_traceback`."""
    if _behind(node, scope) is None:
        return [node]
    sources: list[ast.expr] = []
    seen: set[ast.expr] = set()
    # Visit each expression once, because variables can be assigned from one another.
    stack = [(node, scope)]
    while stack:
        current, where = stack.pop()
        if current in seen:
            continue
        seen.add(current)
        following = _behind(current, where)
        if following is None:
            sources.append(current)
        else:
            stack.extend(reversed(following))
    # `raise None or build()` cannot raise None.
    return [source for source in sources if not (isinstance(source, ast.Constant) and source.value is None)] or sources


def types_of(node: ast.expr, scope: Scope) -> tuple[str | None, ...]:
    """Return the classes that an `except` names; None for unknown ones."""
    names: list[str | None] = []
    for value in options(evaluate(node, scope)):
        items = value.items if isinstance(value, Items) else (value,)
        if isinstance(value, Items) and not value.complete:
            names.append(None)
        for item in items:
            for option in options(item):
                if isinstance(option, Items):
                    names.extend(nested.name if isinstance(nested, Symbol) else None for nested in option.items)
                else:
                    names.append(option.name if isinstance(option, Symbol) else None)
    return tuple(names)


def _behind(node: ast.expr, scope: Scope) -> list[tuple[ast.expr, Scope]] | None:
    """Return the expressions that an expression resolves to, each with its scope; None if it is final."""
    if isinstance(node, ast.Call):
        func = node.func
        return [(func.value, scope)] if isinstance(func, ast.Attribute) and func.attr == "with_traceback" else None
    if isinstance(node, ast.IfExp):
        return [(node.body, scope), (node.orelse, scope)]
    if isinstance(node, ast.BoolOp):
        return [(operand, scope) for operand in node.values]
    if isinstance(node, ast.NamedExpr):
        return [(node.value, scope)]
    if isinstance(node, ast.Name):
        match = scope.lookup_at(node)
        if match is not None and not match[0].is_module:
            where, bindings = match
            if all(binding.kind in {"assign", "annotated"} for binding in bindings):
                values = [binding.value for binding in bindings if binding.value is not None]
                values = [value for value in values if not (isinstance(value, ast.Constant) and value.value is None)]
                if values:
                    return [(value, where) for value in values]
    return None
