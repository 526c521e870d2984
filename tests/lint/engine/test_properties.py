"""Generated code never crashes the linter, and fixes keep everything outside their edits."""

from __future__ import annotations

import ast

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from mcpcore_lint.codemods.edits import apply
from mcpcore_lint.diagnostics import Edit
from mcpcore_lint.engine.syntax.project import Project
from mcpcore_lint.engine.syntax.source import Source, SourceError
from mcpcore_lint.runner.engine import fix_source, lint_source

from tests.lint.engine.grammar import any_program

SLOW = settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
QUICK = settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))

WORDS = (
    "tool", "errors=[]", "FailureMode('a', ErrorCode.NOT_FOUND, when='x', recovery='y')", "ctx.fail('a')", "not_found('x')",
    "raise", "except", "try:", "return", "await", "lambda: 0", "@tool", "(", ")", "[", "]", "*E", "**k", "if 1 else", ":=",
    "E", "self.x", "CodedError(ErrorCode(-32001))", "from e", "\n", "\n    ", "\n        ", ":", ",", "=", "'", '"""', "#",
    "# mcpcore: ignore[unused-ignore]", "\t", "\\", "\x0c", "\r", "\u4e2d", "match x:", "case", "with suppress(E):", "yield",
    "async def f(ctx: Context[Literal['a']]):", "class A(B):", "global E", "E += [1]", "E.append(2)", "f'{x!r}'", "del E",
)  # fmt: skip
HEAD = "from mcpcore import *\nfrom mcpcore import tool, CodedError, ErrorCode, FailureMode, not_found, Context\nfrom typing import Literal\n"
PIECES = (
    "E = [FailureMode('a', ErrorCode.NOT_FOUND, when='w', recovery='call the other tool')]",
    "E = E + E", "E = [*E, E]", "E += [1]", "E.append(x)", "R = 'a' if R else R", "x = (lambda: x)()", "A = B", "B = A",
    "class A(B): pass", "class B(A): pass", "class C(CodedError):\n    code = ErrorCode.NOT_FOUND",
    "@tool(errors=E)\ndef f(ctx: Context[Literal['a']], q):\n    {body}",
    "@tool\nasync def g():\n    {body}", "def h(k):\n    {body}", "@h\ndef f(ctx):\n    {body}",
    "class S:\n    s: 'S'\n    @property\n    def p(self): return self.p\n    @tool(errors=E)\n    def m(self, ctx: Context): {inline}",
)  # fmt: skip
BODIES = (
    "raise ctx.fail('a')", "ctx.fail('b', data={'reason': x})", "raise not_found('x')", "f(); g(); h(h)", "return self.p.m(ctx)",
    "e = not_found('x')\n    raise e", "raise (not_found('x') if q else h())", "raise", "return {'error': str(q)}",
    "try:\n        h(f)\n    except Exception as e:\n        raise e\n    finally:\n        return []",
    "try:\n        raise not_found('x')\n    except* CodedError as e:\n        pass",
    "def n():\n        raise ValueError\n    n()\n    raise n", "raise C(x) from e", "raise ExceptionGroup('x', [not_found('x'), C])",
    "match q:\n        case [a, *b]:\n            raise a", "return ctx.recovery_for(q)", "h(lambda: h(lambda: f))", "with h() as x: x()",
)  # fmt: skip


def sound(report):
    """Check that nothing crashed and that every finding lies within the file."""
    assert report.failures == (), report.failures[0].detail
    for diagnostic in report.diagnostics:
        assert diagnostic.span.line >= 1
        assert diagnostic.span.column >= 1
        assert (diagnostic.span.end_line, diagnostic.span.end_column) >= (diagnostic.span.line, diagnostic.span.column)
        assert diagnostic.message
        assert diagnostic.help


@QUICK
@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=200) | st.binary(max_size=200))
def test_any_text_and_any_bytes_cause_at_most_findings(source):
    """Input that is not Python is a parse error."""
    sound(lint_source(source))


@QUICK
@given(st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join))
def test_broken_contract_code_is_checked_without_a_crash(source):
    """Fragments of contracts in any order never break the linter."""
    sound(lint_source(HEAD + source))


