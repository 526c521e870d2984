"""preserve-cause-on-rethrow: an error raised in an `except` clause without `from`."""

import ast

from mcpcore_lint.codemods import edits as codemods
from mcpcore_lint.diagnostics import Change, Fix, Severity
from mcpcore_lint.engine.syntax.parse import walk_shallow
from mcpcore_lint.frameworks import uses_mcpcore
from mcpcore_lint.model import CatchSite, Handler, ThrowSite, ToolDef
from mcpcore_lint.names import CONSTRUCTORS
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._bodies import Body, body_of, short
from mcpcore_lint.rules.handler._raises import NOT_FAILURES


class PreserveCauseOnRethrow(Rule):
    """An error raised in an `except` clause without `from`.

    Summary: the log shows two unrelated errors: the second one is raised in an `except` clause without `from`
    Why: The log and the audit trail find the cause of a failure in its `__cause__`. Without `from`, the second
        exception looks like an accident that happened while the first one was handled. On servers without mcpcore,
        which have no audit trail, the rule is off unless you select it by its id: ruff's B904 says the same.
    How to fix: Name the exception in the clause and add `from error`, or add `from None` to hide the cause.
    When to suppress: Rarely. `from None` hides the cause on purpose and is not reported.

    Bad:
        except httpx.HTTPError:
            raise service_unavailable()
    Good:
        except httpx.HTTPError as error:
            raise service_unavailable() from error
    """

    severity = Severity.WARNING
    fixable = True

    def check_handler(self, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each new error that a clause raises without a cause."""
        if not uses_mcpcore(tool) and not ctx.named:
            return
        seen: set[ast.AST] = set()
        body = body_of(handler)
        for throw in handler.throws:
            from_itself = _is_its_own_cause(throw)
            if throw.catch is None or throw.reraise or throw.node in seen or not throw.escapes:
                continue
            if not (from_itself or throw.cause == "implicit") or (throw.error is None and throw.call is None):
                continue
            if throw.error is not None and throw.error.type_name in NOT_FAILURES - {"builtins.AssertionError"}:
                continue
            if not from_itself and _has_another_cause(throw, body):
                continue
            seen.add(throw.node)
            caught = [short(name) for name in throw.catch.types if name is not None]
            clause = f" of {' or '.join(caught)}" if caught and not throw.catch.bare else ""
            how, step = "without `from`", "add `from` and the name of the exception, or `from None` to hide the cause"
            if from_itself:
                how, step = "from itself", "name the caught exception differently, and raise the new error `from` it"
            ctx.report(
                throw.node,
                f"the `except`{clause} raises {_class_name(throw)} {how}, so the log shows its cause as an "
                "unrelated error",
                help=step,
                tool=tool,
                module=handler.module,
                fix=None if from_itself else _fix(throw, throw.catch, body, ctx),
                weight=None if uses_mcpcore(tool) else Severity.INFO,
            )


def _class_name(throw: ThrowSite) -> str:
    """The class of the error as the code spells it: `McpError` in version 1 of the SDK, `MCPError` in version 2."""
    if throw.type_name is None:
        return "an error"
    name = short(throw.type_name)
    spelled = ast.unparse(throw.node.exc.func).rpartition(".")[2] if isinstance(throw.node.exc, ast.Call) else name
    return spelled if spelled.lower() == name.lower() else name


def _is_its_own_cause(throw: ThrowSite) -> bool:
    """Whether it is `raise error from error`, where `error` is the new error."""
    raised, cause = throw.node.exc, throw.node.cause
    return isinstance(raised, ast.Name) and isinstance(cause, ast.Name) and raised.id == cause.id


def _has_another_cause(throw: ThrowSite, body: Body) -> bool:
    """Whether the cause is set by `error.__cause__ = exc` or by a class method of `CodedError`."""
    error = throw.error
    if error is not None and error.callee in CONSTRUCTORS and isinstance(error.node, ast.Call):
        return error.callee.endswith(".from_unknown") or any(keyword.arg == "cause" for keyword in error.node.keywords)
    attribute = f"{ast.unparse(throw.node.exc)}.__cause__" if throw.node.exc is not None else ""
    return body.module.source.has("__cause__") and attribute in map(ast.unparse, body.all(ast.Attribute))


def _fix(throw: ThrowSite, catch: CatchSite, body: Body, ctx: RuleContext) -> Fix | None:
    """Add `from`, and give the caught exception a name where it has none."""
    clause = catch.node
    if not isinstance(clause, ast.ExceptHandler):
        return None
    module = throw.module
    changes: list[Change] = []
    name = catch.name
    inside = walk_shallow([*clause.body])
    stored = [node.id for node in inside if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    if name in stored:
        return None  # by the time of the `raise`, the name may mean the new error itself
    if name is None:
        depth = sum(1 for _ in body.clauses_above(clause))
        taken = body.names()
        choices = [f"{'inner_' * depth}{word}" for word in ("error", "exc", "cause", "caught")]
        name = next((choice for choice in choices if choice not in taken), None)
        if name is None:
            return None
        if isinstance(clause.type, ast.Tuple) and not module.source.segment(clause.type).startswith("("):
            return None  # a name is not allowed after `except A, B`
        changes.append(codemods.change(module, "name_caught", clause, name))
    changes.append(codemods.change(module, "add_cause", throw.node, name))
    return ctx.fix("Add the cause", changes)
