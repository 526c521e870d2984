"""error-contract-message-data."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import Const, Mapping, Symbol, Unknown
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._bodies import Body, body_of, codes_of, short, to_be_filled_in
from mcpcore_lint.rules._data_model import data_keys
from mcpcore_lint.rules._thrown import CODED
from mcpcore_lint.syntax.parse import walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mcpcore_lint.model import ErrorSite, ToolDef

_SELF: Final = frozenset({"self", "cls"})


class ContractMessageData(Rule):
    """A fact that only the message contains."""

    id = "error-contract-message-data"
    severity = Severity.INFO
    family = "conformance"
    summary = "a variable is in the message but not in `data`, so only prose carries it"
    why = "A program cannot read a number out of a sentence, and the sentence may change. In `data` it has a name."
    bad = 'raise ctx.fail("no_match", f"no article {pmid}")'
    good = 'raise ctx.fail("no_match", f"no article {pmid}", data={"pmid": pmid})'
    how_to_fix = "Put the value into `data` under its own name."
    when_to_suppress = "If the value only makes the sentence easier to read."

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each failure whose message has a value that its data lacks, in contracts that are filled in."""
        if tool.contract is None:
            return
        body = body_of(tool.handler)
        for error in tool.handler.errors:
            if error.form not in CODED or error.message.node is None or error.fate in {"discarded", "unused"}:
                continue
            variables = list(_variables(error.message.node, body))
            names = _names_in_data(error)
            if names is None or any(map(to_be_filled_in, tool.contract.entries)):
                continue
            lacking = _lacking(variables, names, body)
            if lacking:
                listed = " and ".join(f"`{name}`" for name in lacking)
                ctx.report(
                    error.message.node,
                    f"{listed} {'is' if len(lacking) == 1 else 'are'} in the message but not in data, so programs "
                    f"cannot read {'it' if len(lacking) == 1 else 'them'}",
                    help="put it into data under its own name",
                    tool=tool,
                    module=tool.handler.module,
                )


def _names_in_data(error: ErrorSite) -> set[str] | None:
    """The names, attributes and keys in the data; None if they are unknown."""
    keys = data_keys(error.data.value)
    if keys is None or not keys[1]:
        return None
    names = set(keys[0])
    value = error.data.value
    for node in walk([value.node]) if isinstance(value, Mapping) and value.node is not None else ():
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.Attribute):
            names |= {node.attr, ast.unparse(node)}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names.add(node.value)
    return names - _SELF


def _lacking(variables: Iterable[ast.expr], names: set[str], body: Body) -> list[str]:
    """The variables that are not among the names in the data, as they are written."""
    lacking: list[str] = []
    for variable in variables:
        if isinstance(variable, ast.Name) and variable.id in names:
            continue
        roots = _roots(variable, body)
        if not roots or roots & names:
            continue
        written = ast.unparse(variable)
        if written not in names and short(written) not in names and written not in lacking:
            lacking.append(written)
    return lacking


def _variables(node: ast.expr, body: Body, depth: int = 0) -> Iterator[ast.expr]:
    """The expressions whose values are in a message."""
    match node:
        case ast.JoinedStr():
            yield from (part.value for part in node.values if isinstance(part, ast.FormattedValue))
        case ast.BinOp(op=ast.Mod(), right=ast.Tuple(elts=elements)):
            yield from elements
        case ast.BinOp(op=ast.Mod()):
            yield node.right
        case ast.BinOp(op=ast.Add()):
            for side in (node.left, node.right):
                yield from _variables(side, body, depth + 1)
        case ast.Call(func=ast.Attribute(attr="format")):
            yield from node.args
            yield from (keyword.value for keyword in node.keywords)
        case ast.Call(func=ast.Name(id="str" | "repr" | "format"), args=[first, *_]):
            yield first
        case ast.Name() if depth and node in body.parents:
            if isinstance(body.value(node), Unknown):
                yield node
        case ast.Name() if node in body.parents:
            binding = body.scope(node).lookup_at(node)
            if binding is not None and not binding[0].is_module and len(binding[1]) == 1:
                value = binding[1][0].value
                if isinstance(value, ast.JoinedStr):
                    yield from _variables(value, body, depth + 1)


def _roots(node: ast.expr, body: Body) -> set[str]:
    """The variables in an expression; none if it is a constant, a caught exception or a function."""
    names: set[str] = set()
    for part in walk([node]):
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id in _SELF:
            names.add(part.attr)
        if not isinstance(part, ast.Name) or part.id in _SELF:
            continue
        value = body.value(part)
        if isinstance(value, (Const, Symbol)) or codes_of(value):
            continue
        if any(isinstance(above, ast.ExceptHandler) and above.name == part.id for above in body.above(part)):
            return set()
        if not isinstance(body.parents.get(part), ast.comprehension):
            names.add(part.id)
    return names
