"""The coded errors that leave a tool, raised by its handler or by the functions that it calls."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final, NamedTuple

from mcpcore_lint.diagnostics import Related
from mcpcore_lint.model import CodeValue, Const, Missing, options, string
from mcpcore_lint.rules._bodies import codes_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore_lint.diagnostics import Fix
    from mcpcore_lint.model import Contract, ErrorSite, Reach, ReachedThrow, ThrowSite, ToolDef
    from mcpcore_lint.rule import RuleContext

CODED: Final = frozenset({"fail", "factory", "coded", "guard"})
"""Forms of errors that have a code."""

BASELINE: Final = frozenset(
    {
        "INTERNAL_ERROR",
        "SERVICE_UNAVAILABLE",
        "TIMEOUT",
        "VALIDATION_ERROR",
        "SERIALIZATION_ERROR",
        "REQUEST_CANCELLED",
    }
)
"""Codes that can occur anywhere and need no declaration."""


class Thrown(NamedTuple):
    """An error with a code that leaves the handler.

    `codes` and `reasons` are all possible ones; None means unknown, and `()` that the error has no code or no reason.
    """

    codes: tuple[str, ...] | None
    reasons: tuple[str, ...] | None
    error: ErrorSite | None
    """The expression in the handler that creates it."""
    reached: ReachedThrow | None
    """The raise in another function, or the handler's raise of an error from one of several factories."""
    raised_here: ThrowSite | None = None
    """The `raise` statement of the handler."""

    @property
    def place(self) -> object:
        """The place by which equal findings are recognised: the call in the handler, or the guard."""
        if self.reached is None:
            return self.error
        by_guard = self.reached.form == "guard" or self.reached.data_keys is not None
        return self.reached.site if by_guard else self.reached.call

    def is_only_named(self, tool: ToolDef) -> bool:
        """Whether a guard outside the handler names it and no known exception inside becomes it."""
        if self.reached is None or not self.reached.is_named_only:
            return False
        return (self.codes is None and not self.reasons) or not in_handler(self.reached, tool)

    @property
    def way(self) -> str:
        """The functions on the way there; empty if the handler raises it itself."""
        path = self.reached.path if self.reached is not None else ()
        return " > ".join(path) if len(path) > 1 else ""


def reason_texts(error: ErrorSite) -> tuple[str, ...] | None:
    """The reasons that an error may have: `()` if it has no reason, None if its reason is unknown."""
    texts: list[str] = []
    for option in options(error.reason):
        text = string(option)
        if text is not None:
            texts.append(text)
        elif not (isinstance(option, Missing) or (isinstance(option, Const) and option.value is None)):
            return None
    return tuple(dict.fromkeys(texts))


def real_codes(error: ErrorSite) -> tuple[str, ...] | None:
    """The names of the codes that an error may have; None if a code is unknown or does not exist."""
    if any(isinstance(option, CodeValue) and not option.exists for option in options(error.code)):
        return None
    return codes_of(error.code)


def declared_codes(contract: Contract) -> frozenset[str]:
    """The names of all codes that the entries declare, as far as they are known."""
    return frozenset(code for entry in contract.entries for code in codes_of(entry.code.value) or ())


def all_thrown(tool: ToolDef, ctx: RuleContext) -> list[Thrown]:
    """The coded errors that leave a tool: those of its handler, then those of the functions that it calls.

    An error that a guard names counts if the guard is in the handler, or if a known exception inside the guard becomes
    it. The guard of a service may name exceptions that this tool's call cannot raise.
    """
    return [thrown for thrown in _everything(tool, ctx) if not thrown.is_only_named(tool)]


def only_named(tool: ToolDef, ctx: RuleContext) -> list[Thrown]:
    """The errors that only guards in called functions name: no known exception inside the guard becomes them."""
    return [thrown for thrown in _everything(tool, ctx) if thrown.is_only_named(tool)]


