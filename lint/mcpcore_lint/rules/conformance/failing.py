"""How failures are made: their reasons, and whether they are raised."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from mcpcore_lint.diagnostics import Edit, Severity
from mcpcore_lint.model import options, string
from mcpcore_lint.rules._bodies import Body, body_of, reasons_known, short
from mcpcore_lint.rules._thrown import CODED
from mcpcore_lint.rules.base import Invalid, Rule, RuleContext
from mcpcore_lint.rules.contract.entries import near
from mcpcore_lint.running import fixes

if TYPE_CHECKING:
    from mcpcore_lint.diagnostics import Fix
    from mcpcore_lint.model import Contract, ErrorSite, Handler, ToolDef, Value
    from mcpcore_lint.reading.module import Module


class ContractFailUndeclared(Rule):
    """`ctx.fail` with a reason that is not declared."""

    id = "error-contract-fail-undeclared"
    severity = Severity.ERROR
    family = "conformance"
    fixable = True
    summary = "`ctx.fail`, `ctx.guard` or `ctx.recovery_for` with a reason that is not declared"
    why = "`ctx.fail` refuses the reason when it is called, so that the agent gets an internal error in its place."
    bad = 'raise ctx.fail("no_mach")'
    good = 'raise ctx.fail("no_match")'
    how_to_fix = "Correct the reason, or declare it. The fix takes the declared reason that is clearly meant."
    when_to_suppress = "Never: the call fails."
    valid = (
        """
        from typing import Literal
        from mcpcore import Context, ErrorCode, FailureMode, tool

        GONE = "gone"

        @tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
        def one(ctx: Context, reason: str, known: Literal["gone"]) -> str:
            if reason:
                raise ctx.fail(GONE)
            if known:
                raise ctx.fail(known, data=ctx.recovery_for("gone"))
            raise ctx.fail(reason)

        NO_ITEM = FailureMode("no_item", ErrorCode.NOT_FOUND, when="x", recovery="y")
        BUSY = FailureMode("busy", ErrorCode.RATE_LIMITED, when="x", recovery="y")

        @tool(errors=[NO_ITEM, BUSY])
        def modes(ctx: Context, a: str, table: dict) -> str:
            if a == "1":
                raise ctx.fail(NO_ITEM, data=ctx.recovery_for(NO_ITEM))
            with ctx.guard({KeyError: NO_ITEM, (OSError, ValueError): "busy"}), ctx.guard(table):
                return a

        @tool(errors=load())
        def two(ctx: Context) -> str:
            raise ctx.fail("anything")

        @tool
        def three(ctx: Context) -> str:
            raise ctx.fail("no contract")

        @tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
        def four(ctx: Context, other: object) -> str:
            raise other.fail("not the context")
        """,
    )
    invalid = (
        # Failure modes as reasons, and the reasons that `ctx.guard` gives to exceptions.
        Invalid(
            """
            from typing import Any
            from mcpcore import Context, ErrorCode, FailureMode, tool
            from modes import BUSY

            NO_ITEM = FailureMode("no_item", ErrorCode.NOT_FOUND, when="x", recovery="y")
            ERRORS = {KeyError: "no_itm"}

            @tool(errors=[NO_ITEM])
            async def fetch(ctx: Context[Any], a: str) -> str:
                if a == "1":
                    raise ctx.fail(BUSY, data={"a": 1})  # here
                if a == "2":
                    raise ctx.fail(NO_ITEM, data=ctx.recovery_for(BUSY))  # here
                with ctx.guard({KeyError: "no_itm", OSError: NO_ITEM}):  # here
                    await load()
                async with ctx.guard(errors={(OSError, ValueError): BUSY}):  # here
                    await load()

                @ctx.guard(ERRORS, operation="load")  # here
                def inner() -> None: ...

                inner()
                raise ctx.fail(NO_ITEM)
            """,
            "the reason 'busy' is not declared: fetch calls ctx.fail with it",
            """
            from typing import Any
            from mcpcore import Context, ErrorCode, FailureMode, tool
            from modes import BUSY

            NO_ITEM = FailureMode("no_item", ErrorCode.NOT_FOUND, when="x", recovery="y")
            ERRORS = {KeyError: "no_itm"}

            @tool(errors=[NO_ITEM])
            async def fetch(ctx: Context[Any], a: str) -> str:
                if a == "1":
                    raise ctx.fail(BUSY, data={"a": 1})
                if a == "2":
                    raise ctx.fail(NO_ITEM, data=ctx.recovery_for(BUSY))
                with ctx.guard({KeyError: "no_item", OSError: NO_ITEM}):
                    await load()
                async with ctx.guard(errors={(OSError, ValueError): BUSY}):
                    await load()

                @ctx.guard(ERRORS, operation="load")
                def inner() -> None: ...

                inner()
                raise ctx.fail(NO_ITEM)
            """,
            files={
                "modes.py": "from mcpcore import ErrorCode, FailureMode\n\n"
                'BUSY = FailureMode("busy", ErrorCode.RATE_LIMITED, when="x", recovery="y")\n'
            },
        ),
        # With some arguments filled in, and under entries that a function and a comprehension make.
        Invalid(
            """
            from functools import partial
            from typing import Any
            from mcpcore import Context, ErrorCode, FailureMode, tool

            def entry(reason, code=ErrorCode.NOT_FOUND):
                return FailureMode(reason, code, when="x", recovery="y")

            CODES = {"taken": ErrorCode.CONFLICT, "slow": ErrorCode.TIMEOUT}

            @tool(errors=[entry("gone"), *[entry(reason, code) for reason, code in CODES.items()]])
            def fetch(ctx: Context[Any], a: str) -> str:
                gone = partial(ctx.fail, "goone")
                if a == "1":
                    raise gone(data={"a": a})  # here
                if a == "2":
                    raise ctx.fail("taken")
                raise ctx.fail("other")  # here
            """,
            "'goone' is not declared",
        ),
        Invalid(
            """
            import enum
            from mcpcore import Context, ErrorCode, FailureMode, tool

            LOST = "lost"

            class Reason(enum.Enum):
                LEFT = "left"

            ERRORS = [
                FailureMode("no_match", ErrorCode.NOT_FOUND, when="x", recovery="y"),
                *[FailureMode("queue_full", ErrorCode.RATE_LIMITED, when="x", recovery="y")],
            ]

            class Tools:
                @tool(errors=ERRORS)
                async def fetch(self, c: Context, a: str) -> str:
                    if a == "1":
                        raise c.fail('no_mach', "x")  # here
                    if a == "2":
                        raise c.fail(reason="qeue_full")  # here
                    if a == "3":
                        raise c.fail(LOST)  # here
                    if a == "4":
                        raise c.fail(Reason.LEFT.value)  # here
                    if a == "5":
                        raise c.fail("no_match" if a else "nowhere")  # here
                    alias = c
                    def inner():
                        return alias.recovery_for("no_matchs")  # here
                    raise c.fail("no_match", data=inner())
            """,
            "'no_mach' is not declared",
            """
            import enum
            from mcpcore import Context, ErrorCode, FailureMode, tool

            LOST = "lost"

            class Reason(enum.Enum):
                LEFT = "left"

            ERRORS = [
                FailureMode("no_match", ErrorCode.NOT_FOUND, when="x", recovery="y"),
                *[FailureMode("queue_full", ErrorCode.RATE_LIMITED, when="x", recovery="y")],
            ]

            class Tools:
                @tool(errors=ERRORS)
                async def fetch(self, c: Context, a: str) -> str:
                    if a == "1":
                        raise c.fail('no_match', "x")
                    if a == "2":
                        raise c.fail(reason="queue_full")
                    if a == "3":
                        raise c.fail(LOST)
                    if a == "4":
                        raise c.fail(Reason.LEFT.value)
                    if a == "5":
                        raise c.fail("no_match" if a else "nowhere")
                    alias = c
                    def inner():
                        return alias.recovery_for("no_match")
                    raise c.fail("no_match", data=inner())
            """,
        ),
        Invalid(
            """
            from mcpcore import Context, tool

            @tool(errors=[])
            def fetch(ctx: Context) -> str:
                raise ctx.fail("gone")  # here
            """,
            "'gone' is not declared",
        ),
        # A class that takes in what is outside by its name, and decorators of the project with any number of entries.
        Invalid(
            """
            from typing import Any
            from mcpcore import Context, ErrorCode, FailureMode, tool

            GONE = FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")
            LOST = FailureMode("lost", ErrorCode.NOT_FOUND, when="x", recovery="y")

            class Modes:
                GONE = GONE

            def house(*errors, **options):
                return tool(errors=[LOST, *errors], **options)

            def plain(name, *errors):
                return tool(errors=errors, name=name)

            @tool(errors=[Modes.GONE])
            def one(ctx: Context[Any], a: str) -> str:
                if a:
                    raise ctx.fail("other")  # here
                raise ctx.fail("gone")

            @house(GONE, title="Two")
            def two(ctx: Context[Any], a: str) -> str:
                if a == "1":
                    raise ctx.fail("lost")
                if a == "2":
                    raise ctx.fail("other")  # here
                raise ctx.fail("gone")

            @plain("three", GONE)
            def three(ctx: Context[Any], a: str) -> str:
                if a:
                    raise ctx.fail("other")  # here
                raise ctx.fail("gone")

            @house(*load())
            def four(ctx: Context[Any], a: str) -> str:
                raise ctx.fail("other")
            """,
            "'other' is not declared",
        ),
    )

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each reason that is handed to the context and that the contract lacks."""
        contract = tool.contract
        if contract is None or not reasons_known(contract):
            return
        handler = tool.handler
        calls: list[tuple[ast.AST, str, Value]] = [
            (_reason_argument(each.node), "fail", each.reason) for each in handler.fail_calls
        ]
        calls += [(_reason_argument(each.node), "recovery_for", each.reason) for each in handler.recovery_calls]
        calls += [(each.node, "guard", each.reason) for each in handler.guarded_reasons]
        for at, method, reason in calls:
            for each in options(reason):
                text = string(each)
                if text is None or text in contract.by_reason:
                    continue
                close = near(text, contract.reasons)
                declared = ", ".join(repr(one) for one in contract.reasons) or "nothing"
                ctx.report(
                    at,
                    f"the reason {text!r} is not declared: {tool.display_name} calls ctx.{method} with it",
                    help=f"did you mean {close!r}?" if close else f"declare it in errors; declared is {declared}",
                    tool=tool,
                    module=handler.module,
                    fix=self._fix(at, text, contract, handler.module, ctx),
                )

    @staticmethod
    def _fix(at: ast.AST, text: str, contract: Contract, module: Module, ctx: RuleContext) -> Fix | None:
        meant = clearly_near(text, contract.reasons)
        if meant is None or not isinstance(at, ast.Constant) or at.value != text:
            return None
        written = module.source.segment(at)
        if written not in {f'"{text}"', f"'{text}'"}:
            return None
        return ctx.fix(f"Change to {meant!r}", [fixes.replace_node(module, at, f"{written[0]}{meant}{written[0]}")])


