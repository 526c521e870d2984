"""What failures carry: their data, and the facts that their messages tell."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.diagnostics import Related, Severity
from mcpcore_lint.model import Const, Mapping, Missing, Symbol, Unknown, string
from mcpcore_lint.rules._bodies import Body, body_of, codes_of, short, to_be_filled_in
from mcpcore_lint.rules._data_model import RESERVED, data_model
from mcpcore_lint.rules._thrown import CODED, all_thrown, only_named
from mcpcore_lint.rules.base import Rule, RuleContext
from mcpcore_lint.rules.conformance.failing import is_recovery
from mcpcore_lint.syntax.parse import walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mcpcore_lint.model import Contract, ErrorSite, ToolDef, Value
    from mcpcore_lint.rules._data_model import DataModel


class ContractDataMismatch(Rule):
    """Data that does not fit the entry's model."""

    id = "error-contract-data-mismatch"
    severity = Severity.ERROR
    family = "conformance"
    summary = "the data given to `ctx.fail` or by a guard lacks or adds keys against the entry's declared data model"
    why = (
        "The contract publishes the schema of the data, and clients read it by that schema: a missing key breaks them."
    )
    bad = 'FailureMode("no_match", ..., data=NoMatch)  # pmid: str\nraise ctx.fail("no_match", data={"id": pmid})'
    good = 'raise ctx.fail("no_match", data={"pmid": pmid})'
    how_to_fix = "Give the keys of the model, or change the model."
    when_to_suppress = "Never for a missing key. Where extra keys are meant, let the model allow them."

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Compare the keys of each failure's data with the model of its entry."""
        contract = tool.contract
        if contract is None:
            return
        module = tool.handler.module
        for error in tool.handler.fail_calls:
            reason = string(error.reason)
            entry = contract.by_reason.get(reason) if reason is not None else None
            model = data_model(entry.arguments["data"].value) if entry is not None else None
            keys = _keys(error.data.value) if model is not None else None
            if entry is None or model is None or keys is None or not (misfit := _misfit(model, *keys)):
                continue
            ctx.report(
                error.data.node or error.node,
                f"the data of ctx.fail({reason!r}) {misfit}",
                help=_fields(model),
                tool=tool,
                module=module,
                related=[ctx.related(entry.node, "the reason is declared here", entry.module)],
            )
        self._check_guards(tool, contract, ctx)

    @staticmethod
    def _check_guards(tool: ToolDef, contract: Contract, ctx: RuleContext) -> None:
        """Compare the data that guards give to reasons, in the handler and in functions that it calls."""
        seen: set[object] = set()
        for thrown in (*all_thrown(tool, ctx), *only_named(tool, ctx)):
            reached = thrown.reached
            for reason in thrown.reasons or ():
                entry = contract.by_reason.get(reason)
                model = data_model(entry.arguments["data"].value) if entry is not None else None
                if reached is None or reached.data_keys is None or entry is None or model is None:
                    continue
                misfit = _misfit(model, [*reached.data_keys], complete=True)
                if not misfit or (thrown.place, reason) in seen:
                    continue
                seen.add((thrown.place, reason))
                way = f" ({thrown.way})" if thrown.way else ""
                ctx.report(
                    reached.call,
                    f"the data that the guard gives to {reason!r} {misfit}{way}",
                    help=f"{_fields(model)}, in a function of the exception: data=lambda exc: ...",
                    tool=tool,
                    module=tool.handler.module,
                    related=[
                        ctx.related(entry.node, "the reason is declared here", entry.module),
                        *([Related(reached.site.path, reached.site.span, "the guard is here")] if way else ()),
                    ],
                )


def _misfit(model: DataModel, given: list[str], complete: bool) -> str:  # noqa: FBT001 - what `_keys` returns
    """How some keys do not fit a model; empty where they do."""
    lacking = [each for each in model.required if each not in given] if complete else []
    known = {*model.required, *model.optional, *RESERVED}
    extra = [] if model.open else [each for each in given if each not in known]
    parts = [f"lacks {_quoted(lacking)}"] if lacking else []
    if extra:
        parts.append(f"has {_quoted(extra)}, which {model.name} does not")
    return " and ".join(parts)


def _fields(model: DataModel) -> str:
    fields = ", ".join((*model.required, *(f"{each}?" for each in model.optional))) or "no keys"
    return f"give what {model.name} takes: {fields}"


def _quoted(names: list[str]) -> str:
    return " and ".join(repr(each) for each in names)


def _keys(value: Value) -> tuple[list[str], bool] | None:
    """The keys of some data, and whether those are all; None where that cannot be known."""
    if isinstance(value, Missing) or (isinstance(value, Const) and value.value is None):
        return [], True
    if not isinstance(value, Mapping):
        return None
    if not all(isinstance(key, Const) and isinstance(key.value, str) for key, _ in value.items):
        return None
    complete = value.complete
    if not complete and isinstance(value.node, ast.Dict):
        # `**ctx.recovery_for(...)` brings in a reserved key and nothing else.
        unpacked = [each for key, each in zip(value.node.keys, value.node.values, strict=True) if key is None]
        complete = bool(unpacked) and all(isinstance(each, ast.Call) and is_recovery(each) for each in unpacked)
    return list(value.keys), complete


