"""The nodes of a handler's body with their parents, and questions that several rules ask about them."""

import ast
import sys
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from typing import Any, Final, TypeVar

from mcpcore_lint.dataclasses import cached_method
from mcpcore_lint.engine.flow.bodies.nodes import LEAVES
from mcpcore_lint.engine.semantics.codes import CODES
from mcpcore_lint.engine.semantics.endings import CALLING, leaves, never_passed, unreachable
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.syntax.parse import mentions, walk
from mcpcore_lint.engine.syntax.scopes import Scope
from mcpcore_lint.frameworks import framework_of, uses_mcpcore
from mcpcore_lint.model import (
    CallValue,
    CatchSite,
    CodeValue,
    Const,
    ContractEntry,
    ErrorSite,
    FunctionNode,
    Handler,
    Items,
    Mapping,
    Symbol,
    Text,
    ToolDef,
    Value,
    options,
    string,
)
from mcpcore_lint.names import FRAMEWORK_ERRORS, FRAMEWORKS, PROTOCOL_ERRORS
from mcpcore_lint.rule import RuleContext
from mcpcore_lint.rules._accepted import ORDERS, Accepted, Schemas, accepted, of_annotations, of_names
from mcpcore_lint.rules._wording import is_placeholder

N = TypeVar("N", bound=ast.AST)

_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_DUMPS: Final = frozenset({"json.dumps", "orjson.dumps", "ujson.dumps"})
_NEVER_NONE: Final = frozenset({"str", "int", "float", "bool", "list", "dict", "literal"})
_SAME: Final[dict[type[ast.cmpop], bool]] = {
    **dict.fromkeys((ast.In, ast.Eq, ast.Is), True),
    **dict.fromkeys((ast.NotIn, ast.NotEq, ast.IsNot), False),
}
"""The comparisons with values, each with whether it says that a name has one of them."""
_BROAD: Final = frozenset({"builtins.Exception", "builtins.BaseException"})
_ANYTHING: Final = Accepted(frozenset(), optional=True)


