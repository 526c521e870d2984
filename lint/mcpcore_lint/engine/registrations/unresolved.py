"""Registrations whose functions cannot be found, although they may be functions of the project."""

import ast
import os
import sys
from collections.abc import Iterator
from typing import Final, NamedTuple

from mcpcore_lint.engine.registrations.callers import callers_of
from mcpcore_lint.engine.registrations.contents import contents_of
from mcpcore_lint.engine.registrations.elements import goes_through_members
from mcpcore_lint.engine.registrations.environment import (
    Placed,
    assignments_of,
    callee_frame,
    class_of,
    functions_called,
    substitute,
    written_scope,
)
from mcpcore_lint.engine.registrations.functions import Functions, wrapped_parameter
from mcpcore_lint.engine.registrations.members import IMPORTS, Members
from mcpcore_lint.engine.registrations.named import named_functions
from mcpcore_lint.engine.registrations.registration_forms import Site
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.semantics.symbols import class_round
from mcpcore_lint.engine.semantics.type_model import definition_of, name_of
from mcpcore_lint.engine.syntax.module import Module, kept
from mcpcore_lint.engine.syntax.parse import FUNCTIONS, Function, children, own_nodes, walk
from mcpcore_lint.engine.syntax.scopes import Scope
from mcpcore_lint.model import Symbol, Text, options

STEPS: Final = 300
_LOOKS_INTO: Final = frozenset(
    {"builtins.getattr", "builtins.dir", "builtins.vars", "inspect.getmembers", "inspect.getmembers_static"}
)
_OWN: Final = frozenset({"builtins.globals", "builtins.locals", "importlib.util.module_from_spec"})
OF_TWO: Final = "function that takes the name and the arguments"
"""What the SDK calls for each call of a tool."""
LAST: Final = "function that stays registered"
"""What is missing behind a low-level handler that a later one replaces."""
NO_CHECK: Final = "no rule checks it"
OF_ALL: Final = "rules check no more than what it returns"
"""What a function that serves all tools, and does not tell them apart, means for the rules."""
_KEY: Final = "unresolved registrations"


class Unresolved(NamedTuple):
    """One such registration."""

    registration: ast.expr
    text: str
    """The expression that is registered, as written."""
    example: str
    """An entry for the setting `handlers` that would name the functions; empty if their place is not known."""
    matches: tuple[str, ...]
    """The functions of the project that the entry names."""
    kind: str = "function"
    """What is not found: the function, or the server."""
    origin: ast.AST | None = None
    """The expression that cannot be followed, or the function whose server is not found."""
    effect: str = NO_CHECK
    """What it means for the rules."""

    @property
    def step(self) -> str:
        """The next step, after which the functions are found."""
        if self.kind == OF_TWO:
            return "let it take both, or the SDK cannot call it"
        if self.kind == LAST:
            return "let one function serve all tools by their names: a later one takes its place"
        others = f" and {len(self.matches) - 2} more" if len(self.matches) > 2 else ""
        matches = ", ".join(self.matches[:2]) + others if self.matches else "no function that was found"
        named = f'name the functions in [tool.mcpcore.lint], such as handlers = ["{self.example or "a.module:run"}"]'
        return f"{named}, which matches {matches}" if self.example else named


def unresolved_in(module: Module) -> tuple[Unresolved, ...]:
    """The unresolved registrations of a file, once its tools were looked for."""
    unresolved: tuple[Unresolved, ...] = module.memo.get(_KEY, ())
    return unresolved


def note_unresolved(module: Module, unresolved: list[Unresolved]) -> None:
    """Keep the unresolved registrations of a file, one for each place."""
    places = {(call.registration.lineno, call.registration.col_offset): call for call in unresolved}
    module.memo[_KEY] = tuple(places[place] for place in sorted(places))


