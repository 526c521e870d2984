"""Runs over real files: what is read and cached, and how failures are reported."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from mcpcore_lint.rule import Rule
from mcpcore_lint.runner import checker, engine, pool
from mcpcore_lint.runner.engine import fix_source, lint_paths, lint_source
from mcpcore_lint.runner.groups import Walk
from mcpcore_lint.runner.runner import FilesRun
from mcpcore_lint.settings import PerFile, Settings

from tests.files import write_files
from tests.lint.fixing import fix_paths

EMPTY = 'from mcpcore import tool\n\n\n@tool(errors=[])\ndef {name}() -> str:\n    """Does it."""\n    return \'x\'\n'
ONLY = Settings(select=frozenset({"error-contract-empty", "parse-error", "linter"}), syntax_limit=500)


@pytest.fixture(autouse=True)
def _cache_folder(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("MCPCORE_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))


def write(root, **files):
    texts = {
        name.replace("__", "/") + ".py": text if isinstance(text, bytes) else textwrap.dedent(text)
        for name, text in files.items()
    }
    write_files(root, texts)


def shown(report):
    return [(diagnostic.path, diagnostic.span.line, diagnostic.rule) for diagnostic in report.diagnostics]


# -- what is read --------------------------------------------------------------------------------------------------


def test_every_python_file_below_a_folder_is_read_except_what_is_ignored(tmp_path):
    """`.gitignore` files at every level, negations, folders, `exclude`, virtual environments and dot folders count."""
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("skipped/\n*_gen.py\n!kept_gen.py\n/top.py\ndeep/**/x.py\n")
    names = [
        "a",
        "skipped__b",
        "c_gen",
        "kept_gen",
        "top",
        "sub__top",
        "deep__one__two__x",
        "deep__y",
        "out__z",
        ".hid__h",
    ]
    write(tmp_path, **{name: EMPTY.format(name=f"t{n}") for n, name in enumerate(names)})
    write(tmp_path, env__lib__v=EMPTY.format(name="v"), node_modules__n=EMPTY.format(name="n"))
    (tmp_path / "env" / "pyvenv.cfg").write_text("")
    (tmp_path / "sub" / ".gitignore").write_text("*.tmp\n")
    settings = Settings(select=ONLY.select, exclude=("out",))
    report = lint_paths([tmp_path], settings=settings, root=str(tmp_path))
    assert [path for path, _, _ in shown(report)] == ["a.py", "deep/y.py", "kept_gen.py", "sub/top.py"]
    assert report.failures == ()


def test_a_named_folder_is_no_environment(tmp_path):
    """A `pyvenv.cfg` in the folder of the project hides none of its files, on a walk or in an editor."""
    write(tmp_path, a=EMPTY.format(name="a"), env__b=EMPTY.format(name="b"))
    for folder in (tmp_path, tmp_path / "env"):
        (folder / "pyvenv.cfg").write_text("")
    report = lint_paths([tmp_path], settings=ONLY, root=str(tmp_path))
    assert ["a.py"] == [path for path, _, _ in shown(report)]
    walk = Walk(ONLY, str(tmp_path))
    assert (True, False) == tuple(walk.finds(str(tmp_path / name)) for name in ("a.py", "env/b.py"))


def test_templates_are_not_read_as_python(tmp_path):
    """Files of a template, whose names contain `{{`, are not Python yet."""
    for folder, name in (("{{ slug }}", "a.py"), ("{{cookiecutter.name}}/sub", "b.py"), ("plain", "{{ x }}.py")):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / name).write_text("from mcp.server.mcpserver import tool\nimport {{ slug }}\n")
    (tmp_path / "plain" / "{x}.py").write_text(EMPTY.format(name="t"))
    report = lint_paths([tmp_path], settings=ONLY, root=str(tmp_path))
    assert [path for path, _, _ in shown(report)] == ["plain/{x}.py"]
    assert report.files == 1


def test_a_file_named_on_the_command_line_is_always_read(tmp_path):
    """A file that is named directly is read even if it is excluded, whatever its name is."""
    write(tmp_path, out__z=EMPTY.format(name="z"))
    (tmp_path / "script").write_text(EMPTY.format(name="s"))
    (tmp_path / "{{ x }}.py").write_text(EMPTY.format(name="x"))
    settings = Settings(select=ONLY.select, exclude=("out",))
    named = [tmp_path / "out" / "z.py", tmp_path / "script", tmp_path / "{{ x }}.py"]
    report = lint_paths(named, settings=settings, root=str(tmp_path))
    assert [path for path, _, _ in shown(report)] == ["out/z.py", "script", "{{ x }}.py"]


def test_circular_and_dangling_links_are_ignored(tmp_path):
    """A link to a parent folder is not followed, and a dangling link does not fail the run."""
    write(tmp_path, a=EMPTY.format(name="a"))
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "nowhere.py").symlink_to(tmp_path / "gone.py")
    assert shown(lint_paths([tmp_path], settings=ONLY, root=str(tmp_path))) == [("a.py", 4, "error-contract-empty")]


def test_unreadable_paths_are_named_and_the_rest_is_checked(tmp_path, monkeypatch):
    """A missing path, a folder without permission and a file that vanishes are reported as failures."""
    write(tmp_path, a=EMPTY.format(name="a"), b=EMPTY.format(name="b"))
    real = checker.Checker.read

    def read(self, absolute):
        if absolute.endswith("b.py"):
            os.unlink(absolute)
        return real(self, absolute)

    monkeypatch.setattr(checker.Checker, "read", read)
    report = lint_paths([tmp_path, tmp_path / "missing.py"], settings=ONLY, root=str(tmp_path))
    assert shown(report) == [("a.py", 4, "error-contract-empty")]
    assert [(failure.path, "No such file" in failure.message) for failure in report.failures] == [
        ("missing.py", True),
        ("b.py", True),
    ]


@pytest.mark.parametrize(
    ("name", "content", "part", "place"),
    [
        ("syntax", b"import os\ndef f(:\n    pass\n", "invalid syntax", (2, 7)),
        ("latin", b"# caf\xe9\nx = 1\n", "byte 0xe9 is not valid utf-8", (1, 6)),
        ("unknown_encoding", b"# coding: klingon\nx = 1\n", "encoding that Python does not know", (1, 1)),
        ("null", b"x = 1\nmcp = '\0'\n", "null", (2, 8)),
        ("bom_and_cookie", b"\xef\xbb\xbf# coding: latin-1\nx = 1\n", "byte-order mark", (1, 1)),
        ("newer", b"type X[T, *Ts, **P] = ...\nprint(f'{'a'}' if (yield) := 3)\n", "cannot be read as Python", None),
        ("deep", b"x = " + b"(" * 5000 + b")" * 5000 + b"\n", "nest", None),
        ("deeper", b"x = " + b"-" * 100_000 + b"1\n", "nested too deeply", None),
    ],
)
def test_a_file_that_is_not_python_is_one_parse_error(tmp_path, name, content, part, place):
    """The parse error has the position of the mistake; the other files are checked."""
    write(tmp_path, good=EMPTY.format(name="a"), **{name: content})
    report = lint_paths([tmp_path], settings=ONLY, root=str(tmp_path))
    assert report.failures == ()
    (diagnostic,) = [diagnostic for diagnostic in report.diagnostics if diagnostic.path == f"{name}.py"]
    assert diagnostic.rule == "parse-error"
    assert part in diagnostic.message
    if place is not None and not (name == "null" and sys.version_info >= (3, 12)):
        assert (diagnostic.span.line, diagnostic.span.column) == place
    assert ("good.py", 4, "error-contract-empty") in shown(report)


@pytest.mark.parametrize(
    ("prefix", "newline", "indent"),
    [
        (b"", b"\n", b"\t"),
        (b"\xef\xbb\xbf", b"\r\n", b"    "),
        (b"# coding: latin-1\n# \xe9\n", b"\n", b"  "),
        (b"", b"\r", b"    "),
        (b"\x0c\n", b"\n", b"\t"),
    ],
)
def test_positions_count_characters_in_any_encoding(tmp_path, prefix, newline, indent):
    """Byte-order marks, CRLF, bare CR, tabs and form feeds do not move a finding."""
    line = "@tool(errors = [ ] )  # \u00e9\n@other\n".encode("latin-1" if b"latin" in prefix else "utf-8")
    text = prefix + (
        b"from mcpcore import tool\nother = lambda f: f\n'\xc3\xa9'; x = 1\n"
        + line
        + b"def f():\n"
        + indent
        + b"return 1\n"
    )
    (tmp_path / "a.py").write_bytes(text.replace(b"\n", newline) if newline != b"\n" else text)
    (diagnostic,) = lint_paths([tmp_path], settings=ONLY, root=str(tmp_path)).diagnostics
    assert (diagnostic.span.line - prefix.count(b"\n"), diagnostic.span.column, diagnostic.span.end_column) == (
        4,
        16,
        19,
    )


def test_columns_after_wide_characters_count_characters():
    """The parser counts bytes; findings count characters."""
    source = "from mcpcore import tool\nx = '\u4e2d\U0001f600'; y = tool(errors=[])(lambda: 1)\n"
    report = lint_source(source, settings=ONLY)
    assert [(diagnostic.span.line, diagnostic.span.column) for diagnostic in report.diagnostics] == [
        (2, source.split("\n")[1].index("[]") + 1)
    ]


def test_a_file_of_a_hundred_thousand_lines_is_checked(tmp_path):
    """There is no limit on the length of a file."""
    body = "".join(f"def f{n}(x):\n    return g{n}(x)\n\n\n" for n in range(25_000))
    write(tmp_path, big=(EMPTY.format(name="a") + body).encode())
    start = time.process_time()
    assert shown(lint_paths([tmp_path], settings=ONLY, root=str(tmp_path))) == [("big.py", 4, "error-contract-empty")]
    assert time.process_time() - start < 15


def test_nesting_does_not_break_the_linter(tmp_path):
    """Long sums, call chains and deep blocks cause neither a crash nor a failure."""
    lines = ["from mcpcore import tool", "X = " + " + ".join(["[]"] * 2000), "@tool(errors=X)", "def f(a):"]
    lines += ["    " + "  " * n + "if a:" for n in range(90)] + ["    " + "  " * 90 + "raise ValueError"]
    lines += ["    a" + ".b()" * 500, "    return " + "(" * 80 + "a" + ")" * 80, "Y = " + "[" * 90 + "]" * 90]
    write(tmp_path, a="\n".join(lines) + "\n")
    report = lint_paths([tmp_path], root=str(tmp_path))
    assert report.failures == ()
    assert "parse-error" not in {diagnostic.rule for diagnostic in report.diagnostics}


def test_code_is_never_executed(tmp_path):
    """Neither the file nor its imports are imported."""
    mark = tmp_path / "ran"
    code = f"open({str(mark)!r}, 'w').close()\nfrom mcpcore import tool\n"
    write(tmp_path, server=code + "import helper\n" + EMPTY.format(name="a"), helper=code, conftest=code)
    lint_paths([tmp_path], root=str(tmp_path))
    assert not mark.exists()
    assert "helper" not in sys.modules


def test_a_crash_of_one_rule_is_reported_and_the_rest_goes_on(tmp_path, monkeypatch):
    """The report names the rule and the file; the other rules and files are still checked."""

    class Crashes(Rule):
        id = "crashes"
        severity = checker.Severity.INFO
        family = "project"

        def check_tool(self, tool, ctx):
            if tool.display_name == "a":
                raise ZeroDivisionError("oops")

    rules = {**checker.all_rules(), "crashes": Crashes()}
    monkeypatch.setattr(checker, "all_rules", lambda: rules)
    write(tmp_path, a=EMPTY.format(name="a"), b=EMPTY.format(name="b"))
    settings = Settings(select=frozenset({"crashes", "error-contract-empty"}))
    report = lint_paths([tmp_path], settings=settings, root=str(tmp_path))
    assert [(failure.path, failure.rule) for failure in report.failures] == [("a.py", "crashes")]
    assert "ZeroDivisionError: oops" in report.failures[0].message
    assert "check_tool" in report.failures[0].detail
    assert shown(report) == [("a.py", 4, "error-contract-empty"), ("b.py", 4, "error-contract-empty")]


# -- suppressions and settings -------------------------------------------------------------------------------------


def test_suppressions_hold_for_their_line_their_statement_and_their_file(tmp_path):
    """A comment covers its line, the whole statement that begins there, or the file if it is at the top."""
    why = "because"
    write(
        tmp_path,
        line=EMPTY.format(name="a").replace("errors=[])", f"errors=[])  # mcpcore: ignore[error-contract-empty] {why}"),
        statement=EMPTY.format(name="b").replace(
            "@tool(errors=[])", f"@tool(  # mcpcore: ignore[error-contract-empty] {why}\n    errors=[],\n)"
        ),
        file=f'"""Doc."""\n# mcpcore: ignore-file[error-contract-empty] {why}\n' + EMPTY.format(name="c"),
        late=EMPTY.format(name="d") + f"# mcpcore: ignore-file[error-contract-empty] {why}\n",
        string="x = '''\n# mcpcore: ignore-file[error-contract-empty] why\n'''\n" + EMPTY.format(name="e"),
    )
    report = lint_paths([tmp_path], settings=ONLY, root=str(tmp_path))
    findings = shown(report)
    assert [finding for finding in findings if finding[0] in {"line.py", "statement.py", "file.py"}] == []
    assert ("late.py", 4, "error-contract-empty") in findings
    assert ("late.py", 8, "unused-ignore") in findings
    assert ("string.py", 7, "error-contract-empty") in findings
    assert report.suppressed == 3


def test_settings_select_ignore_and_change_severities_by_file(tmp_path):
    """Prefixes, families, single rules and per-file settings apply in this order."""
    write(tmp_path, a=EMPTY.format(name="a"), tests__b=EMPTY.format(name="b"))
    assert shown(lint_paths([tmp_path], settings=Settings(select=frozenset({"handler"})), root=str(tmp_path))) == []
    settings = Settings(
        select=frozenset({"error-contract"}),
        ignore=frozenset({"error-contract-unthrown"}),
        severities={"error-contract-empty": checker.Severity.INFO},
        per_file=(PerFile("tests/*", ignore=frozenset({"error-contract-empty"})),),
    )
    report = lint_paths([tmp_path], settings=settings, root=str(tmp_path))
    assert [(diagnostic.path, diagnostic.severity.label) for diagnostic in report.diagnostics] == [("a.py", "info")]


# -- tools of the whole project ------------------------------------------------------------------------------------

FALLBACK = """
    from mcpcore import ErrorCode, FailureMode, tool


    @tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="It is gone.", recovery="Call the other tool to find one.", fallback_tool="{to}")])
    def {name}() -> str:
        return "x"
    """
UNKNOWN_TOOL = Settings(select=frozenset({"error-contract-recovery-unknown-tool"}))


def test_a_tool_may_be_defined_in_any_file_of_the_run_and_of_the_project(tmp_path):
    """A fallback is looked up in all files of the project, also outside the run; a misspelt one is reported."""
    write(tmp_path, a=FALLBACK.format(name="a", to="z"), z=FALLBACK.format(name="z", to="aa"))
    both = lint_paths([tmp_path], settings=UNKNOWN_TOOL, root=str(tmp_path))
    assert [(diagnostic.path, "'a'" in diagnostic.message + diagnostic.help) for diagnostic in both.diagnostics] == [
        ("z.py", True)
    ]
    assert lint_paths([tmp_path / "a.py"], settings=UNKNOWN_TOOL, root=str(tmp_path)).diagnostics == ()
    source = (tmp_path / "a.py").read_text()
    assert lint_source(source, path="a.py", settings=UNKNOWN_TOOL, root=str(tmp_path)).diagnostics == ()


@pytest.mark.parametrize(
    ("other", "reported"),
    [
        ("# list_row is nice", True),
        ("print(list_row_count, 'the list_row of old')", True),
        ("def list_row() -> str: ...", False),
        ("mcp.add_tool(rows, name='list_row')", False),
        ("list_row = make()", False),
    ],
)
def test_a_mention_in_another_file_is_no_tool(tmp_path, other, reported):
    """Alone, a file is checked against the names that the others define, as editors check it."""
    write(tmp_path, a=FALLBACK.format(name="list_rows", to="list_row"), other=other)
    assert reported == bool(lint_paths([tmp_path / "a.py"], settings=UNKNOWN_TOOL, root=str(tmp_path)).diagnostics)


EXTERNAL = """
    from mcpcore.integrations.fastmcp import ContractMiddleware
    {more}
    def install(mcp):
        mcp.add_middleware(ContractMiddleware(external_tools={names}))
    """


@pytest.mark.parametrize(
    ("names", "more", "reported"),
    [
        ('["search_web"]', "", False),
        ("NAMES", 'NAMES = ("weather", "search_web")', False),
        ('[*OTHERS, "search_web"]', "from elsewhere import OTHERS", False),
        ("OTHERS", "from elsewhere import OTHERS", False),
        ("OTHERS", 'from others import OTHERS\n    OTHERS = [*OTHERS, "weather"]', False),
        ("make()", 'def make():\n        return frozenset({"search_web"})', False),
        ('["weather"]', "", True),
        ("None", "", True),
        ("[]", "", True),
    ],
)
def test_a_tool_of_another_server_may_be_named_in_any_file(tmp_path, names, more, reported):
    """Names in `external_tools=` exist; if its value is unknown or in a file outside the run, any name may exist."""
    write(tmp_path, a=FALLBACK.format(name="a", to="search_web"), main=EXTERNAL.format(names=names, more=more))
    (tmp_path / "others.py").write_text('OTHERS = ["search_web"]\n')
    report = lint_paths([tmp_path], settings=UNKNOWN_TOOL, root=str(tmp_path))
    assert report.failures == ()
    assert [diagnostic.path for diagnostic in report.diagnostics] == (["a.py"] if reported else [])
    alone = lint_paths([tmp_path / "a.py"], settings=UNKNOWN_TOOL, root=str(tmp_path))
    editor = lint_source((tmp_path / "a.py").read_text(), path="a.py", settings=UNKNOWN_TOOL, root=str(tmp_path))
    assert (alone.diagnostics, editor.diagnostics) == ((), ())


@pytest.mark.parametrize(
    "call",
    [
        'Server("x", external_tools=["search_web"])',
        'partial(Server, external_tools=["search_web"])',
        'mine.Host("x", external_tools=["search_web"])',
        'agents.Agent(external_tools=["search_web"])',
    ],
)
def test_external_tools_counts_on_any_call(tmp_path, call):
    """The option may be kept for a server that is made later, so the call that takes it does not matter."""
    (tmp_path / "mine.py").write_text("from mcpcore import Server\nclass Host(Server): ...\n")
    head = "import agents, mine\nfrom functools import partial\nfrom mcpcore import Server\n"
    write(tmp_path, a=FALLBACK.format(name="a", to="search_web"))
    (tmp_path / "main.py").write_text(f"{head}server = {call}\n")
    assert not lint_paths([tmp_path], settings=UNKNOWN_TOOL, root=str(tmp_path)).diagnostics


# -- the cache -----------------------------------------------------------------------------------------------------


def run(root, settings=None):
    report = lint_paths([root], settings=settings or Settings(), root=str(root), cache=True)
    assert report.failures == ()
    return report


def settle(root):
    """Make every file older than the time resolution in which a change could go unnoticed."""
    for path in root.rglob("*.py"):
        stat = path.stat()
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns - 10**10))


@pytest.fixture
def settled(tmp_path):
    """A folder with a file whose findings are cached."""
    write(tmp_path, a=EMPTY.format(name="a"))
    settle(tmp_path)
    return tmp_path


def test_the_second_run_checks_nothing_and_finds_the_same(tmp_path):
    """Results come from the cache, complete in every field."""
    write(tmp_path, a=EMPTY.format(name="a"), b=FALLBACK.format(name="b", to="nope"), c="x = 1\n")
    settle(tmp_path)
    first = run(tmp_path)
    second = run(tmp_path)
    assert (first.judged, second.judged) == (3, 0)
    assert second.diagnostics == first.diagnostics
    assert second.diagnostics
    assert second.tools == first.tools


def test_external_tools_are_cached_with_their_file(tmp_path):
    """An unchanged file still contributes its names; a name removed from a file disappears for all others."""
    write(tmp_path, a=FALLBACK.format(name="a", to="search_web"), b=EMPTY.format(name="b"))
    write(tmp_path, main=EXTERNAL.format(names='["search_web"]', more=""))
    settle(tmp_path)
    assert run(tmp_path, UNKNOWN_TOOL).diagnostics == ()
    write(tmp_path, b=EMPTY.format(name="c"))
    after = run(tmp_path, UNKNOWN_TOOL)
    assert (after.judged, after.diagnostics) == (1, ())
    write(tmp_path, main=EXTERNAL.format(names='["weather"]', more=""))
    assert [diagnostic.path for diagnostic in run(tmp_path, UNKNOWN_TOOL).diagnostics] == ["a.py"]


def test_a_run_from_the_cache_loads_neither_the_parser_nor_the_rules(settled):
    """A run without changes imports no heavy modules."""
    code = (
        "import sys; from mcpcore_lint.runner.engine import lint_paths; lint_paths(['.'], cache=True);"
        "print(sorted({'libcst', 'mcpcore_lint.rules', 'mcpcore_lint.engine.registrations.build', 'pydantic', 'mcp'} & set(sys.modules)))"
    )
    for expected in ("['mcpcore_lint.engine.registrations.build', 'mcpcore_lint.rules']", "[]"):
        done = subprocess.run([sys.executable, "-c", code], cwd=settled, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == expected


def test_a_change_reaches_every_file_that_depends_on_it(tmp_path):
    """An error raised in a called module, at any depth, affects the tool's file; other files stay cached."""
    write(
        tmp_path,
        server="from mcpcore import tool, Context, ErrorCode, FailureMode\nfrom store import load\n\n\n@tool(errors=[FailureMode('a', ErrorCode.CONFLICT, when='It is so.', recovery='Do something else about it.')])\ndef fetch(ctx: Context) -> str:\n    load()\n    raise ctx.fail('a')\n",
        store="from deep import go\n\n\ndef load():\n    go()\n",
        deep="def go():\n    return 1\n",
        other=EMPTY.format(name="other"),
    )
    settle(tmp_path)
    settings = Settings(select=frozenset({"error-contract-conformance", "error-contract-empty"}))
    assert [diagnostic.path for diagnostic in run(tmp_path, settings).diagnostics] == ["other.py"]
    write(tmp_path, deep="from mcpcore import not_found\n\n\ndef go():\n    raise not_found('x')\n")
    changed = run(tmp_path, settings)
    assert [diagnostic.path for diagnostic in changed.diagnostics] == ["other.py", "server.py"]
    assert changed.judged == 3
    write(tmp_path, deep="def go():\n    return 1\n")
    assert [diagnostic.path for diagnostic in run(tmp_path, settings).diagnostics] == ["other.py"]


