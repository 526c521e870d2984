"""What a handler answers when it has failed: the failure, as if it were a result."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.meaning.resolve import evaluate
from mcpcore_lint.model import CallValue, Choice, Const, Items, Mapping, Symbol, Text, Value, options, string
from mcpcore_lint.patterns import regex
from mcpcore_lint.reading.syntax import walk_shallow
from mcpcore_lint.rules._bodies import Body, body_of, inside, mentions, short, text_start, unpacked, where_to
from mcpcore_lint.rules._endings import unreachable
from mcpcore_lint.rules.base import Invalid, Rule, RuleContext

if TYPE_CHECKING:
    from mcpcore_lint.model import Handler, ToolDef
    from mcpcore_lint.reading.module import Module
    from mcpcore_lint.reading.scopes import Scope

SUCCESS_KEYS: Final = frozenset({"ok", "success", "succeeded", "successful"})
FAILURE_KEYS: Final = frozenset({"isError", "is_error", "failed"})
STATUS_KEYS: Final = frozenset({"status", "state", "result"})
FAILED_STATUS: Final = frozenset({"error", "failed", "failure", "fail"})
ERROR_KEYS: Final = frozenset({"error", "error_message", "errorMessage"})
_TELLING: Final = SUCCESS_KEYS | FAILURE_KEYS | STATUS_KEYS | ERROR_KEYS
"""An answer without one of these keys is no failure in disguise."""
BESIDE_AN_ERROR: Final = frozenset(
    {"error", "message", "detail", "details", "code", "hint", "suggestion", "status", "type", "error_type", "reason",
     "error_code", "errorCode", "traceback", "status_code", "success", "ok", "tool", "help"}
)  # fmt: skip
"""Keys that say more about a failure: a mapping of nothing else is no result."""
VERDICTS: Final = frozenset(
    {"valid", "is_valid", "passed", "healthy", "is_healthy", "compliant", "connected", "reachable", "alive", "online"}
)
"""Keys of a result that is a verdict: an `error` beside them is what was found, not a failure of the tool."""
UNWELL: Final = frozenset({"unhealthy", "degraded", "unreachable", "disconnected", "not_connected", "offline"})
"""What a `status` says of the thing that a tool was asked about: the same."""
_CHECKUP: Final = regex(
    r"(?:^|_)(?:health|healthcheck|ping|diagnose|diagnostics?|doctor)(?:_|$)"
    r"|(?:check|test|verify)_(?:\w+_)?connect(?:ion|ivity)|connection_(?:check|test|status)"
)
"""Names of tools that are asked how something is: "it fails" is their answer."""
_ASKED: Final = regex(r"(?:^|_)(?:validate|lint|dry_run|precheck|preflight)(?:_|$)")
"""Names of tools that are asked whether something will do: "no" is their answer, unless an `except` gives it."""

_SIGNS: Final = "[\u274c\u26a0\ufe0f\U0001f6ab\u26d4\u2717]"
"""Crosses, warning signs and no-entry signs that people put before a failure."""
_SURE: Final = regex(
    rf"\s*(?:{_SIGNS}+\s*)?(?:\*\*)?(?:error|failure)(?:\*\*)?\s*(?::|!|-\s|\u2013)|\s*\u274c"
    r"|\s*(?:an? )?(?:unexpected )?error (?:occurred|while|when|in|during|[a-z]+ing)\b|\s*(?:failed|unable) to \w+",
    re.IGNORECASE,
)
_IN_CLAUSE: Final = regex(
    rf"\s*(?:{_SIGNS}+\s*)?(?:\W*)(?:(?:an? )?(?:\w+ ){{0,3}}(?:error|exception|failure)\b|failed\b|failure\b"
    r"|unable to\b|could(?: not|n't)\b|cannot\b|can't\b|something went wrong)|.{0,60}\b(?:failed|error)\b\s*[:.!]",
    re.IGNORECASE,
)
_CHOICE: Final = regex(
    r"\b(?:cancel+ed|declined|aborted)(?: by (?:the |a )?(?:user|person|human))?[.!]?(?:\s|$)", re.IGNORECASE
)
"""How a message tells of somebody who was asked and said no: an answer like any other, not a failure of the tool."""
_CHOICES: Final = frozenset({"cancelled", "canceled", "declined", "rejected", "aborted"})
"""What a `status` says of the same."""
HAND_MADE: Final = "a hand-made"
_CALL_RESULTS: Final = frozenset({"mcp.CallToolResult", "fastmcp.ToolResult"})
_RESULTS: Final = _CALL_RESULTS | {"mcp.TextContent"}
"""What tells of a failure by more than its keys."""


class _Judge:
    """Tells whether an answer is a failure in disguise."""

    def __init__(self, body: Body, ctx: RuleContext) -> None:
        self.body = body
        self.ctx = ctx

    def failure(self, value: Value, *, in_clause: bool, own: bool = True, depth: int = 0) -> str | None:
        """What shows that an answer is a failure; None where nothing does."""
        value = unpacked(value)
        if isinstance(value, (Const, Text)):
            start = text_start(value)
            pattern = _IN_CLAUSE if in_clause else _SURE
            return f'the text "{start.strip()[:30].strip()}..."' if start and pattern.match(start) else None
        if isinstance(value, Mapping):
            if not own and not value.complete:
                return None
            return self._pairs([(k.value, v) for k, v in value.items if isinstance(k, Const)], in_clause=in_clause)
        if isinstance(value, Items) and value.kind != "set" and len(value.items) == 1 and value.complete:
            only = value.items[0]
            if isinstance(only, CallValue) and only.func.name == "mcp.TextContent":
                return self.failure(only.argument("text", 1), in_clause=in_clause, depth=depth + 1)
            return None
        if isinstance(value, CallValue):
            return self._call(value, in_clause=in_clause, depth=depth)
        return None

    def _call(self, value: CallValue, *, in_clause: bool, depth: int) -> str | None:
        name = value.func.name
        definition = value.func.definition
        if name in _CALL_RESULTS:
            for key in ("is_error", "isError"):
                given = value.argument(key)
                if isinstance(given, Const) and given.value is True:
                    return f"{HAND_MADE} {short(name)}({key}=True)"
            return None
        if name == "mcp.TextContent":
            return self.failure(value.argument("text", 1), in_clause=in_clause, depth=depth + 1)
        if isinstance(definition, ast.ClassDef):
            found = self._pairs([(key, given) for key, given in value.keywords], in_clause=in_clause, model=True)
            if found is None or (
                self.ctx.hierarchy.is_exception(name) is not False
                and "Exception" in str(self.ctx.hierarchy.ancestors(name))
            ):
                return None
            return f"{short(name)}({found.strip('{}').replace(': ', '=').replace(chr(34), '')})"
        if isinstance(definition, (ast.FunctionDef, ast.AsyncFunctionDef)) and depth < 2:
            return self._helper(definition, value, depth) or self._shaped(definition, value, in_clause=in_clause)
        return None

    def _shaped(self, node: ast.FunctionDef | ast.AsyncFunctionDef, value: CallValue, *, in_clause: bool) -> str | None:
        """A table that a function of the project gives another shape: `as_text({"ok": False, ...})`."""
        module = self.body.module.project.module_defining(node)
        if module is None or not value.complete or len(value.args) + len(value.keywords) != 1:
            return None
        given = value.args[0] if value.args else value.keywords[0][1]
        names = [each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        if module.scope_of(node).owner is not None and not value.keywords:
            names = names[1:]
        name = value.keywords[0][0] if value.keywords else names[0] if names else None
        returns = [each.value for each in walk_shallow([*node.body]) if isinstance(each, ast.Return)]
        if name is None or not returns or not all(each is not None and mentions(each, name) for each in returns):
            return None
        return self.failure(given, in_clause=in_clause) if isinstance(given, Mapping) else None

    def _helper(self, node: ast.FunctionDef | ast.AsyncFunctionDef, value: CallValue, depth: int) -> str | None:
        """A function of the project that makes failures: every answer of it is one."""
        module = self.body.module.project.module_defining(node)
        if module is None:
            return None
        key = ("makes failures", node, depth)
        if key not in module.memo:
            # Some servers have one such function and a thousand calls of it.
            module.memo[key] = self._only_fails(node, module, depth)
        return f"what {short(value.func.name)}() makes of it" if module.memo[key] else None

    def _only_fails(self, node: ast.FunctionDef | ast.AsyncFunctionDef, module: Module, depth: int) -> bool:
        scope = module.scope_of(node)
        returns = [each for each in walk_shallow([*node.body]) if isinstance(each, ast.Return)]
        if not returns or len(returns) > 4:
            return False
        for each in returns:
            if each.value is None:
                return False
            made = evaluate(each.value, scope)
            if any(self.failure(one, in_clause=False, depth=depth + 1) is None for one in options(made)):
                return False
        return True

    def _pairs(self, pairs: list[tuple[object, Value]], *, in_clause: bool, model: bool = False) -> str | None:
        table = {key: value for key, value in pairs if isinstance(key, str)}
        if table.keys().isdisjoint(_TELLING):
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
                return f'{{"{key}": False}}'
            if key in FAILURE_KEYS and known is True and (key != "failed" or in_clause):
                return f'{{"{key}": True}}'
            if key in STATUS_KEYS and isinstance(known, str) and known.lower() in FAILED_STATUS:
                told = table.keys() & (ERROR_KEYS | {"message", "detail", "msg", "reason"})
                # `{"job": a, "status": "error"}` is the state of somebody's job, unless it says what went wrong.
                alone = not model and not set(table) - BESIDE_AN_ERROR - {key}
                if in_clause or ((told or alone) and known.lower() == "error"):
                    return f'{{"{key}": "{known}"}}'
            if key in ERROR_KEYS and self._is_an_error(value, table, in_clause=in_clause, model=model):
                return f'{{"{key}": ...}}'
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
        if isinstance(value, CallValue) and value.func.name in {
            "builtins.str",
            "builtins.repr",
            "traceback.format_exc",
        }:
            return True
        if isinstance(value, Choice):
            return False
        return in_clause or (not beside and not model)


class NoErrorAsData(Rule):
    """A failure returned as if it were a result."""

    id = "no-error-as-data"
    severity = Severity.WARNING
    family = "handler"
    summary = (
        'a failure returned as a result: {"ok": False}, {"error": ...}, "Error: ...", CallToolResult(is_error=True)'
    )
    why = (
        "The host reads a success. Nothing counts it as a failure, no retry advice or recovery goes with it, the "
        "output model must allow for it, and the agent has to guess from prose that nothing was done. A hand-made "
        "`CallToolResult(is_error=True)` is marked as failed, and says no more than that: on tools of the SDK and "
        "FastMCP it is information only."
    )
    bad = 'return {"error": f"no article {pmid}"}'
    good = 'raise ctx.fail("no_match", data={"pmid": pmid})'
    how_to_fix = "Raise the failure: the boundary makes the result, marked as failed, with both surfaces filled in."
    when_to_suppress = (
        "Where the failure is the answer that was asked for: a validator's verdict, the state of somebody's job."
    )
    valid = (
        """
        from fastmcp import Context, FastMCP

        mcp = FastMCP("x")

        @mcp.tool
        async def delete(ctx: Context, a: str) -> dict:
            asked = await ctx.elicit("Really?")
            if asked.action == "cancel":
                return {"success": False, "message": f"Deletion of {a!r} was cancelled."}
            if asked.action == "decline":
                return {"success": False, "status": "declined"}
            return {"success": True}
        """,
        """
        import json
        from mcpcore import tool

        @tool
        def fetch(a: str, error: str | None) -> dict:
            if a == "1":
                return {"ok": True, "error": None}
            if a == "2":
                return {"valid": False, "error": "line 3: unexpected token"}
            if a == "3":
                return {"rows": [], "error": error}
            if a == "4":
                return {"mean": 1.5, "error": 0.03}
            if a == "5":
                return {"job": a, "status": "failed"}
            if a == "5b":
                return {"job": a, "state": "error", "retries": 3}
            if a == "6":
                return {"success": bool(a)}
            if a == "7":
                return "Error codes of HTTP are 4xx and 5xx"
            if a == "8":
                return json.dumps({"errors": [], "items": [1]})
            result = {"ok": False}
            result["ok"] = True
            return result

        @tool
        def health_check() -> dict:
            try:
                ping()
            except OSError as error:
                return {"status": "unhealthy", "error": error.strerror}
            return {"status": "healthy"}

        @tool
        def test_connection() -> dict:
            return {"success": False, "error": "refused"}

        @tool
        def validate_settings(text: str) -> dict:
            if "=" not in text:
                return {"ok": False, "problems": ["nothing is set"]}
            return {"ok": True, "problems": []}
        """,
        """
        from typing import NoReturn
        from mcpcore import tool

        def fail(why: str) -> NoReturn: ...

        @tool
        def fetch(a: str) -> dict:
            fail(a)
            return {"error": a}
        """,
        """
        from mcp.server.lowlevel import Server
        from mcp.types import CallToolResult, TextContent

        server = Server("x")

        @server.call_tool()
        async def call(name: str, arguments: dict):
            return CallToolResult(content=[TextContent(type="text", text="no")], isError=True)
        """,
        """
        from mcp.types import CallToolResult
        from mcpcore import tool

        @tool
        def fetch(a: str):
            return CallToolResult(content=[], is_error=False)

        def service(a):
            return {"error": a}
        """,
    )
    invalid = (
        Invalid(
            """
            import json
            from mcp import types
            from pydantic import BaseModel
            from mcpcore import tool

            class Result(BaseModel):
                success: bool
                error: str | None = None

            def failed(why):
                return {"error": why, "code": 1}

            @tool
            def fetch(a: str, bad: bool) -> dict:
                if a == "1":
                    return {"ok": False, "why": a}  # here
                if a == "2":
                    return {"error": a}  # here
                if a == "3":
                    return f"Error: no {a}"  # here
                if a == "4":
                    return types.CallToolResult(content=[], is_error=True)  # here
                if a == "5":
                    return json.dumps({"error": "no"}, indent=2)  # here
                if a == "6":
                    return [types.TextContent(type="text", text="Failed to fetch " + a)]  # here
                if a == "7":
                    return {"status": "error", "message": "no"}  # here
                if a == "8":
                    return Result(success=False, error="no")  # here
                if a == "9":
                    return failed(a)  # here
                if a == "10":
                    return {"error": "no"} if bad else {"rows": []}  # here
                answer = dict(isError=True)
                return answer  # here
            """,
            '{"ok": False}',
        ),
        Invalid(
            """
            from fastmcp import FastMCP
            from mcp.types import CallToolResult, TextContent

            mcp = FastMCP("x")

            @mcp.tool
            def fetch(a: str):
                if a:
                    return CallToolResult(content=[], structuredContent={"why": a}, isError=True)
                return CallToolResult(content=[TextContent(type="text", text="no")], isError=True)  # here
            """,
            "returns a hand-made CallToolResult(isError=True), a failure without a code",
        ),
        Invalid(
            """
            from fastmcp import FastMCP

            mcp = FastMCP("x")

            @mcp.tool
            async def fetch(a: str) -> str:
                try:
                    return await load(a)
                except KeyError as exc:
                    return "Could not load: " + str(exc)  # here
                except Exception as exc:
                    result = {"status": "failed", "details": exc}
                    return result  # here

            @mcp.tool
            async def validate(a: str) -> dict:
                try:
                    return {"ok": await load(a)}
                except KeyError:
                    return {"ok": False}  # here

            def shown(value):
                return json.dumps(value, indent=2)

            @mcp.tool
            async def show(a: str) -> str:
                if not a:
                    return shown({"ok": False, "message": "a is missing"})  # here
                return shown({"ok": True, "a": a})

            @mcp.resource("x://y")
            def read() -> str:
                try:
                    return open("y").read()
                except OSError as e:
                    return f"Error reading y: {e}"  # here

            mcp.add_tool(lambda a: {"error": a}, name="short")  # here
            """,
            "Could not load",
        ),
    )

    def check_handler(self, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each answer that is a failure for certain."""
        body = body_of(handler)
        judge = _Judge(body, ctx)
        answers: list[tuple[ast.expr, Value, bool]] = [
            (each.node.value, each.value, each.catch is not None)
            for each in handler.returns
            if each.node.value is not None and not _tells_nothing(each.node.value, each.scope)
        ]
        if isinstance(handler.node, ast.Lambda):
            answers.append((handler.node.body, body.value(handler.node.body), False))
        for node, value, caught in answers:
            shape = self._shape(node, value, caught, judge, body)
            if shape is None or (tool.kind == "prompt" and shape.startswith("the text")):
                continue
            statement = body.parents.get(node)
            if isinstance(statement, ast.Return) and unreachable(statement, body):
                continue
            by_hand = shape.startswith(HAND_MADE)
            if by_hand and (tool.flavour == "lowlevel" or (tool.flavour != "mcpcore" and _with_structure(value))):
                continue
            if not by_hand and shape.startswith("{") and _CHECKUP.search(handler.name):
                continue
            if not caught and shape.endswith(": False}") and _ASKED.search(handler.name):
                continue
            ctx.report(
                node,
                f"{tool.display_name} returns {shape}, a failure without a code, a reason or a recovery"
                if by_hand
                else f"{tool.display_name} returns {shape} as if it were a result, so the failure looks like a success",
                help=where_to(tool),
                tool=tool,
                module=handler.module,
                weight=Severity.INFO if by_hand and tool.flavour != "mcpcore" else None,
            )

    @staticmethod
    def _shape(node: ast.expr, value: Value, caught: bool, judge: _Judge, body: Body) -> str | None:  # noqa: FBT001
        found: list[tuple[Value, str | None]] = []
        for each in options(value):
            own = each.node is not None and inside(each.node, [node])
            in_clause = caught or (
                not own
                and each.node is not None
                and each.node in body.parents
                and body.clause_of(each.node) is not None
            )
            found.append((each, judge.failure(each, in_clause=in_clause, own=own)))
            if own and found[-1][1] is not None:
                return found[-1][1]
        failing = [shape for _, shape in found if shape is not None]
        if not failing:
            return None
        # A name that several places set is a failure where a clause set it, or where all of them did.
        set_by_clause = any(
            shape is not None and each.node in body.parents and body.clause_of(each.node) is not None
            for each, shape in found
            if each.node is not None
        )
        return failing[0] if len(failing) == len(found) or set_by_clause else None