class Body:
    """The nodes of a handler's body, including nested functions, with the parent and the function of each."""

    def __init__(self, handler: Handler) -> None:
        self.module = handler.module
        self.root = handler.node
        index = self.module.built[self.root].body
        # The index knows the nested function of each node, so the nodes need not be searched for functions.
        nested = dict.fromkeys(index.function_of.values())
        calling = (part for kind in CALLING for part in index.by_kind.get(kind, ()))
        # In most functions each call may return, and no block needs to be looked at.
        ends = any(never_passed(part, index.scope_at(part)) for part in calling)
        functions = [node for node in (self.root, *nested) if ends and not isinstance(node, ast.Lambda)]
        self.unreachable = {part for node in functions for part in unreachable(node.body, self.module.scope_of(node))}
        """The nodes behind a call that never returns."""
        self.nodes = [node for node in index.nodes if node not in self.unreachable] if self.unreachable else index.nodes
        self.parents = index.parents
        self._enclosing = index.enclosing
        self._function_of = index.function_of
        self.catches: dict[ast.AST, CatchSite] = {catch.node: catch for catch in handler.catches}
        self._by_kind: dict[type, list[Any]] = {}
        self._indexed = index.by_kind

    def function_of(self, node: ast.AST) -> FunctionNode:
        """The function that runs a node: the handler, or a function nested in it."""
        return self._function_of.get(node, self.root)

    def all(self, kind: type[N]) -> Iterator[N]:
        """All nodes of a class, in source order."""
        known = self._by_kind.get(kind)
        if known is None:
            nodes = self.nodes if kind in LEAVES else self._indexed.get(kind, ())
            dead = self.unreachable
            known = self._by_kind[kind] = [node for node in nodes if type(node) is kind and node not in dead]
        return iter(known)

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around a node in its own function, innermost first."""
        parent = self.parents.get(node)
        while parent is not None and parent is not self.root and not isinstance(parent, _FUNCTIONS):
            yield parent
            parent = self.parents.get(parent)

    def around(self, node: ast.AST | None) -> set[ast.AST]:
        """A node and the nodes around it, up to the handler."""
        nodes = set[ast.AST]()
        while node is not None:
            nodes.add(node)
            node = self.parents.get(node)
        return nodes

    def clauses_above(self, node: ast.AST) -> Iterator[ast.ExceptHandler]:
        """The `except` clauses around a node in its own function, innermost first."""
        for block, _ in self._enclosing.of(node):
            if isinstance(block, _FUNCTIONS):
                return
            if isinstance(block, ast.ExceptHandler):
                yield block

    def clause_of(self, node: ast.AST) -> CatchSite | None:
        """The innermost `except` clause around a node in its own function."""
        clause = next(self.clauses_above(node), None)
        return None if clause is None else self.catches[clause]

    def catching(self, node: ast.AST) -> CatchSite | None:
        """The broad clause of the function that would catch an exception raised where the node is, and keep it."""
        for block in self.above(node):
            clauses = block.handlers if isinstance(block, (ast.Try, ast.TryStar)) and inside(node, block.body) else []
            for catch in (self.catches[clause] for clause in clauses):
                if self.raises([*catch.body]):
                    break  # such as `except ToolError: raise`
                if catch.broad:
                    return catch
        return None

    def is_kept_going(self, node: ast.AST) -> bool:
        """Whether an exception that is raised where a node is changes nothing: its clause goes on after the `try`."""
        catch = self.catching(node)
        return catch is not None and not any(isinstance(part, (ast.Return, ast.Raise)) for part in walk([*catch.body]))

    def refuted(
        self,
        node: ast.AST,
        *,
        typed: bool = False,
        properties: Schemas | None = None,
        passed: Schemas | None = None,
        risks: Sequence[ast.AST] = (),
    ) -> bool:
        """Whether the tests around a node and before it contradict each other, so that the node never runs.

        With `typed`, the framework refuses arguments that do not fit the annotations of the handler. The `properties`
        are what the schema of a low-level tool allows, and `passed` is what the parameters may be. The `risks` are what
        may raise in the `try` of the clause that the node is in: a conversion of an integer to one raises nothing, and
        neither does a subscript of the arguments, if the schema requires the property.
        """
        scope, around, tests = self.scope(node), [node, *self.above(node)], self.tests(node)
        loops = any(isinstance(part, (ast.For, ast.AsyncFor, ast.While)) for part in around)
        known: dict[str, bool] = {}

        @cache
        def stays(name: str) -> bool:
            lines = [getattr(binding.node, "lineno", 0) for binding in scope.bindings.get(name, ())]
            if len(lines) < 2 or name in scope.globals:
                return bool(lines) and name not in scope.globals
            # A name that changes after its first test may be true in one test and false in another.
            first = min((test.lineno for test, _ in tests if mentions(test, name)), default=0)
            return not loops and max(lines) < first

        parameters = of_annotations(scope, self.root) if typed else passed or {}
        schemas = (properties or {}) | of_names(parameters, properties or {}, scope) if scope.node is self.root else {}
        left: dict[str, set[object]] = {name: {*schema.values} for name, schema in schemas.items() if schema.values}
        # Twice, since a later test may decide a part of an earlier one.
        for test, holds in (*tests, *tests):
            for name, value in _implied(_open_part(test, known, schemas, holds=holds), holds=holds):
                if stays(name):
                    known.setdefault(name, value)
            for name, values, is_one in _compared(test, scope, holds=holds):
                if is_one and stays(name):
                    left[name] = left.get(name, values) & values
                elif name in left and stays(name):
                    left[name] -= values
        # At the node all tests have their results, so that `x is not None` narrows what `isinstance(x, str)` is of.
        shown = {name for test, holds in tests for name, true in _implied(test, holds=holds, objects=True) if true}
        schemas |= {name: schemas[name]._replace(optional=False) for name in shown & schemas.keys() if stays(name)}
        # A test may have found the name true, and so no empty value is left.
        if any(all(bool(value) is not known.get(name, bool(value)) for value in left[name]) for name in left):
            return True
        # What is left of a name may decide a test of two names: `if job is None and run is None`.
        schemas |= {
            name: schema._replace(values=frozenset(left[name]))
            for name in left
            if (schema := schemas.get(name, _ANYTHING)).optional
        }
        needless = [
            decided(ast.Compare(part.slice, [ast.In()], [part.value]), known, schemas)
            if isinstance(part, ast.Subscript)
            else isinstance(part, ast.Call)
            and isinstance(part.func, ast.Name)
            and accepted(part, schemas, properties or {}, scope)
            for part in risks
        ]
        return (bool(needless) and all(needless)) or any(
            decided(test, known, schemas) not in {None, holds} for test, holds in tests
        )

    @cached_method
    def tests(self, node: ast.AST) -> list[tuple[ast.expr, bool]]:
        """The tests around a node and before it, each with its result where the node runs."""
        return [*self._tests_at(node)]

    def _tests_at(self, node: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
        for part in (node, *self.above(node)):
            chains: list[ast.stmt] = self.before(part)
            for before in chains:
                if not isinstance(before, ast.If):
                    continue
                # After a chain of `if` and `elif` none of the branches that leave was taken.
                if leaves(before.body, self.scope(node)):
                    yield before.test, False
                    chains += before.orelse[:1] if len(before.orelse) == 1 else []
                elif before.orelse and leaves(before.orelse, self.scope(node)):
                    yield before.test, True
                # After `if action in NAMED:` with `if not name: return` in it, one of the two did not hold.
                for inner in before.body:
                    if isinstance(inner, ast.If) and leaves(inner.body, self.scope(node)):
                        both = ast.BoolOp(ast.And(), [before.test, inner.test])
                        yield ast.copy_location(both, before), False
            parent = self.parents.get(part)
            if isinstance(parent, (ast.If, ast.IfExp)) and part is not parent.test:
                otherwise = parent.orelse if isinstance(parent.orelse, list) else [parent.orelse]
                yield parent.test, part not in otherwise
            elif isinstance(parent, ast.match_case) and part in parent.body:
                around = self.parents[parent]
                yield from _tests_of_case(parent, around) if isinstance(around, ast.Match) else ()

    def true_names(self, node: ast.expr) -> set[str]:
        """The names that are true where a node runs, since a test has refused them otherwise.

        What is not None counts as true, so that nothing is said of a function that tests it again.
        """
        scope, tests = self.scope(node), self.tests(node)
        bindings = scope.bindings
        schemas = {
            name: Accepted(frozenset(values))
            for test, holds in tests
            for name, values, is_one in _compared(test, scope, holds=holds)
            if is_one and [at.kind for at in bindings.get(name, ())] == ["parameter"]
        }
        return {
            name
            for test, holds in tests
            for part in [_open_part(test, {}, schemas, holds=holds)]
            for name, is_true in _implied(part, holds=holds, objects=True)
            # Between the test and the node it gets no other value.
            if is_true
            and not any(test.lineno <= getattr(at.node, "lineno", 0) <= node.lineno for at in bindings.get(name, ()))
        }

    def after(self, statement: ast.AST) -> list[ast.stmt]:
        """The statements after a statement in its block."""
        block = self._block(statement)
        return block[block.index(statement) + 1 :] if isinstance(statement, ast.stmt) and block else []

    def before(self, statement: ast.AST) -> list[ast.stmt]:
        """The statements before a statement in its block."""
        block = self._block(statement)
        return block[: block.index(statement)] if isinstance(statement, ast.stmt) and block else []

    def _block(self, statement: ast.AST) -> list[ast.stmt]:
        blocks = vars(self.parents.get(statement, statement)).values()
        return next((block for block in blocks if isinstance(block, list) and statement in block), [])

    def scope(self, node: ast.AST) -> Scope:
        """The scope in which a node is evaluated."""
        return self.module.scope_of(self.function_of(node))

    def value(self, node: ast.expr) -> Value:
        """The value of an expression of the body."""
        return evaluate(node, self.scope(node))

    def raises(self, block: list[ast.stmt]) -> bool:
        """Whether some statements always end with an exception, perhaps one that a function raises for them."""
        return bool(block) and leaves(block, self.scope(block[0]), raising=True)

    @cached_method
    def names_in(self, node: ast.AST | None) -> frozenset[str]:
        """The names in a part of the body, which are looked for once."""
        parts = walk([node]) if node is not None else ()
        return frozenset(part.id for part in parts if isinstance(part, ast.Name))

    @cached_property
    def assignments(self) -> list[tuple[ast.AST | None, set[str]]]:
        """The values that get names, each with the names."""
        pairs: list[tuple[ast.AST | None, ast.AST]] = []
        for node in self.nodes:
            if isinstance(node, ast.Assign):
                pairs += ((node.value, target) for target in node.targets)
            elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)):
                pairs.append((node.value, node.target))
            elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
                pairs.append((node.iter, node.target))
        return [
            (
                value,
                {part.id for part in walk([target]) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)},
            )
            for value, target in pairs
        ]

    def names(self) -> set[str]:
        """All names that the body and its parameters use."""
        names = {node.id for node in self.all(ast.Name)} | {node.arg for node in self.all(ast.arg)}
        names |= {node.name for node in self.all(ast.ExceptHandler) if node.name}
        return names | set(self.module.scope_of(self.root).bindings)


def _tests_of_case(case: ast.match_case, around: ast.Match) -> Iterator[tuple[ast.expr, bool]]:
    """The comparisons that lead to a case of a `match`, each with its result where the case runs."""
    for other in around.cases[: around.cases.index(case) + 1]:
        patterns = other.pattern.patterns if isinstance(other.pattern, ast.MatchOr) else [other.pattern]
        values = [pattern.value for pattern in patterns if isinstance(pattern, ast.MatchValue)]
        if len(values) == len(patterns) and (other is case or other.guard is None):
            test = ast.Compare(around.subject, [ast.In()], [ast.Tuple(values, ast.Load())])
            yield ast.fix_missing_locations(ast.copy_location(test, other.pattern)), other is case


def parts_of(test: ast.expr, *, holds: bool) -> Iterator[tuple[ast.expr, bool]]:
    """The parts of a test whose results its own result shows: `a` and `b` of `a and not b`, if it holds."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from parts_of(operand, holds=not holds)
        case ast.BoolOp(op=operator, values=values) if isinstance(operator, ast.And) is holds:
            for value in values:
                yield from parts_of(value, holds=holds)
        case _:
            yield test, holds


