"""Making edits, and applying them: whole fixes or none, pass after pass until nothing is left, the rest untouched."""

from __future__ import annotations

import ast
import errno
import os
import re
import stat
import sys
from bisect import bisect_left, insort
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from mcpcore_lint.diagnostics import Edit, Failure
from mcpcore_lint.running.writing import ChangedMeanwhileError, put_in_place

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mcpcore_lint.diagnostics import Diagnostic, Fix
    from mcpcore_lint.reading.module import Module
    from mcpcore_lint.reading.source import Source
    from mcpcore_lint.running.discover import Found
    from mcpcore_lint.running.engine import FixedFile, Report

MAX_PASSES: Final = 50
_PATIENCE: Final = 3
"""How often files that somebody else goes on changing are judged anew."""


# ---------------------------------------------------------------------------------------------------------------------
# For rules: edits of a file.
# ---------------------------------------------------------------------------------------------------------------------


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


_HEAD: Final = re.compile(r"\A#!|coding[:=]|copyright|licen[cs]e|SPDX-", re.IGNORECASE)
"""What the comments at the head of a file say: how to run it, its encoding, whose it is."""


def _is_standard(statement: ast.Import | ast.ImportFrom) -> bool:
    if isinstance(statement, ast.ImportFrom):
        return not statement.level and (statement.module or "").partition(".")[0] in sys.stdlib_module_names
    return all(each.name.partition(".")[0] in sys.stdlib_module_names for each in statement.names)


# ---------------------------------------------------------------------------------------------------------------------
# For the engine: applying fixes.
# ---------------------------------------------------------------------------------------------------------------------


def choices(diagnostics: Sequence[Diagnostic], *, unsafe: bool) -> Iterator[list[tuple[Diagnostic, Fix]]]:
    """The fixes that can be made in one pass, and those to try where they cannot be made.

    Unsafe ones wait until nothing safe is left to do, and for a tool those of one rule are made at a time: one that
    renames a reason would else leave behind what another has written under the old name.
    """
    yield _together([each for each in diagnostics if each.fix is not None and each.fix.safety == "safe"])
    if unsafe:
        rules: dict[str | None, str] = {}
        candidates = [each for each in diagnostics if each.fix is not None and each.fix.safety == "unsafe"]
        candidates.sort(key=lambda each: each.sort_key)
        yield _together([each for each in candidates if rules.setdefault(each.tool, each.rule) == each.rule])


def _together(candidates: Sequence[Diagnostic]) -> list[tuple[Diagnostic, Fix]]:
    """Those of some fixes that go together: in the order of the file, none touching another."""
    found: list[tuple[Diagnostic, Fix]] = []
    taken: list[tuple[int, int]] = []
    accepted: set[Edit] = set()
    for each in sorted(candidates, key=lambda one: one.sort_key):
        fix = each.fix
        assert fix is not None
        fresh = [edit for edit in fix.edits if edit not in accepted]
        if not fresh or any(_touches(edit, taken) for edit in fresh):
            continue
        found.append((each, fix))
        for edit in fresh:
            insort(taken, (edit.start, edit.end))
        accepted.update(fresh)
    return found


def _touches(edit: Edit, taken: Sequence[tuple[int, int]]) -> bool:
    """Whether an edit touches one of others, which are in order: what is inserted touches what ends or begins there."""
    # Of those that begin before it only the last may reach so far; none of them overlaps another.
    first = max(bisect_left(taken, (edit.start, edit.start)) - 1, 0)
    for place in range(first, len(taken)):
        start, end = taken[place]
        if start > edit.end:
            return False
        empty = edit.start == edit.end or start == end
        if (edit.start <= end and start <= edit.end) if empty else (edit.start < end and start < edit.end):
            return True
    return False


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


def make_pass(path: str, text: str, diagnostics: Sequence[Diagnostic], *, unsafe: bool) -> tuple[str, int]:
    """One pass of fixes over a text: the new text, and how many fixes it took."""
    for chosen in choices(diagnostics, unsafe=unsafe):
        changed = apply(text, [edit for _, fix in chosen for edit in fix.edits])
        if changed != text and _parses(path, changed):
            return changed, len(chosen)
        # Together they break the file or come to nothing: make them one by one, and leave out those that do.
        for _, fix in chosen:
            changed = apply(text, fix.edits)
            if changed != text and _parses(path, changed):
                return changed, 1
    return text, 0


def _parses(path: str, text: str) -> bool:
    from mcpcore_lint.reading.source import Source, SourceError, parse

    try:
        parse(Source(path, text))
    except SourceError:
        return False
    return True


