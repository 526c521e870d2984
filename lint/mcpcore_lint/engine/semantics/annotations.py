"""Reads annotations: the types that an annotation names, the target of an alias, the strings of a `Literal`."""

import ast
from abc import ABC, abstractmethod
from typing import Final, NamedTuple

from mcpcore_lint.engine.syntax.scopes import Scope
from mcpcore_lint.model import CallValue, Symbol, Value, string

MAX_DEPTH: Final = 40
"""The maximum depth of names, calls and operators to follow in an expression."""
_WRAPPERS: Final = frozenset(
    {"typing.Annotated", "typing.Final", "typing.ClassVar", "typing.Awaitable", "typing.Required",
     "collections.abc.Awaitable", "typing.NotRequired", "typing.ReadOnly", "contextlib.AbstractContextManager",
     "contextlib.AbstractAsyncContextManager", "typing.ContextManager", "typing.AsyncContextManager"}
)  # fmt: skip
"""Generic types that only wrap their first argument."""
_COROUTINES: Final = frozenset({"typing.Coroutine", "collections.abc.Coroutine"})


NONE: Final = "builtins.None"
"""The name of the type of the constant None."""


class NamedType(NamedTuple):
    """A type that an annotation names, with its arguments in brackets and the scope to read those in."""

    symbol: Symbol | None
    """None if it cannot be resolved."""
    arguments: list[ast.expr]
    scope: Scope
    wrappers: tuple[str, ...] = ()
    """The generic types round it, such as `typing.Required`, the outermost first."""
    metadata: tuple[tuple[ast.expr, Scope], ...] = ()
    """What `Annotated` adds, with the scope to read it in."""

    @property
    def name(self) -> str:
        """Its qualified name; empty if it cannot be resolved."""
        return self.symbol.name if self.symbol is not None else ""


class AnnotationReader(ABC):
    """Reads annotations. The subclass evaluates plain expressions."""

    depth: int

    @abstractmethod
    def expression(self, node: ast.expr, scope: Scope) -> Value:
        """The value of an expression."""

    def annotation_symbol(self, node: ast.expr | None, scope: Scope) -> Symbol | None:
        """The only class that an annotation names, apart from None."""
        symbols = [named.symbol for named in self.named_types(node, scope) if named.name != NONE]
        return symbols[0] if len(symbols) == 1 else None

    def named_types(self, node: ast.expr | None, scope: Scope) -> list[NamedType]:
        """The types that an annotation names. Follows unions, Optional, Annotated and the like, aliases and quotes."""
        unquoted = unquote(node)
        if unquoted is None:
            return []
        self.depth += 1
        try:
            return self._named_types(unquoted, scope) if self.depth <= MAX_DEPTH else [NamedType(None, [], scope)]
        finally:
            self.depth -= 1

    def _named_types(self, node: ast.expr, scope: Scope) -> list[NamedType]:
        if isinstance(node, ast.Constant) and node.value is None:
            return [NamedType(Symbol(node, scope.module, NONE), [], scope)]
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return [*self.named_types(node.left, scope), *self.named_types(node.right, scope)]
        arguments: list[ast.expr] = []
        alias = None
        if isinstance(node, ast.Subscript):
            head = self.expression(node.value, scope)
            arguments = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
        else:
            head = self.expression(node, scope)
            alias = self.alias_of(node, scope)
        if alias is not None and (isinstance(alias[0], (ast.Subscript, ast.BinOp)) or not isinstance(head, Symbol)):
            return self.named_types(*alias)
        if isinstance(head, CallValue) and head.func.name == "typing.NewType" and len(head.args) > 1 and head.module:
            return self.named_types(getattr(head.args[1], "node", None), head.module.scope)
        if not isinstance(head, Symbol):
            return [NamedType(None, [], scope)]
        if head.name in {"typing.Union", "typing.Optional"}:
            absent = [ast.copy_location(ast.Constant(None), node)] if head.name == "typing.Optional" else []
            return [named for argument in (*arguments, *absent) for named in self.named_types(argument, scope)]
        if arguments and (head.name in _WRAPPERS or head.name in _COROUTINES):
            # `Coroutine[Any, Any, Result]` names its result last.
            inner = arguments.pop(-1 if head.name in _COROUTINES else 0)
            metadata = [(argument, scope) for argument in arguments]
            return [
                named._replace(wrappers=(head.name, *named.wrappers), metadata=(*metadata, *named.metadata))
                for named in self.named_types(inner, scope)
            ]
        return [NamedType(head, arguments, scope)]

    def alias_of(self, node: ast.expr, scope: Scope) -> tuple[ast.expr, Scope] | None:
        """The expression behind a name with a single binding, with the scope to read it in. Follows imports."""
        match = scope.lookup(node.id) if isinstance(node, ast.Name) else None
        if isinstance(node, ast.Attribute):
            base = self.expression(node.value, scope)
            if isinstance(base, Symbol) and isinstance(base.definition, ast.Module):
                owner = scope.module.project.module_by_name(base.name, base.definition)
                match = owner.scope.lookup(node.attr) if owner is not None else None
        for _ in range(MAX_DEPTH):
            if match is None or len(match[1]) != 1:
                return None
            where, (binding,) = match
            if binding.kind in {"assign", "annotated"} and binding.value is not None:
                return binding.value, where
            if binding.kind != "import" or binding.target is None or binding.target[1] is None:
                return None
            source, name, level = binding.target
            module = where.module.project.module_of(where.module, source, level)
            match = module.scope.lookup(name) if module is not None and name is not None else None
        return None

    def literal_strings(self, node: ast.expr | None, scope: Scope) -> tuple[str, ...] | None:
        """The strings of a `Literal[...]` annotation, or None. Follows aliases, unions and quotes."""
        strings: dict[str, None] = {}
        types = [named for named in self.named_types(node, scope) if named.name != NONE]
        for named in types:
            if named.name != "typing.Literal":
                return None
            for argument in named.arguments:
                text = string(self.expression(argument, named.scope))
                inner = (text,) if text is not None else self.literal_strings(argument, named.scope)
                if inner is None:
                    return None
                strings.update(dict.fromkeys(inner))
        return tuple(strings) if types else None


def unquote(node: ast.expr | None) -> ast.expr | None:
    """An annotation without its quotes; None if the string is not an expression."""
    for _ in range(3):
        if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            break
        try:
            inner = ast.parse(node.value.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        for part in ast.walk(inner):
            if hasattr(part, "lineno"):
                # The parser counts from the beginning of the string, so each part gets the place of the whole string.
                ast.copy_location(part, node)
        node = inner
    return node


def too_long(node: ast.expr) -> bool:
    """Whether a chain of attributes is longer than can be followed: this is known without following each of them."""
    for _ in range(MAX_DEPTH):
        if type(node) is not ast.Attribute:
            return False
        node = node.value
    return True
