"""Calls that never return, because they always raise, and the code behind them."""

import ast
from collections.abc import Iterator
from typing import Final

from mcpcore_lint.engine.semantics.annotations import unquote
from mcpcore_lint.engine.semantics.branches import JUMPS, ends
from mcpcore_lint.engine.semantics.evaluate import Resolver, evaluate
from mcpcore_lint.engine.semantics.symbols import class_round, last_name
from mcpcore_lint.engine.semantics.type_model import (
    BUILTIN_METHODS,
    ClassObject,
    Instance,
    Outside,
    is_abstract,
    method_of,
)
from mcpcore_lint.engine.semantics.types import Inference
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.parse import defaults_of, own_nodes, statements, walk
from mcpcore_lint.engine.syntax.scopes import Scope
from mcpcore_lint.model import Const, Symbol, options

_NEVER: Final = frozenset({"typing.NoReturn", "typing.Never"})
_OUTSIDE: Final = frozenset(
    {"sys.exit", "os._exit", "os.abort", "builtins.exit", "builtins.quit", "typing.assert_never"}
)
_RETURNING: Final = BUILTIN_METHODS | {"debug", "info", "warning", "error", "exception", "critical", "print"}
"""Methods of builtins, and those of a logger, which return: looking them up would cost more than it finds."""
CALLING: Final = frozenset({ast.Expr, ast.Return, ast.Assign})
_MAX_DEPTH: Final = 8
"""How many functions that raise through each other are followed."""


def unreachable(body: list[ast.stmt], scope: Scope, depth: int = 0) -> set[ast.AST]:
    """The nodes of a function that never run, because the calls before them never return."""
    dead: list[ast.AST] = []
    nodes = statements(body)
    # In most functions each call may return, and no block needs to be looked at.
    for node in (None, *nodes) if any(never_passed(node, scope, depth) for node in nodes) else ():
        blocks = [body] if node is None else [getattr(node, name, []) for name in ("body", "orelse", "finalbody")]
        for block in blocks:
            for index, statement in enumerate(block[:-1]):
                if leaves([statement], scope, depth=depth) and not ends([statement]):
                    dead += block[index + 1 :]
                    break
    return {*walk(dead)} if dead else set()


def leaves(body: list[ast.stmt], scope: Scope, *, raising: bool = False, depth: int = 0) -> bool:
    """Whether the code after some statements never runs. `raising`: because they all raise."""
    kinds = ast.Raise if raising else JUMPS
    return ends(body, lambda statement: isinstance(statement, kinds) or never_passed(statement, scope, depth))


def never_passed(statement: ast.AST, scope: Scope, depth: int = 0) -> bool:
    """Whether a statement calls a function that never returns."""
    if type(statement) not in CALLING:
        return False
    value: ast.expr | None = statement.value  # type: ignore[attr-defined]
    call = value.value if isinstance(value, ast.Await) else value
    if not isinstance(call, ast.Call) or depth > _MAX_DEPTH:
        return False
    return _never_returns(call, scope, depth, awaited=call is not value)


