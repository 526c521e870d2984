"""The outline of a file: its syntax without the bodies of its functions, which are parsed on first use.

Tools never call most of the code that a server's modules import, and parsing is the largest cost of a file that is only
imported. A file whose text leaves any doubt is parsed whole. Without this module, a cold run of `bench.lint` takes 11
percent longer.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mcpcore_lint.patterns import regex
from mcpcore_lint.syntax.parse import BLOCKS, FIELDS, statements
from mcpcore_lint.syntax.source import Source, SourceError, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mcpcore_lint.model import FunctionNode

SHORT: Final = 160
"""Bodies with fewer characters are parsed with the file, since deferring them would take as long."""

_DEF: Final = regex(r"^( *)(?:async +)?def +\w+ *(?=[(\[])", re.MULTILINE)
_PARTS: Final = regex(
    r"""[^()\[\]{}:"'#\\]+|\#[^\n]*|\\\n|"(?!"")(?:\\.|[^"\\\n])*"|'(?!'')(?:\\.|[^'\\\n])*'|[()\[\]{}:]"""
)
"""The parts of the signature of a function, without triple-quoted strings."""
_INSIDE: Final = r"[^()\[\]{}\"'#\\]*"
_PLAIN_SIGNATURE: Final = regex(rf"\({_INSIDE}(?:\[{_INSIDE}\]{_INSIDE})*\)([\w\s.|>-]*(?:\[{_INSIDE}\]\s*)?):")
"""Nearly every signature: brackets at most two deep, and no strings."""

_STRANGE: Final = ("\t", "\f", "\r", '\'"""', "\"'''")
"""A file with one of these is parsed whole: its lines or strings may not end where they seem to."""


class Body(NamedTuple):
    """The place of a function in its file."""

    start: int
    """The offset at which the line of its `def` starts."""
    end: int
    """The offset behind its body."""
    last_line: int
    """The last line of the function, or a later one."""
    complete: Callable[[ast.AST], None]


# ---------------------------------------------------------------------------------------------------------------------
# Functions whose body is still text.
# ---------------------------------------------------------------------------------------------------------------------


def _get(name: str) -> Any:
    def get(node: ast.AST) -> Any:
        held = node.__dict__
        found = held.get("deferred")
        if found is not None:
            found.complete(node)
        return held[name]

    return property(get)


class _Function(ast.FunctionDef):
    __slots__ = ()
    body = _get("body")
    end_lineno = _get("end_lineno")
    end_col_offset = _get("end_col_offset")


class _AsyncFunction(ast.AsyncFunctionDef):
    __slots__ = ()
    body = _get("body")
    end_lineno = _get("end_lineno")
    end_col_offset = _get("end_col_offset")


# Visitors dispatch on the name of the class.
_Function.__name__ = "FunctionDef"
_AsyncFunction.__name__ = "AsyncFunctionDef"

_KINDS: Final[dict[type[ast.AST], type[ast.AST]]] = {
    ast.FunctionDef: _Function,
    ast.AsyncFunctionDef: _AsyncFunction,
}
_PLAIN: Final = {deferred: plain for plain, deferred in _KINDS.items()}
FIELDS.update({deferred: FIELDS[plain] for plain, deferred in _KINDS.items()})


def deferred(node: ast.AST) -> Body | None:
    """The place of a function whose body was not parsed yet; None for any other node."""
    return node.__dict__["deferred"] if type(node) in _PLAIN else None


def forget(node: FunctionNode) -> None:
    """Release the file of a function; a body that was not parsed becomes one empty statement."""
    node.__dict__.pop("deferred", None)
    if type(node) in _PLAIN:
        node.__class__ = _PLAIN[type(node)]  # type: ignore[assignment]


def complete(node: ast.AST, source: Source) -> None:
    """Parse the body of a function; an invalid body is replaced by a call of an unknown function."""
    body = deferred(node)
    if body is None:
        return
    held = node.__dict__
    line: int = held["lineno"]
    column: int = held["col_offset"]
    text = source.text[body.start : body.end]
    # The lines before it are empty ones, so that every place in it is right.
    text = "\n" * (line - 2) + "if 1:\n" + text if column else "\n" * (line - 1) + text
    found = _at(Source(source.path, text), line, column) or _at(source, line, column)
    if found is None:
        found = ast.parse("def unreadable():\n    unreadable_body()").body[0]
        ast.increment_lineno(found, line - 1)
    _take(node, found)


def complete_all(functions: Iterable[FunctionNode], source: Source) -> bool:
    """Parse a whole file for the bodies of its functions; False where it is not valid Python."""
    try:
        _, definitions = _statements(parse(source))
    except SourceError:
        return False
    bodies = {(each.lineno, each.col_offset): each for each in definitions}
    for node in functions:
        if deferred(node) is not None:
            _take(node, bodies[node.lineno, node.col_offset])
    return True


def _take(node: Any, found: Any) -> None:
    forget(node)
    node.__dict__.update(body=found.body, end_lineno=found.end_lineno, end_col_offset=found.end_col_offset)


