"""Reasons that are thrown and do not fit the contract."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.rules._bodies import codes_of, reasons_known
from mcpcore_lint.rules._thrown import Thrown, all_thrown, in_handler, only_named, report
from mcpcore_lint.rules.base import Invalid, Rule, RuleContext
from mcpcore_lint.rules.conformance.failing import clearly_near
from mcpcore_lint.rules.contract.entries import near

if TYPE_CHECKING:
    from mcpcore_lint.model import ToolDef


class ContractUndeclaredReason(Rule):
    """A reason that the contract lacks."""

    id = "error-contract-undeclared-reason"
    severity = Severity.WARNING
    family = "conformance"
    summary = "a reason is raised, by the handler or a service that it reaches, that the contract lacks"
    why = (
        "The agent reads a reason that it cannot look up: no `when`, no recovery, nothing in the catalogue. Often the "
        "service was given a new reason, or the contract's was renamed."
    )
    bad = 'raise not_found("no such article", data={"reason": "no_mach"})'
    good = 'raise not_found("no such article", data={"reason": "no_match"})'
    how_to_fix = "Declare the reason in `errors`, correct its spelling, or catch the error and raise a declared one."
    when_to_suppress = "Where the service cannot raise this reason with the arguments that it is given here."
    valid = (
        """
        from typing import Literal
        from mcpcore import Context, ErrorCode, FailureMode, not_found, tool

        GONE = "gone"

        def service(reason: str, known: Literal["gone"]):
            if known:
                raise not_found("x", reason=known)
            raise not_found("x", reason=reason)

        @tool(errors=[FailureMode(GONE, ErrorCode.NOT_FOUND, when="x", recovery="y")])
        def fetch(ctx: Context, a: str) -> str:
            if a == "1":
                raise not_found("x", data={"reason": "gone"})
            if a == "2":
                raise ctx.fail("fail-undeclared says it")
            with ctx.guard({KeyError: "fail-undeclared says it"}):
                if a == "2b":
                    raise KeyError(a)
            if a == "3":
                made = lambda: ctx.fail("there too")
                raise made()
            return service(a, "gone")

        @tool
        def other() -> str:
            raise not_found("x", reason="no contract")
        """,
        # A service names reasons of several tools.
        """
        from mcpcore import ErrorCode, FailureMode, guard, tool

        STORE = guard("store", errors={KeyError: "no_item", OSError: "no_items", TimeoutError: "no_answer"})

        @STORE
        def load(a):
            return {}[a]

        @tool(errors=[FailureMode("no_item", ErrorCode.NOT_FOUND, when="x", recovery="y")])
        def one(a: str) -> str:
            return load(a)

        @tool(errors=[FailureMode("no_items", ErrorCode.NOT_FOUND, when="x", recovery="y")])
        def several(a: str) -> str:
            return load(a)
        """,
    )
    invalid = (
        # Guards: what they name in the handler; in a service, what is seen to happen there or is a slip of the pen.
        Invalid(
            """
            from mcpcore import ErrorCode, FailureMode, guard, tool
            from store import by_name, load, shared

            TABLE = {(KeyError, IndexError): "no_itm"}

            @tool(errors=[FailureMode("no_item", ErrorCode.NOT_FOUND, when="x", recovery="y")])
            @guard(errors={OSError: "no_itme"})  # here
            async def fetch(a: str) -> str:
                with guard("fetch", errors={KeyError: "no_itm"}):  # here
                    load(a)  # here
                async with guard(errors=TABLE):  # here
                    shared(a)
                with guard(errors={KeyError: "unlike"}):  # here
                    shared(a)
                with by_name:  # here
                    return a
            """,
            "fetch guards with the reason 'no_itme', which its contract lacks",
            files={
                "store.py": """
                from mcpcore import guard

                by_name = guard("store", errors={TimeoutError: "no_items"})

                @guard("load", errors={KeyError: "no_itm"})
                def load(a):
                    return {}[a]

                @guard("shared", errors={KeyError: "for_another_tool"})
                def shared(a):
                    return {}[a]
                """
            },
        ),
        Invalid(
            """
            import enum
            from mcpcore import CodedError, Context, ErrorCode, FailureMode, conflict, not_found, tool

            class Reason(enum.StrEnum):
                LOST = "lost"

            @tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
            def fetch(ctx: Context, a: str) -> str:
                if a == "1":
                    raise not_found("x", reason=Reason.LOST)  # here
                if a == "2":
                    raise conflict("x", {"reason": "gonne"})  # here
                if a == "3":
                    raise CodedError(ErrorCode.NOT_FOUND, reason="gone" if a else "left")  # here
                return help_with(ctx, a)  # here

            def help_with(ctx: Context, a: str) -> str:
                raise ctx.fail("elsewhere")
            """,
            "raises the reason 'lost'",
        ),
        # A service that is handed the context need not say so.
        Invalid(
            """
            from mcpcore import Context, ErrorCode, FailureMode, tool

            @tool(errors=[FailureMode("no_item", ErrorCode.NOT_FOUND, when="x", recovery="y")])
            def fetch(ctx: Context, a: str) -> str:
                if a:
                    raise gone(ctx)  # here
                return load(ctx, a)  # here

            def load(ctx, a):
                with ctx.guard({KeyError: "no_itm", OSError: "for_another_tool"}):
                    return {}[a]

            def gone(ctx):
                return ctx.fail("no_items")
            """,
            "fetch can raise the reason 'no_items' here (fetch > gone)",
        ),
        Invalid(
            """
            from mcpcore import ErrorCode, FailureMode, tool
            from store import load

            @tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
            async def fetch(a: str) -> str:
                return await load(a)  # here
            """,
            "fetch > load > _read",
            files={
                "store.py": """
                from mcpcore import not_found

                async def load(a):
                    return _read(a)

                def _read(a):
                    raise not_found("x", reason="gonee")
                """
            },
        ),
        Invalid(
            """
            from mcpcore import CodedError, ErrorCode, FailureMode, conflict, not_found, tool

            def fail(reason: str, why: str = "gone") -> None:
                raise not_found(why, reason=reason)

            def bail(reason, code=ErrorCode.CONFLICT):
                raise CodedError(code, "x", {"reason": reason, "other": 1})

            def either(reason: str | None = None) -> None:
                raise conflict("x", reason=reason or "gone")

            def handed(reason: str) -> None:
                fail(reason=reason)

            @tool(
                errors=[
                    FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y"),
                    FailureMode("held", ErrorCode.CONFLICT, when="x", recovery="y"),
                ]
            )
            def fetch(a: str) -> str:
                if a == "1":
                    fail("gone", "lost")
                if a == "2":
                    fail("lost")  # here
                if a == "3":
                    bail("stale")  # here
                if a == "4":
                    bail("held")
                if a == "5":
                    handed("loose")  # here
                if a == "6":
                    fail(a)
                fail("gone" if a else "late")  # here
            """,
            "can raise the reason 'lost' here (fetch > fail)",
        ),
        Invalid(
            """
            from mcpcore import CodedError, ErrorCode, FailureMode, tool

            @tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
            def fetch(a: str) -> str:
                if a == "1":
                    raise CodedError.startup_failure()  # here
                raise CodedError.tool_failure(ErrorCode.NOT_FOUND, reason="gonne")  # here
            """,
            "fetch raises the reason 'startup_failure'",
        ),
    )

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each reason that leaves the handler and is not declared."""
        contract = tool.contract
        if contract is None or not reasons_known(contract):
            return
        seen: set[tuple[object, ...]] = set()
        elsewhere = {each for other in ctx.tools if other.contract is not None for each in other.contract.by_reason}
        for thrown in (*all_thrown(tool, ctx), *only_named(tool, ctx)):
            if (thrown.error is not None and thrown.error.form == "fail") or _asked_in_the_handler(thrown, tool):
                continue
            strange = [each for each in thrown.reasons or () if each not in contract.by_reason]
            key = (thrown.place, *strange)
            if not strange or key in seen:
                continue
            close = near(strange[0], contract.reasons)
            if thrown.is_only_named(tool) and (
                strange[0] in elsewhere or clearly_near(strange[0], contract.reasons) is None
            ):
                continue  # the service may name it for another tool
            seen.add(key)
            how = f"raises the reason {_quoted(strange)}"
            if thrown.way:
                how = f"can raise the reason {_quoted(strange)} here ({thrown.way})"
            elif thrown.reached is not None and thrown.reached.form == "guard":
                how = f"guards with the reason {_quoted(strange)}"
            report(
                thrown,
                f"{tool.display_name} {how}, which its contract lacks",
                f"did you mean {close!r}? Else declare {strange[0]!r} in errors"
                if close
                else f"declare {strange[0]!r} in errors, or raise a declared reason",
                tool,
                ctx,
            )


