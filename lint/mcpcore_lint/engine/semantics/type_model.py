"""The types of values that the linter infers, and the inheritance between classes of the project."""

import ast
from typing import Final, TypeAlias

from mcpcore_lint.dataclasses import light_value
from mcpcore_lint.engine.semantics.evaluate import evaluate, symbol_of
from mcpcore_lint.engine.semantics.symbols import class_info, last_name
from mcpcore_lint.engine.syntax.module import ClassInfo, Module, kept
from mcpcore_lint.engine.syntax.parse import all_parameters, walk
from mcpcore_lint.engine.syntax.scopes import Scope
from mcpcore_lint.model import FunctionNode, Symbol
from mcpcore_lint.patterns import regex


@light_value
class Instance:
    """An instance of a class of the project."""

    info: ClassInfo


@light_value
class ClassObject:
    """A class of the project, rather than an instance of it."""

    info: ClassInfo


@light_value
class Outside:
    """A value from outside the project. `name` is its class, or empty if that is unknown."""

    name: str = ""
    state: tuple[ast.expr, Scope] | None = None
    """The annotation of a context's lifespan state, with the scope to read it in."""


@light_value
class Super:
    """`super()` in a method of `owner`, called on an instance of `receiver`."""

    owner: ClassInfo
    receiver: ClassInfo


@light_value
class Function:
    """A function of the project, or a method bound to an instance of `receiver`."""

    node: FunctionNode
    module: Module
    receiver: ClassInfo | None = None


Kind: TypeAlias = Instance | ClassObject | Outside | Super | Function
"""The inferred type of a value. An empty list of kinds means that the type is unknown."""

BUILTIN_METHODS: Final = frozenset(
    name for kind in (str, bytes, list, dict, set, tuple, int, float) for name in dir(kind) if not name.startswith("_")
) - {"get", "pop", "update", "remove", "find", "index", "count", "copy", "clear", "add", "insert", "replace", "format"}
"""Methods that identify a value of unknown class as a string, a list or the like. Names that services often use for
their own methods are left out."""


_PROPERTIES: Final = frozenset({"property", "cached_property", "getter", "abstractproperty"})


def method_of(info: ClassInfo, name: str) -> tuple[ast.FunctionDef | ast.AsyncFunctionDef, ClassInfo] | None:
    """A method of a class, with the class of the project that defines it."""
    for ancestor in ancestry(info):
        method = ancestor.methods.get(name)
        if method is not None:
            return method, ancestor
    return None


def is_abstract(node: ast.FunctionDef | ast.AsyncFunctionDef, owner: ClassInfo) -> bool:
    """Whether a method has no body: it is abstract, or belongs to a protocol."""
    if any("abstract" in ast.unparse(decorator) for decorator in node.decorator_list):
        return True
    match [part for part in node.body if not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))]:
        case []:
            return any("Protocol" in ast.unparse(base) or "ABC" in ast.unparse(base) for base in owner.node.bases)
        case [ast.Raise(exc=ast.expr() as error)]:
            return "NotImplementedError" in ast.unparse(error)
    return False


def only_implementation(info: ClassInfo) -> ClassInfo | None:
    """The only class of the project that implements a protocol or an abstract class; None if there are several."""
    classes = _implementations(info.module, info)
    return classes[0] if len(classes) == 1 else None