def unresolved_registration(site: Site, functions: Functions) -> Unresolved | None:
    """The report for a registration without functions; None if only other packages can bring the function.

    Nothing is behind an empty collection, and a parameter of a function that the project never calls may be anything.
    """
    functions.steps = 0
    members = functions.elements.members
    queue: list[Placed] = [(site.target, site.scope)]
    seen: set[ast.expr] = set()
    passed: set[ast.expr] = set()
    blind: ast.expr | None = None
    left_open: ast.expr | None = None
    for placed in queue:
        node, scope = substitute(*placed)
        if node in seen:
            continue
        seen.add(node)
        if isinstance(node, ast.Call) and functions.registers(node, scope):
            continue  # this call is a registration, which has its own report
        if len(seen) > STEPS:
            blind = node
            break
        example = _example(node, scope, members) if isinstance(node, ast.Call) else None
        if example is not None:
            report = unresolved(site.registration, site.target, example, _matches(example, scope.module))
            return report._replace(origin=node)
        origins = [*_origins(node, scope, functions)]
        if (
            blind is None
            and not origins
            and (_is_own(node, scope) or (node not in passed and _is_defined(node, scope)))
        ):
            blind = node
        if not origins and not _is_explained(node, scope):
            left_open = left_open or node
        # What another package makes of a function of the project need not be that function, unlike `chain(TOOLS)`.
        made = node.func if isinstance(node, ast.Call) else None
        is_standard = name_of(made, scope).partition(".")[0] in sys.stdlib_module_names
        arguments = [] if is_standard else getattr(node, "args", [])
        passed |= {origin for origin, _ in origins if node in passed or origin in arguments}
        queue += origins
    blind = blind or left_open
    return unresolved(site.registration, site.target)._replace(origin=blind) if blind is not None else None


def _is_explained(node: ast.expr, scope: Scope) -> bool:
    """Whether nothing but other packages can be behind an expression without further origins."""
    if isinstance(node, (ast.Constant, ast.JoinedStr, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Lambda)):
        return True
    called = next(functions_called(node.func, scope), None) if isinstance(node, ast.Call) else None
    if called is not None:
        return _searches_itself(called.function)
    if isinstance(node, ast.Name) and node.id in {"self", "cls"}:
        function = written_scope(scope).node
        return isinstance(function, FUNCTIONS) and _searches_itself(function)
    place = scope.lookup(node.id) if isinstance(node, ast.Name) else None
    if isinstance(node, ast.Name) and (place is None or place[1][0].kind in {"parameter", "except"}):
        return True
    return any(isinstance(value, Symbol) for value in options(evaluate(node, scope)))


