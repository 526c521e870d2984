"""no-stringify-upstream-error: a message contains the text of an upstream exception or response."""

import ast
import re
from collections.abc import Sequence
from typing import Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.engine.semantics.symbols import last_name
from mcpcore_lint.engine.syntax.parse import children, walk
from mcpcore_lint.frameworks import framework_of
from mcpcore_lint.model import CatchSite, ErrorSite, Handler, ToolDef
from mcpcore_lint.patterns import regex
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._bodies import Body, body_of, callee, origin, raised_sites, short

_STRINGIFIERS: Final = frozenset(
    {"builtins.str", "builtins.repr", "builtins.ascii", "builtins.format", "json.dumps", "orjson.dumps",
     "pprint.pformat", "traceback.format_exception", "traceback.format_exception_only", "builtins.list",
     "builtins.tuple"}
)  # fmt: skip
_TRACEBACKS: Final = frozenset({"traceback.format_exc", "sys.exc_info"})
_TRACEBACK: Final = "a traceback"
_BODY: Final = "the body of a response"
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
_ABOUT_THE_INPUT: Final = frozenset(
    {"json.JSONDecodeError", "re.error", "re.PatternError", "zoneinfo.ZoneInfoNotFoundError", "binascii.Error",
     "decimal.InvalidOperation", "builtins.UnicodeDecodeError", "builtins.UnicodeEncodeError", "builtins.UnicodeError",
     "builtins.SyntaxError", "tomllib.TOMLDecodeError", "configparser.Error"}
)  # fmt: skip
"""Exceptions by which a parser says where the caller's own input is wrong, which the caller needs to know."""
_COMPOSED: Final = (
    ast.JoinedStr, ast.FormattedValue, ast.BoolOp, ast.BinOp, ast.Dict, ast.Tuple, ast.List, ast.Await, ast.NamedExpr,
    ast.Starred,
)  # fmt: skip
"""Expressions whose text is made of the texts in them."""


class NoStringifyUpstreamError(Rule):
    """The text of an upstream exception or response in a message.

    Summary: the client reads text that a library or a service wrote for its own log
    Why: The text of an upstream exception or the body of a response names hosts, paths, queries and tokens, changes
        with every release, and may carry instructions to the model from whoever controls the service. On servers
        without mcpcore, the finding is information. SDK 2, and FastMCP with `mask_error_details=True`, hide the text of
        other exceptions, so the message reveals what they would hide. SDK 1 and FastMCP send the text of any exception,
        wrapped or not: there the rule reports only a traceback, unless you select it by its id.
    How to fix: Say in your own words what failed, and put facts such as a status or an errno into `data` (without
        mcpcore: into the message). Chain the exception with `from`: the log keeps its text.
    When to suppress: If the caller asked for the text: for example, the database's message about the caller's SQL.

    Bad:
        except httpx.HTTPStatusError as error:
            raise service_unavailable(f"PubMed failed: {error}") from error
    Good:
        except httpx.HTTPStatusError as error:
            raise service_unavailable("PubMed failed", data={"status": error.response.status_code}) from error
    """

    severity = Severity.WARNING

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
            # A framework that sends the text of any exception reveals nothing more in a message.
            sends = uses_sdk and framework_of(tool).handling(tool.kind).sends
            if text is None or not (text == _TRACEBACK or ctx.named if sends else shown):
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


def _message_of(error: ErrorSite) -> ast.expr | None:
    """The expression of an error's message."""
    call = error.node
    if not isinstance(call, ast.Call) or error.form in {"fail", "factory", "coded"}:
        return error.message.node
    place = 1 if error.form == "protocol" else 0
    named = (node.value for node in walk([call]) if isinstance(node, ast.keyword) and node.arg == "message")
    return next(named, call.args[place] if len(call.args) > place else None)


class _TextFinder:
    """Finds upstream text in a message: that of a caught exception, or of the body of a response."""

    def __init__(self, body: Body, ctx: RuleContext) -> None:
        self._body = body
        self._ctx = ctx

    def find(self, message: ast.expr) -> str | None:
        """The description of the upstream text in a message."""
        stack: list[ast.AST] = [message]
        visited: set[ast.AST] = {message}
        while stack:
            node = stack.pop()
            text = self._upstream_text(node)
            if text is not None:
                return text
            fresh = [part for part in self._parts(node) if part not in visited]
            visited.update(fresh)
            stack += reversed(fresh)
        return None

    def _upstream_text(self, node: ast.AST) -> str | None:
        """The description of an expression that is upstream text itself."""
        match node:
            case ast.Name() | ast.Attribute(value=ast.Name()) if (catch := self._caught(node)) is not None:
                names = [name for name in catch.types if name is not None]
                caught = f"the caught {short(names[0])}" if len(names) == 1 else "the caught exception"
                return f"the text of {caught}" if any(map(self._is_upstream, names)) else None
            case ast.Call() if callee(node, self._body) in _TRACEBACKS:
                return _TRACEBACK
            case ast.Attribute(value=owner, attr=name) if name in _BODY_TEXT and _is_response(owner):
                return _BODY
            case ast.Call(func=ast.Attribute(value=owner, attr=name)) if name in _BODY_METHODS and _is_response(owner):
                return _BODY
        return None

    def _parts(self, node: ast.AST) -> Sequence[ast.AST]:
        """The expressions whose texts make up the text of an expression."""
        match node:
            case ast.Subscript():
                return [node.value]
            case ast.IfExp():
                return [node.body, node.orelse]
            case ast.Name() if self._caught(node) is None:
                return self._assigned(node)
            case ast.Call() if callee(node, self._body) in _STRINGIFIERS:
                return node.args[:2]
            case ast.Call(func=ast.Attribute(value=owner, attr=method)) if method in _STRING_METHODS:
                return [owner, *node.args, *(keyword.value for keyword in node.keywords)]
        return children(node) if isinstance(node, _COMPOSED) else ()

    def _assigned(self, name: ast.Name) -> list[ast.expr]:
        """The values that the function assigns to a name."""
        match = self._body.scope(name).lookup_at(name)
        values = [binding.value for binding in match[1]] if match is not None and not match[0].is_module else []
        return [value for value in values if value is not None and value in self._body.parents]

    def _caught(self, node: ast.Name | ast.Attribute) -> CatchSite | None:
        """The clause whose exception a name means, or whose text an attribute of the exception holds."""
        if isinstance(node, ast.Attribute) and node.attr not in _EXCEPTION_TEXT:
            return None
        name = getattr(node if isinstance(node, ast.Name) else node.value, "id", "")
        clauses = self._body.clauses_above(node)
        return next((self._body.catches[clause] for clause in clauses if clause.name == name), None)

    def _is_upstream(self, name: str) -> bool:
        """Whether others wrote the texts of an exception class.

        The text of a ValueError is the author's own if the project's code raises it, and about the caller's input if a
        builtin such as `int` does.
        """
        is_kind_of = self._ctx.hierarchy.is_kind_of
        if any(is_kind_of(name, base) is True for base in _ABOUT_THE_INPUT):
            return False
        where = origin(name, self._ctx, self._body.module.name)
        return where in {"broad", "upstream"} or is_kind_of(name, "builtins.OSError") is True


def _is_response(node: ast.expr) -> bool:
    """Whether an expression is the response of a service, by its name."""
    return _RESPONSE.search(last_name(node.value if isinstance(node, ast.Await) else node)) is not None
