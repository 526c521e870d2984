"""error-contract-mapping."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.engine.semantics.data_model import read_model
from mcpcore_lint.model import CallValue, CodeValue, Const, Items, Mapping, Missing, Symbol, options
from mcpcore_lint.rules._contracts import contracts_of, entries_of
from mcpcore_lint.rules._wording import described, last_name
from mcpcore_lint.rules.contract._entries import Entry, EntryRule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcpcore_lint.diagnostics import Related
    from mcpcore_lint.model import ContractEntry, ToolDef, Value
    from mcpcore_lint.rule import RuleContext


class ContractMapping(EntryRule):
    """`.on` or `.on_code` maps what cannot be mapped, or the same class or code twice."""

    summary = "a mapping of `.on` or `.on_code` that keeps the server from starting"
    why = """A class or a code can become one failure only. `Exception` itself would turn every bug into a declared
    failure. A `CodedError` is mapped by its code. If the data model has a required field, `data=` has to make it of the
    exception."""
    bad = 'FailureMode("slow", ErrorCode.TIMEOUT, when="Too slow.", recovery="Ask for less.").on(Exception)'
    good = 'FailureMode("slow", ErrorCode.TIMEOUT, when="Too slow.", recovery="Ask for less.").on(TimeoutError)'
    how_to_fix = """Name the classes that the failure is known by, each once, and codes with `.on_code`. Add
    `data=lambda exc: ...` if the data model has a required field."""

    def check_entry(self, entry: Entry, ctx: RuleContext) -> None:
        """Report what an entry cannot map, and data that is not made."""
        for mapped, kind in _kinds(entry.model):
            problem = _problem(kind, ctx, of_code=mapped.func.name == "on_code")
            if problem is not None:
                message, step = problem
                self._report(kind, f"{entry.label} maps {message}", step, entry.tool, ctx)
        value = entry.model.value
        models = [read_model(value) for value in options(entry.model.arguments["data"].value)]
        required = models[0].required if len(models) == 1 and models[0] is not None else None
        for mapped in value.mapped if required and isinstance(value, CallValue) else ():
            if isinstance(mapped.argument("data"), Missing):
                message = (
                    f"{entry.label} is mapped without data=, and its data model requires {', '.join(required or ())}"
                )
                self._report(mapped, message, "add data=lambda exc: ..., which makes the data", entry.tool, ctx)

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each class or code that the contract maps already."""
        for contract in contracts_of(tool):
            first: dict[str, tuple[int, ContractEntry, Value]] = {}
            for index, entry in entries_of(contract):
                for _, kind in _kinds(entry):
                    name = kind.name if isinstance(kind, (Symbol, CodeValue)) else ""
                    position, owner, earlier = first.setdefault(name, (index, entry, kind))
                    # The branches of a conditional entry have one position, and only one of them counts.
                    is_other = earlier.node is not kind.node and (position != index or owner is entry)
                    if name and is_other and earlier.node is not None:
                        message = f"{name.rpartition('.')[2]} is mapped twice in the contract of {tool.display_name}"
                        related = [ctx.related(earlier.node, "it is mapped first here", earlier.module)]
                        self._report(kind, message, "keep one of the two", tool, ctx, related)

    @staticmethod
    def _report(
        at: Value, message: str, step: str, tool: ToolDef | None, ctx: RuleContext, related: Sequence[Related] = ()
    ) -> None:
        if at.node is not None:
            ctx.report(at.node, message, help=step, tool=tool, module=at.module, related=related)


def _kinds(entry: ContractEntry) -> Iterator[tuple[CallValue, Value]]:
    """The classes and codes that an entry maps, each with the call that maps it."""
    for mapped in entry.value.mapped if isinstance(entry.value, CallValue) else ():
        for argument in mapped.args:
            yield mapped, argument


def _problem(kind: Value, ctx: RuleContext, *, of_code: bool) -> tuple[str, str] | None:
    """What cannot be mapped, and what to write; None also where that is unknown."""
    if isinstance(kind, Symbol) and not of_code:
        if kind.name == "builtins.Exception":
            return "Exception itself, which would hide bugs", "name the classes that the failure is known by"
        if ctx.hierarchy.is_kind_of(kind.name, "mcpcore.CodedError"):
            return f"{last_name(kind)}, which has a code", "write .on_code(ErrorCode....)"
        is_failure = ctx.hierarchy.is_kind_of(kind.name, "builtins.Exception")
        return (f"{last_name(kind)}, which is no subclass of Exception", _CLASSES) if is_failure is False else None
    if not isinstance(kind, (Const, CodeValue, Items, Mapping, Symbol)) or (of_code and isinstance(kind, CodeValue)):
        return None
    if isinstance(kind, Symbol) and not isinstance(kind.definition, ast.ClassDef):
        return None
    return described(kind), "give codes to .on_code(...)" if of_code or isinstance(kind, CodeValue) else _CLASSES


_CLASSES: Final = "give subclasses of Exception to .on(...)"