def _tells_nothing(node: ast.expr, scope: Scope) -> bool:
    """Whether an answer is a table or a model without a key that tells of a failure: then none of its values counts."""
    if isinstance(node, ast.Dict):
        return all(isinstance(each, ast.Constant) and each.value not in _TELLING for each in node.keys)
    if not isinstance(node, ast.Call) or any(each.arg is None or each.arg in _TELLING for each in node.keywords):
        return False
    made = evaluate(node.func, scope)
    return isinstance(made, Symbol) and isinstance(made.definition, ast.ClassDef) and made.name not in _RESULTS


def _is_a_choice(key: str, value: Value) -> bool:
    """Whether a pair of an answer says that the person in front of it said no."""
    if key in STATUS_KEYS:
        return isinstance(value, Const) and str(value.value).lower() in _CHOICES
    if key not in {"message", "detail", "msg", "reason"}:
        return False
    text = " ".join(each or "" for each in value.parts) if isinstance(value, Text) else string(value) or ""
    return _CHOICE.search(text) is not None


def _with_structure(value: Value) -> bool:
    """Whether a hand-made result carries more than text, so that somebody thought about what the agent needs."""
    return any(
        isinstance(each, CallValue)
        and any(key in {"structuredContent", "structured_content"} for key, _ in each.keywords)
        for each in options(value)
    )
