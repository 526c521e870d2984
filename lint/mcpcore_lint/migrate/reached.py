"""The exceptions of other functions that leave a tool, which the report lists."""

import ast
from collections.abc import Iterator
from typing import Final, NamedTuple

from mcpcore_lint.engine.registrations.unresolved import unresolved_in
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.syntax.module import Module, kept
from mcpcore_lint.engine.syntax.parse import walk, walk_shallow
from mcpcore_lint.engine.syntax.project import Project
from mcpcore_lint.engine.syntax.scopes import Scope
from mcpcore_lint.migrate.body import scope_around
from mcpcore_lint.migrate.messages import constant_text, is_json, is_text, pieces
from mcpcore_lint.migrate.model import Left
from mcpcore_lint.model import Reach, ReachedThrow, Symbol

_FORMS: Final = frozenset({"builtin", "project", "other", "framework", "protocol"})
_BUGS: Final = frozenset(
    f"builtins.{name}"
    for name in ("NotImplementedError", "AssertionError", "StopIteration", "StopAsyncIteration", "KeyboardInterrupt",
                 "SystemExit", "GeneratorExit")
)  # fmt: skip
"""Exceptions that end a program, steer it, or say that it is wrong."""
_CODED: Final = "mcpcore.CodedError"
_FEW: Final = 2
"""How many messages a class may have that its docstring describes."""
_SHOWN: Final = 60
"""How much of a message the report shows."""


OF_JSON: Final = (
    "that gets words around it, so clients that parse it cannot go on",
    "raise ctx.fail with the values as data, which the text shows behind Details",
)
"""What is to be said of a failure whose text is JSON."""
_UNDECLARED: Final = "is in no contract"
_DECLARE: Final = "declare it with .on(...), if clients need its code or advice"
_NEW_CLASS: Final = "raise a class of your own there, and "
"""What comes before that where the class is not one of the project."""
_HIDDEN: Final = (
    'is "Internal server error" for clients',
    "catch it in the low-level handler, and return CallToolResult(content=..., is_error=True) with its text",
)


class Raised(NamedTuple):
    """A `raise` in another function, whose exception leaves a tool."""

    name: str
    """The class."""
    module: Module
    node: ast.Raise
    scope: Scope

    @property
    def shown(self) -> ast.expr | None:
        """The argument that the report shows: the first one that is a text, else the first one."""
        call = self.node.exc
        values = [*call.args, *(keyword.value for keyword in call.keywords)] if isinstance(call, ast.Call) else []
        return next((value for value in values if is_text(value, self.scope)), values[0] if values else None)

    def left(self, tool: str, *, hidden: bool = False) -> Left:
        """The line of the report; `hidden` if clients do not read the text of what leaves the function."""
        if not hidden and is_json(self.shown, self.scope):
            pattern = f"{self.name.rpartition('.')[2]} of a helper has a text, JSON {OF_JSON[0]}"
            return Left(self.module.path, self.node.lineno, (tool,), pattern, OF_JSON[1])
        text = ""
        if self.shown is not None:
            constant = constant_text(pieces(self.shown, self.scope))
            quote = '"' * any(map(str.isalpha, constant))
            said = " ".join((constant if quote else self.module.source.segment(self.shown)).split())
            text = f"{quote}{said if len(said) <= _SHOWN else f'{said[:_SHOWN]}...'}{quote}"
        is_own = self.module.project.class_named(self.name) is not None
        what, decide = _HIDDEN if hidden else (_UNDECLARED, f"{_NEW_CLASS * (not is_own)}{_DECLARE}")
        pattern = f"{self.name.rpartition('.')[2]}({text}) of a helper {what}"
        return Left(self.module.path, self.node.lineno, (tool,), pattern, decide, perhaps=True)


def raised_elsewhere(reach: Reach, project: Project) -> list[Raised]:
    """The `raise` statements with a text in other functions, whose exceptions leave a tool."""
    raises: dict[ast.Raise, Raised] = {}
    for throw in reach.throws:
        if (
            throw.form in _FORMS
            and throw.source == "project"
            and not throw.is_named_only
            and throw.type_name not in _BUGS
        ):
            for raised in _located(throw, project):
                raises.setdefault(raised.node, raised)
    return [*raises.values()]


def _located(throw: ReachedThrow, project: Project) -> Iterator[Raised]:
    module = project.module_at(throw.site.path)
    if module is None:
        return
    node = _raises(module).get((throw.site.span.line, throw.site.span.column - 1))
    # An exception that is raised again has a text that nobody wrote here.
    if node is not None and isinstance(node.exc, ast.Call) and (node.exc.args or node.exc.keywords):
        scope = scope_around(node, module)
        name = throw.type_name
        if name == _CODED and isinstance(made := evaluate(node.exc.func, scope), Symbol):
            name = made.name  # a contract maps other classes, and perhaps this one
        yield Raised(name, module, node, scope)


@kept
def _raises(module: Module) -> dict[tuple[int, int], ast.Raise]:
    module.complete()
    nodes: list[ast.Raise] = []
    for node in walk([module.tree]):
        if isinstance(node, ast.Raise):
            nodes.append(node)
        elif isinstance(node, (ast.Return, ast.Assign)) and isinstance(node.value, ast.Call):
            # The exception may be raised by who gets it, as in `raise make_error(...)`.
            nodes.append(ast.copy_location(ast.Raise(node.value), node.value))
            module.parents[nodes[-1]] = node
    return {(node.lineno, module.source.span(node).column - 1): node for node in nodes}


@kept
def unresolved_lines(module: Module) -> Iterator[Left]:
    """The lines about registrations whose functions are not found, so that nobody looked at their failures."""
    for item in unresolved_in(module):
        pattern = f"no {item.kind} is found behind `{item.text}`"
        yield Left(module.path, item.registration.lineno, (), pattern, item.step, perhaps=True)


def imported_by(home: Module) -> set[Module]:
    """The modules of the project that importing one imports, through any number of others; itself only in a circle."""
    seen: set[Module] = set()
    waiting = [home]
    while waiting:
        current = waiting.pop()
        for part in walk_shallow([*current.tree.body]):
            if not isinstance(part, (ast.Import, ast.ImportFrom)):
                continue
            path, level = getattr(part, "module", None), getattr(part, "level", 0)
            for alias in part.names:
                inner = f"{path}.{alias.name}" if path else alias.name
                module = home.project.module_of(current, inner, level) or home.project.module_of(
                    current, path or "", level
                )
                if module is not None and module not in seen:
                    seen.add(module)
                    waiting.append(module)
    return seen
