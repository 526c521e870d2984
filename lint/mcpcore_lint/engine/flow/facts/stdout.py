"""Finds writes to standard output: prints, writes to `sys.stdout`, and child processes that inherit it."""

import ast
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from mcpcore_lint.engine.flow.effects import WriteKind
from mcpcore_lint.engine.flow.facts.spelling import last_name, spelled
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.syntax.parse import argument_of
from mcpcore_lint.engine.syntax.scopes import Scope
from mcpcore_lint.model import CallValue, Const, Symbol, Value, options
from mcpcore_lint.patterns import regex

_BEFORE: Final = r"\s?\((?!(?:[^()]|\([^()]*\))*?"
"""The start of a call whose arguments do not match the pattern that follows."""
_INHERITED: Final = _BEFORE + r"(?:capture_output|stdout\s*=(?!\s*None)|\*\*))"
_MARKS: Final = tuple(
    (mark, regex(pattern))
    for mark, pattern in (
        ("print", r"print(?<!\wprint)" + _BEFORE + r"file\s*=\s*sys\.stderr)"),
        ("pprint", r"pprint"),
        ("stdout", r"\bsys\.(?:__)?stdout\b"),
        ("subprocess", r"subprocess\.(?:run|call|check_call|Popen)" + _INHERITED),
        ("create_subprocess_", r"create_subprocess_(?:exec|shell)" + _INHERITED),
        ("system(", r"\bsystem\("),
        ("echo(", r"echo\("),
        ("input(", r"input(?<!\winput)\("),
    )
)
"""Text that a file must contain to write to standard output, each with the pattern that confirms it."""
_IMPORTED: Final = regex(
    r"from[ \t]+(?:sys|os|subprocess)[ \t]+import[^\n]*\b(?:__stdout__|stdout|system|run|call|check_call|Popen)\b"
)
"""Imports that make these names usable without their module."""
_QUOTED: Final = regex(r'"""[\s\S]*?"""|#[^\n]*')
MAX_LINE: Final = 1_000
"""A match further into its line than this counts without a look at the line."""
REDIRECTS: Final = frozenset({"contextlib.redirect_stdout"})
"""Context managers that replace `sys.stdout` for their block."""

_STDOUT: Final = frozenset({"sys.stdout", "sys.__stdout__"})
_STREAMS: Final = _STDOUT | {f"{name}.buffer" for name in _STDOUT}
_METHODS: Final = frozenset(f"{stream}.{method}" for stream in _STREAMS for method in ("write", "writelines"))
_ONLY_LOOK: Final = frozenset(
    {"isinstance", "issubclass", "hasattr", "getattr", "setattr", "id", "repr", "str", "type", "bool",
     "redirect_stdout", "patch", "object", "append", "TextIOWrapper"}
)  # fmt: skip
"""Functions that take `sys.stdout` and do not write to it."""


class _Stream(NamedTuple):
    """A function that writes to a stream, with the name and position of its stream parameter."""

    name: str
    place: int | None = None
    has_err: bool = False
    """Whether `err=True` sends it to standard error, as in click."""


_PRINTS: Final[dict[str, _Stream]] = {
    "builtins.print": _Stream("file"),
    "rich.print": _Stream("file"),
    "pprint.pprint": _Stream("stream", 1),
    "pprint.pp": _Stream("stream", 1),
    **dict.fromkeys(("click.echo", "typer.echo"), _Stream("file", 1, has_err=True)),
    **dict.fromkeys(("click.secho", "typer.secho"), _Stream("file", 1, has_err=True)),
}
_OPTIONS: Final = frozenset({"sep", "end", "file", "flush"})
"""The keywords of `print`."""
_CHILDREN: Final[dict[str, int | None]] = {
    "os.system": None,
    **dict.fromkeys((f"subprocess.{name}" for name in ("run", "call", "check_call", "Popen")), 4),
    "asyncio.create_subprocess_exec": None,
    "asyncio.create_subprocess_shell": None,
}
"""Functions that start a child process, with the position of their `stdout` parameter."""
_STARTERS: Final = frozenset({name.rpartition(".")[2] for name in _CHILDREN})


@lru_cache(maxsize=16)
def may_write(text: str) -> bool:
    """Whether a file may write to standard output, judged by its text."""
    patterns = [pattern for mark, pattern in _MARKS if mark in text]
    if not patterns:
        return False
    if _IMPORTED.search(text) is not None:
        return True
    # Drop comments and docstrings: examples print a lot.
    code = _QUOTED.sub("", text)
    return any(_in_function(code, match.start()) for pattern in patterns for match in pattern.finditer(code))


