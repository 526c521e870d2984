"""Failures that are returned like results, by their text, their keys, or what builds them."""

import ast
import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from mcpcore_lint.engine.flow.bodies.builder import HandlerBuilder
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.semantics.symbols import class_info, is_static
from mcpcore_lint.engine.semantics.type_model import ancestry
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.parse import mentions, own_nodes, returned, statements, walk
from mcpcore_lint.model import CallValue, Choice, Const, Handler, Items, Mapping, Text, Value, options, string
from mcpcore_lint.patterns import (
    ERROR_DOING,
    FAILED_STATUS,
    FAILURE_KEYS,
    SIGNS,
    STATUS_KEYS,
    SUCCESS_KEYS,
    VERDICT_KEYS,
    regex,
)
from mcpcore_lint.rule import RuleContext
from mcpcore_lint.rules._bodies import Body, body_of, short, text_start, unpacked
from mcpcore_lint.rules.handler._changes import keys_set
from mcpcore_lint.rules.handler._conversions import CALL_RESULTS, CONTENTS, all_have_part, converts, core_of
from mcpcore_lint.rules.handler._passed import TRUE, constants, evaluate_with, holds, settings_of

# Keys are compared in lower case: `{"Status": "Failed"}`, `{"isError": True}`.
ERROR_KEYS: Final = frozenset({"error", "errors", "error_message", "errormessage"})
MARKING_KEYS: Final = SUCCESS_KEYS | FAILURE_KEYS | STATUS_KEYS | ERROR_KEYS
"""Keys of which a failure has at least one."""
MESSAGE_KEYS: Final = frozenset({"message", "detail", "msg", "reason"})
_TEXT_KEYS: Final = MESSAGE_KEYS | {"result", "output", "text", "content", "response"}
"""Keys whose text, if an `except` clause returns nothing else, is about the failure."""
_ERROR_CODES: Final = frozenset({"error_code", "errorcode", "error_type", "errortype"})
"""Keys that only a failure has."""
RELEVANT_KEYS: Final = MARKING_KEYS | _TEXT_KEYS | _ERROR_CODES
_ERROR_DETAILS: Final = frozenset(
    {"error", "message", "detail", "details", "code", "hint", "suggestion", "status", "type", "error_type", "reason",
     "error_code", "errorcode", "traceback", "status_code", "success", "ok", "tool", "help"}
)  # fmt: skip
"""Keys that describe a failure. A mapping with other keys may be a result."""
_DECLINED: Final = regex(
    r"\b(?:cancel+ed|declined|rejected|aborted)(?: by (?:the |a )?(?:user|person|human))?[.!]?(?:\s|$)", re.IGNORECASE
)
"""The user said no, which is an answer and not a failure."""
_FAILURE: Final = regex(
    rf"\s*(?:{SIGNS}+\s*)?(?:\*\*)?(?:error|failure)(?:\*\*)?\s*(?::|!|-\s|\u2013)|\s*\u274c"
    rf"|\s*(?:an? )?(?:unexpected )?error (?:(?:occurred|while|when|in|during)\b|{ERROR_DOING})"
    r"|\s*(?:failed|unable) to \w+"
    r"|\s*failed [a-z]+ing\b"
    r"|\s*encountered an error\b",
    re.IGNORECASE,
)
_FAILURE_IN_CLAUSE: Final = regex(
    rf"\s*(?:{SIGNS}+\s*)?(?:\W*)(?:(?:an? )?(?:\w+ ){{0,3}}(?:error|exception|failure|timed out)\b"
    r"|(?:\w+ ){0,3}timeout(?=\W*\Z|\s*[:.!(]| (?:after|while|waiting)\b)"
    r"|(?:failed|failure|invalid|unable to|could not|couldn't|can't|cannot|something went wrong)\b)"
    r"|.{0,60}\b(?:failed|error)\b\s*[:.!(]",
    re.IGNORECASE,
)
MARKS: Final = frozenset({"isError", "is_error"})
"""The keywords that mark such a result as failed."""
_HAND_MADE: Final = "a hand-made"
EXCEPTION_TEXT: Final = "the text of the caught exception"
_A_TEXT: Final = "the text"
_WHICH_FAILED: Final = ", which failed"
_TEXT_FUNCTIONS: Final = frozenset({"builtins.str", "builtins.repr", "traceback.format_exc"})
_TEXT_NAMES: Final = frozenset({"str", "repr", "type"})
_LETTER: Final = regex(r"[^\W\d_]")
_MAX_DEPTH: Final = 48
"""How many functions that return the result of another one are followed."""
_MAX_CALLS: Final = 500
"""How many calls are evaluated with their arguments for one handler."""


