"""Rules written as libcst visitors: the nodes that they visit, the metadata that they can read, and their errors."""

# ruff: noqa: N802 - libcst has methods named after its nodes

from __future__ import annotations

import ast
import random
import re
from collections import Counter
from pathlib import Path
from types import ModuleType

import libcst as cst
import libcst.matchers as m
import pytest
from libcst.metadata import (
    ParentNodeProvider,
    PositionProvider,
    QualifiedNameProvider,
    TypeInferenceProvider,
)
from mcpcore_lint import testing
from mcpcore_lint.codemods import piece as piece_module, visiting
from mcpcore_lint.rule import Invalid
from mcpcore_lint.rules import all_rules
from mcpcore_lint.runner.engine import fix_source, lint_source
from mcpcore_lint.settings import Settings

from tests.lint.house import House

HEAD = "from mcp.server.fastmcp import FastMCP\n\nmcp = FastMCP('x')\n"
TOOL = HEAD + "\n@mcp.tool()\ndef fetch(key: str) -> str:\n"


@pytest.fixture
def rules(monkeypatch):
    """A function that registers rules for one test."""

    def add(*kinds):
        for kind in kinds:
            monkeypatch.setitem(all_rules(), kind.id, kind())
        return Settings(select=frozenset(kind.id for kind in kinds))

    return add


def messages(source, settings, **options):
    """Line and message of each finding; there must be no failure."""
    report = lint_source(source, path="server.py", settings=settings, **options)
    assert not report.failures, report.failures[0].detail
    return [(diagnostic.span.line, diagnostic.message) for diagnostic in report.diagnostics]


# -- what is shown ---------------------------------------------------------------------------------------------------


class Names(House):
    """Reports every name with its position."""

    def visit_Name(self, node):
        self.report(node, f"name {node.value}")


BODY = '''
@mcp.tool(
    name="größe"
)  # why
# a comment
async def größe(wert, *, ä=[1,
  2]) -> str:
    """Doc
not indented
    """
    async with a as b: c = wert; d = (
b)
    text = f"""{wert!r:>{b}}
at the margin {c}
"""
    if c:
\t# odd
        return d \\
            + text
    def inner(e): return e
    return [f for f in inner(d)] # last'''

NESTS = {
    "at the top": "{}",
    "in a class": "class Store:\n{}",
    "in a function": "def create():\n{}",
    "deep": "if True:\n  try:\n    class Store:\n      async def create():\n        with x:\n{}\n  finally:\n    pass",
    "in an else": "if a:\n    pass\nelif b:\n    b\nelse:\n{}\n",
    "in a case": "match a:\n    case 1:\n{}\n    case _:\n        pass",
    "in an except clause": "try:\n    a\nexcept E:\n{}\nfinally:\n    a",
}


def nested(shape, indent):
    """A tool at some depth, with the content of its strings and continued lines unchanged."""
    outer = NESTS[shape]
    depth = {"at the top": 0, "deep": 5, "in a case": 2}.get(shape, 1)
    lines = BODY.replace("\t# odd\n", "").split("\n")
    # Unindented lines inside strings and parentheses keep their margin.
    kept = {"not indented", "at the margin {c}", '"""', "b)", "  2]) -> str:"}
    unit = indent if shape != "deep" else "  "
    body = "\n".join(
        line
        if line in kept or not line
        else unit * depth + line.replace("    ", indent if line[:4] == "    " else "    ")
        for line in lines
    )
    if shape == "in a case":
        outer = outer.replace("    ", indent)
    return HEAD + outer.format(body) + "\n"


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("indent", ["    ", "\t", " "])
@pytest.mark.parametrize("shape", NESTS)
def test_positions_are_those_in_the_file(rules, shape, indent, newline):
    """Each name of a handler has its position in the file, however the handler is indented."""
    text = nested(shape, indent)
    ast.parse(text)
    source = text.replace("\n", newline)
    report = lint_source(source, path="server.py", settings=rules(Names))
    assert not report.failures, report.failures[0].detail
    lines = re.split("\r\n|\r|\n", source)
    names = [
        (lines[diagnostic.span.line - 1][diagnostic.span.column - 1 : diagnostic.span.end_column - 1])
        for diagnostic in report.diagnostics
    ]
    assert [diagnostic.message.removeprefix("name ") for diagnostic in report.diagnostics] == names
    tool = next(node for node in ast.walk(ast.parse(text)) if getattr(node, "name", "") == "größe")
    assert {node.id for node in ast.walk(tool) if isinstance(node, ast.Name)} <= set(names)
    assert "Store" not in names
    assert "create" not in names


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "cp1252"])
def test_positions_hold_in_other_encodings(rules, encoding):
    """Columns and edits count characters, however many bytes those take."""
    cookie = f"# -*- coding: {encoding} -*-\n" if encoding not in {"utf-8", "utf-8-sig"} else ""
    source = f"{cookie}{TOOL}    größe = 'äöü'; return größe\n".encode(encoding)
    report = lint_source(source, path="server.py", settings=rules(Names))
    last = [diagnostic.span for diagnostic in report.diagnostics if diagnostic.message == "name größe"][-1]
    assert (22 + 1 + 4, 32) == (last.column, last.end_column)


