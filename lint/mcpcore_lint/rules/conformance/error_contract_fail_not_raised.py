"""error-contract-fail-not-raised."""

import ast

from mcpcore_lint.codemods import edits
from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import Handler, ToolDef
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._bodies import body_of, short
from mcpcore_lint.rules._thrown import CODED


class ContractFailNotRaised(Rule):
    """An error that is created and not raised.

    Summary: an error is created by `ctx.fail` or a factory but never raised
    Why: `ctx.fail` only creates the error. Without `raise` the tool goes on, or returns the exception as its result,
        and the client sees a successful call.
    How to fix: Write `raise` before the call. The fix does this if the call is a whole statement, and for `return
        ctx.fail(...)`. It is unsafe, because the code after the call no longer runs.
    When to suppress: Never: an error that is not raised has no effect.

    Bad:
        if not found:
            ctx.fail("no_match")
    Good:
        if not found:
            raise ctx.fail("no_match")
    """

    severity = Severity.ERROR
    fixable = "unsafe"

    def check_handler(self, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each error that is not raised."""
        body = body_of(handler)
        for error in handler.errors:
            returned = error.fate == "returned" and error.function is handler.node
            if error.form not in CODED or not (returned or error.fate in {"discarded", "unused"}):
                continue
            name = "ctx.fail" if error.form == "fail" else short(error.callee)
            problem = "is returned, so the client sees a successful call" if returned else "is never raised"
            message = f"the error that {name}(...) creates {problem}"
            step = "write `raise` instead of `return`" if returned else "write `raise` before it"
            target, fix = body.parents.get(error.node), None
            if isinstance(target, ast.Expr) or (error.fate == "returned" and isinstance(target, ast.Return)):
                fix = ctx.fix("Raise it", [edits.change(error.module, "raise_it", target)], unsafe=True)
            ctx.report(error.node, message, help=step, tool=tool, module=handler.module, fix=fix)
