"""Suppressions: `# mcpcore: ignore[rule, rule] why` for a line, `# mcpcore: ignore-file[rule] why` for a file."""

from __future__ import annotations

import ast
import contextlib
import io
import re
import tokenize
from typing import TYPE_CHECKING, Final, Literal

from mcpcore_lint import ids
from mcpcore_lint.dataclasses import light
from mcpcore_lint.diagnostics import Span

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcpcore_lint.diagnostics import Diagnostic
    from mcpcore_lint.syntax.source import Source

_MARK: Final = re.compile(r"#\s*mcpcore:\s*(ignore-file|ignore)\b(?![-_])(?:\s*\[([^\]\n]*)\]?)?([^\n]*)")
_MEANT: Final = re.compile(r"#\s*mcpcore:\s*([A-Za-z_-]+)(\s*[\[=(]|[^\n]*)")
"""A comment that is addressed to the linter, whatever it says."""
_OTHERS: Final = frozenset(
    {"allow", "disable", "disable-next", "ignored", "ignores", "ignoring", "nolint", "noqa", "off", "skip", "skip-file",
     "suppress"}
)  # fmt: skip
"""What suppressions are called elsewhere, and words that a sentence may begin with as well."""
_UNREADABLE: Final = (tokenize.TokenError, SyntaxError, RecursionError, IndexError)
"""What Python's tokenizer raises of a file that it cannot read."""
_NAMES: Final = re.compile(r"[a-z][a-z-]*(?:\s*,\s*[a-z][a-z-]*)*")


@light
class Suppression:
    """One suppression comment."""

    scope: Literal["line", "file"]
    rules: tuple[str, ...]
    """The rules as written; none means every rule."""
    why: str
    line: int
    span: Span
    """The comment."""
    start: int
    end: int
    """The comment's offsets in the text."""
    used: set[str]
    """The rules (as written; `*` for a comment without any) that suppressed something."""
    misplaced: bool = False
    """An `ignore-file` after the first statement, which therefore does nothing."""
    misspelt: str = ""
    """The word that stands where `ignore` would, so that nothing is suppressed."""


def find(source: Source, tree: ast.Module | None) -> list[Suppression]:
    """The suppressions of a file. A string that looks like one is none."""
    text = source.text
    if "mcpcore:" not in text or not _MEANT.search(text):
        return []
    found: list[Suppression] = []
    first = _first_statement(tree)
    for line, start, end in _comments(source):
        comment = text[start:end]
        for match in _MARK.finditer(comment):
            # A bracket that is empty or never closed names what it names; without one, every rule is meant.
            rules = tuple(each.strip() for each in (match[2] or "").split(",") if each.strip())
            if match[2] is not None and not rules:
                rules = ("",)
            said = match[3].lstrip(" \t:=")
            named = _NAMES.match(said)
            if match[2] is None and named and all(ids.is_id(each.strip()) for each in named[0].split(",")):
                # The brackets were forgotten, and every rule would be meant by one that is named.
                rules, said = tuple(each.strip() for each in named[0].split(",")), said[named.end() :]
            why = said.split("#")[0].strip().strip("-:\u2013\u2014").strip()
            begin, stop = start + match.start(), start + match.end()
            span = Span(*source.position(begin), *source.position(start + match.start() + len(match[0].rstrip())))
            scope: Literal["line", "file"] = "file" if match[1] == "ignore-file" else "line"
            misplaced = scope == "file" and first is not None and line >= first
            found.append(Suppression(scope, rules, why, line, span, begin, stop, set(), misplaced))
            break
        else:
            if (meant := _MEANT.search(comment)) and _is_misspelt(meant[1], meant[2]):
                begin, stop = start + meant.start(), start + meant.start() + len(meant[0].rstrip())
                span = Span(*source.position(begin), *source.position(stop))
                found.append(Suppression("line", (), "", line, span, begin, stop, set(), misspelt=meant[1]))
    return found


def _is_misspelt(word: str, rest: str) -> bool:
    """Whether a comment was meant to suppress something: what is said to the reader is none."""
    import difflib

    plain = word.lower().replace("_", "-")
    if plain in _OTHERS:
        return not rest.strip() or rest.strip()[0] in "[=("
    return bool(difflib.get_close_matches(plain, ("ignore", "ignore-file"), n=1, cutoff=0.75))


def _first_statement(tree: ast.Module | None) -> int | None:
    if tree is None:
        return None
    body = tree.body
    # The docstring is no statement for this: a comment right after it still stands at the top.
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]
    if not body:
        return None
    first = body[0]
    decorators: list[ast.expr] = getattr(first, "decorator_list", [])
    return min([first.lineno, *(each.lineno for each in decorators)])