class ContractMessageData(Rule):
    """A fact that only prose carries."""

    id = "error-contract-message-data"
    severity = Severity.INFO
    family = "conformance"
    summary = "a variable is told in the message but missing from `data`, so only prose carries it"
    why = "A program cannot read a number out of a sentence, and the sentence changes. In `data` the fact has a name."
    bad = 'raise ctx.fail("no_match", f"no article {pmid}")'
    good = 'raise ctx.fail("no_match", f"no article {pmid}", data={"pmid": pmid})'
    how_to_fix = "Put the value into `data` under its own name."
    when_to_suppress = "Where the value only helps the sentence to read well."

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each failure whose message tells what its data lacks, once the contract has been written out."""
        if tool.contract is None:
            return
        body = body_of(tool.handler)
        for error in tool.handler.errors:
            if error.form not in CODED or error.message.node is None or error.fate in {"discarded", "unused"}:
                continue
            told = list(_variables(error.message.node, body))
            # Most data has what is told under its own name, and no more of it has to be looked at.
            if not _lacking(told, self._keys(error), body):
                continue
            carried = self._carried(error)
            if carried is None or any(to_be_filled_in(each) for each in tool.contract.entries):
                continue
            lacking = _lacking(told, carried, body)
            if lacking:
                variables = " and ".join(f"`{each}`" for each in lacking)
                ctx.report(
                    error.message.node,
                    f"{variables} is told in the message and missing from data, so only prose carries it",
                    help="put it into data under its own name",
                    tool=tool,
                    module=tool.handler.module,
                )

    @staticmethod
    def _keys(error: ErrorSite) -> set[str]:
        """The keys that the data has for certain."""
        value = error.data.value
        return set(value.keys) - _NOT_TOLD if isinstance(value, Mapping) else set()

    @staticmethod
    def _carried(error: ErrorSite) -> set[str] | None:
        """The names, attributes and keys that the data brings; None where it cannot be seen."""
        value = error.data.value
        if isinstance(value, Missing) or (isinstance(value, Const) and value.value is None):
            return set()
        if not isinstance(value, Mapping) or value.node is None:
            return None
        if not value.complete and _keys(value) in (None, (list(value.keys), False)):
            return None
        found = set(value.keys)
        for each in walk([value.node]):
            if isinstance(each, ast.Name):
                found.add(each.id)
            elif isinstance(each, ast.Attribute):
                found |= {each.attr, ast.unparse(each)}
            elif isinstance(each, ast.Constant) and isinstance(each.value, str):
                found.add(each.value)
        return found - _NOT_TOLD


_NOT_TOLD: Final = frozenset({"self", "cls"})


def _lacking(told: Iterable[ast.expr], carried: set[str], body: Body) -> list[str]:
    """Those of some expressions of which nothing is carried, as they are written."""
    found: list[str] = []
    for each in told:
        if isinstance(each, ast.Name) and each.id in carried:
            continue
        names = _roots(each, body)
        if not names or names & carried:
            continue
        shown = ast.unparse(each)
        if shown not in carried and short(shown) not in carried and shown not in found:
            found.append(shown)
    return found


def _variables(node: ast.expr, body: Body, depth: int = 0) -> Iterator[ast.expr]:
    """The expressions that a message tells."""
    match node:
        case ast.JoinedStr():
            for each in node.values:
                if isinstance(each, ast.FormattedValue):
                    yield each.value
        case ast.BinOp(op=ast.Mod(), right=ast.Tuple(elts=elts)):
            yield from elts
        case ast.BinOp(op=ast.Mod()):
            yield node.right
        case ast.BinOp(op=ast.Add()):
            for side in (node.left, node.right):
                yield from _variables(side, body, depth + 1)
        case ast.Call(func=ast.Attribute(attr="format")):
            yield from node.args
            yield from (each.value for each in node.keywords)
        case ast.Call(func=ast.Name(id="str" | "repr" | "format"), args=[first, *_]):
            yield first
        case ast.Name() if depth and node in body.parents:
            if isinstance(body.value(node), Unknown):
                yield node
        case ast.Name() if node in body.parents:
            found = body.scope(node).lookup_at(node)
            if found is not None and not found[0].is_module and len(found[1]) == 1:
                value = found[1][0].value
                if value is not None and isinstance(value, ast.JoinedStr):
                    yield from _variables(value, body, depth + 1)


def _roots(node: ast.expr, body: Body) -> set[str]:
    """The variables behind an expression; none where it is a constant, a caught exception or a function."""
    found: set[str] = set()
    for each in walk([node]):
        if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name) and each.value.id in {"self", "cls"}:
            found.add(each.attr)
        if not isinstance(each, ast.Name) or each.id in {"self", "cls"}:
            continue
        value = body.value(each)
        if isinstance(value, (Const, Symbol)) or codes_of(value):
            continue
        if any(isinstance(up, ast.ExceptHandler) and up.name == each.id for up in body.above(each)):
            return set()
        if isinstance(body.parents.get(each), ast.comprehension):
            continue
        found.add(each.id)
    return found
