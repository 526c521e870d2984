"""The code and the reason that a subclass of `CodedError` passes to its base class."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.model import CallValue, Items, Mapping, Missing, Symbol, Unknown, Value, is_left_out
from mcpcore_lint.semantics.evaluate import Resolver
from mcpcore_lint.semantics.type_model import ancestry, outside_bases
from mcpcore_lint.syntax.parse import own_nodes

if TYPE_CHECKING:
    from mcpcore_lint.syntax.module import ClassInfo, Module

CODED_ERROR: Final = "mcpcore.CodedError"
_HARMLESS: Final = frozenset({CODED_ERROR, "abc.ABC", "typing.Generic", "builtins.object", "builtins.Exception"})
"""Base classes outside the project whose constructors do not change the code and the reason."""


def coded_call(value: CallValue, info: ClassInfo) -> CallValue | None:
    """The call of `CodedError.__init__` when an error of the class is created; None if it is unknown.

    Only a class whose own constructor calls `super().__init__(...)` once is followed. Its parameters are unknown.

    Args:
        value: The call that creates the error.
        info: Its class.
    """
    order = list(ancestry(info))
    if any(name not in _HARMLESS for name in outside_bases(info)) or any("__new__" in cls.attributes for cls in order):
        return None
    makers = [cls for cls in order if "__init__" in cls.attributes]
    if not makers:
        return value
    if len(makers) > 1 or "__init__" not in makers[0].methods:
        return None
    scope = makers[0].module.scope_of(makers[0].methods["__init__"])
    nodes = own_nodes(makers[0].methods["__init__"])
    calls = [node for node in nodes if isinstance(node, ast.Call) and ast.unparse(node.func) == "super().__init__"]
    if len(calls) != 1:
        return None
    args, keywords, complete = Resolver().arguments(calls[0], scope)
    return CallValue(calls[0], scope.module, Symbol(None, None, CODED_ERROR), tuple(args), tuple(keywords), complete)


def sets_itself(info: ClassInfo, name: str) -> bool:
    """Whether a class of the project sets an attribute of the error itself, or computes it."""
    return any(
        name in cls.instance_attributes or any(binding.kind == "function" for binding in cls.attributes.get(name, ()))
        for cls in ancestry(info)
    )


def reason_of(reason: Value, data: Value, node: ast.AST, module: Module) -> Value:
    """The reason of a `CodedError`: its `reason` argument, or `data["reason"]`."""
    if is_left_out(reason) and not is_left_out(data) and not isinstance(data, Items):
        inner = data.get("reason") if isinstance(data, Mapping) else None
        known = isinstance(data, Mapping) and data.complete
        reason = inner or (Missing(node, module) if known else Unknown(node, module, "it may be in the data"))
    return Missing(node, module) if is_left_out(reason) else reason
