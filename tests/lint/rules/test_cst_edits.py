"""Any replacement by a libcst rule leaves valid Python and changes nothing else in the file."""

# ruff: noqa: N802 - libcst has methods named after its nodes

from __future__ import annotations

import ast
import difflib

import libcst as cst
import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st
from mcpcore_lint.rules import all_rules
from mcpcore_lint.runner.engine import lint_source
from mcpcore_lint.settings import Settings

from tests.lint.fixing import fix_for_good, fix_paths
from tests.lint.house import House


class Renaming(House):
    """Replaces `old` with `renamed_name` everywhere."""

    def visit_Name(self, node):
        if node.value == "old":
            self.report(node, "old", replacement=node.with_changes(value="renamed_name"))


class Unwrapping(House):
    """Replaces `wrap(x)` with `(x)`."""

    def visit_Call(self, node):
        if isinstance(node.func, cst.Name) and node.func.value == "wrap" and len(node.args) == 1:
            inner = node.args[0].value
            lpar, rpar = [*node.lpar, cst.LeftParen()], [cst.RightParen(), *node.rpar]
            self.report(
                node,
                "wrap",
                replacement=inner.with_changes(lpar=[*lpar, *inner.lpar], rpar=[*inner.rpar, *rpar]),
            )


class Dropping(House):
    """Removes `drop` statements."""

    def visit_Expr(self, node):
        if isinstance(node.value, cst.Name) and node.value.value == "drop":
            self.report(node, "drop", replacement=cst.RemoveFromParent())


class Turning(House):
    """Swaps the branches of `if not a: ... else: ...`, including comments."""

    def visit_If(self, node):
        test, other = node.test, node.orelse
        if not isinstance(test, cst.UnaryOperation) or not isinstance(test.operator, cst.Not):
            return
        if isinstance(other, cst.Else) and isinstance(test.expression, cst.Name):
            turned = node.with_changes(
                test=test.expression.with_changes(lpar=[], rpar=[]),
                body=other.body,
                orelse=other.with_changes(body=node.body),
                whitespace_before_test=cst.SimpleWhitespace(" "),
            )
            self.report(node, "if not", replacement=turned)


RULES = (Renaming, Unwrapping, Dropping, Turning)
ON = Settings(select=frozenset(rule.id for rule in RULES))


@pytest.fixture(autouse=True)
def _known(monkeypatch):
    for kind in RULES:
        monkeypatch.setitem(all_rules(), kind.id, kind())


names = st.sampled_from(["old", "x", "größe", "drop"])
blank = st.sampled_from(["", " ", "  ", "\t", " \\\n "])
inside = st.sampled_from(["", " ", "\n", "\n\n      ", "  # old wrap(\n", "\t\f"])


@st.composite
def expressions(draw, depth=3):
    """An expression with odd spacing; in parentheses it spans several lines."""
    kind = draw(st.integers(0, 7 if depth else 1))
    if kind == 0:
        return draw(names)
    if kind == 1:
        return draw(st.sampled_from(["1", "'old'", '"""old\nwrap(x)\n"""', "f'{old}'", "b'old'"]))
    left, right = (draw(expressions(depth=depth - 1)) for _ in range(2))
    gap = draw(inside)
    if kind in {2, 3}:
        return f"wrap({gap}{left}{draw(inside)})"
    if kind == 4:
        return f"[{gap}{left},{draw(inside)}{right}{draw(inside)}]"
    if kind == 5:
        return f"({gap}{left}{draw(inside)})"
    if kind == 6:
        return f"{left}{draw(blank)}+{draw(blank)}{right}"
    return f"x({left},{gap}old={right})"


@st.composite
def blocks(draw, indent, unit, depth=2):
    """The lines of a block."""
    lines = []
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.integers(0, 4 if depth else 2))
        comment = draw(st.sampled_from(["", "  # old", " ; drop", "\t#drop"]))
        if kind == 0:
            lines.append(f"{indent}drop{comment}")
        elif kind == 1:
            lines.append(f"{indent}{draw(names)}{draw(blank)}={draw(blank)}{draw(expressions())}{comment}")
        elif kind == 2:
            lines.append(f"{indent}return {draw(expressions(depth=1))};x")
        else:
            test = draw(st.sampled_from(["x", "not old", "not (x)", "wrap(x)"]))
            lines += [f"{indent}if {test}:", draw(blocks(indent + unit, unit, depth - 1))]
            lines += draw(st.sampled_from([[], [f"{indent}# old", f"{indent}else: # drop"]]))
            if lines[-1].endswith("else: # drop"):
                lines.append(draw(blocks(indent + unit, unit, depth - 1)))
    return "\n".join(lines)