class Place(NamedTuple):
    """Where a function of the project builds a failure."""

    node: ast.AST
    module: Module
    function: ast.FunctionDef | ast.AsyncFunctionDef


class Failure(NamedTuple):
    """A failure that is returned like a result."""

    shape: str
    """The key, the text or the class that shows it, as in the code: `{"error": ...}`."""
    place: Place | None = None
    """Where it is built, if another function of the project builds it."""

    @property
    def is_marked(self) -> bool:
        """Whether it is marked as failed: `CallToolResult(is_error=True)`."""
        return self.shape.startswith(_HAND_MADE)

    @property
    def is_text(self) -> bool:
        """Whether a text shows it, rather than a key."""
        return self.shape.startswith(_A_TEXT)

    @classmethod
    def quoted(cls, name: str) -> "Failure":
        """The failure whose text comes from a response, a process or an exception of this name."""
        return cls(f"{_A_TEXT} of {name}{_WHICH_FAILED}")

    @property
    def is_quoted(self) -> bool:
        """Whether its text comes from something that failed."""
        return self.shape.endswith(_WHICH_FAILED)


class FailureDetector:
    """Tells whether an answer of one function is a failure."""

    def __init__(self, function: Handler, ctx: RuleContext, *, contract_tool: bool) -> None:
        self._ctx = ctx
        self._contract_tool = contract_tool
        """Whether the answer is that of a tool of mcpcore, where a result that is marked as failed counts, too."""
        self._caught = {catch.name for catch in function.catches if catch.name is not None}
        """The names of caught exceptions, and of their texts: `reason = str(e)`."""
        self._caught |= {
            part.targets[0].id
            for part in statements([part for catch in function.catches for part in catch.body])
            if isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name)
            if self._is_exception_text(part.value)
        }
        self._parameters = {parameter.name for parameter in function.parameters}
        self._calls_left = _MAX_CALLS
        self._open: list[ast.AST] = []
        """The functions that are being evaluated."""

    def failure(self, value: Value, *, in_clause: bool, own: bool = True) -> Failure | None:
        """The failure that an answer is; None if it is a result.

        Args:
            value: The answer.
            in_clause: Whether an `except` clause returns it, so that weaker signs are enough.
            own: Whether the answer itself displays a mapping, which therefore cannot have changed.
        """
        value = unpacked(value)
        if isinstance(value, Choice):
            failures = [self.failure(option, in_clause=in_clause, own=own) for option in options(value)]
            return failures[0] if failures and all(failures) else None
        if isinstance(value, (Const, Text)):
            shape = self._text_shape(value, in_clause=in_clause)
            return None if shape is None else Failure(shape)
        if isinstance(value, Mapping):
            return self._mapping(value, in_clause=in_clause) if own or value.complete else None
        if isinstance(value, Items):
            alone = value.complete and len(value.items) == 1 and value.kind != "set"
            return (
                self.failure(value.items[0], in_clause=in_clause, own=own)
                if alone
                else self._pair(value, in_clause=in_clause)
            )
        return self._call(value, in_clause=in_clause, own=own) if isinstance(value, CallValue) else None

    def _pair(self, value: Items, *, in_clause: bool) -> Failure | None:
        """The failure that a tuple is which holds nothing but a failure and empty values: `(None, str(e))`."""
        items = [item for item in value.items if not (isinstance(item, Const) and not item.value)]
        if not in_clause or value.kind != "tuple" or not value.complete or len(items) != 1:
            return None
        failure = self.failure(items[0], in_clause=True)
        return None if failure is None else failure._replace(shape=f"a tuple with {failure.shape}")

    def _mapping(self, value: Mapping, *, in_clause: bool) -> Failure | None:
        table = {key.value: item for key, item in value.items if isinstance(key, Const)}
        shape = self.shape_of_fields([*table.items()], in_clause=in_clause)
        if shape is not None:
            return Failure(shape)
        # A result and its text as in the protocol: `{"content": [{"type": "text", "text": ...}]}`.
        content = table.get("text") if string(table.get("type", value)) == "text" else table.get("content")
        return self.failure(content, in_clause=in_clause) if content is not None else None

    def _text_shape(self, value: Const | Text, *, in_clause: bool) -> str | None:
        start = text_start(value)
        if not start:
            return EXCEPTION_TEXT if in_clause and self._is_exception_text(value.node) else None
        whole = "".join(part or "_" for part in value.parts) if isinstance(value, Text) else start
        is_failure = _FAILURE.match(start) or (
            in_clause and (_FAILURE_IN_CLAUSE.match(whole) or self._explains(value.node))
        )
        return f'{_A_TEXT} "{start.strip()[:30].strip()}..."' if is_failure else None

    def _call(self, value: CallValue, *, in_clause: bool, own: bool) -> Failure | None:
        name, definition = value.func.name, value.func.definition
        if name in _TEXT_FUNCTIONS:
            if in_clause and (name == "traceback.format_exc" or self._is_exception_text(value.node)):
                return Failure(EXCEPTION_TEXT)
            return self.failure(value.args[0], in_clause=in_clause) if value.args and name == "builtins.str" else None
        if name == "mcp.TextContent":
            return self.failure(value.argument("text", 1), in_clause=in_clause, own=own)
        if isinstance(definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return self._of_function(definition, value, in_clause=in_clause)
        is_class = isinstance(definition, ast.ClassDef)
        bases = self._ctx.hierarchy.ancestors(name, value.func)[0] if is_class else frozenset({name})
        if not bases.isdisjoint(CALL_RESULTS):
            # On the SDK and FastMCP this is how a tool fails with its own text.
            for key, marked in value.keywords:
                if key in MARKS and not (isinstance(marked, Const) and marked.value is False):
                    is_marked = self._contract_tool and isinstance(marked, Const) and marked.value is True
                    return Failure(f"{_HAND_MADE} {short(name)}({key}=True)") if is_marked else None
            contents = [self.failure(value.argument(key), in_clause=in_clause, own=own) for key in CONTENTS]
            return next(filter(None, contents), None)
        is_model = is_class and own and not any("Exception" in base for base in bases)
        fields = [*value.keywords, *_defaults(value)] if is_model else []
        shape = self.shape_of_fields(fields, in_clause=in_clause, model=True)
        return Failure(f"{short(name)}({shape.strip('{}').replace(': ', '=').replace(chr(34), '')})") if shape else None

    def _is_exception_text(self, node: ast.AST | None) -> bool:
        """Whether a text consists of the caught exception alone: `str(e)`, `f"{type(e).__name__}: {e}"`."""
        nodes = walk([node]) if isinstance(node, (ast.Call, ast.JoinedStr)) else []
        names = {part.id for part in nodes if isinstance(part, ast.Name)}
        words = (part.value for part in nodes if isinstance(part, ast.Constant) and isinstance(part.value, str))
        return (
            bool(names & self._caught) and names <= self._caught | _TEXT_NAMES and not any(map(_LETTER.search, words))
        )

    def tells_exception(self, call: ast.Call) -> bool:
        """Whether a call passes on the caught exception or its text."""
        return any(mentions(part, name) for part in (*call.args, *call.keywords) for name in self._caught)

    def _explains(self, node: ast.AST | None) -> bool:
        """Whether a text tells the caught exception and nothing that was computed: `f"no rows of {table} ({e})"`.

        A fact of the exception, such as its status, may well be an answer.
        """
        if not isinstance(node, (ast.JoinedStr, ast.BinOp)):
            return False
        parts = [*walk([node])]
        names = {part.id for part in parts if isinstance(part, ast.Name)}
        objects = {
            part.value.id for part in parts if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name)
        }
        return bool((names - objects) & self._caught) and names <= self._caught | self._parameters | _TEXT_NAMES

    def _of_function(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, call: CallValue, *, in_clause: bool
    ) -> Failure | None:
        """The failure that a function returns, whatever its arguments or because of one of them."""
        module = self._ctx.project.module_defining(node)
        if module is None or node in self._open or len(self._open) > _MAX_DEPTH:
            return None
        self._open.append(node)
        try:
            # Some servers call one such function a thousand times.
            function = HandlerBuilder.of(node, module, self._ctx.hierarchy).model
            settings = settings_of(function, call.args, dict(call.keywords), complete=call.complete)
            key = ("always returns a failure", node, self._contract_tool, settings)
            always = module.once(key, lambda: self._only_failures(node, module, constants(settings, function)))
            return always or self._with_arguments(node, module, call, in_clause=in_clause)
        finally:
            self._open.pop()

    def _only_failures(
        self,
        node: ast.FunctionDef | ast.AsyncFunctionDef,
        module: Module,
        arguments: dict[str, Value],
        *,
        in_clause: bool = False,
    ) -> Failure | None:
        """The first failure that a function returns; None if one of its answers is a result."""
        first: Failure | None = None
        scope, function = module.scope_of(node), HandlerBuilder.of(node, module, self._ctx.hierarchy).model
        for answer in _returned_values(node):
            core = core_of(answer, scope)
            # A failure that a function gets and adds something to is still one.
            is_made = isinstance(core, ast.Name) and core.id not in arguments
            own = not (is_made and may_change(core, body_of(function), arguments))
            for option in options(evaluate_with(arguments, answer, scope)):
                failure = self.failure(option, in_clause=in_clause, own=own)
                if failure is None:
                    return None
                first = first or failure._replace(place=failure.place or Place(answer, module, node))
        return first

    def _with_arguments(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, module: Module, call: CallValue, *, in_clause: bool
    ) -> Failure | None:
        """The failure that a function makes of one among its arguments: `as_text({"ok": False})`, `describe(error)`."""
        self._calls_left -= 1
        if not call.complete or self._calls_left < 0:
            return None
        names = [parameter.arg for parameter in (*node.args.posonlyargs, *node.args.args)]
        is_method = module.scope_of(node).owner is not None and not is_static(node)
        arguments = {**dict(zip(names[is_method:], call.args, strict=False)), **dict(call.keywords)}
        failures = {key: self.failure(value, in_clause=in_clause) for key, value in arguments.items()}
        texts = [key for key, value in arguments.items() if in_clause and getattr(value.node, "id", "") in self._caught]
        # A function that raises may raise for the failure that it gets.
        if not (texts or any(failures.values())) or any(isinstance(part, ast.Raise) for part in walk([*node.body])):
            return None
        failure = self._only_failures(node, module, arguments, in_clause=in_clause)
        if failure is not None:
            # The call builds the failure, unless another function built the argument.
            places = (argument.place for argument in failures.values() if argument is not None and argument.place)
            return failure._replace(place=next(places, None))
        # A fact of the exception, such as its status, may well be an answer.
        if texts:
            return Failure(EXCEPTION_TEXT) if converts(node, module, texts[0]) else None
        # The function may convert a mapping or a model into another form: `as_text(answer)`.
        plain = [key for key, value in arguments.items() if not isinstance(value, Const)]
        name = plain[0] if len(plain) == 1 else ""
        if not isinstance(arguments.get(name), (Mapping, CallValue)):
            return None
        fields = getattr(arguments[name], "items", ()) if in_clause else ()
        empty = all(isinstance(value, Const) and not value.value for key, value in arguments.items() if key != name)
        keeps = empty and any(string(key) == "error" for key, _ in fields) and self._keeps(node, module, name)
        return failures[name] if keeps or converts(node, module, name) else None

    def _keeps(self, node: ast.FunctionDef | ast.AsyncFunctionDef, module: Module, name: str) -> bool:
        """Whether each answer of a function has an argument as a part, if the argument is not empty."""
        body = body_of(HandlerBuilder.of(node, module, self._ctx.hierarchy).model)
        answers = [
            answer
            for answer in returned(node)
            if all(holds(test, {name: TRUE}) in {None, truth} for test, truth in body.tests(answer))
        ]
        return all_have_part(answers, name, body)

    # Mappings and models

    def shape_of_fields(
        self, fields: Sequence[tuple[object, Value]], *, in_clause: bool, model: bool = False
    ) -> str | None:
        """The field that shows that a mapping, or a model, is a failure: `{"error": ...}`."""
        spelled = {normalized(key): key for key, _ in fields if isinstance(key, str)}
        table = {normalized(key): value for key, value in fields if isinstance(key, str)}
        declined = any(_is_declined(key, value) for key, value in table.items())
        values = [table[key] for key in SUCCESS_KEYS & table.keys()] if in_clause else []
        # A check that says itself that it failed has no verdict.
        fails = any(isinstance(value, Const) and value.value is False for value in values)
        if table.keys() & VERDICT_KEYS and not fails:
            return None
        for key, value in table.items():
            constant = value.value if isinstance(value, Const) else ...
            if key in SUCCESS_KEYS and constant is False and not declined:
                return f'{{"{spelled[key]}": False}}'
            if key in FAILURE_KEYS and constant is True:
                return f'{{"{spelled[key]}": True}}'
            status = str(constant).lower()
            # In a clause, the last word says it: `{"status": "creation_failed"}`.
            status = status.rpartition("_")[2] if in_clause else status
            if key in STATUS_KEYS and isinstance(constant, str) and status in FAILED_STATUS:
                explained = table.keys() & (ERROR_KEYS | MESSAGE_KEYS)
                # `{"job": a, "status": "error"}` is the state of a job, unless it says what went wrong.
                alone = not model and table.keys() <= _ERROR_DETAILS | {key}
                if in_clause or [bool(explained), alone, constant.lower() == "error"].count(True) > 1:
                    return f'{{"{spelled[key]}": "{constant}"}}'
            if key in ERROR_KEYS and self._is_error(value, table, in_clause=in_clause, model=model):
                return f'{{"{spelled[key]}": ...}}'
        return self._shape_of_text(table, spelled) if in_clause else None

    def _shape_of_text(self, table: dict[str, Value], spelled: dict[str, str]) -> str | None:
        """The field that shows that a mapping from an `except` clause only describes the failure."""
        if _says_success(table) or any(
            key not in _ERROR_DETAILS | _TEXT_KEYS
            and not (isinstance(value, (Const, Text)) or isinstance(value.node, (ast.Name, ast.arg)))
            for key, value in table.items()
        ):
            return None
        for key, value in table.items():
            is_text = (
                value.func.name in _TEXT_FUNCTIONS
                if isinstance(value, CallValue)
                else isinstance(value, (Const, Text)) and self._text_shape(value, in_clause=True) is not None
            )
            is_empty = isinstance(value, Const) and not value.value
            if (key in _ERROR_CODES and not is_empty) or (key in _TEXT_KEYS and is_text):
                return f'{{"{spelled[key]}": ...}}'
        return None

    def _is_error(self, value: Value, table: dict[str, Value], *, in_clause: bool, model: bool) -> bool:
        """Whether the value of an `error` key is certainly an error, and the table holds nothing else."""
        if _says_success(table):
            return False
        if isinstance(value, Const):
            return bool((string(value) or "").strip()) or (value.value is True and not model)
        if isinstance(value, Text) or (isinstance(value, CallValue) and value.func.name in _TEXT_FUNCTIONS):
            return True
        if isinstance(value, (Items, Mapping)):
            return bool(value.items) and (in_clause or isinstance(value, Mapping))
        if isinstance(value, Choice):
            return all(self._is_error(option, table, in_clause=in_clause, model=model) for option in options(value))
        return in_clause or (not model and table.keys() <= _ERROR_DETAILS | ERROR_KEYS)


