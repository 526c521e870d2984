"""Answers questions about the body of a function: its clauses, `try` statements, names and classes of exceptions."""

import ast
import re
from collections.abc import Callable, Collection, Iterator
from itertools import takewhile
from typing import Final, TypeAlias

from mcpcore_lint.dataclasses import cached_method, cached_property
from mcpcore_lint.engine.semantics.evaluate import Resolver, evaluate, symbol_of
from mcpcore_lint.engine.semantics.hierarchy import Hierarchy
from mcpcore_lint.engine.semantics.symbols import class_round
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.parse import FUNCTIONS, Enclosing, own_nodes, walk, walk_shallow
from mcpcore_lint.engine.syntax.scopes import Binding, Scope
from mcpcore_lint.migrate.messages import is_text
from mcpcore_lint.migrate.model import Left
from mcpcore_lint.migrate.renames import FIELDS, LISTING, OF_PROTOCOL, SERVER_CLASSES
from mcpcore_lint.model import CallValue, Const, Items, Symbol, options

RUNNERS: Final = frozenset({"run", "run_until_complete"})
"""The functions and methods that run a coroutine to its end."""
BROAD = frozenset({"builtins.Exception", "builtins.BaseException"})
_LOGGING: Final = frozenset(
    {"debug", "info", "warning", "warn", "error", "exception", "critical", "log", "print", "print_exc", "write",
     "record_exception", "set_status", "capture_exception"}
)  # fmt: skip

_PURE: Final = frozenset(
    {"abs", "all", "any", "bool", "dict", "enumerate", "float", "frozenset", "int", "isinstance", "len", "list", "max",
     "min", "range", "repr", "round", "set", "sorted", "str", "sum", "tuple", "type", "zip"}
)  # fmt: skip
"""Functions of Python that look at nothing but their arguments."""
_VALUES: Final = (str, bytes, list, dict, set, int, float, re, re.Match)
"""Types whose methods look at nothing but a value, and the module of regular expressions."""
_LASTING: Final = {str, int, float}


