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
from mcpcore_lint.runner.engine import fix_paths, fix_source, lint_paths, lint_source
from mcpcore_lint.settings import PerFile, Settings

EMPTY = 'from mcpcore import tool\n\n\n@tool(errors=[])\ndef {name}() -> str:\n    """Does it."""\n    return \'x\'\n'
ONLY = Settings(select=frozenset({"error-contract-empty", "parse-error", "linter"}), syntax_limit=500)


@pytest.fixture(autouse=True)
def _cache_folder(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("MCPCORE_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))


def write(root, **files):
    for name, text in files.items():
        path = root / (name.replace("__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else textwrap.dedent(text).encode())


def shown(report):
    return [(each.path, each.span.line, each.rule) for each in report.diagnostics]


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


def test_templates_are_not_read_as_python(tmp_path):
    """Files of a template, whose names contain `{{`, are not Python yet."""
    for folder, name in (("{{ slug }}", "a.py"), ("{{cookiecutter.name}}/sub", "b.py"), ("plain", "{{ x }}.py")):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / name).write_text("from mcp.server.mcpserver import tool\nimport {{ slug }}\n")
    (tmp_path / "plain" / "{x}.py").write_text(EMPTY.format(name="t"))
    report = lint_paths([tmp_path], settings=ONLY, root=str(tmp_path))
    assert [path for path, _, _ in shown(report)] == ["plain/{x}.py"]
    assert report.files == 1


def test_a_file_that_is_named_is_read_whatever_is_ignored(tmp_path):
    """A file that is named directly is read even if it is excluded, whatever its name is."""
    write(tmp_path, out__z=EMPTY.format(name="z"))
    (tmp_path / "script").write_text(EMPTY.format(name="s"))
    (tmp_path / "{{ x }}.py").write_text(EMPTY.format(name="x"))
    settings = Settings(select=ONLY.select, exclude=("out",))
    named = [tmp_path / "out" / "z.py", tmp_path / "script", tmp_path / "{{ x }}.py"]
    report = lint_paths(named, settings=settings, root=str(tmp_path))
    assert [path for path, _, _ in shown(report)] == ["out/z.py", "script", "{{ x }}.py"]


def test_links_that_lead_round_in_a_circle_do_not_matter(tmp_path):
    """A link to a folder above is not followed, and one that leads nowhere is no failure of the run."""
    write(tmp_path, a=EMPTY.format(name="a"))
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "nowhere.py").symlink_to(tmp_path / "gone.py")
    report = lint_paths([tmp_path], settings=ONLY, root=str(tmp_path))
    assert shown(report) == [("a.py", 4, "error-contract-empty")]


def test_what_cannot_be_read_is_named_and_the_rest_is_checked(tmp_path, monkeypatch):
    """A missing path, a folder without permission and a file that vanishes are reported as failures."""
    write(tmp_path, a=EMPTY.format(name="a"), b=EMPTY.format(name="b"))
    real = checker.Checker.read

    def read(self, absolute, *, every):
        if absolute.endswith("b.py"):
            os.unlink(absolute)
        return real(self, absolute, every=every)

    monkeypatch.setattr(checker.Checker, "read", read)
    report = lint_paths([tmp_path, tmp_path / "missing.py"], settings=ONLY, root=str(tmp_path))
    assert shown(report) == [("a.py", 4, "error-contract-empty")]
    assert [(each.path, "No such file" in each.message) for each in report.failures] == [
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
def test_a_file_that_is_not_python_is_one_finding_with_its_place(tmp_path, name, content, part, place):
    """Each is named as a parse error where it goes wrong; the other files are checked."""
    write(tmp_path, good=EMPTY.format(name="a"), **{name: content})
    report = lint_paths([tmp_path], settings=ONLY, root=str(tmp_path))
    assert report.failures == ()
    (found,) = [each for each in report.diagnostics if each.path == f"{name}.py"]
    assert found.rule == "parse-error"
    assert part in found.message
    if place is not None and not (name == "null" and sys.version_info >= (3, 12)):
        assert (found.span.line, found.span.column) == place
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
def test_positions_count_characters_however_the_file_is_encoded(tmp_path, prefix, newline, indent):
    """Byte-order marks, CRLF, bare CR, tabs and form feeds move no finding."""
    line = "@tool(errors = [ ] )  # \u00e9\n@other\n".encode("latin-1" if b"latin" in prefix else "utf-8")
    text = prefix + (
        b"from mcpcore import tool\nother = lambda f: f\n'\xc3\xa9'; x = 1\n"
        + line
        + b"def f():\n"
        + indent
        + b"return 1\n"
    )
    (tmp_path / "a.py").write_bytes(text.replace(b"\n", newline) if newline != b"\n" else text)
    report = lint_paths([tmp_path], settings=ONLY, root=str(tmp_path))
    (found,) = report.diagnostics
    lines = prefix.count(b"\n")
    assert (found.span.line - lines, found.span.column, found.span.end_column) == (4, 16, 19)


def test_a_column_behind_wide_characters_is_in_characters():
    """The parser counts bytes; findings count characters."""
    source = "from mcpcore import tool\nx = '\u4e2d\U0001f600'; y = tool(errors=[])(lambda: 1)\n"
    report = lint_source(source, settings=ONLY)
    assert [(each.span.line, each.span.column) for each in report.diagnostics] == [
        (2, source.split("\n")[1].index("[]") + 1)
    ]


def test_a_file_of_a_hundred_thousand_lines_is_checked(tmp_path):
    """Length is no limit."""
    body = "".join(f"def f{n}(x):\n    return g{n}(x)\n\n\n" for n in range(25_000))
    write(tmp_path, big=(EMPTY.format(name="a") + body).encode())
    start = time.perf_counter()
    report = lint_paths([tmp_path], settings=ONLY, root=str(tmp_path))
    assert shown(report) == [("big.py", 4, "error-contract-empty")]
    assert time.perf_counter() - start < 15


def test_nesting_does_not_break_the_linter(tmp_path):
    """Long sums, chains of calls and deep blocks end neither in a crash nor in a failure."""
    lines = ["from mcpcore import tool", "X = " + " + ".join(["[]"] * 2000), "@tool(errors=X)", "def f(a):"]
    lines += ["    " + "  " * n + "if a:" for n in range(90)] + ["    " + "  " * 90 + "raise ValueError"]
    lines += ["    a" + ".b()" * 500, "    return " + "(" * 80 + "a" + ")" * 80, "Y = " + "[" * 90 + "]" * 90]
    write(tmp_path, a="\n".join(lines) + "\n")
    report = lint_paths([tmp_path], root=str(tmp_path))
    assert report.failures == ()
    assert "parse-error" not in {each.rule for each in report.diagnostics}


def test_nothing_that_is_read_is_run(tmp_path):
    """Neither the file nor what it imports is imported."""
    mark = tmp_path / "ran"
    code = f"open({str(mark)!r}, 'w').close()\nfrom mcpcore import tool\n"
    write(tmp_path, server=code + "import helper\n" + EMPTY.format(name="a"), helper=code, conftest=code)
    lint_paths([tmp_path], root=str(tmp_path))
    assert not mark.exists()
    assert "helper" not in sys.modules


def test_a_crash_of_one_rule_is_reported_and_the_rest_goes_on(tmp_path, monkeypatch):
    """The report names the rule and the file; the other rules and files are checked."""

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
    assert [(each.path, each.rule) for each in report.failures] == [("a.py", "crashes")]
    assert "ZeroDivisionError: oops" in report.failures[0].message
    assert "check_tool" in report.failures[0].detail
    assert shown(report) == [("a.py", 4, "error-contract-empty"), ("b.py", 4, "error-contract-empty")]


# -- suppressions and settings -------------------------------------------------------------------------------------


def test_suppressions_hold_for_their_line_their_statement_and_their_file(tmp_path):
    """A comment holds on its line, from the first line of a statement for all of it, and at the top for the file."""
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
    found = shown(report)
    assert [each for each in found if each[0] in {"line.py", "statement.py", "file.py"}] == []
    assert ("late.py", 4, "error-contract-empty") in found
    assert ("late.py", 8, "unused-ignore") in found
    assert ("string.py", 7, "error-contract-empty") in found
    assert report.suppressed == 3


def test_settings_select_ignore_and_change_severities_by_file(tmp_path):
    """Prefixes, families, single rules and per-file settings act in this order."""
    write(tmp_path, a=EMPTY.format(name="a"), tests__b=EMPTY.format(name="b"))
    off = lint_paths([tmp_path], settings=Settings(select=frozenset({"handler"})), root=str(tmp_path))
    assert shown(off) == []
    settings = Settings(
        select=frozenset({"error-contract"}),
        ignore=frozenset({"error-contract-unthrown"}),
        severities={"error-contract-empty": checker.Severity.INFO},
        per_file=(PerFile("tests/*", ignore=frozenset({"error-contract-empty"})),),
    )
    report = lint_paths([tmp_path], settings=settings, root=str(tmp_path))
    assert [(each.path, each.severity.label) for each in report.diagnostics] == [("a.py", "info")]


# -- tools of the whole project ------------------------------------------------------------------------------------

FALLBACK = """
    from mcpcore import ErrorCode, FailureMode, tool


    @tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="It is gone.", recovery="Call the other tool to find one.", fallback_tool="{to}")])
    def {name}() -> str:
        return "x"
    """
UNKNOWN_TOOL = Settings(select=frozenset({"error-contract-recovery-unknown-tool"}))


def test_a_tool_may_be_defined_in_any_file_of_the_run_and_of_the_project(tmp_path):
    """A fallback is looked up in all files, those that are not in the run included; a misspelt one is reported."""
    write(tmp_path, a=FALLBACK.format(name="a", to="z"), z=FALLBACK.format(name="z", to="aa"))
    both = lint_paths([tmp_path], settings=UNKNOWN_TOOL, root=str(tmp_path))
    assert [(each.path, "'a'" in each.message + each.help) for each in both.diagnostics] == [("z.py", True)]
    alone = lint_paths([tmp_path / "a.py"], settings=UNKNOWN_TOOL, root=str(tmp_path))
    assert alone.diagnostics == ()
    source = (tmp_path / "a.py").read_text()
    assert lint_source(source, path="a.py", settings=UNKNOWN_TOOL, root=str(tmp_path)).diagnostics == ()


EXTERNAL = """
    from mcpcore.integrations.fastmcp import ContractMiddleware
    {more}
    def install(mcp):
        mcp.add_middleware(ContractMiddleware(external_tools={names}))
    """


@pytest.mark.parametrize(
    ("names", "more", "told"),
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
def test_a_tool_of_another_server_may_be_named_in_any_file(tmp_path, names, more, told):
    """What `external_tools=` names exists, in the run or outside of it; where that cannot be known, any name may."""
    write(tmp_path, a=FALLBACK.format(name="a", to="search_web"), main=EXTERNAL.format(names=names, more=more))
    (tmp_path / "others.py").write_text('OTHERS = ["search_web"]\n')
    for paths in ([tmp_path], [tmp_path / "a.py"]):
        found = lint_paths(paths, settings=UNKNOWN_TOOL, root=str(tmp_path))
        assert found.failures == ()
        assert [each.path for each in found.diagnostics] == (["a.py"] if told else []), paths
    source = (tmp_path / "a.py").read_text()
    alone = lint_source(source, path="a.py", settings=UNKNOWN_TOOL, root=str(tmp_path))
    assert bool(alone.diagnostics) is told


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ('Server("x", external_tools=["search_web"])', False),
        ('partial(Server, external_tools=["search_web"])', False),
        ('mine.Host("x", external_tools=["search_web"])', False),
        ('agents.Agent(external_tools=["search_web"])', True),
        ("agents.Agent(external_tools=get())", True),
    ],
)
def test_the_option_counts_where_a_server_may_be_made(tmp_path, call, told):
    """A server of a class or a function of the project counts, the same option of another library does not."""
    (tmp_path / "mine.py").write_text("from mcpcore import Server\nclass Host(Server): ...\n")
    head = "import agents, mine\nfrom functools import partial\nfrom mcpcore import Server\n"
    write(tmp_path, a=FALLBACK.format(name="a", to="search_web"))
    (tmp_path / "main.py").write_text(f"{head}server = {call}\n")
    found = lint_paths([tmp_path], settings=UNKNOWN_TOOL, root=str(tmp_path))
    assert bool(found.diagnostics) is told


# -- the cache -----------------------------------------------------------------------------------------------------


def run(root, settings=None):
    report = lint_paths([root], settings=settings or Settings(), root=str(root), cache=True)
    assert report.failures == ()
    return report


def settle(root):
    """Make every file older than the time within which a change could go unseen."""
    for path in root.rglob("*.py"):
        stat = path.stat()
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns - 10**10))


