"""The values that reach code: those that the schema of a tool allows, and those that all callers pass.

The framework refuses a call with any other value than those of the schema.
"""

import ast
import math
import operator
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Any, Final, NamedTuple

from mcpcore_lint.engine.registrations.callers import all_callers_of, callers_of
from mcpcore_lint.engine.registrations.environment import arguments_of
from mcpcore_lint.engine.semantics.annotations import NONE, NamedType
from mcpcore_lint.engine.semantics.evaluate import Resolver, evaluate
from mcpcore_lint.engine.semantics.symbols import class_round, last_name
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.parse import all_parameters, children, defaults_of, walk
from mcpcore_lint.engine.syntax.scopes import Binding, Scope
from mcpcore_lint.model import Const, FunctionNode, Handler, Items, Mapping, Served, ToolDef, Value, string
from mcpcore_lint.rule import RuleContext

# The classes of the values that a JSON schema allows. A number may be an int or a float.
_KINDS: Final = {"string": "str", "integer": "int", "boolean": "bool", "array": "list", "object": "dict"}
_OF_ALL: Final = "schemas", None
_WRITES: Final = frozenset({"update", "setdefault", "append", "extend", "insert"})
_CHANGES: Final = frozenset({"strip", "lower", "upper", "casefold"})  # change a text in the same way each time


class Accepted(NamedTuple):
    """The values of which a value is one, if there are any; its class; its bounds; whether it may be missing.

    The class has its name in lower case. A union, such as `list[str] | None`, has none.
    """

    values: frozenset[object]
    kind: str = ""
    least: float = -math.inf
    most: float = math.inf
    optional: bool = False


Schemas = dict[str, Accepted]

ORDERS: Final[dict[type[ast.cmpop], Callable[[float, float], bool]]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge
}  # fmt: skip


def of_annotations(scope: Scope, function: FunctionNode) -> Schemas:
    """What the schema that the framework makes of the annotations allows for each parameter of a handler."""
    schemas: Schemas = {}
    defaults = defaults_of(function.args)
    for name, bindings in scope.bindings.items():
        types = _types(bindings, scope)
        kinds = [named for named in types if named.name != NONE]
        default = defaults.get(name)
        in_fields = [part for named in types for part, _ in named.metadata if last_name(part) == "Field"]
        # The framework does not compare the default of `kind: str = None` with the schema.
        optional = len(kinds) < len(types) or getattr(default, "value", ...) is None
        if not types or not all(_is_of_schema(part, optional=optional) for part in (default, *in_fields)):
            continue
        choices = kinds[0].arguments if [named.name for named in kinds] == ["typing.Literal"] else []
        values = frozenset(part.value for part in choices if isinstance(part, ast.Constant))
        # `Literal[Mode, "all"]` has choices that are written elsewhere.
        if len(values) != len(choices):
            values = frozenset()
        elif values and optional:
            values |= {None}
        kind = kinds[0].name.rpartition(".")[2].lower() if len(kinds) == 1 else ""
        schemas[name] = Accepted(values, kind, optional=optional)
    return schemas


def of_literals(function: Handler) -> Schemas:
    """What the annotations of a function that is no handler say of parameters that are one of some literals."""
    is_used = function.module.source.has("Literal")
    schemas = of_annotations(function.module.scope_of(function.node), function.node) if is_used else {}
    return {name: accepted for name, accepted in schemas.items() if accepted.values}


def _types(bindings: Sequence[Binding], scope: Scope) -> list[NamedType]:
    """The types of a parameter, or those of the items of one over which a `for` goes."""
    match bindings:
        case [Binding(kind="parameter", annotation=annotation)]:
            return Resolver().named_types(annotation, scope.parent or scope)
        case [
            Binding(
                node=ast.For(
                    target=ast.Name(),
                    iter=ast.Name(id=held) | ast.BoolOp(op=ast.Or(), values=[ast.Name(id=held), ast.List(elts=[])]),
                )
            )
        ] if held not in _changed(scope):
            match [named for named in _types(scope.bindings.get(held, []), scope) if named.name != NONE]:
                case [NamedType(name="builtins.list" | "typing.List", arguments=[items], scope=around)]:
                    return Resolver().named_types(items, around)
    return []


def _is_of_schema(default: ast.expr | None, *, optional: bool) -> bool:
    """Whether a default is missing or certainly of the schema, with which the framework does not compare it."""
    return default is None or (
        all(
            _is_of_schema(part, optional=optional)
            for part in (*default.args, *(part.value for part in default.keywords if part.arg == "default"))
        )
        if isinstance(default, ast.Call) and last_name(default) == "Field"
        else isinstance(default, ast.Constant) and (optional or default.value is not None)
    )


