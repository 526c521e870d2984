"""What a handler answers when it has failed: nothing, as if there were nothing."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import Const
from mcpcore_lint.patterns import regex
from mcpcore_lint.rules._bodies import Body, body_of, mentions, origin, short, where_to
from mcpcore_lint.rules._endings import unreachable
from mcpcore_lint.rules.base import Rule, RuleContext
from mcpcore_lint.rules.handler._emptied import Emptied, emptied_parts, empty_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore_lint.model import CatchSite, Handler, ToolDef

_ABSENCE: Final = regex(r"NotFound|DoesNotExist|NoResult|NoSuch|Missing|Empty|NotExist|Absent|Stop(?:Async)?Iteration")
ABSENT: Final = frozenset(
    {"builtins.FileNotFoundError", "builtins.NotADirectoryError", "builtins.KeyError", "builtins.IndexError",
     "builtins.LookupError", "builtins.StopIteration", "builtins.StopAsyncIteration", "builtins.AttributeError",
     "builtins.ImportError", "builtins.ModuleNotFoundError", "builtins.ProcessLookupError", "asyncio.CancelledError",
     "builtins.EOFError", "builtins.KeyboardInterrupt", "builtins.GeneratorExit"}
)  # fmt: skip
"""Exceptions by which the language says that there is nothing: an empty answer tells the truth."""


class NoFakeEmpty(Rule):
    """An `except` that answers with nothing."""

    id = "no-fake-empty"
    severity = Severity.WARNING
    family = "handler"
    summary = 'an `except` that returns an empty or default value, so that "failed" looks like "nothing found"'
    why = (
        "An agent that reads an empty list stops looking: it tells the person that there are no such articles, when "
        "the database was down for a minute. Nothing in the answer says that trying again would help."
    )
    bad = "except httpx.HTTPError:\n    return []"
    good = 'except httpx.HTTPError as error:\n    raise ctx.fail("upstream_down") from error'
    how_to_fix = "Raise what failed. Return the empty value only where the exception means that there is nothing."
    when_to_suppress = "Where the value is optional for the tool's answer, and the answer says that it is missing."

    def check_handler(self, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each empty answer of a clause that hides a failure."""
        if not handler.catches:
            return
        body = body_of(handler)
        for node in body.all(ast.Return):
            catch = body.clause_of(node)
            nested = body.function_of(node) is not handler.node
            if (
                catch is None
                or not self._hides(catch, ctx, body, nested=nested)
                or self._conditional(node, catch, body)
                or unreachable(node, body)
            ):
                continue
            value = body.value(node.value) if node.value is not None else Const(node, handler.module, None)
            if nested and isinstance(value, Const) and value.value is None:
                continue  # a helper says "there is none", and who calls it looks
            empty = empty_value(value)
            if empty is not None:
                self._report(node, empty, catch, handler, tool, ctx)
        for place, empty, catch in self._set_and_returned(body):
            if self._hides(catch, ctx, body, nested=False):
                self._report(place, empty, catch, handler, tool, ctx)
        for catch in handler.catches:
            if catch.function is handler.node and self._hides(catch, ctx, body, nested=True):
                for place, part, empty in emptied_parts(catch, body):
                    self._report(place, empty, catch, handler, tool, ctx, part=part)

    @staticmethod
    def _report(
        node: ast.AST,
        empty: str,
        catch: CatchSite,
        handler: Handler,
        tool: ToolDef,
        ctx: RuleContext,
        *,
        part: str = "",
    ) -> None:
        names = [short(each) for each in catch.types if each is not None]
        caught = "any exception" if catch.bare or not names else " or ".join(names[:2])
        looks = "an answer" if empty in {"False", "0", "0.0"} else "nothing found"
        whole = f' as "{part}"' if part else ""
        # On plain servers a part that is left empty is often meant so, and the rest of the answer is true.
        thought = bool(part) and tool.flavour != "mcpcore"
        ctx.report(
            node,
            f"{tool.display_name} returns {empty}{whole} after {caught}, so that a failure looks like {looks}",
            help="add a key that says which part failed, and why"
            if part
            else where_to(tool) + "; return nothing only where the exception means that there is nothing",
            tool=tool,
            module=handler.module,
            weight=Severity.INFO if thought else None,
        )

    @staticmethod
    def _hides(catch: CatchSite, ctx: RuleContext, body: Body, *, nested: bool) -> bool:
        """Whether a clause catches what is a failure, rather than the absence of something."""
        if catch.broad:
            return True
        for name in catch.types:
            if name is None or name in ABSENT or _ABSENCE.search(short(name)):
                continue
            whose = origin(name, ctx, body.module.name)
            if whose in {"unknown", "framework"}:
                continue
            parsing = name in {"builtins.ValueError", "builtins.TypeError"}
            if not (parsing and nested):
                return True
        return False

    @staticmethod
    def _conditional(node: ast.AST, catch: CatchSite, body: Body) -> bool:
        """Whether the clause looks at the exception before it answers: a 404 is not a failure."""
        for each in body.above(node):
            if each is catch.node:
                return False
            if isinstance(each, ast.If) and catch.name is not None and mentions(each.test, catch.name):
                return True
            if isinstance(each, ast.Match) and catch.name is not None and mentions(each.subject, catch.name):
                return True
        return False

    @staticmethod
    def _set_and_returned(body: Body) -> Iterator[tuple[ast.AST, str, CatchSite]]:
        """`except Exception: rows = []`, where all that is done with `rows` before it is answered is to look at it."""
        seen: set[ast.AST] = set()
        for node in body.all(ast.Assign):
            parent = body.parents.get(node)
            if not isinstance(parent, ast.ExceptHandler) or len(node.targets) != 1 or parent in seen:
                continue
            statement = body.parents.get(parent)
            if statement is None or body.function_of(node) is not body.root:
                continue
            empty = empty_value(body.value(node.value))
            if empty is None or not isinstance(node.targets[0], ast.Name):
                continue
            answered = Emptied(body.catches[parent], body).answered_behind(statement)
            if answered is not None:
                seen.add(parent)
                yield node, answered or empty, body.catches[parent]