def _is_own(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression without further origins may be, or hold, a function of the project."""
    if isinstance(node, ast.Call):
        called = next(functions_called(node.func, scope), None)
        return not _searches_itself(called.function) if called is not None else class_of(node, scope) is not None
    place = scope.lookup(node.id) if isinstance(node, ast.Name) else None
    if place is not None and place[1][0].kind == "parameter":
        callers = callers_of(place[0])
        unread = callers is None or (not callers and is_handed_on(written_scope(place[0])))
        return unread and getattr(node, "id", "") not in {"self", "cls"}
    return False


def _is_defined(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression is a function, a class or a module of the project."""
    definitions = [value.definition for value in options(evaluate(node, scope)) if isinstance(value, Symbol)]
    # A decorator may have registered it. A module may hold more names than can be seen.
    return any(
        isinstance(definition, (*FUNCTIONS, ast.ClassDef, ast.Module)) and not getattr(definition, "decorator_list", ())
        for definition in definitions
    )


def is_handed_on(function: Scope) -> bool:
    """Whether the file of a function uses it without calling it, so that its calls cannot be known."""
    name = getattr(function.node, "name", None)
    if name is None:
        return isinstance(function.node, ast.Lambda)
    return name in _handed_on(function.module)


@kept
def _handed_on(module: Module) -> set[str]:
    nodes = walk([module.tree])
    called = {id(part.func) for part in nodes if isinstance(part, ast.Call)}
    called |= {id(part) for node in nodes for part in getattr(node, "decorator_list", ())}
    return {getattr(part, "id", getattr(part, "attr", "")) for part in nodes if id(part) not in called}


def unresolved(
    registration: ast.expr, target: ast.expr, example: str = "", matches: tuple[str, ...] = ()
) -> Unresolved:
    """The report for an expression."""
    try:
        text = " ".join(ast.unparse(target).split())
    except RecursionError:
        text = "..."
    return Unresolved(registration, text if len(text) <= 60 else text[:57] + "...", example, matches)


def _example(node: ast.Call, scope: Scope, members: Members) -> str | None:
    """The entry for the settings, if a call looks up something in the project; None for other calls."""
    here = written_scope(scope).module.name
    name = name_of(node.func, scope)
    if name in _OWN:
        return f"{here}:*"
    if name not in _LOOKS_INTO | IMPORTS or not node.args:
        return None
    holder = node.args[0]
    module = members.module(node if name in IMPORTS else holder, scope)
    if name in IMPORTS and members.text(holder, scope) is None:
        start = _pattern(holder, scope).partition("*")[0].rstrip(".")
        return f"{start}.*:*" if start else ""  # any module may be meant
    if module is None:
        is_self = isinstance(holder, ast.Name) and holder.id in {"self", "cls"} and class_round(scope) is not None
        return f"{here}:*" if is_self else None
    return f"{module.name}:{_pattern(node.args[1], scope) if name == 'builtins.getattr' and node.args[1:] else '*'}"


def _matches(example: str, module: Module) -> tuple[str, ...]:
    """The functions that an entry names: in one module, or in those next to a package's own file."""
    project, name = module.project, example.partition(":")[0]
    home = project.module_of(module, name.removesuffix(".*"), 0)
    folder = os.path.dirname(home.absolute) if home is not None and home.name != name else ""
    names = sorted(os.listdir(folder)) if folder and os.path.isdir(folder) else []
    paths = (os.path.join(folder, inner) for inner in names if inner.endswith(".py"))
    modules = [project.module_at(project.display_path(path)) for path in paths] or [home]
    return tuple(node.name for part in modules if part is not None for node in named_functions(part, [example]))


def _pattern(node: ast.expr, scope: Scope) -> str:
    """What is known of a text, with a star for what is not."""
    value = evaluate(node, scope)
    parts = value.parts if isinstance(value, Text) else ()
    return "".join("*" if part is None else part for part in parts) or "*"


def _searches_itself(function: Function) -> bool:
    """Whether a method goes through the members of its object, which are mostly those of the subclasses."""
    # Only a method is worth going through the whole body.
    return bool(function.args.args) and function.args.args[0].arg == "self" and goes_through_members(function)


def _origins(node: ast.expr, scope: Scope, functions: Functions) -> Iterator[Placed]:
    """The expressions that the value of an expression comes from, one step back."""
    if isinstance(node, (ast.Name, ast.Attribute)):
        yield from ((entry.value, entry.scope) for entry in contents_of(node, scope))
    if isinstance(node, ast.Name):
        yield from functions.elements.origins(node, scope)
        function = definition_of(node, scope)
        owner = scope.module.project.module_defining(function) if isinstance(function, FUNCTIONS) else None
        wrapped = wrapped_parameter(function, owner) if isinstance(function, FUNCTIONS) and owner is not None else None
        yield from [(wrapped, scope)] if wrapped is not None else []
    elif isinstance(node, ast.Attribute):
        yield from functions.elements.members.home(node, scope) or assignments_of(node, scope) or [(node.value, scope)]
    elif isinstance(node, ast.Call):
        called = callee_frame(node, scope)
        if called is not None and not _searches_itself(called[0]):
            results = [inner.value for inner in own_nodes(called[0]) if isinstance(inner, (ast.Return, ast.Yield))]
            yield from ((value, called[1]) for value in results if value is not None)
        elif called is None:
            # `TABLE.get(name)`, `TABLE[name]()`
            holder = [node.func.value if isinstance(node.func, ast.Attribute) else node.func]
            named = (keyword.value for keyword in node.keywords)
            yield from ((part, scope) for part in (*node.args, *named, *holder))
    elif not isinstance(node, ast.Lambda):
        parts = [node.value] if isinstance(node, ast.Subscript) else children(node)
        parts = [part.iter if isinstance(part, ast.comprehension) else part for part in parts]
        yield from ((part, scope) for part in parts if isinstance(part, ast.expr))