def may_change(node: ast.expr, body: Body, arguments: dict[str, Value]) -> bool:
    """Whether code may change a field that shows a failure in a mapping before it returns the mapping."""
    if not isinstance(node, ast.Name):
        return True
    # An error that is added to a failure changes nothing about it.
    clearing = MARKING_KEYS - ERROR_KEYS
    return any(
        key is None or normalized(key) in (MARKING_KEYS if isinstance(value, Const) and not value.value else clearing)
        for key, value in keys_set(node, body, arguments)
    )


def normalized(key: str) -> str:
    """A key in the spelling of this module's tables: `_Success` is `success`."""
    return key.lower().lstrip("_")


def _says_success(table: dict[str, Value]) -> bool:
    values = (table[key] for key in SUCCESS_KEYS & table.keys())
    return any(isinstance(value, Const) and value.value is True for value in values)


def _defaults(value: CallValue) -> list[tuple[object, Value]]:
    """The fields of a model that a call leaves at a default such as `success: bool = False`.

    They count only if the call passes the code of a failure, or nothing but its description. A model with rows is a
    result.
    """
    info = class_info(value.func)
    passed = {normalized(key): item for key, item in value.keywords}
    # `error_code=None` says that nothing failed.
    has_code = any(
        key in _ERROR_CODES and not (isinstance(item, Const) and not item.value) for key, item in passed.items()
    )
    if info is None or (passed.keys() - _ERROR_DETAILS and not has_code):
        return []
    defaults: dict[str, Value] = {}
    for owner in ancestry(info):
        for name, bindings in owner.attributes.items():
            binding = bindings[-1]
            if name.lower() in MARKING_KEYS and binding.value is not None:
                default = evaluate(binding.value, owner.body_scope)
                # `Field(default="error")`
                defaults.setdefault(name, default.argument("default", 0) if isinstance(default, CallValue) else default)
    return [(name, default) for name, default in defaults.items() if name.lower() not in passed]


def _returned_values(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.expr]:
    """The values that a function returns; none if it yields, returns nothing, or has more than four returns."""
    nodes = own_nodes(node)
    values = [part.value for part in nodes if isinstance(part, ast.Return)]
    known = [value for value in values if value is not None]
    yields = any(isinstance(part, (ast.Yield, ast.YieldFrom)) for part in nodes)
    return known if len(known) == len(values) <= 4 and not yields else []


def _is_declined(key: str, value: Value) -> bool:
    """Whether a field says that the user said no."""
    parts = value.parts if isinstance(value, Text) else (string(value),)
    text = " ".join(part or "" for part in parts)
    return key in STATUS_KEYS | MESSAGE_KEYS and _DECLINED.search(text) is not None