@dataclass
class Mending:
    """Fixes over files on disk, in passes."""

    root: str
    unsafe: bool
    write: bool = True
    """Whether files are written; where not, what becomes of them is in `given`."""
    passes: int = MAX_PASSES
    before: dict[str, str] = field(default_factory=dict[str, str])
    after: dict[str, str] = field(default_factory=dict[str, str])
    counts: dict[str, int] = field(default_factory=dict[str, int])
    given: dict[str, bytes] = field(default_factory=dict[str, bytes])
    """The contents by absolute path that the next pass starts from, where no file is written."""
    late: set[str] = field(default_factory=set[str])
    """The files that somebody changed after they were judged: their edits fit no more, so they are judged again."""
    again: bool = True
    """Whether another pass may find something to do."""
    waited: int = 0
    made: int = 0
    """The passes that changed something."""

    @staticmethod
    def _by_path(report: Report, *, unsafe: bool) -> dict[str, list[Diagnostic]]:
        found: dict[str, list[Diagnostic]] = {}
        for each in report.diagnostics:
            if each.fix is not None and (unsafe or each.fix.safety == "safe"):
                found.setdefault(each.path, []).append(each)
        return found

    def make(self, report: Report, seen: Mapping[str, Found]) -> list[Failure]:
        """Make one pass over the files of a report, and tell what went wrong.

        Args:
            report: The findings.
            seen: The files by absolute path, as they were before they were judged.
        """
        self.late.clear()
        # What a safe fix writes into one file may go by what an unsafe one would rename in another.
        changed, failures = self._make(report, seen, unsafe=False)
        if self.unsafe and not changed and not self.late:
            changed, more = self._make(report, seen, unsafe=True)
            failures += (each for each in more if each not in failures)
        self.waited += not changed
        self.made += bool(changed)
        self.again = bool(changed or self.late)
        if self.made >= self.passes:
            # A rule that finds what its own fix has made.
            failures += (
                Failure(path, f"after {self.made} passes {', '.join(sorted(rules))} still has something to fix")
                for path, rules in self._last(report).items()
            )
            self.again = False
        if not changed and self.waited >= _PATIENCE:
            failures += (Failure(path, "not fixed: it was changed by someone else meanwhile") for path in self.late)
            self.again = False
        return failures

    def _last(self, report: Report) -> dict[str, set[str]]:
        by_path = self._by_path(report, unsafe=self.unsafe).items()
        return {path: {each.rule for each in diagnostics} for path, diagnostics in by_path}

    def _make(self, report: Report, seen: Mapping[str, Found], *, unsafe: bool) -> tuple[int, list[Failure]]:
        from mcpcore_lint.reading.source import Source, SourceError

        changed = 0
        failures: list[Failure] = []
        for path, diagnostics in self._by_path(report, unsafe=unsafe).items():
            absolute = os.path.normpath(os.path.join(self.root, path))
            try:
                raw = self._read(absolute, seen.get(absolute))
                source = Source.from_bytes(path, raw)
                if source.to_bytes(source.text) != raw:
                    failures.append(
                        Failure(path, f"not fixed: its {source.encoding} text has no one way back to bytes")
                    )
                    continue
                text, done = make_pass(path, source.text, diagnostics, unsafe=unsafe)
                if not done:
                    continue
                content = source.to_bytes(text)
                if self.write:
                    replace_file(absolute, content, expected=raw)
                else:
                    self.given[absolute] = content
            except ChangedMeanwhileError:
                self.late.add(path)
                continue
            except OSError as error:
                failures.append(Failure(path, f"not fixed: {error.strerror or error}"))
                continue
            except SourceError as error:
                failures.append(Failure(path, f"not fixed: {error}"))
                continue
            except UnicodeEncodeError as error:
                failures.append(Failure(path, f"not fixed: the fix needs a character that {error.encoding} lacks"))
                continue
            self.before.setdefault(path, source.text)
            self.after[path] = text
            self.counts[path] = self.counts.get(path, 0) + done
            changed += 1
        return changed, failures

    def _read(self, absolute: str, seen: Found | None) -> bytes:
        if absolute in self.given:
            return self.given[absolute]
        with open(absolute, "rb") as file:
            state = os.fstat(file.fileno())
            if seen is not None and (state.st_mtime_ns, state.st_size, state.st_ino) != seen[1:]:
                raise ChangedMeanwhileError
            return file.read()

    def result(self) -> tuple[FixedFile, ...]:
        """What was done to each file."""
        from mcpcore_lint.running.engine import FixedFile

        return tuple(
            FixedFile(path, self.before[path], self.after[path], self.counts[path]) for path in sorted(self.after)
        )


def replace_file(path: str, content: bytes, *, expected: bytes | None = None) -> None:
    """Replace a file by what the fixes made of it.

    Raises:
        OSError: If it cannot be written.
        ChangedMeanwhileError: If it is no longer what it was when it was read.
    """
    target = os.path.realpath(path)
    mode = stat.S_IMODE(os.stat(target).st_mode)
    if not mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH):
        # Another file could be put in its place all the same, which is not what its mode asks for.
        raise PermissionError(errno.EACCES, "the file is read-only")
    put_in_place(target, content, mode=mode, expected=expected)
