"""Making edits of a file: what rules put into their fixes."""

from __future__ import annotations

import ast
import re
import sys
from typing import TYPE_CHECKING, Final, NamedTuple

from mcpcore_lint.diagnostics import Edit
from mcpcore_lint.patterns import regex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpcore_lint.syntax.module import Module
    from mcpcore_lint.syntax.source import Source


def replace_node(module: Module, node: ast.AST, text: str) -> Edit:
    """Put `text` in the place of a node (parentheses round the node stay)."""
    start, end = module.source.node_range(node)
    return Edit(start, end, text)


def insert_before(module: Module, node: ast.AST, text: str) -> Edit:
    """Put `text` right before a node."""
    start, _ = module.source.node_range(node)
    return Edit(start, start, text)


def insert_after(module: Module, node: ast.AST, text: str) -> Edit:
    """Put `text` right after a node."""
    _, end = module.source.node_range(node)
    return Edit(end, end, text)


def _skip(text: str, offset: int, *, stop: str = ",") -> int:
    """The offset after white space, comments, line joins and closing parentheses that belong to an item."""
    while offset < len(text):
        char = text[offset]
        if char in " \t\f\r\n\\":
            offset += 1
        elif char == "#":
            while offset < len(text) and text[offset] not in "\r\n":
                offset += 1
        elif char in stop:
            return offset
        else:
            return offset
    return offset


def _item_bounds(module: Module, node: ast.AST) -> tuple[int, int]:
    """Where an item of a list or a call starts and ends, the parentheses round it included."""
    text = module.source.text
    start, end = _argument_range(module, node)
    while True:
        after = _skip(text, end)
        before = len(text[:start].rstrip(" \t\f\r\n\\"))
        opening = text[before - 1 : before]
        if opening == "(" and text[after : after + 1] == ")" and _is_own_parenthesis(text, before - 1):
            start, end = before - 1, after + 1
        else:
            return start, end


def _is_own_parenthesis(text: str, opening: int) -> bool:
    """Whether a parenthesis groups an expression rather than holding the arguments of a call."""
    before = text[:opening].rstrip(" \t\f\r\n\\")
    return (
        not before or before[-1] in "([{,=:" or bool(re.search(r"\b(?:in|is|not|and|or|if|else|raise|return)$", before))
    )


def _argument_range(module: Module, node: ast.AST) -> tuple[int, int]:
    return module.source.node_range(node)


def arguments_in_order(call: ast.Call) -> list[ast.expr | ast.keyword]:
    """The arguments of a call in the order written."""
    found: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    return sorted(found, key=lambda each: (each.lineno, each.col_offset))


def remove_item(module: Module, items: Sequence[ast.AST], index: int) -> Edit:
    """Take an item out of a list, a tuple or the arguments of a call, with the comma that belongs to it."""
    text = module.source.text
    start, end = _item_bounds(module, items[index])
    after = _skip(text, end)
    has_comma = text[after : after + 1] == ","
    if index > 0:
        _, previous = _item_bounds(module, items[index - 1])
        if index == len(items) - 1 or not has_comma:
            return Edit(previous, end, "")
        return Edit(start, _item_bounds(module, items[index + 1])[0], "")
    if len(items) > 1:
        return Edit(start, _item_bounds(module, items[1])[0], "")
    return Edit(start, after + 1 if has_comma else end, "")


def remove_argument(module: Module, call: ast.Call, argument: ast.expr | ast.keyword) -> Edit:
    """Take an argument out of a call."""
    items = arguments_in_order(call)
    return remove_item(module, items, items.index(argument))


def add_argument(module: Module, call: ast.Call, text: str) -> Edit:
    """Put an argument behind the last one of a call."""
    items = arguments_in_order(call)
    source = module.source
    if items:
        # `f(x for x in y)`: the generator has no parentheses of its own, and needs them beside another argument.
        _, end = _item_bounds(module, items[-1])
        return Edit(end, end, f", {text}")
    _, end = source.node_range(call)
    return Edit(end - 1, end - 1, text)


class Imported(NamedTuple):
    """How a name is spelled in a file, and the edits that make it so."""

    text: str
    edits: tuple[Edit, ...]


def import_name(module: Module, package: str, name: str) -> Imported:
    """How `package.name` is spelled in a file: as it is already imported, else with the import added."""
    from mcpcore_lint.names import canonical

    wanted = canonical(f"{package}.{name}")
    module.complete()
    bindings = module.scope.bindings
    for local, found in bindings.items():
        if len(found) == 1 and found[0].kind == "import" and found[0].target is not None:
            source, imported, level = found[0].target
            if level or _guarded(module, found[0].node):
                continue
            if imported is not None and canonical(f"{source}.{imported}") == wanted:
                return Imported(local, ())
    for local, found in bindings.items():
        whole = len(found) == 1 and found[0].kind == "import" and found[0].target == (package, None, 0)
        if whole and not _guarded(module, found[0].node):
            return Imported(f"{local}.{name}", ())
    taken = name in bindings or any(name in scope.bindings for scope in module.functions.values())
    local = f"{package}_{name}" if taken else name
    clause = f"{name} as {local}" if taken else name
    for statement in module.tree.body:
        if isinstance(statement, ast.ImportFrom) and statement.module == package and not statement.level:
            if any(each.name == "*" for each in statement.names):
                continue
            return Imported(local, (_extend_import(module, statement, name, clause),))
    return Imported(local, (_new_import(module, f"from {package} import {clause}"),))


def _guarded(module: Module, node: ast.AST) -> bool:
    """Whether an import does not stand at the top level, so that it may not happen (`if TYPE_CHECKING:`, `try:`)."""
    return node not in module.tree.body


