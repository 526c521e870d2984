"""The outline of a file: its syntax without the bodies of its functions, which are parsed on first use.

Tools never call most of the code that a server's modules import, and parsing is the largest cost of a file that is only
imported. A file whose text leaves any doubt is parsed whole. Without this module, a cold run of `bench.lint` takes 11
percent longer.
"""

import ast
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, Final, NamedTuple

from mcpcore_lint.engine.syntax.parse import BACKWARD, BLOCKS, FIELDS, SHALLOW, statements
from mcpcore_lint.engine.syntax.source import Source, SourceError, parse
from mcpcore_lint.model import FunctionNode
from mcpcore_lint.patterns import regex

SHORT: Final = 160
"""Bodies with fewer characters are parsed with the file, since deferring them would take as long."""

_DEF: Final = regex(r"^( *)(?:async +)?def +\w+ *(?=\()", re.MULTILINE)
_STRING: Final = r""""(?!"")(?>(?:\\.|[^"\\\n]++)*)"|'(?!'')(?>(?:\\.|[^'\\\n]++)*)'"""
_INSIDE: Final = rf"[^()\[\]{{}}\"'#\\]++|{_STRING}|\#[^\n]*"
_FLAT: Final = rf"[(\[{{](?>(?:{_INSIDE})*)[)\]}}]"
_NESTED: Final = rf"[(\[{{](?>(?:{_INSIDE}|{_FLAT})*)[)\]}}]"
_RETURNS: Final = rf"[^()\[\]{{}}:\"'#\\]++|{_STRING}|{_NESTED}"
_SIGNATURE: Final = regex(rf"\((?>(?:{_INSIDE}|{_NESTED})*)\)((?>(?:{_RETURNS})*)):(?= *(?:#[^\n]*)?\n)")
"""Nearly every signature before a line end: brackets at most three deep, and no triple-quoted strings."""

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


def _get(name: str) -> Any:
    def get(node: ast.AST) -> Any:
        body = node.__dict__.get("deferred")
        if body is not None:
            body.complete(node)
        return node.__dict__[name]

    return property(get)


_KINDS: Final[dict[type[ast.AST], Any]] = {
    kind: type(
        kind.__name__,  # visitors dispatch on the name of the class
        (kind,),
        {"__slots__": (), **{name: _get(name) for name in ("body", "end_lineno", "end_col_offset")}},
    )
    for kind in (ast.FunctionDef, ast.AsyncFunctionDef)
}
"""The classes of functions whose body is still text."""
_PLAIN: Final = {deferred: plain for plain, deferred in _KINDS.items()}
for _fields in (FIELDS, BACKWARD, SHALLOW):
    _fields.update({deferred: _fields[plain] for plain, deferred in _KINDS.items()})


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
    function: Any = node
    text = source.text[body.start : body.end]
    line = function.lineno
    # The lines before it are empty ones, so that every place in it is right.
    text = "\n" * (line - 2) + "if 1:\n" + text if function.col_offset else "\n" * (line - 1) + text
    if not (complete_all([function], Source(source.path, text)) or complete_all([function], source)):
        unreadable: Any = ast.parse("def unreadable():\n    unreadable_body()").body[0]
        _take(function, ast.increment_lineno(unreadable, line - 1))


def complete_all(functions: Iterable[FunctionNode], source: Source) -> bool:
    """Parse a text for the bodies of its functions; False if it is not valid Python."""
    try:
        definitions = _definitions(parse(source))
    except SourceError:
        return False
    bodies = {(definition.lineno, definition.col_offset): definition for definition in definitions}
    for node in functions:
        if deferred(node) is not None:
            _take(node, bodies[node.lineno, node.col_offset])
    return True


def _take(node: Any, definition: Any) -> None:
    forget(node)
    ends = {"end_lineno": definition.end_lineno, "end_col_offset": definition.end_col_offset}
    node.__dict__.update(ends, body=definition.body)


def outline(source: Source, completes: Callable[[ast.AST], None]) -> tuple[ast.Module, list[FunctionNode]] | None:
    """The syntax of a file, and its functions whose bodies are still text; None if it must be parsed whole.

    Args:
        source: The file.
        completes: Called with a function on the first use of its body; it has to call `complete`.
    """
    text = source.text
    bodies = {} if any(mark in text for mark in _STRANGE) else _bodies(source, completes)
    if not bodies:
        return None
    pieces: list[str] = []
    done = 0
    for indent, colon, body in bodies.values():
        # The statement is on the last line, so that a block whose last statement is the function does not end before.
        pieces += (text[done:colon], "\n" * text.count("\n", colon, body.end), indent, " ...")
        done = body.end
    try:
        tree = parse(Source(source.path, "".join((*pieces, text[done:]))))
    except SourceError:
        return None
    functions = [node for node in _definitions(tree) if node.lineno in bodies]
    if len(functions) != len(bodies):
        return None  # a string contains the other `def`
    for node in functions:
        node.__class__ = _KINDS[type(node)]
        node.__dict__["deferred"] = bodies[node.lineno][2]
    return tree, functions


def settle(tree: ast.Module) -> None:
    """Set the ends of the blocks of a file after its functions were parsed."""
    for node in reversed(_statements(tree)):
        names = ("body",) if isinstance(node, ast.ClassDef) else BLOCKS.get(type(node), ())
        if blocks := [block for name in names if (block := getattr(node, name))]:
            node.end_lineno, node.end_col_offset = blocks[0][-1].end_lineno, blocks[0][-1].end_col_offset


def _statements(tree: ast.Module) -> list[Any]:
    """The statements and clauses of a file outside functions, each before those inside it."""
    nodes: list[ast.AST] = statements([*tree.body])
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            nodes += statements(node.body)
    return nodes


def _definitions(tree: ast.Module) -> list[Any]:
    return [node for node in _statements(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]


def _bodies(source: Source, completes: Callable[[ast.AST], None]) -> dict[int, tuple[str, int, Body]]:
    """The functions that can be deferred, by their lines: the indentation, the end of the signature, and the place."""
    text, starts = source.text, source.line_starts
    bodies: dict[int, tuple[str, int, Body]] = {}
    at = 0
    while (match := _DEF.search(text, at)) is not None:
        at = match.end()
        signature = _SIGNATURE.match(text, at)
        if signature is None or "lambda" in signature[1]:
            continue
        colon = signature.end()
        follows = _less_than(len(match[1])).search(text, text.find("\n", colon))
        at = len(text) if follows is None else follows.start()
        if text[at - 1] == "\\" or text.count('"""', colon, at) % 2 or text.count("'''", colon, at) % 2:
            return {}  # the next line continues the body, or is part of a string
        if at - colon > SHORT:
            place = Body(match.start(), at, bisect_left(starts, at), completes)
            bodies[bisect_left(starts, match.start()) + 1] = (match[1], colon, place)
    return bodies


@lru_cache(maxsize=64)
def _less_than(indent: int) -> re.Pattern[str]:
    """The line end before the next statement that is not indented more, comments and closing brackets aside."""
    return re.compile(rf"\n(?! {{{indent + 1}}}) *[^\s#)\]}}]")