def _never_returns(call: ast.Call, scope: Scope, depth: int, *, awaited: bool) -> bool:
    func = call.func
    if not isinstance(func, (ast.Name, ast.Attribute)) or last_name(func) in _RETURNING:
        return False
    definitions: list[ast.AST | None] = []
    owner = func.value if isinstance(func, ast.Attribute) else None
    kinds = Inference(class_round(scope)).of(owner, scope) if isinstance(owner, ast.Name) else []
    if kinds and all(isinstance(kind, Outside) and kind.name.startswith("builtins.") for kind in kinds):
        return False  # the methods of builtins return; to evaluate them would cost more
    for value in options(evaluate(func, scope)):
        if isinstance(value, Symbol):
            if value.definition is None and value.name not in _OUTSIDE:
                return False
            definitions += _with_overloads(value.definition, scope)
    if not definitions and isinstance(func, ast.Attribute):
        definitions += _methods(func, scope)
    functions = [node for node in definitions if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    if len(functions) != len(definitions) or any(
        isinstance(node, ast.AsyncFunctionDef) > awaited for node in functions
    ):
        # Without `await`, an async function only makes a coroutine. `sys.exit` and its like have no definition here.
        return bool(definitions) and not any(definitions)
    overloads = [node for node in functions if "overload" in map(last_name, node.decorator_list)]
    if overloads:
        # The first overload that accepts the call decides, unless the function raises in any case.
        chosen = next((node for node in overloads if _accepts(node, call, scope)), None)
        home = scope.module.project.module_defining(chosen) if chosen is not None else None
        if chosen is not None and home is not None and _never_declared(chosen, home.scope):
            return True
        functions = [node for node in functions if node not in overloads]
    return bool(functions) and all(_always_raises(node, scope, depth + 1) for node in functions)


def _with_overloads(definition: ast.AST | None, scope: Scope) -> list[ast.AST | None]:
    """A definition, with the overloads of a function at the top of a file."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    owner = scope.module.project.module_defining(definition) if isinstance(definition, functions) else None
    name = getattr(definition, "name", "")
    body = owner.tree.body if owner is not None and owner.source.has("overload") else ()
    same = [node for node in body if isinstance(node, functions) and node.name == name]
    return [*same] if definition in same else [definition]


def _methods(func: ast.Attribute, scope: Scope) -> Iterator[ast.AST | None]:
    """The definitions of a method, with its overloads."""
    for kind in Inference(class_round(scope)).of(func.value, scope):
        method = method_of(kind.info, func.attr) if isinstance(kind, (Instance, ClassObject)) else None
        if method is None or is_abstract(*method):
            # A node that is no function, so that the call counts as one that may return.
            yield from (ast.Pass(),)
        else:
            yield from (binding.node for binding in method[1].attributes[func.attr])


def _always_raises(node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope, depth: int) -> bool:
    """Whether no path through a function of the project leads to its end or to a `return`."""
    module = scope.module.project.module_defining(node)
    if module is None:
        return False
    # The result depends on the depth, so the depth is part of the key: callers must not depend on their order.
    return module.once(
        ("always raises", node, depth),
        lambda: _never_declared(node, module.scope) or _raises_on_all_paths(node, module, depth),
        False,  # noqa: FBT003 - for a function that calls itself
    )


def _raises_on_all_paths(node: ast.FunctionDef | ast.AsyncFunctionDef, module: Module, depth: int) -> bool:
    scope = module.scope_of(node)
    if not leaves(node.body, scope, depth=depth):
        return False
    inner = own_nodes(node)
    # The call of a generator function only makes the generator.
    if any(isinstance(part, (ast.Yield, ast.YieldFrom)) for part in inner):
        return False
    returns = [part for part in inner if isinstance(part, ast.Return) and not never_passed(part, scope, depth)]
    return not returns or {*returns} <= unreachable(node.body, scope, depth)


def _never_declared(node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> bool:
    symbol = Resolver().annotation_symbol(node.returns, scope)
    return symbol is not None and symbol.name in _NEVER


def _accepts(node: ast.FunctionDef | ast.AsyncFunctionDef, call: ast.Call, scope: Scope) -> bool:
    """Whether an overload certainly accepts a call: its `Literal` and `None` parameters get just such values."""
    args = node.args
    positional = [*args.posonlyargs, *args.args]
    if positional and positional[0].arg in {"self", "cls"}:
        positional = positional[1:]
    by_name = {arg.arg: arg for arg in (*positional, *args.kwonlyargs)}
    passed = {arg.arg: value for arg, value in zip(positional, call.args, strict=False)}
    passed |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}
    if (
        len(call.args) > len(positional)
        or not by_name.keys() - defaults_of(args).keys() <= passed.keys() <= by_name.keys()
    ):
        return False
    return all(_fits(by_name[name].annotation, value, scope) for name, value in passed.items())


def _fits(annotation: ast.expr | None, argument: ast.expr, scope: Scope) -> bool:
    """Whether an argument has a literal type: `Literal[True]`, `None`. All other types are taken to fit."""
    node, value = unquote(annotation), evaluate(argument, scope)
    literal = node.slice if isinstance(node, ast.Subscript) and last_name(node) == "Literal" else node
    if literal is node and not isinstance(node, ast.Constant):
        return True
    allowed = literal.elts if isinstance(literal, ast.Tuple) else [literal]
    # Compared as they are written, since `True == 1`.
    return isinstance(value, Const) and repr(value.value) in [ast.unparse(part) for part in allowed if part is not None]
