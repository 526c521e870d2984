"""What source code says of its tools, resources and prompts, as plain data: `mcpcore catalog --static` is built on it.

No code is imported or run. What cannot be known without running it is named in `problems` and never guessed.
"""

import ast
import os
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from mcpcore.contract.codes import LATER, NEVER, NOW
from mcpcore_lint.config import ConfigError
from mcpcore_lint.engine.registrations.hints import IDEMPOTENT, READ_ONLY, hint_of
from mcpcore_lint.engine.semantics.annotations import NONE, NamedType
from mcpcore_lint.engine.semantics.data_model import read_model, requires_value
from mcpcore_lint.engine.semantics.evaluate import Resolver, evaluate
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.scopes import Scope
from mcpcore_lint.engine.syntax.source import SourceError
from mcpcore_lint.model import (
    CallValue,
    CodeValue,
    Const,
    ContractEntry,
    Items,
    Mapping,
    Symbol,
    Text,
    ThrowSite,
    ToolDef,
    Value,
    is_left_out,
    string,
)
from mcpcore_lint.records import in_test_file
from mcpcore_lint.rule import RuleContext
from mcpcore_lint.rules import rule_named
from mcpcore_lint.rules._advice import Advice, sent_advice
from mcpcore_lint.rules._thrown import CODED, all_thrown
from mcpcore_lint.runner.checker import Checker, FileState
from mcpcore_lint.runner.files import content_of
from mcpcore_lint.runner.groups import Group, find_groups

_OPTIONS: Final = {
    "fallback_tool": "fallbackTool",
    "fallback_arguments": "fallbackArguments",
    "strategy": "strategy",
    "actions": "actions",
    "corrective_params": "correctiveParams",
    "user_message": "userMessage",
    "example": "example",
    "effects": "effects",
}
"""The options of an entry that are plain values, with their names in JSON."""

_HINTS: Final = {
    "readOnly": READ_ONLY,
    "idempotent": IDEMPOTENT,
    "destructive": ("destructive_hint", "destructiveHint"),
}


Site: TypeAlias = tuple[str, int]
"""A path and a line."""


class Inventoried(NamedTuple):
    """One tool, resource or prompt.

    Attributes:
        item: Its entry in a catalog, as JSON.
        server: What tells its server from others in the same files; None if it is unknown.
        path: The file with its handler, relative to the root.
        first: The first line of its handler, with its decorators.
        in_test: Whether a test registers it.
    """

    item: dict[str, Any]
    server: str | None
    path: str
    first: int
    in_test: bool


class Inventory(NamedTuple):
    """The tools of some files, and the files that could not be read."""

    items: tuple[Inventoried, ...]
    failures: tuple[str, ...]


def take_inventory(paths: Sequence[str], *, root: str) -> Inventory:
    """Read the tools of files and folders.

    Args:
        paths: Files, and folders of which every Python file is read.
        root: The folder that paths in the inventory are relative to.

    Raises:
        ConfigError: If the configuration of a project cannot be used.
    """
    items: list[Inventoried] = []
    failures: list[str] = []
    # Tests are read as well: a catalog leaves out their servers only if there are others.
    for group in find_groups(list(paths), lambda settings: settings._replace(include_tests=True)):
        failures += (f"{failure.path}: {failure.message}" for failure in group.walk.failures)
        _read_group(group, os.path.abspath(root), items, failures)
    return Inventory(tuple(items), tuple(failures))


def places_of_reasons(paths: Sequence[str], root: str) -> dict[Site, dict[str, list[Site]]]:
    """The places that raise each reason, by the place of the handler: its file, and its first line with decorators.

    A reason that no known code raises is left out, and so is a file that cannot be read. No place is known in a project
    whose configuration cannot be used.
    """
    places: dict[Site, dict[str, list[Site]]] = {}
    try:
        items = take_inventory(paths, root=root).items
    except ConfigError:
        return places
    for item, _, path, first, _ in items:
        of_handler = places.setdefault((os.path.join(root, path), first), {})
        for error in (*item["errors"], *item["undeclared"]):
            sites = ((os.path.join(root, place["path"]), place["line"]) for place in error["raised"])
            of_handler.setdefault(error["reason"], []).extend(dict.fromkeys(sites))
    return {
        handler: {reason: raised for reason, raised in known.items() if raised} for handler, known in places.items()
    }