@pytest.mark.parametrize(
    "text",
    [
        TOOL + "    return key \\\n\n",
        TOOL + "    return key",
        TOOL.replace("@mcp.tool()", "@(  # @ comment\n mcp.tool(\n))") + "    return key\n",
        TOOL.replace("\ndef fetch", "\n\ndef fetch").replace("@mcp", "\f@mcp") + "    return key;\n\f\n",
        HEAD + "x = 1; mcp.add_tool(lambda key: key); y = 2\n",
        HEAD + "if x: mcp.add_tool(lambda key: key)\nelse: pass\n",
        HEAD + "class A:\n  b = 1; mcp.add_tool(\n lambda key: key\n)\n  c = 2\n",
    ],
)
def test_hostile_layouts_are_read(rules, text):
    """Continued lines, form feeds, parenthesised decorators, `;` and lambdas are split correctly."""
    ast.parse(text)
    report = lint_source(text, path="server.py", settings=rules(Names))
    assert not report.failures, report.failures[0].detail
    lines = text.split("\n")
    spans = [diagnostic.span for diagnostic in report.diagnostics if diagnostic.message == "name key"]
    assert spans
    assert {"key"} == {lines[span.line - 1][span.column - 1 : span.end_column - 1] for span in spans}


class Outside(House):
    """Reports every node that is visited outside handlers."""

    def visit_If(self, node):
        self.report(node, "if")

    def visit_ClassDef(self, node):
        self.report(node, f"class {node.name.value}")

    def visit_FunctionDef(self, node):
        self.report(node, f"function {node.name.value}")


def test_only_handlers_are_visited(rules):
    """The headers of enclosing blocks, other functions and other statements are not visited."""
    source = HEAD + (
        "def other():\n    if 1: pass\n"
        "if x:\n    class A:\n        @mcp.tool()\n        def fetch(self):\n            if 1: pass\n"
    )
    assert [(9, "function fetch"), (10, "if")] == messages(source, rules(Outside))


class WholeFile(Outside):
    """The same for files."""

    scope = "file"


def test_whole_files_are_visited_if_they_use_mcp(rules):
    """A rule for files visits all of a file that can define tools, and no other file."""
    source = "def other():\n    pass\n"
    assert [] == messages(source, rules(WholeFile))
    assert [(1, "function other")] == messages(source + HEAD + "mcp.add_tool(other)\n", rules(WholeFile))


def test_a_handler_of_another_file_has_positions_in_that_file(rules):
    """A handler that another file defines is visited there."""
    store = "\n\n\ndef fetch(key):\n    return key\n"
    source = HEAD + "from store import fetch\nmcp.add_tool(fetch)\n"
    report = lint_source(source, path="server.py", settings=rules(Outside), files={"store.py": store})
    assert [("store.py", 4, "fetch")] == [
        (diagnostic.path, diagnostic.span.line, diagnostic.tool) for diagnostic in report.diagnostics
    ]


