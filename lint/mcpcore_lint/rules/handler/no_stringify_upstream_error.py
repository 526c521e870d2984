"""no-stringify-upstream-error: a message contains the text of an upstream exception or response."""

from __future__ import annotations

import ast
import re
import sys
from typing import TYPE_CHECKING, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.frameworks import framework_of
from mcpcore_lint.model import Items, Symbol
from mcpcore_lint.patterns import regex
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._bodies import Body, body_of, callee, inside, origin, raised_sites, short
from mcpcore_lint.syntax.parse import walk, walk_shallow

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcpcore_lint.model import CatchSite, ErrorSite, Handler, ToolDef

_STRINGIFIERS: Final = frozenset(
    {"builtins.str", "builtins.repr", "builtins.ascii", "builtins.format", "json.dumps", "orjson.dumps",
     "pprint.pformat", "traceback.format_exception", "traceback.format_exception_only", "builtins.list",
     "builtins.tuple"}
)  # fmt: skip
_TRACEBACKS: Final = frozenset({"traceback.format_exc", "sys.exc_info"})
_TRACEBACK: Final = "a traceback"
_STRING_METHODS: Final = frozenset(
    {"strip", "lstrip", "rstrip", "lower", "upper", "title", "capitalize", "replace", "split", "splitlines", "format",
     "join", "encode", "decode", "removeprefix", "removesuffix", "partition", "rpartition", "expandtabs"}
)  # fmt: skip
_EXCEPTION_TEXT: Final = frozenset(
    {"args", "message", "msg", "text", "body", "content", "__str__", "__repr__", "__notes__", "stderr", "stdout",
     "output"}
)  # fmt: skip
_BODY_TEXT: Final = frozenset({"text", "content", "body"})
_BODY_METHODS: Final = frozenset({"json", "text", "read", "aread", "get_data"})
_RESPONSE: Final = regex(r"(?:^|_)(?:response|resp)$", re.IGNORECASE)
_SHORT_NAMES: Final = frozenset({"r", "res", "result", "reply", "answer"})
_REQUESTS: Final = frozenset({"get", "post", "put", "patch", "delete", "head", "options", "request", "send", "urlopen"})
_ABOUT_THE_INPUT: Final = frozenset(
    {"json.JSONDecodeError", "re.error", "re.PatternError", "zoneinfo.ZoneInfoNotFoundError", "binascii.Error",
     "decimal.InvalidOperation", "builtins.UnicodeDecodeError", "builtins.UnicodeEncodeError", "builtins.UnicodeError",
     "builtins.SyntaxError", "tomllib.TOMLDecodeError", "configparser.Error"}
)  # fmt: skip
"""Exceptions by which a parser says where the caller's own input is wrong, which the caller needs to know."""
_MAX_DEPTH: Final = 40


