"""How a name is spelled in a file, and where the file imports it if it does not yet."""

from __future__ import annotations

import ast
import re
import sys
from typing import TYPE_CHECKING, Final, NamedTuple

from mcpcore_lint.diagnostics import Change, Edit
from mcpcore_lint.patterns import regex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mcpcore_lint.syntax.module import Module
    from mcpcore_lint.syntax.source import Source

_FILE_HEAD: Final = regex(r"\A#!|coding[:=]|copyright|licen[cs]e|SPDX-", re.IGNORECASE)
"""What comments at the top of a file are about: how to run it, its encoding, its licence."""


class Imported(NamedTuple):
    """How a name is spelled in a file, and the change that imports it if it has to be imported."""

    text: str
    edits: tuple[Change, ...]


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
    clause = f"{name} as {local}" if taken else name
    return Imported(local, (Change("import_name", 0, 0, (package, clause)),))


def place_imports(source: Source, tree: ast.Module, imports: Iterable[Sequence[str]]) -> Iterator[Change | Edit]:
    """The changes that import names, each given as a package and a clause: in imports that exist, or new ones."""
    import libcst

    from mcpcore_lint.codemods.transformations import import_rank

    packages: dict[str, list[str]] = {}
    for package, clause in dict.fromkeys((package, clause) for package, clause in imports):
        packages.setdefault(package, []).append(clause)
    new: dict[tuple[int, str, str], list[str]] = {}
    for package in sorted(packages, key=lambda name: (not _standard(name), name)):
        clauses = sorted(packages[package], key=import_rank)
        existing = next((each for each in tree.body if _imports_from(each, package)), None)
        if existing is not None:
            yield Change("import_names", *source.node_range(existing), tuple(clauses))
            continue
        statement = libcst.parse_statement(f"from {package} import {', '.join(clauses)}")
        line = libcst.Module([]).code_for_node(statement).rstrip("\n")
        new.setdefault(_place(source, tree.body, package), []).append(line)
    for (offset, lead, tail), lines in new.items():
        separator = "; " if lead == "; " else source.newline
        yield Edit(offset, offset, f"{lead}{separator.join(lines)}{tail}")


def _imports_from(statement: ast.stmt, package: str) -> bool:
    return (
        isinstance(statement, ast.ImportFrom)
        and statement.module == package
        and not statement.level
        and all(alias.name != "*" for alias in statement.names)
    )


def _place(source: Source, body: Sequence[ast.stmt], package: str) -> tuple[int, str, str]:
    """Where a new import goes: its offset, and what comes before and after it there."""
    newline, starts = source.newline, source.line_starts
    docstring = bool(body) and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    rest = body[1:] if docstring else body
    imports: list[ast.Import | ast.ImportFrom] = []
    for statement in rest:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            imports.append(statement)
        elif imports:
            break
    if (place := _among_standard(source, imports, package)) is not None:
        return place
    if not imports:
        if docstring:
            after = body[0].end_lineno or 1
            offset = starts[after] if after < len(starts) else len(source.text)
            lead = "" if source.text[:offset].endswith(("\n", "\r")) else newline
            return offset, f"{lead}{newline}", newline
        if not body:
            return len(source.text), "", newline
        decorators: list[ast.expr] = getattr(body[0], "decorator_list", [])
        line = min([body[0].lineno, *(each.lineno for each in decorators)])
        return starts[line - 1], "", newline * 3
    anchor = imports[-1]
    after = anchor.end_lineno or anchor.lineno
    _, end = source.node_range(anchor)
    behind = source.text[end : starts[after] if after < len(starts) else len(source.text)].strip()
    if behind and not behind.startswith("#"):
        return end, "; ", ""
    blank = newline if isinstance(anchor, ast.ImportFrom) and anchor.module == "__future__" else ""
    if after >= len(starts):
        return len(source.text), f"{newline}{blank}", newline
    return starts[after], blank, newline


def _among_standard(
    source: Source, imports: Sequence[ast.Import | ast.ImportFrom], package: str
) -> tuple[int, str, str] | None:
    """Where an import of the standard library goes: above the imports of other packages, sorted by name."""
    imports = [each for each in imports if not (isinstance(each, ast.ImportFrom) and each.module == "__future__")]
    if not imports or not _standard(package):
        return None
    standard = [each for each in imports if all(_standard(name) for name in _packages(each))]
    later = [each for each in standard if isinstance(each, ast.ImportFrom) and (each.module or "") > package]
    starts = source.line_starts
    if standard and not later:
        last = standard[-1].end_lineno or standard[-1].lineno
        rest = source.line(last)[standard[-1].end_col_offset or 0 :].strip()
        alone = last < len(starts) and (not rest or rest.startswith("#")) and source.line(last).isascii()
        return (starts[last], "", source.newline) if alone else None
    target = later[0] if later else imports[0]
    above = source.line(target.lineno - 1).strip() if target.lineno > 1 else ""
    if above.startswith("#") and _is_file_head(source, target.lineno - 1):
        above = ""
    shares_line = any(each.end_lineno == target.lineno and each is not target for each in imports)
    if target.col_offset or above.startswith("#") or above.endswith("\\") or shares_line:
        return None
    return starts[target.lineno - 1], "", source.newline * (1 if later else 2)


def _is_file_head(source: Source, last: int) -> bool:
    """Whether the lines down to one are comments about the file as a whole, which belong to no statement."""
    lines = [source.line(number) for number in range(1, last + 1)]
    return all(line.startswith("#") for line in lines) and _FILE_HEAD.search("\n".join(lines)) is not None


def _packages(statement: ast.Import | ast.ImportFrom) -> list[str]:
    """The packages that a statement imports from; a relative import is named by its dots."""
    if isinstance(statement, ast.ImportFrom):
        return ["." * statement.level + (statement.module or "")]
    return [alias.name for alias in statement.names]


def _standard(package: str) -> bool:
    return package.partition(".")[0] in sys.stdlib_module_names