def test_a_handler_in_a_handler_is_reported_once(rules):
    """A node that belongs to two handlers has one finding."""
    source = TOOL + "    @mcp.tool()\n    def inner():\n        if 1: pass\n    return inner\n"
    assert [(6, "function fetch"), (8, "function inner"), (9, "if")] == messages(source, rules(Outside))


class Worded(Names):
    """Reports names in code that contains a word."""

    words = ("needle",)


def test_code_without_the_words_is_not_parsed(rules, monkeypatch):
    """A rule that lists `words` costs nothing in code without them."""
    settings = rules(Worded)
    assert messages(TOOL + "    return needle\n", settings)
    monkeypatch.setattr(piece_module.Piece, "tree", None)
    assert [] == messages(TOOL + "    return key\n", settings)
    with pytest.raises(TypeError, match=r"words is one text: write a tuple of texts, \('needle',\)"):
        type("Wrong", (House,), {"words": "needle"})


# -- how it is visited -----------------------------------------------------------------------------------------------


class Log(House):
    """Records the order of calls."""

    def __init__(self):
        super().__init__()
        self.log = []

    def visit_Module(self, node):
        self.log.append("module")

    def visit_Call(self, node):
        self.log.append("call")
        return not (isinstance(node.func, cst.Name) and node.func.value == "skip")

    def leave_Call(self, original_node):
        self.log.append("/call")

    def visit_Name(self, node):
        self.log.append(node.value)

    def leave_Module(self, original_node):
        self.report(self.first, " ".join(self.log))

    def visit_Return(self, node):
        self.first = node


class LogByLibcst(Log):
    """The same, visited by libcst itself."""

    def visit_Return_value(self, node):
        self.log.append("value")


def test_methods_are_called_in_the_order_of_libcst(rules):
    """Children are skipped after a method returns False, and each handler is visited once."""
    source = TOOL + "    return a(skip(b), c)\n\n@mcp.tool()\ndef other(): return d\n"
    expected = "module mcp tool fetch key str str call /call"
    visited = dict(messages(source, rules(Log)))
    assert {7, 10} == visited.keys()
    plain = visited[7]
    assert plain.startswith("module call ")
    assert plain.endswith("call a call /call c /call"), expected
    assert "d" not in plain.split()
    assert plain == dict(messages(source, rules(LogByLibcst)))[7].replace("value ", "")


@pytest.mark.parametrize(("path", "seed"), [(piece_module.__file__, 0), (visiting.__file__, 1)])
def test_nodes_are_visited_in_the_order_of_libcst(path, seed):
    """The walk without copies visits the same nodes as libcst, in the same order."""
    with open(path) as file:
        tree = cst.parse_module(file.read())
    kinds = [member for member in vars(cst).values() if isinstance(member, type) and issubclass(member, cst.CSTNode)]
    for wanted in (
        kinds,
        random.Random(seed).sample(kinds, 5),
        [cst.Name, cst.Call],
        [cst.Comment],
        [cst.Is, cst.Comma],
    ):
        names = {node_class.__name__ for node_class in wanted}
        theirs: list[cst.CSTNode] = []

        class Theirs(cst.CSTVisitor):
            def on_visit(self, node):
                if type(node).__name__ in names:  # noqa: B023
                    theirs.append(node)  # noqa: B023
                return True

        ours: list[cst.CSTNode] = []
        methods = {f"visit_{name}": lambda self, node: ours.append(node) for name in names}  # noqa: B023
        kind = type("Kind", (House,), {**methods})
        tree.visit(Theirs())
        piece = type("Tree", (), {"tree": tree})
        visiting.visit(piece, [*tree.header, *tree.body, *tree.footer], kind, visiting.visiting_class(kind)())
        assert [id(node) for node in theirs] == [id(node) for node in ours]


