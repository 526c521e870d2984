"""no-error-as-data: a failure is returned like a result."""

import ast
from typing import Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.engine.flow.bodies.builder import HandlerBuilder
from mcpcore_lint.engine.syntax.parse import walk
from mcpcore_lint.frameworks import framework_of
from mcpcore_lint.model import Handler, ToolDef
from mcpcore_lint.patterns import regex
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._accepted import of_literals, of_node, passed_to
from mcpcore_lint.rules._bodies import body_of, inside, where_to
from mcpcore_lint.rules.handler._failures import EXCEPTION_TEXT, Failure
from mcpcore_lint.rules.handler._raises import guarded_risks, never_raises
from mcpcore_lint.rules.handler._returned_failures import failures_of, returned_failures
from mcpcore_lint.rules.handler._to_client import calls_of_wrapped, middleware_of, reaches_client

_HEALTH_CHECK: Final = regex(
    r"(?:^|_)(?:health_?check|check_health|health(?:_status)?$|diagnose|diagnostics?|doctor)(?:_|$)"
)
"""Names of tools that report how something is: "it fails" is a result, but not "success: False" in a clause.

The health that such a tool reports ends its name, unlike in `search_health_records`.
"""
_CONNECTION_TEST: Final = regex(
    r"(?:^|_)ping(?:_|$)|(?:check|test|verify)_(?:\w+_)?connect(?:ion|ivity)|connection_(?:check|test|status)"
)
"""Names of tools that report whether something answers: any failure is a result."""
_VALIDATOR: Final = regex(r"(?:^|_)(?:validat\w*|valid|check|verify|lint|parse|dry_run|precheck|preflight)(?:_|$)")
"""Names of tools that report mistakes in a text, or say yes or no: the message of the parser and "no" are results."""
_JOB_STATUS: Final = regex(r"(?:^|_)(?:status|state|poll|progress|wait|watch|follow|job|run|runs|task)(?:_|$)")
"""Names of tools that report the state of a job: "failed" is a result, unless an `except` clause returns it."""