def test_the_second_run_judges_nothing_and_finds_the_same(tmp_path):
    """Results come from the cache, to the last field."""
    write(tmp_path, a=EMPTY.format(name="a"), b=FALLBACK.format(name="b", to="nope"), c="x = 1\n")
    settle(tmp_path)
    first = run(tmp_path)
    second = run(tmp_path)
    assert (first.judged, second.judged) == (3, 0)
    assert second.diagnostics == first.diagnostics
    assert second.diagnostics
    assert second.tools == first.tools


def test_the_tools_of_other_servers_are_kept_with_their_file(tmp_path):
    """A file that did not change still brings its names, and one that drops a name takes it away from the others."""
    write(tmp_path, a=FALLBACK.format(name="a", to="search_web"), b=EMPTY.format(name="b"))
    write(tmp_path, main=EXTERNAL.format(names='["search_web"]', more=""))
    settle(tmp_path)
    assert run(tmp_path, UNKNOWN_TOOL).diagnostics == ()
    write(tmp_path, b=EMPTY.format(name="c"))
    after = run(tmp_path, UNKNOWN_TOOL)
    assert (after.judged, after.diagnostics) == (1, ())
    write(tmp_path, main=EXTERNAL.format(names='["weather"]', more=""))
    assert [each.path for each in run(tmp_path, UNKNOWN_TOOL).diagnostics] == ["a.py"]