class Matching(House):
    """A rule with matcher decorators."""

    def __init__(self):
        super().__init__()
        self.count = 0

    @m.visit(m.Call(func=m.Name("bad")) | m.Call(func=m.Attribute(attr=m.Name("bad"))))
    @m.call_if_inside(m.With())
    @m.call_if_not_inside(m.Lambda())
    def bad(self, node: cst.Call) -> None:
        self.count += 1
        self.report(node, f"bad {self.count}")

    @m.leave(m.Return(value=m.Integer("1")))
    def returns_one(self, original_node: cst.Return) -> None:
        self.report(original_node, "one")

    @m.call_if_inside(m.With())
    def visit_Pass(self, node: cst.Pass) -> None:
        self.report(node, "pass")


class MatchingAny(Matching):
    """The same rule with a method for an attribute."""

    def visit_Return_value(self, node: cst.Return) -> None:
        assert isinstance(node, cst.Return)


@pytest.mark.parametrize("kind", [Matching, MatchingAny])
def test_matcher_decorators_work(rules, kind):
    """Decorated methods are called as by libcst, on a new instance for each handler."""
    source = TOOL + (
        "    bad()\n    with x:\n        bad(a.bad())\n        lambda: bad()\n        pass\n    pass\n    return 1\n"
        "@mcp.tool()\ndef other():\n    with x: bad()\n"
    )
    assert [(9, "bad 1"), (9, "bad 2"), (11, "pass"), (13, "one"), (16, "bad 1")] == messages(source, rules(kind))


def test_a_method_that_would_never_be_called_is_named(rules):
    """A misspelt node name is a failure of the rule; the message suggests the closest name."""
    kind = type("Wrong", (House,), {"visit_Cal": lambda self, node: None})
    report = lint_source(TOOL + "    return 1\n", path="server.py", settings=rules(kind, Names))
    said = "Wrong.visit_Cal would never be called, since libcst has no Cal: did you mean visit_Call?"
    assert [f"the rule house-wrong crashed: TypeError: {said}"] == [failure.message for failure in report.failures]
    assert report.diagnostics
    with pytest.raises(TypeError, match="scope is 'tools': choose 'tool' or 'file'"):
        type("Wrong", (House,), {"scope": "tools"})


# -- what may be asked -----------------------------------------------------------------------------------------------


class Knows(House):
    """Reports metadata and values from the model."""

    METADATA_DEPENDENCIES = (QualifiedNameProvider,)

    def visit_Call(self, node):
        names = sorted(qualified.name for qualified in self.get_metadata(QualifiedNameProvider, node, ()))
        place = self.get_metadata(PositionProvider, node).start
        parent = type(self.get_metadata(ParentNodeProvider, node)).__name__
        value = getattr(self.value_of(node.func), "name", None)
        self.report(node, f"{names} {place.line}:{place.column} {parent} {value}")

    def visit_FunctionDef(self, node):
        names = [qualified.name for qualified in self.get_metadata(QualifiedNameProvider, node)]
        assert (self.tool.name.value, self.handler.name, self.file.path) == ("fetch", "fetch", "server.py")
        assert self.ctx.options == self.options == {"limit": 3}
        self.report(node, f"{names}")


def test_metadata_is_that_of_the_file(rules):
    """Positions are those in the file, names resolve by its imports, and the model knows the same nodes."""
    source = (
        "import os.path as p\nfrom httpx import get as g\n"
        + HEAD
        + "class Store:\n    @mcp.tool()\n    def fetch(self):\n        é = g(1); p.join(('é', (2)))\n"
    )
    settings = rules(Knows)
    reported = messages(source, Settings(select=settings.select, options={"house-knows": {"limit": 3}}))
    assert reported[-2:] == [
        (9, "['httpx.get'] 9:12 Assign httpx.get"),
        (9, "['os.path.join'] 9:18 Expr os.path.join"),
    ]
    assert (8, "['Store.fetch']") in reported


