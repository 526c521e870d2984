"""Codes that are thrown and do not fit the contract."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.rules._bodies import codes_known
from mcpcore_lint.rules._thrown import BASELINE, Thrown, all_thrown, declared_codes, report
from mcpcore_lint.rules.base import Invalid, Rule, RuleContext, Valid

if TYPE_CHECKING:
    from mcpcore_lint.model import ToolDef


class ContractConformance(Rule):
    """A code that the contract does not declare."""

    id = "error-contract-conformance"
    severity = Severity.WARNING
    family = "conformance"
    summary = (
        "a handler throws a code that is neither declared nor baseline, directly or through functions that it calls"
    )
    why = (
        "The contract in `tools/list` is what agents plan with. A code that it does not name reaches them without a "
        "reason and without a recovery, and no test of the contract ever sees it."
    )
    bad = '@tool(errors=[])\ndef fetch(pmid: str) -> str:\n    raise not_found("no such article")'
    good = (
        '@tool(errors=[FailureMode("no_match", ErrorCode.NOT_FOUND, when=..., recovery=...)])\n'
        'def fetch(ctx: Context[Literal["no_match"]], pmid: str) -> str:\n    raise ctx.fail("no_match")'
    )
    how_to_fix = (
        "Declare the failure in `errors`, or catch it and raise one that is declared. Baseline codes need no "
        "declaration: INTERNAL_ERROR, SERVICE_UNAVAILABLE, TIMEOUT, VALIDATION_ERROR, SERIALIZATION_ERROR and "
        "REQUEST_CANCELLED."
    )
    when_to_suppress = "Where the call cannot fail in this way with the arguments that it is given here."
    valid = (
        """
        from mcpcore import Context, ErrorCode, FailureMode, conflict, not_found, timeout, tool, validation_error

        def service(a):
            raise not_found("x", reason="gone")

        @tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
        def fetch(ctx: Context, a: str) -> str:
            if a == "1":
                raise timeout("baseline")
            if a == "2":
                raise validation_error("baseline")
            try:
                raise conflict("caught")
            except Exception:
                return ""
            def unused():
                raise conflict("never called")
            return service(a)

        @tool
        def other() -> str:
            raise conflict("no contract")

        @tool(errors=load())
        def third() -> str:
            raise conflict("unknown contract")

        @tool(errors=[*load(), FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
        def fourth() -> str:
            raise conflict("known in part")

        @tool(errors=[FailureMode("gone", -32001, when="x", recovery="y")])
        def fifth() -> str:
            raise not_found("the code as a number")
        """,
        Valid(
            """
            from mcpcore import CodedError, ErrorCode, FailureMode, tool
            from store import load

            @tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
            def fetch(a: str) -> str:
                try:
                    return load(a)
                except CodedError:
                    return ""
            """,
            files={"store.py": "from mcpcore import conflict\n\ndef load(a):\n    raise conflict('x')\n"},
        ),
    )
    invalid = (
        Invalid(
            """
            import mcpcore as m
            from functools import partial
            from mcpcore import CodedError, Context, ErrorCode, FailureMode, conflict as clash, tool

            GONE = FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")
            Full = partial(CodedError, ErrorCode.RATE_LIMITED)

            def made(why: str) -> CodedError:
                return m.forbidden(why)

            async def made_later(why: str) -> CodedError:
                return m.unauthorized(why)

            @tool(errors=[GONE])
            async def fetch(ctx: Context, a: str) -> str:
                match a:
                    case "1":
                        raise clash("x")  # here
                    case "2":
                        raise CodedError(ErrorCode["FORBIDDEN"], "x")  # here
                    case "3":
                        raise Full("x")  # here
                    case "4":
                        error = m.unauthorized("x")  # here
                        raise error
                    case "5":
                        raise made("x")  # here
                    case "6":
                        raise await made_later("x")  # here
                    case "7":
                        raise CodedError(ErrorCode.CONFLICT if a else ErrorCode.NOT_FOUND, "x")  # here
                    case "8":
                        raise ExceptionGroup("both", [clash("x")])  # here
                    case "9":
                        if (late := m.database_error("x")) and a:  # here
                            raise late
                try:
                    return await other()
                except Exception as problem:
                    raise CodedError(-32008, "x") from problem  # here

            @tool(errors=[GONE])
            def second(a: str) -> str:
                def inner():
                    raise clash("x")  # here
                return inner()
            """,
            "fetch throws CONFLICT",
        ),
        Invalid(
            """
            from mcpcore import ErrorCode, FailureMode, tool
            from store import ArticleStore

            class Tools:
                def __init__(self, store: ArticleStore) -> None:
                    self.store = store

                @tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
                async def fetch_articles(self, a: str) -> str:
                    return await self.store.get(a)  # here
            """,
            "Tools.fetch_articles > ArticleStore.get > _request",
            files={
                "store.py": """
                from mcpcore import rate_limited

                class ArticleStore:
                    async def get(self, a):
                        return await _request(a)

                async def _request(a):
                    raise rate_limited("slow down")
                """
            },
        ),
        # Which factory it is, a condition, a variable or a table says.
        Invalid(
            """
            from mcpcore import ErrorCode, FailureMode, conflict, forbidden, not_found, tool

            GONE = FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")
            BY_STATUS = {403: forbidden, 409: conflict}

            @tool(errors=[GONE])
            def fetch(a: int) -> str:
                if a == 1:
                    raise (conflict if a > 4 else forbidden)("x")  # here
                if a == 2:
                    factory = conflict
                else:
                    factory = not_found
                if a == 3:
                    raise factory("x", reason="gone")
                raise BY_STATUS[a]("x")  # here

            @tool(errors=[GONE])
            def second(a: int) -> str:
                if a == 1:
                    raise load()[a]("what makes it is not known")
                try:
                    raise BY_STATUS[a]("x")
                except Exception:
                    return ""
            """,
            "fetch throws CONFLICT",
        ),
        # The code is an argument of what makes the error, or of what raises it.
        Invalid(
            """
            from typing import Any
            from mcpcore import CodedError, Context, ErrorCode, FailureMode, tool

            class Failure(CodedError):
                def __init__(self, why: str, code: ErrorCode = ErrorCode.FORBIDDEN) -> None:
                    super().__init__(code, why)

            def made(code: ErrorCode = ErrorCode.FORBIDDEN, reason: str | None = None) -> CodedError:
                return CodedError(code, "x", reason=reason)

            def fail(code: ErrorCode, reason: str | None = None) -> None:
                if reason is None:
                    raise CodedError(code, "x")
                raise CodedError(code, "x", data={"reason": reason})

            def of_class(code):
                raise Failure("x", code)

            def later(code):
                if code:
                    code = ErrorCode.NOT_FOUND
                raise CodedError(code, "x")

            async def outer(code: ErrorCode) -> None:
                fail(code)

            class Store:
                def _fail(self, why: str, code: ErrorCode) -> None:
                    raise CodedError(code, why)

                def get(self, a: str) -> str:
                    self._fail("CONFLICT", ErrorCode.RATE_LIMITED)

            @tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
            async def fetch(ctx: Context[Any], a: str) -> str:
                match a:
                    case "1":
                        fail(ErrorCode.FORBIDDEN)  # here
                    case "2":
                        fail(ErrorCode.NOT_FOUND, "gone")
                    case "3":
                        raise made()  # here
                    case "4":
                        raise made(code=ErrorCode.NOT_FOUND)
                    case "5":
                        of_class(ErrorCode.CONFLICT)  # here
                    case "6":
                        later(ErrorCode.CONFLICT)
                    case "7":
                        await outer(ErrorCode.CONFLICT)  # here
                    case "8":
                        Store().get(a)  # here
                    case "9":
                        fail(ErrorCode.TIMEOUT)
                    case "10":
                        raise made(a)
                    case "11":
                        raise made(*[ErrorCode.NOT_FOUND])
                    case "12":
                        fail(ErrorCode.CONFLICT, "undeclared-reason says it")

                def bail(code: ErrorCode) -> None:
                    raise CodedError(code, "x")  # here

                if a:
                    bail(ErrorCode.CONFLICT)
                bail(ErrorCode.TIMEOUT)
            """,
            "fetch can throw FORBIDDEN here (fetch > fail)",
        ),
        # The class methods of CodedError.
        Invalid(
            """
            from mcpcore import CodedError, Context, ErrorCode, FailureMode, tool

            @tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
            def fetch(ctx: Context, a: str) -> str:
                if a == "1":
                    raise CodedError.tool_failure(ErrorCode.FORBIDDEN, "x")  # here
                if a == "2":
                    raise CodedError.tool_failure(code=ErrorCode.NOT_FOUND, reason="gone")
                if a == "3":
                    raise CodedError.invariant_violation("never-here")
                try:
                    return open(a).read()
                except FileNotFoundError as error:
                    raise CodedError.from_unknown(error, code=ErrorCode.FORBIDDEN) from error  # here
                except OSError as error:
                    raise CodedError.from_unknown(error) from error
            """,
            "fetch throws FORBIDDEN",
        ),
    )

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each code that leaves the handler, has no declared reason and is not declared itself."""
        contract = tool.contract
        if contract is None or not codes_known(contract):
            return
        declared = declared_codes(contract)
        seen: set[tuple[object, ...]] = set()
        everything = all_thrown(tool, ctx)
        for thrown in everything:
            if thrown.codes is None or thrown.reasons:
                continue
            codes = thrown.codes
            if thrown.error is None and not thrown.way:  # one of several factories makes it: all are told at once
                codes = _of_the_same(thrown, everything)
            strange = [each for each in codes if each not in declared and each not in BASELINE]
            if not strange:
                continue
            key = (thrown.reached.call if thrown.reached else thrown.error, *strange)
            if key in seen:
                continue
            seen.add(key)
            named = " or ".join(strange)
            how = f"can throw {named} here ({thrown.way})" if thrown.way else f"throws {named}"
            report(
                thrown,
                f"{tool.display_name} {how}, which its contract does not declare",
                f"declare it with a reason, a when and a recovery: FailureMode(..., ErrorCode.{strange[0]}, ...)"
                + ("; or catch it here" if thrown.way else ""),
                tool,
                ctx,
            )


def _of_the_same(thrown: Thrown, everything: list[Thrown]) -> tuple[str, ...]:
    """The codes without a reason that one `raise` may throw."""
    same = [each for each in everything if each.error is None and each.raised_here is thrown.raised_here]
    return tuple(dict.fromkeys(code for each in same if not each.reasons and not each.way for code in each.codes or ()))