def test_a_change_during_a_run_is_seen_by_the_next_one(tmp_path):
    """A called module that is edited, and one that appears, while files are checked: no stale result stays cached."""
    write(
        tmp_path,
        server="from mcpcore import tool, Context, ErrorCode, FailureMode\nfrom store import load\n\n\n@tool(errors=[FailureMode('a', ErrorCode.CONFLICT, when='It is so.', recovery='Do something else about it.')])\ndef fetch(ctx: Context) -> str:\n    load()\n    raise ctx.fail('a')\n",
        store="def load():\n    return 1\n",
    )
    settle(tmp_path)
    settings = Settings(select=frozenset({"error-contract-conformance"}))

    def count(progress=None):
        walk = Walk(settings, str(tmp_path)).run([tmp_path / "server.py"])
        return len(FilesRun(walk, cache=True, progress=progress).report().diagnostics)

    broken = "from mcpcore import not_found\n\n\ndef load():\n    raise not_found('x')\n"
    assert count(lambda *_: write(tmp_path, store=broken)) == 0
    assert count() == 1
    (tmp_path / "store.py").unlink()
    settle(tmp_path)
    assert count(lambda *_: write(tmp_path, store=broken)) == 0
    assert count() == 1


def test_added_and_removed_modules_are_noticed(tmp_path):
    """Adding or removing a module rechecks the files whose imports looked for it."""
    write(tmp_path, server=HEAD_SERVER)
    settle(tmp_path)
    settings = Settings(select=frozenset({"error-contract-conformance"}))
    assert run(tmp_path, settings).diagnostics == ()
    write(tmp_path, store="from mcpcore import not_found\n\n\ndef load():\n    raise not_found('x')\n")
    assert [diagnostic.path for diagnostic in run(tmp_path, settings).diagnostics] == ["server.py"]
    (tmp_path / "store.py").unlink()
    assert run(tmp_path, settings).diagnostics == ()