class Repeated(House):
    """Reads metadata in whole files, and counts its findings in each."""

    scope = "file"
    METADATA_DEPENDENCIES = (QualifiedNameProvider,)

    def __init__(self):
        super().__init__()
        self.count = 0

    def visit_ClassDef(self, node):
        kept = [base for base in node.bases if not m.matches(base.value, m.Name("object"))]
        none = {"lpar": cst.MaybeSentinel.DEFAULT, "rpar": cst.MaybeSentinel.DEFAULT}
        self.report(node, "object", replacement=node.with_changes(bases=kept, **none))

    def visit_Comparison(self, node):
        names = self.get_metadata(QualifiedNameProvider, node.comparisons[0].comparator, set())
        if "builtins.None" in {name.name for name in names}:
            target = node.comparisons[0].with_changes(operator=cst.Is())
            self.report(node, "None", replacement=node.with_changes(comparisons=[target]))

    @m.visit(m.Call(func=m.Name("print")))
    def look(self, node: cst.Call) -> None:
        parent = node
        while not isinstance(parent, cst.Module | cst.For):
            parent = self.get_metadata(ParentNodeProvider, parent)
        if isinstance(parent, cst.For):
            self.count += 1
            self.report(node, f"print {self.count}")


def test_a_rule_for_files_has_metadata_and_its_own_state(rules):
    """Names and parents are known in a whole file; a finding about a class is at its name, and its fix changes it."""
    source = (
        HEAD + "class Store( object ):\n    x = 1  # kept\n\n"
        "@mcp.tool()\ndef fetch(key):\n    for x in key: print( x )\n    return key==None\n"
    )
    settings = rules(Repeated)
    for _ in range(2):
        report = lint_source(source, path="server.py", settings=settings)
        assert [(4, 7, "object"), (9, 19, "print 1"), (10, 12, "None")] == [
            (diagnostic.span.line, diagnostic.span.column, diagnostic.message) for diagnostic in report.diagnostics
        ]
    fixed, _ = fix_source(source, path="server.py", settings=settings)
    assert source.replace("( object )", "").replace("key==None", "key is None") == fixed.after


class Undeclared(House):
    """Reads metadata that it did not declare."""

    def visit_FunctionDef(self, node):
        self.get_metadata(QualifiedNameProvider, node)


class Inferring(House):
    """Reads metadata that needs more than one file."""

    METADATA_DEPENDENCIES = (TypeInferenceProvider,)

    def visit_FunctionDef(self, node):
        self.get_metadata(TypeInferenceProvider, node)


def test_unavailable_metadata_is_a_failure_with_a_reason(rules):
    """The message says whether metadata was not declared or needs more than one file."""
    report = lint_source(TOOL + "    return 1\n", path="server.py", settings=rules(Undeclared, Inferring))
    assert "QualifiedNameProvider is not declared as a dependency in Undeclared" in report.failures[0].message
    assert "TypeInferenceProvider needs more than the text of one file" in report.failures[1].message


def test_metadata_is_computed_only_on_use(rules, monkeypatch):
    """A rule without findings does not compute even positions, whatever it declares."""
    monkeypatch.setattr(piece_module.Piece, "metadata", None)
    kind = type("Idle", (House,), {"visit_Call": lambda self, node: None})
    assert [] == messages(TOOL + "    return key()\n", rules(kind))


class Expressions(House):
    """Reports each expression in the model."""

    def on_visit(self, node):
        if isinstance(node, cst.BaseExpression):
            expression = self.ast_node(node)
            code = cst.Module([]).code_for_node(node)
            if expression is not None and not isinstance(node, cst.FormattedString | cst.ConcatenatedString):
                parsed = ast.dump(ast.parse(f"({code})", mode="eval").body)
                assert ast.dump(expression).replace("Store()", "Load()") == parsed.replace("Store()", "Load()"), code
                self.report(node, "known")
        return True


def test_nodes_are_found_in_the_model(rules):
    """A libcst expression and its counterpart in the model are the same code, with or without parentheses."""
    source = (
        TOOL
        + "    é = ((1), (x for x in (key)), ((key)), not key, {**key}, key[1:2], lambda a: (yield))\n    return (é)\n"
    )
    assert 15 < len(messages(source, rules(Expressions)))


# -- how it fails ----------------------------------------------------------------------------------------------------


