"""Describes the changes of fixes, for the rules that offer them; `rewrite` carries them out with libcst.

A change that might lose a comment is None, and a fix with such a change is not offered.
"""

from __future__ import annotations

import ast
import io
import re
import sys
from bisect import bisect_left, insort
from typing import TYPE_CHECKING, Final, NamedTuple

from mcpcore_lint.diagnostics import Change, Edit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mcpcore_lint.engine.syntax.module import Module

_GUARDED: Final = frozenset({"fastmcp", "jsonschema", "mcp", "mcp_types", "mcpcore"})
"""What is there only with the framework."""
_NOQA: Final = re.compile(r"[ \t]*# noqa(?::[ \w,]*\bE402\b.*)?$")
"""A comment that allows an import below other code."""


def change(module: Module, transformation: str, node: ast.AST, *arguments: str | int) -> Change:
    """A change of a node by one of `codemods.transformations`."""
    start, end = module.source.node_range(node)
    # A function or a clause is found by its start; changes inside its body are independent.
    return Change(transformation, start, start if hasattr(node, "body") else end, arguments)


def replace_node(module: Module, node: ast.AST, code: str) -> Change | None:
    """Replace an expression; the parentheses around it stay."""
    return None if has_comment(module.source.segment(node)) else change(module, "replace", node, code)


def arguments_in_order(call: ast.Call) -> list[ast.expr | ast.keyword]:
    """The arguments of a call in the order in which they are written."""
    return sorted([*call.args, *call.keywords], key=lambda argument: (argument.lineno, argument.col_offset))


def rewrite_call(
    module: Module, call: ast.Call, arguments: Sequence[ast.expr | ast.keyword | str], *, function: str = ""
) -> Change | None:
    """Change the arguments of a call, and the function too if one is given; a text is a new argument."""
    if has_comment(module.source.segment(call)):
        return None
    old = arguments_in_order(call)
    new = [argument if isinstance(argument, str) else old.index(argument) for argument in arguments]
    return change(module, "rewrite_call", call, function, *new)


def add_parameter(
    module: Module, function: ast.FunctionDef | ast.AsyncFunctionDef, code: str, index: int
) -> Change | None:
    """Add a positional parameter to a function: as the first one, or as the second behind `self`."""
    positional = [*function.args.posonlyargs, *function.args.args]
    source = module.source
    header = source.text[source.node_range(function)[0] : source.node_range(function.body[0])[0]]
    if len(positional) < index or has_comment(header[: header.rfind(")")]):
        return None
    return change(module, "add_parameter", function, code, index)


def keyworded(module: Module, call: ast.Call, options: Sequence[str]) -> list[Edit]:
    """Name the arguments of a call behind the first one, of which `options` are the names."""
    named = zip(call.args[1:], options, strict=False)
    places = [(module.source.node_range(node)[0], name) for node, name in named if not isinstance(node, ast.Starred)]
    return [Edit(start, start, f"{name}=") for start, name in places]


def add_argument(module: Module, call: ast.Call, code: str) -> Edit:
    """Add an argument behind the others, on a separate line if they are written like that; comments stay."""
    source, arguments = module.source, arguments_in_order(call)
    if not arguments:
        end = source.node_range(call)[1] - 1
        return Edit(end, end, code)
    last = arguments[-1]
    end, line = source.node_range(last)[1], source.line(last.lineno)
    # The argument itself may be in parentheses.
    end += len(re.findall(r"^(?:\s*\))*", source.text[end : source.node_range(call)[1] - 1])[0])
    rest = re.match(r"(?:[ \t]*,)?([ \t]*(?:#[^\r\n]*)?)(?=\r?\n)", source.text[end:])
    if last.lineno == call.lineno or rest is None:
        glue = f",{source.newline}{_indent(line)}" if last.lineno != call.lineno else ", "
        return Edit(end, end, f"{glue}{code}")
    return Edit(end, end + rest.end(), f",{rest[1]}{source.newline}{_indent(line)}{code},")


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def has_comment(code: str) -> bool:
    """Whether a part of a file contains a comment."""
    if "#" not in code:
        return False
    # A run without fixes does not need it.
    import tokenize

    try:
        return any(token.type == tokenize.COMMENT for token in tokenize.generate_tokens(io.StringIO(code).readline))
    except (tokenize.TokenError, SyntaxError):
        return True


def apply(text: str, edits: Sequence[Edit]) -> str:
    """A text with edits made; equal edits are made once."""
    parts: list[str] = []
    end = 0
    for edit in sorted(set(edits)):
        # Of two edits that overlap, which no caller makes, the second one replaces what is left of its range.
        parts += [text[end : edit.start], edit.text]
        end = max(end, edit.end)
    return "".join(parts) + text[end:]


