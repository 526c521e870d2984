"""A file whose function bodies are parsed on first use has the same syntax tree as one parsed whole."""

from __future__ import annotations

import ast
import io
import pickle
import random
import sysconfig
from pathlib import Path

import mcpcore_lint
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.outline import complete, complete_all, deferred, forget, outline, settle
from mcpcore_lint.engine.syntax.project import Project
from mcpcore_lint.engine.syntax.source import Source, SourceError, parse
from mcpcore_lint.runner.engine import lint_paths

import mcpcore
from tests.lint.engine.grammar import any_program

SLOW = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
QUICK = settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
LONG = "    # " + "so long that it is put off " * 8 + "\n"

FILES = sorted(
    path
    for top, pattern in (
        (Path(mcpcore.__file__).parent, "**/*.py"),
        (Path(mcpcore_lint.__file__).parent, "**/*.py"),
        (Path(sysconfig.get_paths()["stdlib"]), "[a-i]*.py"),
        (Path(sysconfig.get_paths()["stdlib"]), "asyncio/*.py"),
    )
    for path in top.glob(pattern)
)


def dumped(tree):
    """All of a tree with all positions, several times as fast as `ast.dump`, and the same for equal trees as that is."""
    written = io.BytesIO()
    pickler = pickle.Pickler(written)
    pickler.fast = True  # an object that occurs twice is written twice, so that only values matter
    pickler.dump(tree)
    return written.getvalue()


def same(text, seed=0):
    """Compare an outline, completed in any order, with the whole tree; return the number of deferred functions."""
    source = Source("case.py", text)
    whole = dumped(parse(source))
    made = outline(source, lambda node: complete(node, source))
    if made is None:
        return 0
    tree, functions = made
    order = functions[:]
    random.Random(seed).shuffle(order)
    for function in order:
        assert deferred(function) is not None
        assert function.body
        assert deferred(function) is None
        assert type(function) in {ast.FunctionDef, ast.AsyncFunctionDef}
    settle(tree)
    assert dumped(tree) == whole
    return len(functions)


@pytest.mark.parametrize("part", range(8))
def test_real_files_are_the_same(part):
    """In the standard library and this project, nearly all files have deferred functions."""
    put_off = [same(Source.from_bytes(str(path), path.read_bytes()).text, part) for path in FILES[part::8]]
    assert sum(count > 0 for count in put_off) > len(put_off) / 2


@pytest.mark.slow
@SLOW
@given(any_program, st.integers())
def test_any_program_is_the_same(text, seed):
    """This holds for generated programs of the whole grammar."""
    try:
        parse(Source("case.py", text))
    except SourceError:
        return
    same(text, seed)


PARTS = st.sampled_from(
    (
        "def f(a, b=(1, 2)):\n", "    def g(self) -> dict[str, int]:\n", "async def h(\n    a,  # (\n    b: 'x:y' = ':',\n):\n",
        "class A:\n", "    x = 1\n", "        return 1\n", "    return '''\n", "'''\n", '    """\n', '"""\n', "text at the edge\n",
        "    x = (\n", "1,\n", "    )\n", "    x = 1 + \\\n", "2\n", "# comment\n", "    # comment\n", LONG, LONG, "@decorated\n",
        "    @decorated(lambda: 1)\n", "if x:\n", "    if x:\n", "else:\n", "    pass\n", "    else:\n        pass\n", "\n", "    f(\n'a'\n)\n",
        "def one(): return 1\n", "def k(x=lambda: 1): # why\n", "try:\n", "finally:\n", "    'it''s'\n", "    '\"\"\"'\n", "    'a\\\nb'\n",
        "    def inner():\n", "        def inmost(): pass\n", "match x:\n", "    case 1:\n", "    yield\n", "    \u4e2d = '\u4e2d'\n", "    f'{x!r}'\n",
    )
)  # fmt: skip


@QUICK
@given(st.lists(PARTS, max_size=30), st.integers())
def test_lines_in_any_order_are_the_same(parts, seed):
    """This includes lines that look like the end of a function, and strings that look like functions."""
    text = "".join(parts)
    try:
        parse(Source("case.py", text))
    except SourceError:
        return
    same(text, seed)