def of_tool(
    tool: ToolDef, handler: Handler, ctx: RuleContext, *, served: tuple[ast.expr, Served] | None = None
) -> Schemas:
    """What the schema of a low-level tool, with which the SDK checks a call, allows for `parameter.property`.

    That is the only schema in the class whose method the handler is, or else the only one with the tool's name. If the
    handler is the dispatcher itself, `served` is the tool.
    """
    routes = (
        [served]
        if served is not None
        else [
            (other.registration, route)
            for other in ctx.tools
            for route in other.serves
            if route.handler is not None and route.handler.node is handler.node
        ]
    )
    # Two tools with one function have two schemas, and `validate_input=False` turns the check off.
    if len({string(route.name) for _, route in routes}) != 1 or not all(
        isinstance(call, ast.Call) and last_name(call.func) == "call_tool" and not call.keywords for call, _ in routes
    ):
        return {}
    owner = class_round(handler.module.scope_of(handler.node))
    name = string(routes[0][1].name)
    inside = _schemas_in([(owner.node, owner.body_scope)], owner.module, owner.node) if owner is not None else {}
    schemas = [schema for key in {None, name} for schema in inside.get(key, ())]
    if len(schemas) != 1:
        is_known = _OF_ALL in tool.module.memo
        modules = () if is_known else ctx.project.modules_with(tool.module, lambda text: "inputSchema" in text) or ()
        named = _schemas_in([(part.tree, part.scope) for part in modules], tool.module)
        schemas = named.get(name, []) if name is not None else []
    table = _plain(evaluate(*schemas[0])) if len(schemas) == 1 else ...
    properties, required = (
        (table.get(key, ...) for key in ("properties", "required")) if isinstance(table, dict) else (..., ...)
    )
    return {
        f"{holder}.{key}": Accepted(
            frozenset(enum) if isinstance(enum := fields.get("enum"), tuple) and ... not in enum else frozenset(),
            _KINDS.get(str(fields.get("type")), ""),
            fields["minimum"] if isinstance(fields.get("minimum"), (int, float)) else -math.inf,
            fields["maximum"] if isinstance(fields.get("maximum"), (int, float)) else math.inf,
            not (isinstance(required, tuple) and key in required),
        )
        for key, fields in (properties.items() if isinstance(properties, dict) else ())
        if isinstance(fields, dict)
        for holder in _holders(handler, [route for _, route in routes])
    }


def of_node(node: ast.AST, function: Handler, tool: ToolDef, ctx: RuleContext) -> Schemas:
    """What the schema of the tool allows for which a node of a function runs: of the only one in a dispatcher."""
    served = [
        (registration, route)
        for registration, route in _served_at(node, function.module.scope_of(function.node), tool, ctx)
        if route.inside.node is function.node
    ]
    return of_tool(tool, function, ctx, served=served[0] if len(served) == 1 else None)


def _holders(handler: Handler, routes: Sequence[Served]) -> set[str]:
    """The parameters that hold the arguments of a call: `**kwargs`, and those that get the dispatcher's on the way."""
    holders = {handler.node.args.kwarg.arg} if handler.node.args.kwarg is not None else set[str]()
    for route in routes:
        way = [*route.way, *([(route.inside, route.call)] if route.inside.node is not handler.node else [])]
        functions = [*(function for function, _ in way), handler]
        theirs = {parameter.arg for parameter in all_parameters(functions[0].node.args)}
        for (function, call), following in zip(way, functions[1:], strict=True):
            theirs -= _changed(function.module.scope_of(function.node))
            bound_first = following.module.scope_of(following.node).owner is not None
            passed = arguments_of(following.node, call, bound_first=bound_first) if call is not None else {}
            wholes = (  # of `arguments or {}`
                (name, argument.values[0] if isinstance(argument, ast.BoolOp) else argument)
                for name, argument in passed.items()
            )
            theirs = {name for name, whole in wholes if getattr(whole, "id", "") in theirs}
        holders |= theirs
    return holders - _changed(handler.module.scope_of(handler.node))


def _changed(scope: Scope) -> frozenset[str]:
    """The names of what a function gives other values: `arguments["mode"] = "other"`, `arguments.update(...)`.

    `arguments = arguments or {}` changes nothing.
    """
    return scope.module.once(
        ("changed", scope.node),
        lambda: frozenset(
            getattr(part.value, "id", "")
            for part in walk([scope.node])
            if (isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store))
            or (isinstance(part, ast.Attribute) and part.attr in _WRITES)
        ).union(
            name
            for name, (first, *others) in scope.bindings.items()
            if first.kind == "parameter" and not all(isinstance(other.value, ast.BoolOp) for other in others)
        ),
    )


