"""details-not-json: `data` holds a value that JSON cannot represent."""

from __future__ import annotations

import ast
import math
from typing import TYPE_CHECKING, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import CallValue, Const, Items, Mapping, Symbol, Value, options
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._bodies import Body, body_of, inside

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore_lint.model import Handler, ToolDef

_BY_SYNTAX: Final[dict[type, str]] = {
    ast.SetComp: "a set",
    ast.GeneratorExp: "a generator",
    ast.Lambda: "a function",
}
_BY_CALL: Final[dict[str, str]] = {
    "builtins.set": "a set",
    "builtins.frozenset": "a frozenset",
    "builtins.complex": "a complex number",
    "builtins.object": "an object",
    "builtins.open": "an open file",
    "builtins.memoryview": "a memoryview",
    **{f"builtins.{name}": "an iterator" for name in ("iter", "map", "filter", "zip", "enumerate", "reversed")},
}
_BY_NAME: Final[dict[str, str]] = {"math.nan": "NaN", "math.inf": "infinity"}
_MAX_DEPTH: Final = 20


class DetailsNotJson(Rule):
    """`data` with a value that JSON cannot represent."""

    id = "details-not-json"
    severity = Severity.WARNING
    family = "handler"
    summary = "the client does not get the value: `data` holds a set, NaN, a function or a key that is not a string"
    why = (
        "The boundary never sends broken JSON. It replaces a value that does not fit by the name of its type, so the "
        "agent does not learn the fact that it needs. Dates, decimals, UUIDs, enums, paths, bytes and models are "
        "converted and cause no finding."
    )
    bad = 'raise ctx.fail("no_match", data={"pmids": {"1", "2"}})'
    good = 'raise ctx.fail("no_match", data={"pmids": ["1", "2"]})'
    how_to_fix = "Use a list, a string or a number instead: `sorted(pmids)`, `str(key)`, `None` for NaN."
    when_to_suppress = "Never for data that is sent. The rule reports only what is certain."

    def check_handler(self, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
        """Report the unfit values in the data of each error."""
        body = body_of(handler)
        for error in handler.errors:
            data = error.data
            if error.form not in {"fail", "factory", "coded", "protocol"} or data.node is None:
                continue
            lines: set[int] = set()
            for description, node in _unfit(data.value, data.node, body):
                place = node if inside(node, [error.node]) else data.node
                line = getattr(place, "lineno", 0)
                if line in lines:
                    continue
                lines.add(line)
                ctx.report(
                    place,
                    f"the client does not get {description} in data: JSON cannot represent it",
                    help="use a list, a string or a number instead",
                    tool=tool,
                    module=handler.module,
                    related=[] if place is node else [ctx.related(node, "the value comes from here", handler.module)],
                )


def _unfit(value: Value, node: ast.AST, body: Body, depth: int = 0) -> Iterator[tuple[str, ast.AST]]:
    """The parts of a value that JSON cannot represent, each with its expression."""
    by_syntax = _unfit_expression(node, body)
    if by_syntax is not None:
        yield by_syntax, node
        return
    for option in options(value) if depth <= _MAX_DEPTH else ():
        at = option.node if option.node is not None and option.node in body.parents else node
        description = _unfit_expression(option.node, body) or _unfit_value(option)
        if description is not None:
            yield description, at
        elif isinstance(option, Items):
            for item in option.items:
                yield from _unfit(item, at, body, depth + 1)
        elif isinstance(option, Mapping):
            for key, item in option.items:
                spelled = _unfit_key(key)
                if spelled is not None:
                    yield f"the key {spelled}", key.node if key.node in body.parents else at
                yield from _unfit(item, at, body, depth + 1)


def _unfit_expression(node: ast.AST | None, body: Body) -> str | None:
    """The kind of an expression whose syntax shows that it does not fit: a generator, a caught exception."""
    if isinstance(node, ast.Name) and body.catches:
        for parent in body.above(node):
            if isinstance(parent, ast.ExceptHandler) and parent.name == node.id:
                return "an exception"
    return _BY_SYNTAX.get(type(node))


def _unfit_value(value: Value) -> str | None:
    """The kind of a value that does not fit by itself."""
    if isinstance(value, Const):
        return _unfit_number(value.value)
    if isinstance(value, Items) and value.kind == "set":
        return "a set"
    if isinstance(value, CallValue):
        if value.func.name == "builtins.float" and value.args and isinstance(value.args[0], Const):
            try:
                return _unfit_number(float(str(value.args[0].value)))
            except ValueError:
                return None
        return _BY_CALL.get(value.func.name)
    return _unfit_symbol(value) if isinstance(value, Symbol) else None


def _unfit_number(number: object) -> str | None:
    if isinstance(number, complex):
        return "a complex number"
    if not isinstance(number, float) or math.isfinite(number):
        return None
    return "NaN" if math.isnan(number) else "infinity"


def _unfit_symbol(symbol: Symbol) -> str | None:
    match symbol.definition:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return "a function"
        case ast.ClassDef():
            return "a class"
    if symbol.name.startswith("builtins."):
        is_class = symbol.name[len("builtins.")].isupper() or symbol.name in _BY_CALL
        return "a class" if is_class else "a function"
    return _BY_NAME.get(symbol.name)


def _unfit_key(key: Value) -> str | None:
    """A key that is not a string, as text."""
    if isinstance(key, Const) and not isinstance(key.value, str):
        return repr(key.value)
    return "that is a tuple" if isinstance(key, Items) and key.kind == "tuple" else None
