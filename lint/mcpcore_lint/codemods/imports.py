"""How a name is spelled in a file, and the edit that imports it if the file does not import it yet."""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING, NamedTuple

from mcpcore_lint.diagnostics import Edit

if TYPE_CHECKING:
    from mcpcore_lint.syntax.module import Module


class Imported(NamedTuple):
    """How a name is spelled in a file, and the edit that imports it if it has to be imported."""

    text: str
    edits: tuple[Edit, ...]


def import_name(module: Module, package: str, name: str) -> Imported:
    """How `package.name` is spelled in a file: as it is imported already, else with a new import."""
    from mcpcore_lint.names import canonical

    wanted = canonical(f"{package}.{name}")
    module.complete()
    bindings = module.scope.bindings
    whole: str | None = None
    for local, ways in bindings.items():
        binding = ways[0]
        # An import below `if TYPE_CHECKING:` or `try:` may not happen.
        if len(ways) > 1 or binding.kind != "import" or binding.target is None or binding.node not in module.tree.body:
            continue
        source, imported, level = binding.target
        if not level and imported is not None and canonical(f"{source}.{imported}") == wanted:
            return Imported(local, ())
        if whole is None and binding.target == (package, None, 0):
            whole = local
    if whole is not None:
        return Imported(f"{whole}.{name}", ())
    taken = name in bindings or any(name in scope.bindings for scope in module.functions.values())
    local = f"{package}_{name}" if taken else name
    return Imported(local, (_import_edit(module, package, f"{name} as {local}" if taken else name),))


def _import_edit(module: Module, package: str, clause: str) -> Edit:
    """Add a name to an import of the file, or an import to the first ones, sorted as ruff and isort do."""
    source, body = module.source, module.tree.body
    for statement in body:
        if isinstance(statement, ast.ImportFrom) and statement.module == package and not statement.level:
            for alias in statement.names:
                if _name_order(clause) < _name_order(alias.name):
                    start, _ = source.node_range(alias)
                    return Edit(start, start, f"{clause}, ")
            if statement.names[-1].name != "*":
                _, end = source.node_range(statement.names[-1])
                return Edit(end, end, f", {clause}")
    line = f"from {package} import {clause}{source.newline}"
    wanted = (_group(package), True, package)
    last = -1
    for index, statement in enumerate(body):
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            order = _import_order(statement)
            if wanted < order and statement.col_offset == 0:
                start, _ = source.node_range(statement)
                return Edit(start, start, line + source.newline * (order[0] > wanted[0]))
        elif index or not isinstance(statement, ast.Expr):
            break  # only a docstring may come before the imports
        last = index
    while 0 <= last < len(body) - 1 and body[last + 1].lineno == body[last].end_lineno:
        last += 1
    if last < 0:
        return Edit(0, 0, line)
    number = body[last].end_lineno or 0
    lead = source.newline * (getattr(body[last], "module", "__future__") == "__future__")
    offset = len(source.text)
    if number < len(source.line_starts):
        offset = source.line_starts[number]
    else:
        lead += source.newline
    return Edit(offset, offset, lead + line)


def _name_order(clause: str) -> tuple[int, str]:
    """The order of names in an import: constants, then classes, then functions."""
    name = clause.partition(" ")[0]
    if name.isupper() and len(name) > 1:
        return (0, name)
    return (1 if name[:1].isupper() else 2, name)


def _import_order(statement: ast.Import | ast.ImportFrom) -> tuple[int, bool, str]:
    if isinstance(statement, ast.Import):
        return (_group(statement.names[0].name), False, statement.names[0].name)
    name = "." * statement.level + (statement.module or "")
    return (_group(name), True, name)


def _group(name: str) -> int:
    """The group of imports that a module belongs to: the future, the standard library, others, the own package."""
    if name == "__future__":
        return 0
    return 3 if name.startswith(".") else 2 - (name.partition(".")[0] in sys.stdlib_module_names)
