"""How failures are made: their reasons, and whether they are raised."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from mcpcore_lint.codemods import edits
from mcpcore_lint.diagnostics import Edit, Severity
from mcpcore_lint.model import options, string
from mcpcore_lint.rules._bodies import Body, body_of, reasons_known, short
from mcpcore_lint.rules._thrown import CODED
from mcpcore_lint.rules._wording import near
from mcpcore_lint.rules.base import Rule, RuleContext

if TYPE_CHECKING:
    from mcpcore_lint.diagnostics import Fix
    from mcpcore_lint.model import Contract, ErrorSite, Handler, ToolDef, Value
    from mcpcore_lint.syntax.module import Module


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
        return ctx.fix(f"Change to {meant!r}", [edits.replace_node(module, at, f"{written[0]}{meant}{written[0]}")])


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
            return ctx.fix("Raise it", [edits.insert_before(module, parent, "raise ")])
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
