"""What a value of a contract certainly is or is not."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.model import CallValue, CodeValue, Const, Items, Mapping, Symbol, Text
from mcpcore_lint.names import FACTORIES
from mcpcore_lint.patterns import regex

if TYPE_CHECKING:
    from mcpcore_lint.model import Value
    from mcpcore_lint.rule import RuleContext

FAILURE_MODE: Final = "mcpcore.FailureMode"
STRING: Final = frozenset({"builtins.str"})
NOT_ENTRIES: Final = frozenset(
    {
        "mcpcore.CodedError",
        "mcpcore.Contract",
        "mcpcore.ErrorCode",
        "mcpcore.Retry",
        "mcpcore.Retry.after",
        "mcpcore.Retry.never",
        "mcpcore.Retry.now",
        *(f"mcpcore.{name}" for name in FACTORIES),
    }
)
"""Names of mcpcore that make something other than a failure mode."""

_BUILTIN_TYPES: Final = frozenset(
    f"builtins.{kind.__name__}"
    for kind in (bool, bytes, complex, dict, float, frozenset, int, list, object, set, str, tuple)
)
_PLACEHOLDER: Final = regex(
    # "Todo items cannot be listed." is a sentence, "todo: ..." is a placeholder.
    r"\W*(?:(?:TODO|FIXME|XXX|TBD)\b"
    r"|(?i:todo|fixme|xxx|tbd|to be (?:written|done|filled in))\s*(?:[-:.,(\u2013\u2014]|\Z))"
)


def certainly_not(value: Value, classes: frozenset[str], ctx: RuleContext) -> bool:
    """Whether a value is certainly no instance of the named classes."""
    if isinstance(value, (Const, Text, Items, Mapping, CodeValue)):
        return True
    if isinstance(value, Symbol):
        # A class or a function is no instance. A name of another package may be anything.
        return (
            value.definition is not None
            or value.name in {*NOT_ENTRIES, *classes, FAILURE_MODE}
            or value.name.startswith("builtins.")
        )
    if not isinstance(value, CallValue) or value.func.name in classes:
        return False
    if value.func.name in _BUILTIN_TYPES | NOT_ENTRIES | {FAILURE_MODE}:
        return True
    if isinstance(value.func.definition, ast.ClassDef):
        bases, complete = ctx.hierarchy.ancestors(value.func.name, value.func)
        return complete and not bases & classes
    return False


def is_string(value: Value) -> bool:
    """Whether a value certainly is a string."""
    return isinstance(value, Text) or (isinstance(value, Const) and isinstance(value.value, str))


def not_a_string(value: Value, ctx: RuleContext) -> bool:
    """Whether a value certainly is no string."""
    return not is_string(value) and certainly_not(value, STRING, ctx)


def is_blank(value: Value) -> bool:
    """Whether a value is an empty string, or one of spaces only."""
    return isinstance(value, Const) and isinstance(value.value, str) and not value.value.strip()


def is_placeholder(value: Value) -> bool:
    """Whether a value is a text that starts with "TODO" or the like."""
    text = value.parts[0] if isinstance(value, Text) and value.parts else getattr(value, "value", None)
    return isinstance(text, str) and _PLACEHOLDER.match(text) is not None
