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
    from collections.abc import Iterable, Iterator

    from mcpcore_lint.diagnostics import Diagnostic
    from mcpcore_lint.syntax.source import Source

_MARK: Final = re.compile(r"#\s*mcpcore:\s*(ignore-file|ignore)\b(?![-_])(?:\s*\[([^\]\n]*)\]?)?([^\n]*)")
_MEANT: Final = re.compile(r"#\s*mcpcore:\s*([A-Za-z_-]+)(\s*[\[=(]|[^\n]*)")
"""Any comment for the linter."""
_OTHERS: Final = frozenset(
    {"allow", "disable", "disable-next", "ignored", "ignores", "ignoring", "nolint", "noqa", "off", "skip", "skip-file",
     "suppress"}
)  # fmt: skip
"""Words for suppressions in other tools. A sentence may also begin with them."""
_UNREADABLE: Final = (tokenize.TokenError, SyntaxError, RecursionError, IndexError)
"""Exceptions of Python's tokenizer for files that it cannot read."""
_NAMES: Final = re.compile(r"[a-z][a-z-]*(?:\s*,\s*[a-z][a-z-]*)*")


@light
class Suppression:
    """One suppression comment."""

    scope: Literal["line", "file"]
    rules: tuple[str, ...]
    """The rules as written. An empty tuple means every rule."""
    why: str
    line: int
    span: Span
    """The comment."""
    start: int
    end: int
    """The comment's offsets in the text."""
    used: set[str]
    """The rules, as written, that suppressed something. `*` means a comment without rules."""
    misplaced: bool = False
    """Whether it is an `ignore-file` after the first statement, which has no effect."""
    misspelt: str = ""
    """The word that is written instead of `ignore`. Such a comment has no effect."""


def find(source: Source, tree: ast.Module) -> list[Suppression]:
    """The suppression comments of a file. A string that looks like one does not count."""
    text = source.text
    if "mcpcore:" not in text or not _MEANT.search(text):
        return []
    suppressions: list[Suppression] = []
    first = _first_statement(tree)
    for line, start, end in _comments(source):
        comment = text[start:end]
        for match in _MARK.finditer(comment):
            # Without brackets a comment means every rule. Empty brackets mean no rule.
            rules = tuple(rule.strip() for rule in (match[2] or "").split(",") if rule.strip())
            if match[2] is not None and not rules:
                rules = ("",)
            text_after = match[3].lstrip(" \t:=")
            named = _NAMES.match(text_after)
            if match[2] is None and named and all(ids.is_id(rule.strip()) for rule in named[0].split(",")):
                # The author forgot the brackets, and means these rules rather than all.
                rules = tuple(rule.strip() for rule in named[0].split(","))
                text_after = text_after[named.end() :]
            why = text_after.split("#")[0].strip().strip("-:\u2013\u2014").strip()
            begin, stop = start + match.start(), start + match.end()
            span = Span(*source.position(begin), *source.position(start + match.start() + len(match[0].rstrip())))
            scope: Literal["line", "file"] = "file" if match[1] == "ignore-file" else "line"
            misplaced = scope == "file" and first is not None and line >= first
            suppressions.append(Suppression(scope, rules, why, line, span, begin, stop, set(), misplaced))
            break
        else:
            if (meant := _MEANT.search(comment)) and _is_misspelt(meant[1], meant[2]):
                begin, stop = start + meant.start(), start + meant.start() + len(meant[0].rstrip())
                span = Span(*source.position(begin), *source.position(stop))
                suppressions.append(Suppression("line", (), "", line, span, begin, stop, set(), misspelt=meant[1]))
    return suppressions


def _is_misspelt(word: str, rest: str) -> bool:
    """Whether a comment was meant to suppress something, and is not a sentence for the reader."""
    import difflib

    plain = word.lower().replace("_", "-")
    if plain in _OTHERS:
        return not rest.strip() or rest.strip()[0] in "[=("
    return bool(difflib.get_close_matches(plain, ("ignore", "ignore-file"), n=1, cutoff=0.75))


def _first_statement(tree: ast.Module) -> int | None:
    body = tree.body
    # A comment right after the docstring still counts as at the top.
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]
    if not body:
        return None
    first = body[0]
    decorators: list[ast.expr] = getattr(first, "decorator_list", [])
    return min([first.lineno, *(decorator.lineno for decorator in decorators)])


