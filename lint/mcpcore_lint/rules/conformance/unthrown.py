"""Declared reasons that nothing raises."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import CallValue, Symbol, string, strings
from mcpcore_lint.reading.syntax import walk
from mcpcore_lint.rules._bodies import FUNCTIONS, Body, body_of, codes_of, to_be_filled_in
from mcpcore_lint.rules._thrown import CODED, all_thrown, only_named, reason_texts
from mcpcore_lint.rules.base import Invalid, Rule, RuleContext
from mcpcore_lint.rules.contract.entries import near

if TYPE_CHECKING:
    from typing import TypeAlias

    from mcpcore_lint.model import Contract, ContractEntry, ToolDef

    _Use: TypeAlias = tuple[ToolDef, Contract, ContractEntry]

CONVERTERS = frozenset({"mcpcore.from_http_response", "mcpcore.from_http_response_async"})
"""Functions of mcpcore whose errors have a code by a table that the linter does not read."""


class ContractUnthrown(Rule):
    """A reason that is declared and never raised."""

    id = "error-contract-unthrown"
    severity = Severity.WARNING
    family = "conformance"
    summary = "a declared reason that nothing reachable raises"
    why = (
        "Agents and people read about a failure that cannot happen, and prepare for it. Mostly the code that raised it "
        "has gone, or raises the same failure under another name."
    )
    bad = '@tool(errors=[FailureMode("no_match", ...), FailureMode("queue_full", ...)])  # only no_match is raised'
    good = '@tool(errors=[FailureMode("no_match", ...)])'
    how_to_fix = (
        "Raise the reason where it belongs, or take it out of `errors`. An entry whose recovery is still marked TODO "
        "is a proposal, and left alone."
    )
    when_to_suppress = (
        "Where it is raised by code that the linter cannot follow; it is silent where it sees that it cannot."
    )
    valid = (
        """
        from typing import Literal
        from mcpcore import Context, ErrorCode, FailureMode, guard, not_found, tool

        A = FailureMode("a", ErrorCode.NOT_FOUND, when="x", recovery="y")
        B = FailureMode("b", ErrorCode.CONFLICT, when="x", recovery="y")

        @tool(errors=[A, B])
        def one(ctx: Context, x: str) -> str:
            if x:
                raise ctx.fail("a")
            raise ctx.fail("b" if x else "a")

        @tool(errors=[A])
        def dynamic(ctx: Context, reason: str) -> str:
            raise ctx.fail(reason)

        @tool(errors=[A, B])
        def literal(ctx: Context, reason: Literal["a", "b"]) -> str:
            raise ctx.fail(reason)

        @tool(errors=[A])
        def handed(ctx: Context, x: str) -> str:
            return elsewhere(ctx)

        @tool(errors=[A])
        def by_code(x: str) -> str:
            raise not_found("prefer-fail says it")

        @tool(errors=[A])
        def served(x: str) -> str:
            return service(x)

        @tool(errors=[B])
        def kept(ctx: Context, x: list) -> str:
            errors = []
            errors.append(ctx.fail("b"))
            raise ExceptionGroup("all", errors)

        @tool(errors=[A])
        def guarded(ctx: Context, x: dict) -> dict:
            with guard(**x):
                return x

        @tool(errors=[A, B])
        def modes(ctx: Context, x: str) -> str:
            if x:
                raise ctx.fail(A)
            with ctx.guard({KeyError: B}):
                return x

        @tool(errors=[A, B])
        def reasons(ctx: Context, x: str) -> str:
            @ctx.guard({KeyError: "a", (OSError, ValueError): "b"})
            def inner() -> str:
                return x
            return inner()

        # A guard that names a reason may raise it, whatever stands inside.
        TABLE = {KeyError: "a"}
        SAFE = guard("store", errors={**TABLE, OSError: B})

        @tool(errors=[A, B])
        def subscript(x: str) -> str:
            with guard(errors={Exception: "a"}), guard(errors=TABLE | {TimeoutError: "b"}):
                return TABLE[x]

        @tool(errors=[A, B])
        async def by_name(x: str) -> str:
            async with SAFE:
                return x

        @tool(errors=[A, B])
        @SAFE
        def decorated(x: str) -> str:
            return x

        @tool(errors=[A, B])
        def in_a_service(x: str) -> str:
            return Store().get(x)

        class Store:
            @guard("Store.get", errors={LookupError: A, (OSError, ValueError): "b"})
            def get(self, x):
                return x

        # The misspelt reason is one finding, of another rule.
        @tool(errors=[FailureMode("no_item", ErrorCode.NOT_FOUND, when="x", recovery="y")])
        def misspelt(ctx: Context, x: str) -> str:
            if x:
                raise ctx.fail("no_itm")
            with guard(errors={KeyError: "no_itm"}):
                raise not_found("x", reason="noitem")

        @tool(errors=[A, B])
        def any_table(ctx: Context, x: dict) -> str:
            with ctx.guard(x):
                return ""

        @tool(errors=[FailureMode("later", ErrorCode.CONFLICT, when="open raises", recovery="TODO: next step")])
        def proposed(x: str) -> str:
            return x

        @tool(errors=[B])
        def built(ctx: Context, x: str) -> str:
            raise make(x, data=ctx.recovery_for("b"))

        def service(x):
            raise not_found("x", data={"reason": "a"})
        """,
        # The context is handed on, and whoever has it may raise the reason.
        """
        from mcpcore import Context, ErrorCode, FailureMode, tool

        A = FailureMode("a", ErrorCode.NOT_FOUND, when="x", recovery="y")
        B = FailureMode("b", ErrorCode.CONFLICT, when="x", recovery="y")

        def load(ctx, x):
            with ctx.guard({KeyError: "a"}):
                return {}[x]

        async def later(c, x):
            guarded = c.guard({KeyError: A})({}.__getitem__)
            return guarded(x)

        @tool(errors=[A])
        async def guarded(ctx: Context, x: str) -> str:
            return load(ctx, x)

        @tool(errors=[A])
        async def wrapped(ctx: Context, x: str) -> str:
            return await later(ctx, x)

        def gone(ctx, x):
            return ctx.fail("a", f"no {x}")

        def check(ctx, x):
            fail = ctx.fail
            if x:
                return fail(B)
            return None

        @tool(errors=[A, B])
        def checked(ctx: Context, x: str) -> str:
            error = check(ctx, x)
            if error is not None:
                raise error
            raise gone(ctx, x)

        class Store:
            def __init__(self, ctx):
                self.ctx = ctx
                self.safe = ctx.guard({OSError: "b"})

            def gone(self):
                return self.ctx.fail("a")

            def get(self, x):
                with self.safe:
                    if x:
                        raise self.gone()
                    return x

        class Typed:
            def __init__(self, ctx: Context):
                self.ctx = ctx

            def safe(self):
                return self.ctx.guard({OSError: "b"})

            def get(self, x):
                guard = self.ctx.guard
                with guard({KeyError: "a"}), self.safe():
                    return {}[x]

        @tool(errors=[A, B])
        def kept_on_an_object(ctx: Context, x: str) -> str:
            return Store(ctx).get(x)

        @tool(errors=[A, B])
        def typed(ctx: Context, x: str) -> str:
            return Typed(ctx).get(x)
        """,
    )
    invalid = (
        Invalid(
            """
            from mcpcore import Context, ErrorCode, FailureMode, guard, tool

            A = FailureMode("a", ErrorCode.NOT_FOUND, when="x", recovery="y")
            B = FailureMode("b", ErrorCode.CONFLICT, when="x", recovery="y")
            C = FailureMode("c", ErrorCode.CONFLICT, when="x", recovery="y")  # here

            @tool(errors=[A, B, C])
            def fetch(ctx: Context, x: str) -> str:
                if x:
                    raise ctx.fail(A)
                with ctx.guard({KeyError: B}), guard("x", errors={OSError: "b"}), guard("y"):
                    return x
            """,
            "the reason 'c' is declared, and nothing that fetch reaches raises it",
        ),
        Invalid(
            """
            from mcpcore import Context, ErrorCode, FailureMode, not_found, timeout, tool

            LOST = FailureMode("lost", ErrorCode.CONFLICT, when="x", recovery="y")  # here

            @tool(
                errors=[
                    FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y"),
                    FailureMode("full", ErrorCode.RATE_LIMITED, when="x", recovery="y"),  # here
                    LOST,
                ]
            )
            async def fetch(ctx: Context, a: str) -> str:
                def never_called():
                    raise ctx.fail("full")

                if a:
                    raise timeout("x")
                await ctx.info("x")
                return service(a)

            def service(a):
                raise not_found("x", reason="gone")
            """,
            "'lost'",
        ),
        # Shared by tools of which one raises it.
        Invalid(
            """
            from typing import Any
            from mcpcore import Context, ErrorCode, FailureMode, tool

            GONE = FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")
            HELD = FailureMode("held", ErrorCode.CONFLICT, when="x", recovery="y")
            BOTH = [GONE, HELD]

            @tool(errors=BOTH)
            def one(ctx: Context[Any], a: str) -> str:
                raise ctx.fail("gone" if a else "held")

            @tool(
                errors=[
                    GONE,
                    HELD,  # here
                ]
            )
            def two(ctx: Context[Any], a: str) -> str:
                raise ctx.fail("gone")

            @tool(errors=BOTH)  # here
            def three(ctx: Context[Any], a: str) -> str:
                return a

            @tool(errors=BOTH)
            def four(ctx: Context[Any], a: str) -> str:
                return elsewhere(ctx)
            """,
            "the reason 'held' is declared, and nothing that two reaches raises it, though other tools",
        ),
        # Whoever is handed the context raises another reason.
        Invalid(
            """
            from mcpcore import Context, ErrorCode, FailureMode, tool

            @tool(
                errors=[
                    FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y"),
                    FailureMode("held", ErrorCode.CONFLICT, when="x", recovery="y"),  # here
                ]
            )
            def fetch(ctx: Context, x: str) -> str:
                return load(ctx, x)

            def load(ctx, x):
                with ctx.guard({KeyError: "gone"}):
                    return {}[x]
            """,
            "the reason 'held' is declared, and nothing that fetch reaches raises it",
        ),
        Invalid(
            """
            from mcpcore import ErrorCode, FailureMode, tool
            from modes import SHARED

            @tool(errors=SHARED)  # here
            def fetch(a: str) -> str:
                return a
            """,
            "'gone'",
            files={
                "modes.py": (
                    "from mcpcore import ErrorCode, FailureMode\n\n"
                    "SHARED = [FailureMode('gone', ErrorCode.NOT_FOUND, when='x', recovery='y')]\n"
                )
            },
        ),
    )

    def check_file(self, module: object, ctx: RuleContext) -> None:  # noqa: ARG002
        """Report each entry that no tool of the file that has it can raise, and the tools that share one in vain."""
        places: dict[ast.AST, list[_Use]] = {}
        for tool in ctx.tools:
            if tool.contract is None:
                continue
            for entry in tool.contract.entries:
                if entry.reason_text is not None and not entry.reason_text.strip():
                    continue  # it lacks a reason, as another rule says
                places.setdefault(entry.node, []).append((tool, tool.contract, entry))
        verdicts: dict[int, _Raised] = {}
        shared: dict[ast.AST, list[_Use]] = {}
        for uses in places.values():
            idle: list[_Use] = []
            for tool, contract, entry in uses:
                if id(tool) not in verdicts:
                    verdicts[id(tool)] = _Raised(tool, ctx)
                if not verdicts[id(tool)].may_raise(entry):
                    idle.append((tool, contract, entry))
            if len(idle) == len(uses):
                self._report(uses, ctx)
            else:
                for each in idle:
                    shared.setdefault(each[0].registration, []).append(each)
        for idle in shared.values():
            self._report_shared(idle, ctx)

    @staticmethod
    def _report_shared(uses: list[_Use], ctx: RuleContext) -> None:
        """Report the entries that a tool shares with others which raise them, and does not raise itself."""
        tool, contract, _ = uses[0]
        reasons = [entry.reason_text or "" for _, _, entry in uses]
        listed = " and ".join(repr(each) for each in reasons)
        one = len(reasons) == 1
        ctx.report(
            _written(contract, uses[0][2]) if one else contract.node,
            f"the {'reason' if one else 'reasons'} {listed} {'is' if one else 'are'} declared, and nothing that "
            f"{tool.display_name} reaches raises {'it' if one else 'them'}, though other tools with the same "
            f"{'entry' if one else 'entries'} do",
            help=f"raise ctx.fail({reasons[0]!r}) where it happens, or leave the "
            f"{'entry' if one else 'entries'} out of this tool's errors",
            tool=tool,
            module=contract.module,
            related=[ctx.related(entry.node, "it is declared here", entry.module) for _, _, entry in uses],
        )

    @staticmethod
    def _report(uses: list[_Use], ctx: RuleContext) -> None:
        tool, contract, entry = uses[0]
        own = entry.module is ctx.module
        names = " or ".join(dict.fromkeys(each.display_name for each, _, _ in uses))
        ctx.report(
            entry.node if own else contract.node,
            f"the reason {entry.reason_text!r} is declared, and nothing that {names} reaches raises it",
            help=f"raise ctx.fail({entry.reason_text!r}) where it happens, or take the entry out of errors",
            tool=tool,
            module=entry.module if own else contract.module,
            related=[] if own else [ctx.related(entry.node, "it is declared here", entry.module)],
        )


def _written(contract: Contract, entry: ContractEntry) -> ast.AST:
    """Where a contract names an entry that is declared elsewhere; the contract as a whole where that is not plain."""
    node = contract.node
    if not isinstance(node, (ast.List, ast.Tuple)) or len(node.elts) != len(contract.entries):
        return node
    spread = any(isinstance(each, ast.Starred) for each in node.elts)
    return node if spread else node.elts[contract.entries.index(entry)]


class _Raised:
    """What a tool may raise, and whether something could raise any reason at all."""

    def __init__(self, tool: ToolDef, ctx: RuleContext) -> None:
        self.reasons: set[str] = set()
        self.codes: set[str] = set()
        """Codes that are raised without a reason: each may stand for an entry of that code."""
        self.anything = False
        handler = tool.handler
        body = body_of(handler)
        unreachable = _never_used(body)
        for error in handler.errors:
            if error.form in CODED and error.function not in unreachable:
                self._take(reason_texts(error), None if error.form == "fail" else codes_of(error.code))
        for throw in handler.throws:
            if throw.error is None and not throw.reraise and throw.call is None and throw.function not in unreachable:
                self.anything = True
        for reason in handler.named_reasons:
            self._take(strings(reason), None)
        for each in (*all_thrown(tool, ctx), *only_named(tool, ctx)):
            if each.reached is not None:
                self._take(each.reasons, each.codes)
        if any(each.takes_context or each.project for each in ctx.reach(tool).unresolved):
            self.anything = True
        declared = tool.contract.reasons if tool.contract is not None else ()
        self.misspelt = {near(each, declared) for each in self.reasons.difference(declared)}
        """The declared reasons that a reason which is not declared seems to mean: the finding about that is enough."""
        self._rest: tuple[ToolDef, Body, set[ast.AST]] | None = (tool, body, unreachable)
        """What is still to be searched for words: only where an entry is not found without."""

    def _take(self, reasons: tuple[str, ...] | None, codes: tuple[str, ...] | None) -> None:
        if reasons is None:
            self.anything = True
        elif reasons:
            self.reasons |= set(reasons)
        elif codes is None:
            self.anything = True
        else:
            self.codes |= set(codes)

    def _words(self, tool: ToolDef, body: Body, unreachable: set[ast.AST]) -> None:
        """Reasons that stand in the body as strings, and functions that raise by a table."""
        decorators = [] if isinstance(body.root, ast.Lambda) else body.root.decorator_list
        outside = [each for each in decorators if each is not tool.registration]
        for node in [*body.nodes, *walk([*outside])]:
            if body.function_of(node) in unreachable:
                continue
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                self.reasons.add(node.value)
            elif isinstance(node, (ast.Attribute, ast.Name)) and isinstance(node.ctx, ast.Load):
                value = body.value(node) if node in body.parents else None
                text = string(value) if value is not None else None
                if text is not None:
                    self.reasons.add(text)
                elif isinstance(value, CallValue) and value.func.name == "mcpcore.FailureMode":
                    self.reasons |= set(strings(value.argument("reason", 0)) or ())
                if isinstance(value, Symbol) and value.name in CONVERTERS:
                    self.anything = True
            if node in outside and isinstance(node, (ast.Call, ast.Name, ast.Attribute)):
                from mcpcore_lint.meaning.resolve import evaluate

                scope = body.module.scope_of(body.root).parent
                made = evaluate(node, scope) if scope is not None else None
                func = made.func if isinstance(made, CallValue) else made
                if isinstance(func, Symbol) and func.name in CONVERTERS:
                    self.anything = True

    def may_raise(self, entry: ContractEntry) -> bool:
        """Whether the tool may raise an entry, for all that can be seen."""
        reason = entry.reason_text
        if self.anything or reason is None or reason in self.reasons or reason in self.misspelt:
            return True
        codes = codes_of(entry.code.value)
        if codes is None or not entry.resolved or to_be_filled_in(entry) or not self.codes.isdisjoint(codes):
            return True
        if self._rest is not None:
            rest, self._rest = self._rest, None
            self._words(*rest)
        return self.anything or reason in self.reasons


def _never_used(body: Body) -> set[ast.AST]:
    """The functions nested in a body that nothing calls or hands on, with those nested in them."""
    if not body.nested:
        return set()
    read = {each.id for each in body.all(ast.Name) if isinstance(each.ctx, ast.Load)}
    found: set[ast.AST] = set()
    for node in body.nodes:
        outer = body.function_of(node)
        unused = (
            isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            and node.name not in read
            and not node.decorator_list
            and not isinstance(body.parents[node], ast.ClassDef)
        )
        if unused or (outer in found and isinstance(node, FUNCTIONS)):
            found.add(node)
    return found
