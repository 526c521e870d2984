"""What a call shows of the parameters of the function that it runs, and of the object whose method that is."""

import ast
from collections.abc import Iterator

from mcpcore_lint.engine.registrations.environment import FUNCTIONS, arguments_of, assignments_of
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.semantics.symbols import class_info
from mcpcore_lint.engine.syntax.scopes import Scope
from mcpcore_lint.model import Handler, Symbol
from mcpcore_lint.rules._bodies import Body, body_of, root_of
from mcpcore_lint.rules.handler._failures import TRUE, Settings


def attributes_made(call: ast.Call, scope: Scope, true: set[str]) -> Settings:
    """The attributes of the object of a method that its constructor sets, if it gets an argument that is known.

    The caller has refused a missing one, so that the object is as it should be.
    """
    held = call.func.value if isinstance(call.func, ast.Attribute) else call.func
    values = [held, *(value for value, where in assignments_of(held, scope) if where is scope)]
    made = [value for value in values if isinstance(value, ast.Call)]
    known = [value for value in made for part in (*value.args, *(keyword.value for keyword in value.keywords))
             if getattr(part, "id", "") in true]  # fmt: skip
    model = evaluate(known[0].func, scope) if known else None
    info = class_info(model) if isinstance(model, Symbol) else None
    attributes = info.instance_attributes.items() if info is not None else ()
    return tuple(
        (f"self.{name}", TRUE)
        for name, values in attributes
        if any(value is not None and not isinstance(value, ast.Constant) for _, value, _ in values)
    )


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


def truths_passed(call: ast.Call, model: Handler, true: set[str]) -> Settings:
    """What is true of the parameters of a function, since the caller has found it true of the same values.

    What is true of `title.strip()` is true of a parameter that gets it, also if the function strips the text again.
    """
    truths: list[str] = []
    for parameter, argument in _passed(call, model).items():
        name = root_of(argument)
        held = ast.unparse(argument) if name else ""
        spellings = {name: [parameter], f"{name}.strip()": [parameter, f"{parameter}.strip()"]}.get(held, [])
        rests = [text.removeprefix(held) for text in sorted(true) if text == held or text.startswith(f"{held}.")]
        truths += (spelling + rest for spelling in spellings for rest in rests)
    return tuple((truth, TRUE) for truth in truths)


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


def changes_of(name: str, body: Body, passed: ast.expr | None = None) -> Iterator[str | None]:
    """The constant keys that a function sets in a dict, and None for a use that may change the dict otherwise."""
    for use in body.all(ast.Name):
        if use.id == name and use is not passed:
            match body.parents.get(use):
                case ast.Subscript(slice=ast.Constant() as key, ctx=ast.Store()):
                    yield ast.unparse(key)
                case ast.Subscript(ctx=ast.Load()) | ast.Attribute(attr="get") | ast.Compare() | ast.FormattedValue():
                    pass
                case ast.keyword(arg=None):  # `**table` is a copy
                    pass
                case _ if isinstance(use.ctx, ast.Load):
                    yield None
