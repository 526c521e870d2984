"""What shows that an answer is a failure in disguise: its text, its keys, or the function of the project behind it."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from mcpcore_lint.model import CallValue, Choice, Const, Items, Mapping, Symbol, Text, Unknown, Value, options, string
from mcpcore_lint.patterns import regex
from mcpcore_lint.registrations.callers import method_called
from mcpcore_lint.rules._bodies import mentions, short, text_start, unpacked
from mcpcore_lint.semantics.evaluate import Resolver, evaluate
from mcpcore_lint.semantics.symbols import class_info
from mcpcore_lint.semantics.type_model import ancestry
from mcpcore_lint.syntax.parse import all_parameters, walk, walk_shallow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpcore_lint.model import FunctionNode, Handler
    from mcpcore_lint.rules.base import RuleContext
    from mcpcore_lint.syntax.module import ClassInfo, Module
    from mcpcore_lint.syntax.scopes import Scope

# Keys are compared in small letters: `{"Status": "Failed"}`, `{"isError": True}`.
SUCCESS_KEYS: Final = frozenset({"ok", "success", "succeeded", "successful"})
FAILURE_KEYS: Final = frozenset({"iserror", "is_error", "failed"})
STATUS_KEYS: Final = frozenset({"status", "state", "result"})
FAILED_STATUS: Final = frozenset({"error", "failed", "failure", "fail"})
ERROR_KEYS: Final = frozenset({"error", "errors", "error_message", "errormessage"})
TELLING: Final = SUCCESS_KEYS | FAILURE_KEYS | STATUS_KEYS | ERROR_KEYS
"""An answer without one of these keys is no failure in disguise."""
_SAYING: Final = frozenset({"message", "detail", "msg", "reason"})
"""Keys of a sentence on what happened."""
SENTENCES: Final = _SAYING | {"result", "output", "text", "content", "response"}
"""Keys whose sentence, where an `except` clause gives it and nothing else, is about the failure."""
SHOWING_KEYS: Final = TELLING | SENTENCES
_FINE: Final = frozenset({"ok", "success", "succeeded", "completed", "partial"})
"""Values of `status` in an answer that is a result."""
_FAILED_CLASS: Final = regex(r"(?:Error|Failure|Failed)(?:$|[A-Z])")
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
    r"|\s*failed [a-z]+ing\b"
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
_QUESTIONS: Final = frozenset(
    {"requires_confirmation", "confirmation_required", "needs_confirmation", "confirm", "preview", "dry_run"}
)
"""Keys of an answer that asks for a confirmation first: nothing failed yet."""
_CHOICES: Final = frozenset({"cancelled", "canceled", "declined", "rejected", "aborted"})
"""What a `status` says of the same."""
HAND_MADE: Final = "a hand-made"
SHOWN: Final = "the text of the caught exception"
A_TEXT: Final = "the text"
CALL_RESULTS: Final = frozenset({"mcp.CallToolResult", "fastmcp.ToolResult"})
CONTENTS: Final = ("structured_content", "structuredContent", "content")
"""What such a result holds, as keywords."""
SHOWING: Final = frozenset({"builtins.str", "builtins.repr", "traceback.format_exc"})
"""What makes a text of the exception at hand."""
_OF_EXCEPTIONS: Final = frozenset({"str", "repr", "type", "traceback", "format_exc"})
_DEEP: Final = 48
"""How many functions that hand on what another one makes are followed."""
_MANY: Final = 500
"""How many calls of them are looked at with what they are given, for one handler."""


class Place(NamedTuple):
    """Where a function of the project builds a failure."""

    node: ast.AST
    module: Module
    function: FunctionNode


class Failure(NamedTuple):
    """An answer that is a failure in disguise."""

    shape: str
    """The key, the text or the class that shows it, as in the code: `{"error": ...}`."""
    place: Place | None = None
    """Where it is built, if a function of the project does that whatever it is given."""

    @property
    def by_hand(self) -> bool:
        """Whether it is marked as failed by hand: `CallToolResult(is_error=True)`."""
        return self.shape.startswith(HAND_MADE)

    @property
    def is_text(self) -> bool:
        """Whether a sentence shows it, and not a key."""
        return self.shape.startswith(A_TEXT)  # also that of a caught exception


class Judge:
    """Tells whether an answer of one function is a failure in disguise."""

    def __init__(self, function: Handler, ctx: RuleContext, *, contract_tool: bool) -> None:
        self.ctx = ctx
        self.contract_tool = contract_tool
        """Whether a tool of mcpcore answers with it: there a result that is marked as failed by hand is one too."""
        self.caught = {catch.name for catch in function.catches if catch.name is not None}
        """The names that a caught exception has."""
        self._parameters = {arg.arg for arg in all_parameters(function.node.args)}
        self.certain: frozenset[str] = frozenset()
        """Expressions that a test round the answer says are something, as text: `if r.error: return ...`."""
        self._left = _MANY
        self._open: list[ast.AST] = []
        """The functions that are being looked at."""

    def failure(self, value: Value, *, in_clause: bool, own: bool = True) -> Failure | None:
        """What shows that an answer is a failure; None where nothing does."""
        value = unpacked(value)
        if isinstance(value, Choice):
            # `json.dumps(answer)` of an answer that several places set.
            failures = [self.failure(option, in_clause=in_clause, own=own) for option in options(value)]
            return failures[0] if failures and all(failures) else None
        if isinstance(value, (Const, Text)):
            shape = self._sentence(value, in_clause=in_clause)
            return None if shape is None else Failure(shape)
        if isinstance(value, Mapping):
            if not own and not value.complete:
                return None
            table = {key.value: each for key, each in value.items if isinstance(key, Const)}
            shape = self.pairs([*table.items()], in_clause=in_clause)
            if shape is not None:
                return Failure(shape)
            # A result and its text as the protocol has them: `{"content": [{"type": "text", "text": ...}]}`.
            inner = table.get("text") if string(table.get("type", value)) == "text" else table.get("content")
            return (
                self.failure(inner, in_clause=in_clause) if isinstance(inner, (Const, Text, Items, CallValue)) else None
            )
        if isinstance(value, Items):
            alone = value.complete and len(value.items) == 1 and value.kind != "set"
            return self.failure(value.items[0], in_clause=in_clause) if alone else None
        if isinstance(value, CallValue):
            return self._call(value, in_clause=in_clause)
        return None

    def _sentence(self, value: Const | Text, *, in_clause: bool) -> str | None:
        start = text_start(value)
        if not start:
            shown = in_clause and isinstance(value.node, ast.JoinedStr) and self._shows_caught(value.node)
            return SHOWN if shown else None
        fails = _SURE.match(start) or (in_clause and _IN_CLAUSE.match(start))
        return f'{A_TEXT} "{start.strip()[:30].strip()}..."' if fails else None

    def _call(self, value: CallValue, *, in_clause: bool) -> Failure | None:
        name = value.func.name
        definition = value.func.definition
        if name in SHOWING:
            shown = (
                in_clause
                and isinstance(value.node, ast.Call)
                and (name == "traceback.format_exc" or self._shows_caught(value.node))
            )
            return Failure(SHOWN) if shown else None
        if name == "mcp.TextContent":
            return self.failure(value.argument("text", 1), in_clause=in_clause)
        if isinstance(definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return self._function(definition, value, in_clause=in_clause)
        is_class = isinstance(definition, ast.ClassDef)
        above = self.ctx.hierarchy.ancestors(name, value.func)[0] if is_class else frozenset({name})
        if not above.isdisjoint(CALL_RESULTS):
            # On the SDK and FastMCP a tool fails with its own text in this way.
            for key in ("is_error", "isError"):
                marked = value.argument(key)
                if isinstance(marked, Const) and marked.value is True:
                    return Failure(f"{HAND_MADE} {short(name)}({key}=True)") if self.contract_tool else None
            contents = [value.argument(key) for key in CONTENTS]
            return next((found for each in contents if (found := self.failure(each, in_clause=in_clause))), None)
        if not is_class or any("Exception" in each for each in above):
            return None
        shape = self.pairs([*value.keywords, *_defaults(value)], in_clause=in_clause, model=True)
        if shape is None:
            return Failure(f"{short(name)}(...)") if in_clause and _FAILED_CLASS.search(short(name)) else None
        return Failure(f"{short(name)}({shape.strip('{}').replace(': ', '=').replace(chr(34), '')})")

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
    ) -> Failure | None:
        """What a function of the project makes: a failure whatever it is given, or one where it is given one."""
        module = self.ctx.project.module_defining(node)
        if module is None or node in self._open or len(self._open) > _DEEP:
            return None
        return self._always(node, module) or self._given(node, module, value, in_clause=in_clause)

    def _always(self, node: ast.FunctionDef | ast.AsyncFunctionDef, module: Module) -> Failure | None:
        """What shows that every answer of a function is a failure, and where it is built."""
        key = ("makes failures", node, self.contract_tool)
        if key not in module.memo:
            # Some servers have one such function and a thousand calls of it.
            self._open.append(node)
            try:
                module.memo[key] = self._only_fails(node, module, Resolver())
            finally:
                self._open.pop()
        failure: Failure | None = module.memo[key]
        return failure

    def _only_fails(
        self,
        node: ast.FunctionDef | ast.AsyncFunctionDef,
        module: Module,
        resolver: Resolver,
        *,
        in_clause: bool = False,
    ) -> Failure | None:
        """What shows that the answers of a function are failures; None where one of them is not."""
        failure: Failure | None = None
        scope = module.scope_of(node)
        returns = _returns(node)
        if len(returns) > 4:
            return None
        for answer in returns:
            made = self.called(answer, resolver.expression(answer, scope), scope)
            for option in options(made):
                one = self.failure(option, in_clause=in_clause)
                if one is None:
                    return None
                failure = failure or (one if one.place is not None else one._replace(place=Place(answer, module, node)))
        return failure

    def _given(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, module: Module, value: CallValue, *, in_clause: bool
    ) -> Failure | None:
        """What a function makes of a failure that it is given: `as_text({"ok": False})`, `as_text(f"Error: {e}")`."""
        self._left -= 1
        if not value.complete or self._left < 0:
            return None
        args = node.args
        names = [arg.arg for arg in (*args.posonlyargs, *args.args)]
        arguments = {**dict(zip(names, value.args, strict=False)), **dict(value.keywords)}
        failures = {name: self._argument(each, in_clause=in_clause) for name, each in arguments.items()}
        if not any(failures.values()):
            return None
        scope = module.scope_of(node)
        resolver = Resolver()
        # What its names mean whatever it is given does not count here.
        before, scope.values = scope.values, {}
        self._open.append(node)
        try:
            with resolver.within(scope, arguments):
                failure = self._only_fails(node, module, resolver, in_clause=in_clause)
        finally:
            self._open.pop()
            scope.values = before
        if failure is not None:
            given = [each for each in failures.values() if each]
            if failure.shape.endswith("...}") and all(each.is_text for each in given):
                return failure  # it puts any text under a key for errors: it builds the failure
            # The call makes a failure of it, unless another function built the argument.
            return failure._replace(place=next((each.place for each in given if each.place), None))
        # A table of which another shape is made.
        tables = [name for name, each in arguments.items() if isinstance(each, Mapping) and failures[name]]
        whole = [
            each for each in arguments.values() if not isinstance(each, Unknown) or each.why != "the object itself"
        ]
        if len(tables) != 1 or len(whole) != 1:
            return None
        returns = _returns(node)
        return failures[tables[0]] if returns and all(mentions(each, tables[0]) for each in returns) else None

    def _argument(self, value: Value, *, in_clause: bool) -> Failure | None:
        """What shows that an argument is a failure, or a switch by which the function may make one."""
        if isinstance(value, Const) and isinstance(value.value, bool):
            return Failure(str(value.value))
        if isinstance(value, (Const, Text, Mapping, CallValue)):
            return self.failure(value, in_clause=in_clause)
        return None

    # -- tables ------------------------------------------------------------------------------------------------------

    def pairs(self, pairs: Sequence[tuple[object, Value]], *, in_clause: bool, model: bool = False) -> str | None:
        """What shows that a table, or a model of these fields, is a failure."""
        spelled = {plain(key): key for key, _ in pairs if isinstance(key, str)}
        table = {plain(key): value for key, value in pairs if isinstance(key, str)}
        if table.keys().isdisjoint(SHOWING_KEYS if in_clause else TELLING):
            return None
        asks = any(
            isinstance(value, Const) and value.value is True for key, value in table.items() if key in _QUESTIONS
        )
        if asks and not in_clause and table.keys().isdisjoint(ERROR_KEYS):
            return None
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
        if not in_clause or any(isinstance(each.value, str) and each.value.lower() in _FINE for each in states):
            return None
        return self._in_a_sentence(table, spelled)

    def _in_a_sentence(self, table: dict[str, Value], spelled: dict[str, str]) -> str | None:
        """What shows that a table that an `except` clause gives says what happened, and nothing else."""
        if any(isinstance(each, Const) and each.value is True for key, each in table.items() if key in SUCCESS_KEYS):
            return None
        if not all(key in BESIDE_AN_ERROR | SENTENCES or self._is_an_echo(value) for key, value in table.items()):
            return None
        for key in SENTENCES & table.keys():
            value = table[key]
            shown = isinstance(value, CallValue) and value.func.name in SHOWING
            if shown or (isinstance(value, (Const, Text)) and self._sentence(value, in_clause=True)):
                return f'{{"{spelled[key]}": ...}}'
        return None

    def _is_an_error(self, value: Value, table: dict[str, Value], *, in_clause: bool, model: bool) -> bool:
        """Whether the value of an `error` key is definitely an error, and the table holds nothing else."""
        if any(isinstance(each, Const) and each.value is True for key, each in table.items() if key in SUCCESS_KEYS):
            return False
        if isinstance(value, Const):
            if isinstance(value.value, str):
                return bool(value.value.strip())
            return value.value is True and not model
        if isinstance(value, Text):
            return True
        if isinstance(value, Items):
            return in_clause and value.complete and bool(value.items)
        if isinstance(value, Mapping):
            return bool(value.items)
        if isinstance(value, CallValue) and value.func.name in SHOWING:
            return True
        echoes = all(self._is_an_echo(each) for key, each in table.items() if key not in BESIDE_AN_ERROR)
        if self.certain and echoes and value.node is not None and spelling(value.node) in self.certain:
            return True
        if isinstance(value, Choice):
            return all(self._is_an_error(each, table, in_clause=in_clause, model=model) for each in options(value))
        return in_clause or (not model and not set(table) - BESIDE_AN_ERROR)

    def _is_an_echo(self, value: Value) -> bool:
        """Whether a value beside an error only repeats what was asked, or is a constant."""
        if isinstance(value, (Const, Text)):
            return True
        if isinstance(value, (Items, Mapping)):
            return value.complete and not value.items
        return isinstance(value.node, ast.Name) and value.node.id in self._parameters


def plain(key: str) -> str:
    """A key as the tables of this module have it: `_Success` is `success`."""
    return key.lower().lstrip("_")


def spelling(node: ast.AST) -> str:
    """An expression as text, by which two of them are compared."""
    return node.id if isinstance(node, ast.Name) else ast.dump(node)


def may_fail(info: ClassInfo) -> bool:
    """Whether a model shows a failure by its name or by a field, as far as the project defines it."""
    name = info.node.name
    if _FAILED_CLASS.search(name) is not None:
        return True
    return any(plain(field) in TELLING for owner in ancestry(info) for field in owner.attributes)


def _defaults(value: CallValue) -> list[tuple[object, Value]]:
    """The fields of a model that a call leaves at a default such as `success: bool = False`.

    They count where the call gives nothing but what is said beside a failure: a model that carries rows is a result.
    """
    info = class_info(value.func)
    given = {plain(key) for key, _ in value.keywords}
    if info is None or value.args or not (value.complete or given) or given - BESIDE_AN_ERROR:
        return []
    fields: dict[str, Value] = {}
    for owner in ancestry(info):
        for name, bindings in owner.attributes.items():
            binding = bindings[-1]
            if binding.kind == "annotated" and name.lower() in TELLING and binding.value is not None:
                fields.setdefault(name, _default(evaluate(binding.value, owner.body_scope)))
    return [(name, each) for name, each in fields.items() if name.lower() not in given]


def _default(value: Value) -> Value:
    """What `Field(default=...)` gives; any other value is itself."""
    if not isinstance(value, CallValue) or short(value.func.name) not in {"Field", "field"}:
        return value
    return value.argument("default", 0)


def _returns(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.expr]:
    """What a function returns; nothing where it yields, or where one of its returns has no value."""
    found: list[ast.expr] = []
    for each in walk_shallow([*node.body]):
        if isinstance(each, ast.Return):
            if each.value is None:
                return []
            found.append(each.value)
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