def _at(source: Source, line: int, column: int) -> Any:
    """The function at a place of a text; None where the text cannot be parsed."""
    try:
        tree = parse(source)
    except SourceError:
        return None
    found: list[ast.AST] = [*tree.body]
    for each in found:
        if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)) and (each.lineno, each.col_offset) == (
            line,
            column,
        ):
            return each
        found.extend(ast.iter_child_nodes(each))
    return None


# ---------------------------------------------------------------------------------------------------------------------
# Making an outline.
# ---------------------------------------------------------------------------------------------------------------------


def outline(source: Source, completes: Callable[[ast.AST], None]) -> tuple[ast.Module, list[FunctionNode]] | None:
    """The syntax of a file, and its functions whose bodies are still text; None if it must be parsed whole.

    Args:
        source: The file.
        completes: Called with a function on the first use of its body; it has to call `complete`.
    """
    text = source.text
    if any(each in text for each in _STRANGE):
        return None
    found = _bodies(source)
    if not found:
        return None
    pieces: list[str] = []
    done = 0
    for colon, place in found:
        pieces += (text[done:colon], " ...", "\n" * text.count("\n", colon, place[1]))
        done = place[1]
    pieces.append(text[done:])
    try:
        tree = parse(Source(source.path, "".join(pieces)))
    except SourceError:
        return None
    starts = source.line_starts
    places: dict[int, tuple[int, int]] = {bisect_left(starts, place[0]) + 1: place for _, place in found}
    blocks, definitions = _statements(tree)
    functions: list[FunctionNode] = []
    for node in definitions:
        if node.lineno not in places:
            continue
        place = places.pop(node.lineno)
        if type(node.body[0]) is not ast.Expr or len(node.body) != 1:
            return None
        last = bisect_left(starts, place[1])
        node.__class__ = _KINDS[type(node)]
        node.__dict__["deferred"] = Body(place[0], place[1], last, completes)
        functions.append(node)
    if places:
        # A `def` that is left over is part of a string.
        return None
    _settle(blocks)
    return tree, functions


def settle(tree: ast.Module) -> None:
    """Set the ends of the blocks of a file after its functions were parsed."""
    _settle(_statements(tree)[0])


def _settle(blocks: list[Any]) -> None:
    for node in reversed(blocks):
        last = next(below[-1] for name in BLOCKS.get(type(node), ("body",)) if (below := getattr(node, name)))
        if isinstance(last, ast.match_case):
            last = last.body[-1]
        place = deferred(last)
        if place is None:
            node.end_lineno, node.end_col_offset = last.end_lineno, last.end_col_offset
        else:
            node.end_lineno, node.end_col_offset = place.last_line, 0


def _statements(tree: ast.Module) -> tuple[list[Any], list[Any]]:
    """The blocks and functions of a file outside functions, each before the nodes inside it."""
    blocks: list[Any] = []
    functions: list[Any] = []
    bodies: list[list[ast.stmt]] = [tree.body]
    while bodies:
        for node in statements(bodies.pop()):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                functions.append(node)
            elif isinstance(node, ast.ClassDef):
                blocks.append(node)
                bodies.append(node.body)
            elif isinstance(node, ast.Match) or (getattr(node, "body", None) and hasattr(node, "end_lineno")):
                blocks.append(node)
    return blocks, functions


def _bodies(source: Source) -> list[tuple[int, tuple[int, int]]]:
    """The functions that can be deferred: the end of the signature, and the start and end of the function."""
    text = source.text
    found: list[tuple[int, tuple[int, int]]] = []
    match = _DEF.search(text)
    while match is not None:
        colon = _signature_end(text, match.end())
        if colon is None:
            return []
        line_end = text.find("\n", colon)
        if line_end < 0:
            break
        rest = text[colon:line_end].strip()
        end = line_end
        if not rest or rest[0] == "#":
            follows = _less_than(len(match[1])).search(text, line_end)
            end = len(text) if follows is None else follows.start() + 1
            body = text[line_end:end]
            if body.endswith("\\\n") or body.count('"""') % 2 or body.count("'''") % 2:
                # The next line continues the body, or is part of a string.
                return []
            if end - line_end > SHORT:
                found.append((colon, (match.start(), end)))
        match = _DEF.search(text, end)
    return found


@lru_cache(maxsize=64)
def _less_than(indent: int) -> re.Pattern[str]:
    """The line end before the next statement that is not indented more, comments and closing brackets aside."""
    return re.compile(rf"\n(?! {{{indent + 1}}}) *[^\s#)\]}}]")


def _signature_end(text: str, at: int) -> int | None:
    """The offset behind the colon of a signature; None for an unusual signature."""
    plain = _PLAIN_SIGNATURE.match(text, at)
    if plain is not None and "lambda" not in plain[1]:
        return plain.end()
    depth = 0
    while (part := _PARTS.match(text, at)) is not None:
        at = part.end()
        what = part[0]
        if what in "([{":
            depth += 1
        elif what in ")]}":
            depth -= 1
        elif what == ":" and not depth:
            return at
        elif not depth and "lambda" in what:
            return None
    return None


__all__ = ["Body", "complete", "complete_all", "deferred", "forget", "outline", "settle"]