def _implied(test: ast.expr, *, holds: bool, objects: bool = False) -> Iterator[tuple[str, bool]]:
    """The names whose truth a test shows; with `objects`, also that of a name that is not None."""
    for part, result in parts_of(test, holds=holds):
        match part:
            case ast.Name(id=name):
                yield name, result
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="strip"), args=[]) if result:
                yield name, True
            case ast.Compare(
                left=ast.Name(id=name), ops=[ast.Is() | ast.IsNot() as operator], comparators=[ast.Constant(value=None)]
            ) if objects:
                yield name, result is isinstance(operator, ast.IsNot)
            case ast.Compare(
                left=ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]),
                ops=[ast.Eq() | ast.NotEq() | ast.Gt() as operator],
                comparators=[ast.Constant(value=0)],
            ):
                yield name, result is not isinstance(operator, ast.Eq)


def _open_part(test: ast.expr, known: dict[str, bool], schemas: Schemas, *, holds: bool) -> ast.expr:
    """The part of a test that alone decides its result, as `b` does in `a or b` if `a` is false; else the test."""
    parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or) is holds else []
    left = [part for part in parts if decided(part, known, schemas) is not (not holds)]
    return left[0] if len(left) == 1 else test


def _compared(test: ast.expr, scope: Scope, *, holds: bool) -> Iterator[tuple[str, set[object], bool]]:
    """The names that a test compares with values, each with the values and whether the name is one of them."""
    for part, result in parts_of(test, holds=holds):
        match part:
            case ast.Compare(left=ast.Name(id=name), ops=[operator], comparators=[right]) if type(operator) in _SAME:
                choices = _values(evaluate(right, scope), among=isinstance(operator, (ast.In, ast.NotIn)))
                if choices is not None:
                    yield name, choices, result is _SAME[type(operator)]


