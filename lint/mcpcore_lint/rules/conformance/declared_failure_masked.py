"""declared-failure-masked."""

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.engine.flow.bodies.errors import CODED_ERROR
from mcpcore_lint.model import Handler, ToolDef
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._bodies import body_of
from mcpcore_lint.rules._thrown import CODED, broad_clause, guards, masked, reason_texts
from mcpcore_lint.rules.handler._to_client import calls_of_wrapped, middleware_of


class DeclaredFailureMasked(Rule):
    """A declared failure that a broad clause replaces.

    Summary: the client never sees a declared failure: a broad `except` catches it and raises another error
    Why: The contract promises a reason with its recovery. The clause catches that failure along with everything else,
        and the agent reads a different error, usually without a next step. The clause may be in the tool or in a
        decorator between the tool and `@tool`.
    How to fix: Let coded errors through with `except CodedError: raise` before the broad clause, move the failure out
        of the `try`, or catch only the exceptions you expect.
    When to suppress: If the failure must not leave this block, whatever the contract says.
    """

    severity = Severity.WARNING
    bad = """MODE = FailureMode("no_match", ErrorCode.NOT_FOUND, when="no such article", recovery="Search.")

@tool(errors=[MODE])
async def fetch(ctx: Context, pmid: str) -> str:
    try:
        raise ctx.fail("no_match")
    except Exception as error:
        raise internal_error() from error"""
    good = bad.replace("except Exception", "except CodedError:\n        raise\n    except Exception")

    def check_handler(self, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each declared reason that a clause of the handler replaces, where it is raised or called."""
        contract = tool.contract
        body = body_of(handler)
        for failure in masked(tool, ctx) if contract is not None else ():
            reasons = [reason for reason in failure.reasons if contract is not None and reason in contract.by_reason]
            if not reasons or not body.raises([*failure.catch.body]):
                continue
            way = f" ({' > '.join((tool.display_name, *failure.path))})" if failure.path else ""
            ctx.report(
                failure.span,
                f"the declared failure {reasons[0]!r}{way} never reaches the client: an `except` replaces it",
                help="re-raise coded errors before it: `except CodedError: raise`",
                tool=tool,
                module=handler.module,
                related=[ctx.related(failure.catch.node, "this clause raises another error", handler.module)],
            )
        if contract is not None:
            self._check_wrappers(handler, tool, ctx)

    def _check_wrappers(self, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
        """Report the reasons that the handler itself raises and a clause of a decorator replaces."""
        decorators = [*getattr(handler.node, "decorator_list", ())]
        # A decorator above the registration does not run when a client calls the tool.
        below = tool.registration not in decorators or tool.registration is decorators[0]
        wrappers = [(wrapper, calls_of_wrapped(wrapper)) for wrapper in ctx.wrappers(handler, tool) or () if below]
        wrappers += middleware_of(tool, ctx, inside="ContractMiddleware")
        for wrapper, calls in wrappers:
            spans = [wrapper.module.source.span(call) for call in calls]
            catch = broad_clause(wrapper, spans[0], CODED_ERROR, ctx) if len(spans) == 1 else None
            if catch is None or not body_of(wrapper).raises([*catch.body]):
                continue
            for throw in handler.throws:
                reasons = reason_texts(throw.error) if throw.error is not None and throw.error.form in CODED else ()
                known = [reason for reason in reasons or () if tool.contract and reason in tool.contract.by_reason]
                if known and not any(guards(inner, throw.span) for inner in handler.catches):
                    ctx.report(
                        throw.span,
                        f"the declared failure {known[0]!r} never reaches the client: {wrapper.qualname} replaces it",
                        help="re-raise coded errors there: `except CodedError: raise`",
                        tool=tool,
                        module=handler.module,
                        related=[ctx.related(catch.node, "this clause raises another error", wrapper.module)],
                    )
