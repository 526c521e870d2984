"""The cause of an error that takes the place of another."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from mcpcore_lint.codemods import edits as text_edits
from mcpcore_lint.diagnostics import Edit, Severity
from mcpcore_lint.flow.bodies.raises import binds
from mcpcore_lint.frameworks import uses_mcpcore
from mcpcore_lint.names import CONSTRUCTORS
from mcpcore_lint.rules._bodies import Body, body_of, short
from mcpcore_lint.rules.base import Rule, RuleContext
from mcpcore_lint.rules.handler._raised import NOT_FAILURES

if TYPE_CHECKING:
    from mcpcore_lint.diagnostics import Fix
    from mcpcore_lint.model import CatchSite, Handler, ThrowSite, ToolDef


class PreserveCauseOnRethrow(Rule):
    """An error raised in an `except` without `from`."""

    id = "preserve-cause-on-rethrow"
    severity = Severity.WARNING
    family = "handler"
    fixable = True
    summary = "an error raised in an `except` clause without `from`"
    why = (
        "The log and the audit trail show the cause of a failure by its `__cause__`. Without `from` the first "
        "exception reads as a second accident that happened while the first was being handled. On servers without "
        "mcpcore, where no audit trail keeps the cause, it is information."
    )
    bad = "except httpx.HTTPError:\n    raise service_unavailable()"
    good = "except httpx.HTTPError as error:\n    raise service_unavailable() from error"
    how_to_fix = "Add `from error`, naming the exception in the clause; `from None` where the cause says nothing."
    when_to_suppress = "Seldom: `from None` says that the cause is left out on purpose, and is not reported."

    def check_handler(self, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each new error that a clause raises and that names no cause."""
        seen: set[ast.AST] = set()
        body = body_of(handler)
        for throw in handler.throws:
            itself = _names_itself(throw)
            if throw.catch is None or throw.reraise or throw.node in seen or not (itself or throw.cause == "implicit"):
                continue
            if (throw.error is None and throw.call is None) or not throw.escapes:
                continue
            if throw.error is not None and throw.error.type_name in NOT_FAILURES - {"builtins.AssertionError"}:
                continue
            if not itself and _names_it_otherwise(throw, body):
                continue
            seen.add(throw.node)
            made = _written(throw) or "an error"
            caught = [short(each) for each in throw.catch.types if each is not None]
            of = f" of {' or '.join(caught)}" if caught and not throw.catch.bare else ""
            how = "without `from`"
            step = "add `from` and the name of the exception, or `from None` where the cause says nothing"
            if itself:
                how, step = (
                    "from itself",
                    "give the caught exception its own name, and raise the new error `from` it",
                )
            ctx.report(
                throw.node,
                f"{made} is raised in the `except`{of} {how}, so that it does not name its cause",
                help=step,
                tool=tool,
                module=handler.module,
                fix=None if itself else self._fix(throw, throw.catch, body, ctx),
                weight=None if uses_mcpcore(tool) else Severity.INFO,
            )

    @staticmethod
    def _fix(throw: ThrowSite, catch: CatchSite, body: Body, ctx: RuleContext) -> Fix | None:
        clause = catch.node
        if not isinstance(clause, ast.ExceptHandler):
            return None
        module = throw.module
        edits: list[Edit] = []
        name = catch.name
        if name is not None and any(binds(statement, name) for statement in clause.body):
            return None  # by the time of the `raise`, the name may mean the new error itself
        if name is None:
            depth = sum(isinstance(each, ast.ExceptHandler) for each in body.above(clause))
            taken = body.names()
            prefix = "inner_" * depth
            choices = [f"{prefix}{each}" for each in ("error", "exc", "cause", "caught")]
            name = next((each for each in choices if each not in taken), None)
            at = _colon_of(
                clause, module.source.text, module.source.node_range(clause.type or clause)[1 if clause.type else 0]
            )
            if name is None or at is None:
                return None
            if clause.type is None:
                edits.append(Edit(at, at, f" BaseException as {name}"))
            elif isinstance(clause.type, ast.Tuple) and not module.source.segment(clause.type).startswith("("):
                return None
            else:
                edits.append(Edit(at, at, f" as {name}"))
        edits.append(text_edits.insert_after(module, throw.node, f" from {name}"))
        return ctx.fix("Add the cause", edits)


def _written(throw: ThrowSite) -> str | None:
    """The name of what is raised, as the code has it: version 1 of the SDK has `McpError`, version 2 `MCPError`."""
    made = throw.node.exc.func if isinstance(throw.node.exc, ast.Call) else throw.node.exc
    if throw.type_name is None:
        return None
    if isinstance(throw.node.exc, ast.Call) and isinstance(made, (ast.Name, ast.Attribute)):
        written = made.id if isinstance(made, ast.Name) else made.attr
        if written.lower() == short(throw.type_name).lower():
            return written
    return short(throw.type_name)


def _names_itself(throw: ThrowSite) -> bool:
    """Whether it is `raise error from error`, where `error` is the new error."""
    raised, cause = throw.node.exc, throw.node.cause
    return isinstance(raised, ast.Name) and isinstance(cause, ast.Name) and raised.id == cause.id


def _names_it_otherwise(throw: ThrowSite, body: Body) -> bool:
    """Whether the cause is set before: `error.__cause__ = exc`, or by a class method of `CodedError`."""
    error = throw.error
    if error is not None and error.callee in CONSTRUCTORS and isinstance(error.node, ast.Call):
        return error.callee.endswith(".from_unknown") or any(each.arg == "cause" for each in error.node.keywords)
    raised = throw.node.exc
    if not isinstance(raised, ast.Name) or not body.module.source.has("__cause__"):
        return False
    return any(
        isinstance(each.ctx, ast.Store)
        and each.attr == "__cause__"
        and isinstance(each.value, ast.Name)
        and each.value.id == raised.id
        and body.clause_of(each) is throw.catch
        for each in body.all(ast.Attribute)
    )


def _colon_of(clause: ast.ExceptHandler, text: str, offset: int) -> int | None:
    """The offset at which ` as name` goes in a clause: behind its type and the parentheses round it."""
    if clause.type is None:
        match = re.compile(r"except").match(text, offset)
        return match.end() if match else None
    match = re.compile(r"(?:[ \t\f]|\\\r?\n|\))*(?=:)").match(text, offset)
    if match is None:
        return None
    return offset + len(match[0].rstrip(" \t\f"))
