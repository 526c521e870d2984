"""Walking syntax trees quickly: the children that matter, in source order, without recursion."""

import ast
from collections.abc import Iterator, Mapping
from typing import Any, Final

from mcpcore_lint.model import FunctionNode

FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
Function = ast.FunctionDef | ast.AsyncFunctionDef
_LEAVES: Final = (
    ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop, ast.alias, ast.type_ignore,
)  # fmt: skip
_PLAIN: Final = frozenset(
    {"ctx", "op", "ops", "id", "attr", "name", "n", "s", "kind", "type_comment", "conversion", "level", "module",
     "names",
     "is_async", "simple", "type_ignores", "rest", "kwd_attrs", "cls_name"}
)  # fmt: skip


def _fields(kind: type[ast.AST]) -> tuple[str, ...]:
    if issubclass(kind, _LEAVES):
        return ()
    names = [name for name in kind._fields if name not in _PLAIN]
    if issubclass(kind, (ast.Constant, ast.MatchSingleton)):
        return ()
    if issubclass(kind, (ast.arg, ast.keyword)):
        names = [name for name in names if name != "arg"]
    if kind.__name__ == "TypeAlias":
        # Other nodes have a text as their `name`.
        names.insert(0, "name")
    return tuple(names)


def _all_kinds(kind: type[ast.AST]) -> list[type[ast.AST]]:
    return [kind, *(cls for sub in kind.__subclasses__() for cls in _all_kinds(sub))]


FIELDS: Final[dict[type[ast.AST], tuple[str, ...]]] = {kind: _fields(kind) for kind in _all_kinds(ast.AST)}
"""For each kind of node, the fields that hold further nodes. Contexts, operators and import names are left out."""

SCOPES: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
# `FIELDS`, the last first, and the same without what is in functions and classes.
BACKWARD: Final = {kind: names[::-1] for kind, names in FIELDS.items()}
SHALLOW: Final = {kind: () if issubclass(kind, SCOPES) else names for kind, names in BACKWARD.items()}
BODIES: Final = ("body", "handlers", "orelse", "finalbody", "cases")
"""The fields that hold statements, clauses and cases, in source order."""
BLOCKS: Final[dict[type[ast.AST], tuple[str, ...]]] = {
    kind: blocks
    for kind in FIELDS
    if issubclass(kind, (ast.stmt, ast.excepthandler, ast.match_case))
    and kind not in SCOPES
    and (blocks := tuple(name for name in reversed(BODIES) if name in kind._fields))
}
"""Those of each kind of statement and clause that is no scope, the last first."""
_ENCLOSING: Final = frozenset({*SCOPES, ast.Try, ast.TryStar, ast.ExceptHandler, ast.With, ast.AsyncWith})