class Crashing(House):
    """Fails at the second function."""

    def visit_FunctionDef(self, node):
        self.report(node, "before")
        if node.name.value == "other":
            raise KeyError("no such thing")


def test_a_crash_affects_only_its_rule(rules):
    """The rule's earlier findings are kept, and the other rules go on."""
    source = TOOL + "    return 1\n\n@mcp.tool()\ndef other(): return 1\n"
    report = lint_source(source, path="server.py", settings=rules(Crashing, Outside))
    assert ["the rule house-crashing crashed: KeyError: 'no such thing'"] == [
        failure.message for failure in report.failures
    ]
    assert "visit_FunctionDef" in report.failures[0].detail
    assert [("house-crashing", 6), ("house-outside", 6), ("house-crashing", 10), ("house-outside", 10)] == [
        (diagnostic.rule, diagnostic.span.line) for diagnostic in report.diagnostics
    ]


def test_code_that_libcst_cannot_read_is_a_failure_with_its_place(rules):
    """If only libcst cannot parse a handler, each such rule reports that, and other handlers are still checked."""
    source = (
        HEAD + "@mcp.tool()\ndef fetch():\n    if 1:\n        \\\n        x\n\n@mcp.tool()\ndef other(): return 1\n"
    )
    ast.parse(source)
    report = lint_source(source, path="server.py", settings=rules(Names, Outside))
    assert ["house-names", "house-outside"] == [failure.rule for failure in report.failures]
    assert (
        "libcst cannot read the code from line 4 on, which Python can: expected INDENT at line 8"
        in report.failures[0].message
    )
    assert [(11, "function other")] == [
        (diagnostic.span.line, diagnostic.message)
        for diagnostic in report.diagnostics
        if diagnostic.rule == "house-outside"
    ]


@pytest.mark.parametrize("body", ["a" + ".b()" * 900, " + ".join(["'a'"] * 900), "[" * 90 + "]" * 90])
def test_deep_code_fails_with_a_reason_at_worst(rules, body):
    """Code nested too deeply for libcst does not crash the interpreter."""
    source = TOOL + f"    return bad({body})\n"
    report = lint_source(source, path="server.py", settings=rules(Names, MatchingAny))
    assert all("nested too deeply for libcst" in failure.message for failure in report.failures)


def test_a_node_that_the_rule_created_is_refused(rules):
    """A finding needs a position, which only nodes of the file have."""
    kind = type("Made", (House,), {"visit_Return": lambda self, node: self.report(cst.Name("x"), "x")})
    report = lint_source(TOOL + "    return 1\n", path="server.py", settings=rules(kind))
    assert "this Name is not part of the visited code" in report.failures[0].message


def test_a_rule_that_visits_nothing_has_no_tool():
    """What a rule can ask about its tool exists only while it visits code."""
    with pytest.raises(RuntimeError, match="Names is not visiting anything"):
        _ = Names().tool


# -- what it changes -------------------------------------------------------------------------------------------------


class Calls(House):
    """Replaces `old(...)` with `new(...)`."""

    def visit_Call(self, node):
        if m.matches(node.func, m.Name("old")):
            self.report(node, "old is old", replacement=node.with_changes(func=cst.Name("new")))


class Drop(House):
    """Removes statements, and replaces one with several."""

    def visit_SimpleStatementLine(self, node):
        if m.matches(node, m.SimpleStatementLine([m.Expr(m.Name("drop"))])):
            self.report(node, "drop", replacement=cst.RemoveFromParent())
        if m.matches(node, m.SimpleStatementLine([m.Expr(m.Name("twice"))])):
            once = node.with_changes(body=[cst.Expr(cst.Name("once"))])
            self.report(node, "twice", replacement=cst.FlattenSentinel([once, once.deep_clone()]), unsafe=True)
        if m.matches(node, m.SimpleStatementLine([m.Expr(m.Name("branch"))])):
            self.report(node, "branch", replacement=cst.parse_statement("if new:\n    pass\nelse:\n    pass\n"))