def _comments(source: Source) -> Iterator[tuple[int, int, int]]:
    """The line and the offsets of each comment with the mark."""
    with contextlib.suppress(*_UNREADABLE):
        for token in _tokens(source):
            if token.type == tokenize.COMMENT and "mcpcore:" in token.string:
                start = source.offset_at(token.start[0], token.start[1] + 1)
                yield token.start[0], start, start + len(token.string)


def _closed_lines(source: Source) -> set[int]:
    """The lines that cannot end in a comment."""
    closed = {number for number, line in enumerate(source.lines(), 1) if line.endswith("\\")}
    opened: list[int] = []
    with contextlib.suppress(*_UNREADABLE):
        for token in _tokens(source):
            kind = tokenize.tok_name[token.type]
            if kind in {"FSTRING_START", "TSTRING_START"}:
                opened.append(token.start[0])
            elif kind in {"FSTRING_END", "TSTRING_END"} and opened:
                closed.update(range(opened.pop(), token.end[0]))
            elif kind == "STRING":
                closed.update(range(token.start[0], token.end[0]))
            elif kind == "COMMENT":
                closed.discard(token.start[0])
    return closed


def _tokens(source: Source) -> Iterable[tokenize.TokenInfo]:
    text = source.text
    normalised = re.sub(r"\r\n|\r", "\n", text) if "\r" in text else text
    return tokenize.generate_tokens(io.StringIO(normalised).readline)


class Suppressions:
    """The suppressions of one file and the statements that they apply to."""

    def __init__(self, source: Source, tree: ast.Module) -> None:
        self.all = find(source, tree)
        self._lines: dict[int, list[Suppression]] = {}
        self._file = [comment for comment in self.all if comment.scope == "file" and not comment.misplaced]
        for comment in self.all:
            if comment.scope == "line" and not comment.misspelt:
                self._lines.setdefault(comment.line, []).append(comment)
        self._starts: dict[int, set[int]] = {}
        if self._lines:
            self._apply_above(source)
            self._index(tree)

    def _apply_above(self, source: Source) -> None:
        """Apply a comment to the lines above it that cannot end in one, because of a string or a backslash."""
        closed = _closed_lines(source)
        for line, comments in list(self._lines.items()):
            above = line - 1
            while above in closed:
                self._lines.setdefault(above, []).extend(comments)
                above -= 1

    def _index(self, tree: ast.Module) -> None:
        """For each line of a statement, find the lines on which a comment applies to the whole statement."""
        for node in ast.walk(tree):
            if not isinstance(node, (ast.stmt, ast.ExceptHandler)):
                continue
            decorators: list[ast.expr] = getattr(node, "decorator_list", [])
            body: list[ast.stmt] | None = getattr(node, "body", None)
            # A decorated statement begins with its first decorator, but a comment on the `def` line counts too.
            firsts = {node.lineno, *(decorator.lineno for decorator in decorators[:1])}
            for decorator in decorators:
                for line in range(decorator.lineno, (decorator.end_lineno or decorator.lineno) + 1):
                    self._starts.setdefault(line, set()).update({decorator.lineno, *firsts})
            # Only the head of a compound statement counts. The body has its own statements.
            end = node.end_lineno or node.lineno
            if isinstance(body, list) and body:
                head = min(first.lineno for first in body)
                deeper: list[ast.expr] = getattr(body[0], "decorator_list", [])
                head = min([head, *(decorator.lineno for decorator in deeper)])
                end = max(node.lineno, head - 1)
            for line in range(node.lineno, end + 1):
                self._starts.setdefault(line, set()).update(firsts)

    def suppresses(self, diagnostic: Diagnostic, *, by_name: bool = False) -> bool:
        """Whether a finding is suppressed. Marks the comments that suppress it as used.

        `by_name` skips comments without rules, since an unused comment must not suppress the finding about itself.
        """
        line = diagnostic.span.line
        candidates = [*self._file, *self._lines.get(line, ())]
        for start in self._starts.get(line, ()):
            if start != line:
                candidates.extend(self._lines.get(start, ()))
        hit = False
        for comment in candidates:
            if not comment.rules:
                if not by_name:
                    comment.used.add("*")
                    hit = True
            elif diagnostic.rule in comment.rules:
                comment.used.add(diagnostic.rule)
                hit = True
        return hit
