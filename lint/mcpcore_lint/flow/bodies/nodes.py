"""The nodes of a function's body, by kind, with the function that each of them is in."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Final

from mcpcore_lint.dataclasses import cached_property
from mcpcore_lint.semantics.evaluate import PLAIN_BUILTINS
from mcpcore_lint.syntax.parse import FIELDS, body_of, children
from mcpcore_lint.syntax.scopes import bind_statement

if TYPE_CHECKING:
    from mcpcore_lint.model import FunctionNode
    from mcpcore_lint.syntax.module import Module
    from mcpcore_lint.syntax.scopes import Scope


_SCOPES: Final = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.comprehension})
_INSIDE: Final = {**FIELDS, ast.arguments: tuple(each for each in FIELDS[ast.arguments] if "default" not in each)}
"""As `FIELDS`; the defaults of a nested function are run outside it."""
_LEAVES: Final = frozenset({kind for kind, names in FIELDS.items() if not names})


class BodyNodes:
    """The body of one function, nested functions included."""

    def __init__(self, node: FunctionNode, module: Module) -> None:
        self.node = node
        self.module = module
        self.scope = module.scope_of(node)
        self.parents: dict[ast.AST, ast.AST] = {}
        self.function_of: dict[ast.AST, FunctionNode] = {}
        """For what stands in a nested function, which."""
        self.nodes: list[ast.AST] = []
        """All that is in the body, each after what it is in, names and constants first of what stands side by side."""
        self._index()
        self.builtins = self._unshadowed()
        """The builtins that this function can call by name; its nested functions may shadow more."""

    def _index(self) -> None:
        """Note every node's parent, which nodes are in a nested function, and those that matter by their kind."""
        module = self.module
        parents = self.parents
        function_of = self.function_of
        self.calls: list[ast.Call] = []
        self.attributes: list[ast.Attribute] = []
        self.raises: list[ast.Raise] = []
        self.returns: list[ast.Return] = []
        self.clauses: list[ast.ExceptHandler] = []
        self.withs: list[ast.With | ast.AsyncWith] = []
        self.asserts: list[ast.Assert] = []
        noted: dict[type, list[Any]] = {
            ast.Call: self.calls,
            ast.Attribute: self.attributes,
            ast.Raise: self.raises,
            ast.Return: self.returns,
            ast.ExceptHandler: self.clauses,
            ast.With: self.withs,
            ast.AsyncWith: self.withs,
            ast.Assert: self.asserts,
        }
        nodes = self.nodes
        body = body_of(self.node)
        for each in body:
            parents[each] = self.node
        functions: list[tuple[list[ast.AST], FunctionNode]] = [(body[::-1], self.node)]
        fields, leaves = _INSIDE, _LEAVES
        while functions:
            stack, function = functions.pop()
            first = len(nodes)
            while stack:
                each = stack.pop()
                nodes.append(each)
                kind = type(each)
                found = noted.get(kind)
                if found is not None:
                    found.append(each)
                if kind in _SCOPES:
                    if kind is not ast.comprehension:
                        # What is nested belongs to the nested function; the rest of this one follows after it.
                        functions.append((stack, function))
                        functions.append((self._nested(each, function, stack), each))  # type: ignore[arg-type]
                        break
                    # Its variables are those of a scope of its own; here they are the function's.
                    bind_statement(each, module.functions[function].bindings, module.functions[function])
                # As `children` does; written out, since this is where most of the time of a run is spent. What has
                # nothing below it, as half of all nodes, is done with at once.
                below = []
                for name in fields[kind]:
                    value = getattr(each, name, None)
                    if value is None:
                        continue
                    if type(value) is list:
                        for child in value:
                            if child is not None:
                                parents[child] = each
                                if type(child) in leaves:
                                    nodes.append(child)
                                else:
                                    below.append(child)
                    else:
                        parents[value] = each
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
        """What belongs to a nested function, the last first; what is run where it is made goes to what is outside."""
        if type(node) is ast.Lambda:
            self.module.note_lambda(node, self.module.functions[function])
        below = children(node)
        self.parents.update(dict.fromkeys(below, node))
        early = _run_at_once(node)
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
                return PLAIN_BUILTINS - {each for each in PLAIN_BUILTINS if self.scope.lookup(each) is not None}
            scope = scope.parent
        return PLAIN_BUILTINS

    @cached_property
    def loads(self) -> dict[str, list[ast.Name]]:
        """Where each name is read."""
        found: dict[str, list[ast.Name]] = {}
        for each in self.parents:
            if type(each) is ast.Name and type(each.ctx) is ast.Load:
                found.setdefault(each.id, []).append(each)
        return found

    def forget(self) -> None:
        """Drop the references to the syntax tree."""
        self.__dict__.pop("loads", None)
        self.parents.clear()
        self.function_of.clear()
        self.nodes.clear()


def _run_at_once(node: FunctionNode) -> list[ast.AST]:
    """What is run where a nested function is made, not where it is called: its decorators and its defaults."""
    args = node.args
    found: list[ast.AST] = [] if type(node) is ast.Lambda else [*node.decorator_list]  # type: ignore[union-attr]
    if args.defaults or args.kw_defaults:
        found.extend(args.defaults)
        found.extend(each for each in args.kw_defaults if each is not None)
    return found