@st.composite
def servers(draw):
    """A file with handlers at several depths, and other code that must not change."""
    unit = draw(st.sampled_from(["    ", "\t", "  "]))
    text = "from mcp.server.fastmcp import FastMCP\nmcp = FastMCP('x')\nold = wrap(old)\n"
    for number in range(draw(st.integers(1, 2))):
        depth = draw(st.integers(0, 2))
        for level in range(depth):
            text += f"{unit * level}{draw(st.sampled_from(['class Old:', 'def old():', 'if not old:']))}\n"
        at = unit * depth
        text += f"{at}@mcp.tool()\n{at}# old\n{at}def tool_{number}(x=old):\n{draw(blocks(at + unit, unit))}\n"
        if depth:
            text += f"{unit * (depth - 1)}{unit}drop # old\n"
    text += draw(st.sampled_from(["", "drop", "# old", "drop;\n\f\n"]))
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))


TWO_FIXES_OF_A_LINE = """\
from mcp.server.fastmcp import FastMCP
mcp = FastMCP('x')
@mcp.tool()
def tool_0(x):
    if not old:
        drop
        drop
    # old
    else: # drop
        drop ; drop
"""


def handlers(text):
    """The offsets at which handlers start and end."""
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    return [
        (starts[node.decorator_list[0].lineno - 1], starts[node.end_lineno])
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("tool_")
    ]


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@example(TWO_FIXES_OF_A_LINE)
@given(servers())
def test_fixes_leave_valid_python_and_change_nothing_else(text):
    """Fixed code parses, nothing outside the handlers changes, and a second run changes nothing."""
    ast.parse(text)
    report = lint_source(text, path="server.py", settings=ON)
    assert not report.failures, report.failures[0].detail
    places = handlers(text)
    for diagnostic in report.diagnostics:
        assert diagnostic.fix is not None
        for edit in diagnostic.fix.edits:
            assert any(start <= edit.start and edit.end <= end for start, end in places)
            old = text[edit.start : edit.end]
            if "\n" in old + edit.text:
                assert edit.start == 0 or text[edit.start - 1] == "\n"
                assert text[edit.end : edit.end + 1] in {"\n", ""}
            else:
                assert not old or not edit.text or (old[0] != edit.text[0] and old[-1] != edit.text[-1])
    fixed, after = fix_for_good(text, settings=ON)
    assert not after.diagnostics
    assert _outside(text) == _outside(fixed.after)
    assert ("\r\n" in text) == ("\r\n" in fixed.after)
    if "\r\n" in text:
        assert fixed.after.count("\n") == fixed.after.count("\r\n")


def _outside(text):
    position = 0
    pieces = []
    for start, end in sorted(handlers(text)):
        pieces.append(text[position:start])
        position = end
    return [*pieces, text[position:]]


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(servers())
def test_one_fix_gives_the_file_that_libcst_writes(text):
    """Each fix alone gives the file that libcst would write with that one node replaced."""
    report = lint_source(text, path="server.py", settings=Settings(select=frozenset({"house-renaming"})))
    for finding in report.diagnostics:
        (edit,) = finding.fix.edits
        changed = text[: edit.start] + edit.text + text[edit.end :]
        lines = text.replace("\r\n", "\n").split("\n")
        line, column = finding.span.line - 1, finding.span.column - 1
        assert "old" == lines[line][column : column + 3]
        lines[line] = f"{lines[line][:column]}renamed_name{lines[line][column + 3 :]}"
        assert "\n".join(lines) == changed.replace("\r\n", "\n")


@pytest.mark.parametrize(
    ("encoding", "head"),
    [
        ("utf-8", b""),
        ("utf-8", b"\xef\xbb\xbf"),
        ("latin-1", b"# coding: latin-1\r\n"),
        ("cp1251", b"# coding: cp1251\n"),
    ],
)
def test_files_on_disk_keep_their_bytes(tmp_path, encoding, head):
    """A file's encoding, byte-order mark, line ends and trailing bytes are kept."""
    word = "größe" if encoding == "latin-1" else "размер" if encoding == "cp1251" else "größe размер"
    text = f"from mcp.server.fastmcp import FastMCP; mcp = FastMCP(1) # {word}\r\n@mcp.tool()\r\ndef f():\n\tx = '{word}' ;old\r\n\treturn '{word}', wrap ( old )\x0c\n# {word}"
    path = tmp_path / "server.py"
    path.write_bytes(head + text.encode(encoding))
    wanted = text.replace(";old", ";renamed_name").replace("wrap ( old )", "(renamed_name)")
    files, report = fix_paths([path], tmp_path, ON)
    assert not report.failures
    assert 1 == len(files)
    assert wanted.encode(encoding) == path.read_bytes()[len(head) :], [*difflib.ndiff([wanted], [files[0].after])]
