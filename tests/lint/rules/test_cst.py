"""Rules that are libcst visitors: what they are shown, what they may ask, and how they fail."""

# ruff: noqa: N802 - libcst has methods named after its nodes

from __future__ import annotations

import ast
import random
import re

import libcst as cst
import libcst.matchers as m
import pytest
from libcst.metadata import (
    ByteSpanPositionProvider,
    FilePathProvider,
    FullyQualifiedNameProvider,
    ParentNodeProvider,
    PositionProvider,
    QualifiedNameProvider,
    TypeInferenceProvider,
)
from mcpcore_lint import testing
from mcpcore_lint.codemods import CstRule
from mcpcore_lint.codemods import piece as piece_module
from mcpcore_lint.codemods import walk as walk_module
from mcpcore_lint.rule import Invalid
from mcpcore_lint.rules import all_rules
from mcpcore_lint.runner.engine import fix_source, lint_source
from mcpcore_lint.settings import Settings

HEAD = "from mcp.server.fastmcp import FastMCP\n\nmcp = FastMCP('x')\n"
TOOL = HEAD + "\n@mcp.tool()\ndef fetch(key: str) -> str:\n"


class House(CstRule):
    """The page that the rules of these tests share."""

    summary = "a test"
    why = "It is a test."
    bad = "x"
    good = "y"
    how_to_fix = "Do otherwise."
    when_to_suppress = "Never."


@pytest.fixture
def rules(monkeypatch):
    """A function that makes rules known for a test."""

    def add(*kinds):
        for kind in kinds:
            monkeypatch.setitem(all_rules(), kind.id, kind())
        return Settings(select=frozenset(kind.id for kind in kinds))

    return add


def told(source, settings, **options):
    """Line and message of each finding; there must be no failure."""
    report = lint_source(source, path="server.py", settings=settings, **options)
    assert not report.failures, report.failures[0].detail
    return [(each.span.line, each.message) for each in report.diagnostics]


# -- what is shown ---------------------------------------------------------------------------------------------------


class Names(House):
    """Every name, with the place that it is said to stand at."""

    id = "house-names"

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
    """A tool at some depth, its strings and joined lines left where they are."""
    outer = NESTS[shape]
    depth = {"at the top": 0, "deep": 5, "in a case": 2}.get(shape, 1)
    lines = BODY.replace("\t# odd\n", "").split("\n")
    # What stands at the margin inside of strings and parentheses stays there.
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
def test_places_are_those_of_the_file(rules, shape, indent, newline):
    """Each name of a handler is found where it stands, however the handler is indented."""
    text = nested(shape, indent)
    ast.parse(text)
    source = text.replace("\n", newline)
    report = lint_source(source, path="server.py", settings=rules(Names))
    assert not report.failures, report.failures[0].detail
    lines = re.split("\r\n|\r|\n", source)
    found = [
        (lines[each.span.line - 1][each.span.column - 1 : each.span.end_column - 1]) for each in report.diagnostics
    ]
    assert [each.message.removeprefix("name ") for each in report.diagnostics] == found
    tool = next(each for each in ast.walk(ast.parse(text)) if getattr(each, "name", "") == "größe")
    names = {each.id for each in ast.walk(tool) if isinstance(each, ast.Name)}
    assert names <= set(found)
    assert "Store" not in found
    assert "create" not in found


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "cp1252"])
def test_places_hold_in_other_encodings(rules, encoding):
    """Columns count characters, whatever bytes they take; edits are of characters too, and written back as bytes."""
    cookie = f"# -*- coding: {encoding} -*-\n" if encoding not in {"utf-8", "utf-8-sig"} else ""
    source = f"{cookie}{TOOL}    größe = 'äöü'; return größe\n".encode(encoding)
    report = lint_source(source, path="server.py", settings=rules(Names))
    last = [each.span for each in report.diagnostics if each.message == "name größe"][-1]
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
    """Joined lines, form feeds, decorators in parentheses, several statements on a line and lambdas are cut well."""
    ast.parse(text)
    report = lint_source(text, path="server.py", settings=rules(Names))
    assert not report.failures, report.failures[0].detail
    lines = text.split("\n")
    spans = [each.span for each in report.diagnostics if each.message == "name key"]
    assert spans
    assert {"key"} == {lines[each.line - 1][each.column - 1 : each.end_column - 1] for each in spans}


class Outside(House):
    """Whatever is visited outside of handlers."""

    id = "house-outside"

    def visit_If(self, node):
        self.report(node, "if")

    def visit_ClassDef(self, node):
        self.report(node, f"class {node.name.value}")

    def visit_FunctionDef(self, node):
        self.report(node, f"function {node.name.value}")