def passed_to(function: Handler, tool: ToolDef, ctx: RuleContext) -> Schemas:
    """What the parameters of a function may be: each call passes a constant, or what the schema of a tool allows."""
    return tool.module.once(("passed", function.node), lambda: _passed_to(function, tool, ctx))


def _passed_to(function: Handler, tool: ToolDef, ctx: RuleContext) -> Schemas:
    known: list[dict[str, Accepted | None]] = []
    is_served = any(other.serves for other in ctx.tools)
    inside = function.module.scope_of(function.node)
    for called, call, scope in callers_of(inside) or ():
        arguments = arguments_of(called.function, call, bound_first=called.bound_first)
        served = [*_served_at(call, scope, tool, ctx)] if is_served else []
        for registration, route in served:
            if route.handler is not None and scope.node is route.handler.node is not route.inside.node:
                # A function that serves one tool, and nothing else, passes on what the schema of this tool allows.
                others = [where for *_, where in callers_of(scope) or () if where.node is not route.inside.node]
                properties = {} if others else of_tool(tool, route.handler, ctx)
            else:
                properties = of_tool(tool, route.inside, ctx, served=(registration, route))
            held = of_names({}, properties, scope)
            known.append({key: _passed(argument, held, properties, scope) for key, argument in arguments.items()})
        if not served:
            typed = [other for other in ctx.tools if other.handler.node is scope.node and other.flavour != "lowlevel"]
            annotated = of_names(of_annotations(scope, typed[0].handler.node), {}, scope) if typed else {}
            known.append({key: _passed(argument, annotated, {}, scope) for key, argument in arguments.items()})
    merged = ((key, reduce(either, (values.get(key) for values in known))) for key in (known[0] if known else ()))
    passed = {key: value for key, value in merged if value is not None}
    # Whether there are other calls takes longer to know.
    return passed if passed and all_callers_of(inside) else {}


def _passed(argument: ast.expr, parameters: Schemas, properties: Schemas, scope: Scope) -> Accepted | None:
    """The values that an argument of a call may have; None if they are not known."""
    if isinstance(argument, ast.Constant):
        return only(argument.value)
    return accepted(argument, parameters, properties, scope)


def only(value: object) -> Accepted:
    """What accepts one value alone."""
    least, most = (value, value) if isinstance(value, (int, float)) else (math.inf, -math.inf)
    return Accepted(frozenset({value}), type(value).__name__, least, most, optional=value is None)


def _served_at(node: ast.AST, scope: Scope, tool: ToolDef, ctx: RuleContext) -> Iterator[tuple[ast.expr, Served]]:
    """The tools for which a node of a dispatcher runs, each with its registration."""
    memo = tool.module.memo
    if "served" not in memo:
        dispatchers = memo["served"] = dict[Any, list[Any]]()
        for other in ctx.tools:
            for route in other.serves:
                served = other.registration, route, frozenset(route.elsewhere)
                dispatchers.setdefault(route.inside.node, []).append(served)
                if route.handler is not None and route.handler.node is not route.inside.node:
                    dispatchers.setdefault(route.handler.node, []).append((other.registration, route, frozenset()))
        memo["branches"] = {
            node: frozenset[Any]().union(*(elsewhere for *_, elsewhere in routes))
            for node, routes in dispatchers.items()
        }
    # Each tool has the lines of all others, so only those around the node are compared.
    line = getattr(node, "lineno", 0)
    around = {lines for lines in memo["branches"].get(scope.node, ()) if lines[0] <= line <= lines[1]}
    for registration, route, elsewhere in memo["served"].get(scope.node, ()):
        if around.isdisjoint(elsewhere):
            yield registration, route


def _plain(value: Value) -> Any:
    """The value as Python has it, with a tuple for a list and an ellipsis for what is not known."""
    if isinstance(value, Mapping):
        return {string(key): _plain(item) for key, item in value.items}
    if isinstance(value, Items):
        return (
            *(_plain(item) if isinstance(item, Const) else ... for item in value.items),
            *(...,) * (not value.complete),
        )
    return value.value if isinstance(value, Const) else ...


