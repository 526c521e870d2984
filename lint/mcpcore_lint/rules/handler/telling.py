"""What a handler puts into the message and the data of a failure."""

from __future__ import annotations

import ast
import re
import sys
from typing import TYPE_CHECKING, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.frameworks import framework_of
from mcpcore_lint.model import (
    CallValue,
    Choice,
    Const,
    Items,
    Mapping,
    Symbol,
    Unknown,
    Value,
    options,
)
from mcpcore_lint.patterns import regex
from mcpcore_lint.rules._bodies import Body, body_of, callee, inside, origin, raised_sites, short
from mcpcore_lint.rules.base import Rule, RuleContext
from mcpcore_lint.syntax.parse import walk, walk_shallow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore_lint.model import CatchSite, ErrorSite, Handler, ToolDef

STRINGIFIERS: Final = frozenset(
    {"builtins.str", "builtins.repr", "builtins.ascii", "builtins.format", "json.dumps", "orjson.dumps",
     "pprint.pformat", "traceback.format_exception", "traceback.format_exception_only", "builtins.list",
     "builtins.tuple"}
)  # fmt: skip
TRACEBACKS: Final = frozenset({"traceback.format_exc", "sys.exc_info"})
TRACEBACK: Final = "a traceback"
STRING_METHODS: Final = frozenset(
    {"strip", "lstrip", "rstrip", "lower", "upper", "title", "capitalize", "replace", "split", "splitlines", "format",
     "join", "encode", "decode", "removeprefix", "removesuffix", "partition", "rpartition", "expandtabs"}
)  # fmt: skip
EXCEPTION_TEXT: Final = frozenset(
    {"args", "message", "msg", "text", "body", "content", "__str__", "__repr__", "__notes__", "stderr", "stdout",
     "output"}
)  # fmt: skip
BODY_TEXT: Final = frozenset({"text", "content", "body"})
BODY_METHODS: Final = frozenset({"json", "text", "read", "aread", "get_data"})
_RESPONSE: Final = regex(r"(?:^|_)(?:response|resp)$", re.IGNORECASE)
_REQUESTS: Final = frozenset({"get", "post", "put", "patch", "delete", "head", "options", "request", "send", "urlopen"})
ABOUT_THE_INPUT: Final = frozenset(
    {"json.JSONDecodeError", "re.error", "re.PatternError", "zoneinfo.ZoneInfoNotFoundError", "binascii.Error",
     "decimal.InvalidOperation", "builtins.UnicodeDecodeError", "builtins.UnicodeEncodeError", "builtins.UnicodeError",
     "builtins.SyntaxError", "tomllib.TOMLDecodeError", "configparser.Error"}
)  # fmt: skip
"""What parsers say of the caller's own input: where it breaks is exactly what the caller needs."""
OS_ERRORS: Final = "builtins.OSError"