def test_only_handlers_are_shown(rules):
    """The headers that open the blocks round a handler, other functions and other statements are not visited."""
    source = HEAD + (
        "def other():\n    if 1: pass\n"
        "if x:\n    class A:\n        @mcp.tool()\n        def fetch(self):\n            if 1: pass\n"
    )
    assert [(9, "function fetch"), (10, "if")] == told(source, rules(Outside))


class WholeFile(Outside):
    """The same for files."""

    id = "house-whole"
    scope = "file"


def test_whole_files_are_shown_where_they_have_to_do_with_mcp(rules):
    """A rule for files sees all of a file that can define tools, and none of another."""
    source = "def other():\n    pass\n"
    assert [] == told(source, rules(WholeFile))
    assert [(1, "function other")] == told(source + HEAD + "mcp.add_tool(other)\n", rules(WholeFile))


def test_a_handler_of_another_file_is_shown_with_its_own_places(rules):
    """A handler that another file defines is visited there."""
    store = "\n\n\ndef fetch(key):\n    return key\n"
    source = HEAD + "from store import fetch\nmcp.add_tool(fetch)\n"
    report = lint_source(source, path="server.py", settings=rules(Outside), files={"store.py": store})
    assert [("store.py", 4, "fetch")] == [(each.path, each.span.line, each.tool) for each in report.diagnostics]


def test_a_handler_in_a_handler_is_told_once(rules):
    """What stands in two handlers is one finding."""
    source = TOOL + "    @mcp.tool()\n    def inner():\n        if 1: pass\n    return inner\n"
    assert [(6, "function fetch"), (8, "function inner"), (9, "if")] == told(source, rules(Outside))


class Worded(Names):
    """Names, in code that has a word."""

    id = "house-worded"
    words = ("needle",)


def test_code_without_the_words_is_not_parsed(rules, monkeypatch):
    """A rule that names the texts that it needs costs nothing where they are not."""
    settings = rules(Worded)
    assert told(TOOL + "    return needle\n", settings)
    monkeypatch.setattr(piece_module.Piece, "__init__", None)
    assert [] == told(TOOL + "    return key\n", settings)
    with pytest.raises(TypeError, match=r"words is one text: write a tuple of texts, \('needle',\)"):
        type("Wrong", (House,), {"words": "needle"})


# -- how it is visited -----------------------------------------------------------------------------------------------


class Log(House):
    """Tells in which order it was called."""

    id = "house-log"

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

    id = "house-log-libcst"

    def visit_Return_value(self, node):
        self.log.append("value")


def test_visiting_is_that_of_libcst(rules):
    """Methods are called in libcst's order, not inside of what a method returned False for, once for each handler."""
    source = TOOL + "    return a(skip(b), c)\n\n@mcp.tool()\ndef other(): return d\n"
    expected = "module mcp tool fetch key str str call /call"
    found = dict(told(source, rules(Log)))
    assert {7, 10} == found.keys()
    plain = found[7]
    assert plain.startswith("module call ")
    assert plain.endswith("call a call /call c /call"), expected
    assert "d" not in plain.split()
    by_libcst = dict(told(source, rules(LogByLibcst)))
    assert plain == by_libcst[7].replace("value ", "")


@pytest.mark.parametrize(("path", "seed"), [(piece_module.__file__, 0), (walk_module.__file__, 1)])
def test_nodes_come_in_the_order_of_libcst(path, seed):
    """The walk that copies nothing visits the same nodes as libcst, in the same order."""
    with open(path) as file:
        tree = cst.parse_module(file.read())
    kinds = [each for each in vars(cst).values() if isinstance(each, type) and issubclass(each, cst.CSTNode)]
    for wanted in (
        kinds,
        random.Random(seed).sample(kinds, 5),
        [cst.Name, cst.Call],
        [cst.Comment],
        [cst.Is, cst.Comma],
    ):
        names = {each.__name__ for each in wanted}
        theirs: list[cst.CSTNode] = []

        class Theirs(cst.CSTVisitor):
            def on_visit(self, node):
                if type(node).__name__ in names:  # noqa: B023
                    theirs.append(node)  # noqa: B023
                return True

        ours: list[cst.CSTNode] = []
        methods = {f"visit_{name}": lambda self, node: ours.append(node) for name in names}  # noqa: B023
        kind = type("Kind", (House,), {"id": "x", **methods})
        tree.visit(Theirs())
        piece = type("Tree", (), {"tree": tree, "roots": [*tree.header, *tree.body, *tree.footer]})
        visitor = walk_module.visiting_class(kind)()
        walk_module.walk(piece, [walk_module.Visit(visitor)])
        assert [id(each) for each in theirs] == [id(each) for each in ours]