def _read_group(group: Group, root: str, items: list[Inventoried], failures: list[str]) -> None:
    checker = Checker(root, group.config.settings, files=group.walk.files)
    for path in sorted(group.walk.files):
        raw = content_of(path)
        if raw is None or not checker.is_relevant(path, raw):
            continue
        try:
            module = checker.project.module_of_bytes(path, raw)
            tools = checker.find_tools(module)
        except SourceError as error:
            failures.append(f"{checker.project.display_path(path)}:{error.span.line}: {error.message}")
            continue
        except Exception as error:  # noqa: BLE001 - one file must not keep the others out of the catalog
            failures.append(f"{checker.project.display_path(path)}: {type(error).__name__}: {error}")
            continue
        served = {entry.handler.node for tool in tools for entry in tool.serves if entry.handler is not None}
        for tool in tools:
            # The dispatching handler of a low-level server is no tool itself, unless nothing is known of its tools.
            if tool.flavour == "lowlevel" and string(tool.name) is None and served:
                continue
            try:
                items.append(_Reader(checker, module, tool).read())
            except Exception as error:  # noqa: BLE001 - one tool must not keep the others out of the catalog
                failures.append(f"{checker.project.display_path(path)}: {type(error).__name__}: {error}")
        checker.trim()


class _Reader:
    """Reads one tool."""

    def __init__(self, checker: Checker, module: Module, tool: ToolDef) -> None:
        rule = rule_named("no-error-as-data")
        assert rule is not None
        self._tool = tool
        self._state = FileState(checker, module, [tool])
        self._ctx = RuleContext(self._state, rule)
        self._problems: list[str] = []

    def read(self) -> Inventoried:
        tool, handler = self._tool, self._tool.handler
        name = string(tool.name) if tool.kind != "resource" or tool.uri is None else string(tool.uri)
        if name is None:
            name = handler.name
            self._problems.append("the name is only known when the code runs; this is the name of the function")
        errors, contract = self._contract()
        undeclared = self._raised({error["reason"]: error for error in errors})
        returned = self._returned()
        failing = bool(undeclared) or any(error["raised"] for error in errors)
        first = min(node.lineno for node in (handler.node, *getattr(handler.node, "decorator_list", ())))
        item = {
            "kind": tool.kind,
            "name": name,
            "description": string(tool.description) or handler.docstring or "",
            "contract": contract,
            "failures": [*(["raised"] if failing or contract == "declared" else []), *(["returned"] * bool(returned))],
            **self._hints(),
            "inputSchema": self._input_schema() if tool.kind == "tool" else None,
            "errors": errors,
            "undeclared": undeclared,
            "returned": returned,
            "defined": {"path": handler.module.path, "function": handler.qualname, "line": handler.span.line},
            "problems": self._problems,
        }
        return Inventoried(item, tool.server, handler.module.path, first, in_test_file(tool.module.path))

    # -- the contract ----------------------------------------------------------------------------------------------

    def _contract(self) -> tuple[list[dict[str, Any]], str]:
        contract = self._tool.contract
        if contract is None:
            return [], "none"
        errors: dict[str, dict[str, Any]] = {}
        known = contract.state == "sequence" and contract.complete
        for index, entry in enumerate(contract.entries):
            error = self._entry(entry, f"errors[{index}]")
            if error is None:
                known = False
            elif error["reason"] in errors:
                self._problems.append(f"errors[{index}]: the reason {error['reason']!r} is declared twice")
            else:
                errors[error["reason"]] = error
        if not known:
            self._problems.append("some failure modes are only known when the code runs")
        return list(errors.values()), "declared" if known else "unknown"

    def _entry(self, entry: ContractEntry, where: str) -> dict[str, Any] | None:
        reason = entry.reason_text
        if reason is None:
            return None
        code = entry.code_value
        advice, effects = sent_advice(entry, self._tool)
        error: dict[str, Any] = {
            "reason": reason,
            "name": code.name if code is not None else None,
            "code": code.number if code is not None else None,
            "when": _known_text(entry.when.value),
            "recovery": _known_text(entry.recovery.value),
            "retry": None if advice is None else self._retry(entry, advice),
            "raised": [],
        }
        if effects is not None:
            error["effects"] = effects
        for option, key in _OPTIONS.items():
            value = entry.arguments[option].value
            if is_left_out(value):
                continue
            try:
                error[key] = plain(value)
            except UnknownValueError:
                self._problems.append(f"{where}: {option} of {reason!r} is only known when the code runs")
        data = entry.arguments["data"].value
        if not is_left_out(data):
            error["dataSchema"] = schema_of_model(data)
        return error

    @staticmethod
    def _retry(entry: ContractEntry, advice: Advice) -> dict[str, Any]:
        if advice.seconds is None:
            return {"kind": NEVER}
        if advice.seconds == 0 and not advice.explicit:
            return {"kind": NOW}
        value = entry.arguments["retry"].value
        if isinstance(value, CallValue) and value.func.name == "mcpcore.Retry.now":
            return {"kind": NOW}
        return {"kind": LATER, "afterMs": round(advice.seconds * 1000)}

    # -- failures --------------------------------------------------------------------------------------------------

    def _raised(self, declared: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
        """Note where each declared reason is raised; the errors that have no declared reason."""
        undeclared: dict[tuple[Any, ...], dict[str, Any]] = {}
        for thrown in all_thrown(self._tool, self._ctx, named=True):
            place = self._place(thrown.reached, thrown.raised_here)
            if place is None:
                continue
            for reason in thrown.reasons or (None,):
                if reason in declared:
                    _add(declared[reason]["raised"], place)
                    continue
                # A guard that only names a failure shows where a declared one comes from, but not that it occurs.
                for code in () if thrown.only_named else thrown.codes or (None,):
                    entry: dict[str, Any] = {"reason": reason, "name": code, "type": None, "raised": []}
                    _add(undeclared.setdefault((reason, code, None), entry)["raised"], place)
        reach = self._ctx.reach(self._tool)
        for reached in (*reach.own, *reach.throws):
            if reached.form not in CODED and reached.source == "project":
                name = reached.type_name.removeprefix("builtins.")
                place = self._place(reached, None)
                uncoded: dict[str, Any] = {"reason": None, "name": None, "type": name, "raised": []}
                _add(undeclared.setdefault((None, None, name), uncoded)["raised"], place)
        return list(undeclared.values())

    def _place(self, reached: Any, throw: ThrowSite | None) -> dict[str, Any] | None:
        handler = self._tool.handler
        if reached is not None:
            function = reached.path[-1] if reached.path else handler.qualname
            return {
                "path": reached.site.path,
                "function": function,
                "through": list(reached.path[:-1]),
                "line": reached.site.span.line,
            }
        if throw is None:
            return None
        return {
            "path": throw.module.path,
            "function": handler.qualname,
            "through": [],
            "line": throw.span.line,
        }

    def _returned(self) -> list[dict[str, Any]]:
        """The places that return a failure like a result, as `no-error-as-data` finds them."""
        self._ctx.rule.check_handler(self._tool.handler, self._tool, self._ctx)
        return [
            {
                "path": diagnostic.path,
                "function": self._tool.handler.qualname,
                "through": [],
                "line": diagnostic.span.line,
            }
            for diagnostic in sorted(self._state.diagnostics, key=lambda finding: finding.sort_key)
        ]

    # -- what the listing says -------------------------------------------------------------------------------------

    def _hints(self) -> dict[str, bool]:
        """The hints that the annotations certainly state."""
        hints = {key: hint_of(self._tool, names) for key, names in _HINTS.items()}
        return {key: hint == "true" for key, hint in hints.items() if hint in {"true", "false"}}

    def _input_schema(self) -> dict[str, Any] | None:
        """The schema of the arguments, as far as the annotations are plain; None for a handler of any arguments."""
        properties: dict[str, Any] = {}
        required: list[str] = []
        scope = self._tool.handler.module.scope_of(self._tool.handler.node)
        if self._tool.flavour == "lowlevel":
            return None
        for parameter in self._tool.handler.parameters:
            if parameter.injected or parameter.name == getattr(self._tool.handler.context, "name", None):
                continue
            if parameter.kind not in {"positional", "keyword"}:
                return None
            properties[parameter.name] = schema_of_annotation(parameter.annotation, scope)
            default = evaluate(parameter.default, scope) if parameter.default is not None else None
            is_field = isinstance(default, CallValue) and default.func.name.rpartition(".")[2] == "Field"
            if default is None or (is_field and requires_value(default)):  # type: ignore[arg-type]
                required.append(parameter.name)
        schema: dict[str, Any] = {"type": "object", "properties": properties}
        return {**schema, "required": required} if required else schema


def _known_text(value: Value) -> str:
    """A text, with an ellipsis for each piece that is only known when the code runs."""
    if isinstance(value, Text):
        return "".join("…" if part is None else part for part in value.parts)
    return string(value) or ""


def _add(places: list[dict[str, Any]], place: dict[str, Any] | None) -> None:
    if place is not None and place not in places:
        places.append(place)


# -- schemas of annotations and data models, and plain values, as far as the source shows them -------------------------

_TYPES: Final = {
    "builtins.str": "string",
    "builtins.int": "integer",
    "builtins.float": "number",
    "builtins.bool": "boolean",
    "builtins.bytes": "string",
    "builtins.dict": "object",
    "builtins.list": "array",
    "builtins.set": "array",
    "builtins.tuple": "array",
    "builtins.frozenset": "array",
    "typing.Dict": "object",
    "typing.List": "array",
    "typing.Mapping": "object",
    "typing.Sequence": "array",
    "collections.abc.Mapping": "object",
    "collections.abc.Sequence": "array",
    "datetime.datetime": "string",
    "datetime.date": "string",
    "uuid.UUID": "string",
    "pathlib.Path": "string",
    NONE: "null",
}
# A model may contain itself.
_MAX_DEPTH: Final = 8


class UnknownValueError(Exception):
    """A value is only known when the code runs."""


def plain(value: Value) -> Any:
    """A known value as JSON.

    Raises:
        UnknownValueError: If it, or a part of it, is not known.
    """
    if isinstance(value, CodeValue):
        return value.name
    if isinstance(value, Const) and isinstance(value.value, str | bool | int | float | None):
        return value.value
    if isinstance(value, Items) and value.complete:
        return [plain(item) for item in value.items]
    if isinstance(value, Mapping) and value.complete:
        keys = [string(key) for key, _ in value.items]
        if None not in keys:
            return {key: plain(item) for key, (_, item) in zip(keys, value.items, strict=True)}
    raise UnknownValueError


def schema_of_model(value: Value, depth: int = 0) -> dict[str, Any]:
    """The schema of a data model; without properties if they are not known."""
    model = read_model(value)
    if model is None or not isinstance(value, Symbol):
        return {"type": "object"}
    properties = {
        field.sent: schema_of_annotation(field.annotation, field.module.scope, depth + 1)
        for field in model.fields.values()
        if field.sent is not None
    }
    required = [field.sent for field in model.fields.values() if field.required and field.sent is not None]
    schema: dict[str, Any] = {"title": model.name, "type": "object", "properties": properties}
    return {**schema, "required": required} if required else schema


def schema_of_annotation(node: ast.expr | None, scope: Scope, depth: int = 0) -> dict[str, Any]:
    """The schema of an annotation; empty, which accepts anything, for what is not plain."""
    types = Resolver().named_types(node, scope)
    inner = depth + 1 if len(types) > 1 else depth
    branches = [_schema_of_type(named, inner) for named in types] if inner <= _MAX_DEPTH else []
    if len(branches) == 1:
        return branches[0]
    # An empty branch accepts anything, so the union does.
    return {"anyOf": branches} if branches and all(branches) else {}


def _schema_of_type(named: NamedType, depth: int) -> dict[str, Any]:
    if named.name == "typing.Literal":
        constants = [part.value for part in named.arguments if isinstance(part, ast.Constant)]
        known = len(constants) == len(named.arguments) and all(
            isinstance(value, str | int | None) for value in constants
        )
        return {"enum": constants} if known else {}
    kind = _TYPES.get(named.name)
    # The arguments of `tuple` are the types of its places, and so not of all its items.
    if kind == "array" and named.arguments and named.name != "builtins.tuple":
        return {"type": "array", "items": schema_of_annotation(named.arguments[0], named.scope, depth + 1)}
    if kind is not None:
        return {"type": kind}
    if named.symbol is None or read_model(named.symbol) is None:
        return {}
    return schema_of_model(named.symbol, depth)


__all__ = ["Inventoried", "Inventory", "places_of_reasons", "take_inventory"]