def is_recovery(node: ast.Call) -> bool:
    """Whether a call is `ctx.recovery_for(...)`."""
    return isinstance(node.func, ast.Attribute) and node.func.attr == "recovery_for"


def _reason_argument(node: ast.AST) -> ast.AST:
    if isinstance(node, ast.Call):
        for keyword in node.keywords:
            if keyword.arg == "reason":
                return keyword.value
        if node.args and not isinstance(node.args[0], ast.Starred):
            return node.args[0]
    return node


def clearly_near(text: str, reasons: tuple[str, ...]) -> str | None:
    """The declared reason that is meant: near, and nearer than any other."""
    import difflib

    scored = sorted(((difflib.SequenceMatcher(None, text, each).ratio(), each) for each in reasons), reverse=True)
    if not scored or scored[0][0] < 0.8:
        return None
    return scored[0][1] if len(scored) == 1 or scored[0][0] - scored[1][0] >= 0.1 else None


class ContractFailNotRaised(Rule):
    """An error that is made and not raised."""

    id = "error-contract-fail-not-raised"
    severity = Severity.ERROR
    family = "conformance"
    fixable = True
    summary = "an error is made by `ctx.fail` or a factory and never raised"
    why = (
        "`ctx.fail` only makes the error. Without `raise` the tool goes on, or returns the exception as its result, "
        "and the agent reads a success."
    )
    bad = 'if not found:\n    ctx.fail("no_match")'
    good = 'if not found:\n    raise ctx.fail("no_match")'
    how_to_fix = (
        "Write `raise` before the call. The fix does so for a statement of its own and for `return ctx.fail(...)`."
    )
    when_to_suppress = "Never: an error that nobody raises does nothing."
    valid = (
        """
        from mcpcore import Context, ErrorCode, FailureMode, not_found, tool

        @tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
        def fetch(ctx: Context, a: str, future) -> str:
            def made():
                return ctx.fail("gone")
            lazily = lambda: ctx.fail("gone")
            if a == "1":
                raise made()
            if a == "2":
                raise lazily()
            if a == "3":
                future.set_exception(ctx.fail("gone"))
            errors = [ctx.fail("gone")]
            error = not_found("x")
            error.add_note("kept")
            if a == "4":
                raise ExceptionGroup("all", errors)
            raise error

        def service():
            return not_found("x")
        """,
    )
    invalid = (
        Invalid(
            """
            import mcpcore
            from mcpcore import CodedError, Context, ErrorCode, FailureMode, not_found, tool

            @tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
            async def fetch(ctx: Context, a: str) -> str:
                if a == "1":
                    ctx.fail("gone")  # here
                if a == "2":
                    return ctx.fail("gone", "x")  # here
                if a == "3": mcpcore.not_found(  # here
                    "x",
                )
                if a == "4":
                    CodedError(ErrorCode.NOT_FOUND)  # here
                if a == "5":
                    error = not_found("x")  # here
                if a == "6":
                    problem = ctx.fail("gone")  # here
                    return problem
                if a == "7":
                    return "x" if a else not_found("x")  # here
                def inner():
                    ctx.fail("gone")  # here
                return inner()
            """,
            "ctx.fail",
            """
            import mcpcore
            from mcpcore import CodedError, Context, ErrorCode, FailureMode, not_found, tool

            @tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
            async def fetch(ctx: Context, a: str) -> str:
                if a == "1":
                    raise ctx.fail("gone")
                if a == "2":
                    raise ctx.fail("gone", "x")
                if a == "3": raise mcpcore.not_found(
                    "x",
                )
                if a == "4":
                    raise CodedError(ErrorCode.NOT_FOUND)
                if a == "5":
                    error = not_found("x")
                if a == "6":
                    problem = ctx.fail("gone")
                    raise problem
                if a == "7":
                    return "x" if a else not_found("x")
                def inner():
                    raise ctx.fail("gone")
                return inner()
            """,
        ),
        Invalid(
            """
            from mcpcore import not_found, tool

            @tool
            def fetch(a: str) -> str:
                not_found("x")  # here
                return a
            """,
            "not_found(...) is made and never raised",
            """
            from mcpcore import not_found, tool

            @tool
            def fetch(a: str) -> str:
                raise not_found("x")
                return a
            """,
        ),
    )

    def check_handler(self, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each error whose way ends without a `raise`."""
        body = body_of(handler)
        for error in handler.errors:
            if error.form not in CODED:
                continue
            returned = error.fate == "returned" and error.function is handler.node
            if error.fate not in {"discarded", "unused"} and not returned:
                continue
            name = "ctx.fail" if error.form == "fail" else short(error.callee)
            what = "returned as if it were a result" if returned else "made and never raised"
            ctx.report(
                error.node,
                f"the error of {name}(...) is {what}",
                help="write `raise` before it" if not returned else "write `raise` in place of `return`",
                tool=tool,
                module=handler.module,
                fix=self._fix(error, body, ctx),
            )

    @staticmethod
    def _fix(error: ErrorSite, body: Body, ctx: RuleContext) -> Fix | None:
        module = error.module
        parent = body.parents.get(error.node)
        if isinstance(parent, ast.Expr):
            return ctx.fix("Raise it", [fixes.insert_before(module, parent, "raise ")])
        if error.fate != "returned":
            return None
        target: ast.AST | None = parent
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
            name = parent.targets[0].id
            uses = [each for each in body.all(ast.Return) if isinstance(each.value, ast.Name) and each.value.id == name]
            bindings = body.scope(parent).bindings.get(name, [])
            target = uses[0] if len(uses) == 1 and len(bindings) == 1 else None
        if not isinstance(target, ast.Return):
            return None
        start, _ = module.source.node_range(target)
        return ctx.fix("Raise it", [Edit(start, start + len("return"), "raise")])
