"""Words for messages: the description of a value, a shortened text, the closest known name."""

import ast
from collections.abc import Iterable, Sequence
from typing import Final

from mcpcore_lint.model import CallValue, CodeValue, Const, Items, Mapping, Symbol, Text, Value
from mcpcore_lint.patterns import closest, regex

_PLACEHOLDER: Final = regex(
    # "Todo items cannot be listed." is a sentence, as is "TODO items are listed."; "todo: ..." is a placeholder.
    r"\W*(?:(?:FIXME|XXX|TBD)\b"
    r"|(?i:todo|fixme|xxx|tbd|to be (?:written|done|filled in))\s*(?:[-:.,(\u2013\u2014]|\Z))"
)


def is_placeholder(value: Value) -> bool:
    """Whether a value is `mcpcore.TODO`, or a text that starts with "TODO:" or the like."""
    if isinstance(value, Symbol):
        return value.name == "mcpcore.TODO"
    text = value.parts[0] if isinstance(value, Text) and value.parts else getattr(value, "value", None)
    return isinstance(text, str) and _PLACEHOLDER.match(text) is not None


def described(value: Value) -> str:
    """The description of a value in a message."""
    match value:
        case Const(value=None):
            return "None"
        case Const(value=bool() as flag):
            return f"the bool {flag}"
        case Const(value=str() as text):
            return f"the string {shortened(text)!r}"
        case Const():
            return f"the number {value.value}" if isinstance(value.value, (int, float, complex)) else "a bytes string"
        case Text():
            return "a string"
        case Items():
            return f"a {value.kind}"
        case Mapping():
            return "a dict"
        case CodeValue():
            return f"the code {value.name}"
        case Symbol(definition=ast.FunctionDef() | ast.AsyncFunctionDef()):
            return f"the function {last_name(value)}"
        case Symbol():
            is_class = isinstance(value.definition, ast.ClassDef) or last_name(value)[:1].isupper()
            return f"the {'class' if is_class else 'name'} {last_name(value)}"
        case CallValue():
            name = last_name(value.func)
            if name[:1].islower():
                return f"the result of {name}()"
            return f"{'an' if name[:1] in 'AEIOU' else 'a'} {name}"
        case _:
            return "something else"


def last_name(symbol: Symbol) -> str:
    """The last part of a qualified name."""
    return symbol.name.rpartition(".")[2]


def shortened(text: str, limit: int = 40) -> str:
    """A text that fits into a message."""
    return text if len(text) <= limit else text[: limit - 3] + "..."


def near(name: str, names: Iterable[str]) -> str | None:
    """The known name that a misspelt one probably means, or None."""
    return closest(name, sorted(names))


def clearly_near(text: str, reasons: Sequence[str]) -> str | None:
    """The declared reason that is much more similar to a text than every other one, or None."""
    from difflib import SequenceMatcher

    scored = sorted(((SequenceMatcher(None, text, reason).ratio(), reason) for reason in reasons), reverse=True)
    if not scored or scored[0][0] < 0.8:
        return None
    return scored[0][1] if len(scored) == 1 or scored[0][0] - scored[1][0] >= 0.1 else None