def _everything(tool: ToolDef, ctx: RuleContext) -> list[Thrown]:
    """All coded errors, computed once for all rules."""
    key = ("thrown", tool)
    errors: list[Thrown] | None = ctx.module.memo.get(key)
    if errors is None:
        reach = ctx.reach(tool)
        errors = ctx.module.memo[key] = [*_direct(tool, reach), *_through(tool, reach)]
    return errors


def in_handler(reached: ReachedThrow, tool: ToolDef) -> bool:
    """Whether an error is created in the handler, its decorators or its nested functions."""
    handler = tool.handler
    first, last = handler.node.lineno, handler.node.end_lineno or handler.node.lineno
    if not isinstance(handler.node, ast.Lambda):
        first = min([first, *(decorator.lineno for decorator in handler.node.decorator_list)])
    return reached.site.path == handler.module.path and first <= reached.site.span.line <= last


def _direct(tool: ToolDef, reach: Reach) -> Iterator[Thrown]:
    """The coded errors that the handler itself raises and does not catch, each once."""
    leaving = {reached.call for reached in reach.own}
    seen: set[ast.AST] = set()
    for throw in tool.handler.throws if leaving else ():
        error = throw.error
        if throw.reraise or (error is not None and error.form not in CODED) or throw.span not in leaving:
            continue
        node = throw.made if error is None else error.node
        if node is None or node in seen:
            continue
        seen.add(node)
        if error is None:
            # One of several factories or a table creates it; the call graph knows which.
            others = [
                other.error for other in tool.handler.throws if other.span == throw.span and other.error is not None
            ]
            for reached in reach.own:
                if (
                    reached.call == throw.span
                    and reached.form in CODED
                    and not any(_is_of(reached, other) for other in others)
                ):
                    yield Thrown(reached.codes, reached.reasons, None, reached, throw)
            continue
        codes = None if error.form == "fail" else real_codes(error)
        reasons = reason_texts(error)
        if (codes is None and error.form != "fail") or reasons is None:
            # A nested function creates it; the call graph knows its arguments.
            matches = [reached for reached in reach.own if reached.call == throw.span and reached.form == error.form]
            if matches and all(match.codes is not None and match.reasons is not None for match in matches):
                yield from (Thrown(match.codes, match.reasons, error, None, throw) for match in matches)
                continue
        yield Thrown(codes, reasons, error, None, throw)


def _is_of(reached: ReachedThrow, error: ErrorSite) -> bool:
    """Whether a reached error is the one that an expression of the handler creates."""
    same = (reached.form, reached.reasons) == (error.form, reason_texts(error))
    return same and reached.codes in {codes_of(error.code), None}


def _through(tool: ToolDef, reach: Reach) -> Iterator[Thrown]:
    """The coded errors from functions that the handler calls, except functions that are tools themselves."""
    tools = {served.handler.qualname for served in tool.serves if served.handler is not None}
    raises = {throw.span: throw for throw in tool.handler.throws}
    for reached in reach.throws:
        if reached.source == "project" and reached.form in CODED and tools.isdisjoint(reached.path[1:]):
            yield Thrown(reached.codes, reached.reasons, None, reached, raises.get(reached.call))


def report(thrown: Thrown, message: str, step: str, tool: ToolDef, ctx: RuleContext, fix: Fix | None = None) -> None:
    """Report a finding at the handler's `raise` or call, with the place of the actual `raise` as related."""
    module = tool.handler.module
    if thrown.error is not None:
        throw = thrown.raised_here
        apart = throw is not None and throw.node.lineno != thrown.error.node.lineno
        related = [ctx.related(throw.node, "it is raised here", module)] if throw is not None and apart else []
        ctx.report(thrown.error.node, message, help=step, tool=tool, module=module, related=related, fix=fix)
        return
    reached = thrown.reached
    assert reached is not None
    site = [Related(reached.site.path, reached.site.span, f"it is raised here: {thrown.way}")] if thrown.way else []
    ctx.report(reached.call, message, help=step, tool=tool, module=module, related=site)