@kept
def _implementations(module: Module, info: ClassInfo) -> list[ClassInfo]:
    is_protocol = any("Protocol" in ast.unparse(base) for base in info.node.bases)
    fields = {
        node.target.id
        for node in info.node.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    by_name = regex(rf"class\s+\w+\s*\([^)]*\b{info.node.name}\b")

    def may_implement(text: str) -> bool:
        structural = is_protocol and all(f"def {method}(" in text for method in info.methods)
        return structural or by_name.search(text) is not None

    modules = module.project.modules_with(module, may_implement)
    classes = [kind for searched in modules or () for kind in searched.classes.values() if kind is not info]
    return [
        kind
        for kind in classes
        if info in ancestry(kind) or (is_protocol and fields <= _names_set_in(kind))
        if all(
            (method := method_of(kind, name)) is not None
            and not is_abstract(*method)
            # A class that never names the protocol takes the same parameters.
            and (info in ancestry(kind) or _parameters(method[0]) == _parameters(declared))
            for name, declared in info.methods.items()
        )
    ]


def _names_set_in(info: ClassInfo) -> set[str]:
    """The names that a class and its base classes set: in their bodies, as properties, or on `self`."""
    nodes = [node for owner in ancestry(info) for node in walk([owner.node])]
    return {
        node.attr if isinstance(node, ast.Attribute) else node.id
        for node in nodes
        if isinstance(node, (ast.Attribute, ast.Name)) and isinstance(node.ctx, ast.Store)
    } | {name for owner in ancestry(info) for name in owner.methods}


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    return [type(node).__name__, *(parameter.arg for parameter in all_parameters(node.args))]


def ancestry(info: ClassInfo) -> tuple[ClassInfo, ...]:
    """A class and its base classes in the project, in method resolution order."""
    # A class may inherit from itself, in code that cannot run.
    return info.module.once(("ancestry", info.node), lambda: _linear(info), (info,))


def name_of(node: ast.AST | None, scope: Scope) -> str:
    """The qualified name of what an expression is; empty if it has none."""
    return getattr(symbol_of(node, scope), "name", "")


def definition_of(node: ast.AST | None, scope: Scope) -> ast.AST | None:
    """The class, the function or the module of the project that an expression is."""
    return getattr(symbol_of(node, scope), "definition", None)


def class_named(node: ast.AST | None, scope: Scope) -> ClassInfo | None:
    """The class of the project that an expression is."""
    symbol = symbol_of(node, scope)
    return class_info(symbol) if symbol is not None else None


def _linear(info: ClassInfo) -> tuple[ClassInfo, ...]:
    """The C3 linearization without classes outside the project; if it fails, the first class in line comes next."""
    parents: list[ClassInfo] = []
    for base in info.node.bases:
        # `class Find(Base[Query])` inherits from Base.
        parent = class_named(base.value if isinstance(base, ast.Subscript) else base, info.scope)
        if parent is not None and parent is not info:
            parents.append(parent)
    if not parents:
        return (info,)
    if len(parents) == 1:
        return (info, *(ancestor for ancestor in ancestry(parents[0]) if ancestor is not info))
    rows = [[ancestor for ancestor in ancestry(parent) if ancestor is not info] for parent in parents]
    rows.append(parents)
    order = [info]
    while rows := [row for row in rows if row]:
        head = next((row[0] for row in rows if not any(row[0] in other[1:] for other in rows)), rows[0][0])
        order.append(head)
        rows = [[ancestor for ancestor in row if ancestor is not head] for row in rows]
    return tuple(order)


def outside_bases(info: ClassInfo) -> list[str]:
    """The base classes outside the project, including inherited ones; "" for a base that cannot be resolved."""
    names: list[str] = []
    for ancestor in ancestry(info):
        for base in ancestor.node.bases:
            value = evaluate(base, ancestor.scope)
            if isinstance(value, Symbol) and class_info(value) is None:
                names.append(value.name)
            elif not isinstance(value, Symbol):
                names.append("")
    return names


def is_property(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function is a property."""
    return any(last_name(decorator) in _PROPERTIES for decorator in node.decorator_list)


class Trail:
    """The state of one inference: the names being inferred, and how many and how deep expressions were visited."""

    __slots__ = ("active", "cut", "depth", "steps")

    def __init__(self) -> None:
        self.active: set[tuple[int, str | int, int]] = set()
        self.depth = 0
        self.steps = 0
        self.cut = False
        """Whether the result is incomplete: a name defined by itself, or the limit on depth or steps was reached."""


def once(kinds: list[Kind]) -> list[Kind]:
    """The kinds in order, without duplicates."""
    return kinds if len(kinds) < 2 else list(dict.fromkeys(kinds))