def _import_rank(name: str) -> tuple[int, str]:
    if name.isupper() and len(name) > 1:
        return (0, name)
    return (1, name) if name[:1].isupper() else (2, name)


def _extend_import(module: Module, statement: ast.ImportFrom, name: str, clause: str) -> Edit:
    source = module.source
    multi_line = statement.end_lineno != statement.lineno and statement.names[0].lineno != statement.names[-1].lineno
    for alias in statement.names:
        if _import_rank(name) < _import_rank(alias.name):
            start, _ = source.node_range(alias)
            separator = ", "
            if multi_line:
                line = source.line(alias.lineno)
                indent = line[: len(line) - len(line.lstrip())]
                if line[len(indent) :].startswith(alias.name):
                    separator = f",{source.newline}{indent}"
            return Edit(start, start, f"{clause}{separator}")
    last = statement.names[-1]
    _, end = source.node_range(last)
    separator = ", "
    if multi_line:
        line = source.line(last.lineno)
        separator = f",{source.newline}{line[: len(line) - len(line.lstrip())]}"
    return Edit(end, end, f"{separator}{clause}")


def _new_import(module: Module, line: str) -> Edit:
    source = module.source
    body = module.tree.body
    sorted_in = _among_the_standard_library(module, line)
    if sorted_in is not None:
        return sorted_in
    anchor: ast.stmt | None = None
    for statement in body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            anchor = statement
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant) and anchor is None:
            continue
        elif anchor is not None:
            break
    newline = source.newline
    starts = source.line_starts
    if anchor is None:
        docstring = body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
        if docstring:
            after = body[0].end_lineno or 1
            offset = starts[after] if after < len(starts) else len(source.text)
            lead = "" if source.text[:offset].endswith(("\n", "\r")) else newline
            return Edit(offset, offset, f"{lead}{newline}{line}{newline}")
        if not body:
            return Edit(len(source.text), len(source.text), f"{line}{newline}")
        first = body[0]
        decorators: list[ast.expr] = getattr(first, "decorator_list", [])
        at = min([first.lineno, *(each.lineno for each in decorators)])
        offset = starts[at - 1]
        return Edit(offset, offset, f"{line}{newline}{newline}{newline}")
    after = anchor.end_lineno or anchor.lineno
    _, end = source.node_range(anchor)
    rest = source.text[end : starts[after] if after < len(starts) else len(source.text)]
    if rest.strip() and not rest.lstrip().startswith("#"):
        return Edit(end, end, f"; {line}")
    future = isinstance(anchor, ast.ImportFrom) and anchor.module == "__future__"
    blank = newline if future else ""
    if after >= len(starts):
        return Edit(len(source.text), len(source.text), f"{newline}{blank}{line}{newline}")
    return Edit(starts[after], starts[after], f"{blank}{line}{newline}")


def _among_the_standard_library(module: Module, line: str) -> Edit | None:
    """Where an import of the standard library goes: above the imports of others, in the order of their names."""
    source = module.source
    package = line.split()[1]
    imports: list[ast.Import | ast.ImportFrom] = []
    for statement in module.tree.body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            imports.append(statement)
        elif imports or not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):
            break
    imports = [each for each in imports if not (isinstance(each, ast.ImportFrom) and each.module == "__future__")]
    if package.partition(".")[0] not in sys.stdlib_module_names or not imports:
        return None
    standard = [each for each in imports if _is_standard(each)]
    later = [each for each in standard if isinstance(each, ast.ImportFrom) and (each.module or "") > package]
    starts = source.line_starts
    if standard and not later:
        last = standard[-1].end_lineno or standard[-1].lineno
        rest = source.line(last)[standard[-1].end_col_offset or 0 :].strip()
        alone = last < len(starts) and (not rest or rest.startswith("#")) and source.line(last).isascii()
        return Edit(starts[last], starts[last], f"{line}{source.newline}") if alone else None
    target = later[0] if later else imports[0]
    above = source.line(target.lineno - 1).strip() if target.lineno > 1 else ""
    if above.startswith("#") and _is_head(source, target.lineno - 1):
        above = ""
    before = next((each for each in imports if each.end_lineno == target.lineno and each is not target), None)
    if target.col_offset or above.startswith("#") or above.endswith("\\") or before is not None:
        return None
    gap = "" if later else source.newline
    offset = starts[target.lineno - 1]
    return Edit(offset, offset, f"{line}{source.newline}{gap}")


def _is_head(source: Source, last: int) -> bool:
    """Whether the comments down to a line are those at the head of a file, which belong to no statement."""
    lines = [source.line(number) for number in range(1, last + 1)]
    return all(line.startswith("#") for line in lines) and _HEAD.search("\n".join(lines)) is not None


_HEAD: Final = regex(r"\A#!|coding[:=]|copyright|licen[cs]e|SPDX-", re.IGNORECASE)
"""What the comments at the head of a file say: how to run it, its encoding, whose it is."""


def _is_standard(statement: ast.Import | ast.ImportFrom) -> bool:
    if isinstance(statement, ast.ImportFrom):
        return not statement.level and (statement.module or "").partition(".")[0] in sys.stdlib_module_names
    return all(each.name.partition(".")[0] in sys.stdlib_module_names for each in statement.names)


def apply(text: str, edits: Sequence[Edit]) -> str:
    """A text with edits made; edits that are equal are made once."""
    pieces: list[str] = []
    position = 0
    for edit in sorted(set(edits), key=lambda each: (each.start, each.end)):
        pieces.append(text[position : edit.start])
        pieces.append(edit.text)
        position = edit.end
    pieces.append(text[position:])
    return "".join(pieces)
