"""What shows that an answer is a failure in disguise: its text, its keys, or the function of the project behind it."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Final

from mcpcore_lint.meaning.resolve import Resolver, evaluate
from mcpcore_lint.model import CallValue, Choice, Const, Items, Mapping, Symbol, Text, Unknown, Value, options, string
from mcpcore_lint.patterns import regex
from mcpcore_lint.reading.syntax import walk, walk_shallow
from mcpcore_lint.registrations.servers import method_called
from mcpcore_lint.rules._bodies import mentions, short, text_start, unpacked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore_lint.model import Handler, ToolDef
    from mcpcore_lint.reading.module import Module
    from mcpcore_lint.reading.scopes import Scope
    from mcpcore_lint.rules.base import RuleContext

# Keys are compared in small letters: `{"Status": "Failed"}`, `{"isError": True}`.
SUCCESS_KEYS: Final = frozenset({"ok", "success", "succeeded", "successful"})
FAILURE_KEYS: Final = frozenset({"iserror", "is_error", "failed"})
STATUS_KEYS: Final = frozenset({"status", "state", "result"})
FAILED_STATUS: Final = frozenset({"error", "failed", "failure", "fail"})
ERROR_KEYS: Final = frozenset({"error", "error_message", "errormessage"})
TELLING: Final = SUCCESS_KEYS | FAILURE_KEYS | STATUS_KEYS | ERROR_KEYS
"""An answer without one of these keys is no failure in disguise."""
_SAYING: Final = frozenset({"message", "detail", "msg", "reason"})
"""Keys of a sentence on what happened."""
BESIDE_AN_ERROR: Final = frozenset(
    {"error", "message", "detail", "details", "code", "hint", "suggestion", "status", "type", "error_type", "reason",
     "error_code", "errorcode", "traceback", "status_code", "success", "ok", "tool", "help"}
)  # fmt: skip
"""Keys that say more about a failure: a mapping of nothing else is no result."""
VERDICTS: Final = frozenset(
    {"valid", "is_valid", "passed", "healthy", "is_healthy", "compliant", "connected", "reachable", "alive", "online"}
)
"""Keys of a result that is a verdict: an `error` beside them is what was found, not a failure of the tool."""
UNWELL: Final = frozenset({"unhealthy", "degraded", "unreachable", "disconnected", "not_connected", "offline"})
"""What a `status` says of the thing that a tool was asked about: the same."""

_SIGNS: Final = "[\u274c\u26a0\ufe0f\U0001f6ab\u26d4\u2717]"
"""Crosses, warning signs and no-entry signs that people put before a failure."""
_SURE: Final = regex(
    rf"\s*(?:{_SIGNS}+\s*)?(?:\*\*)?(?:error|failure)(?:\*\*)?\s*(?::|!|-\s|\u2013)|\s*\u274c"
    r"|\s*(?:an? )?(?:unexpected )?error (?:occurred|while|when|in|during|[a-z]+ing)\b|\s*(?:failed|unable) to \w+"
    r"|\s*encountered an error\b",
    re.IGNORECASE,
)
_IN_CLAUSE: Final = regex(
    rf"\s*(?:{_SIGNS}+\s*)?(?:\W*)(?:(?:an? )?(?:\w+ ){{0,3}}(?:error|exception|failure|timed out)\b"
    r"|(?:failed|failure|invalid|unable to|could not|couldn't|can't|cannot|something went wrong)\b)"
    r"|.{0,60}\b(?:failed|error)\b\s*[:.!]",
    re.IGNORECASE,
)
_CHOICE: Final = regex(
    r"\b(?:cancel+ed|declined|aborted)(?: by (?:the |a )?(?:user|person|human))?[.!]?(?:\s|$)", re.IGNORECASE
)
"""How a message tells of somebody who was asked and said no: an answer like any other, not a failure of the tool."""
_CHOICES: Final = frozenset({"cancelled", "canceled", "declined", "rejected", "aborted"})
"""What a `status` says of the same."""
HAND_MADE: Final = "a hand-made"
SHOWN: Final = "the text of the caught exception"
_CALL_RESULTS: Final = frozenset({"mcp.CallToolResult", "fastmcp.ToolResult"})
RESULTS: Final = _CALL_RESULTS | {"mcp.TextContent"}
"""What tells of a failure by more than its keys."""
SHOWING: Final = frozenset({"builtins.str", "builtins.repr", "traceback.format_exc"})
"""What makes a text of the exception at hand."""
_OF_EXCEPTIONS: Final = frozenset({"str", "repr", "type", "traceback", "format_exc"})
_DEEP: Final = 48
"""How many functions that hand on what another one makes are followed."""
_MANY: Final = 500
"""How many calls of them are looked at with what they are given, for one handler."""


class Judge:
    """Tells whether an answer is a failure in disguise."""

    def __init__(self, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
        self.flavour = tool.flavour
        self.ctx = ctx
        self.caught = {each.name for each in handler.catches if each.name is not None}
        """The names that a caught exception has."""
        self._left = _MANY
        self._open: list[ast.AST] = []
        """The functions that are being looked at."""

    def failure(self, value: Value, *, in_clause: bool, own: bool = True) -> str | None:
        """What shows that an answer is a failure; None where nothing does."""
        value = unpacked(value)
        if isinstance(value, (Const, Text)):
            start = text_start(value)
            if not start:
                shown = in_clause and isinstance(value.node, ast.JoinedStr) and self._shows_caught(value.node)
                return SHOWN if shown else None
            pattern = _IN_CLAUSE if in_clause else _SURE
            return f'the text "{start.strip()[:30].strip()}..."' if pattern.match(start) else None
        if isinstance(value, Mapping):
            if not own and not value.complete:
                return None
            return self._pairs([(k.value, v) for k, v in value.items if isinstance(k, Const)], in_clause=in_clause)
        if isinstance(value, Items):
            alone = value.complete and len(value.items) == 1 and value.kind != "set"
            return self.failure(value.items[0], in_clause=in_clause) if alone else None
        if isinstance(value, CallValue):
            return self._call(value, in_clause=in_clause)
        return None

    def _call(self, value: CallValue, *, in_clause: bool) -> str | None:
        name = value.func.name
        definition = value.func.definition
        if name in SHOWING:
            return SHOWN if in_clause and isinstance(value.node, ast.Call) and self._shows_caught(value.node) else None
        if name in _CALL_RESULTS:
            for key in ("is_error", "isError"):
                given = value.argument(key)
                if isinstance(given, Const) and given.value is True and not self._marked_well_enough(value):
                    return f"{HAND_MADE} {short(name)}({key}=True)"
            return None
        if name == "mcp.TextContent":
            return self.failure(value.argument("text", 1), in_clause=in_clause)
        if isinstance(definition, ast.ClassDef):
            found = self._pairs([(key, given) for key, given in value.keywords], in_clause=in_clause, model=True)
            if found is None or (
                self.ctx.hierarchy.is_exception(name) is not False
                and "Exception" in str(self.ctx.hierarchy.ancestors(name))
            ):
                return None
            return f"{short(name)}({found.strip('{}').replace(': ', '=').replace(chr(34), '')})"
        if isinstance(definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return self._function(definition, value, in_clause=in_clause)
        return None

    def _shows_caught(self, node: ast.Call | ast.JoinedStr) -> bool:
        """Whether a text is made of the caught exception alone: `str(e)`, `f"{type(e).__name__}: {e}"`."""
        if not self.caught:
            return False
        names = {each.id for each in walk([node]) if isinstance(each, ast.Name)}
        words = (each.value for each in walk([node]) if isinstance(each, ast.Constant))
        return (
            not names.isdisjoint(self.caught)
            and len(names - self.caught - _OF_EXCEPTIONS) == 0
            and not any(isinstance(each, str) and any(map(str.isalpha, each)) for each in words)
        )

    def _marked_well_enough(self, value: CallValue) -> bool:
        """Whether a result that is marked as failed by hand is as much as this server can say.

        On the SDK and FastMCP one that carries more than text is: somebody thought about what the agent needs.
        """
        if self.flavour == "mcpcore":
            return False
        structured = any(key in {"structuredContent", "structured_content"} for key, _ in value.keywords)
        return structured or self.flavour == "lowlevel"

    # -- functions of the project ------------------------------------------------------------------------------------

    def called(self, node: ast.expr, value: Value, scope: Scope) -> Value:
        """What an expression is behind an `await`, or as the call of a method of the object at hand."""
        if not isinstance(value, Unknown):
            return value
        awaited = isinstance(node, ast.Await)
        if isinstance(node, ast.Await):
            node = node.value
            value = evaluate(node, scope) if isinstance(node, ast.Call) else value
        if not isinstance(node, ast.Call):
            return value
        if isinstance(value, CallValue):
            definition = value.func.definition
        elif isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", "") in {"self", "cls"}:
            found = method_called(node.func, scope)
            if found is None:
                return value
            definition = found[0]
            args, keywords, complete = Resolver().arguments(node, scope)
            if not any(getattr(each, "id", "") == "staticmethod" for each in definition.decorator_list):
                args.insert(0, Unknown(node.func.value, scope.module, "the object itself"))
            symbol = Symbol(node.func, scope.module, f"{scope.module.name}.{definition.name}", definition)
            value = CallValue(node, scope.module, symbol, tuple(args), tuple(keywords), complete)
        else:
            return value
        # Without its `await`, what an `async def` makes is no answer.
        return value if isinstance(definition, ast.AsyncFunctionDef) is awaited else Unknown(node, scope.module)

    def _function(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, value: CallValue, *, in_clause: bool
    ) -> str | None:
        """What a function of the project makes: a failure whatever it is given, or one where it is given one."""
        module = self.ctx.project.module_defining(node)
        if module is None or node in self._open or len(self._open) > _DEEP:
            return None
        always = self._always(node, module)
        return always or self._given(node, module, value, in_clause=in_clause)

    def _always(self, node: ast.FunctionDef | ast.AsyncFunctionDef, module: Module) -> str | None:
        """What shows that every answer of a function is a failure."""
        key = ("makes failures", node, self.flavour)
        if key not in module.memo:
            # Some servers have one such function and a thousand calls of it.
            self._open.append(node)
            try:
                module.memo[key] = self._only_fails(node, module.scope_of(node), Resolver())
            finally:
                self._open.pop()
        shape: str | None = module.memo[key]
        return shape if shape is None or shape.startswith(HAND_MADE) else f"what {node.name}() makes of it"

    def _only_fails(
        self,
        node: ast.FunctionDef | ast.AsyncFunctionDef,
        scope: Scope,
        resolver: Resolver,
        *,
        in_clause: bool = False,
    ) -> str | None:
        """What shows that the answers of a function are failures; None where one of them is not."""
        shape: str | None = None
        returns = _returns(node)
        if len(returns) > 4:
            return None
        for each in returns:
            made = self.called(each, resolver.expression(each, scope), scope)
            for one in options(made):
                shape = self.failure(one, in_clause=in_clause)
                if shape is None:
                    return None
        return shape

    def failure_or_none(self, name: str, scope: Scope) -> str | None:
        """What shows that a name of a function is a failure where it is not None: `error = check(a)`."""
        found = scope.lookup(name)
        if found is None or found[0] is not scope:
            return None
        shape: str | None = None
        for binding in found[1]:
            node = binding.node
            source = node.value if isinstance(node, (ast.Assign, ast.NamedExpr)) else binding.value
            if isinstance(source, ast.Constant) and not source.value:
                continue
            place = _place_of(name, node)
            value = self.called(source, evaluate(source, scope), scope) if source is not None else None
            shape = self._sometimes(value, place) if isinstance(value, CallValue) and place is not None else None
            if shape is None:
                return None
        return shape

    def _sometimes(self, value: CallValue, place: int) -> str | None:
        """What shows that a function of the project returns a failure or None, as a whole or as an item of a tuple."""
        node = value.func.definition
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return None
        module = self.ctx.project.module_defining(node)
        if module is None or len(self._open) > _DEEP:
            return None
        key = ("sometimes fails", node, place)
        if key not in module.memo:
            module.memo[key] = False  # while it is being found out: it may call itself
            scope = module.scope_of(node)
            self._open.append(node)
            try:
                found = {fails for each in _returns(node, bare=True) for fails in self._fails(each, place, scope)}
            finally:
                self._open.pop()
            module.memo[key] = True in found and None not in found
        return f"what {node.name}() makes of it" if module.memo[key] else None

    def _fails(self, node: ast.expr, place: int, scope: Scope) -> Iterator[bool | None]:
        """Of each of the values that an answer may be, whether it is a failure; None where it is something else."""
        if place >= 0:
            if not isinstance(node, ast.Tuple) or any(isinstance(each, ast.Starred) for each in node.elts):
                yield None
                return
            node = node.elts[place] if place < len(node.elts) else node
        if isinstance(node, ast.Name) and self.failure_or_none(node.id, scope) is not None:
            yield True
            return
        for each in options(self.called(node, evaluate(node, scope), scope)):
            nothing = isinstance(each, Const) and not each.value
            yield False if nothing else self.failure(each, in_clause=False) is not None or None

    def _given(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, module: Module, value: CallValue, *, in_clause: bool
    ) -> str | None:
        """What a function makes of a failure that it is given: `as_text({"ok": False})`, `as_text(f"Error: {e}")`."""
        self._left -= 1
        if not value.complete or self._left < 0:
            return None
        args = node.args
        named = [each.arg for each in (*args.posonlyargs, *args.args)]
        given = {**dict(zip(named, value.args, strict=False)), **dict(value.keywords)}
        shapes = {name: self._telling(each, in_clause=in_clause) for name, each in given.items()}
        if not any(shapes.values()):
            return None
        scope = module.scope_of(node)
        resolver = Resolver()
        # What its names mean whatever it is given does not count here.
        before, scope.values = scope.values, {}
        self._open.append(node)
        try:
            with resolver.within(scope, given):
                shape = self._only_fails(node, scope, resolver, in_clause=in_clause)
        finally:
            self._open.pop()
            scope.values = before
        if shape is not None:
            return shape
        # A table of which another shape is made.
        tables = [name for name, each in given.items() if isinstance(each, Mapping) and shapes[name]]
        whole = [each for each in given.values() if not isinstance(each, Unknown) or each.why != "the object itself"]
        if len(tables) != 1 or len(whole) != 1:
            return None
        returns = _returns(node)
        return shapes[tables[0]] if returns and all(mentions(each, tables[0]) for each in returns) else None

    def _telling(self, value: Value, *, in_clause: bool) -> str | None:
        """What shows that an argument is a failure, or a switch by which the function may make one."""
        if isinstance(value, Const) and isinstance(value.value, bool):
            return str(value.value)
        if isinstance(value, (Const, Text, Mapping, CallValue)):
            return self.failure(value, in_clause=in_clause)
        return None

    # -- tables ------------------------------------------------------------------------------------------------------

    def _pairs(self, pairs: list[tuple[object, Value]], *, in_clause: bool, model: bool = False) -> str | None:
        table = {key.lower(): value for key, value in pairs if isinstance(key, str)}
        if table.keys().isdisjoint(TELLING):
            return None
        spelled = {key.lower(): key for key, _ in pairs if isinstance(key, str)}
        states = [value for key, value in table.items() if key in STATUS_KEYS and isinstance(value, Const)]
        if table.keys() & VERDICTS or any(str(each.value).lower() in UNWELL for each in states):
            return None
        chosen = any(_is_a_choice(key, value) for key, value in table.items())
        for key, value in table.items():
            known = value.value if isinstance(value, Const) else ...
            if key in SUCCESS_KEYS and known is False:
                if chosen:
                    continue
                return f'{{"{spelled[key]}": False}}'
            if key in FAILURE_KEYS and known is True and (key != "failed" or in_clause):
                return f'{{"{spelled[key]}": True}}'
            if key in STATUS_KEYS and isinstance(known, str) and known.lower() in FAILED_STATUS:
                told = table.keys() & (ERROR_KEYS | _SAYING)
                # `{"job": a, "status": "error"}` is the state of somebody's job, unless it says what went wrong.
                alone = not model and not set(table) - BESIDE_AN_ERROR - {key}
                if in_clause or (told and alone) or ((told or alone) and known.lower() == "error"):
                    return f'{{"{spelled[key]}": "{known}"}}'
            if key in ERROR_KEYS and self._is_an_error(value, table, in_clause=in_clause, model=model):
                return f'{{"{spelled[key]}": ...}}'
        return None

    @staticmethod
    def _is_an_error(value: Value, table: dict[str, Value], *, in_clause: bool, model: bool) -> bool:
        beside = set(table) - BESIDE_AN_ERROR
        if any(isinstance(given, Const) and given.value is True for key, given in table.items() if key in SUCCESS_KEYS):
            return False
        if isinstance(value, Const):
            if isinstance(value.value, str):
                return bool(value.value.strip())
            return value.value is True and not model
        if isinstance(value, Text):
            return True
        if isinstance(value, Mapping):
            return bool(value.items)
        if isinstance(value, CallValue) and value.func.name in SHOWING:
            return True
        if isinstance(value, Choice):
            return False
        return in_clause or (not beside and not model)


def _returns(node: ast.FunctionDef | ast.AsyncFunctionDef, *, bare: bool = False) -> list[ast.expr]:
    """What a function returns; nothing where it yields, or where one of its returns has no value.

    Args:
        node: The function.
        bare: Whether a `return` without a value is left out instead.
    """
    found: list[ast.expr] = []
    for each in walk_shallow([*node.body]):
        if isinstance(each, ast.Return):
            if each.value is not None:
                found.append(each.value)
            elif not bare:
                return []
        elif isinstance(each, (ast.Yield, ast.YieldFrom)):
            return []
    return found


def _is_a_choice(key: str, value: Value) -> bool:
    """Whether a pair of an answer says that the person in front of it said no."""
    if key in STATUS_KEYS:
        return isinstance(value, Const) and str(value.value).lower() in _CHOICES
    if key not in _SAYING:
        return False
    text = " ".join(each or "" for each in value.parts) if isinstance(value, Text) else string(value) or ""
    return _CHOICE.search(text) is not None


def _place_of(name: str, node: ast.AST) -> int | None:
    """Which item of what is assigned a name gets; -1 for the whole, None where that cannot be seen."""
    if isinstance(node, ast.NamedExpr):
        return -1
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return None
    target = node.targets[0]
    if isinstance(target, ast.Name):
        return -1
    if not isinstance(target, (ast.Tuple, ast.List)):
        return None
    names = [
        each.id if isinstance(each, ast.Name) else "*" if isinstance(each, ast.Starred) else "" for each in target.elts
    ]
    return names.index(name) if name in names and "*" not in names else None
