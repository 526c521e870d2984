"""What a tool can throw, for people: errors by class and reason, what is caught, and what could not be seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from mcpcore_lint.dataclasses import replace
from mcpcore_lint.model import Reach, string
from mcpcore_lint.output import printable

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from mcpcore_lint.diagnostics import Span
    from mcpcore_lint.flow.calls import CallGraph
    from mcpcore_lint.model import (
        CatchSite,
        Contract,
        ContractEntry,
        Handler,
        ReachedThrow,
        Served,
        Site,
        ToolDef,
        UnresolvedCall,
    )
    from mcpcore_lint.runner.checker import Judge


T = TypeVar("T")
K = TypeVar("K")
MAX_SITES: Final = 3
"""How many places of one error are listed."""


def told_of(tool: ToolDef) -> list[str]:
    """The names by which one may ask for a tool, or for those that a low-level handler serves."""
    served = [text for each in tool.serves if (text := string(each.name)) is not None]
    return served or [tool.display_name]


def explained(judge: Judge, tool: ToolDef, name: str) -> Iterator[str]:
    """What the linter believes a tool can throw, if that is its name or its handler's."""
    for each in tool.serves:
        if name == string(each.name) or (each.handler is not None and name in _names(each.handler)):
            yield _of_served(judge.graph, tool, each, string(each.name) or name)
    # What a low-level handler hands a call to is told of with that handler.
    if not (tool.flavour == "lowlevel" and string(tool.name) is not None) and (
        name in {tool.display_name, *_names(tool.handler)}
    ):
        lines = _head(tool.display_name, [tool.handler])
        lines += _thrown(judge.reach(tool), tool.contract)
        lines += _caught([tool.handler], judge.graph.on_the_way(tool.handler), judge.graph)
        if tool.contract is not None:
            declared = [one for one in map(_reason, tool.contract.entries) if one]
            if tool.contract.state == "unknown" or not tool.contract.complete:
                declared.append("what cannot be told")
            lines.append(f"Declared: {', '.join(declared) or 'nothing'}")
        yield _text(lines)


def _names(handler: Handler) -> set[str]:
    return {handler.qualname, handler.name}


# -- the tools of a low-level handler ----------------------------------------------------------------------------------


def _of_served(graph: CallGraph, tool: ToolDef, served: Served, name: str) -> str:
    """One of the tools of a low-level handler; what leads to its own function counts, but for what other tools need."""
    reach = Reach()
    leading = [*(handler for handler, _ in served.way), served.inside]
    calls = [*(call for _, call in served.way), served.call]
    others = {each.handler.qualname for each in tool.serves if each.handler is not None}
    through: list[tuple[Handler, ast.Call]] = []
    for index, (handler, call) in enumerate(zip(leading, calls, strict=True)):
        found = graph.reach(handler, through)
        last = index == len(leading) - 1
        span = handler.module.source.span(call) if call is not None else None
        inside = served.elsewhere if last else ()
        reach = _joined(reach, _without(found, span, inside, others), leading[:index])
        if call is not None:
            through.append((handler, call))
    if served.handler is not None:
        reach = _joined(reach, graph.reach(served.handler, through), leading)
        leading.append(served.handler)
    lines = _head(name, leading)
    lines += _thrown(reach)
    on_the_way = graph.on_the_way(served.handler) if served.handler is not None else []
    lines += _caught(leading, [each for each in on_the_way if each.node not in {one.node for one in leading}], graph)
    return _text(lines)


def _without(reach: Reach, call: Span | None, elsewhere: Sequence[tuple[int, int]], others: set[str]) -> Reach:
    """What a function that hands calls on throws for one tool: not what it throws for others, nor through that call."""

    def stays(each: ReachedThrow | UnresolvedCall) -> bool:
        if each.call == call or not others.isdisjoint(each.path[1:]):
            return False
        return not any(first <= each.call.line <= last for first, last in elsewhere)

    return Reach(
        tuple(each for each in reach.throws if stays(each)),
        tuple(each for each in reach.unresolved if stays(each)),
        tuple(each for each in reach.own if stays(each)),
    )


def _joined(reach: Reach, more: Reach, leading: Sequence[Handler]) -> Reach:
    """Two of them, the second behind some functions."""
    before = tuple(each.qualname for each in leading)
    return Reach(
        (*reach.throws, *(replace(each, path=(*before, *each.path)) for each in more.throws)),
        (*reach.unresolved, *(replace(each, path=(*before, *each.path)) for each in more.unresolved)),
        (*reach.own, *(replace(each, path=(*before, *each.path)) for each in more.own)),
    )


# -- lines -------------------------------------------------------------------------------------------------------------


def _text(lines: Sequence[str]) -> str:
    # A line feed in the name of a tool or of a file begins no line here.
    return "\n".join(map(printable, lines))


def _head(name: str, leading: Sequence[Handler]) -> list[str]:
    handler = leading[-1]
    lines = [f"{name} can throw:", f"  handler {handler.qualname} at {_at(handler.module.path, handler.span)}"]
    lines += [f"  behind {each.qualname} at {_at(each.module.path, each.span)}" for each in reversed(leading[:-1])]
    return lines