class _Teller:
    """Finds text of others in a message: of a caught exception, or of a response's body."""

    def __init__(self, body: Body, ctx: RuleContext) -> None:
        self.body = body
        self.ctx = ctx
        self._depth = 0
        self._asked: set[ast.AST] = set()

    def told(self, node: ast.expr) -> tuple[str, ast.expr] | None:
        """What an expression tells that is not the author's own, and where."""
        if self._depth == 0:
            self._asked.clear()
        self._depth += 1
        try:
            return self._told(node) if self._depth < 40 else None
        finally:
            self._depth -= 1

    def _first(self, nodes: list[ast.expr]) -> tuple[str, ast.expr] | None:
        return next((found for found in map(self.told, nodes) if found is not None), None)

    def _told(self, node: ast.expr) -> tuple[str, ast.expr] | None:
        match node:
            case ast.JoinedStr():
                return self._first([each.value for each in node.values if isinstance(each, ast.FormattedValue)])
            case ast.Name():
                return self._name(node)
            case ast.Call():
                return self._call(node)
            case ast.Attribute():
                return self._attribute(node)
            case ast.BinOp(op=ast.Add() | ast.Mod()):
                return self._first([node.left, node.right])
            case ast.Subscript() | ast.Await() | ast.NamedExpr() | ast.Starred():
                return self.told(node.value)
            case ast.IfExp():
                return self._first([node.body, node.orelse])
            case ast.BoolOp():
                return self._first(node.values)
            case ast.Tuple() | ast.List():
                return self._first(node.elts)
            case ast.Dict():
                return self._first(node.values)
        return None

    def _clause(self, node: ast.Name) -> CatchSite | None:
        for each in self.body.above(node):
            if isinstance(each, ast.ExceptHandler) and each.name == node.id:
                return self.body.catches.get(each)
        return None

    def _name(self, node: ast.Name) -> tuple[str, ast.expr] | None:
        catch = self._clause(node)
        if catch is not None:
            return (f"the text of {self._caught(catch)}", node) if self._upstream(catch, node) else None
        found = self.body.scope(node).lookup_at(node)
        if found is None or found[0].is_module:
            return None
        bindings = [each for each in found[1] if each.value is not None]
        if len(bindings) != len(found[1]) and self.body.clause_of(node) is None:
            return None
        for binding in bindings:
            if (
                binding.value is not None
                and binding.kind in {"assign", "annotated"}
                and binding.value in self.body.parents
                and binding.value not in self._asked
            ):
                # What it tells was not found, or is being looked for: once is enough for one question.
                self._asked.add(binding.value)
                told = self.told(binding.value)
                if told is not None:
                    return told[0], node
        return None

    def _call(self, node: ast.Call) -> tuple[str, ast.expr] | None:
        name = callee(node, self.body)
        if name in TRACEBACKS:
            return TRACEBACK, node
        if name in STRINGIFIERS:
            return self._first([*node.args, *(each.value for each in node.keywords if each.arg == "default")][:2])
        if isinstance(node.func, ast.Attribute):
            attr, owner = node.func.attr, node.func.value
            if attr in BODY_METHODS and self._response(owner):
                return "the body of a response", node
            if attr in {"__str__", "__repr__"}:
                return self.told(owner)
            if attr in STRING_METHODS:
                own = self.told(owner)
                if own is not None or attr not in {"format", "join"}:
                    return own
                return self._first([*node.args, *(each.value for each in node.keywords)])
        return None

    def _attribute(self, node: ast.Attribute) -> tuple[str, ast.expr] | None:
        if isinstance(node.value, ast.Name) and node.attr in EXCEPTION_TEXT:
            catch = self._clause(node.value)
            if catch is not None:
                return (f"the text of {self._caught(catch)}", node) if self._upstream(catch, node) else None
        if node.attr in BODY_TEXT and self._response(node.value):
            return "the body of a response", node
        return None

    def _response(self, node: ast.expr) -> bool:
        """Whether an expression is a response from elsewhere, by its name or by the call that made it."""
        if isinstance(node, ast.Await):
            node = node.value
        if isinstance(node, ast.Attribute):
            return bool(_RESPONSE.search(node.attr))
        if not isinstance(node, ast.Name):
            return False
        if _RESPONSE.search(node.id):
            return True
        found = self.body.scope(node).lookup_at(node)
        if found is None or found[0].is_module or node.id not in {"r", "res", "result", "reply", "answer"}:
            return False
        for binding in found[1]:
            value = binding.value
            if isinstance(value, ast.Await):
                value = value.value
            if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _REQUESTS:
                return True
        return False

    @staticmethod
    def _caught(catch: CatchSite) -> str:
        names = [short(each) for each in catch.types if each is not None]
        return f"the caught {names[0]}" if len(names) == 1 else "the caught exception"

    def _upstream(self, catch: CatchSite, at: ast.AST) -> bool:
        """Whether what a clause catches comes with text that others wrote."""
        if self._narrowed(catch, at):
            return False
        module = self.body.module.name
        verdicts = [self._type_is_upstream(each, catch, module) for each in catch.types]
        return any(verdicts)

    def _type_is_upstream(self, name: str | None, catch: CatchSite, module: str) -> bool:
        whose = origin(name, self.ctx, module)
        if name is None or whose in {"own", "framework", "unknown"}:
            return False
        if any(self.ctx.hierarchy.is_kind_of(name, each) is True for each in ABOUT_THE_INPUT):
            return False
        if whose in {"broad", "upstream"}:
            return whose == "upstream" or not self._only_own_failures(catch)
        if self.ctx.hierarchy.is_kind_of(name, OS_ERRORS) is True:
            return True
        # `except ValueError`: the sentence is the author's where the project's code raises it, and about the caller's
        # own input where a builtin such as `int` does.
        return self._calls_only_others(catch)

    def _only_own_failures(self, catch: CatchSite) -> bool:
        """Whether everything that is guarded raises on its own line."""
        return bool(catch.try_body) and all(isinstance(each, ast.Raise) for each in catch.try_body)

    def _calls_only_others(self, catch: CatchSite) -> bool:
        """Whether a third party is called, and nothing of the project's that could have raised instead."""
        nodes = walk_shallow([*catch.try_body])
        if any(isinstance(each, ast.Raise) for each in nodes):
            return False
        third_party = False
        for call in (each for each in nodes if isinstance(each, ast.Call)):
            name = callee(call, self.body)
            if not name:
                if isinstance(call.func, ast.Attribute) and call.func.attr in STRING_METHODS:
                    continue
                return False
            whose = origin(name, self.ctx, self.body.module.name)
            if whose not in {"builtin", "upstream"}:
                return False
            third_party = third_party or (whose == "upstream" and name.partition(".")[0] not in sys.stdlib_module_names)
        return third_party

    def _narrowed(self, catch: CatchSite, at: ast.AST) -> bool:
        """Whether `isinstance(error, Mine)` round the place says that it is the project's own exception."""
        for each in self.body.above(at):
            if each is catch.node:
                return False
            tests = [each.test] if isinstance(each, ast.If) and not inside(at, each.orelse) else []
            for test in tests:
                for call in walk([test]):
                    if (
                        isinstance(call, ast.Call)
                        and callee(call, self.body) == "builtins.isinstance"
                        and len(call.args) == 2
                    ):
                        named = self.body.value(call.args[1])
                        classes = named.items if isinstance(named, Items) else (named,)
                        if all(
                            isinstance(one, Symbol)
                            and origin(one.name, self.ctx, self.body.module.name) in {"own", "framework"}
                            for one in classes
                        ):
                            return True
        return False


