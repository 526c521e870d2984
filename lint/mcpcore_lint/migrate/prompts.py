"""Values that releases refuse: messages that prompts of FastMCP return, and attributes of the protocol's types."""

import ast
from collections.abc import Iterator
from typing import Final

from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.parse import FUNCTIONS, own_nodes, walk
from mcpcore_lint.engine.syntax.scopes import Scope
from mcpcore_lint.migrate.body import classes_of, scope_around
from mcpcore_lint.migrate.model import FAILS, STOPS, Left
from mcpcore_lint.migrate.renames import FASTMCP_3, FIELDS, OF_PROTOCOL, SDK_2
from mcpcore_lint.model import Symbol

_OLD: Final = frozenset({"mcp.types.PromptMessage", "fastmcp.prompts.PromptMessage"})
_DECIDE: Final = "return Message(text, role=...) of fastmcp.prompts instead, or a text"

_NO_FIELD: Final = f"{SDK_2} refuses it; keep it elsewhere, such as in a dict by the name of the object"


def refused(module: Module) -> Iterator[Left]:
    """The lines about attributes that a file sets on objects of the protocol's types, which have no such fields."""
    for node in walk([module.tree]) if module.source.has("mcp") else ():
        match node:
            case ast.Attribute(value=owner, attr=name, ctx=ast.Store()):
                pass
            case ast.Call(func=ast.Name(id="setattr"), args=[owner, ast.Constant(value=str(name)), _]):
                pass
            case _:
                continue
        scope = scope_around(node, module)
        place = scope.lookup(owner.id) if isinstance(owner, ast.Name) else None
        # A name with several values may hold another object there. Private attributes are no fields.
        if name in FIELDS or name.startswith("_") or place is None or len(place[1]) != 1:
            continue
        kinds = classes_of(owner, scope)
        if kinds and all(map(OF_PROTOCOL.fullmatch, kinds)) and not isinstance(evaluate(owner, scope), Symbol):
            pattern = f"the attribute {name} of a {min(kinds).rpartition('.')[2]}, which is no field"
            yield Left(module.path, node.lineno, (), pattern, _NO_FIELD, stops=STOPS)


def refused_messages(module: Module) -> Iterator[Left]:
    """The lines about prompts that return a message of the protocol or a dict, as far as their first."""
    for function, scope in module.functions.items() if module.source.has(".prompt") else ():
        if not isinstance(function, FUNCTIONS) or not _is_prompt(function, scope):
            continue
        returned = (part.value for part in own_nodes(function) if isinstance(part, ast.Return))
        calls = (value.value if isinstance(value, ast.Await) else value for value in returned)
        helpers = [evaluate(call.func, scope) for call in calls if isinstance(call, ast.Call)]
        definitions = (function, *(helper.definition for helper in helpers if isinstance(helper, Symbol)))
        for maker in (part for part in definitions if isinstance(part, FUNCTIONS)):
            home = module.project.module_defining(maker) or module
            parts = [*own_nodes(maker)]
            names = {getattr(part.value, "id", "") for part in parts if isinstance(part, ast.Return)}
            messages = (
                (part.lineno, _message(part, home.functions[maker]))
                for part in parts
                if isinstance(part, ast.expr) and _is_returned(part, names, home)
            )
            line, made = next(filter(lambda message: message[1], messages), (0, ""))
            if made:
                pattern = f"{made} as a message of a prompt, which {FASTMCP_3} refuses"
                yield Left(home.path, line, (function.name,), pattern, _DECIDE, stops=FAILS)


def _is_prompt(function: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> bool:
    makers = [part.func if isinstance(part, ast.Call) else part for part in function.decorator_list]
    servers = [maker.value for maker in makers if isinstance(maker, ast.Attribute) and maker.attr == "prompt"]
    return any("fastmcp.FastMCP" in classes_of(server, scope.parent or scope) for server in servers)


def _is_returned(node: ast.AST, names: set[str], module: Module) -> bool:
    """Whether a function that returns some names returns an expression, alone or in a list."""
    parent = module.parents.get(node)
    match parent:
        case ast.List() | ast.Tuple() | ast.ListComp() | ast.IfExp():
            return _is_returned(parent, names, module)
        case (
            ast.Assign(targets=[ast.Name(id=name)])
            | ast.AnnAssign(target=ast.Name(id=name))
            | ast.AugAssign(target=ast.Name(id=name))
            | ast.Call(func=ast.Attribute(attr="append" | "extend", value=ast.Name(id=name)))
        ):
            return name in names
    return isinstance(parent, ast.Return)


def _message(node: ast.expr, scope: Scope) -> str:
    """How an expression makes a message in a way that only FastMCP 2 took; empty for other expressions."""
    match node:
        case ast.Dict(keys=keys) if {getattr(key, "value", None) for key in keys} == {"role", "content"}:
            return "a dict"
        case ast.Call(func=ast.Name() | ast.Attribute() as func) if getattr(evaluate(func, scope), "name", "") in _OLD:
            return "PromptMessage(...)"
    return ""
