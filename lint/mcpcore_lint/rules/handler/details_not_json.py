"""details-not-json: `data` holds a value that JSON cannot represent."""

import ast
import math
from collections.abc import Iterator
from typing import Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import CallValue, Const, Handler, Items, Mapping, Symbol, ToolDef, Value, options
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._bodies import Body, body_of, inside

_BY_SYNTAX: Final[dict[type, str]] = {
    ast.SetComp: "a set",
    ast.GeneratorExp: "a generator",
    ast.Lambda: "a function",
}
_BY_CALL: Final[dict[str, str]] = {
    "builtins.set": "a set",
    "builtins.frozenset": "a frozenset",
    "builtins.complex": "a complex number",
    **{f"builtins.{name}": "an iterator" for name in ("iter", "map", "filter", "zip", "enumerate", "reversed")},
}
_BY_NAME: Final[dict[str, str]] = {"math.nan": "NaN", "math.inf": "infinity"}


class DetailsNotJson(Rule):
    """`data` with a value that JSON cannot represent.

    Summary: the client does not get the value: `data` holds a set, NaN, a function or a key that is not a string
    Why: The boundary never sends broken JSON. It replaces such a value with the name of its type, so the agent never
        gets the fact it needs. Dates, decimals, UUIDs, enums, paths, bytes and models are converted and cause no
        finding.
    How to fix: Use a list, a string or a number instead: `sorted(pmids)`, `str(key)`, `None` for NaN.
    When to suppress: Never for data that is sent. The rule reports only definite cases.

    Bad:
        raise ctx.fail("no_match", data={"pmids": {"1", "2"}})
    Good:
        raise ctx.fail("no_match", data={"pmids": ["1", "2"]})
    """

    severity = Severity.WARNING

    def check_handler(self, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
        """Report the unfit values in the data of each error."""
        body = body_of(handler)
        for error in handler.errors:
            data = error.data
            if error.form not in {"fail", "factory", "coded", "protocol"} or data.node is None:
                continue
            for description, node in _unfit(data.value, data.node, body):
                place = node if inside(node, [error.node]) else data.node
                ctx.report(
                    place,
                    f"the client does not get {description} in data: JSON cannot represent it",
                    help="use a list, a string or a number instead",
                    tool=tool,
                    module=handler.module,
                    related=[] if place is node else [ctx.related(node, "the value comes from here", handler.module)],
                )


def _unfit(value: Value, node: ast.AST, body: Body) -> Iterator[tuple[str, ast.AST]]:
    """The parts of a value that JSON cannot represent, each with its expression."""
    for option in options(value):
        place = option.node if option.node is not None and option.node in body.parents else node
        description = _unfit_itself(option, body)
        if description is not None:
            yield description, place
        elif isinstance(option, Items):
            for item in option.items:
                yield from _unfit(item, place, body)
        elif isinstance(option, Mapping):
            for key, item in option.items:
                if isinstance(key, Const) and not isinstance(key.value, str):
                    yield f"the key {key.value!r}", place
                elif isinstance(key, Items):
                    yield f"a key that is a {key.kind}", place
                yield from _unfit(item, place, body)


def _unfit_itself(value: Value, body: Body) -> str | None:
    """The kind of a value that JSON cannot represent whatever it holds."""
    match value:
        case Const(value=complex()):
            return "a complex number"
        case Const(value=float() as number) if not math.isfinite(number):
            return "NaN" if math.isnan(number) else "infinity"
        case Items(kind="set"):
            return "a set"
        case Symbol(definition=ast.FunctionDef() | ast.AsyncFunctionDef()):
            return "a function"
        case Symbol(definition=ast.ClassDef()):
            return "a class"
        case Symbol():
            return _BY_NAME.get(value.name)
        case CallValue(args=[Const(value="nan" | "inf" | "-inf" as text)]) if value.func.name == "builtins.float":
            return "NaN" if text == "nan" else "infinity"
        case CallValue():
            return _BY_CALL.get(value.func.name)
    node = value.node
    if isinstance(node, ast.Name) and any(clause.name == node.id for clause in body.clauses_above(node)):
        return "an exception"
    return _BY_SYNTAX.get(type(node))
