"""What a value certainly is not: a failure mode, a code, a string."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.model import (
    CallValue,
    CodeValue,
    Const,
    Items,
    Mapping,
    Symbol,
    Text,
)
from mcpcore_lint.names import FACTORIES

if TYPE_CHECKING:
    from mcpcore_lint.model import Value
    from mcpcore_lint.rules.base import RuleContext


FAILURE_MODE: Final = "mcpcore.FailureMode"


NOT_ENTRIES: Final = frozenset(
    {
        "mcpcore.CodedError",
        "mcpcore.Contract",
        "mcpcore.ErrorCode",
        "mcpcore.Retry",
        "mcpcore.Retry.after",
        "mcpcore.Retry.never",
        "mcpcore.Retry.now",
        *(f"mcpcore.{each}" for each in FACTORIES),
    }
)
"""What mcpcore has that makes something other than a failure mode."""


_PLAIN_TYPES: Final = frozenset(
    f"builtins.{each}"
    for each in (
        "bool",
        "bytes",
        "complex",
        "dict",
        "float",
        "frozenset",
        "int",
        "list",
        "object",
        "set",
        "str",
        "tuple",
    )
)


def certainly_not(value: Value, wanted: frozenset[str], ctx: RuleContext) -> bool:
    """Whether a value is for certain no instance of the classes `wanted`."""
    if isinstance(value, (Const, Text, Items, Mapping, CodeValue)):
        return True
    if isinstance(value, Symbol):
        # A class or a function is not an instance; a name of another package may be anything.
        if value.definition is not None:
            return True
        return value.name in wanted | _PLAIN_TYPES | NOT_ENTRIES or value.name.startswith("builtins.")
    if isinstance(value, CallValue):
        name = value.func.name
        if name in wanted:
            return False
        if name in _PLAIN_TYPES or name in NOT_ENTRIES or name == FAILURE_MODE or name.startswith("mcpcore.Retry."):
            return True
        if isinstance(value.func.definition, ast.ClassDef) and not _makes_others(value.func, ctx):
            above, complete = ctx.hierarchy.ancestors(name, value.func)
            return complete and not above & wanted
    return False


def _makes_others(symbol: Symbol, ctx: RuleContext) -> bool:
    """Whether a class may give instances of another one: it has a `__new__` or a metaclass of its own."""
    definition = symbol.definition
    if not isinstance(definition, ast.ClassDef):
        return True
    info = ctx.project.class_info(definition)
    return info is None or "__new__" in info.methods or bool(definition.keywords)
