"""What a body raises and catches."""

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
        found: list[ThrowSite] = []
        made = self._bound_before(node) or node.exc
        for leaf in leaves(made, self.body.scope_at(node)):
            members = self._group_members(leaf)
            if members:
                for member in members:
                    throw = self._throw(node, member, cause, catch, function)
                    if throw.error is not None and throw.error.fate != "raised":
                        raised = replace(throw.error, fate="raised")
                        self.errors.sites[member] = raised
                        throw = replace(throw, error=raised)
                    found.append(replace(throw, grouped=True))
            else:
                found.append(self._throw(node, leaf, cause, catch, function))
        return found

    def _group_members(self, leaf: ast.expr) -> list[ast.expr]:
        """The errors in `ExceptionGroup("...", [first, second])`; none where they cannot all be seen."""
        if not isinstance(leaf, ast.Call) or len(leaf.args) < 2 or not isinstance(leaf.args[1], (ast.List, ast.Tuple)):
            return []
        func = evaluate(leaf.func, self.body.scope_at(leaf))
        if not isinstance(func, Symbol) or func.name not in {"builtins.ExceptionGroup", "builtins.BaseExceptionGroup"}:
            return []
        scope = self.body.scope_at(leaf)
        found: list[ast.expr] = []
        for each in leaf.args[1].elts:
            for one in leaves(each, scope):
                found.extend(self._group_members(one) or [one])
        return found if found and all(each in self.errors.sites for each in found) else []

    def _throw(
        self, node: ast.Raise, leaf: ast.expr, cause: Cause, catch: CatchSite | None, function: FunctionNode
    ) -> ThrowSite:
        error = self.errors.sites.get(leaf)
        if error is not None:
            return self._thrown(node, error, cause, catch, function)
        if isinstance(leaf, ast.Name):
            # Where it is raised, or where it was bound to the name that is raised.
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
                    missing = {each: Argument(each, Missing(leaf, self.module)) for each in CODED_ARGUMENTS}
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
        """The throw of an error that is known."""
        escapes = self._escapes(node, error.type_name)
        return ThrowSite(
            node, self.module, error, error.type_name, cause, catch, reraise=False, escapes=escapes, function=function
        )

    def _bound_before(self, node: ast.Raise) -> ast.expr | None:
        """What `raise error` raises where a statement above it in the same block gives `error` its value."""
        if not isinstance(node.exc, ast.Name):
            return None
        parent = self.body.parents[node]
        for _, block in ast.iter_fields(parent):
            if isinstance(block, list) and node in block:
                for statement in reversed(block[: block.index(node)]):
                    if isinstance(statement, ast.Assign) and any(
                        isinstance(target, ast.Name) and target.id == node.exc.id for target in statement.targets
                    ):
                        return statement.value
                    if binds(statement, node.exc.id):
                        return None
        return None

    def catch_of(self, node: ast.AST) -> CatchSite | None:
        """The innermost `except` clause that a node stands in, in its own function."""
        current = self.body.parents.get(node)
        while current is not None and current is not self.body.node:
            if isinstance(current, ast.ExceptHandler):
                return self.catches.get(current)
            if isinstance(current, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
                return None
            current = self.body.parents.get(current)
        return None

    def _escapes(self, node: ast.AST, type_name: str) -> bool:
        """Whether an exception raised at a node leaves its function, as far as its own clauses are certain."""
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
        for each in catch.types:
            verdict = self.errors.hierarchy.is_kind_of(type_name, each) if each is not None else None
            if verdict:
                return True
            unknown = unknown or verdict is None
        return None if unknown else False

    def _passes_on(self, clause: ast.ExceptHandler) -> bool:
        """Whether a clause raises what it caught again somewhere."""
        for each in walk_function(clause.body):
            if isinstance(each, ast.Raise):
                if each.exc is None and self.catch_of(each) is self.catches.get(clause):
                    return True
                if isinstance(each.exc, ast.Name) and each.exc.id == clause.name:
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
                    types = [name for each in item.context_expr.args for name in types_of(each, scope)]
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
    """The expressions that a raised expression may come from, through conditions, names and `with_traceback`."""
    if _behind(node, scope) is None:
        return [node]
    found: list[ast.expr] = []
    seen: set[ast.expr] = set()
    # Each expression once: names that are bound from one another lead round in circles.
    stack = [(node, scope)]
    while stack:
        current, where = stack.pop()
        if current in seen:
            continue
        seen.add(current)
        following = _behind(current, where)
        if following is None:
            found.append(current)
        else:
            stack.extend(reversed(following))
    # `raise None or build()`: None is what it is not.
    return [each for each in found if not (isinstance(each, ast.Constant) and each.value is None)] or found


def types_of(node: ast.expr, scope: Scope) -> tuple[str | None, ...]:
    """The classes that an `except` names."""
    found: list[str | None] = []
    for value in options(evaluate(node, scope)):
        items = value.items if isinstance(value, Items) else (value,)
        if isinstance(value, Items) and not value.complete:
            found.append(None)
        for each in items:
            for one in options(each):
                if isinstance(one, Items):
                    found.extend(each_.name if isinstance(each_, Symbol) else None for each_ in one.items)
                else:
                    found.append(one.name if isinstance(one, Symbol) else None)
    return tuple(found)


def binds(statement: ast.AST, name: str) -> bool:
    """Whether a statement gives a name another value, outside of the functions nested in it."""
    return any(
        isinstance(each, ast.Name) and each.id == name and isinstance(each.ctx, ast.Store)
        for each in walk_shallow([statement])
    )


def walk_function(body: list[ast.stmt]) -> list[ast.AST]:
    """Every node of some statements, without the functions and classes nested in them."""
    return walk_shallow([*body])


def _items_of(node: ast.expr, scope: Scope, key: ast.expr | None) -> list[tuple[ast.expr, Scope]] | None:
    """The items of a list or a table that a function writes down; the one under a key where that is a constant."""
    found = scope.lookup_at(node) if isinstance(node, ast.Name) else None
    if found is None or found[0].is_module or len(found[1]) != 1 or found[1][0].value is None:
        return None
    where, table = found[0], found[1][0].value
    if not isinstance(node, ast.Name) or where.module.changes_in_place(node.id, where):
        return None
    wanted = key.value if isinstance(key, ast.Constant) else None
    if isinstance(table, (ast.List, ast.Tuple)) and table.elts:
        if any(isinstance(each, ast.Starred) for each in table.elts):
            return None
        if isinstance(wanted, int) and -len(table.elts) <= wanted < len(table.elts):
            return [(table.elts[wanted], where)]
        return [(each, where) for each in table.elts]
    if isinstance(table, ast.Dict) and table.values and None not in table.keys and key is not None:
        pairs = zip(table.keys, table.values, strict=True)
        same = [value for each, value in pairs if isinstance(each, ast.Constant) and each.value == wanted]
        return [(each, where) for each in (same if wanted is not None and same else table.values)]
    return None


def _behind(node: ast.expr, scope: Scope) -> list[tuple[ast.expr, Scope]] | None:
    """What a raised expression stands for, each part with its scope; None where it stands for itself."""
    if isinstance(node, ast.Call):
        func = node.func
        return [(func.value, scope)] if isinstance(func, ast.Attribute) and func.attr == "with_traceback" else None
    if isinstance(node, ast.IfExp):
        return [(node.body, scope), (node.orelse, scope)]
    if isinstance(node, ast.BoolOp):
        return [(each, scope) for each in node.values]
    if isinstance(node, ast.NamedExpr):
        return [(node.value, scope)]
    if isinstance(node, ast.Subscript):
        return _items_of(node.value, scope, node.slice)
    if isinstance(node, ast.Name):
        found = scope.lookup_at(node)
        if found is not None and not found[0].is_module:
            where, bindings = found
            if len(bindings) == 1 and isinstance(bindings[0].node, (ast.For, ast.AsyncFor)):
                loop = bindings[0].node
                return _items_of(loop.iter, where, None) if isinstance(loop.target, ast.Name) else None
            if all(each.kind in {"assign", "annotated"} for each in bindings):
                values = [each.value for each in bindings if each.value is not None]
                values = [each for each in values if not (isinstance(each, ast.Constant) and each.value is None)]
                if values:
                    return [(each, where) for each in values]
    return None
