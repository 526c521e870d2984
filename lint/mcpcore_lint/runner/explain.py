"""`--explain-calls`: what a tool can raise, what is caught on the way, and which calls could not be resolved."""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from mcpcore_lint.diagnostics import Span, grouped
from mcpcore_lint.engine.flow.calls import CallGraph
from mcpcore_lint.engine.syntax.source import SourceError
from mcpcore_lint.model import (
    CatchSite,
    Contract,
    Handler,
    Reach,
    ReachedThrow,
    Site,
    ToolDef,
    UnresolvedCall,
    string,
)
from mcpcore_lint.output import printable
from mcpcore_lint.runner.checker import Checker
from mcpcore_lint.runner.files import content_of
from mcpcore_lint.runner.groups import Group

MAX_SITES: Final = 3
"""How many places of one error are listed."""


def explain_calls(groups: Sequence[Group], name: str) -> tuple[list[str], list[str]]:
    """Explain the tools of a name, which may also be the name of the handler.

    Returns:
        A text for each tool of that name, and the names of all tools that were looked at.
    """
    texts: list[str] = []
    names: dict[str, None] = {}
    spelled = name.rpartition(".")[2].encode("utf-8", "surrogatepass")
    for group in groups:
        checker = Checker(group.config.root, group.config.settings)
        checker.graph.program.thorough = True
        contents = {path: content_of(path) or b"" for path in group.walk.files}
        files = [(path, raw) for path, raw in contents.items() if checker.is_relevant(path, raw)]
        # Files that contain the name come first. The others are read only if none of these defines the tool.
        for contains in (True, False):
            for path, raw in files:
                if (spelled in raw) is not contains:
                    continue
                with contextlib.suppress(SourceError):
                    for tool in checker.find_tools(checker.project.module_of_bytes(path, raw)):
                        served = [known for entry in tool.serves if (known := string(entry.name)) is not None]
                        names.update(dict.fromkeys(served or [tool.display_name]))
                        texts.extend(explain_tool(checker, tool, name))
                checker.trim()
            if texts:
                break
    return texts, list(names)


def explain_tool(checker: Checker, tool: ToolDef, name: str) -> Iterator[str]:
    """What a tool can raise, if the name is its own or its handler's."""
    graph = checker.graph
    names: set[str | None] = {tool.display_name, tool.handler.qualname, tool.handler.name}
    for served in tool.serves:
        handler, own_name = served.handler, string(served.name)
        if handler is None:
            names.add(own_name)  # the dispatching function does the work itself
        elif name in {own_name, handler.qualname, handler.name}:
            leading = [*(behind for behind, _ in served.way), served.inside, handler]
            through = [*served.way, *([(served.inside, served.call)] if served.call is not None else [])]
            lines = _head(own_name or name, leading)
            lines += _thrown(graph.reach(handler, through))
            lines += _caught(leading, graph)
            lines.append(f"{served.inside.qualname} can raise more: --explain-calls {tool.display_name}")
            yield _text(lines)
    # The tools of a low-level handler are explained with that handler.
    if name in names and not (tool.flavour == "lowlevel" and string(tool.name) is not None):
        lines = _head(tool.display_name, [tool.handler])
        lines += _thrown(checker.reach(tool), tool.contract)
        lines += _caught([tool.handler], graph)
        if tool.contract is not None:
            declared = [reason for entry in tool.contract.entries if (reason := string(entry.reason.value))]
            is_read = tool.contract.state != "unknown" and tool.contract.complete
            if not is_read or len(declared) < len(tool.contract.entries):
                declared.append("unknown entries")
            lines.append(f"Declared: {', '.join(declared) or 'nothing'}")
        yield _text(lines)


# -- lines -------------------------------------------------------------------------------------------------------------


def _text(lines: Sequence[str]) -> str:
    # A line feed in the name of a tool or a file must not start a new line.
    return "\n".join(map(printable, lines))


def _head(name: str, leading: Sequence[Handler]) -> list[str]:
    handler = leading[-1]
    return [
        f"{name} can raise:",
        f"  handler {handler.qualname} at {_at(handler.module.path, handler.span)}",
        *(f"  behind {above.qualname} at {_at(above.module.path, above.span)}" for above in reversed(leading[:-1])),
    ]