def _values(value: Value, *, among: bool) -> set[object] | None:
    """The constants of which a value is one: itself, or the items of a list or the keys of a table; None if unknown."""
    items: tuple[Value, ...] = (value,)
    if among:
        known = isinstance(value, (Items, Mapping)) and value.complete
        if not known:  # or a text, in which `in` looks for a part
            return None
        items = tuple(key for key, _ in value.items) if isinstance(value, Mapping) else getattr(value, "items", ())
    constants: set[object] = {item.value for item in items if isinstance(item, Const)}
    return constants if all(isinstance(item, Const) for item in items) else None


def decided(test: ast.expr, known: dict[str, bool], schemas: Schemas) -> bool | None:
    """Whether a test holds, as far as the truth of the names in it and the schemas of parameters are known.

    An entry of a parameter has a name such as `params['kind']`.
    """
    match test:
        case ast.Name(id=name):
            values = schemas[name].values if name in schemas else ()
            return True if values and all(values) else known.get(name)
        case ast.Constant():
            return bool(test.value)
        case (
            ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="get"), args=[ast.Constant(value=key), *_])
            | ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=key))
        ):
            # An entry is true or not known, but never known to be false.
            return known.get(f"{name}[{key!r}]") or None
        case ast.Compare(
            left=ast.Constant(value=key), ops=[ast.In() | ast.NotIn() as operation], comparators=[ast.Name(id=name)]
        ) if f"{name}[{key!r}]" in known or not schemas.get(f"{name}." + str(key), _ANYTHING).optional:
            return isinstance(operation, ast.In)
        case (
            ast.Call(func=ast.Name(id="bool"), args=[inner])
            # Behind a refusal of an empty text, no ordinary call has one of blanks.
            | ast.Call(func=ast.Attribute(value=inner, attr="strip"), args=[])
        ):
            return decided(inner, known, schemas)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            verdict = decided(operand, known, schemas)
            return None if verdict is None else not verdict
        case ast.BoolOp(op=operator, values=values):
            results, stops = [decided(value, known, schemas) for value in values], isinstance(operator, ast.Or)
            return stops if stops in results else None if None in results else not stops
        case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=name), kinds]) if name in schemas:
            classes = {kind.id for kind in getattr(kinds, "elts", [kinds]) if isinstance(kind, ast.Name)}
            return True if schemas[name].kind in classes and not schemas[name].optional else None
        case ast.Compare(
            left=ast.Name(id=name),
            ops=[operation],
            comparators=[ast.Constant() | ast.List() | ast.Tuple() | ast.Set() as right],
        ) if name in schemas and schemas[name].values and type(operation) in _SAME:
            among = isinstance(operation, (ast.In, ast.NotIn))
            parts = getattr(right, "elts", [right])
            choices = {part.value if isinstance(part, ast.Constant) else ... for part in parts}
            known_choices = isinstance(right, ast.Constant) is not among and ... not in choices
            matches = {value in choices for value in schemas[name].values} if known_choices else set()
            return matches.pop() is _SAME[type(operation)] if len(matches) == 1 else None
        case ast.Compare(
            left=ast.Name(id=name),
            ops=[ast.Is() | ast.IsNot() | ast.Eq() | ast.NotEq() as operation],
            comparators=[ast.Constant(value=empty)],
        ) if known.get(name) and not empty:
            return not _SAME[type(operation)]
        case ast.Compare(
            left=ast.Name(id=name), ops=[ast.Is() | ast.IsNot() as operation], comparators=[ast.Constant(value=None)]
        ) if name in schemas:
            never = schemas[name].kind in _NEVER_NONE and not schemas[name].optional
            return isinstance(operation, ast.IsNot) if never else None
        case ast.Compare(left=left, ops=[first, *others], comparators=[middle, *right]) if others:
            pair: list[ast.expr] = [ast.Compare(left, [first], [middle]), ast.Compare(middle, others, right)]
            return decided(ast.BoolOp(ast.And(), pair), known, schemas)
        case (
            ast.Compare(left=ast.Name(id=name), ops=[order], comparators=[ast.Constant(value=int() | float() as limit)])
            | ast.Compare(
                left=ast.Constant(value=int() | float() as limit), ops=[order], comparators=[ast.Name(id=name)]
            )
        ) if name in schemas and type(order) in ORDERS:
            is_first = isinstance(test.left, ast.Name)
            ends = [(end, limit) if is_first else (limit, end) for end in schemas[name][2:4]]
            verdicts = {ORDERS[type(order)](*both) for both in ends}
            return verdicts.pop() if len(verdicts) == 1 else None
    return None