def test_a_fix_is_the_smallest_edit(rules):
    """The edit has only the characters that differ, and every other character of the file stays."""
    report = lint_source(TOOL + "    return  old( 1,2 )  # c\n", path="server.py", settings=rules(Calls))
    (finding,) = report.diagnostics
    assert ("old is old", "Do otherwise.", "Rewrite it") == (finding.message, finding.help, finding.fix.title)
    (edit,) = finding.fix.edits
    assert ("old", "new") == ((TOOL + "    return  old( 1,2 )")[edit.start : edit.end], edit.text)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("indent", ["\t", "  ", "    "])
def test_replaced_statements_follow_the_style_of_the_file(rules, indent, newline):
    """New blocks use the file's indentation and line ends, and surrounding comments are kept."""
    settings = rules(Drop)
    lines = ["class A:", "@mcp.tool()", "def fetch():", "# c", "drop", "x = 1 # d", "twice", "branch", "if x:", "drop"]
    depths = [0, 1, 1, 2, 2, 2, 2, 2, 2, 3]
    source = HEAD + "".join(f"{indent * depth}{line}\n" for depth, line in zip(depths, lines, strict=True))
    source = source.replace("\n", newline)
    fixed, report = fix_source(source, path="server.py", settings=settings, unsafe=True)
    assert not report.failures
    lines = ["class A:", "@mcp.tool()", "def fetch():", "x = 1 # d", "once", "once"]
    lines += ["if new:", "pass", "else:", "pass", "if x:", "pass"]
    depths = [0, 1, 1, 2, 2, 2, 2, 3, 2, 3, 2, 3]
    wanted = HEAD + "".join(f"{indent * depth}{line}\n" for depth, line in zip(depths, lines, strict=True))
    assert wanted.replace("\n", newline) == fixed.after
    safe, _ = fix_source(source, path="server.py", settings=settings)
    assert "twice" in safe.after


class CallsInFiles(Calls):
    """The same for whole files."""

    scope = "file"


def test_whole_files_are_fixed_too(rules):
    """An expression over several lines keeps its indentation, at the top of a file and in blocks."""
    source = TOOL + "    x = old(\n      1,  # c\n\n    )\n\nold()\nif x:\n\told(old(\n2))\n"
    fixed, report = fix_source(source, path="server.py", settings=rules(CallsInFiles))
    assert not report.diagnostics
    assert source.replace("old(", "new(") == fixed.after


def test_cases_of_the_rule_are_run(rules):
    """The cases of such a rule are checked like those of any other, including its fixes."""
    case = Invalid(TOOL + "    return old(1)  # here\n", "old is old", fixed=TOOL + "    return new(1)\n")
    kind = type("Cased", (Calls,), {"invalid": (case,), "valid": (TOOL + "    return 1\n",)})
    rules(kind)
    assert kind.fixable
    testing.check_page(kind())
    for _, own_case in testing.cases(kind()):
        testing.check(kind(), own_case)
    wrong = {
        "must make": Invalid(TOOL + "    return old(1)  # here\n", fixed=TOOL + "    return other(1)\n"),
        "must find lines": Invalid(TOOL + "    # here\n    return old(1)\n"),
        "must be part of": Invalid(TOOL + "    return old(1)  # here\n", "other"),
        "must find something": Invalid(TOOL + "    return 1\n", files={"other.py": "old(1)\n"}),
    }
    for problem, case in wrong.items():
        with pytest.raises(AssertionError, match=problem):
            testing.check(kind(), case)


PAGE = Path(__file__).parents[3] / "docs" / "reference" / "lint.md"


def test_the_rules_in_the_docs_work(rules):
    """Each rule shown in full in the docs passes its own cases and has a complete page."""
    checked = Counter()
    for block in re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        if "CstRule" not in block:
            continue
        module = ModuleType("page")
        exec(block, vars(module))
        (kind,) = (value for value in vars(module).values() if isinstance(value, type) and value.__module__ == "page")
        rules(kind)
        testing.check_page(kind())
        for _, case in testing.cases(kind()):
            testing.check(kind(), case)
            checked[kind.id] += 1
    assert {"house-warn-is-warning": 2, "house-no-empty-call": 4} == checked
