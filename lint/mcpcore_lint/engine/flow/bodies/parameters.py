"""Reads the parameters of a handler: arguments from the model, injected values, and the context with its calls."""

import ast
from typing import Final, Literal

from mcpcore_lint.engine.flow.bodies.nodes import BodyNodes
from mcpcore_lint.engine.semantics.annotations import NONE, NamedType
from mcpcore_lint.engine.semantics.evaluate import Resolver, evaluate
from mcpcore_lint.engine.semantics.symbols import is_static
from mcpcore_lint.engine.syntax.parse import all_parameters, defaults_of
from mcpcore_lint.engine.syntax.scopes import Binding, Scope
from mcpcore_lint.model import (
    CallValue,
    Const,
    ContextParameter,
    FunctionNode,
    Missing,
    Parameter,
    Symbol,
    Value,
)

_INJECTING: Final = frozenset(
    {
        "CallArgument", "CurrentAccessToken", "CurrentContext", "CurrentDocket", "CurrentFastMCP", "CurrentHeaders",
        "CurrentRequest", "CurrentWorker", "Depends", "Elicit", "ListRoots", "OptionalCurrentContext", "Progress",
        "Resolve", "Sample", "Shared", "TokenClaim",
    }
)  # fmt: skip
"""Names of markers for values that the framework injects."""


def parameters_of(node: FunctionNode, scope: Scope) -> tuple[tuple[Parameter, ...], ContextParameter | None]:
    """Return the parameters of a function, and its context parameter."""
    args = node.args
    names = all_parameters(args)
    if scope.owner is not None and names and not is_static(node):
        names = names[1:]
    defaults = defaults_of(args)
    context: ContextParameter | None = None
    parameters: list[Parameter] = []
    # Annotations and defaults are evaluated around the function.
    outside = scope.parent or scope.module.scope
    for arg in names:
        kind: Literal["positional", "keyword", "var_positional", "var_keyword"] = "positional"
        if arg is args.vararg:
            kind = "var_positional"
        elif arg is args.kwarg:
            kind = "var_keyword"
        elif arg in args.kwonlyargs:
            kind = "keyword"
        types = Resolver().named_types(arg.annotation, outside)
        taken = _context(arg, types)
        context = context or taken
        default = defaults.get(arg.arg)
        extras = [extra for named in types for extra in named.metadata]
        injected = taken is not None or any(
            isinstance(node, ast.Call) and _injects(node, where) for node, where in [*extras, (default, outside)]
        )
        description = _description(arg, default, extras, outside)
        parameters.append(Parameter(arg.arg, arg, arg.annotation, default, kind, description, injected))
    return tuple(parameters), context


def _context(arg: ast.arg, types: list[NamedType]) -> ContextParameter | None:
    types = [named for named in types if named.name != NONE]
    if len(types) != 1 or types[0].name not in {"mcpcore.Context", "mcp.Context", "fastmcp.Context"}:
        return None
    where = types[0].scope
    argument = next(iter(types[0].arguments), None)
    reasons = Resolver().literal_strings(argument, where) if argument is not None else None
    any_reason = False
    if argument is not None and reasons is None:
        named = Resolver().annotation_symbol(argument, where)
        any_reason = named is not None and named.name in {"typing.Any", "builtins.str", "typing.LiteralString"}
        if named is not None and named.name in {"typing.Never", "typing.NoReturn"}:
            reasons = ()
    return ContextParameter(
        arg.arg,
        arg,
        arg.annotation,
        argument,
        reasons,
        bare=argument is None,
        resolved=argument is None or reasons is not None or any_reason,
        mcpcore=types[0].name == "mcpcore.Context",
    )


def _description(arg: ast.arg, default: ast.expr | None, extras: list[tuple[ast.expr, Scope]], scope: Scope) -> Value:
    """Return the description in the metadata of an annotation, or in a default `Field(...)`."""
    for extra, where in extras:
        value = evaluate(extra, where)
        if isinstance(value, Const) and isinstance(value.value, str):
            return value
        if isinstance(value, CallValue) and value.func.name.rpartition(".")[2] in {"Field", "Doc"}:
            is_doc = value.func.name.endswith("Doc")
            text = value.argument("documentation", 0) if is_doc else value.argument("description")
            if not isinstance(text, Missing):
                return text
    value = evaluate(default, scope) if default is not None else Missing(arg, scope.module)
    if isinstance(value, CallValue) and value.func.name.rpartition(".")[2] == "Field":
        return value.argument("description")
    return Missing(arg, scope.module)


def _injects(call: ast.Call, scope: Scope) -> bool:
    func = evaluate(call.func, scope)
    if not isinstance(func, Symbol) or func.name == "typing.cast":
        value = evaluate(call, scope)
        if not isinstance(value, CallValue):
            return False
        func = value.func
    # For other callees the name is enough: evaluating a long `Field(...)` again would be slow.
    return func.name.rpartition(".")[2] in _INJECTING


_METHODS: Final = frozenset({"fail", "recovery_for", "guard"})
"""Methods of the context that may be assigned to a variable."""


class ContextCalls:
    """Recognizes the context of a function and the calls of its methods."""

    def __init__(self, body: BodyNodes, context: ContextParameter | None) -> None:
        self.body = body
        self.context = context
        self._renamed: dict[str, ast.Attribute] = {}
        """Variables of a context method, as in `fail = ctx.fail`."""
        self._contexts: dict[tuple[Scope, str], bool] = {}
        self._note_names()

    def renamed(self, func: ast.expr) -> ast.expr:
        """Return the context method behind a variable, as in `fail = ctx.fail`; any other expression unchanged."""
        return self._renamed.get(func.id, func) if type(func) is ast.Name else func

    def is_context_call(self, call: ast.Call, method: str) -> bool:
        """Whether a call is of this method of the context, as in `ctx.fail(...)`."""
        func = self.renamed(call.func)
        if type(func) is not ast.Attribute or func.attr != method:
            return False
        return self.is_context(func.value, self.body.scope_at(call))

    def _note_names(self) -> None:
        """Record the variables that hold a context method."""
        for attribute in self.body.attributes:
            if attribute.attr in _METHODS:
                parent = self.body.parents.get(attribute)
                if type(parent) is ast.Assign and len(parent.targets) == 1 and type(parent.targets[0]) is ast.Name:
                    name = parent.targets[0].id
                    bound = self.body.scope_at(attribute).lookup(name)
                    # After another assignment, the name may be anything at the call.
                    if bound is not None and len(bound[1]) == 1:
                        self._renamed[name] = attribute

    def is_context(self, node: ast.expr, scope: Scope) -> bool:
        """Whether an expression is an mcpcore context."""
        if type(node) is not ast.Name:
            return False
        key = (scope, node.id)
        if key not in self._contexts:
            self._contexts[key] = False  # variables may be assigned from one another
            match = scope.lookup(node.id)
            where, bindings = match if match is not None else (scope, [])
            self._contexts[key] = any(self._is_bound_to_context(where, node.id, binding) for binding in bindings)
        return self._contexts[key]

    def _is_bound_to_context(self, where: Scope, name: str, binding: Binding) -> bool:
        if binding.kind != "parameter":
            return binding.value is not None and self.is_context(binding.value, where)
        if where is self.body.scope and self.context is not None and name == self.context.name:
            return self.context.mcpcore
        symbol = Resolver().annotation_symbol(binding.annotation, where.parent or where)
        return symbol is not None and symbol.name == "mcpcore.Context"