class Body:
    """A function of the project."""

    def __init__(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, module: Module, tool: str, hierarchy: Hierarchy
    ) -> None:
        self.node = node
        self.module = module
        self.tool = tool
        self.hierarchy = hierarchy
        self.module.complete()
        self.scope = self.module.scope_of(self.node)
        self.parents = self.module.parents
        self._enclosing = Enclosing(self.parents)

    def left(self, node: ast.AST, pattern: str, decide: str) -> Left:
        """A place in it that somebody has to decide about."""
        return Left(self.module.path, getattr(node, "lineno", 1), (self.tool,), pattern, decide)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """The nodes of the function, without what is in functions and classes nested in it."""
        return own_nodes(self.node)

    @cached_property
    def names(self) -> frozenset[str]:
        """Every name that appears in the function."""
        names: set[str] = set()
        for part in walk([self.node]):
            if isinstance(part, ast.Name):
                names.add(part.id)
            elif isinstance(part, ast.arg):
                names.add(part.arg)
            elif isinstance(part, (ast.Import, ast.ImportFrom)):
                names |= {alias.asname or alias.name.partition(".")[0] for alias in part.names}
            elif (
                isinstance(part, (ast.ExceptHandler, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and part.name
            ):
                names.add(part.name)
            elif isinstance(part, (ast.Global, ast.Nonlocal)):
                names.update(part.names)
        return frozenset(names)

    def above(self, node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
        """The nodes around a node up to the function, each with the node below it."""
        while node is not self.node:
            parent = self.parents[node]
            yield parent, node
            node = parent

    def _blocks(self, node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
        """The blocks around a node in the function, each with the node below it."""
        return takewhile(lambda pair: pair[0] is not self.node, self._enclosing.of(node))

    def clause_of(self, node: ast.AST) -> ast.ExceptHandler | None:
        """The innermost `except` clause around a node."""
        return next((block for block, _ in self._blocks(node) if isinstance(block, ast.ExceptHandler)), None)

    def tries(self, node: ast.AST) -> list[ast.Try | ast.TryStar]:
        """The `try` statements that guard a node, the innermost first."""
        return [
            block
            for block, inner in self._blocks(node)
            if isinstance(block, (ast.Try, ast.TryStar)) and inner in block.body
        ]

    def is_refused(self, node: ast.AST, own: frozenset[str], failures: Collection[ast.AST]) -> bool:
        """Whether the arguments alone decide that a statement runs, and whether a result is returned above it."""
        earlier = [
            part
            for around, below in self.above(node)
            for block in (getattr(around, "body", ()), getattr(around, "orelse", ()))
            if isinstance(block, list) and below in block
            for part in walk_shallow(block[: block.index(below)])
            if isinstance(part, ast.Return) and part not in failures
        ]
        return all(self._reads_arguments(part, own) for part in [node, *earlier])

    def _reads_arguments(self, node: ast.AST, own: frozenset[str]) -> bool:
        """Whether the conditions around a statement read arguments, and nothing else."""
        changed = {
            name
            for name in own
            for binding in self.scope.bindings.get(name, ())
            if binding.kind != "parameter"
            and (binding.value is None or arguments_in(binding.value, self.scope, own, 0) is None)
        }
        around = [*self.above(node)]
        tests = [
            test
            for block, _ in around
            for part in ("test", "subject", "guard")
            if (test := getattr(block, part, None)) is not None
        ]
        return (
            bool(tests)
            and all(arguments_in(test, self.scope, own - changed) for test in tests)
            and not any(
                # In these, what ran before decides as well: an earlier round, or the statement that failed or did not.
                isinstance(block, (ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler))
                or (isinstance(block, ast.Try) and below in block.orelse)
                for block, below in around
            )
        )

    def withs(self, node: ast.AST) -> list[ast.expr]:
        """The context managers around a node, the innermost first."""
        return [
            item.context_expr
            for block, inner in self._blocks(node)
            if isinstance(block, (ast.With, ast.AsyncWith)) and inner in block.body
            # The last item of a `with` is the innermost.
            for item in reversed(block.items)
        ]

    def symbol(self, node: ast.expr) -> Symbol | None:
        """The class or function that an expression names; None if it is unknown or one of several."""
        return symbol_of(node, self.scope) if isinstance(node, (ast.Name, ast.Attribute)) else None

    def name_of(self, node: ast.expr) -> str:
        """The qualified name of the class or function that an expression names; empty if that is not known."""
        return getattr(self.symbol(node), "name", "")

    @cached_method
    def caught(self, clause: ast.ExceptHandler) -> tuple[str | None, ...]:
        """The classes that a clause catches, by name, with None for each that is not known."""
        if clause.type is None:
            return ("builtins.BaseException",)
        types = clause.type.elts if isinstance(clause.type, ast.Tuple) else [clause.type]
        names: list[str | None] = []
        for node in types:
            symbol = self.symbol(node)
            # One of several classes: each may be the one, and None keeps the clause from being certain.
            names.append(symbol.name if symbol is not None else None)
            if symbol is None:
                names += [option.name for option in options(evaluate(node, self.scope)) if isinstance(option, Symbol)]
        return tuple(names)

    def is_broad(self, clause: ast.ExceptHandler) -> bool:
        """Whether a clause catches every exception, as far as that is known."""
        return any(name in BROAD for name in self.caught(clause))

    def catches(self, clause: ast.ExceptHandler, raised: str) -> bool:
        """Whether a clause may catch an exception of a class."""
        return any(
            name is None or name in BROAD or self.hierarchy.is_kind_of(raised, name) is not False
            for name in self.caught(clause)
        )


def arguments_in(node: ast.expr, scope: Scope, own: frozenset[str], depth: int = 3) -> frozenset[str] | None:
    """The arguments that the value of an expression depends on; None if it may depend on anything else."""
    parts = [*walk([node])]
    read = {part.id for part in parts if isinstance(part, ast.Name)} & own
    made = {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
    for part in parts:
        match part:
            case ast.Await():
                return None
            case ast.Call(func=ast.Attribute(attr=method)) if not any(hasattr(kind, method) for kind in _VALUES):
                return None
            case ast.Name(id=name) if name not in own | made:
                match scope.lookup(name):
                    case (_, [Binding(kind="assign" | "annotated")]) if _is_changed(name, scope.module):
                        return None
                    case _ if _is_fixed(evaluate(part, scope)):
                        pass
                    # A name that nothing binds is one of Python.
                    case None | (_, [Binding(kind="import", target=("re", None, 0))]) as place if (
                        place or name in _PURE
                    ):
                        pass
                    case owner, [Binding(kind="assign" | "annotated", value=ast.expr() as value)] if (
                        depth
                        and (inner := arguments_in(value, owner, own, depth - 1)) is not None
                        and (inner or _is_table(value))
                    ):
                        read |= inner
                    case _:
                        return None
    return frozenset(read)


def _is_changed(name: str, module: Module) -> bool:
    """Whether a function of the project changes what a name holds, such as a table of sessions."""
    changes = re.compile(
        rf"\bglobal\b.*\b{name}\b|\bdel {name}\b|\b{name}(?:\[.*\]\s*[-+*/|&^%@]{{0,2}}=(?!=)"
        r"|\.(?:add|append|clear|discard|extend|insert|pop(?:item)?|remove|reverse|setdefault|sort|(?:\w+_)?update)\()"
    ).search
    return module.project.modules_with(module, lambda source: name in source and bool(changes(source))) != []


def _is_fixed(value: object) -> bool:
    """Whether a value is a text, a number or a list that is not empty: None, flags and empty lists change later."""
    return (isinstance(value, Const) and type(value.value) in _LASTING) or (
        isinstance(value, Items) and value.complete and bool(value.items)
    )


def _is_table(value: ast.expr) -> bool:
    """Whether an expression is made of texts and numbers: what is empty at first, or has flags, changes later."""
    kinds = {type(part.value) for part in walk([value]) if isinstance(part, ast.Constant)}
    return bool(kinds) and kinds <= _LASTING


def scope_around(node: ast.AST, module: Module) -> Scope:
    """The scope of the names in a node: that of the function around it, or of the file."""
    function = module.around(node, *FUNCTIONS)
    return module.scope_of(function) if isinstance(function, FUNCTIONS) else module.scope


def classes_of(node: ast.expr, scope: Scope) -> set[str]:
    """The classes that an expression names or is an object of: by annotations, and by the calls that made it."""
    ways: list[tuple[ast.expr | None, ast.expr | None, Scope]] = [(None, node, scope)]
    match = scope.lookup(node.id) if isinstance(node, ast.Name) else None
    if match is not None:
        ways += [(binding.annotation, binding.value, match[0]) for binding in match[1]]
    info = class_round(scope) if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self" else None
    if info is not None and isinstance(node, ast.Attribute):
        ways += info.instance_attributes.get(node.attr, ())
    known = (ast.Name, ast.Attribute, ast.Call)
    values = [evaluate(part, inner) for _, part, inner in ways if isinstance(part, known)]
    kinds = [value.func if isinstance(value, CallValue) else value for value in values]
    annotations = [(annotation, inner) for annotation, _, inner in ways]
    made = [value.func.definition for value in values if isinstance(value, CallValue)]
    annotations += [
        (part.returns, home.scope)
        for part in made
        if isinstance(part, FUNCTIONS) and (home := scope.module.project.module_defining(part)) is not None
    ]
    symbols = [Resolver().annotation_symbol(annotation, inner) for annotation, inner in annotations]
    return {kind.name for kind in (*kinds, *symbols) if isinstance(kind, Symbol)}


_URLS: Final = frozenset({"AnyUrl", "AnyHttpUrl", "FileUrl", "HttpUrl"})


def text_of_url(node: ast.expr, scope: Scope) -> str:
    """The code of the text of a URL of pydantic; empty for another expression."""
    segment = scope.module.source.segment
    match node:
        case ast.Call(func=ast.Name(id="AnyUrl"), args=[value]):
            return segment(value) if is_text(value, scope) else f"str({segment(value)})"
    kinds = {kind.rpartition(".")[2] for kind in classes_of(node, scope)}
    return f"str({segment(node)})" if kinds & _URLS else ""


def reader_of(node: ast.expr, scope: Scope, module: Module) -> ast.AST | None:
    """The node that reads a part of an expression, also by the name that it is assigned to."""
    parent = module.parents.get(node)
    if not (isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name)):
        return parent
    held = parent.targets[0].id
    uses = (part for part in walk([scope.node]) if isinstance(part, ast.Name) and part.id == held)
    reads = (module.parents.get(part) for part in uses if isinstance(part.ctx, ast.Load) and part.lineno > node.lineno)
    return next((part for part in reads if isinstance(part, (ast.Attribute, ast.Subscript))), parent)


_REQUESTS: Final = LISTING | {"call_tool", "get_prompt", "initialize", "read_resource"}
"""Methods of a session that answer with an object of the protocol."""
_LOOPS: Final = (ast.For, ast.AsyncFor)
_FOLLOWED: Final = 9
"""How many parts and names lead to a request at most."""
_Within: TypeAlias = Callable[[ast.expr, Scope], ast.expr | bool | None]
"""Whether an expression is what is looked for, or the part of it that says so; None for names and calls to follow."""


def _called(node: ast.expr, scope: Scope) -> bool | None:
    match node:
        case ast.Call(func=ast.Attribute(attr="call_tool") as func):
            return not isinstance(evaluate(func, scope), Symbol)
    return None


def _of_protocol(node: ast.expr, scope: Scope) -> ast.expr | bool | None:
    """Whether an expression is certainly an object of the protocol, or a list of some: only the objects have dumps."""
    place = scope.lookup(node.id) if isinstance(node, ast.Name) else None
    bindings = place[1] if place is not None else []
    if len(bindings) < 2 and any(map(OF_PROTOCOL.fullmatch, classes_of(node, scope))):
        return True
    match node:
        case ast.Call(func=ast.Attribute(attr=method, value=owner)) if method in _REQUESTS:
            kinds = classes_of(owner, scope)
            return "mcp.ClientSession" in kinds or bool(method in LISTING and SERVER_CLASSES & kinds)
        case ast.Attribute(attr=field, value=value) if field in FIELDS:
            return value
        case ast.Subscript(value=value) | ast.Call(func=ast.Name(id="sorted" | "list" | "next"), args=[value, *_]):
            return value
        case ast.Name():
            return _items(node, bindings, scope.module)
    return None


def _items(node: ast.Name, bindings: Collection[Binding], module: Module) -> ast.expr | None:
    """What the loop or the comprehension around a name goes through, if that binds it."""
    is_plain = all(isinstance(binding.node, _LOOPS) for binding in bindings)
    parent = module.parents.get(node)
    while parent is not None and not isinstance(parent, FUNCTIONS):
        for loop in getattr(parent, "generators", [parent] * is_plain):
            if isinstance(loop, (*_LOOPS, ast.comprehension)) and ast.unparse(loop.target) == node.id:
                return loop.iter
        parent = module.parents.get(parent)
    return None


def has_alias(dump: ast.Call, fields: Collection[str], module: Module) -> bool:
    """Whether a dump, such as `tool.model_dump()`, had the names of JSON in version 1, and has others in version 2."""
    user = module.parents.get(dump)
    keys = [getattr(user, "left", None), *getattr(user, "comparators", ()), getattr(user, "slice", None)]
    values = {getattr(key, "value", None) for part in keys for key in getattr(part, "keys", [part])}
    read = {value for value in values if isinstance(value, str)}
    if any(keyword.arg in {"by_alias", None} for keyword in dump.keywords) or not isinstance(dump.func, ast.Attribute):
        return False
    if read:  # the name of a field that stays needs nothing
        return not read.isdisjoint(fields)
    return is_answer(dump.func.value, scope_around(dump, module), module, _FOLLOWED, _of_protocol)


def is_answer(node: ast.expr, scope: Scope, module: Module, depth: int = 3, within: _Within = _called) -> bool:
    """Whether an expression is what `call_tool()` of an object returned, also as a helper of the file gets it."""
    part = within(node, scope)
    if part is not None:
        return part if isinstance(part, bool) else depth > 0 and is_answer(part, scope, module, depth - 1, within)
    match node:
        case ast.Await(value=value) | ast.Call(func=ast.Attribute(attr="run" | "run_until_complete"), args=[value]):
            return is_answer(value, scope, module, depth, within)
        case ast.Call(func=ast.Name() as func) if depth:
            helper = getattr(evaluate(func, scope), "definition", None)
            if not isinstance(helper, FUNCTIONS) or helper not in module.tree.body:
                return False
            inner, ends = module.scope_of(helper), own_nodes(helper)
            results = [part.value for part in ends if isinstance(part, ast.Return)]
            known = [result is not None and is_answer(result, inner, module, depth - 1, within) for result in results]
            return bool(known) and all(known)
        case ast.Name(id=name) if depth and (place := scope.lookup(name)) is not None:
            owner, values = place[0].node, [(binding.value, place[0]) for binding in place[1]]
            if isinstance(owner, FUNCTIONS) and [binding.kind for binding in place[1]] == ["parameter"]:
                names = [part.arg for part in owner.args.args] if owner in module.tree.body else []
                calls = [
                    call for call in module.calls_near(f"{owner.name}(") if ast.unparse(call[0].func) == owner.name
                ]
                values = [(dict(zip(names, call.args, strict=False)).get(name), inner) for call, inner in calls]
            known = [
                value is not None and is_answer(value, inner, module, depth - 1, within) for value, inner in values
            ]
            return bool(known) and all(known)
    return False


def only_logs(statement: ast.stmt) -> bool:
    """Whether a statement does nothing but log, pass, or build a text."""
    match statement:
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Expr(value=ast.Await(value=ast.Call(func=func)) | ast.Call(func=func)):
            name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
            return name in _LOGGING
    return False