@st.composite
def programs(draw):
    pieces = draw(st.lists(st.sampled_from(PIECES), min_size=1, max_size=8))
    parts = []
    for piece in pieces:
        body = "\n    ".join(draw(st.lists(st.sampled_from(BODIES), min_size=1, max_size=4)))
        parts.append(piece.replace("{body}", body).replace("{inline}", "raise ctx.fail('a')"))
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    return (HEAD + "\n".join(parts) + "\n").replace("\n", newline)


@settings(SLOW, max_examples=80)
@given(programs())
def test_fixes_end_and_leave_valid_python(source):
    """For code full of cross-references, the fixed text parses and a second run fixes nothing."""
    sound(lint_source(source))
    for unsafe in (False, True):
        fixed, after = fix_source(source, unsafe=unsafe)
        sound(after)
        ast.parse(fixed.after)
        again, _ = fix_source(fixed.after, unsafe=unsafe)
        assert again.after == fixed.after
        if not fixed.count:
            assert fixed.after == source


@QUICK
@given(
    st.text(max_size=80), st.lists(st.tuples(st.integers(0, 80), st.integers(0, 80), st.text(max_size=5)), max_size=6)
)
def test_edits_change_nothing_outside_themselves(text, pairs):
    """Every character between non-overlapping edits is kept."""
    edits = []
    last = -1
    for start, end, new in sorted(pairs):
        if start > last and start <= end <= len(text):
            edits.append(Edit(start, end, new))
            last = end
    result = apply(text, edits)
    position = offset = 0
    for edit in edits:
        kept = text[position : edit.start]
        assert result[offset : offset + len(kept)] == kept
        offset += len(kept) + len(edit.text)
        position = edit.end
    assert result[offset:] == text[position:]


@QUICK
@given(
    st.binary(max_size=120),
    st.sampled_from([b"", b"\xef\xbb\xbf", b"# coding: latin-1\n", b"# -*- coding: cp1252 -*-\r\n"]),
)
def test_decoding_and_encoding_a_source_round_trips(raw, head):
    """Decoding and encoding gives the same bytes, or the file is refused."""
    try:
        source = Source.from_bytes("a.py", head + raw)
    except SourceError:
        return
    try:
        written = source.to_bytes(source.text)
    except UnicodeEncodeError:
        return
    assert written == head + raw


@QUICK
@given(st.text(max_size=60).map(lambda text: text.replace("\0", "")))
def test_offsets_and_positions_round_trip(text):
    """Every offset has one line and column, which convert back to it."""
    source = Source("a.py", text)
    for offset in range(len(text)):
        assert source.offset_at(*source.position(offset)) == offset


ODD = (
    "def f():\r\n    @g\r\n    def inner(): pass\r\n    class K:\r\n        async def m(self): pass\r\n",
    "def f():\n    if x:\n        \\\n        def inner(): pass\n",
    "def f(\n    a=lambda: 1,\n):\n\n    class K: pass\n",
    "def f():\r    def inner(): pass\r",
    "def f():\n\x0c    def inner():\n        def inmost(): pass\n",
    "class K:\n    def f(self): return [lambda: 1]\n    def g(self):\n        try: pass\n        finally:\n            def late(): pass\n",
)


def check_program(source):
    """Check that the linter reads a program to its end, and finds each of its functions and classes, at any depth."""
    sound(lint_source(HEAD + source if not source.startswith("from __future__") else source))
    try:
        module = Project(".").add("/case.py", Source("case.py", source))
    except SourceError:
        return
    definitions = {function for function in module.functions if not isinstance(function, ast.Lambda)} | set(
        module.classes
    )
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    assert definitions == {node for node in ast.walk(module.tree) if isinstance(node, kinds)}


@SLOW
@given(any_program)
def test_any_program_is_checked_and_its_functions_and_classes_are_found(source):
    """Generated programs of the whole grammar never break the linter."""
    check_program(source)


@pytest.mark.parametrize("source", ODD)
def test_functions_are_found_whatever_the_lines_of_their_definitions_look_like(source):
    """Decorators, line ends, indentation and one-line bodies make no difference."""
    check_program(source)