class NoErrorAsData(Rule):
    """A failure returned like a result.

    Summary: the client sees a successful call: the tool returns its failure as {"ok": False}, {"error": ...}, "Error:
        ..." or CallToolResult(is_error=True)
    Why: The host does not count such a result as a failure, and the agent has to guess from prose that the call failed.
        The result carries no retry advice and no recovery, and the output model must allow for it. If a function of the
        project builds the failure for several tools, the rule reports it once, at that function, and names the tools.
        In a tool of mcpcore, a hand-made `CallToolResult(is_error=True)` is reported as well: it is marked as failed,
        but carries no code, no retry advice and no recovery. On the SDK and FastMCP, this is the way to fail with a
        text. The text of a response with a bad status, the output of a process with a bad exit code and the exceptions
        that `gather(return_exceptions=True)` collects count as failures too.
    How to fix: Raise the failure. Your client then gets a failed result, with the text and the structured content.
    When to suppress: If the caller asked for the failure: the verdict of a validator, the state of a job.

    Bad:
        return {"error": f"no article {pmid}"}
    Good:
        raise ctx.fail("no_match", data={"pmid": pmid})
    """

    severity = Severity.WARNING

    def check_handler(self, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each answer that is certainly a failure, where it is built."""
        matches = returned_failures(handler, ctx, contract_tool=tool.flavour == "mcpcore")
        for match in matches if matches and reaches_client(handler, tool, ctx) else ():
            failure, place = match.failure, match.failure.place
            if tool.kind == "prompt" and (failure.is_text or tool.flavour == "sdk"):  # the SDK refuses such a dict
                continue
            if isinstance(match.node, (ast.Constant, ast.JoinedStr)) and _refuses_text(tool):
                continue
            if not failure.is_marked and _is_expected(failure, handler.name, caught=match.caught):
                continue
            function = place and HandlerBuilder.of(place.function, place.module, ctx.hierarchy).model
            body, node = body_of(function or handler), place.node if place is not None else match.node
            is_checked = place is None and tool.flavour != "lowlevel"
            asks = tool.flavour == "lowlevel" or (function is not None and _compares_parameter(function, node))
            # Nothing checks the arguments of a low-level tool against what its functions declare.
            literals = of_literals(function) if function is not None and tool.flavour != "lowlevel" else {}
            risks = guarded_risks(body.clause_of(node), function or handler, ctx)
            if (risks or body.tests(node)) and body.refuted(
                node,
                risks=risks,
                typed=is_checked,
                properties=of_node(node, function or handler, tool, ctx) if tool.flavour == "lowlevel" else {},
                passed=literals | (passed_to(function or handler, tool, ctx) if asks else {}),
            ):
                continue
            if place is None:
                catch = body_of(handler).catching(match.node)
                again = f"; the `except` on line {catch.node.lineno} must then raise it again" if catch else ""
                ctx.report(
                    match.node,
                    f"{tool.display_name} returns {failure.shape}{_effect(failure)}",
                    help=where_to(tool) + again,
                    tool=tool,
                    module=handler.module,
                )
                continue
            ctx.report(
                place.node,
                f"{place.function.name}() returns {failure.shape}{_effect(failure)}",
                help=f"{where_to(tool)}; an `except` on the way to the client must not turn it into a result again",
                tool=tool,
                module=place.module,
                related=[ctx.related(match.node, f"{tool.display_name} returns it", handler.module)],
                shared=True,
            )
        if tool.kind != "prompt" and reaches_client(handler, tool, ctx):
            _check_wrappers(handler, tool, ctx)


def _compares_parameter(function: Handler, node: ast.AST) -> bool:
    """Whether a comparison of a parameter decides whether a node of a function runs. To find all callers takes time."""
    names = {parameter.name for parameter in function.parameters}
    return any(
        isinstance(part, ast.Compare) and getattr(part.left, "id", "") in names
        for test, _ in body_of(function).tests(node)
        for part in walk([test])
    )


def _refuses_text(tool: ToolDef) -> bool:
    """Whether the SDK checks the result of a tool and refuses a text: it declares `dict | list` or `dict[str, int]`.

    The SDK does not check what a plain `dict` or a plain `list` says.
    """
    result = getattr(tool.handler.node, "returns", None)
    text = ast.unparse(result) if isinstance(result, (ast.BinOp, ast.Subscript)) else "Any"
    kinds = {part.strip().partition("[")[0].lower() for part in text.split("|")}
    return (
        (tool.kind, tool.flavour) == ("tool", "sdk")
        and kinds <= {"dict", "list", "none"}
        and not tool.decorator_keyword("structured_output")
        and not framework_of(tool).name.startswith("FastMCP")
    )


def _check_wrappers(handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
    """Report the failures that decorators and middleware return for every exception, or instead of calling the tool."""
    wrappers = [(wrapper, calls_of_wrapped(wrapper)) for wrapper in ctx.wrappers(handler, tool) or ()]
    for wrapper, calls in (*wrappers, *middleware_of(tool, ctx)):
        body = body_of(wrapper)
        for match in failures_of(wrapper, ctx, contract_tool=tool.flavour == "mcpcore"):
            catch, place = body.clause_of(match.node), match.failure.place
            around = catch is not None and catch.broad and any(inside(call, catch.try_body) for call in calls)
            guards = catch is None or (
                # A tool that raises nothing gives the clause nothing to return.
                around and (isinstance(handler.node, ast.Lambda) or not never_raises(handler.node, ctx))
            )
            if place is None or match.failure.is_marked or not (calls and guards):
                continue
            when = "instead of calling the tools" if catch is None else "for every exception of the tools"
            decorator = wrapper.qualname.partition(".")[0]
            ctx.report(
                place.node,
                f"{decorator}() returns {match.failure.shape} {when} that it wraps; the client sees successful calls",
                help="let the exception through, or raise one that says what the caller can do next",
                tool=tool,
                module=place.module,
                shared=True,
            )


def _effect(failure: Failure) -> str:
    """The effect of a failure on the client, as the end of a sentence."""
    if failure.is_marked:
        return ", a failure without a code, a reason or a recovery"
    return "; the client sees a successful call"


def _is_expected(failure: Failure, name: str, *, caught: bool) -> bool:
    """Whether the failure is the result that a tool of this name is called for."""
    shape = failure.shape
    asks = _CONNECTION_TEST.search(name) or (_HEALTH_CHECK.search(name) and not (caught and shape.endswith(": False}")))
    if (shape.startswith("{") or failure.is_quoted) and asks:
        return True
    if not caught and shape.lower().endswith(('"failed"}', '"failure"}', '"fail"}')) and _JOB_STATUS.search(name):
        return True
    is_verdict = shape.endswith(EXCEPTION_TEXT) or failure.is_quoted or 'the text "Invalid' in shape
    return (is_verdict or (not caught and shape.endswith(": False}"))) and _VALIDATOR.search(name) is not None