class NoStringifyUpstreamError(Rule):
    """The text of somebody else's exception, or a response's body, in the message."""

    id = "no-stringify-upstream-error"
    severity = Severity.WARNING
    family = "handler"
    summary = "an upstream exception or a response's body put into the message of a failure"
    why = (
        "What a library or a service says was written for its own log: it names hosts, paths, queries and tokens, "
        "changes with every release, and may carry instructions to the model from whoever controls the service. On "
        "servers without mcpcore the finding is information. Where SDK 2, or FastMCP with `mask_error_details=True`, "
        "hides the text of other exceptions, the message gives it away after all. SDK 1 and FastMCP send the text of "
        "any exception, wrapped or not: there only a traceback is reported, unless the rule is selected by its id."
    )
    bad = 'raise service_unavailable(f"PubMed failed: {error}") from error'
    good = 'raise service_unavailable("PubMed did not answer", data={"status": error.response.status_code}) from error'
    how_to_fix = (
        "Say in your own words what failed, put facts (a status, an errno) into `data` (without mcpcore: into the "
        "sentence), and chain the exception with `from`: the log keeps its text."
    )
    when_to_suppress = "Where the text is the answer: what a database says about the caller's own SQL, say."

    def check_handler(self, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each message that tells what somebody else wrote."""
        body = body_of(handler)
        teller = _Teller(body, ctx)
        reaches_client = {"fail", "factory", "coded", "framework", "protocol"}
        others = {"builtin", "project"}
        plain = tool.flavour != "mcpcore"
        for error in raised_sites(handler):
            if error.form not in reaches_client and not (plain and error.form in others):
                continue
            message = self._message(error)
            told = teller.told(message) if message is not None else None
            if told is None:
                continue
            if plain and not self._matters(told[0], tool, ctx, shown=error.form in reaches_client):
                continue
            facts = "" if plain else "put facts into data, "
            ctx.report(
                error.node,
                f"{told[0]} is put into the message of {self._name(error)}",
                help=f"say what failed in your own words, {facts}and keep the cause with `from`",
                tool=tool,
                module=handler.module,
                weight=Severity.INFO if plain else None,
            )

    @staticmethod
    def _matters(text: str, tool: ToolDef, ctx: RuleContext, *, shown: bool) -> bool:
        """Whether the framework of a plain server shows a text only because a message repeats it.

        Args:
            text: The text that the message repeats.
            tool: The tool that fails.
            ctx: The context of the rule.
            shown: Whether every framework shows the messages of the error's class.
        """
        if framework_of(tool).handling(tool.kind).sends:
            return text == TRACEBACK or ctx.named  # it sends the text of any exception
        return shown

    @staticmethod
    def _name(error: ErrorSite) -> str:
        return "ctx.fail" if error.form == "fail" else short(error.callee)

    @staticmethod
    def _message(error: ErrorSite) -> ast.expr | None:
        node = error.message.node
        if error.form == "protocol" and isinstance(error.node, ast.Call):
            for each in walk([error.node]):
                if isinstance(each, ast.keyword) and each.arg == "message":
                    return each.value
            return error.node.args[1] if len(error.node.args) > 1 else None
        if node is None and isinstance(error.node, ast.Call) and error.form in {"framework", "builtin", "project"}:
            return error.node.args[0] if error.node.args else None
        return node


# ---------------------------------------------------------------------------------------------------------------------

_UNFIT_SYNTAX: Final[dict[type, str]] = {
    ast.SetComp: "a set",
    ast.GeneratorExp: "a generator",
    ast.Lambda: "a function",
}
UNFIT_CALLS: Final[dict[str, str]] = {
    "builtins.set": "a set",
    "builtins.frozenset": "a frozenset",
    "builtins.complex": "a complex number",
    "builtins.object": "an object",
    "builtins.iter": "an iterator",
    "builtins.map": "an iterator",
    "builtins.filter": "an iterator",
    "builtins.zip": "an iterator",
    "builtins.enumerate": "an iterator",
    "builtins.reversed": "an iterator",
    "builtins.open": "an open file",
    "builtins.memoryview": "a memoryview",
    "threading.Lock": "a lock",
    "asyncio.Lock": "a lock",
}
UNFIT_NAMES: Final[dict[str, str]] = {
    "math.nan": "NaN",
    "math.inf": "infinity",
    "numpy.nan": "NaN",
    "numpy.inf": "infinity",
}
_NOT_FINITE: Final = regex(r"\s*[+-]?(?:nan|inf|infinity)\s*\Z", re.IGNORECASE)


class _Misfits:
    """Finds what the wire cannot carry in a value, with the expression that brings it in."""

    def __init__(self, body: Body) -> None:
        self.body = body
        self.nodes = body.parents

    def find(self, node: ast.expr, value: Value, depth: int = 0) -> Iterator[tuple[str, ast.AST]]:
        """Each misfit, and its expression."""
        if depth > 20:
            return
        syntax = self._by_syntax(node)
        if syntax is not None:
            yield syntax, node
            return
        for each in options(value):
            at = each.node if each.node is not None and each.node in self.nodes else node
            yield from self._value(each, at, depth)

    def _by_syntax(self, node: ast.AST | None) -> str | None:
        if isinstance(node, ast.Name) and self.body.catches:
            for each in self.body.above(node):
                if isinstance(each, ast.ExceptHandler) and each.name == node.id:
                    return "an exception"
        return _UNFIT_SYNTAX.get(type(node))

    def _value(self, value: Value, at: ast.AST, depth: int) -> Iterator[tuple[str, ast.AST]]:
        if isinstance(value, Unknown):
            syntax = self._by_syntax(value.node)
            if syntax is not None:
                yield syntax, at
        elif isinstance(value, Const):
            if isinstance(value.value, complex) and not isinstance(value.value, (int, float)):
                yield "a complex number", at
            elif isinstance(value.value, float) and value.value in {float("inf"), float("-inf")}:
                yield "infinity", at
        elif isinstance(value, Items):
            if value.kind == "set":
                yield "a set", at
            else:
                for each in value.items:
                    yield from self._inner(each, at, depth)
        elif isinstance(value, Mapping):
            for key, each in value.items:
                if isinstance(key, Const) and not isinstance(key.value, str):
                    yield f"the key {key.value!r}, which is not a string,", key.node if key.node in self.nodes else at
                elif isinstance(key, Items) and key.kind == "tuple":
                    yield "the key that is a tuple, which is not a string,", key.node if key.node in self.nodes else at
                yield from self._inner(each, at, depth)
        elif isinstance(value, CallValue):
            yield from self._called(value, at)
        elif isinstance(value, Symbol):
            name = self._symbol(value)
            if name is not None:
                yield name, at

    def _inner(self, value: Value, at: ast.AST, depth: int) -> Iterator[tuple[str, ast.AST]]:
        node = value.node if isinstance(value.node, ast.expr) else None
        here = node if node is not None and node in self.nodes else at
        if isinstance(value, Choice):
            for each in value.options:
                yield from self._inner(each, here, depth + 1)
            return
        syntax = self._by_syntax(node)
        if syntax is not None:
            yield syntax, here
        elif depth < 20:
            yield from self._value(value, here, depth + 1)

    @staticmethod
    def _called(value: CallValue, at: ast.AST) -> Iterator[tuple[str, ast.AST]]:
        name = value.func.name
        if name in UNFIT_CALLS:
            yield UNFIT_CALLS[name], at
        elif name == "builtins.float" and value.args:
            given = value.args[0]
            if isinstance(given, Const) and isinstance(given.value, str) and _NOT_FINITE.match(given.value):
                yield ("NaN" if "nan" in given.value.lower() else "infinity"), at

    @staticmethod
    def _symbol(value: Symbol) -> str | None:
        if value.name in UNFIT_NAMES:
            return UNFIT_NAMES[value.name]
        definition = value.definition
        if isinstance(definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return "a function"
        if isinstance(definition, ast.ClassDef):
            return "a class"
        if isinstance(definition, ast.Module):
            return "a module"
        if value.name.startswith("builtins."):
            return "a class" if value.name[9:10].isupper() or value.name in UNFIT_CALLS else "a function"
        return None


class DetailsNotJson(Rule):
    """`data` with a value that JSON cannot say."""

    id = "details-not-json"
    severity = Severity.WARNING
    family = "handler"
    summary = "`data` holds a value that the wire cannot carry: a set, NaN, a function, a key that is not a string"
    why = (
        "The boundary never sends broken JSON: what does not fit is replaced by a name for it, and the fact that the "
        "agent needed is gone. Dates, decimals, UUIDs, enums, paths, bytes and models do fit, and are converted."
    )
    bad = 'raise ctx.fail("no_match", data={"pmids": {"1", "2"}})'
    good = 'raise ctx.fail("no_match", data={"pmids": ["1", "2"]})'
    how_to_fix = "Give a list, a string or a number that says the same: `sorted(pmids)`, `str(key)`, `None` for NaN."
    when_to_suppress = "Never for what is sent; the rule reports only what is certain."

    def check_handler(self, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
        """Report what is certain not to fit, in the data of every error that is made."""
        body = body_of(handler)
        misfits = _Misfits(body)
        for error in handler.errors:
            if error.form not in {"fail", "factory", "coded", "protocol"} or error.data.node is None:
                continue
            seen: set[int] = set()
            for what, at in misfits.find(error.data.node, error.data.value):
                place = at if inside(at, [error.node]) else error.data.node
                line = getattr(place, "lineno", 0)
                if line in seen:
                    continue
                seen.add(line)
                ctx.report(
                    place,
                    f"data holds {what} that the wire cannot carry".replace(", that", ", that")
                    if not what.startswith("the key")
                    else f"data holds {what} and which the wire cannot carry",
                    help="give a list, a string or a number that says the same",
                    tool=tool,
                    module=handler.module,
                    related=[] if place is at else [ctx.related(at, "it is made here", handler.module)],
                )