def _asked_in_the_handler(thrown: Thrown, tool: ToolDef) -> bool:
    """Whether the handler calls `ctx.fail` or `ctx.guard` with the reason, which another rule reports."""
    return thrown.reached is not None and thrown.reached.form == "fail" and in_handler(thrown.reached, tool)


def _quoted(names: list[str]) -> str:
    return " or ".join(repr(each) for each in names)


class ContractCodeMismatch(Rule):
    """A declared reason with another code."""

    id = "error-contract-code-mismatch"
    severity = Severity.ERROR
    family = "conformance"
    summary = "a declared reason is raised with a code other than the declared one"
    why = (
        "The catalogue says NOT_FOUND and the wire says CONFLICT: a client that goes by the code does the wrong thing, "
        "and the boundary logs every such failure as a broken contract."
    )
    bad = 'raise conflict("no such article", data={"reason": "no_match"})  # declared as NOT_FOUND'
    good = 'raise not_found("no such article", data={"reason": "no_match"})'
    how_to_fix = "Raise the reason with its declared code (`ctx.fail` does), or change the code in the contract."
    when_to_suppress = "Never: one of the two is wrong."
    valid = (
        """
        from mcpcore import Context, ErrorCode, FailureMode, conflict, not_found, tool

        LOST = FailureMode("lost", ErrorCode.CONFLICT, when="x", recovery="y")

        @tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y"), LOST])
        def fetch(ctx: Context, a: str, reason: str) -> str:
            if a == "1":
                raise not_found("x", reason="gone")
            if a == "2":
                raise conflict("x", reason=reason)
            if a == "3":
                raise conflict("undeclared", reason="other")
            with ctx.guard({KeyError: LOST}):
                if a == "4":
                    raise KeyError(a)
            if a == "5":
                raise ctx.fail(LOST)
            raise ctx.fail("gone")
        """,
    )
    invalid = (
        Invalid(
            """
            from mcpcore import CodedError, Context, CustomCode, ErrorCode, FailureMode, conflict, not_found, tool

            QUOTA = CustomCode("QUOTA", 7, http_status=429, category="upstream", retry=None, sentence="x")
            ERRORS = [
                FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y"),
                FailureMode("quota", QUOTA, when="x", recovery="y"),
            ]

            def service():
                raise conflict("x", data={"reason": "gone"})

            @tool(errors=ERRORS + [])
            def fetch(ctx: Context, a: str) -> str:
                if a == "1":
                    raise conflict("x", reason="gone")  # here
                if a == "2":
                    raise CodedError(ErrorCode.RATE_LIMITED, "x", {"reason": "quota"})  # here
                if a == "3":
                    raise CodedError(QUOTA, "x", {"reason": "quota"})
                return service()  # here
            """,
            "'gone' is declared with NOT_FOUND and raised with CONFLICT",
        ),
        Invalid(
            """
            from mcpcore import CodedError, ErrorCode, FailureMode, conflict, tool

            def fail(reason: str) -> None:
                raise conflict("x", reason=reason)

            def bail(code: ErrorCode, reason: str = "gone") -> CodedError:
                return CodedError(code, "x", reason=reason)

            @tool(
                errors=[
                    FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y"),
                    FailureMode("held", ErrorCode.CONFLICT, when="x", recovery="y"),
                ]
            )
            def fetch(a: str) -> str:
                if a == "1":
                    fail("gone")  # here
                if a == "2":
                    fail("held")
                if a == "3":
                    raise bail(ErrorCode.NOT_FOUND)
                if a == "4":
                    raise bail(reason="held", code=ErrorCode.NOT_FOUND)  # here
                raise bail(ErrorCode.CONFLICT, a)
            """,
            "'gone' is declared with NOT_FOUND and raised with CONFLICT (fetch > fail)",
        ),
    )

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each declared reason that leaves the handler with a code that is not its own."""
        contract = tool.contract
        if contract is None:
            return
        seen: set[tuple[object, ...]] = set()
        for thrown in all_thrown(tool, ctx):
            if not thrown.codes or not thrown.reasons or (thrown.error is not None and thrown.error.form == "fail"):
                continue
            for reason in thrown.reasons:
                entry = contract.by_reason.get(reason)
                declared = codes_of(entry.code.value) if entry is not None else None
                if entry is None or declared is None:
                    continue
                wrong = [each for each in thrown.codes if each not in declared]
                # With several codes and several reasons nobody can tell which goes with which.
                if not wrong or (len(thrown.reasons) > 1 and len(wrong) < len(thrown.codes)):
                    continue
                key = (thrown.reached.call if thrown.reached else thrown.error, reason)
                if key in seen:
                    continue
                seen.add(key)
                way = f" ({thrown.way})" if thrown.way else ""
                report(
                    thrown,
                    f"{reason!r} is declared with {' or '.join(declared)} and raised with {' or '.join(wrong)}{way}",
                    "raise it with its declared code, as ctx.fail does, or change the code in errors",
                    tool,
                    ctx,
                )
