"""error-contract-mapping."""

import ast
from typing import Final

from mcpcore_lint.engine.semantics.data_model import read_model
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.model import (
    CallValue,
    CodeValue,
    Const,
    ContractEntry,
    Items,
    Mapping,
    Missing,
    Symbol,
    ToolDef,
    Value,
    options,
)
from mcpcore_lint.rule import RuleContext
from mcpcore_lint.rules._tools import contracts_of, entries_of
from mcpcore_lint.rules._wording import described, last_name
from mcpcore_lint.rules.contract._entries import Entry, EntryRule


class ContractMapping(EntryRule):
    """`.on` or `.on_code` maps what cannot be mapped, or the same class or code twice.

    Summary: an `.on` or `.on_code` mapping keeps the server from starting
    Why: A class or a code can map to only one failure. Mapping `Exception` itself would turn every bug into a declared
        failure. A `CodedError` is mapped by its code. If the data model has a required field, `data=` has to build the
        data from the exception.
    How to fix: Name the exception classes that mean this failure, each once, and codes with `.on_code`. Add
        `data=lambda exc: ...` if the data model has a required field.

    Bad:
        FailureMode("slow", ErrorCode.TIMEOUT, when="Too slow.", recovery="Ask for less.").on(Exception)
    Good:
        FailureMode("slow", ErrorCode.TIMEOUT, when="Too slow.", recovery="Ask for less.").on(TimeoutError)
    """

    def check_entry(self, entry: Entry, ctx: RuleContext) -> None:
        """Report what an entry cannot map, and data that is not made."""
        models = [read_model(value) for value in options(entry.model.arguments["data"].value)]
        required = models[0].required if len(models) == 1 and models[0] is not None else None
        value = entry.model.value
        for mapped in value.mapped if isinstance(value, CallValue) else ():
            problems = [(kind, _problem(kind, ctx, of_code=mapped.func.name == "on_code")) for kind in mapped.args]
            if mapped.complete and not mapped.args:
                problems.append((mapped, ("maps nothing", _STEP)))
            if required and isinstance(mapped.argument("data"), Missing):
                what = f"is mapped without data=, and its data model requires {', '.join(required)}"
                problems.append((mapped, (what, "add data=lambda exc: ..., which makes the data")))
            for at, problem in problems:
                if problem is not None and at.node is not None:
                    # A function that makes the failure mode may map an argument, or a class that it names itself.
                    is_own = entry.is_made and not entry.is_written(at)
                    message = f"{'this FailureMode' if is_own else entry.label} {problem[0]}"
                    module = _file_of(at, mapped, entry)
                    ctx.report(at.node, message, help=problem[1], tool=entry.tool, module=module, shared=is_own)

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each class or code that the contract maps already."""
        for contract in contracts_of(tool):
            first: dict[str, tuple[int, ContractEntry, Value, Module | None]] = {}
            for index, entry, kind, module in (
                (place, item, kind, _file_of(kind, mapped, Entry(item)))
                for place, item in entries_of(contract)
                for mapped in (item.value.mapped if isinstance(item.value, CallValue) else ())
                for kind in mapped.args
                if isinstance(kind, (Symbol, CodeValue)) and kind.node is not None
            ):
                position, owner, earlier, home = first.setdefault(kind.name, (index, entry, kind, module))
                # The branches of a conditional entry have one position, and only one of them counts.
                is_other = earlier.node is not kind.node and (position != index or owner is entry)
                if is_other and earlier.node is not None and kind.node is not None:
                    message = f"{kind.name.rpartition('.')[2]} is mapped twice in the contract of {tool.display_name}"
                    related = [ctx.related(earlier.node, "it is mapped first here", home)]
                    step = "remove one of the two"
                    ctx.report(kind.node, message, help=step, tool=tool, module=module, related=related)


def _file_of(kind: Value, mapped: CallValue, entry: Entry) -> Module | None:
    """The file in which a class is mapped, which is another one than the file that defines the class."""
    return entry.model.module if entry.is_made and entry.is_written(kind) else mapped.module


def _problem(kind: Value, ctx: RuleContext, *, of_code: bool) -> tuple[str, str] | None:
    """Why a value cannot be mapped, and what to write; None also where that is unknown."""
    if isinstance(kind, Symbol) and not of_code:
        if kind.name == "builtins.Exception":
            return "maps Exception itself, which would hide bugs", "name the classes that the failure is known by"
        if ctx.hierarchy.is_kind_of(kind.name, "mcpcore.CodedError"):
            return f"maps {last_name(kind)}, which has a code", "write .on_code(ErrorCode....)"
        is_failure = ctx.hierarchy.is_kind_of(kind.name, "builtins.Exception")
        return (f"maps {last_name(kind)}, which is not a subclass of Exception", _STEP) if is_failure is False else None
    is_known = isinstance(kind, (Const, Items, Mapping)) or (
        isinstance(kind.definition, ast.ClassDef) if isinstance(kind, Symbol) else isinstance(kind, CodeValue)
    )
    return (f"maps {described(kind)}", _STEP) if is_known and not (of_code and isinstance(kind, CodeValue)) else None


_STEP: Final = "give subclasses of Exception to .on(...), and codes to .on_code(...)"