CASES = {
    "a text at the edge": f'def f():\n{LONG}    x = """\nnot the end\n"""\n    return x\n',
    "a function in a text": f'"""\ndef f():\n{LONG}    return 1\n"""\n\ndef g():\n{LONG}    return 2\n',
    "a function in the text of a class": f'class A:\n    """A.\n\n    def f():\n    {LONG}        return 1\n    """\n    x = 1\n',
    "a bracket that closes at the edge": f"def f():\n{LONG}    return [\n        1,\n]\n\n\ndef g():\n{LONG}    return 2\n",
    "values at the edge": f"def f():\n{LONG}    return [\n1, 2\n    ]\n",
    "a line that goes on at the edge": f"def f():\n{LONG}    return 1 + \\\n2\n\n\nx = 1\n",
    "a comment at the edge": f"def f():\n{LONG}    x = 1\n# not the end\n    return x\n\n\n# the end\nx = f()\n",
    "the last line has no end": f"def f():\n{LONG}    return 1",
    "a class that ends in a function": f"class A:\n    def f(self):\n    {LONG}        return 1  # why\n\n    # after\n\n\nx = 1\n",
    "blocks that end in functions": (
        f"if x:\n    try:\n        def f():\n        {LONG}            return 1\n    finally:\n"
        f"        class A:\n            async def g(self):\n            {LONG}                return (\n                    1)  # why\n"
        f"else:\n    match x:\n        case 1:\n            def h():\n            {LONG}                return '''\n'''\n"
    ),
    "signatures of several lines": f"async def f(\n    a=')',  # :\n    *,\n    b: 'x' = (1, [2]),\n) -> dict[str, 'y:z']:  # why\n{LONG}    return a\n",
    "quotes in quotes": f"def f():\n{LONG}    x = '\"\"\"'\n    return x\n\n\ndef g():\n{LONG}    '''x'''\n",
    "a lambda": f"def f(a=lambda: 1) -> (lambda: 2):\n{LONG}    return a\n",
    "nested functions": f"def f():\n{LONG}    def g():\n    {LONG}        class A:\n            def h(self): return 1\n    return g\n",
}


@pytest.mark.parametrize("text", CASES.values(), ids=CASES)
def test_a_line_that_looks_like_an_end_does_not_end_a_function(text):
    """Code inside a string does not start a function either."""
    same(text)


def test_function_bodies_are_deferred():
    """The outline has the signature of a function, and parses its body on first use."""
    text = f"@kept\ndef f(a: int = 1) -> int:\n{LONG}    return nowhere\n\n\ndef short(): return 1\n"
    source = Source("case.py", text)
    made = outline(source, lambda node: complete(node, source))
    assert made is not None
    tree, functions = made
    assert [function.name for function in functions] == ["f"]
    assert ast.unparse(functions[0].args) == "a: int=1"
    place = deferred(functions[0])
    assert place is not None
    assert (place.start, place.last_line) == (text.index("def f"), 5)
    assert "nowhere" not in {node.id for node in ast.walk(tree.body[1]) if isinstance(node, ast.Name)}
    assert "nowhere" in {node.id for node in ast.walk(functions[0]) if isinstance(node, ast.Name)}


def test_parsing_all_bodies_at_once_is_the_same():
    """Completing all functions together gives the tree of the whole file."""
    for path in FILES[::15]:
        source = Source.from_bytes(str(path), path.read_bytes())
        made = outline(source, lambda node, source=source: complete(node, source))
        if made is not None:
            tree, functions = made
            assert functions[0].body
            assert complete_all(functions, source)
            settle(tree)
            assert dumped(tree) == dumped(parse(source))


@pytest.mark.parametrize("end", ["", "\ndef broken(:\n"], ids=["valid", "broken"])
def test_many_functions_of_a_long_file_one_by_one(end):
    """Each function has its body, whether the file is completed in one pass or function by function."""
    count = 3_000
    text = "".join(f"def f{number}():\n{LONG}    def inner(): pass\n    return inner\n\n\n" for number in range(count))
    project = Project("/nowhere")
    module = Module(project, Source("case.py", text), "case", "/nowhere/case.py", is_package=False, whole=False)
    if end:
        module.source.text += end
    functions = [*module.functions]
    assert len(functions) == count
    for function in functions:
        assert function.body[-1].lineno - function.lineno == 3
        assert module.scope_of(function.body[0]).qualname == f"{function.name}.inner"
    assert len(module.functions) == 2 * count


def test_a_function_whose_file_was_released_is_empty():
    """It neither fails nor keeps the file in memory."""
    source = Source("case.py", f"def f():\n{LONG}    return 1\n")
    made = outline(source, lambda node: complete(node, source))
    assert made is not None
    forget(made[1][0])
    assert ast.unparse(made[1][0]) == "def f():\n    ..."


def test_a_body_that_is_not_python_is_unknown(tmp_path):
    """A tool that calls the function is still checked; its errors are unknown, without a crash."""
    (tmp_path / "service.py").write_text(
        f"def good():\n{LONG}    raise KeyError('x')\n\n\ndef bad():\n{LONG}    return (\n"
    )
    (tmp_path / "app.py").write_text(
        "from mcpcore import tool\n\nfrom service import bad, good\n\n\n@tool\ndef fetch() -> str:\n"
        '    """Fetch."""\n    good()\n    return bad()\n'
    )
    report = lint_paths([tmp_path / "app.py"], root=str(tmp_path))
    assert report.failures == ()
    assert [tool.name for tool in report.tools] == ["fetch"]