def _in_function(code: str, place: int) -> bool:
    """Whether a position may be inside a function: its line is indented, or defines one."""
    start = code.rfind("\n", 0, place) + 1
    if place - start > MAX_LINE or code[start].isspace():
        return True
    line = code[start:place]
    return "def " in line or "lambda" in line


def replaces_stdout(nodes: Iterable[ast.AST]) -> bool:
    """Whether some nodes assign to `sys.stdout`."""
    return any(
        isinstance(node, ast.Attribute) and type(node.ctx) is ast.Store and spelled(node) == "sys.stdout"
        for node in nodes
    )


def written_by(call: ast.Call, names: Sequence[str], scope: Scope) -> tuple[str, WriteKind] | None:
    """Return the name and kind of a call that writes to standard output; None if it does not, or is unclear.

    Args:
        call: The call.
        names: The functions outside the project that it may run.
        scope: The scope of the call.
    """
    for name in names:
        if name == "builtins.input":
            return "input()", "input"
        if name in _PRINTS:
            label = f"{name.removeprefix('builtins.')}()"
            return (label, "print") if _to_stdout(call, _PRINTS[name], scope) else None
        if name in _METHODS:
            return (f"{name}()", "print") if _METHODS.issuperset(_names(call.func, scope)) else None
        if name in _CHILDREN and _inherits(call, name, _CHILDREN[name]):
            return f"{name}()", "child"
    return _passed_stdout(call, scope)


def _to_stdout(call: ast.Call, stream: _Stream, scope: Scope) -> bool:
    """Whether a function definitely prints to standard output."""
    if any(keyword.arg is None for keyword in call.keywords):
        return False
    if stream is _PRINTS["builtins.print"] and any(keyword.arg not in _OPTIONS for keyword in call.keywords):
        return False  # `print(message, exc_info=True)` raises TypeError
    if stream.has_err:
        err = argument_of(call, "err", 3)
        if err is not None and not (isinstance(err, ast.Constant) and not err.value):
            return False
    if stream.place is not None and any(isinstance(argument, ast.Starred) for argument in call.args):
        return False
    target = argument_of(call, stream.name, stream.place)
    if target is None:
        # `partial(print, file=sys.stderr)` prints elsewhere.
        return not any(isinstance(value, CallValue) for value in options(evaluate(call.func, scope)))
    names = _names(target, scope)
    return "" not in names and not names.isdisjoint(_STDOUT | {"None"})


def _inherits(call: ast.Call, name: str, place: int | None) -> bool:
    """Whether a child process inherits standard output."""
    if name == "os.system":
        return True
    if any(keyword.arg in {None, "capture_output"} for keyword in call.keywords):
        return False
    if place is not None and any(isinstance(argument, ast.Starred) for argument in call.args):
        return False
    target = argument_of(call, "stdout", place)
    return target is None or (isinstance(target, ast.Constant) and target.value is None)


def _passed_stdout(call: ast.Call, scope: Scope) -> tuple[str, WriteKind] | None:
    """Return the label of a call with `sys.stdout` as an argument, which most likely writes to it."""
    name = last_name(call.func)
    if name in _ONLY_LOOK:
        return None
    for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
        if last_name(argument) not in {"stdout", "__stdout__", "buffer"}:
            continue
        streams = _names(argument, scope)
        if _STREAMS.issuperset(streams):
            return f"{name}({min(streams)})", "child" if name in _STARTERS else "print"
    return None


def _names(node: ast.expr, scope: Scope) -> frozenset[str]:
    """Return the names of all values that an expression may have; an empty string for an unknown one."""
    root: ast.expr = node
    while isinstance(root, ast.Attribute):
        root = root.value
    if isinstance(root, ast.Name):
        bound = scope.lookup(root.id)
        # In `def dump(out=None): out = out or sys.stdout`, only the caller knows the value of `out`.
        if bound is not None and any(binding.kind == "parameter" for binding in bound[1]):
            return frozenset({""})
    return frozenset(map(_name, options(evaluate(node, scope))))


def _name(value: Value) -> str:
    if isinstance(value, Const) and value.value is None:
        return "None"
    return value.name if isinstance(value, Symbol) else ""