class Compatible:
    """Edits that can be made in one pass: none touches another one, and equal ones are made once."""

    def __init__(self) -> None:
        self._sorted: list[Edit] = []

    def accept(self, edits: Iterable[Edit]) -> bool:
        """Take the edits of a fix, unless they touch one of an earlier fix; whether they were taken."""
        fresh = {edit for edit in edits if not self._has(edit)}
        if any(self._touches(edit) for edit in fresh):
            return False
        for edit in fresh:
            insort(self._sorted, edit)
        return True

    def _has(self, edit: Edit) -> bool:
        place = bisect_left(self._sorted, edit)
        return self._sorted[place : place + 1] == [edit]

    def _touches(self, edit: Edit) -> bool:
        # Those in between start elsewhere, and end before the next one starts.
        place = bisect_left(self._sorted, edit)
        return any(_touch(edit, other) for other in self._sorted[max(place - 1, 0) : place + 1])


def _touch(edit: Edit, other: Edit) -> bool:
    """Whether two edits cannot be made in one pass; an insertion touches a range that starts or ends there."""
    if edit.start == edit.end or other.start == other.end:
        return edit.start <= other.end and other.start <= edit.end
    return edit.start < other.end and other.start < edit.end


class Imported(NamedTuple):
    """How a name is spelled in a file, and the edit that imports it if it has to be imported."""

    text: str
    edits: tuple[Edit, ...]


def unwrapped(module: Module, call: ast.Call, start: int) -> list[Edit]:
    """The edits that leave the arguments of a call, an argument that begins at an offset, in place of itself."""
    source, end = module.source, module.source.node_range(call)[1]
    first = source.text.index("(", source.node_range(call.func)[1]) + 1
    line = source.line_starts[source.text.count("\n", 0, start)]
    indent, gap = source.text[line:start], re.match(r"\r?\n([ \t]+)", source.text[first:])
    inside = source.text[first : end - 1].rstrip()
    texts = (part for part in ast.walk(call) if isinstance(part, (ast.Constant, ast.JoinedStr)))
    spans = any(part.lineno != part.end_lineno for part in texts)  # its own indentation means something
    if gap is None or spans or indent.strip() or not gap[1].startswith(indent):
        return [Edit(start, first, ""), Edit(end - 1, end, "")]
    # On separate lines, the arguments move to the indentation of the call.
    comma = inside.endswith(",") and source.text[end : end + 1] == ","
    lines = [source.line_starts[number] for number in range(call.lineno, source.text.count("\n", 0, end))]
    return [
        Edit(line - len(source.newline), first, ""),
        *(Edit(at + len(indent), at + len(gap[1]), "") for at in lines if source.text.startswith(gap[1], at)),
        Edit(first + len(inside), end + comma, ""),
    ]


def import_name(module: Module, package: str, name: str) -> Imported:
    """How `package.name` is spelled in a file: as it is imported already, else with a new import."""
    from mcpcore_lint.names import canonical

    wanted = canonical(f"{package}.{name}")
    module.complete()
    bindings, guarded = module.scope.bindings, _guarded(module.tree.body)
    whole: str | None = None
    for local, ways in bindings.items():
        binding = ways[0]
        if (
            len(ways) > 1
            or binding.kind != "import"
            or binding.target is None
            # An import below `if TYPE_CHECKING:` or `try:` may not happen.
            or (binding.node not in module.tree.body and binding.node not in guarded)
        ):
            continue
        source, imported, level = binding.target
        if not level and imported is not None and canonical(f"{source}.{imported}") == wanted:
            return Imported(local, ())
        if whole is None and binding.target == (package, None, 0):
            whole = local
    if whole is not None:
        return Imported(f"{whole}.{name}", ())
    taken = name in bindings or any(name in scope.bindings for scope in module.functions.values())
    local = f"{package.replace('.', '_')}_{name}" if taken else name
    return Imported(local, (import_edit(module, package, f"{name} as {local}" if taken else name),))