def _comments(source: Source) -> Iterable[tuple[int, int, int]]:
    """Line and offsets of each comment that holds the mark."""
    text = source.text
    found: list[tuple[int, int, int]] = []
    try:
        for token in _tokens(source):
            if token.type == tokenize.COMMENT and "mcpcore:" in token.string:
                start = source.offset_at(token.start[0], token.start[1] + 1)
                found.append((token.start[0], start, start + len(token.string)))
    except _UNREADABLE:
        found = []
        for match in _MEANT.finditer(text):
            line, _ = source.position(match.start())
            end = text.find("\n", match.start())
            found.append((line, match.start(), len(text) if end < 0 else end))
    return found


def _closed_lines(source: Source) -> set[int]:
    """The lines at whose end no comment can stand."""
    found = {number for number, line in enumerate(source.lines(), 1) if line.endswith("\\")}
    opened: list[int] = []
    with contextlib.suppress(*_UNREADABLE):
        for token in _tokens(source):
            kind = tokenize.tok_name[token.type]
            if kind in {"FSTRING_START", "TSTRING_START"}:
                opened.append(token.start[0])
            elif kind in {"FSTRING_END", "TSTRING_END"} and opened:
                found.update(range(opened.pop(), token.end[0]))
            elif kind == "STRING":
                found.update(range(token.start[0], token.end[0]))
            elif kind == "COMMENT":
                found.discard(token.start[0])
    return found


def _tokens(source: Source) -> Iterable[tokenize.TokenInfo]:
    text = source.text
    normalised = re.sub(r"\r\n|\r", "\n", text) if "\r" in text else text
    return tokenize.generate_tokens(io.StringIO(normalised).readline)


class Suppressions:
    """The suppressions of one file, with the statements that they hold for."""

    def __init__(self, source: Source, tree: ast.Module | None) -> None:
        self.all = find(source, tree)
        self._lines: dict[int, list[Suppression]] = {}
        self._file = [each for each in self.all if each.scope == "file" and not each.misplaced]
        for each in self.all:
            if each.scope == "line" and not each.misspelt:
                self._lines.setdefault(each.line, []).append(each)
        if self._lines:
            self._hold_above(source)
        self._starts: dict[int, set[int]] = {}
        if self._lines and tree is not None:
            self._index(tree)

    def _hold_above(self, source: Source) -> None:
        """Let a comment hold for the lines above it on which none can stand: each ends in a string or a backslash."""
        closed = _closed_lines(source)
        for line, comments in list(self._lines.items()):
            above = line - 1
            while above in closed:
                self._lines.setdefault(above, []).extend(comments)
                above -= 1

    def _index(self, tree: ast.Module) -> None:
        """For each line of a statement of several lines, the lines on which a comment holds for all of it."""
        for node in ast.walk(tree):
            if not isinstance(node, (ast.stmt, ast.ExceptHandler)):
                continue
            decorators: list[ast.expr] = getattr(node, "decorator_list", [])
            body: list[ast.stmt] | None = getattr(node, "body", None)
            # With decorators the first line of the statement is that of the first one; that of the `def` counts too.
            firsts = {node.lineno, *(each.lineno for each in decorators[:1])}
            for each in decorators:
                for line in range(each.lineno, (each.end_lineno or each.lineno) + 1):
                    self._starts.setdefault(line, set()).update({each.lineno, *firsts})
            # Of a compound statement only the head counts: what stands in its body has statements of its own.
            end = node.end_lineno or node.lineno
            if isinstance(body, list) and body:
                head = min(first.lineno for first in body)
                deeper: list[ast.expr] = getattr(body[0], "decorator_list", [])
                head = min([head, *(each.lineno for each in deeper)])
                end = max(node.lineno, head - 1)
            for line in range(node.lineno, end + 1):
                self._starts.setdefault(line, set()).update(firsts)

    def suppresses(self, diagnostic: Diagnostic, *, by_name: bool = False) -> bool:
        """Whether a finding is suppressed; what suppressed it is marked as used.

        `by_name` leaves out comments that name no rule: one that suppresses nothing must not hide that it does.
        """
        line = diagnostic.span.line
        candidates = [*self._file, *self._lines.get(line, ())]
        for start in self._starts.get(line, ()):
            if start != line:
                candidates.extend(self._lines.get(start, ()))
        hit = False
        for each in candidates:
            if not each.rules:
                if not by_name:
                    each.used.add("*")
                    hit = True
            elif diagnostic.rule in each.rules:
                each.used.add(diagnostic.rule)
                hit = True
        return hit
