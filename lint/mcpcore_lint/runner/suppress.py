"""Suppressions: `# mcpcore: ignore[rule, rule] why` for a line, `# mcpcore: ignore-file[rule] why` for a file."""

import ast
import contextlib
import io
import re
import tokenize
from collections.abc import Iterator
from typing import Final, Literal

from mcpcore_lint import ids
from mcpcore_lint.dataclasses import light
from mcpcore_lint.diagnostics import Diagnostic, Span, grouped
from mcpcore_lint.engine.syntax.source import Source

_MARK: Final = re.compile(r"#\s*mcpcore:\s*(ignore-file|ignore)\b(?![-_])(?:\s*\[([^\]\n]*)\]?)?([^\n]*)")


@light
class Suppression:
    """One suppression comment."""

    scope: Literal["line", "file"]
    rules: tuple[str, ...]
    """The rules as written. An empty tuple means every rule."""
    why: str
    span: Span
    """The comment."""
    start: int
    end: int
    """The comment's offsets in the text."""
    used: set[str]
    """The rules, as written, that suppressed something. `*` means a comment without rules."""
    misplaced: bool = False
    """Whether it is an `ignore-file` after the first statement, which has no effect."""


def find(source: Source, tree: ast.Module) -> list[Suppression]:
    """The suppression comments of a file. A string that looks like one does not count."""
    if not _MARK.search(source.text):
        return []
    suppressions: list[Suppression] = []
    # A comment right after the docstring still counts as at the top.
    body = tree.body[ast.get_docstring(tree, clean=False) is not None :]
    first = min(_begins(body[0])) if body else None
    for line, start, comment in _comments(source):
        match = _MARK.search(comment)
        if match is None:
            continue
        # Without brackets a comment means every rule. Empty brackets mean no rule.
        rules = tuple(
            ids.ALIASES.get(rule.strip(), rule.strip()) for rule in (match[2] or "").split(",") if rule.strip()
        )
        if match[2] is not None and not rules:
            rules = ("",)
        why = match[3].split("#")[0].strip(" \t-:=\u2013\u2014")
        begin, stop = start + match.start(), start + match.end()
        span = Span(*source.position(begin), *source.position(start + match.start() + len(match[0].rstrip())))
        scope: Literal["line", "file"] = "file" if match[1] == "ignore-file" else "line"
        misplaced = scope == "file" and first is not None and line >= first
        suppressions.append(Suppression(scope, rules, why, span, begin, stop, set(), misplaced))
    return suppressions


def _comments(source: Source) -> Iterator[tuple[int, int, str]]:
    """The line, the offset and the text of each comment with the mark."""
    text = re.sub(r"\r\n|\r", "\n", source.text)
    # The tokenizer rejects some files that the parser accepts.
    with contextlib.suppress(tokenize.TokenError, SyntaxError, RecursionError, IndexError):
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        for token in (token for token in tokens if token.type == tokenize.COMMENT and "mcpcore:" in token.string):
            yield token.start[0], source.offset_at(token.start[0], token.start[1] + 1), token.string


def _decorators(node: ast.AST) -> list[ast.expr]:
    return getattr(node, "decorator_list", [])


def _begins(node: ast.stmt | ast.ExceptHandler) -> set[int]:
    """The lines on which a statement begins: that of its keyword, and that of its first decorator."""
    return {node.lineno, *(decorator.lineno for decorator in _decorators(node)[:1])}


class Suppressions:
    """The suppressions of one file and the statements that they apply to."""

    def __init__(self, source: Source, tree: ast.Module) -> None:
        self.all = find(source, tree)
        self._file = [comment for comment in self.all if comment.scope == "file" and not comment.misplaced]
        of_lines = (comment for comment in self.all if comment.scope == "line")
        self._lines = grouped(of_lines, lambda comment: comment.span.line)
        self._begins: dict[int, set[int]] = {}
        """For each line of a statement, the lines on which a comment applies to the whole statement."""
        for node in ast.walk(tree) if self._lines else ():
            if isinstance(node, (ast.stmt, ast.ExceptHandler)):
                self._index(node)
            elif isinstance(node, (ast.Constant, ast.JoinedStr)):
                # The lines of a string but the last cannot end in a comment, so a comment after it counts for them.
                after = self._lines.get(node.end_lineno or 0, [])
                for line in range(node.lineno, node.end_lineno or 0) if after else ():
                    self._lines.setdefault(line, []).extend(after)

    def _index(self, node: ast.stmt | ast.ExceptHandler) -> None:
        body: list[ast.stmt] | None = getattr(node, "body", None)
        end = node.end_lineno or node.lineno
        # Only the head of a compound statement counts. The body has its own statements.
        if isinstance(body, list) and body:
            end = max(node.lineno, min(_begins(body[0])) - 1)
        begins = _begins(node)
        ranges = [(min(begins), end, begins)]
        ranges += [(decorator.lineno, decorator.end_lineno or 0, {decorator.lineno}) for decorator in _decorators(node)]
        for first, last, lines in ranges:
            for line in range(first, last + 1):
                self._begins.setdefault(line, set()).update(lines)

    def suppresses(self, diagnostic: Diagnostic, *, by_name: bool = False) -> bool:
        """Whether a finding is suppressed. Marks the comments that suppress it as used.

        `by_name` skips comments without rules, since an unused comment must not suppress the finding about itself.
        """
        line = diagnostic.span.line
        candidates = [*self._file]
        for begin in {line, *self._begins.get(line, ())}:
            candidates += self._lines.get(begin, ())
        matching = [part for part in candidates if diagnostic.rule in part.rules or not (part.rules or by_name)]
        for comment in matching:
            comment.used.add(diagnostic.rule if comment.rules else "*")
        return bool(matching)