def body_of(handler: Handler) -> Body:
    """The body of a handler, built once for all rules."""
    return handler.module.once(("body", handler), lambda: Body(handler))


def inside(node: ast.AST, roots: Sequence[ast.AST]) -> bool:
    """Whether the position of a node lies within one of some other nodes."""
    position = (getattr(node, "lineno", 0), getattr(node, "col_offset", 0))
    return any(
        (getattr(root, "lineno", 0), getattr(root, "col_offset", 0))
        <= position
        < (getattr(root, "end_lineno", 0) or 0, getattr(root, "end_col_offset", 0) or 0)
        for root in roots
    )


def names_of(origin: ast.expr | str, body: Body) -> set[str]:
    """The names that hold the result of a call, or a parameter, a part of it, or something that is computed from it."""
    names: set[str] = {origin} if isinstance(origin, str) else set()
    around = body.around(origin) if isinstance(origin, ast.expr) else set()
    before = -1
    while before != len(names):
        before = len(names)
        for value, stored in body.assignments:
            if value in around or not names.isdisjoint(body.names_in(value)):
                names |= stored
    return names


def callee(node: ast.Call, body: Body) -> str:
    """The qualified name of what a call calls; empty if it is not known."""
    value = body.value(node.func)
    return value.name if isinstance(value, Symbol) else ""