def _thrown(reach: Reach, contract: Contract | None = None) -> list[str]:
    """The errors by class, or by code and reason, then the unresolved calls."""
    groups = grouped((*reach.own, *reach.throws), lambda throw: _label(throw, contract))
    lines = [line for label, throws in groups.items() for line in _group(label, throws)]
    lines = lines or ["  nothing that can be seen"]
    blind = [call for call in reach.unresolved if call.project or call.takes_context]
    if blind:
        lines.append("Not seen, since these calls could not be resolved:")
        for (name, why), calls in grouped(blind, lambda call: (call.name, call.why)).items():
            lines += _brief(name, calls, f": {why}")
    others = [call for call in reach.unresolved if call not in blind]
    if others:
        lines.append("Calls of other packages whose exceptions are unknown:")
        for name, calls in grouped(others, lambda call: call.name).items():
            lines += _brief(name, calls)
    return lines


def _brief(name: str, calls: Sequence[UnresolvedCall], why: str = "") -> list[str]:
    """The nearest of some calls of one name, and the number of the others."""
    nearest = min(calls, key=lambda call: len(call.path))
    more = f" and at {len(calls) - 1} more" if len(calls) > 1 else ""
    return [f"  {name} at {_at(nearest.site.path, nearest.site.span)}{more}{why}", f"      {' > '.join(nearest.path)}"]


def _group(label: str, throws: Sequence[ReachedThrow]) -> list[str]:
    """One kind of error: the number of places and paths, and the nearest places with their paths."""
    nearest: dict[Site, ReachedThrow] = {}
    for throw in sorted(throws, key=lambda throw: len(throw.path)):
        nearest.setdefault(throw.site, throw)
    paths = {throw.path for throw in throws}
    counts = [f"{number} {noun}" for number, noun in ((len(nearest), "places"), (len(paths), "paths")) if number > 1]
    lines = [f"  {label}{': ' if counts else ''}{', '.join(counts)}"]
    more = len(nearest) - MAX_SITES
    for path, listed in grouped(list(nearest.values())[:MAX_SITES], lambda throw: throw.path).items():
        lines.append(f"      {' > '.join(path)}")
        lines += [f"      at {_at(throw.site.path, throw.site.span)}" for throw in listed]
    if more > 0:
        lines.append(f"      and at {more} more place{'' if more == 1 else 's'}")
    return lines


def _label(throw: ReachedThrow, contract: Contract | None) -> str:
    """The code, or the class of an error without a code, and the reason."""
    codes = _declared(throw, contract) if throw.codes is None else throw.codes
    label = ", ".join(codes) if codes else throw.type_name.removeprefix("builtins.")
    if codes is None:
        label = f"{throw.type_name.removeprefix('mcpcore.')} with an unknown code"
    elif codes and throw.type_name != "mcpcore.CodedError":
        label = f"{throw.type_name} with {label}"
    if throw.reasons is None:
        return f"{label} (an unknown reason)"
    return f"{label} ({', '.join(throw.reasons)})" if throw.reasons else label


def _declared(throw: ReachedThrow, contract: Contract | None) -> tuple[str, ...] | None:
    """The codes that the contract declares for the reasons of `ctx.fail` or of a guard; None if unknown."""
    if throw.form not in {"fail", "coded", "guard"} or not throw.reasons or contract is None:
        return None
    entries = [contract.by_reason.get(reason) for reason in throw.reasons]
    codes = [entry.code_value.name for entry in entries if entry is not None and entry.code_value is not None]
    return tuple(dict.fromkeys(codes)) if len(codes) == len(entries) else None


def _caught(leading: Sequence[Handler], graph: CallGraph) -> list[str]:
    lines: list[str] = []
    own = leading[-1]
    if own.catches:
        lines.append("Caught in the handler:")
        lines += _clauses((clause, "") for clause in own.catches)
    nodes = {handler.node for handler in leading}
    others = [*leading[:-1], *(wrapper for handler in leading for wrapper in graph.wrappers(handler) or ())]
    others += [handler for handler in graph.on_the_way(own) if handler.node not in nodes]
    if any(handler.catches for handler in others):
        lines.append("Caught before it reaches the handler:")
        lines += _clauses((clause, f"{handler.qualname}: ") for handler in others for clause in handler.catches)
    return lines


def _clauses(clauses: Iterable[tuple[CatchSite, str]]) -> Iterator[str]:
    """The clauses, with the places of those that catch the same in one function."""
    for (text, path), group in grouped(clauses, lambda call: (call[1] + _clause(call[0]), call[0].module.path)).items():
        spans = [clause.module.source.span(clause.node) for clause, _ in group]
        yield f"  {text} at {path}:{', '.join(f'{span.line}:{span.column}' for span in spans)}"


def _clause(clause: CatchSite) -> str:
    types = ", ".join((name or "an unknown class").removeprefix("builtins.") for name in clause.types)
    how = "suppress" if clause.suppress else "except*" if clause.star else "except"
    return f"{how} {types or 'nothing'}"


def _at(path: str, span: Span) -> str:
    return f"{path}:{span.line}:{span.column}"
