"""Registrations whose functions cannot be found, although they may be functions of the project."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final, NamedTuple

from mcpcore_lint.model import Symbol, Text, options
from mcpcore_lint.registrations.environment import Frame, bound, called_frame, see, written_scope
from mcpcore_lint.semantics.evaluate import evaluate
from mcpcore_lint.semantics.symbols import class_round
from mcpcore_lint.syntax.parse import children, own_nodes, statements

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore_lint.registrations.environment import Placed
    from mcpcore_lint.registrations.functions import Functions
    from mcpcore_lint.registrations.members import Members
    from mcpcore_lint.registrations.ways import Site
    from mcpcore_lint.syntax.module import Module
    from mcpcore_lint.syntax.scopes import Scope

STEPS: Final = 300
_LOOKS_INTO: Final = frozenset(
    {"builtins.getattr", "builtins.dir", "builtins.vars", "inspect.getmembers", "inspect.getmembers_static"}
)
_IMPORTS: Final = frozenset({"importlib.import_module", "builtins.__import__"})
_KEY: Final = "unresolved registrations"


class Unresolved(NamedTuple):
    """One such registration."""

    registration: ast.expr
    text: str
    """The expression that is registered, as written."""
    example: str
    """An entry for the setting `handlers` that would name the functions."""


def unresolved_in(module: Module) -> tuple[Unresolved, ...]:
    """The unresolved registrations of a file, once its tools were looked for."""
    unresolved: tuple[Unresolved, ...] = module.memo.get(_KEY, ())
    return unresolved


def note_unresolved(module: Module, unresolved: list[Unresolved]) -> None:
    """Keep the unresolved registrations of a file, one for each place."""
    places = {(each.registration.lineno, each.registration.col_offset): each for each in unresolved}
    module.memo[_KEY] = tuple(places[place] for place in sorted(places))


def unresolved_registration(site: Site, functions: Functions) -> Unresolved | None:
    """The report for a registration without functions; None if no function of the project can be behind it.

    The function of the project must come from a look-up by a name that is only known at run time.
    """
    functions.steps = 0
    members: str | None = None
    stack: list[Placed] = [(site.target, site.scope)]
    seen: set[ast.expr] = set()
    for _ in range(STEPS):
        if not stack:
            return None
        node, scope = stack.pop()
        if isinstance(scope, Frame):
            node, scope = see(node, scope, scope.filled)
        if node in seen:
            continue
        seen.add(node)
        if not isinstance(node, ast.Call):
            stack += _origins(node, scope, functions)
        elif not functions.registers(node, scope):
            symbol = next((each for each in options(evaluate(node.func, scope)) if isinstance(each, Symbol)), None)
            name = symbol.name if symbol is not None else ""
            if name == "builtins.getattr" and len(node.args) > 1 and members is None:
                value = evaluate(node.args[1], scope)
                parts = value.parts if isinstance(value, Text) else ()
                members = "".join("*" if part is None else part for part in parts) if any(parts) else None
            modules = _looked_up_in(name, node, scope, functions.elements.members)
            if modules is not None:
                default = "handle_*" if name == "importlib.util.module_from_spec" else "*"
                text = " ".join(ast.unparse(site.target).split())
                text = text if len(text) <= 60 else text[:57] + "..."
                return Unresolved(site.registration, text, f"{modules}:{members or default}")
            if name not in _IMPORTS:
                stack += _arguments_and_results(node, symbol, scope)
    return None


def _looked_up_in(name: str, node: ast.Call, scope: Scope, members: Members) -> str | None:
    """The modules of the project in which a call looks something up, as a pattern; None for other calls."""
    here = written_scope(scope).module.name
    if name in {"builtins.globals", "builtins.locals", "importlib.util.module_from_spec"}:
        return here
    if name in _LOOKS_INTO:
        if not node.args or (_is_self(node.args[0]) and class_round(scope) is not None):
            return here
        module = members.module(node.args[0], scope)
        return module.name if module is not None else None
    if name not in _IMPORTS or not node.args:
        return None
    if members.text(node.args[0], scope) is not None:
        module = members.module(node, scope)
        return module.name if module is not None else None
    value = evaluate(node.args[0], scope)
    start = value.parts[0] if isinstance(value, Text) and value.parts else None
    package = (start or "").rstrip(".") or here.rpartition(".")[0] or "tools"
    return f"{package}.*"


def _arguments_and_results(node: ast.Call, symbol: Symbol | None, scope: Scope) -> list[Placed]:
    """What the result of a call may come from: the results of a function of the project, or the arguments."""
    if symbol is not None and isinstance(symbol.definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
        frame = called_frame(symbol.definition, node, scope)
        results = [each for each in own_nodes(symbol.definition) if isinstance(each, (ast.Return, ast.Yield))]
        return [(each.value, frame) for each in results if each.value is not None and frame is not None]
    arguments = [(argument, scope) for argument in node.args]
    # `TABLE.get(name)`
    return [*arguments, (node.func.value, scope)] if isinstance(node.func, ast.Attribute) else arguments


def _origins(node: ast.expr, scope: Scope, functions: Functions) -> Iterator[Placed]:
    """The expressions that the value of an expression comes from, one step back."""
    if isinstance(node, ast.Name):
        place = scope.lookup(node.id)
        home = functions.elements.members.home(node, scope)
        if home is not None:
            yield home
        elif place is not None and all(binding.kind not in {"parameter", "with"} for binding in place[1]):
            where, bindings = place
            for binding in bindings:
                if isinstance(binding.node, (ast.For, ast.AsyncFor, ast.comprehension)):
                    # The items may come from the arguments of a call.
                    inside = scope if isinstance(scope, Frame) and written_scope(scope) is where else where
                    yield binding.node.iter, inside
                elif binding.value is not None and binding.kind in {"assign", "annotated"}:
                    yield from ((value, where) for value in (binding.value, *_added(node.id, where)))
    elif isinstance(node, ast.Attribute):
        yield from (placed for placed in bound(node, scope) or [(node.value, scope)] if placed[0] is not node)
    elif not isinstance(node, ast.Lambda):
        parts = [node.value] if isinstance(node, ast.Subscript) else children(node)
        parts = [part.iter if isinstance(part, ast.comprehension) else part for part in parts]
        yield from ((part, scope) for part in parts if isinstance(part, ast.expr))


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in {"self", "cls"}


def _added(name: str, where: Scope) -> Iterator[ast.expr]:
    """The items that the same function adds to a list or a table: `x.append(item)`, `x[key] = item`."""
    if isinstance(where.node, ast.Lambda) or not where.module.changes_in_place(name):
        return
    for statement in statements(list(where.node.body)):
        match statement:
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=holder))], value=item) if holder == name:
                yield item
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=holder)), args=[item])) if holder == name:
                yield item


__all__ = ["Unresolved", "note_unresolved", "unresolved_in", "unresolved_registration"]