# Exceptions


def origin(name: str | None, ctx: RuleContext, module_name: str) -> str:
    """Where an exception class comes from, by its qualified name, as seen from a module.

    broad: `Exception` and its bases; builtin: the other builtins; framework: mcpcore, the SDK or FastMCP; own: the
    project; upstream: the standard library or a third party; or unknown.
    """
    if name is None:
        return "unknown"
    if name.startswith("builtins."):
        return "broad" if name in _BROAD else "builtin"
    top = name.partition(".")[0]
    if top in FRAMEWORKS or name in FRAMEWORK_ERRORS | PROTOCOL_ERRORS:
        return "framework"
    if top in sys.stdlib_module_names:
        return "upstream"
    known = ctx.project.class_named(name)
    # A class that another file has read by chance is not where an import leads to.
    if top == module_name.partition(".")[0] or (
        known is not None
        and known.module.absolute in (ctx.module.absolute, *ctx.project.dependencies(ctx.module.absolute)[0])
    ):
        return "own"
    return "upstream" if "." in name else "unknown"


def raised_sites(handler: Handler) -> Iterator[ErrorSite]:
    """The errors that may leave the function of the handler that creates them, each once."""
    seen: set[ast.AST] = set()
    escaping = [throw.error for throw in handler.throws if throw.error is not None and throw.escapes]
    for error in (*escaping, *(error for error in handler.errors if error.fate in {"returned", "escapes"})):
        if error.node not in seen:
            seen.add(error.node)
            yield error


# Advice


def where_to(tool: ToolDef, *, what: str = "") -> str:
    """How a tool should fail, as the end of a sentence. mcpcore is named only if the project uses it."""
    if tool.contract is not None:
        return "raise ctx.fail(...) with a declared reason"
    coded = f"a coded error such as {what or 'not_found'}(...)"
    if tool.flavour == "mcpcore":
        return f"raise {coded}"
    advice = framework_of(tool).handling(tool.kind).instead
    return f"{advice}, or raise {coded}" if uses_mcpcore(tool) else advice


def short(name: str) -> str:
    """The last part of a qualified name."""
    return name.rpartition(".")[2]


# Codes and reasons


def codes_of(value: Value) -> tuple[str, ...] | None:
    """The names of the codes that a value may be; None if one of them is not known or does not exist."""
    names: list[str | None] = []
    for option in options(value):
        if isinstance(option, CodeValue):
            names.append(option.name if option.exists else None)
        elif isinstance(option, Const) and isinstance(option.value, int) and not isinstance(option.value, bool):
            names.append(CODES.name_of(option.value))
        else:
            return None
    known = tuple(dict.fromkeys(name for name in names if name is not None))
    return None if None in names else known


def to_be_filled_in(entry: ContractEntry) -> bool:
    """Whether an entry is a generated template, whose recovery another rule reports as missing."""
    return is_placeholder(entry.recovery.value)


# Values


def unpacked(value: Value) -> Value:
    """The argument of `json.dumps(...)` and similar calls; any other value is returned as it is."""
    for _ in range(3):
        if isinstance(value, CallValue) and value.args and value.func.name in _DUMPS:
            value = value.args[0]
    return value


def text_start(value: Value) -> str | None:
    """The beginning of a string, as far as it is known."""
    whole = string(value)
    return value.parts[0] if whole is None and isinstance(value, Text) and value.parts else whole