class NoStringifyUpstreamError(Rule):
    """The text of an upstream exception or response in a message."""

    id = "no-stringify-upstream-error"
    severity = Severity.WARNING
    family = "handler"
    summary = "the client reads text that a library or a service wrote for its own log"
    why = (
        "The text of an upstream exception or the body of a response names hosts, paths, queries and tokens, changes "
        "with every release, and may carry instructions to the model from whoever controls the service. On servers "
        "without mcpcore the finding is information. SDK 2, and FastMCP with `mask_error_details=True`, hide the text "
        "of other exceptions, so the message reveals what they would hide. SDK 1 and FastMCP send the text of any "
        "exception, wrapped or not: there only a traceback is reported, unless the rule is selected by its id."
    )
    bad = 'except httpx.HTTPError as error:\n    raise service_unavailable(f"PubMed failed: {error}") from error'
    good = (
        "except httpx.HTTPError as error:\n"
        '    raise service_unavailable("PubMed failed", data={"status": error.response.status_code}) from error'
    )
    how_to_fix = (
        "Say in your own words what failed, and put facts such as a status or an errno into `data` (without mcpcore: "
        "into the message). Chain the exception with `from`: the log keeps its text."
    )
    when_to_suppress = "If the caller asked for the text: for example, the database's message about the caller's SQL."

    def check_handler(self, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each message that contains upstream text."""
        finder = _TextFinder(body_of(handler), ctx)
        uses_sdk = tool.flavour != "mcpcore"
        for error in raised_sites(handler):
            shown = error.form in {"fail", "factory", "coded", "framework", "protocol"}
            if not shown and not (uses_sdk and error.form in {"builtin", "project"}):
                continue
            message = _message_of(error)
            text = finder.find(message) if message is not None else None
            if text is None or (uses_sdk and not _is_revealed(text, tool, ctx, shown=shown)):
                continue
            name = "ctx.fail" if error.form == "fail" else short(error.callee)
            facts = "" if uses_sdk else "put facts into data, "
            ctx.report(
                error.node,
                f"the client reads {text} in the message of {name}",
                help=f"say what failed in your own words, {facts}and keep the cause with `from`",
                tool=tool,
                module=handler.module,
                weight=Severity.INFO if uses_sdk else None,
            )


def _is_revealed(text: str, tool: ToolDef, ctx: RuleContext, *, shown: bool) -> bool:
    """Whether the client of a server without mcpcore sees a text only because a message repeats it.

    Args:
        text: The description of the text.
        tool: The tool that fails.
        ctx: The context of the rule.
        shown: Whether every framework shows the messages of the error's class.
    """
    if framework_of(tool).handling(tool.kind).sends:
        return text == _TRACEBACK or ctx.named
    return shown


def _message_of(error: ErrorSite) -> ast.expr | None:
    """The expression of an error's message."""
    if isinstance(error.node, ast.Call):
        arguments = error.node.args
        if error.form == "protocol":
            keywords = (node for node in walk([error.node]) if isinstance(node, ast.keyword) and node.arg == "message")
            return next((node.value for node in keywords), arguments[1] if len(arguments) > 1 else None)
        if error.message.node is None and error.form in {"framework", "builtin", "project"}:
            return arguments[0] if arguments else None
    return error.message.node


class _TextFinder:
    """Finds upstream text in a message: that of a caught exception, or of the body of a response."""

    def __init__(self, body: Body, ctx: RuleContext) -> None:
        self._body = body
        self._ctx = ctx
        self._visited: set[ast.AST] = set()

    def find(self, message: ast.expr) -> str | None:
        """The description of the upstream text in a message."""
        self._visited.clear()
        return self._in(message, 0)

    def _in_any(self, nodes: Iterable[ast.expr], depth: int) -> str | None:
        return next((text for node in nodes if (text := self._in(node, depth)) is not None), None)

    def _in(self, node: ast.expr, depth: int) -> str | None:
        depth += 1
        if depth > _MAX_DEPTH:
            return None
        match node:
            case ast.JoinedStr():
                return self._in_any([part.value for part in node.values if isinstance(part, ast.FormattedValue)], depth)
            case ast.Name():
                return self._in_name(node, depth)
            case ast.Call():
                return self._in_call(node, depth)
            case ast.Attribute():
                if node.attr in _EXCEPTION_TEXT and isinstance(node.value, ast.Name):
                    text = self._caught(node.value, node)
                    if text is not None:
                        return text or None
                return "the body of a response" if node.attr in _BODY_TEXT and self._is_response(node.value) else None
            case ast.BinOp(op=ast.Add() | ast.Mod()):
                return self._in_any([node.left, node.right], depth)
            case ast.Subscript() | ast.Await() | ast.NamedExpr() | ast.Starred():
                return self._in(node.value, depth)
            case ast.IfExp():
                return self._in_any([node.body, node.orelse], depth)
            case ast.BoolOp() | ast.Dict():
                return self._in_any(node.values, depth)
            case ast.Tuple() | ast.List():
                return self._in_any(node.elts, depth)
        return None

    def _caught(self, name: ast.Name, place: ast.expr) -> str | None:
        """The description of a caught exception's text; empty if the text is not upstream, None for another name."""
        for parent in self._body.above(name):
            if isinstance(parent, ast.ExceptHandler) and parent.name == name.id:
                catch = self._body.catches[parent]
                names = [short(each) for each in catch.types if each is not None]
                caught = f"the caught {names[0]}" if len(names) == 1 else "the caught exception"
                return f"the text of {caught}" if self._is_upstream(catch, place) else ""
        return None

    def _in_name(self, node: ast.Name, depth: int) -> str | None:
        text = self._caught(node, node)
        if text is not None:
            return text or None
        match = self._body.scope(node).lookup_at(node)
        if match is None or match[0].is_module:
            return None
        values = [binding.value for binding in match[1] if binding.kind in {"assign", "annotated"}]
        if any(binding.value is None for binding in match[1]) and self._body.clause_of(node) is None:
            return None
        for value in values:
            if value is not None and value in self._body.parents and value not in self._visited:
                self._visited.add(value)
                text = self._in(value, depth)
                if text is not None:
                    return text
        return None

    def _in_call(self, node: ast.Call, depth: int) -> str | None:
        name = callee(node, self._body)
        keywords = [keyword.value for keyword in node.keywords]
        if name in _TRACEBACKS:
            return _TRACEBACK
        if name in _STRINGIFIERS:
            return self._in_any(node.args[:2], depth)
        if not isinstance(node.func, ast.Attribute):
            return None
        method, owner = node.func.attr, node.func.value
        if method in _BODY_METHODS and self._is_response(owner):
            return "the body of a response"
        if method not in _STRING_METHODS | {"__str__", "__repr__"}:
            return None
        text = self._in(owner, depth)
        return self._in_any([*node.args, *keywords], depth) if text is None and method in {"format", "join"} else text

    def _is_response(self, node: ast.expr) -> bool:
        """Whether an expression is the response of a service, by its name or by the call that returned it."""
        if isinstance(node, ast.Await):
            node = node.value
        if isinstance(node, ast.Attribute):
            return bool(_RESPONSE.search(node.attr))
        if not isinstance(node, ast.Name):
            return False
        if _RESPONSE.search(node.id):
            return True
        match = self._body.scope(node).lookup_at(node)
        if match is None or match[0].is_module or node.id not in _SHORT_NAMES:
            return False
        values = [binding.value for binding in match[1]]
        calls = [value.value if isinstance(value, ast.Await) else value for value in values]
        return any(isinstance(call, ast.Call) and getattr(call.func, "attr", "") in _REQUESTS for call in calls)

    def _is_upstream(self, catch: CatchSite, place: ast.AST) -> bool:
        """Whether the exceptions that a clause catches have texts that others wrote."""
        return not self._is_narrowed(catch, place) and any(self._is_upstream_type(name, catch) for name in catch.types)

    def _is_upstream_type(self, name: str | None, catch: CatchSite) -> bool:
        source = origin(name, self._ctx, self._body.module.name)
        if name is None or source in {"own", "framework", "unknown"}:
            return False
        if any(self._ctx.hierarchy.is_kind_of(name, base) is True for base in _ABOUT_THE_INPUT):
            return False
        if source == "broad":
            return not catch.try_body or not all(isinstance(node, ast.Raise) for node in catch.try_body)
        if source == "upstream" or self._ctx.hierarchy.is_kind_of(name, "builtins.OSError") is True:
            return True
        # The text of a ValueError is the author's own if the project's code raises it, and about the caller's input
        # if a builtin such as `int` does.
        return self._calls_only_libraries(catch)

    def _calls_only_libraries(self, catch: CatchSite) -> bool:
        """Whether the guarded code calls a third party, and nothing of the project that could raise instead."""
        nodes = walk_shallow([*catch.try_body])
        if any(isinstance(node, ast.Raise) for node in nodes):
            return False
        third_party = False
        for call in nodes:
            if not isinstance(call, ast.Call):
                continue
            name = callee(call, self._body)
            if not name and isinstance(call.func, ast.Attribute) and call.func.attr in _STRING_METHODS:
                continue
            source = origin(name or None, self._ctx, self._body.module.name)
            if source not in {"builtin", "upstream"}:
                return False
            third_party |= source == "upstream" and name.partition(".")[0] not in sys.stdlib_module_names
        return third_party

    def _is_narrowed(self, catch: CatchSite, place: ast.AST) -> bool:
        """Whether an `if isinstance(error, Mine)` around a place says that the exception is the project's own."""
        for parent in self._body.above(place):
            if parent is catch.node:
                return False
            if not isinstance(parent, ast.If) or inside(place, parent.orelse):
                continue
            for call in walk([parent.test]):
                if isinstance(call, ast.Call) and callee(call, self._body) == "builtins.isinstance":
                    tested = self._body.value(call.args[1]) if len(call.args) == 2 else None
                    classes = tested.items if isinstance(tested, Items) else (tested,)
                    if all(isinstance(each, Symbol) and self._is_own(each.name) for each in classes):
                        return True
        return False

    def _is_own(self, name: str) -> bool:
        return origin(name, self._ctx, self._body.module.name) in {"own", "framework"}