HEAD_SERVER = """
    from mcpcore import Context, ErrorCode, FailureMode, tool
    from store import load


    @tool(errors=[FailureMode("a", ErrorCode.CONFLICT, when="It is so.", recovery="Do something else about it.")])
    def fetch(ctx: Context) -> str:
        load()
        raise ctx.fail("a")
    """


def test_a_change_within_the_same_moment_and_of_the_same_size_is_seen(tmp_path):
    """The modification time of a file that changed just before the run is not trusted."""
    write(tmp_path, a=EMPTY.format(name="a"))
    stat = (tmp_path / "a.py").stat()
    assert len(run(tmp_path, ONLY).diagnostics) == 1
    (tmp_path / "a.py").write_text(EMPTY.format(name="a").replace("errors=[]", "title=''"))
    os.utime(tmp_path / "a.py", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert run(tmp_path, ONLY).diagnostics == ()


def test_touching_a_file_does_not_recheck_it(settled):
    """If the time has changed, the content decides."""
    run(settled, ONLY)
    os.utime(settled / "a.py", ns=(5, 5))
    assert run(settled, ONLY).judged == 0


def test_each_configuration_has_its_own_results(settled):
    """A run with another selection or severity does not use the cached results of the first."""
    assert len(run(settled, ONLY).diagnostics) == 1
    assert run(settled, Settings(select=frozenset({"handler"}))).diagnostics == ()
    changed = run(settled, Settings(select=ONLY.select, severities={"error-contract-empty": checker.Severity.ERROR}))
    assert [diagnostic.severity.label for diagnostic in changed.diagnostics] == ["error"]


@pytest.mark.parametrize("damage", ["cut", "flip", "garbage", "empty", "folder"])
def test_a_damaged_cache_is_ignored_and_repaired(settled, damage):
    """Whatever the damage, the run reports the same findings and repairs the cache."""
    first = run(settled, ONLY)
    from mcpcore_lint.runner.cache import Cache

    file = Cache(Walk(ONLY, str(settled)), every=True).file
    raw = bytearray(Path(file).read_bytes())
    if damage == "cut":
        raw = raw[: len(raw) // 2]
    elif damage == "flip":
        raw[-5] ^= 255
    elif damage == "garbage":
        raw = bytearray(os.urandom(5000))
    elif damage == "empty":
        raw = bytearray()
    if damage == "folder":
        os.unlink(file)
        os.mkdir(file)
    else:
        Path(file).write_bytes(raw)
    assert run(settled, ONLY).diagnostics == first.diagnostics
    if damage != "folder":
        assert run(settled, ONLY).judged == 0


def test_a_failure_is_not_cached(settled, monkeypatch):
    """A file that crashed a rule is checked again in the next run."""
    with monkeypatch.context() as patch:
        patch.setattr(checker, "RuleContext", lambda *_: 1 / 0)
        assert lint_paths([settled], settings=ONLY, root=str(settled), cache=True).failures
    report = run(settled, ONLY)
    assert (report.judged, len(report.diagnostics)) == (1, 1)


def test_a_killed_run_leaves_the_cache_and_the_files_whole(tmp_path):
    """A `--fix` run killed at any moment leaves each file old or new, and a usable cache."""
    many = "from mcpcore import CodedError, ErrorCode, tool\n" + "".join(
        f'\n\n@tool\ndef t{n}() -> str:\n    """Does it."""\n    raise CodedError(ErrorCode.NOT_FOUND, \'x\')\n'
        for n in range(20)
    )
    for delay in (0.15, 0.3, 0.5):
        write(tmp_path, **{f"m{n}": many.replace(" t", f" m{n}_") for n in range(6)})
        before = {path: path.read_bytes() for path in tmp_path.glob("*.py")}
        command = [sys.executable, "-m", "mcpcore_lint", "--fix", "--unsafe-fixes"]
        process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL)
        time.sleep(delay)
        process.kill()
        process.wait()
        for path, old in before.items():
            text = path.read_bytes()
            compile(text, str(path), "exec")
            assert text == old or b"not_found" in text
        run(tmp_path)


# -- several processes ---------------------------------------------------------------------------------------------


def test_several_processes_find_the_same_as_one(tmp_path):
    """The report does not depend on the number of processes."""
    for n in range(60):
        write(
            tmp_path,
            **{f"pkg{n % 7}__m{n}": EMPTY.format(name=f"t{n}") + FALLBACK.format(name=f"f{n}", to=f"t{n // 2}")},
        )
    write(tmp_path, broken="def f(:\n")
    report = lint_paths([tmp_path], settings=Settings(jobs=1), root=str(tmp_path))
    assert report == lint_paths([tmp_path], settings=Settings(jobs=3), root=str(tmp_path))
    assert len(report.diagnostics) > 60


def test_a_process_that_dies_is_reported_and_the_others_go_on(tmp_path, monkeypatch):
    """The files of a killed process are reported as not checked; all others are checked."""
    for n in range(80):
        write(tmp_path, **{f"p{n // 40}__m{n:02d}": EMPTY.format(name=f"t{n}")})
    real = checker.Checker.read

    def read(self, absolute):
        if absolute.endswith("m45.py"):
            os.kill(os.getpid(), 9)
        return real(self, absolute)

    monkeypatch.setattr(checker.Checker, "read", read)
    monkeypatch.setattr(pool.threading, "active_count", lambda: 1)
    report = lint_paths([tmp_path], settings=Settings(select=ONLY.select, jobs=2), root=str(tmp_path))
    assert len(report.failures) == pool.CHUNK
    assert len(report.diagnostics) == 80 - pool.CHUNK
    assert "ended unexpectedly" in report.failures[0].message


# -- fixes ---------------------------------------------------------------------------------------------------------

FACTORY = Settings(select=frozenset({"prefer-error-factory"}))


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("head", [b"", b"\xef\xbb\xbf", b"# coding: latin-1\n# \xe9\xff\n"])
def test_fixes_keep_every_byte_outside_the_edit(tmp_path, newline, head):
    """Line ends, encodings, byte-order marks, tabs, odd spacing and missing final line ends are kept."""
    text = (
        "from mcpcore import CodedError, ErrorCode, not_found, tool   \n\x0c\n\n@tool\ndef a( ) :\n"
        '\t"""Does it."""\n\traise   CodedError( ErrorCode.NOT_FOUND,"x" )  # keep \t me  \n\n\n\n# end   '
    )
    raw = head + text.encode()
    raw = raw.replace(b"\n", newline.encode())
    (tmp_path / "a.py").write_bytes(raw)
    (tmp_path / "a.py").chmod(0o640)
    fixed, report = fix_paths([tmp_path], tmp_path, FACTORY, unsafe=True)
    assert [fixed_file.count for fixed_file in fixed] == [1]
    assert report.diagnostics == []
    after = (tmp_path / "a.py").read_bytes()
    start, end = raw.index(b"raise   "), raw.index(b"  # keep")
    assert after.startswith(raw[:start])
    assert after.endswith(raw[end:])
    assert b"not_found(" in after[start : len(after) - (len(raw) - end)]
    assert (tmp_path / "a.py").stat().st_mode & 0o777 == 0o640


def test_a_fix_that_breaks_the_file_is_not_made(monkeypatch):
    """Each result is parsed before it is kept; the other fixes are still made."""
    from mcpcore_lint.diagnostics import Edit

    class Breaks(Rule):
        id = "breaks"
        severity = checker.Severity.INFO
        family = "project"

        def check_file(self, module, ctx):
            if "good" not in module.source.text:
                ctx.report(module.tree.body[0], "x", help="x", fix=ctx.fix("good", [Edit(0, 0, "good = 1\n")]))
            ctx.report(
                module.tree.body[-1],
                "y",
                help="y",
                fix=ctx.fix("bad", [Edit(len(module.source.text), len(module.source.text), "def (")]),
            )

    monkeypatch.setattr(checker, "all_rules", lambda: {"breaks": Breaks()})
    fixed, _ = fix_source("x = 1\n", settings=Settings(select=frozenset({"breaks"})))
    assert fixed.after == "good = 1\nx = 1\n"


def test_a_file_that_changes_while_it_is_fixed_is_left_alone(tmp_path):
    """A concurrent change is not overwritten."""
    from mcpcore_lint.runner.files import put_in_place

    path = tmp_path / "a.py"
    path.write_text("new\n")
    with pytest.raises(OSError, match="changed by someone else"):
        put_in_place(str(path), b"mine\n", expected=b"old\n")
    assert path.read_text() == "new\n"
    assert list(tmp_path.iterdir()) == [path]


def test_the_report_of_a_source_covers_only_that_file(tmp_path):
    """Findings in other files of the project are left out."""
    write(
        tmp_path,
        modes="from mcpcore import ErrorCode, FailureMode\n\nMODES = [FailureMode('Bad Reason', ErrorCode.NOT_FOUND, when='', recovery='')]\n",
    )
    source = (
        "from mcpcore import tool\nfrom modes import MODES\n\n\n@tool(errors=MODES)\ndef a() -> str:\n    return 'x'\n"
    )
    assert {
        diagnostic.path for diagnostic in lint_source(source, path="server.py", root=str(tmp_path)).diagnostics
    } <= {"server.py"}
    assert engine.lint_paths([tmp_path], root=str(tmp_path)).diagnostics