def import_edit(module: Module, package: str, clause: str) -> Edit:
    """Add a name, or several in the order of imports, to an import of the file, or an import to those of its group."""
    source, body = module.source, module.tree.body
    guarded = _guarded(body) if package.partition(".")[0] in _GUARDED else []
    for statement in [*body, *guarded]:
        if isinstance(statement, ast.ImportFrom) and "." * statement.level + (statement.module or "") == package:
            lines = {alias.lineno for alias in statement.names} - {statement.lineno}
            # One name a line stays one name a line, with its comment.
            end, last = source.node_range(statement.names[-1])[1], source.node_range(statement)[1]
            rest = re.match(r"(?:[ \t]*,)?([ \t]*(?:#[^\r\n]*)?)(?=\r?\n)", source.text[end:last])
            is_list = len(lines) == len(statement.names) and source.text[last - 1] == ")"
            gap = source.newline + _indent(source.line(max(lines))) if is_list else " "
            for alias in statement.names:
                if name_order(clause) < name_order(alias.name):
                    start, _ = source.node_range(alias)
                    return Edit(start, start, f"{clause},{gap}")
            if statement.names[-1].name != "*":
                if is_list and rest is not None:
                    return Edit(end, end + rest.end(), f",{rest[1]}{gap}{clause},")
                return Edit(end, end, f",{gap}{clause}")
    line = f"from {package} import {clause}{source.newline}"
    if guarded:
        place = source.line_starts[guarded[-1].end_lineno or 0]
        return Edit(place, place, _indent(source.line(guarded[-1].lineno)) + line)
    wanted, last, before = _group(package), -1, -1
    own = f"{module.name.partition('.')[0]}."
    head = body[:1] if body and isinstance(body[0], ast.Expr) else []  # the docstring
    behind = _above_framework(body)
    if behind > len(head):
        # Code such as the setup of logging comes before these imports on purpose.
        head, noqa = body[:behind], _NOQA.search(source.line(body[behind].end_lineno or 0))
        line = line.replace(source.newline, f"{noqa[0] if noqa else ''}{source.newline}")
    for statement in body[len(head) :]:
        before = last
        if not isinstance(statement, (ast.ImportFrom, ast.Import)):
            break
        written = getattr(statement, "module", None) or statement.names[0].name
        level = getattr(statement, "level", 0)
        is_own = f"{written}.".startswith(own) or module.project.module_of(module, written, level) is not None
        last = 3 if is_own else _group("." * level + written)
        # Sorters take no notice of capitals, and some projects sort both kinds of imports together.
        mixed = before == wanted and isinstance(head[-1], ast.ImportFrom)
        if last == wanted == 2 and (isinstance(statement, ast.ImportFrom) or mixed) and written.lower() > package:
            start, _ = source.node_range(statement)
            if before == wanted and source.line(statement.lineno - 1).lstrip().startswith("#"):
                break  # behind the import above the comment, which is about the one below it
            return Edit(start, start, line)
        if wanted < last and wanted == before:
            last = before  # behind the others of its group
            break
        if wanted < last and statement.col_offset == 0:
            number, above = statement.lineno, head[-1].end_lineno or 0 if head else statement.lineno
            while number - 1 > above and source.line(number - 1).startswith("#"):
                number -= 1  # a comment above an import is about that; the first one of a file is not
            start = source.line_starts[number - 1]
            return Edit(start, start, line + source.newline)
        head.append(statement)
    if not head:
        return Edit(0, 0, line)
    number = head[-1].end_lineno or 0
    for statement in body[len(head) :]:
        if statement.lineno == number:
            number = statement.end_lineno or number
    lead = source.newline * (last != wanted)
    if number == len(source.line_starts):
        return Edit(len(source.text), len(source.text), source.newline + lead + line)
    offset = source.line_starts[number]
    return Edit(offset, offset, lead + line)


def _guarded(body: list[ast.stmt]) -> list[ast.stmt]:
    """The imports of a `try` that imports the framework, if the file runs without that too."""
    if any(_of_framework(statement) for statement in body):
        return []
    tries = [part for part in body if isinstance(part, ast.Try) and any(map(_of_framework, part.body))]
    inside = [part for statement in tries[:1] for part in statement.body]
    imports: list[ast.stmt] = [part for part in inside if isinstance(part, (ast.ImportFrom, ast.Import))]
    last = max((at for at, part in enumerate(imports) if _of_framework(part)), default=-1)
    return imports[: last + 1]


def _of_framework(statement: ast.stmt) -> bool:
    package = (statement.module or "") if isinstance(statement, ast.ImportFrom) and not statement.level else ""
    return package.partition(".")[0] in {"fastmcp", "mcp", "mcpcore"}


def _above_framework(body: list[ast.stmt]) -> int:
    """How many statements are above the block of imports with the one of the framework; 0 without such an import."""
    names = [statement.module or "" if isinstance(statement, ast.ImportFrom) else "" for statement in body]
    place = next((at for at, name in enumerate(names) if name.partition(".")[0] in {"fastmcp", "mcp"}), 0)
    while place and isinstance(body[place - 1], (ast.Import, ast.ImportFrom)):
        place -= 1
    # A class above them may use what is imported.
    return 0 if any(isinstance(statement, ast.ClassDef) for statement in body[:place]) else place


def name_order(clause: str) -> tuple[int, str]:
    """The order of names in an import: constants, then classes, then functions."""
    name = clause.partition(" ")[0]
    is_constant = name.isupper() and len(name) > 1
    return (0 if is_constant else 1 if name[:1].isupper() else 2), name


def _group(name: str) -> int:
    """The group of imports that a module belongs to: the future, the standard library, others, the own package."""
    if name == "__future__":
        return 0
    return 3 if name.startswith(".") else 2 - (name.partition(".")[0] in sys.stdlib_module_names)
