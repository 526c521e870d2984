"""Reads the errors that a function raises, and the clauses that catch them."""

import ast
from collections.abc import Iterator, Sequence
from typing import Final

from mcpcore_lint.dataclasses import replace
from mcpcore_lint.engine.flow.bodies.errors import CODED_ARGUMENTS, CODED_ERROR, ErrorReader
from mcpcore_lint.engine.flow.bodies.nodes import BodyNodes
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.semantics.type_model import name_of
from mcpcore_lint.engine.syntax.parse import SCOPES, walk_shallow
from mcpcore_lint.engine.syntax.scopes import Scope
from mcpcore_lint.model import (
    Argument,
    CatchSite,
    Cause,
    CodeValue,
    ErrorSite,
    Items,
    Missing,
    Symbol,
    ThrowSite,
    Unknown,
    Value,
    options,
)

SUPPRESS: Final = frozenset({"contextlib.suppress", "anyio.suppress"})


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
        cause: Cause = "implicit" if node.cause is None else "from"
        if isinstance(node.cause, ast.Constant) and node.cause.value is None:
            cause = "from_none"
        function = self.body.function_of.get(node, self.body.node)
        catch = self.catch_of(node)
        plain = ThrowSite(node, self.module, None, None, cause, catch, reraise=False, escapes=True, function=function)
        if node.exc is None:
            return [replace(plain, reraise=True)]
        results: list[ThrowSite] = []
        for leaf in leaves(node.exc, self.body.scope_at(node)):
            members = self._group_members(leaf)
            for member in members:
                self.errors.sites[member] = replace(self.errors.sites[member], fate="raised")
                results.append(replace(self._throw(plain, member), grouped=True))
            if not members:
                results.append(self._throw(plain, leaf))
        return results

    def _group_members(self, leaf: ast.expr) -> list[ast.expr]:
        """Return the errors in `ExceptionGroup("...", [first, second])`; an empty list if not all are known."""
        if not isinstance(leaf, ast.Call) or len(leaf.args) < 2 or not isinstance(leaf.args[1], (ast.List, ast.Tuple)):
            return []
        scope = self.body.scope_at(leaf)
        if name_of(leaf.func, scope) not in {"builtins.ExceptionGroup", "builtins.BaseExceptionGroup"}:
            return []
        inside = (member for item in leaf.args[1].elts for member in leaves(item, scope))
        members = [inner for member in inside for inner in self._group_members(member) or [member]]
        return members if members and all(member in self.errors.sites for member in members) else []

    def _throw(self, plain: ThrowSite, leaf: ast.expr) -> ThrowSite:
        """Return the throw of one expression; `plain` is that of an error that nothing is known about."""
        error = self.errors.sites.get(leaf)
        if error is None:
            if isinstance(leaf, ast.Name) and self._is_caught(leaf, plain.catch):
                return replace(plain, reraise=True)
            error = self._of_class(leaf, plain.node)
        if error is not None:
            escapes = self._escapes(plain.node, error.type_name)
            return replace(plain, error=error, type_name=error.type_name, escapes=escapes)
        call: ast.expr = leaf
        while isinstance(call, ast.Await):
            call = call.value
        return replace(plain, call=call if isinstance(call, ast.Call) else None, made=leaf)

    def _is_caught(self, name: ast.Name, catch: CatchSite | None) -> bool:
        """Whether a clause around a `raise`, or around the assignment of the raised name, binds the name."""
        for innermost in (catch, self.catch_of(name)):
            clause = innermost
            while clause is not None:
                if clause.name == name.id:
                    return True
                clause = self.catch_of(clause.node)
        return False

    def _of_class(self, leaf: ast.expr, node: ast.Raise) -> ErrorSite | None:
        """Return the error of a class that is raised without a call."""
        scope = self.body.scope_at(leaf if leaf in self.body.parents else node)
        value = evaluate(leaf, scope) if isinstance(leaf, (ast.Name, ast.Attribute)) else None
        form = self.errors.form_of(value) if isinstance(value, Symbol) else None
        if form is None or not isinstance(value, Symbol):
            return None
        missing = Missing(leaf, self.module)
        arguments = {argument: Argument(argument, missing) for argument in CODED_ARGUMENTS}
        if form == "coded" and value.name != CODED_ERROR:
            error = self.errors.subclass(value, leaf, arguments)
        else:
            sets_code = form == "protocol" or value.name == CODED_ERROR
            code = Unknown(leaf, self.module, "the class sets it") if sets_code else missing
            error = self.errors.site(form, leaf, value.name, value.name, code, arguments)
        error = self.errors.sites[leaf] = replace(error, fate="raised")
        return error

    def catch_of(self, node: ast.AST) -> CatchSite | None:
        """Return the innermost `except` clause around a node, in the function of the node."""
        for block, _ in self.body.enclosing.of(node):
            if isinstance(block, SCOPES):
                return None
            if isinstance(block, ast.ExceptHandler):
                return self.catches.get(block)
        return None

    def _escapes(self, node: ast.AST, type_name: str) -> bool:
        """Whether an exception raised at a node may leave its function: no clause definitely catches it."""
        for block, inner in self.body.enclosing.of(node):
            if isinstance(block, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                break
            clauses: Sequence[ast.AST] = ()
            if isinstance(block, (ast.Try, ast.TryStar)) and inner in block.body:
                clauses = block.handlers
            elif isinstance(block, (ast.With, ast.AsyncWith)) and block in self.catches and inner in block.body:
                clauses = [block]
            # The first clause that catches the error, or may catch it, decides.
            verdicts = ((clause, self._caught(type_name, self.catches[clause])) for clause in clauses)
            clause, verdict = next((pair for pair in verdicts if pair[1] is not False), (None, False))
            if verdict and not (isinstance(clause, ast.ExceptHandler) and self._passes_on(clause)):
                return False
        return True

    def _caught(self, type_name: str, catch: CatchSite) -> bool | None:
        is_kind_of = self.errors.hierarchy.is_kind_of
        verdicts = [None if name is None else is_kind_of(type_name, name) for name in catch.types]
        return True if True in verdicts else None if None in verdicts else False

    def _passes_on(self, clause: ast.ExceptHandler) -> bool:
        """Whether a clause raises the caught exception again."""
        for part in walk_shallow([*clause.body]):
            if isinstance(part, ast.Raise):
                # A bare `raise` in a clause further in raises what that one caught.
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
        scope = self.body.scope_at(node)
        for call in (item.context_expr for item in node.items if isinstance(item.context_expr, ast.Call)):
            if name_of(call.func, scope) in SUPPRESS:
                return CatchSite(
                    node,
                    self.module,
                    tuple(name for argument in call.args for name in types_of(argument, scope)),
                    None,
                    bare=False,
                    star=False,
                    suppress=True,
                    body=(),
                    try_body=tuple(node.body),
                    function=self.body.function_of.get(node, self.body.node),
                )
        return None


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
    return tuple(class_names(evaluate(node, scope)))


def class_names(value: Value) -> Iterator[str | None]:
    """Yield the classes in a value, through tuples and choices; None for unknown ones."""
    for option in options(value):
        if isinstance(option, Items):
            if not option.complete:
                yield None
            for item in option.items:
                yield from class_names(item)
        elif not isinstance(option, CodeValue):  # a guard takes codes too
            yield option.name if isinstance(option, Symbol) else None


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
                # `last = None` above a loop of attempts is not what is raised below it.
                values = [value for value in values if not (isinstance(value, ast.Constant) and value.value is None)]
                if values:
                    return [(value, where) for value in values]
    return None
