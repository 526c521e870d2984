"""The coded errors that leave a tool, and those that a broad clause of it masks."""

import ast
from collections.abc import Iterator
from typing import Final, NamedTuple

from mcpcore_lint.diagnostics import Fix, Related, Span
from mcpcore_lint.model import (
    CatchSite,
    Contract,
    ErrorSite,
    Handler,
    Reach,
    ReachedThrow,
    ThrowSite,
    ToolDef,
    is_left_out,
    options,
    string,
)
from mcpcore_lint.rule import RuleContext
from mcpcore_lint.rules._bodies import codes_of

CODED: Final = frozenset({"fail", "factory", "coded", "guard"})
"""Forms of errors that have a code."""

BASELINE: Final = frozenset(
    {"INTERNAL_ERROR", "SERVICE_UNAVAILABLE", "TIMEOUT", "VALIDATION_ERROR", "SERIALIZATION_ERROR", "REQUEST_CANCELLED"}
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
    only_named: bool = False
    """Whether a guard outside the handler names it and no known exception inside the guard becomes it."""

    @property
    def place(self) -> object:
        """The place by which equal findings are recognised: the call in the handler, or the guard."""
        if self.reached is None:
            return self.error
        by_guard = self.reached.form == "guard" or self.reached.data_keys is not None
        return self.reached.site if by_guard else self.reached.call

    @property
    def way(self) -> str:
        """The functions on the way there; empty if the handler raises it itself."""
        path = self.reached.path if self.reached is not None else ()
        return " > ".join(path) if len(path) > 1 else ""


def reason_texts(error: ErrorSite) -> tuple[str, ...] | None:
    """The reasons that an error may have: `()` if it has no reason, None if its reason is unknown."""
    texts = [string(option) for option in options(error.reason) if not is_left_out(option)]
    return None if None in texts else tuple(dict.fromkeys(text for text in texts if text is not None))


def declared_codes(contract: Contract) -> frozenset[str] | None:
    """The names of all codes that a contract declares; None if it may declare others."""
    codes = [codes_of(entry.code.value) for entry in contract.entries]
    if contract.state != "sequence" or not contract.complete or None in codes:
        return None
    return frozenset(name for names in codes for name in names or ())


def all_thrown(tool: ToolDef, ctx: RuleContext, *, named: bool = False) -> list[Thrown]:
    """The coded errors that leave a tool: those of its handler, then those of the functions that it calls.

    An error that a guard names counts if the guard is in the handler, or if a known exception inside the guard becomes
    it. The guard of a service may name exceptions that this tool's call cannot raise; with `named` they count too.
    """
    errors = ctx.module.once(
        ("thrown", tool), lambda: [thrown for step in (_direct, _through) for thrown in step(tool, ctx.reach(tool))]
    )
    return [thrown for thrown in errors if named or not thrown.only_named]


class Masked(NamedTuple):
    """A failure with reasons that a broad clause of the handler catches."""

    reasons: tuple[str, ...]
    path: tuple[str, ...]
    """The functions that lead to it; empty if the handler raises it itself."""
    span: Span
    catch: CatchSite


def masked(tool: ToolDef, ctx: RuleContext) -> Iterator[Masked]:
    """The failures that the first clause that can catch them, a broad one, does not raise again."""
    handler = tool.handler
    for throw, path, span in ctx.stopped(handler) if any(catch.broad for catch in handler.catches) else ():
        catch = broad_clause(handler, span, throw.type_name, ctx)
        if catch is not None and throw.reasons:
            yield Masked(throw.reasons, path, span, catch)


def broad_clause(handler: Handler, span: Span, type_name: str, ctx: RuleContext) -> CatchSite | None:
    """The clause that catches an error of a class at a place, if it is a broad one."""
    around = [catch for catch in handler.catches if guards(catch, span)]
    innermost = max((catch.try_body[0].lineno for catch in around), default=0)
    for catch in around:
        kinds = [ctx.hierarchy.is_kind_of(type_name, name) for name in catch.types if name is not None]
        if catch.try_body[0].lineno == innermost and (True in kinds or None in catch.types):
            return catch if catch.broad else None
    return None


def guards(catch: CatchSite, span: Span) -> bool:
    """Whether a place is in the block of a clause."""
    return bool(catch.try_body) and catch.try_body[0].lineno <= span.line <= (catch.try_body[-1].end_lineno or 0)


def _direct(tool: ToolDef, reach: Reach) -> Iterator[Thrown]:
    """The coded errors that the handler itself raises and does not catch, each once."""
    leaving = {reached.call for reached in reach.own}
    converted = {reached.call: reached for reached in reach.own if reached.site.span != reached.call}
    seen: set[ast.AST] = set()
    for throw in tool.handler.throws:
        error = throw.error
        node = throw.made if error is None else error.node
        if throw.reraise or throw.span not in leaving or node is None or node in seen:
            continue
        seen.add(node)
        if error is None:
            # One of several factories or a table creates it; the call graph knows which.
            for reached in reach.own:
                if reached.call == throw.span and reached.form in CODED:
                    yield Thrown(reached.codes, reached.reasons, None, reached, throw)
        elif error.form in CODED and throw.span in converted:
            reached = converted[throw.span]
            yield Thrown(reached.codes, reached.reasons, None, reached, throw)
        elif error.form in CODED:
            # The entry of the contract has the code of `ctx.fail`.
            codes = None if error.form == "fail" else codes_of(error.code)
            yield Thrown(codes, reason_texts(error), error, None, throw)


def _through(tool: ToolDef, reach: Reach) -> Iterator[Thrown]:
    """The coded errors from functions that the handler calls, except functions that are tools themselves."""
    tools = {served.handler.qualname for served in tool.serves if served.handler is not None}
    raises = {throw.span: throw for throw in tool.handler.throws}
    for reached in reach.throws:
        if reached.source == "project" and reached.form in CODED and tools.isdisjoint(reached.path[1:]):
            unknown = reached.codes is None and not reached.reasons
            named = reached.is_named_only and (unknown or not tool.handler.contains(reached.site))
            yield Thrown(reached.codes, reached.reasons, None, reached, raises.get(reached.call), named)


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
