"""The texts of a failure mode: strings, blank ones, and placeholders such as "TODO"."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mcpcore_lint.model import CallValue, Const, Symbol, Text
from mcpcore_lint.patterns import holds_any, regex
from mcpcore_lint.rules.contract._values import certainly_not

if TYPE_CHECKING:
    from mcpcore_lint.model import Value
    from mcpcore_lint.rules.base import RuleContext


_STRINGS: Final = frozenset({"builtins.str"})


_PLACEHOLDER: Final = regex(
    # "Todo items cannot be listed." is a sentence; "todo: ..." is none.
    r"\W*(?:(?:TODO|FIXME|XXX|TBD)\b"
    r"|(?i:todo|fixme|xxx|tbd|to be (?:written|done|filled in))\s*(?:[-:.,(\u2013\u2014]|\Z))"
)
"""How a text begins that is still to be written."""


_OF_PLACEHOLDERS: Final = ("todo", "fixme", "xxx", "tbd", "to be ")
"""One of them is in every text of ASCII that it matches."""


def is_text(value: Value) -> bool:
    return isinstance(value, Text) or (isinstance(value, Const) and isinstance(value.value, str))


def no_text(value: Value, ctx: RuleContext) -> bool:
    """Whether a value is no string for certain."""
    if is_text(value) or (isinstance(value, CallValue) and value.func.name == "builtins.str"):
        return False
    if isinstance(value, Symbol) and value.definition is None and not value.name.startswith(("builtins.", "mcpcore.")):
        return False
    return certainly_not(value, _STRINGS, ctx)


def is_blank_text(value: Value) -> bool:
    return isinstance(value, Const) and isinstance(value.value, str) and not value.value.strip()


def unwritten(value: Value) -> bool:
    """Whether a text is a mark that one is still to be written."""
    if isinstance(value, Text):
        return bool(value.parts and value.parts[0] and _is_placeholder(value.parts[0]))
    return isinstance(value, Const) and isinstance(value.value, str) and _is_placeholder(value.value)


def _is_placeholder(text: str) -> bool:
    if text.isascii() and not holds_any(text.lower(), _OF_PLACEHOLDERS):
        return False
    return _PLACEHOLDER.match(text) is not None
