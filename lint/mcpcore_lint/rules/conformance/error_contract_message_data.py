"""error-contract-message-data."""

import ast
from collections.abc import Iterator

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.engine.semantics.data_model import data_keys
from mcpcore_lint.engine.syntax.parse import walk
from mcpcore_lint.model import Const, ErrorSite, Mapping, Symbol, ToolDef
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._bodies import Body, body_of, codes_of, short, to_be_filled_in
from mcpcore_lint.rules._thrown import CODED


class ContractMessageData(Rule):
    """A fact that only the message contains.

    Summary: a variable is in the message but not in `data`, so only prose carries it
    Why: A program cannot read a number out of a sentence, and the sentence may change. In `data`, the number has a
        name.
    How to fix: Put the value in `data` under its own name.
    When to suppress: If the value only makes the sentence easier to read.

    Bad:
        raise ctx.fail("no_match", f"no article {pmid}")
    Good:
        raise ctx.fail("no_match", f"no article {pmid}", data={"pmid": pmid})
    """

    severity = Severity.INFO

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each failure whose message has a value that its data lacks, in contracts that are filled in."""
        if tool.contract is None:
            return
        body = body_of(tool.handler)
        for error in tool.handler.errors:
            if error.form not in CODED or error.message.node is None or error.fate in {"discarded", "unused"}:
                continue
            names = _names_in_data(error)
            if names is None or any(map(to_be_filled_in, tool.contract.entries)):
                continue
            facts = (variable for variable in _variables(error.message.node) if _is_fact(variable, names, body))
            lacking = [name for name in dict.fromkeys(map(_written, facts)) if names.isdisjoint({name, short(name)})]
            if lacking:
                listed = " and ".join(f"`{name}`" for name in lacking)
                are, them = ("is", "it") if len(lacking) == 1 else ("are", "them")
                message = f"{listed} {are} in the message but not in data, so programs cannot read {them}"
                step = "put it into data under its own name"
                ctx.report(error.message.node, message, help=step, tool=tool, module=tool.handler.module)


def _names_in_data(error: ErrorSite) -> set[str] | None:
    """The names, attributes and keys in the data; None if they are unknown."""
    keys = data_keys(error.data.value)
    if keys is None or not keys[1]:
        return None
    names = set(keys[0])
    value = error.data.value
    for node in walk([value.node]) if isinstance(value, Mapping) and value.node is not None else ():
        if isinstance(node, (ast.Name, ast.Attribute)):
            names |= {short(_written(node)), _written(node)}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names.add(node.value)
    return names


def _written(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ast.unparse(node)


def _variables(node: ast.expr) -> Iterator[ast.expr]:
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
                yield from [side] if isinstance(side, ast.Name) else _variables(side)
        case ast.Call(func=ast.Name(id="str" | "repr"), args=[value]):
            yield value
        case ast.Call(func=ast.Attribute(attr="format")):
            yield from (*node.args, *(keyword.value for keyword in node.keywords))


def _is_fact(node: ast.expr, names: set[str], body: Body) -> bool:
    """Whether an expression has variables, none of which is in the data, and no caught exception."""
    roots: set[str] = set()
    for part in walk([node]):
        if not isinstance(part, ast.Name):
            continue
        value = body.value(part)
        if isinstance(value, (Const, Symbol)) or codes_of(value):
            continue
        if any(clause.name == part.id for clause in body.clauses_above(part)):
            return False
        if not isinstance(body.parents.get(part), ast.comprehension):
            roots.add(part.id)
    return bool(roots) and not roots & names
