"""Under Python 3.11 the linter also reads syntax of Python 3.12 and 3.14."""

from __future__ import annotations

import ast
import sys

import pytest
from hypothesis import given, strategies as st
from mcpcore_lint.engine.syntax.downlevel import downleveled
from mcpcore_lint.engine.syntax.source import Source, SourceError, parse

NEWER = [
    "def f[T](x: T) -> T: ...",
    "x = 1\nclass A:\n    async def f [T: (int, str)](self): ...",
    "class Box[\n    T,\n]: ...",
    "type A[T] = list[T]",
    "type Reason = Literal['a']",
    "def f():\n    x = 1; type A = int",
    "x = f'{d['a']}'",
    'x = f"{", ".join(x)!r:>{w["n"]}}"',
    "x = f'{'\\n'.join(x)}'",
    "x = f'''{\n    x  # it's\n}'''",
    "x = f'{x:{'>'}3}' 'y'",
    "x = f'{f\"{d['a']}\"}'",
    "x = f'{\n    name\n} in {d['a']}' 'y'",
    "x = f'{\n    d['a']\n}'\ntype A = int",
    "try: ...\nexcept ValueError, struct.error, _Own, OSError: ...",
    "try: ...\nexcept* ValueError, OSError: ...",
]
OTHERS = [
    "x = (\ndef f[T](x): ...",
    "try: ...\nexcept ValueError, e: ...",
    "# def f[T]():\nx = (",
    "'''\ndef f[T](): ...\n'''\nx = (",
    "f'{x'",
    "f'{x['",
    "f'{1 +}'",
    "f'{x]}'",
    "f'{x!}'",
    "def f(:\n    pass\ndef g[T](): ...",
    "def f[",
    "type = = 3",
    "type X == 3",
    "print 'a'",
    "x = bt'a'",
]


@pytest.mark.parametrize("text", NEWER)
def test_newer_syntax_is_read_by_an_older_python(text):
    """The rewritten source keeps its lines, and Python 3.11 parses it."""
    older = downleveled(text)
    if older is None:
        assert "'{" in text
        assert sys.version_info >= (3, 12), "f-strings that this Python reads are left alone"
        return
    ast.parse(older, feature_version=(3, 11))
    lines = zip(text.splitlines(), older.splitlines(), strict=True)
    assert all(len(before.encode()) == len(after.encode()) for before, after in lines)
    assert parse(Source("x.py", text)).body


@pytest.mark.parametrize(
    ("text", "older"),
    [
        ("type A=int", "A     =int"),
        ("if x:\n    type A[\n  T]=int", "if x:\n    A     \\\n    =int"),
        ("def \u00e4[\u00dc: str]\\\n  (x): ...", "def \u00e4         \\\n  (x): ..."),
        ("try: ...\nexcept A, b.C :...", "try: ...\nexcept(A,b.C) :..."),
        ("x = f'''{d['a']}'''\ntype A=int", "x = f'''{d[___]}'''\nA     =int"),
    ],
)
def test_the_rewritten_source(text, older):
    """The name of an alias moves to the start of its statement; strings in the braces of f-strings become names."""
    assert older == downleveled(text)


@pytest.mark.parametrize("text", OTHERS)
def test_other_mistakes_are_parse_errors(text):
    """A file that no Python version can parse is a parse error."""
    with pytest.raises(SourceError):
        parse(Source("x.py", text))


@given(st.text(alphabet="f'\"{}[]()=:!#\\\n dx,T") | st.lists(st.sampled_from(NEWER)).map("\n".join))
def test_any_text(text):
    """For any text, the rewriting ends and keeps the number of lines."""
    older = downleveled(text)
    assert older is None or len(older.splitlines()) == len(text.splitlines())


GENERIC = '''\
from typing import Literal

from mcpcore import Context, ErrorCode, FailureMode, not_found, tool

type Reason = Literal["no_match"]
type More = Literal["no_match", "gone"]

NO = FailureMode("no_match", ErrorCode.NOT_FOUND, when="None is found.", recovery="Call search_keys to find a key first.")


@tool(errors=[NO])
async def first[T](ctx: Context[Reason], flag: T) -> T:
    """Fetch a value by its key."""
    raise ctx.fail("nowhere")


@tool(errors=[NO])
async def second(ctx: Context[More]) -> str:
    """Fetch a value."""
    raise ctx.fail("no_match", f"{", ".join(["a"])}")


class Store[T]:
    def get[K](self, key: K) -> T:
        raise not_found("x")


def helper[T: (str, int)](x: T) -> T:
    if not x:
        raise not_found(f"{x!r:>{10}}")
    return x


@tool(errors=[NO])
async def third(ctx: Context[Literal["no_match"]], store: Store[int]) -> str:
    """Fetch a value."""
    store.get(3)
    helper("a")
    raise not_found("Nothing.")
'''


def test_rules_inside_newer_syntax(empty):
    """Aliases of reasons and generic functions, classes and methods work, and fixes keep the newer syntax."""
    empty.write("server.py", GENERIC)
    rules = "error-contract-fail-undeclared,error-contract-context-mismatch,error-contract-prefer-fail"
    assert [
        ("server.py", 14, "error-contract-fail-undeclared"),
        ("server.py", 18, "error-contract-context-mismatch"),
        ("server.py", 39, "error-contract-prefer-fail"),
    ] == empty.findings("--select", rules)
    text = empty.lint("--explain-calls", "third").stdout
    assert "third > Store.get" in text
    assert "third > helper" in text
    empty.lint("--fix", "--unsafe-fixes")
    fixed = (empty.root / "server.py").read_text()
    assert 'raise ctx.fail("no_match", "Nothing.")' in fixed
    assert 'f"{", ".join(["a"])}"' in fixed
