"""Servers of FastMCP: the middleware of mcpcore, and what undoes it."""

import ast
import re
from collections.abc import Collection, Iterable, Iterator
from typing import Final

from mcpcore_lint.codemods import edits as codemods
from mcpcore_lint.diagnostics import Edit
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.semantics.type_model import definition_of, name_of
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.parse import all_parameters
from mcpcore_lint.migrate.contracts import Names
from mcpcore_lint.migrate.model import Left
from mcpcore_lint.migrate.server import TEXTS
from mcpcore_lint.model import CallValue, Symbol

_MASKS: Final = "mask_error_details"
_INTEGRATION: Final = "mcpcore.integrations.fastmcp"
_MIDDLEWARE: Final = "ContractMiddleware"
_UNDOING: Final = {
    "RetryMiddleware": "remove it, and add ContractMiddleware() as the first middleware",
    "ErrorHandlingMiddleware": "write transform_errors=False, and add ContractMiddleware() as the first middleware",
}
"""Middleware of FastMCP beside which `ContractMiddleware` refuses to serve, and what to do."""


def _undoes(call: ast.Call, made: object, name: str) -> bool:
    if not (isinstance(made, Symbol) and made.name.startswith("fastmcp.") and made.name.endswith(f".{name}")):
        return False
    option = next((keyword.value for keyword in call.keywords if keyword.arg == "transform_errors"), None)
    return not (isinstance(option, ast.Constant) and option.value is False)


def _inserted(module: Module, statement: ast.stmt, server: str, made: str) -> tuple[Edit, ...]:
    """A line behind a statement that makes a server, if nothing else is on its last line."""
    source, last = module.source, statement.end_lineno or statement.lineno
    line, end = source.line(statement.lineno), source.node_range(statement)[1]
    rest = source.text[end:].partition("\n")[0].strip()
    # Another statement on the line would come between, and a last line may have no end to insert behind.
    if (rest and not rest.startswith("#")) or last == len(source.line_starts):
        return ()
    indent = line[: len(line) - len(line.lstrip(" \t"))]
    place = source.line_starts[last]
    return (Edit(place, place, f"{indent}{server}.middleware.insert(0, {made}){source.newline}"),)


def mounted_servers(modules: Iterable[Module]) -> set[ast.AST]:
    """The calls that make a server which another one mounts, whose middleware covers it, and which no file runs."""
    mounted: set[ast.AST] = set()
    for module in modules:
        for call, scope in module.calls_near("mount(", "import_server("):
            value = evaluate(call.args[0], scope) if call.args else None
            if isinstance(value, CallValue) and value.module is not None and not value.module.source.has("run"):
                mounted |= {value.node} if value.node is not None else set()
    return mounted


def doubles(module: Module) -> Iterator[Left]:
    """The classes and functions by which a test replaces FastMCP, and that know of no middleware."""
    for call, scope in module.calls_near("FastMCP"):
        values = [*call.args, *(keyword.value for keyword in call.keywords)]
        named = any(isinstance(value, ast.Constant) and str(value.value).endswith("FastMCP") for value in values)
        for value in values if named else ():
            definition = definition_of(value, scope) if isinstance(value, ast.Name) else None
            if definition is not None and "middleware" not in ast.unparse(definition):
                pattern = f"{getattr(value, 'id', '')} replaces FastMCP"
                yield Left(
                    module.path, call.lineno, (), pattern, "let it take middleware=, and have a list of that name"
                )


def plan_middleware(module: Module, mounted: Collection[ast.AST] = ()) -> tuple[list[Edit], list[Left]]:
    """The edits that add `ContractMiddleware` to the servers that a file makes, without those that others mount."""
    if module.source.has(_MIDDLEWARE) or not module.source.has("FastMCP"):
        return [], []
    names = Names(module)
    edits: list[Edit] = []
    left = [
        Left(module.path, call.lineno, (), f"{name} undoes contracts", advice)
        for name, advice in _UNDOING.items()
        for call, scope in module.calls_near(f"{name}(")
        if _undoes(call, evaluate(call.func, scope), name)
    ]
    if left:
        return [], left
    for call, scope in module.calls_near("FastMCP("):
        if name_of(call.func, scope) != "fastmcp.FastMCP" or call in mounted:
            continue
        # The server may mask the texts of exceptions, also by options that the file has elsewhere.
        keys = {keyword.arg for keyword in call.keywords}
        masks = _MASKS in keys or (None in keys and module.source.has(_MASKS))
        made = f"{names.spell(_INTEGRATION, _MIDDLEWARE)}({'' if masks else TEXTS})"
        new: tuple[Edit, ...] = ()
        if keys.isdisjoint({None, "middleware"}):
            new = (codemods.add_argument(module, call, f"middleware=[{made}]"),)
        for keyword in call.keywords:
            match keyword:
                case ast.keyword(arg="middleware", value=ast.List(elts=[first, *_]) as written):
                    start, end = (module.source.node_range(part)[0] for part in (written, first))
                    gap = module.source.text[start + 1 : end]
                    # Above the comment of the first one.
                    lines = re.match(r"[^\n]*\n\s*", gap)
                    place = start + 1 + lines.end() if lines else end
                    below = module.source.newline + gap.rpartition("\n")[2] if lines else " "
                    new = (Edit(place, place, f"{made},{below}"),)
        match module.parents.get(call):
            case ast.Assign(targets=[(ast.Name() | ast.Attribute()) as target]) as statement if not new:
                new = _inserted(module, statement, module.source.segment(target), made)
        edits += new
        if not new:
            pattern, decide = "the middleware of the server", f"add {made} as its first middleware"
            left.append(Left(module.path, call.lineno, (), pattern, decide))
    for info in module.classes.values():
        bases = [evaluate(base, module.scope) for base in info.node.bases]
        if any(isinstance(base, Symbol) and base.name == "fastmcp.FastMCP" for base in bases):
            method = info.methods.get("__init__")
            parts = method.body if method is not None else []
            called = next((part for part in parts if ast.unparse(part).startswith("super().__init__(")), None)
            if method is not None and called is not None:
                made = f"{names.spell(_INTEGRATION, _MIDDLEWARE)}({TEXTS})"
                new = _inserted(module, called, all_parameters(method.args)[0].arg, made)
                edits += new
                if new:
                    continue
            pattern = "a subclass of FastMCP"
            decide = f"add ContractMiddleware({TEXTS}) as the first middleware of its objects"
            left.append(Left(module.path, info.node.lineno, (), pattern, decide))
    if edits:
        edits += names.edits({(_INTEGRATION, _MIDDLEWARE)})
    return edits, left