def _schemas_in(
    places: Sequence[tuple[ast.AST, Scope]], module: Module, owner: ast.ClassDef | None = None
) -> dict[str | None, list[tuple[ast.expr, Scope]]]:
    """The schemas of objects in some code, by the tool's name or None: `Tool(name="find", inputSchema={...})`.

    They are looked for once for each class, and once for all files.
    """
    memo, key = module.memo, ("schemas", owner)
    stack: list[tuple[ast.AST, Scope, ast.expr | None]] = [] if key in memo else [(*place, None) for place in places]
    schemas: dict[str | None, list[tuple[ast.expr, Scope]]] = memo.setdefault(key, {})
    while stack:
        node, scope, name = stack.pop()
        pairs = zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else ()
        fields = {getattr(key, "value", None): value for key, value in pairs}
        fields |= {word.arg: word.value for word in getattr(node, "keywords", ()) if isinstance(node, ast.Call)}
        schema, name = fields.get("inputSchema"), fields.get("name", name)
        if schema is None or ast.unparse(schema).startswith(("self.", "cls.")):  # which the class has elsewhere
            schema = node if isinstance(node, ast.Dict) and "properties" in fields else None
        if schema is not None:
            known = string(evaluate(name, scope)) if name is not None else None
            schemas.setdefault(known, []).append((schema, scope))
        elif "output" not in str(getattr(node, "name", getattr(getattr(node, "targets", [node])[0], "id", ""))):
            stack += ((child, scope, name) for child in children(node))
    return schemas


def of_names(parameters: Schemas, properties: Schemas, scope: Scope) -> Schemas:
    """What the parameters and the names that are made of them may be, where they get no other value.

    The properties are those of a low-level tool, whose handler takes them from a parameter.
    """
    known: dict[str, Accepted | None] = {}
    for name, (first, *others) in scope.bindings.items():
        values = (
            parameters.get(name)
            if first.kind in {"parameter", "opaque"}
            else accepted(first.value, parameters, properties, scope)
        )
        for other in others:  # such as `mode = mode.lower()`
            values = values and either(values, accepted(other.value, {name: values}, properties, scope))
        known[name] = values
    return {name: values for name, values in known.items() if values is not None}


def accepted(node: ast.expr | None, parameters: Schemas, properties: Schemas, scope: Scope) -> Accepted | None:
    """The values that an expression made of parameters or of properties may have; None if they are not known."""
    match node:
        case ast.Name(id=name):
            return parameters.get(name)
        case ast.Subscript(value=ast.Name(id=held), slice=ast.Constant(value=str(key))) if (
            f"{held}.{key}" in properties
        ):
            return properties[f"{held}.{key}"]._replace(optional=False)
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id=held), attr="get"), args=[ast.Constant(value=str(key)), *rest]
        ) if f"{held}.{key}" in properties:
            schema = properties[f"{held}.{key}"]
            default = evaluate(rest[0], scope) if rest else Const(node, scope.module, None)
            if not schema.optional or not isinstance(default, Const):
                return None if schema.optional else schema
            return either(schema._replace(optional=False), only(default.value))
        case ast.Call(func=ast.Attribute(value=inner, attr=change), args=[]) if change in _CHANGES:
            whole = accepted(inner, parameters, properties, scope)
            values = whole.values if whole is not None else frozenset[object]()
            known = all(isinstance(text, str) for text in values)
            return Accepted(frozenset(getattr(text, change)() for text in values if known), "str")
        case ast.Call(func=ast.Name(id=kind) as made, args=[inner]):  # `int(...)` keeps what is an integer
            whole = accepted(inner, parameters, properties, scope)
            members = _plain(Resolver().members(evaluate(made, scope)))
            if whole is not None and whole.values and isinstance(members, tuple) and whole.values <= {*members}:
                return Accepted(frozenset())  # `Mode(...)` makes a member of what is a member's value
            return whole if whole is not None and whole.kind == kind and not whole.optional else None
        case ast.BoolOp(op=ast.Or(), values=[inner, other]):
            whole = accepted(inner, parameters, properties, scope)
            never_false = whole is not None and bool(whole.values) and all(whole.values)
            true = whole and whole._replace(values=frozenset(filter(None, whole.values)), optional=False)
            return true if never_false else either(true, _passed(other, parameters, properties, scope))
    return None


def either(first: Accepted | None, second: Accepted | None) -> Accepted | None:
    """The values of two expressions, of which one is used; None if those of one are not known."""
    kinds = {side.kind for side in (first, second) if side is not None} - {"NoneType"}
    return (first and second) and Accepted(
        first.values | second.values if first.values and second.values else frozenset(),
        kinds.pop() if len(kinds) == 1 else "",
        min(first.least, second.least),
        max(first.most, second.most),
        first.optional or second.optional,
    )