def test_a_run_from_the_cache_loads_neither_the_parser_nor_the_rules(tmp_path):
    """A run without changes imports nothing heavy."""
    write(tmp_path, a=EMPTY.format(name="a"))
    settle(tmp_path)
    code = (
        "import sys; from mcpcore_lint.runner.engine import lint_paths; lint_paths(['.'], cache=True);"
        "print(sorted({'libcst', 'mcpcore_lint.rules', 'mcpcore_lint.registrations.build', 'pydantic', 'mcp'} & set(sys.modules)))"
    )
    for expected in ("['mcpcore_lint.registrations.build', 'mcpcore_lint.rules']", "[]"):
        done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == expected


def test_a_change_reaches_every_file_that_depends_on_it(tmp_path):
    """What a called module raises, at any depth, counts for the file with the tool; other files stay as they are."""
    write(
        tmp_path,
        server="from mcpcore import tool, Context, ErrorCode, FailureMode\nfrom store import load\n\n\n@tool(errors=[FailureMode('a', ErrorCode.CONFLICT, when='It is so.', recovery='Do something else about it.')])\ndef fetch(ctx: Context) -> str:\n    load()\n    raise ctx.fail('a')\n",
        store="from deep import go\n\n\ndef load():\n    go()\n",
        deep="def go():\n    return 1\n",
        other=EMPTY.format(name="other"),
    )
    settle(tmp_path)
    settings = Settings(select=frozenset({"error-contract-conformance", "error-contract-empty"}))
    assert [each.path for each in run(tmp_path, settings).diagnostics] == ["other.py"]
    write(tmp_path, deep="from mcpcore import not_found\n\n\ndef go():\n    raise not_found('x')\n")
    changed = run(tmp_path, settings)
    assert [each.path for each in changed.diagnostics] == ["other.py", "server.py"]
    assert changed.judged == 3
    write(tmp_path, deep="def go():\n    return 1\n")
    assert [each.path for each in run(tmp_path, settings).diagnostics] == ["other.py"]