class Matching(House):
    """A rule with matcher decorators."""

    id = "house-matching"

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
    def one(self, original_node: cst.Return) -> None:
        self.report(original_node, "one")

    @m.call_if_inside(m.With())
    def visit_Pass(self, node: cst.Pass) -> None:
        self.report(node, "pass")


class MatchingAny(Matching):
    """The same rule with a method for an attribute."""

    id = "house-matching-any"

    def visit_Return_value(self, node: cst.Return) -> None:
        assert isinstance(node, cst.Return)


@pytest.mark.parametrize("kind", [Matching, MatchingAny])
def test_matcher_decorators_work(rules, kind):
    """Decorated methods are called as by libcst, on a new instance for each handler."""
    source = TOOL + (
        "    bad()\n    with x:\n        bad(a.bad())\n        lambda: bad()\n        pass\n    pass\n    return 1\n"
        "@mcp.tool()\ndef other():\n    with x: bad()\n"
    )
    expected = [(9, "bad 1"), (9, "bad 2"), (11, "pass"), (13, "one"), (16, "bad 1")]
    assert expected == told(source, rules(kind))


class Asks(House):
    """Asks about matchers without decorators."""

    id = "house-asks"

    def visit_Return(self, node):
        names = self.findall(node, m.Name())
        assert self.matches(node, m.Return())
        assert "a" == self.extract(node, m.Return(value=m.SaveMatchedNode(m.Name(), "what")))["what"].value
        self.report(node, f"{len(names)} name", replacement=self.replace(node, m.Name("a"), cst.Name("b")))


def test_matchers_can_be_asked(rules):
    """`self.matches` and its like are there as in libcst's own visitor."""
    assert [(7, "1 name")] == told(TOOL + "    return a\n", rules(Asks))


def test_a_method_that_would_never_be_called_is_named(rules):
    """A misspelt node is a failure of the rule that names the near one."""
    kind = type("Wrong", (House,), {"id": "house-wrong", "visit_Cal": lambda self, node: None})
    report = lint_source(TOOL + "    return 1\n", path="server.py", settings=rules(kind, Names))
    said = "Wrong.visit_Cal would never be called, since libcst has no Cal: did you mean visit_Call?"
    assert [f"the rule house-wrong crashed: TypeError: {said}"] == [each.message for each in report.failures]
    assert report.diagnostics
    with pytest.raises(TypeError, match="scope is 'tools': choose 'tool' or 'file'"):
        type("Wrong", (House,), {"scope": "tools"})


# -- what may be asked -----------------------------------------------------------------------------------------------


class Knows(House):
    """Tells what the metadata and the model know."""

    id = "house-knows"
    METADATA_DEPENDENCIES = (QualifiedNameProvider, FullyQualifiedNameProvider, FilePathProvider)

    def visit_Call(self, node):
        names = sorted(each.name for each in self.get_metadata(QualifiedNameProvider, node, ()))
        place = self.get_metadata(PositionProvider, node).start
        parent = type(self.get_metadata(ParentNodeProvider, node)).__name__
        value = getattr(self.value_of(node.func), "name", None)
        span = self.get_metadata(ByteSpanPositionProvider, node)
        self.report(node, f"{names} {place.line}:{place.column} {parent} {value} {span.start}+{span.length}")

    def visit_Module(self, node):
        assert "server.py" == self.get_metadata(FilePathProvider, node).name

    def visit_FunctionDef(self, node):
        names = [each.name for each in self.get_metadata(FullyQualifiedNameProvider, node)]
        assert (self.tool.name.value, self.handler.name, self.file.path) == ("fetch", "fetch", "server.py")
        assert self.ctx.options == self.options == {"limit": 3}
        self.report(node, f"{names}")


def test_metadata_is_that_of_the_file(rules):
    """Positions are those in the file, names are known by the file's imports, and the model knows the same nodes."""
    source = (
        "import os.path as p\nfrom httpx import get as g\n"
        + HEAD
        + "class Store:\n    @mcp.tool()\n    def fetch(self):\n        é = g(1); p.join(('é', (2)))\n"
    )
    settings = rules(Knows)
    found = told(source, Settings(select=settings.select, options={"house-knows": {"limit": 3}}))
    start = len(source.encode()) - len(b"g(1); p.join(('\xc3\xa9', (2)))\n")
    assert found[-2:] == [
        (9, f"['httpx.get'] 9:12 Assign httpx.get {start}+4"),
        (9, f"['os.path.join'] 9:18 Expr os.path.join {start + 6}+19"),
    ]
    assert (8, "['server.Store.fetch']") in found


