"""Indexes the nodes of a function by type, with the parent and the function of each."""

import ast
from typing import Any, Final

from mcpcore_lint.dataclasses import cached_property
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.parse import FIELDS, Enclosing, body_of, children
from mcpcore_lint.engine.syntax.scopes import Scope, bind_statement
from mcpcore_lint.model import FunctionNode
from mcpcore_lint.names import PLAIN_BUILTINS

_SCOPES: Final = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.comprehension})
_INSIDE: Final = {**FIELDS, ast.arguments: tuple(name for name in FIELDS[ast.arguments] if "default" not in name)}
"""`FIELDS` without the defaults of parameters, which run outside the nested function."""
_NOTED: Final = (ast.Call, ast.Attribute, ast.Raise, ast.Return, ast.ExceptHandler, ast.With, ast.Assert)
LEAVES: Final = frozenset({kind for kind, names in FIELDS.items() if not names})
"""The classes of nodes that never have children."""


class BodyNodes:
    """The nodes of one function, including its nested functions."""

    def __init__(self, node: FunctionNode, module: Module) -> None:
        self.node = node
        self.module = module
        self.scope = module.scope_of(node)
        self.parents: dict[ast.AST, ast.AST] = {}
        self.enclosing = Enclosing(self.parents)
        self.function_of: dict[ast.AST, FunctionNode] = {}
        """The nested function of each node that is inside one."""
        self.nodes: list[ast.AST] = []
        """All nodes, parents before children. Among siblings, nodes without children come first."""
        self._index()
        self.builtins = self._unshadowed()
        """The builtins that this function can call by name; its nested functions may shadow more."""

    def _index(self) -> None:
        """Record the parent and the function of every node, and collect the types that the readers need."""
        module = self.module
        parents = self.parents
        function_of = self.function_of
        by_kind: dict[type, list[Any]] = {kind: [] for kind in _NOTED}
        by_kind[ast.AsyncWith] = by_kind[ast.With]
        self.by_kind = by_kind
        """The nodes of each class, without `LEAVES`."""
        self.calls: list[ast.Call] = by_kind[ast.Call]
        self.attributes: list[ast.Attribute] = by_kind[ast.Attribute]
        self.raises: list[ast.Raise] = by_kind[ast.Raise]
        self.returns: list[ast.Return] = by_kind[ast.Return]
        self.clauses: list[ast.ExceptHandler] = by_kind[ast.ExceptHandler]
        self.withs: list[ast.With | ast.AsyncWith] = by_kind[ast.With]
        self.asserts: list[ast.Assert] = by_kind[ast.Assert]
        nodes = self.nodes
        body = body_of(self.node)
        for statement in body:
            parents[statement] = self.node
        functions: list[tuple[list[ast.AST], FunctionNode]] = [(body[::-1], self.node)]
        fields, leaves = _INSIDE, LEAVES
        while functions:
            stack, function = functions.pop()
            first = len(nodes)
            while stack:
                node = stack.pop()
                nodes.append(node)
                kind = type(node)
                if kind in by_kind:
                    by_kind[kind].append(node)
                else:
                    by_kind[kind] = [node]
                if kind in _SCOPES:
                    if kind is not ast.comprehension:
                        # Read the nested function first, then continue with the rest of this one.
                        functions.append((stack, function))
                        functions.append((self._nested(node, function, stack), node))  # type: ignore[arg-type]
                        break
                    # The variables of a comprehension are treated as variables of the function.
                    scope = module.functions[function]
                    bind_statement(node, scope.bindings, scope)
                    # The expressions were evaluated without these variables.
                    scope.values = {key: value for key, value in scope.values.items() if not isinstance(key, ast.AST)}
                # An inlined `children`, because most of the time of a run is spent here. Half of all nodes have no
                # children and need not go through the stack.
                below = []
                for name in fields[kind]:
                    value = getattr(node, name, None)
                    if type(value) is list:
                        for child in value:
                            if child is not None:
                                parents[child] = node
                                if type(child) in leaves:
                                    nodes.append(child)
                                else:
                                    below.append(child)
                    elif value is not None:
                        parents[value] = node
                        if type(value) in leaves:
                            nodes.append(value)
                        else:
                            below.append(value)
                if below:
                    below.reverse()
                    stack += below
            if function is not self.node:
                function_of.update(dict.fromkeys(nodes[first:], function))

    def _nested(self, node: Any, function: FunctionNode, outside: list[ast.AST]) -> list[ast.AST]:
        """Return the nodes of a nested function, last first. Decorators and defaults go to `outside` instead."""
        if type(node) is ast.Lambda:
            self.module.note_lambda(node, self.module.functions[function])
        below = children(node)
        self.parents.update(dict.fromkeys(below, node))
        early = _run_on_definition(node)
        if early:
            below = [child for child in below if child not in early]
            self.parents.update(dict.fromkeys(early, node))
            outside += early[::-1]
        return below[::-1]

    def scope_at(self, node: ast.AST) -> Scope:
        """Return the scope of the function that a node is in."""
        nested = self.function_of
        return self.module.scope_of(nested[node]) if nested and node in nested else self.scope

    def _unshadowed(self) -> frozenset[str]:
        scope: Scope | None = self.scope
        while scope is not None:
            if not PLAIN_BUILTINS.isdisjoint(scope.bindings):
                return PLAIN_BUILTINS - {name for name in PLAIN_BUILTINS if self.scope.lookup(name) is not None}
            scope = scope.parent
        return PLAIN_BUILTINS

    @cached_property
    def loads(self) -> dict[str, list[ast.Name]]:
        """The nodes that read each name."""
        uses: dict[str, list[ast.Name]] = {}
        for node in self.parents:
            if type(node) is ast.Name and type(node.ctx) is ast.Load:
                uses.setdefault(node.id, []).append(node)
        return uses


def _run_on_definition(node: FunctionNode) -> list[ast.AST]:
    """Return the nodes that run when a nested function is defined: its decorators and defaults."""
    args = node.args
    nodes: list[ast.AST] = [] if type(node) is ast.Lambda else [*node.decorator_list]  # type: ignore[union-attr]
    if args.defaults or args.kw_defaults:
        nodes.extend(args.defaults)
        nodes.extend(default for default in args.kw_defaults if default is not None)
    return nodes
