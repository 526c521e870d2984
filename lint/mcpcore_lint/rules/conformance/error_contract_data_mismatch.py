"""error-contract-data-mismatch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpcore_lint.diagnostics import Related, Severity
from mcpcore_lint.model import string
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._data_model import RESERVED, data_model
from mcpcore_lint.rules._thrown import all_thrown, only_named
from mcpcore_lint.rules.conformance._data import data_keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpcore_lint.model import Contract, ContractEntry, ToolDef
    from mcpcore_lint.rules._data_model import DataModel


class ContractDataMismatch(Rule):
    """Data that does not fit the model of its entry."""

    id = "error-contract-data-mismatch"
    severity = Severity.ERROR
    family = "conformance"
    summary = "the data passed to `ctx.fail` or by a guard lacks or adds keys, compared with the entry's data model"
    why = "The contract publishes the schema of the data. A client that relies on it breaks when a key is missing."
    bad = 'FailureMode("no_match", ..., data=NoMatch)  # pmid: str\nraise ctx.fail("no_match", data={"id": pmid})'
    good = 'raise ctx.fail("no_match", data={"pmid": pmid})'
    how_to_fix = "Pass the keys of the model, or change the model."
    when_to_suppress = "Never for a missing key. If extra keys are intended, let the model allow them."

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Compare the keys of each failure's data with the model of its entry."""
        contract = tool.contract
        if contract is None:
            return
        for error in tool.handler.fail_calls:
            reason = string(error.reason)
            entry, model = _model(contract, reason)
            keys = data_keys(error.data.value) if model is not None else None
            if entry is None or model is None or keys is None or not (misfit := _misfit(model, *keys)):
                continue
            ctx.report(
                error.data.node or error.node,
                f"the data of ctx.fail({reason!r}) {misfit}",
                help=_fields(model),
                tool=tool,
                module=tool.handler.module,
                related=[ctx.related(entry.node, "the reason is declared here", entry.module)],
            )
        self._check_guards(tool, contract, ctx)

    @staticmethod
    def _check_guards(tool: ToolDef, contract: Contract, ctx: RuleContext) -> None:
        """Compare the data that guards pass, in the handler and in the functions that it calls."""
        seen: set[object] = set()
        for thrown in (*all_thrown(tool, ctx), *only_named(tool, ctx)):
            reached = thrown.reached
            for reason in thrown.reasons or ():
                entry, model = _model(contract, reason)
                if reached is None or reached.data_keys is None or entry is None or model is None:
                    continue
                misfit = _misfit(model, reached.data_keys, complete=True)
                if not misfit or (thrown.place, reason) in seen:
                    continue
                seen.add((thrown.place, reason))
                related = [ctx.related(entry.node, "the reason is declared here", entry.module)]
                if thrown.way:
                    related.append(Related(reached.site.path, reached.site.span, "the guard is here"))
                ctx.report(
                    reached.call,
                    f"the data that the guard gives to {reason!r} {misfit}"
                    + (f" ({thrown.way})" if thrown.way else ""),
                    help=f"{_fields(model)}, in a function of the exception: data=lambda exc: ...",
                    tool=tool,
                    module=tool.handler.module,
                    related=related,
                )


def _model(contract: Contract, reason: str | None) -> tuple[ContractEntry | None, DataModel | None]:
    """The entry of a reason, and the model of its data."""
    entry = contract.by_reason.get(reason) if reason is not None else None
    return entry, data_model(entry.arguments["data"].value) if entry is not None else None


def _misfit(model: DataModel, keys: Sequence[str], complete: bool) -> str:  # noqa: FBT001 - from `data_keys`
    """How some keys differ from those of a model; empty if they do not."""
    lacking = [key for key in model.required if key not in keys] if complete else []
    known = {*model.required, *model.optional, *RESERVED}
    extra = [] if model.open else [key for key in keys if key not in known]
    parts = [f"lacks {_quoted(lacking)}"] if lacking else []
    if extra:
        parts.append(f"has {_quoted(extra)}, which {model.name} does not")
    return " and ".join(parts)


def _fields(model: DataModel) -> str:
    fields = ", ".join((*model.required, *(f"{name}?" for name in model.optional))) or "no keys"
    return f"pass the fields of {model.name}: {fields}"


def _quoted(names: list[str]) -> str:
    return " and ".join(map(repr, names))
