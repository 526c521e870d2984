"""Syntax that is newer than the Python which runs the linter is read all the same, or named where it cannot be."""

from __future__ import annotations

import ast
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcpcore_lint.syntax import downlevel, syntax_versions
from mcpcore_lint.syntax.source import Source, SourceError, parse

TYPE, ALIAS, FORMATTED, DEFAULT, TEMPLATE, EXCEPT, LAZY, UNPACKED = syntax_versions.SYNTAX
NEWER = [
    ("def f[T](x: T) -> T: ...", 1, TYPE),
    ("x = 1\nclass A:\n    async def f [T: (int, str)](self): ...", 3, TYPE),
    ("class Box[\n    T,\n]: ...", 1, TYPE),
    ("def f[T = int](x): ...", 1, DEFAULT),
    ("type A[T = dict[str, int]] = list[T]", 1, DEFAULT),
    ("type Reason = Literal['a']", 1, ALIAS),
    ("def f():\n    x = 1; type A = int", 2, ALIAS),
    ("x = f'{d['a']}'", 1, FORMATTED),
    ('x = f"{", ".join(x)!r:>{w["n"]}}"', 1, FORMATTED),
    ("x = f'{'\\n'.join(x)}'", 1, FORMATTED),
    ("x = 1\nx = f'''{\n    x  # it's\n}'''", 2, FORMATTED),
    ("x = f'{\n    x\n}'", 1, FORMATTED),
    ("x = f'{x:{'>'}3}' 'y'", 1, FORMATTED),
    ("x = t'{a}'", 1, TEMPLATE),
    ('x = rT"""\n{a}"""', 1, TEMPLATE),
    ("try: ...\nexcept A, b.C: ...", 2, EXCEPT),
    ("try: ...\nexcept *A, B: ...", 2, EXCEPT),
    ("lazy import json", 1, LAZY),
    ("x = 1\nlazy from a.b import c, d; lazy  import e", 2, LAZY),
    ("x = [*each for each in every]", 1, UNPACKED),
    ("x = {**each for each in every}", 1, UNPACKED),
    ("f(1, (\n    *a[1:2] for a in (b, c)\n))", 2, UNPACKED),
]
OLDER = [
    "x = (\ndef f[T](x): ...",
    "try: ...\nexcept ValueError, e: ...",
    "try: ...\nexcept socket.error, E: ...",
    "# def f[T]():\nx = (",
    "'''\ndef f[T](): ...\n'''\nx = (",
    "f'{x'",
    "f'{x['",
    "f'{1 +}'",
    "f'{x]}'",
    "f'{x)}'",
    "f'{(x])}'",
    "f'{x!}'",
    "def f(:\n    pass\ndef g[T](): ...",
    "def f[",
    "type = = 3",
    "type X == 3",
    "print 'a'",
    "x = bt'a'",
    "print t",
]


def failed(text):
    with pytest.raises(SourceError) as raised:
        parse(Source("x.py", text))
    return raised.value


HOPELESS = [
    "x = f'{\n    x\n}'",
    "x = f'{f\"{d['a']}\"}'",
    "class Box[\n    T,\n\n]: ...",
]
"""What has no older spelling at the same places."""
READ = [each for each in NEWER if each[0] not in HOPELESS]


@pytest.mark.parametrize(("text", "line", "name"), NEWER, ids=lambda each: repr(each)[:40])
def test_newer_syntax_is_named(text, line, name):
    """What is new is found where it stands."""
    told_by_trying(name)
    found = syntax_versions.find(text, len(text), version=(3, 11))
    since = ".".join(map(str, syntax_versions.SYNTAX[name]))
    where, _ = Source("x.py", text).position(found.start)
    assert (f"it needs Python {since}: {name}", line) == (found.message, where)


def told_by_trying(name):
    """An f-string is new where the Python at hand cannot read it."""
    if name is FORMATTED and sys.version_info >= (3, 12):
        pytest.skip("this Python reads it")


def places(tree):
    """The names of a program with where they stand."""
    return {(each.id, each.lineno, each.col_offset) for each in ast.walk(tree) if isinstance(each, ast.Name)}