class Undeclared(House):
    """Asks for what it did not declare."""

    id = "house-undeclared"

    def visit_FunctionDef(self, node):
        self.get_metadata(QualifiedNameProvider, node)


class Inferring(House):
    """Asks for what a file alone does not tell."""

    id = "house-inferring"
    METADATA_DEPENDENCIES = (TypeInferenceProvider,)

    def visit_FunctionDef(self, node):
        self.get_metadata(TypeInferenceProvider, node)


def test_metadata_that_is_not_there_is_a_failure_with_a_reason(rules):
    """What is not declared, and what a file alone does not tell, is said as such."""
    report = lint_source(TOOL + "    return 1\n", path="server.py", settings=rules(Undeclared, Inferring))
    assert "QualifiedNameProvider is not declared as a dependency in Undeclared" in report.failures[0].message
    assert "TypeInferenceProvider needs more than one file" in report.failures[1].message


def test_no_metadata_is_made_that_nobody_asks_for(rules, monkeypatch):
    """A rule that finds nothing makes not even positions, whatever it declares."""
    monkeypatch.setattr(piece_module.Piece, "metadata", None)
    kind = type("Idle", (House,), {"id": "house-idle", "visit_Call": lambda self, node: None})
    assert [] == told(TOOL + "    return key()\n", rules(kind))


class Expressions(House):
    """Finds each expression in the model."""

    id = "house-expressions"

    def on_visit(self, node):
        if isinstance(node, cst.BaseExpression):
            found = self.ast_node(node)
            code = cst.Module([]).code_for_node(node)
            if found is not None and not isinstance(node, cst.FormattedString | cst.ConcatenatedString):
                parsed = ast.dump(ast.parse(f"({code})", mode="eval").body)
                assert ast.dump(found).replace("Store()", "Load()") == parsed.replace("Store()", "Load()"), code
                self.report(node, "known")
        return True


def test_nodes_are_found_in_the_model(rules):
    """An expression of libcst and its counterpart in the model are the same code, parentheses or not."""
    source = (
        TOOL
        + "    é = ((1), (x for x in (key)), ((key)), not key, {**key}, key[1:2], lambda a: (yield))\n    return (é)\n"
    )
    assert 15 < len(told(source, rules(Expressions)))


# -- how it fails ----------------------------------------------------------------------------------------------------


class Crashing(House):
    """Fails at the second function."""

    id = "house-crashing"

    def visit_FunctionDef(self, node):
        self.report(node, "before")
        if node.name.value == "other":
            raise KeyError("no such thing")


def test_a_crash_is_of_its_rule_alone(rules):
    """What a rule raises is reported as its crash; what it found before stays, and the other rules go on."""
    source = TOOL + "    return 1\n\n@mcp.tool()\ndef other(): return 1\n"
    report = lint_source(source, path="server.py", settings=rules(Crashing, Outside))
    assert ["the rule house-crashing crashed: KeyError: 'no such thing'"] == [each.message for each in report.failures]
    assert "visit_FunctionDef" in report.failures[0].detail
    assert [("house-crashing", 6), ("house-outside", 6), ("house-crashing", 10), ("house-outside", 10)] == [
        (each.rule, each.span.line) for each in report.diagnostics
    ]


def test_code_that_libcst_cannot_read_is_a_failure_with_its_place(rules):
    """Where Python reads what libcst does not, each such rule says so, and the other handlers are checked all the same."""
    source = (
        HEAD + "@mcp.tool()\ndef fetch():\n    if 1:\n        \\\n        x\n\n@mcp.tool()\ndef other(): return 1\n"
    )
    ast.parse(source)
    report = lint_source(source, path="server.py", settings=rules(Names, Outside))
    assert ["house-names", "house-outside"] == [each.rule for each in report.failures]
    assert (
        "libcst cannot read the code from line 4 on, which Python can: expected INDENT at line 8"
        in report.failures[0].message
    )
    assert [(11, "function other")] == [
        (each.span.line, each.message) for each in report.diagnostics if each.rule == "house-outside"
    ]


