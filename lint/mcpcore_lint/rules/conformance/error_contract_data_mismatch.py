"""error-contract-data-mismatch."""

import ast
from collections.abc import Sequence

from mcpcore_lint.diagnostics import Related, Severity, Span
from mcpcore_lint.engine.semantics.data_model import RESERVED, DataModel, data_keys, read_model
from mcpcore_lint.engine.semantics.symbols import class_info
from mcpcore_lint.engine.semantics.type_model import ancestry, outside_bases
from mcpcore_lint.model import CallValue, ContractEntry, ToolDef, Value, string
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._thrown import all_thrown


class ContractDataMismatch(Rule):
    """Data that does not fit the model of its entry.

    Summary: the data passed to `ctx.fail` or by a guard has missing or extra keys, compared with the entry's data model
    Why: The contract publishes the schema of the data. A client that relies on it breaks when a key is missing.
    How to fix: Pass the keys of the model, or change the model.
    When to suppress: Never for a missing key. If extra keys are intended, let the model allow them.

    Bad:
        FailureMode("no_match", ..., data=NoMatch)  # pmid: str
        raise ctx.fail("no_match", data={"id": pmid})
    Good:
        raise ctx.fail("no_match", data={"pmid": pmid})
    """

    severity = Severity.ERROR

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Compare the keys of each failure's data with the model of its entry."""
        if tool.contract is None:
            return
        for error in tool.handler.fail_calls:
            text = string(error.reason)
            keys = _keys(error.data.value, tool.contract.by_reason.get(text or ""))
            if text is not None and keys is not None:
                _check(f"the data of ctx.fail({text!r})", text, keys, error.data.node or error.node, None, tool, ctx)
        seen: set[object] = set()
        for thrown in all_thrown(tool, ctx, named=True):
            reached = thrown.reached
            for reason in thrown.reasons or ():
                if reached is None or reached.data_keys is None or (thrown.place, reason) in seen:
                    continue
                seen.add((thrown.place, reason))
                guard = Related(reached.site.path, reached.site.span, "the guard is here") if thrown.way else None
                keys = (list(reached.data_keys), True)
                _check(f"the data that the guard gives to {reason!r}", reason, keys, reached.call, guard, tool, ctx)


def _keys(value: Value, declared: ContractEntry | None) -> tuple[list[str], bool] | None:
    """The keys of some data, which may be an instance of a model, for an entry."""
    model = read_model(value.func) if isinstance(value, CallValue) and value.complete else None
    if model is None or not isinstance(value, CallValue) or declared is None:
        return data_keys(value)
    passed = {*[*model.fields][: len(value.args)], *(name for name, _ in value.keywords)}
    info = class_info(value.func)
    if info is None or model.open or model.required is None or not passed.issubset(model.fields):
        return None
    # A TypedDict has no defaults.
    is_dict = "typing.TypedDict" in outside_bases(info)
    keys = [name for name, field in model.fields.items() if name in passed or not (field.required or is_dict)]
    # An instance of a subclass is sent with the fields of the declared class.
    base = declared.arguments["data"].value
    sent = read_model(base) if getattr(base, "definition", None) in [owner.node for owner in ancestry(info)] else None
    return [key for key in keys if sent is None or key in sent.fields], True


def _check(
    what: str,
    reason: str,
    keys: tuple[list[str], bool] | None,
    at: ast.AST | Span,
    guard: Related | None,
    tool: ToolDef,
    ctx: RuleContext,
) -> None:
    """Compare the keys of some data, which may be incomplete, with the model of the entry of a reason."""
    entry = tool.contract.by_reason.get(reason) if tool.contract is not None else None
    model = read_model(entry.arguments["data"].value) if entry is not None else None
    if entry is None or model is None or not model.certain or keys is None or not (misfit := _misfit(model, *keys)):
        return
    declared = ctx.related(entry.node, "the reason is declared here", entry.module)
    by_need = sorted(model.fields.values(), key=lambda field: not field.required)
    fields = ", ".join(field.name if field.required else f"{field.name}?" for field in by_need) or "no keys"
    ctx.report(
        at,
        f"{what} {misfit}",
        help=f"pass the fields of {model.name}: {fields}",
        tool=tool,
        module=tool.handler.module,
        related=[declared] if guard is None else [declared, guard],
    )


def _misfit(model: DataModel, keys: Sequence[str], complete: bool) -> str:  # noqa: FBT001 - from `data_keys`
    """How some keys differ from those of a model; empty if they do not."""
    required = [field.name for field in model.fields.values() if field.required]
    lacking = [name for name in required if name not in keys] if complete else []
    extra = [] if model.open else [key for key in keys if key not in {*model.fields, *RESERVED}]
    lacks = f"lacks {_quoted(lacking)}" if lacking else ""
    has = f"has {_quoted(extra)}, which {model.name} does not" if extra else ""
    return " and ".join(filter(None, (lacks, has)))


def _quoted(names: list[str]) -> str:
    return " and ".join(map(repr, names))