@pytest.mark.parametrize(("text", "line", "name"), READ, ids=lambda each: repr(each)[:40])
def test_newer_syntax_is_read_by_an_older_python(text, line, name):
    """The older spelling is as long, line by line, and its names stand where those of the newer one do."""
    told_by_trying(name)
    spelled = downlevel.spelled(text, (3, 11))
    tree = ast.parse(spelled, feature_version=(3, 11))
    # A closing parenthesis has no room before the colon.
    more = 1 if name is EXCEPT else 0
    for before, after in zip(text.splitlines(), spelled.splitlines(), strict=True):
        assert len(after.encode()) - len(before.encode()) in {0, more}
    if syntax_versions.SYNTAX[name] <= sys.version_info[:2]:
        native = places(ast.parse(text))
        # Names within an f-string had places of their own making before Python 3.12.
        assert {each for each in places(tree) if sys.version_info >= (3, 12)} <= native
    assert parse(Source("x.py", text)).body


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("type A=int", "A     =int"),
        ("if x:\n    type A[\n  T]=int", "if x:\n    (    A\\\n   )=int"),
        ("def \u00e4[\u00dc: str]\\\n  (x): ...", "def \u00e4         \\\n  (x): ..."),
        ("""x = f"{d["it's"]}" """, """x = f"{d['it_s']}" """),
        ("""x = f"{'a' + "b"}" """, """x = f"{'a' + 'b'}" """),
        ('x = f"{f"{f(1)}"}"', "x = f\"{f'{f(1)}'}\""),
        ('x = f"{"""a"""}"', "x = f\"{'''a'''}\""),
        ('x = f"""{d["""a"""]}{"b"}"""', 'x = f"""{d[\'\'\'a\'\'\']}{"b"}"""'),
        ('x = f"{"\\N{DASH}\u20ac\\\u20ac"}"', "x = f\"{'__{DASH}\u20ac____'}\""),
    ],
)
def test_the_older_spelling(text, spelled):
    """Byte for byte as long; texts keep what they can."""
    told_by_trying(FORMATTED if 'f"' in text else None)
    assert downlevel.spelled(text, (3, 11)) == spelled
    ast.parse(spelled, feature_version=(3, 11))


@pytest.mark.parametrize("text", HOPELESS)
@pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python reads it")
def test_what_has_no_older_spelling_is_told(text):
    """The finding stands at the piece of syntax and says what it is and which Python reads it."""
    error = failed(text)
    assert error.newer
    assert "it needs Python 3.12: " in error.message


@pytest.mark.parametrize("text", OLDER)
def test_mistakes_are_not_taken_for_newer_syntax(text):
    """What no Python reads, or what fails before it comes to newer syntax, keeps the parser's own words."""
    error = failed(text)
    assert "needs Python" not in error.message
    assert not error.newer


@pytest.mark.parametrize(("text", "line", "name"), NEWER, ids=lambda each: repr(each)[:40])
def test_a_python_that_knows_it_is_told_nothing(text, line, name):
    """Syntax that the running Python knows is never what failed."""
    assert syntax_versions.find(text, len(text), version=(3, 15)) is None


@given(
    st.text(alphabet="ft'\"{}[]()=:!#\\\n dx,T") | st.lists(st.sampled_from([each[0] for each in NEWER])).map("\n".join)
)
def test_any_text(text):
    """Whatever the text, the search ends, what it names lies in the text, and the lines of the other spelling fit."""
    found = syntax_versions.find(text, len(text), version=(3, 11))
    assert found is None or 0 <= found.start < found.end <= len(text)
    spelled = downlevel.spelled(text, (3, 11))
    assert spelled is None or (found and len(spelled.splitlines()) == len(text.splitlines()))


def test_the_finding(empty):
    """The report names the syntax and the version, and the next step is another Python."""
    empty.write("x.py", "x = f'{\n    x\n}'\n")
    if sys.version_info >= (3, 12):
        pytest.skip("this Python reads it")
    text = empty.lint(code=1).stdout
    assert "it needs Python 3.12: quotes, comments or lines inside an f-string's braces\n  --> x.py:1:5\n" in text
    assert "help: run the linter under that Python, or exclude the file" in text


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
    """Aliases of reasons, generic functions, classes and methods are seen through."""
    empty.write("server.py", GENERIC)
    rules = "error-contract-fail-undeclared,error-contract-context-mismatch,error-contract-prefer-fail"
    assert [
        ("server.py", 14, "error-contract-fail-undeclared"),
        ("server.py", 18, "error-contract-context-mismatch"),
        ("server.py", 39, "error-contract-prefer-fail"),
    ] == empty.found("--select", rules)
    text = empty.lint("--explain-calls", "third").stdout
    assert "third > Store.get" in text
    assert "third > helper" in text
    empty.lint("--fix", "--unsafe-fixes")
    mended = (empty.root / "server.py").read_text()
    assert parse(Source("server.py", mended)).body
    assert 'raise ctx.fail("no_match", "Nothing.")' in mended
    assert 'f"{", ".join(["a"])}"' in mended