def _thrown(reach: Reach, contract: Contract | None = None) -> list[str]:
    """What is thrown, by class or code and reason; the unresolved calls after it."""
    lines: list[str] = []
    for label, thrown in _by((*reach.own, *reach.throws), lambda throw: _label(throw, contract)).items():
        lines += _group(label, thrown)
    if not lines:
        lines.append("  nothing that can be seen")
    blind = [each for each in reach.unresolved if each.project or each.takes_context]
    if blind:
        lines.append("Not seen, since it cannot be told what is called:")
        for (name, why), calls in _by(blind, lambda call: (call.name, call.why)).items():
            lines += _brief(name, calls, f": {why}")
    others = [call for call in reach.unresolved if call not in blind]
    if others:
        lines.append("Calls of other packages, of which it is not known what they raise:")
        for name, calls in _by(others, lambda call: call.name).items():
            lines += _brief(name, calls)
    return lines


def _by(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    groups: dict[K, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def _brief(name: str, calls: Sequence[UnresolvedCall], why: str = "") -> list[str]:
    """Calls of one name: the nearest, and how many more there are."""
    nearest = min(calls, key=lambda call: len(call.path))
    more = f" and at {len(calls) - 1} more" if len(calls) > 1 else ""
    return [f"  {name} at {_place(nearest.site)}{more}{why}", f"      {' > '.join(nearest.path)}"]


def _group(label: str, several: Sequence[ReachedThrow]) -> list[str]:
    """One kind of error: how many places throw it, by how many paths, and the nearest places with their paths."""
    nearest: dict[Site, ReachedThrow] = {}
    for throw in sorted(several, key=lambda throw: len(throw.path)):
        nearest.setdefault(throw.site, throw)
    paths = {throw.path for throw in several}
    counts = [f"{number} {noun}" for number, noun in ((len(nearest), "places"), (len(paths), "paths")) if number > 1]
    lines = [f"  {label}{': ' if counts else ''}{', '.join(counts)}"]
    more = len(nearest) - MAX_SITES
    for path, thrown in _by(list(nearest.values())[:MAX_SITES], lambda throw: throw.path).items():
        lines.append(f"      {' > '.join(path)}")
        lines += [f"      at {_place(throw.site)}" for throw in thrown]
    if more > 0:
        lines.append(f"      and at {more} more place{'' if more == 1 else 's'}")
    return lines


def _label(thrown: ReachedThrow, contract: Contract | None) -> str:
    """The code, or the class of an error without a code, and the reason."""
    codes = _declared(thrown, contract) if thrown.codes is None else thrown.codes
    label = ", ".join(codes) if codes else thrown.type_name.removeprefix("builtins.")
    if codes is None:
        label = f"{thrown.type_name.removeprefix('mcpcore.')} with a code that is not known"
    elif codes and thrown.type_name != "mcpcore.CodedError":
        label = f"{thrown.type_name} with {label}"
    if thrown.reasons is None:
        return f"{label} (a reason that is not known)"
    return f"{label} ({', '.join(thrown.reasons)})" if thrown.reasons else label


def _declared(thrown: ReachedThrow, contract: Contract | None) -> tuple[str, ...] | None:
    """The codes that the contract declares for the reasons of `ctx.fail`, and of a guard that names them."""
    if thrown.form not in {"fail", "coded", "guard"} or not thrown.reasons or contract is None:
        return None
    entries = [contract.by_reason.get(each) for each in thrown.reasons]
    codes = [each.code_value.name for each in entries if each is not None and each.code_value is not None]
    return tuple(dict.fromkeys(codes)) if len(codes) == len(entries) else None


def _caught(handlers: Sequence[Handler], on_the_way: Sequence[Handler], graph: CallGraph) -> list[str]:
    around = [one for each in handlers for one in graph.wrappers(each)]
    lines: list[str] = []
    own = handlers[-1]
    if own.catches:
        lines.append("Caught in the handler:")
        lines += _clauses((clause, "") for clause in own.catches)
    others = [*handlers[:-1], *around, *on_the_way]
    if any(each.catches for each in others):
        lines.append("Caught before it reaches the handler:")
        lines += _clauses((clause, f"{handler.qualname}: ") for handler in others for clause in handler.catches)
    return lines


def _clauses(clauses: Iterable[tuple[CatchSite, str]]) -> Iterator[str]:
    """The clauses of each function that catch the same, with their places."""
    groups: dict[tuple[str, str], list[str]] = {}
    for clause, who in clauses:
        span = clause.module.source.span(clause.node)
        groups.setdefault((f"{who}{_clause(clause)}", clause.module.path), []).append(f"{span.line}:{span.column}")
    for (what, path), places in groups.items():
        yield f"  {what} at {path}:{', '.join(places)}"


def _clause(each: CatchSite) -> str:
    types = ", ".join((one or "a class that is not known").removeprefix("builtins.") for one in each.types)
    how = "suppress" if each.suppress else "except*" if each.star else "except"
    return f"{how} {types or 'nothing'}"


def _reason(entry: ContractEntry) -> str | None:
    return string(entry.reason.value)


def _place(site: Site) -> str:
    return _at(site.path, site.span)


def _at(path: str, span: Span) -> str:
    return f"{path}:{span.line}:{span.column}"


__all__ = ["explained", "told_of"]
