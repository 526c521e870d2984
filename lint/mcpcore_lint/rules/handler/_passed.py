"""What a call shows of the parameters of the function that it runs."""

import ast
from collections.abc import Sequence
from typing import Final, TypeAlias

from mcpcore_lint.engine.registrations.environment import arguments_of
from mcpcore_lint.engine.semantics.evaluate import evaluate, evaluated_with
from mcpcore_lint.engine.syntax.parse import FUNCTIONS
from mcpcore_lint.engine.syntax.scopes import Scope
from mcpcore_lint.model import Const, Handler, Value
from mcpcore_lint.rules._accepted import only
from mcpcore_lint.rules._bodies import Body, body_of, decided
from mcpcore_lint.rules.handler._changes import changes_of

Settings: TypeAlias = "tuple[tuple[str, bool | str | None], ...]"
"""The parameters that a call sets to None, to a bool or to a text, and which may switch branches.

A parameter `**kwargs` has the names of its keywords.
"""


_DISPLAYS: Final = (ast.List, ast.Tuple, ast.Set)
TRUE: Final = "<true>"
"""The setting of an argument that is not empty, but otherwise unknown."""


def settings_of(function: Handler, args: Sequence[Value], keywords: dict[str, Value], *, complete: bool) -> Settings:
    """Read the settings of one call, including those that it leaves at their defaults."""
    scope = function.module.scope_of(function.node)
    positional = [parameter.name for parameter in function.parameters if parameter.kind == "positional"]
    passed = {**dict(zip(positional, args, strict=False)), **keywords}
    settings: list[tuple[str, bool | str | None]] = []
    for parameter in function.parameters if complete else ():
        value = passed.get(parameter.name)
        if value is None and parameter.default is not None:
            value = evaluate(parameter.default, scope.parent or function.module.scope)
        is_rebound = len(scope.bindings.get(parameter.name, ())) > 1
        constant = value.value if isinstance(value, Const) and not is_rebound else ...
        if constant is None or isinstance(constant, (bool, str)):
            is_plain = not isinstance(constant, str) or not constant or _is_compared(parameter.name, function)
            settings.append((parameter.name, constant if is_plain else TRUE))
        is_kept = not is_rebound and parameter.kind == "var_keyword"
        if is_kept and not [*changes_of(parameter.name, body_of(function))]:
            others = passed.keys() - {known.name for known in function.parameters}
            settings.append((f"**{parameter.name}", " ".join(sorted(others))))
    return tuple(settings)


def _is_compared(name: str, function: Handler) -> bool:
    """Whether a function compares a parameter with texts, so that what a call passes decides which branch runs."""
    compared = function.module.once(
        ("compared", function.node),
        lambda: (
            {
                part.left.id
                for part in body_of(function).all(ast.Compare)
                if isinstance(part.left, ast.Name) and isinstance(part.comparators[0], (ast.Constant, *_DISPLAYS))
            }
            | {getattr(part.subject, "id", "") for part in body_of(function).all(ast.Match)}
        ),
    )
    return name in compared


def constants(settings: Settings, function: Handler) -> dict[str, Value]:
    """The settings as values of the parameters."""
    return {name: Const(function.node, function.module, value) for name, value in settings if value is not TRUE}


def evaluate_with(arguments: dict[str, Value], node: ast.expr, scope: Scope) -> Value:
    """The value of an expression of a function that gets some arguments."""
    return evaluated_with(arguments, scope, lambda resolver: resolver.expression(node, scope))


def holds(test: ast.expr, settings: dict[str, bool | str | None]) -> bool | None:
    """Whether a condition holds for some settings; None if they do not decide it."""
    schemas = {name: only(value) for name, value in settings.items() if value is not TRUE and not name.endswith("]")}
    return decided(test, {name: bool(value) for name, value in settings.items()}, schemas)


def _passed(call: ast.Call, model: Handler) -> dict[str, ast.expr]:
    """The arguments of a call by the parameters that get them, without those that the function assigns again."""
    scope = model.module.scope_of(model.node)
    bound_first = scope.owner is not None and isinstance(call.func, ast.Attribute)
    passed = arguments_of(model.node, call, bound_first=bound_first) if isinstance(model.node, FUNCTIONS) else {}
    return {
        parameter: argument
        for parameter, argument in passed.items()
        if [binding.kind for binding in scope.bindings[parameter]] == ["parameter"]
    }


def entries_passed(call: ast.Call, model: Handler, true: set[str], body: Body) -> Settings:
    """The entries of the dicts that a call passes: those that the caller always makes, and neither function changes.

    An entry that is a parameter whose missing value the caller has refused is true, and others are not known.
    """
    bindings = body.scope(call).bindings
    entries: dict[str, str | None] = {}
    for parameter, argument in _passed(call, model).items():
        kept = bindings.get(getattr(argument, "id", ""), [])
        made = kept[0].value if [at.kind for at in kept] in (["assign"], ["annotated"]) else argument
        if not isinstance(made, ast.Dict) or not all(isinstance(key, ast.Constant) for key in made.keys):
            continue
        changed = [*changes_of(getattr(argument, "id", ""), body, argument), *changes_of(parameter, body_of(model))]
        for key, value in zip(made.keys, made.values, strict=True) if None not in changed else ():
            text, name = ast.unparse(key) if key is not None else "", getattr(value, "id", "")
            is_true = name in true and [at.kind for at in bindings.get(name, ())] == ["parameter"]
            entries[f"{parameter}[{text}]"] = TRUE if is_true and text not in changed else None
    return (*entries.items(),)