class Enclosing:
    """Finds the `try`, `with`, `except` and scopes around the nodes of a tree.

    It remembers the nearest of each node: a chain of 1,000 `elif` has 1,000 levels, and each raise in it asks.
    """

    def __init__(self, parents: Mapping[ast.AST, ast.AST]) -> None:
        self._parents = parents
        self._nearest: dict[ast.AST, tuple[ast.AST, ast.AST] | None] = {}

    def of(self, node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
        """The blocks around a node, the innermost first, each with the node right below it."""
        while (pair := self._nearest_of(node)) is not None:
            yield pair
            node = pair[0]

    def _nearest_of(self, node: ast.AST) -> tuple[ast.AST, ast.AST] | None:
        passed: list[ast.AST] = []
        while node not in self._nearest:
            passed.append(node)
            parent = self._parents.get(node)
            if parent is None or type(parent) in _ENCLOSING:
                self._nearest[node] = None if parent is None else (parent, node)
            else:
                node = parent
        pair = self._nearest[node]
        self._nearest.update(dict.fromkeys(passed, pair))
        return pair


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes right below a node."""
    nodes: list[Any] = []
    for name in FIELDS[type(node)]:
        value = getattr(node, name, None)
        if type(value) is list:
            nodes += value
        elif value is not None:
            nodes.append(value)
    # A dict has None in place of the key of `**other`; `kw_defaults` has None for each that is required.
    return nodes if None not in nodes else [child for child in nodes if child is not None]


def walk(roots: list[ast.AST]) -> list[ast.AST]:
    """Every node of some trees, each before what is below it, in source order."""
    return _walk(roots, BACKWARD)


def mentions(node: ast.AST, name: str) -> bool:
    """Whether an expression or a statement contains a name."""
    return any(isinstance(part, ast.Name) and part.id == name for part in walk([node]))


def body_of(node: FunctionNode) -> list[ast.AST]:
    """The statements of a function, or the expression of a lambda."""
    return [*node.body] if isinstance(node.body, list) else [node.body]


def own_nodes(node: FunctionNode) -> list[ast.AST]:
    """Every node of a function's body in source order, without what is in functions and classes nested in it.

    The nested `def`, `lambda` and `class` nodes themselves are in it. The list is kept, since many readers ask for it.
    """
    known: list[ast.AST] | None = vars(node).get("own_nodes")
    if known is None:
        known = vars(node)["own_nodes"] = walk_shallow(body_of(node))
    return known


def own_statements(node: FunctionNode) -> list[ast.AST]:
    """The statements among `own_nodes`, with clauses and cases. Most nodes are expressions, which cost most."""
    return statements(node.body) if isinstance(node.body, list) else []


def returned(node: FunctionNode) -> list[ast.expr]:
    """The expressions that a function returns."""
    returns = (part for part in own_statements(node) if type(part) is ast.Return)
    return [statement.value for statement in returns if statement.value is not None]


def argument_of(call: ast.Call, name: str, place: int | None) -> ast.expr | None:
    """The argument of a call by the name of its parameter, or by its place among those without a name."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    return call.args[place] if place is not None and place < len(call.args) else None


def walk_shallow(roots: list[ast.AST]) -> list[ast.AST]:
    """Every node of some statements, without what is in functions and classes nested in them."""
    return _walk(roots, SHALLOW)


def _walk(roots: list[ast.AST], backward: Mapping[type[ast.AST], tuple[str, ...]]) -> list[ast.AST]:
    nodes: list[ast.AST] = []
    stack: list[Any] = roots[::-1]
    while stack:
        node = stack.pop()
        if node is None:
            continue
        nodes.append(node)
        for name in backward[type(node)]:
            value = getattr(node, name, None)
            if type(value) is list:
                stack += value[::-1]
            else:
                stack.append(value)
    return nodes


def statements(roots: list[ast.stmt]) -> list[ast.AST]:
    """Every statement, clause and case of some statements, without looking into expressions, functions and classes."""
    nodes: list[ast.AST] = []
    stack: list[ast.AST] = [*reversed(roots)]
    while stack:
        node = stack.pop()
        nodes.append(node)
        for name in BLOCKS.get(type(node), ()):
            stack.extend(reversed(getattr(node, name)))
    return nodes


def alternatives(node: ast.IfExp | ast.BoolOp) -> list[ast.expr]:
    """The alternatives of a conditional expression."""
    return [node.body, node.orelse] if isinstance(node, ast.IfExp) else node.values


def defaults_of(args: ast.arguments) -> dict[str, ast.expr]:
    """The defaults of the parameters that have one."""
    positional = [*args.posonlyargs, *args.args]
    named = [
        *zip(reversed(positional), reversed(args.defaults), strict=False),
        *zip(args.kwonlyargs, args.kw_defaults, strict=True),
    ]
    return {parameter.arg: default for parameter, default in named if default is not None}


def all_parameters(args: ast.arguments) -> list[ast.arg]:
    """The parameters of a function in the order written."""
    parameters = [*args.posonlyargs, *args.args]
    if args.vararg:
        parameters.append(args.vararg)
    parameters.extend(args.kwonlyargs)
    if args.kwarg:
        parameters.append(args.kwarg)
    return parameters