def test_a_module_that_appears_and_one_that_goes_are_noticed(tmp_path):
    """A file that imports looked for in vain, or that they found, changes what depends on it."""
    code = HEAD_SERVER
    write(tmp_path, server=code)
    settle(tmp_path)
    settings = Settings(select=frozenset({"error-contract-conformance"}))
    assert run(tmp_path, settings).diagnostics == ()
    write(tmp_path, store="from mcpcore import not_found\n\n\ndef load():\n    raise not_found('x')\n")
    assert [each.path for each in run(tmp_path, settings).diagnostics] == ["server.py"]
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
    """A file that changed right before the run is not trusted by its time."""
    write(tmp_path, a=EMPTY.format(name="a"))
    stat = (tmp_path / "a.py").stat()
    assert len(run(tmp_path, ONLY).diagnostics) == 1
    (tmp_path / "a.py").write_text(EMPTY.format(name="a").replace("errors=[]", "title=''"))
    os.utime(tmp_path / "a.py", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert run(tmp_path, ONLY).diagnostics == ()


def test_touching_a_file_does_not_make_it_be_judged_again(tmp_path):
    """The content decides where the time has changed."""
    write(tmp_path, a=EMPTY.format(name="a"))
    settle(tmp_path)
    run(tmp_path, ONLY)
    os.utime(tmp_path / "a.py", ns=(5, 5))
    assert run(tmp_path, ONLY).judged == 0


def test_settings_have_results_of_their_own(tmp_path):
    """Another selection or severity finds nothing of the first in the cache."""
    write(tmp_path, a=EMPTY.format(name="a"))
    settle(tmp_path)
    assert len(run(tmp_path, ONLY).diagnostics) == 1
    assert run(tmp_path, Settings(select=frozenset({"handler"}))).diagnostics == ()
    changed = run(tmp_path, Settings(select=ONLY.select, severities={"error-contract-empty": checker.Severity.ERROR}))
    assert [each.severity.label for each in changed.diagnostics] == ["error"]


@pytest.mark.parametrize("damage", ["cut", "flip", "garbage", "empty", "folder"])
def test_a_damaged_cache_is_as_good_as_none(tmp_path, damage):
    """Whatever is wrong with it, the run finds what it found before, and repairs it."""
    write(tmp_path, a=EMPTY.format(name="a"))
    settle(tmp_path)
    first = run(tmp_path, ONLY)
    from mcpcore_lint.runner.cache import Cache

    file = Cache(str(tmp_path), ONLY).file
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
    assert run(tmp_path, ONLY).diagnostics == first.diagnostics
    if damage != "folder":
        assert run(tmp_path, ONLY).judged == 0


def test_a_failure_is_not_kept(tmp_path, monkeypatch):
    """A file that crashed a rule is checked again in the next run."""
    write(tmp_path, a=EMPTY.format(name="a"))
    settle(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(checker.Checker, "_apply", lambda *_, **__: 1 / 0)
        assert lint_paths([tmp_path], settings=ONLY, root=str(tmp_path), cache=True).failures
    report = run(tmp_path, ONLY)
    assert (report.judged, len(report.diagnostics)) == (1, 1)


def test_a_killed_run_leaves_the_cache_and_the_files_whole(tmp_path):
    """Killed at any moment, a fixing run leaves each file old or new, and a cache that the next run can use."""
    many = "from mcpcore import CodedError, ErrorCode, tool\n" + "".join(
        f'\n\n@tool\ndef t{n}() -> str:\n    """Does it."""\n    raise CodedError(ErrorCode.NOT_FOUND, \'x\')\n'
        for n in range(20)
    )
    for delay in (0.15, 0.3, 0.5):
        write(tmp_path, **{f"m{n}": many.replace(" t", f" m{n}_") for n in range(6)})
        before = {path: path.read_bytes() for path in tmp_path.glob("*.py")}
        code = "from mcpcore_lint.runner.engine import fix_paths; fix_paths(['.'], unsafe=True, cache=True)"
        process = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path)
        time.sleep(delay)
        process.kill()
        process.wait()
        for path, old in before.items():
            text = path.read_bytes()
            compile(text, str(path), "exec")
            assert text == old or b"not_found" in text
        run(tmp_path)


# -- several processes ---------------------------------------------------------------------------------------------


def test_several_processes_find_what_one_finds(tmp_path):
    """The report does not depend on how many processes made it."""
    for n in range(60):
        write(
            tmp_path,
            **{f"pkg{n % 7}__m{n}": EMPTY.format(name=f"t{n}") + FALLBACK.format(name=f"f{n}", to=f"t{n // 2}")},
        )
    write(tmp_path, broken="def f(:\n")
    one = lint_paths([tmp_path], settings=Settings(jobs=1), root=str(tmp_path))
    many = lint_paths([tmp_path], settings=Settings(jobs=3), root=str(tmp_path))
    assert one == many
    assert len(one.diagnostics) > 60


def test_a_process_that_dies_is_reported_and_the_others_go_on(tmp_path, monkeypatch):
    """The files that a killed process was checking are reported as not checked, and all others are checked."""
    for n in range(80):
        write(tmp_path, **{f"p{n // 40}__m{n:02d}": EMPTY.format(name=f"t{n}")})
    real = checker.Checker.read

    def read(self, absolute, *, every):
        if absolute.endswith("m45.py"):
            os.kill(os.getpid(), 9)
        return real(self, absolute, every=every)

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
    """Line ends, encodings, marks, tabs, odd spacing and missing final line ends stay."""
    text = (
        "from mcpcore import CodedError, ErrorCode, not_found, tool   \n\x0c\n\n@tool\ndef a( ) :\n"
        '\t"""Does it."""\n\traise   CodedError( ErrorCode.NOT_FOUND,"x" )  # keep \t me  \n\n\n\n# end   '
    )
    raw = head + text.encode()
    raw = raw.replace(b"\n", newline.encode())
    (tmp_path / "a.py").write_bytes(raw)
    (tmp_path / "a.py").chmod(0o640)
    fixed, report = fix_paths([tmp_path], settings=FACTORY, root=str(tmp_path), unsafe=True)
    assert [each.count for each in fixed] == [1]
    assert report.diagnostics == ()
    after = (tmp_path / "a.py").read_bytes()
    start, end = raw.index(b"raise   "), raw.index(b"  # keep")
    assert after.startswith(raw[:start])
    assert after.endswith(raw[end:])
    assert b"not_found(" in after[start : len(after) - (len(raw) - end)]
    assert (tmp_path / "a.py").stat().st_mode & 0o777 == 0o640


def test_a_preview_writes_nothing(tmp_path):
    """`write=False` tells what the fixes would do."""
    write(
        tmp_path,
        a="from mcpcore import CodedError, ErrorCode, not_found, tool\n\n\n@tool\ndef a() -> str:\n    raise CodedError(ErrorCode.NOT_FOUND, 'x')\n",
    )
    before = (tmp_path / "a.py").read_bytes()
    fixed, report = fix_paths([tmp_path], settings=FACTORY, root=str(tmp_path), write=False, unsafe=True)
    assert "not_found('x')" in fixed[0].after
    assert len(report.diagnostics) == 1
    assert (tmp_path / "a.py").read_bytes() == before


def test_a_fix_that_breaks_the_file_is_not_made(monkeypatch):
    """Each result is parsed before it is kept; the other fixes are made all the same."""
    from mcpcore_lint.diagnostics import Edit
    from mcpcore_lint.rule import Rule

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


def test_a_file_that_changes_while_it_is_mended_is_left_alone(tmp_path):
    """A change that somebody made meanwhile is not overwritten."""
    from mcpcore_lint.runner.fixer import replace_file

    path = tmp_path / "a.py"
    path.write_text("new\n")
    with pytest.raises(OSError, match="changed by someone else"):
        replace_file(str(path), b"mine\n", expected=b"old\n")
    assert path.read_text() == "new\n"
    assert list(tmp_path.iterdir()) == [path]


def test_the_report_of_a_source_is_of_that_file_alone(tmp_path):
    """A finding in another file of the project is that file's own matter."""
    write(
        tmp_path,
        modes="from mcpcore import ErrorCode, FailureMode\n\nMODES = [FailureMode('Bad Reason', ErrorCode.NOT_FOUND, when='', recovery='')]\n",
    )
    source = (
        "from mcpcore import tool\nfrom modes import MODES\n\n\n@tool(errors=MODES)\ndef a() -> str:\n    return 'x'\n"
    )
    assert {each.path for each in lint_source(source, path="server.py", root=str(tmp_path)).diagnostics} <= {
        "server.py"
    }
    assert engine.lint_paths([tmp_path], root=str(tmp_path)).diagnostics
