"""failure-in-success: an item of a successful answer says that it failed."""

import ast
from collections.abc import Iterator

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.engine.syntax.parse import mentions, walk_shallow
from mcpcore_lint.frameworks import uses_mcpcore
from mcpcore_lint.model import CatchSite, Handler, ToolDef
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._bodies import Body, body_of
from mcpcore_lint.rules.handler._failures import FailureDetector

_LOOPS = (ast.For, ast.AsyncFor)


class FailureInSuccess(Rule):
    """An item of a successful answer that says that it failed.

    Summary: the agent reads a success although an item of the answer says that it failed; a batch reports which items
        failed
    Why: Each server marks such items differently, so the host counts a success, and the agent guesses which items to
        send again. The answer of a batch has the results and, for each failed item, the code, reason, recovery and
        retry advice that a failed call for this item alone would have; if every item fails, the call fails. The rule is
        off on servers without mcpcore.
    How to fix: Collect the items with `mcpcore.services.batch.Batch`, and let their failures through.
    When to suppress: If clients rely on the current form of failed items.

    Bad:
        loans = []
        for pmid in [pmid]:
            try:
                loans.append(load(pmid))
            except Exception as error:
                loans.append({'pmid': pmid, 'error': str(error)})
        return loans
    Good:
        batch = Batch(ctx)
        for pmid in [pmid]:
            with batch.item(pmid):
                batch.add(load(pmid))
        return batch.result()
    """

    severity = Severity.INFO

    def check_handler(self, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each item that an `except` clause of a loop adds to the answer."""
        if tool.kind != "tool" or not uses_mcpcore(tool):
            return
        body = body_of(handler)
        detector = FailureDetector(handler, ctx, contract_tool=False)
        for catch in handler.catches:
            for statement, collection, item in _added(catch, body):
                says = catch.name is not None and mentions(item, catch.name)
                if (says or detector.failure(body.value(item), in_clause=True)) and _is_answer(collection, body):
                    ctx.report(
                        statement,
                        f"the answer of {tool.display_name} says in an item that the item failed; the client sees a "
                        "success",
                        help="collect the items with Batch: its answer says which failed, why, and what to send again",
                        tool=tool,
                        module=handler.module,
                    )


def _added(catch: CatchSite, body: Body) -> Iterator[tuple[ast.stmt, str, ast.expr]]:
    """What a clause inside a loop adds to a collection: the statement, the name of the collection, the item."""
    if catch.function is not body.root or not any(isinstance(parent, _LOOPS) for parent in body.above(catch.node)):
        return
    inside = walk_shallow([body.parents[catch.node]])
    # A loop that ends with the first success tries several ways to get one answer.
    for statement in inside if not any(isinstance(node, (ast.Return, ast.Break)) for node in inside) else ():
        match statement:
            case _ if body.clause_of(statement) is not catch:
                pass
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[item])):
                yield statement, name, item
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name))], value=item):
                yield statement, name, item


def _is_answer(name: str, body: Body) -> bool:
    """Whether a function returns a collection, and neither fails because of it nor creates it again in each round."""
    # `if not answers: raise` does not fire where the failed items are among the answers.
    tests = [node for node in body.all(ast.If) if not isinstance(getattr(node.test, "operand", None), ast.Name)]
    if any(mentions(node.test, name) and body.raises(node.body) for node in tests):
        return False
    begun = [node for node in body.all(ast.Assign) if any(getattr(target, "id", "") == name for target in node.targets)]
    if any(isinstance(parent, (*_LOOPS, ast.While)) for node in begun for parent in body.above(node)):
        return False
    return any(node.value is not None and mentions(node.value, name) for node in body.all(ast.Return))