@pytest.mark.parametrize("body", ["a" + ".b()" * 900, " + ".join(["'a'"] * 900), "[" * 90 + "]" * 90])
def test_deep_code_fails_with_a_reason_at_worst(rules, body):
    """Code that is nested deeper than libcst can follow is no crash of the interpreter."""
    source = TOOL + f"    return bad({body})\n"
    report = lint_source(source, path="server.py", settings=rules(Names, MatchingAny))
    assert all("nested too deeply for libcst" in each.message for each in report.failures)


def test_a_node_of_its_own_making_is_refused(rules):
    """A finding needs a place: a node that was not handed to the rule has none."""
    kind = type(
        "Made", (House,), {"id": "house-made", "visit_Return": lambda self, node: self.report(cst.Name("x"), "x")}
    )
    report = lint_source(TOOL + "    return 1\n", path="server.py", settings=rules(kind))
    assert "this Name is not part of the visited code" in report.failures[0].message


def test_a_case_that_the_rule_never_sees_fails(rules):
    """A case without a tool would be valid for any rule of handlers; so is a file without MCP for those of files."""
    rules(Names, WholeFile)
    with pytest.raises(AssertionError, match="the case has no tool"):
        testing.check(Names(), testing.Valid("x = 1\n"))
    with pytest.raises(AssertionError, match="files that use MCP"):
        testing.check(WholeFile(), testing.Valid("x = 1\n"))
    with pytest.raises(RuntimeError, match="Names is not visiting anything"):
        _ = Names().tool


# -- what it changes -------------------------------------------------------------------------------------------------


class Calls(House):
    """Puts `new(...)` in the place of `old(...)`."""

    id = "house-calls"
    MESSAGE = "old is old."

    def visit_Call(self, node):
        if m.matches(node.func, m.Name("old")):
            self.report(node, replacement=node.with_changes(func=cst.Name("new")))


class Drop(House):
    """Takes statements out, and puts several in the place of one."""

    id = "house-drop"

    def visit_SimpleStatementLine(self, node):
        if m.matches(node, m.SimpleStatementLine([m.Expr(m.Name("drop"))])):
            self.report(node, "drop", replacement=cst.RemoveFromParent())
        if m.matches(node, m.SimpleStatementLine([m.Expr(m.Name("twice"))])):
            once = node.with_changes(body=[cst.Expr(cst.Name("once"))])
            self.report(node, "twice", replacement=cst.FlattenSentinel([once, once.deep_clone()]), unsafe=True)
        if m.matches(node, m.SimpleStatementLine([m.Expr(m.Name("branch"))])):
            self.report(node, "branch", replacement=cst.parse_statement("if new:\n    pass\nelse:\n    pass\n"))


def test_a_fix_is_the_smallest_edit(rules):
    """Nothing but the characters that differ is in the edit, and its title says what it does."""
    report = lint_source(TOOL + "    return  old( 1,2 )  # c\n", path="server.py", settings=rules(Calls))
    (found,) = report.diagnostics
    assert ("old is old", "Do otherwise.", "Write new( 1,2 )") == (found.message, found.help, found.fix.title)
    (edit,) = found.fix.edits
    assert ("old", "new") == ((TOOL + "    return  old( 1,2 )")[edit.start : edit.end], edit.text)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("indent", ["\t", "  ", "    "])
def test_statements_are_replaced_in_the_files_own_way(rules, indent, newline):
    """New blocks are indented and lines end as elsewhere in the file, and comments round them stay."""
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

    id = "house-calls-in-files"
    scope = "file"


def test_whole_files_are_mended_too(rules):
    """In a file an expression over several lines keeps its indentation, at the top and in blocks."""
    source = TOOL + "    x = old(\n      1,  # c\n\n    )\n\nold()\nif x:\n\told(old(\n2))\n"
    fixed, report = fix_source(source, path="server.py", settings=rules(CallsInFiles))
    assert not report.diagnostics
    assert source.replace("old(", "new(") == fixed.after


def test_cases_beside_the_rule_are_run(rules):
    """The cases of such a rule are checked like those of any other, its fixes with them."""
    case = Invalid(TOOL + "    return old(1)  # here\n", "old is old", fixed=TOOL + "    return new(1)\n")
    kind = type("Cased", (Calls,), {"id": "house-cased", "invalid": (case,), "valid": (TOOL + "    return 1\n",)})
    rules(kind)
    assert kind.fixable
    testing.check_page(kind())
    for _, each in testing.cases(kind()):
        testing.check(kind(), each)
    wrong = Invalid(TOOL + "    return old(1)  # here\n", fixed=TOOL + "    return other(1)\n")
    with pytest.raises(AssertionError, match="must make"):
        testing.check(kind(), wrong)
