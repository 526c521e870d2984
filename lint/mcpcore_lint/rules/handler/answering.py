"""What a handler answers when it has failed: the failure, as if it were a result."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.flow.effects import BROAD
from mcpcore_lint.model import options
from mcpcore_lint.patterns import regex
from mcpcore_lint.rules._bodies import body_of, where_to
from mcpcore_lint.rules.base import Rule, RuleContext
from mcpcore_lint.rules.handler._checked import raises_failures
from mcpcore_lint.rules.handler._failures import SHOWN, Failure, Judge, Place
from mcpcore_lint.rules.handler._returned import returned_failures
from mcpcore_lint.syntax.parse import walk_shallow

if TYPE_CHECKING:
    from mcpcore_lint.model import FunctionNode, Handler, ToolDef

_CHECKUP: Final = regex(
    r"(?:^|_)(?:health|healthcheck|ping|diagnose|diagnostics?|doctor)(?:_|$)"
    r"|(?:check|test|verify)_(?:\w+_)?connect(?:ion|ivity)|connection_(?:check|test|status)"
)
"""Names of tools that are asked how something is: "it fails" is their answer."""
_CHECKING: Final = regex(r"(?:^|_)(?:validat\w*|valid|check|verify|lint|parse|dry_run|precheck|preflight)(?:_|$)")
"""Names of tools that are asked what is wrong with a text: what the parser says is their answer."""
_FOLLOWING: Final = regex(r"(?:^|_)(?:status|state|poll|progress|wait|watch|follow|job|run|runs|task)(?:_|$)")
"""Names of tools that are asked how some work stands: "it failed" is their answer, unless an `except` gives it."""
_ASKED: Final = regex(r"(?:^|_)(?:validate|lint|dry_run|precheck|preflight)(?:_|$)")
"""Names of tools that are asked whether something will do: "no" is their answer, unless an `except` gives it."""


class NoErrorAsData(Rule):
    """A failure returned as if it were a result."""

    id = "no-error-as-data"
    severity = Severity.WARNING
    family = "handler"
    summary = (
        'a failure returned as a result: {"ok": False}, {"error": ...}, "Error: ...", CallToolResult(is_error=True)'
    )
    why = (
        "The host reads a success. Nothing counts it as a failure, it carries no retry advice or recovery, the "
        "output model must allow for it, and the agent has to guess from prose that nothing was done. A failure that "
        "a function of the project builds for several tools is one finding at that function, which names the tools. In "
        "a tool of mcpcore a hand-made `CallToolResult(is_error=True)` is one too: it is marked as failed, and carries "
        "no code, no retry advice and no recovery. On the SDK and FastMCP it is the way to fail with a text."
    )
    bad = 'return {"error": f"no article {pmid}"}'
    good = 'raise ctx.fail("no_match", data={"pmid": pmid})'
    how_to_fix = "Raise the failure: the boundary makes the result, marked as failed, with both surfaces filled in."
    when_to_suppress = (
        "Where the failure is the answer that was asked for: a validator's verdict, the state of somebody's job."
    )

    def check_handler(self, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each answer that is definitely a failure, where it is built."""
        contract_tool = tool.flavour == "mcpcore"
        if any(raises_failures(body_of(wrapper)) for wrapper in ctx.wrappers(handler)):
            return
        for match in returned_failures(handler, ctx, contract_tool=contract_tool):
            failure = match.failure
            if tool.kind == "prompt" and failure.is_text:
                continue
            if not failure.by_hand and _asked_for(failure.shape, handler.name, caught=match.caught):
                continue
            if failure.place is None:
                ctx.report(
                    match.node,
                    f"{tool.display_name} returns {failure.shape}{_meaning(failure)}",
                    help=where_to(tool),
                    tool=tool,
                    module=handler.module,
                )
            else:
                place = failure.place
                ctx.report(
                    place.node,
                    f"{_name(place.function)}() returns {failure.shape}{_meaning(failure)}",
                    help=f"{where_to(tool)}; an `except` on the way to the client must not make a result of it again",
                    tool=tool,
                    module=place.module,
                    related=[ctx.related(match.node, f"{tool.display_name} returns it", handler.module)],
                    shared=True,
                )
        self._round(handler, tool, ctx)

    @staticmethod
    def _round(handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
        """Report, where it is made, what a decorator makes of every exception."""
        if isinstance(handler.node, ast.Lambda) or len(handler.node.decorator_list) < 2 or tool.kind == "prompt":
            return
        from mcpcore_lint.rules.handler._round import clauses_round

        judge = Judge(handler, ctx, contract_tool=tool.flavour == "mcpcore")
        for around in clauses_round(handler, tool):
            if BROAD.isdisjoint(around.types()):
                continue
            judge.caught = {around.clause.name} if around.clause.name else set()
            for node in walk_shallow([*around.clause.body]):
                if not isinstance(node, ast.Return) or node.value is None:
                    continue
                failures = [judge.failure(option, in_clause=True) for option in options(around.value(node.value))]
                failure = failures[0]
                if failure is not None and None not in failures and not failure.by_hand:
                    place = failure.place or Place(node.value, around.module, around.function)
                    ctx.report(
                        place.node,
                        f"{around.owner}() returns {failure.shape} for every exception of the tools that it wraps, so "
                        "their failures look like successes",
                        help="let the exception through, or raise one that says what the caller can do next",
                        tool=tool,
                        module=place.module,
                        shared=True,
                    )


def _name(function: FunctionNode) -> str:
    return "lambda" if isinstance(function, ast.Lambda) else function.name


def _meaning(failure: Failure) -> str:
    """How the client reads a failure, as the end of a sentence."""
    if failure.by_hand:
        return ", a failure without a code, a reason or a recovery"
    return " as if it were a result, so the failure looks like a success"


def _asked_for(shape: str, name: str, *, caught: bool) -> bool:
    """Whether a tool of some name is asked for what looks like a failure."""
    if shape.startswith("{") and _CHECKUP.search(name):
        return True
    if not caught and shape.lower().endswith(('"failed"}', '"failure"}', '"fail"}')) and _FOLLOWING.search(name):
        return True
    if shape == SHOWN or shape.startswith('the text "Invalid'):
        return _CHECKING.search(name) is not None
    return not caught and shape.endswith(": False}") and _ASKED.search(name) is not None
