"""The exceptions of other functions that leave a tool: `.on(...)` keeps some texts, and the report has the others."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final, NamedTuple

from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.syntax.parse import walk, walk_shallow
from mcpcore_lint.migrate.body import scope_around
from mcpcore_lint.migrate.messages import PLAIN, VAGUE, code_of, constant_text, is_text, pieces, slug
from mcpcore_lint.migrate.model import Entry, Left
from mcpcore_lint.migrate.sentences import blank, is_true_alone, of_class, sentences
from mcpcore_lint.model import Symbol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcpcore_lint.engine.semantics.hierarchy import Hierarchy
    from mcpcore_lint.engine.syntax.module import ClassInfo, Module
    from mcpcore_lint.engine.syntax.project import Project
    from mcpcore_lint.engine.syntax.scopes import Scope
    from mcpcore_lint.model import Reach, ReachedThrow

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


class Raised(NamedTuple):
    """A `raise` in another function, whose exception leaves a tool."""

    name: str
    """The class."""
    module: Module
    node: ast.Raise
    scope: Scope
    is_framework: bool
    """Whether it is a `ToolError` or an error of the protocol, whose text clients go on to read."""
    is_inside: bool
    """Whether a call in the function of the tool leads to it, and no decorator, for which a contract does not hold."""

    @property
    def message(self) -> ast.expr | None:
        """The first argument of the exception; None if it has none."""
        call = self.node.exc
        return call.args[0] if isinstance(call, ast.Call) and call.args else None

    @property
    def names(self) -> list[str]:
        """The class, and the built-in ones that are written as its bases."""
        info = self.module.project.class_named(self.name)
        bases = [f"builtins.{ast.unparse(base)}" for base in (info.node.bases if info is not None else ())]
        return [self.name, *bases]

    @property
    def wraps(self) -> bool:
        """Whether its text is that of an exception which its clause caught."""
        clauses = [part for part in walk([self.scope.node]) if isinstance(part, ast.ExceptHandler)]
        names = {clause.name for clause in clauses if self.node in walk([*clause.body])}
        return any(isinstance(part, ast.Name) and part.id in names for part in walk([self.node.exc or self.node]))

    @property
    def shown(self) -> ast.expr | None:
        """The argument that the report shows: the first one that is a text, else the first one."""
        call = self.node.exc
        values = [*call.args, *(keyword.value for keyword in call.keywords)] if isinstance(call, ast.Call) else []
        return next((value for value in values if is_text(value, self.scope)), values[0] if values else None)

    def left(self, tool: str) -> Left:
        """The line of the report."""
        text = ""
        if self.shown is not None:
            said = constant_text(pieces(self.shown, self.scope))
            said = said if any(map(str.isalpha, said)) else self.module.source.segment(self.shown)
            said = " ".join(said.split())
            text = f'"{said}"' if len(said) <= _SHOWN else f'"{said[:_SHOWN]}..."'
        pattern = f"{self.name.rpartition('.')[2]}({text}) of a helper is in no contract"
        decide = "raise a class of your own there, and declare it with .on(...), if clients need its code or advice"
        return Left(self.module.path, self.node.lineno, (tool,), pattern, decide, perhaps=True)


def raised_elsewhere(reach: Reach, project: Project, function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[Raised]:
    """The `raise` statements with a text in other functions, whose exceptions leave a tool."""
    found: dict[ast.Raise, Raised] = {}
    for throw in reach.throws:
        if (
            throw.form in _FORMS
            and throw.source == "project"
            and not throw.is_named_only
            and throw.type_name not in _BUGS
        ):
            for raised in _located(throw, project, is_inside=throw.call.line >= function.body[0].lineno):
                found.setdefault(raised.node, raised)
    return [*found.values()]


def _located(throw: ReachedThrow, project: Project, *, is_inside: bool) -> Iterator[Raised]:
    module = project.module_at(throw.site.path)
    if module is None:
        return
    place = (throw.site.span.line, throw.site.span.column - 1)
    node = _raises(module).get(place)
    # An exception that is raised again has a text that nobody wrote here.
    if node is not None and isinstance(node.exc, ast.Call) and (node.exc.args or node.exc.keywords):
        scope = scope_around(node, module)
        name = throw.type_name
        if name == _CODED and isinstance(made := evaluate(node.exc.func, scope), Symbol):
            name = made.name  # a contract maps other classes, and perhaps this one
        yield Raised(name, module, node, scope, throw.form in {"framework", "protocol"}, is_inside)


def _raises(module: Module) -> dict[tuple[int, int], ast.Raise]:
    known: dict[tuple[int, int], ast.Raise] | None = module.memo.get(("raises",))
    if known is None:
        module.complete()
        nodes: list[ast.Raise] = []
        for node in walk([module.tree]):
            if isinstance(node, ast.Raise):
                nodes.append(node)
            elif isinstance(node, (ast.Return, ast.Assign)) and isinstance(node.value, ast.Call):
                # The exception may be raised by who gets it, as in `raise make_error(...)`.
                nodes.append(ast.copy_location(ast.Raise(node.value), node.value))
                module.parents[nodes[-1]] = node
        known = {(node.lineno, module.source.span(node).column - 1): node for node in nodes}
        module.memo["raises",] = known
    return known


class Mapped(NamedTuple):
    """A class that a contract gets `.on(...)` for."""

    name: str
    home: Module | None
    """The file of the project that defines the class."""
    entry: Entry
    spelling: str
    imported: tuple[str, str] | None
    """The import that the file needs: the module as it is spelled, and the class."""


def mapped(
    raised: Sequence[Raised], module: Module, line: int, hierarchy: Hierarchy
) -> tuple[list[Mapped], list[Raised]]:
    """The classes to be declared with `.on(...)`, and the exceptions that are left to the report.

    Args:
        raised: The exceptions that leave the tool.
        module: The file of the tool.
        line: The first line of the tool, above which a class must be known.
        hierarchy: The classes of the project.
    """
    groups: dict[str, list[Raised]] = {}
    for item in raised:
        groups.setdefault(item.name, []).append(item)
    made: list[Mapped] = []
    left: list[Raised] = []
    entries = {
        name: None
        if any(item.is_framework or not item.is_inside for item in items)
        else _entry(name, items, module, hierarchy)
        for name, items in groups.items()
    }
    for name, items in groups.items():
        # `.on` takes subclasses too, so the sentence must be true for those without an entry.
        others = [other for other, entry in entries.items() if entry is None and other != name]
        # No class from outside the project is a subclass of one in it.
        known = [other for other in others if module.project.class_named(other) is not None]
        taken = any(hierarchy.is_kind_of(other, name) is not False for other in known)
        entry = entries[name] if not taken else None
        spelled = _spelled(items[0], module, line) if entry is not None else None
        if entry is None or spelled is None:
            left += items
        else:
            info = module.project.class_named(name)
            made.append(Mapped(name, info.module if info is not None else None, entry, *spelled))
    return made, left


def _entry(name: str, items: Sequence[Raised], module: Module, hierarchy: Hierarchy) -> Entry | None:
    """The entry for all exceptions of a class; None if no sentence is true for all or adds to the code."""
    info = module.project.class_named(name)
    if info is None:
        # A class of Python or of a library has other causes too, which would get the same reason.
        return None
    texts = [sentences(item.message, item.scope) for item in items]
    codes = {code_of_raised(item) for item in items}
    same = {blank(text.when) if text is not None else "" for text in texts}
    first, code = texts[0], codes.pop()
    if codes or code in VAGUE:
        return None
    if (
        len(same) == 1
        and first is not None
        and is_true_alone(first.when, ())
        and _always_says(info, blank(first.when), hierarchy)
    ):
        reason = slug(pieces(items[0].message, items[0].scope), 8)
        # The text of the exception, which clients read, has the advice already.
        return Entry(reason, code, first.when) if reason else None
    # The sentence of a class with many messages is about some of them.
    known = of_class(name, info.node) if len(same) <= _FEW else None
    return Entry(known[0], code, known[1]) if known is not None else None


def _always_says(info: ClassInfo, said: str, hierarchy: Hierarchy) -> bool:
    """Whether every exception of a class that the project raises has one sentence, also where no tool was followed."""
    name, short, project = f"{info.module.name}.{info.qualname}", info.node.name, info.module.project
    below = [other for other in project.classes() if other is not info]
    modules = project.modules_with(info.module, lambda text: f"{short}(" in text)
    if modules is None or any(hierarchy.is_kind_of(f"{other.module.name}.{other.qualname}", name) for other in below):
        return False
    for module in modules:
        for node in _raises(module).values():
            match node.exc:
                case ast.Call(func=ast.Name(id=made) | ast.Attribute(attr=made)) as call if made == short:
                    text = sentences(call.args[0] if call.args else None, scope_around(node, module))
                    if text is None or blank(text.when) != said:
                        return False
    return True


def code_of_raised(item: Raised) -> str:
    """The code of a failure; that of the built-in class above its class if its own says nothing."""
    text = constant_text(pieces(item.message, item.scope)).replace("\N{HORIZONTAL ELLIPSIS}", " ")
    # A class of Python that hands on the text of any other exception says nothing about the cause.
    names = [""] if item.wraps and item.names[-1] in PLAIN else item.names
    # A class of the project below ValueError need not be about an argument.
    names = [name for name in names if name not in PLAIN] or names
    codes = [code_of(name, text) for name in names]
    return next((code for code in codes if code not in VAGUE), codes[0])


def _spelled(item: Raised, module: Module, line: int) -> tuple[str, tuple[str, str] | None] | None:
    """How a decorator of a file names a class, and the import for that; None if it cannot."""
    name, short = item.name, item.name.rpartition(".")[2]
    for local, bindings in module.scope.bindings.items():
        node = bindings[0].node
        early = len(bindings) == 1 and node in module.tree.body and getattr(node, "lineno", line) < line
        value = evaluate(ast.Name(local, ast.Load()), module.scope) if early else None
        if isinstance(value, Symbol) and value.name == name:
            return local, None
    info = module.project.class_named(name)
    home = info.module if info is not None and info.qualname == short else module
    if home is module or any(short in scope.bindings for scope in (module.scope, *module.functions.values())):
        return None
    written = package_of(home, module)
    return (short, (written, short)) if written is not None else None


def _leads_to(home: Module, module: Module) -> bool:
    """Whether importing a module imports another one, through any number of others."""
    return module in imported_by(home)


def imported_by(home: Module) -> set[Module]:
    """The modules of the project that importing one imports, through any number of others; itself only in a circle."""
    known: set[Module] | None = home.memo.get(("imported",))
    if known is not None:
        return known
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
    home.memo["imported",] = seen
    return seen


def package_of(home: Module, module: Module) -> str | None:
    """How a file imports from another module; None if it does not load it yet, or if that might become a circle."""
    project = module.project
    for statement in module.tree.body:
        match statement:
            case ast.ImportFrom(module=path, level=level):
                names = [("." * level + (path or ""), path or "", level)]
            case ast.Import(names=aliases):
                names = [(alias.name, alias.name, 0) for alias in aliases]
            case _:
                continue
        for written, path, level in names:
            if project.module_of(module, path, level) is home and not _leads_to(home, module):
                return written
    # The file loads the other one already, so the new import loads nothing at the start that was put off.
    if home not in imported_by(module) or _leads_to(home, module):
        return None
    imports = [part for part in module.tree.body if isinstance(part, ast.ImportFrom)]
    if any(part.level for part in imports):
        ours, theirs = module.name.split("."), home.name.split(".")
        shared = next((at for at, (one, two) in enumerate(zip(ours, theirs, strict=False)) if one != two), 0)
        above = len(ours) - shared - (0 if module.is_package else 1)
        return "." * (above + 1) + ".".join(theirs[shared:]) if shared else None
    flat = "." not in home.name and "." not in module.name
    near = any((part.module or "").partition(".")[0] == home.name.partition(".")[0] for part in imports)
    return home.name if flat or near else None
