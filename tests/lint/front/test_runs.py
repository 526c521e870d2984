"""The output and the exit codes of the command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from mcpcore_lint import lint_paths, rules

from tests.lint.front.samples import CLEAN, CONFLICT, DIRECT, SERVER, STORE


def test_findings_fail_the_run(project):
    """Warnings fail a run by default; the finding is at the call in the handler and names the call path."""
    result = project.lint("--format", "concise", code=1)
    assert "server.py:10:8: warning [error-contract-conformance]" in result.stdout
    assert "fetch > Store.get > Store._request" in result.stdout
    assert [CONFLICT, DIRECT] == project.findings()


def test_clean_run(empty):
    """A run without findings exits with 0; one without files says so, since the path may be wrong."""
    assert "No Python files were found, so nothing was checked\n" == empty.lint(".", code=0).stdout
    empty.write("server.py", CLEAN)
    assert "No findings in 1 file, 1 tool\n" == empty.lint(code=0).stdout


@pytest.mark.parametrize(
    ("limit", "code"), [("error", 0), ("warning", 1), ("info", 1)], ids=["error", "warning", "info"]
)
def test_fail_on(project, limit, code):
    """The severity that fails the run can be chosen; lesser findings are still reported."""
    assert "2 warnings" in project.lint("--fail-on", limit, code=code).stdout


def test_information_alone_passes(empty):
    """Findings of severity info do not fail a run by default."""
    empty.write("server.py", CLEAN.replace("ping()", "ping(host: str)"))
    assert [("server.py", 5, "field-description")] == empty.findings(code=0)
    empty.lint("--fail-on", "info", code=1)


def test_fail_on_in_the_configuration(project):
    """`fail-on` in the configuration applies unless the option is used."""
    project.settings('fail-on = "error"')
    project.lint(code=0)
    project.lint("--fail-on", "warning", code=1)


def test_select_ignore_extend(project):
    """Rules are chosen by id, family and prefix."""
    assert [DIRECT] == project.findings("--select", "error-contract-prefer-fail")
    assert [CONFLICT] == project.findings("--ignore", "error-contract-prefer-fail")
    assert [CONFLICT, DIRECT] == project.findings("--select", "contract", "--extend-select", "conformance")
    assert [CONFLICT, DIRECT] == project.findings("--select", "error-contract,handler")


def test_unknown_rule_in_an_option(project):
    """An unknown rule in an option stops the run, and the message suggests the closest name."""
    result = project.lint("--select", "no-fake-emtpy", code=2)
    assert "unknown-rule: --select: unknown rule 'no-fake-emtpy'; did you mean 'no-fake-empty'?" in (result.stderr)


def test_statistics(project):
    """`--statistics` counts, as a table and as JSON."""
    assert "     1  error-contract-prefer-fail  warning  1 fixable" in project.lint("--statistics", code=1).stdout
    counted = json.loads(project.lint("--statistics", "--format", "json").stdout)["statistics"]
    assert ["error-contract-conformance", "error-contract-prefer-fail"] == [row["rule"] for row in counted]


def test_missing_paths(project):
    """A missing path is reported with the closest name; the others are still checked."""
    result = project.lint("servr.py", code=2)
    assert "servr.py: no such file or folder; did you mean 'server.py'?" in result.stderr
    result = project.lint("gone.py", "server.py", "--format", "concise", code=2)
    assert "gone.py: not checked in full: cannot be read: No such file or directory" in result.stdout
    assert "error-contract-prefer-fail" in result.stdout


def test_dangling_link_and_loops(project):
    """Dangling and circular links do not stop the run."""
    (project.root / "dangling.py").symlink_to("nowhere.py")
    (project.root / "loop").symlink_to(".")
    assert [CONFLICT, DIRECT] == project.findings(code=1)
    assert "cannot be read" in project.lint("dangling.py", code=2).stdout


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads everything")
def test_unreadable_file(project):
    """A file without read permission is reported, and the rest is checked."""
    project.write("secret.py", "x = 1").chmod(0)
    result = project.lint("--format", "concise", code=2)
    assert "secret.py: not checked in full: cannot be read: Permission denied" in result.stdout
    assert "error-contract-prefer-fail" in result.stdout


def test_not_python(project):
    """A file that is not Python is a finding at the place of the mistake."""
    project.write("broken.py", "def fetch(:\n    ...\n")
    project.write("latin.py", b"x = '\xe9'\n")
    findings = project.findings("broken.py", "latin.py", code=1)
    assert [("broken.py", 1, "parse-error"), ("latin.py", 1, "parse-error")] == findings


def test_a_long_file_is_searched_once(empty):
    """Finding the names of a function does not take longer in a longer file: 120,000 lines take a moment."""
    from mcpcore_lint.engine.syntax.source import Source

    searched = []

    class Counted(str):
        """Records the searches in a string."""

        __slots__ = ()

        def __contains__(self, part):
            searched.append(part)
            return super().__contains__(part)

    source = Source("long.py", Counted("x = 1\n"))
    assert not any([source.has(":="), source.has(":=")])
    assert [":="] == searched
    empty.write("long.py", SERVER + "".join(f"\n\ndef f{number}():\n    return {number}\n" for number in range(24_000)))
    assert [DIRECT[2]] == [rule for _, _, rule in empty.findings("--select", DIRECT[2])]


def test_a_crash_on_one_file_is_reported(project, monkeypatch):
    """A crash while reading a file is reported with the file, and the others are checked."""
    from mcpcore_lint.engine.syntax.project import Project

    whole = Project.module_of_bytes

    def reads(self, path, raw):
        if path.endswith("odd.py"):
            raise IndexError("pop from empty list")
        return whole(self, path, raw)

    monkeypatch.setattr(Project, "module_of_bytes", reads)
    project.write("odd.py", "import mcpcore\n")
    result = project.lint("--no-cache", "--jobs", "1", "--format", "concise", code=2)
    assert "odd.py: not checked in full: the linter crashed: IndexError: pop from empty list" in result.stdout
    assert DIRECT[2] in result.stdout


def test_standard_input(project):
    """`--stdin-filename` checks an editor's buffer instead of the file on disk, with the rest of the project."""
    text = SERVER.replace('        raise not_found("There is nothing.")\n', '        raise ctx.fail("no_match")\n')
    assert [CONFLICT] == project.findings("--stdin-filename", "server.py", input=text, code=1)
    assert [] == project.findings("--stdin-filename", "new/other.py", input=CLEAN, code=0)
    assert "<stdin>" in project.lint("-", input="def f(:\n", code=1).stdout


def test_standard_input_fixed(project):
    """With `--fix` the fixed text goes to standard output and the report to standard error; no file is written."""
    result = project.lint("--stdin-filename", "server.py", "--fix", input=SERVER, code=1)
    assert 'raise ctx.fail("no_match", "There is nothing.")' in result.stdout
    assert "error-contract-conformance" in result.stderr
    assert SERVER == (project.root / "server.py").read_text()
    assert "(1 fixed)" in result.stderr
    assert "+++ b/server.py" in project.lint("--stdin-filename", "server.py", "--diff", input=SERVER, code=1).stdout


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--write-baseline"], "--write-baseline needs --baseline FILE"),
        (["--unsafe-fixes"], "--unsafe-fixes needs --fix or --diff"),
        (["--watch", "--output-file", "x"], "--watch cannot be combined"),
        (["--stdin-filename", "a.py", "b.py"], "leave out b.py"),
        (["-", "a.py"], "leave the other paths out"),
        (["--config", "nowhere.toml"], "nowhere.toml: cannot be read: No such file"),
        (["--explain", "no-fake-emtpy"], "did you mean 'no-fake-empty'?"),
        (["--explain-calls", "fetsh"], "unknown tool 'fetsh'; did you mean 'fetch'?"),
        (["--output-file", "no/where.txt"], "no/where.txt: cannot be written: No such file"),
        (["--baseline", "none.json"], "create it with --baseline none.json --write-baseline"),
        (["--format", "xml"], "xml"),
        (["--select", " , "], "--select names no rule"),
        (["--ignore", ""], "--ignore names no rule"),
        (["--select", "NO_FAKE_EMPTY"], "did you mean 'no-fake-empty'?"),
        (["--changed-since", ""], "--changed-since is empty; give it a value, or leave it out"),
        (["--config", " "], "--config is empty"),
        (["--diff", "--baseline", "b.json", "--write-baseline"], "--diff writes nothing"),
        (["--statistics", "--format", "sarif"], "which sarif cannot hold"),
        (["--statistics", "--diff"], "leave --statistics out"),
        (
            ["--output-file", "server.py"],
            "--output-file server.py would replace a file that is read; name another file",
        ),
        (["--baseline", "store.py", "--write-baseline"], "--baseline store.py would replace a file that is read"),
        (["--baseline", "b.json", "--output-file", "b.json"], "--output-file and --baseline are the same file, b.json"),
        (["--list-rules", "--explain", "no-fake-empty"], "--list-rules and --explain cannot be combined"),
        (["--stdin-filename", "."], "--stdin-filename . is a folder; give the name of a file"),
    ],
    ids=lambda args: " ".join(args) if isinstance(args, list) else "",
)
def test_impossible_requests_are_reported(project, args, said):
    """A request that cannot be met exits with 2 and reports the problem and the next step."""
    assert said in project.lint(*args, code=2).stderr


def test_explain_and_list(project):
    """`--explain` shows a rule's page, and `--list-rules` all rules with their severities."""
    page = project.lint("--explain", "no-fake-empty", code=0).stdout
    for heading in ("# no-fake-empty", "## Why", "## Bad", "## Good", "## How to fix", "## When to suppress"):
        assert heading in page
    from mcpcore_lint.ids import rule_ids

    listed = [line.split()[0] for line in project.lint("--list-rules", code=0).stdout.splitlines()]
    assert [rule_id for family in rule_ids().values() for rule_id in family] == listed


def test_version(project):
    """`--version` prints the version of the package."""
    from mcpcore import __version__

    assert f"mcpcore {__version__}\n" == project.lint("--version", code=0).stdout


def test_explain_calls(project):
    """`--explain-calls` shows the errors of a tool with their paths, and the unresolved calls."""
    project.write("server.py", SERVER.replace('store.get("a")', 'store.get("a") or HOOKS["x"]()'))
    text = project.lint("--explain-calls", "fetch", code=0).stdout
    assert "CONFLICT\n      fetch > Store.get > Store._request\n      at store.py:11:9" in text
    assert "Declared: no_match\n" in text
    assert "Not seen" in text


def test_explain_calls_counts_entries_whose_reason_is_unknown(project):
    """An entry with a reason that is not known is not left out of the declared ones."""
    project.write("server.py", SERVER.replace('"no_match"', "REASON", 1))
    assert "Declared: unknown entries\n" in project.lint("--explain-calls", "fetch", code=0).stdout


def test_explain_calls_shows_what_a_contract_maps(project):
    """An exception or a code that the contract maps is shown as the failure that it becomes."""
    project.write("server.py", (Path(__file__).parents[1] / "cases" / "guards" / "mapped.py").read_text())
    text = project.lint("--explain-calls", "get", code=0).stdout
    assert "SERVICE_UNAVAILABLE (busy)" in text
    assert "NOT_FOUND (no_item)" in text
    assert "MissingError" not in text
    assert "RATE_LIMITED" not in text


MANY = """
from fastmcp import FastMCP
from mcpcore import not_found

mcp = FastMCP("x")

@mcp.tool
def fetch(key: str) -> str:
    try:
        checked(key)
    except OSError:
        pass
    for part in key:
        checked(part)
        load(part)
    return load(key)

def load(key: str) -> str:
    if not key:
        raise not_found("nothing", reason="no_key")
    return checked(key)

def checked(key: str) -> str:
    if key == "0":
        raise ValueError("0")
    if key == "1":
        raise ValueError("1")
    if key == "2":
        raise not_found("2")
    return key
"""


def test_explain_calls_groups_errors(empty):
    """Errors of one class, or one code and reason, are grouped with their number and the nearest path to each place."""
    empty.write("many.py", MANY)
    assert (
        "fetch can raise:\n"
        "  handler fetch at many.py:8:5\n"
        "  ValueError: 2 places, 2 paths\n"
        "      fetch > checked\n"
        "      at many.py:25:9\n"
        "      at many.py:27:9\n"
        "  NOT_FOUND: 2 paths\n"
        "      fetch > checked\n"
        "      at many.py:29:9\n"
        "  NOT_FOUND (no_key)\n"
        "      fetch > load\n"
        "      at many.py:20:9\n"
        "Caught in the handler:\n"
        "  except OSError at many.py:11:5\n"
    ) == empty.lint("--explain-calls", "fetch", code=0).stdout


def test_explain_calls_lists_the_first_places(empty):
    """Of many places the first are listed and the others counted."""
    checks = "".join(f"    if key == '{number}':\n        raise ValueError(key)\n" for number in range(9))
    head = "from fastmcp import FastMCP\n\nmcp = FastMCP('x')\n\n\n@mcp.tool\ndef fetch(key: str) -> str:\n"
    empty.write("many.py", f"{head}{checks}    return key\n")
    text = empty.lint("--explain-calls", "fetch", code=0).stdout
    assert "  ValueError: 9 places\n      fetch\n      at many.py:9:9\n" in text
    assert text.endswith("      at many.py:13:9\n      and at 6 more places\n")


LOW_LEVEL = """
import acme
from mcp.server.lowlevel import Server

server = Server("x")

@server.call_tool()
async def call_tool(name: str, arguments: dict):
    allowed(arguments)
    try:
        if name == "find":
            return await find(arguments)
        if name == "read":
            if not arguments:
                raise LookupError("nothing given")
            return [arguments]
    except KeyError:
        return []
    raise ValueError(f"Unknown tool: {name}")

def allowed(arguments):
    if not arguments:
        raise PermissionError("no")

async def find(arguments):
    if not arguments:
        raise KeyError("q")
    acme.send(arguments)
    acme.send(arguments)
    raise OSError("find")
"""


def test_explain_calls_of_a_tool_that_a_low_level_handler_serves(project):
    """Its function is explained within the handler's `except` clauses; a tool without one is the handler's own."""
    project.write("low.py", LOW_LEVEL)
    text = project.lint("--explain-calls", "find", code=0).stdout
    assert text.splitlines()[:2] == ["find can raise:", "  handler find at low.py:25:11"]
    assert "  behind call_tool at low.py:8:11" in text
    assert "OSError\n      find" in text
    assert "KeyError\n" not in text
    assert "LookupError" not in text
    assert "call_tool: except KeyError at low.py:17:5" in text
    assert "  acme.send at low.py:28:5 and at 1 more\n      find" in text
    assert text.endswith("call_tool can raise more: --explain-calls call_tool\n")
    text = project.lint("--explain-calls", "read", code=0).stdout
    assert text == project.lint("--explain-calls", "call_tool", code=0).stdout
    assert "LookupError\n      call_tool" in text
    assert "ValueError\n      call_tool" in text
    assert "PermissionError\n      call_tool > allowed" in text


def test_output_file(project):
    """The report is written in full, without colour, and nothing is printed."""
    assert "" == project.lint("--output-file", "report.txt", code=1).stdout
    assert "error-contract-prefer-fail" in (project.root / "report.txt").read_text()
    assert ["report.txt", "server.py", "store.py"] == sorted(path.name for path in project.root.iterdir())
    project.lint("--output-file", os.devnull, code=1)
    assert not Path(os.devnull).is_file()
    for name in ("-", "/dev/stdout"):
        assert "1 tool" in project.process("--output-file", name).stdout
    assert ["report.txt", "server.py", "store.py"] == sorted(path.name for path in project.root.iterdir())


@pytest.mark.skipif(os.name == "nt", reason="Windows has no /dev/fd")
def test_output_to_a_pipe(project):
    """A report can be written to a shell's anonymous pipe, which has no path among the files."""
    reading, writing = os.pipe()
    with os.fdopen(reading) as pipe:
        command = [sys.executable, "-m", "mcpcore_lint", "--output-file", f"/dev/fd/{writing}"]
        done = subprocess.run(command, cwd=project.root, pass_fds=(writing,), capture_output=True, check=False)
        os.close(writing)
        assert (1, b"") == (done.returncode, done.stderr)
        assert "1 tool" in pipe.read()


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps a folder that is in use")
def test_the_current_folder_is_gone(project):
    """If the current folder was removed, the message says so."""
    script = "mkdir gone; cd gone; rmdir ../gone; exec $0 -m mcpcore_lint"
    done = subprocess.run(
        ["sh", "-c", script, sys.executable],
        cwd=project.root,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (2, "mcpcore lint: the current folder no longer exists; change into another one\n") == (
        done.returncode,
        done.stderr,
    )


def test_paths_from_elsewhere(project):
    """Paths are relative to the current folder."""
    inner = project.root / "inner"
    inner.mkdir()
    assert "../server.py" == project.findings("..", cwd=inner)[0][0]
    assert "server.py" == project.findings(project.root)[0][0]


def test_several_projects(empty):
    """Each file uses its nearest configuration, even if one run covers several."""
    for name in ("", "one/", "two/"):
        empty.write(f"{name}store.py", STORE)
        empty.write(f"{name}server.py", SERVER)
    empty.settings('ignore = ["error-contract-conformance"]')
    empty.settings('ignore = ["error-contract-prefer-fail"]', "two")
    rules = {path: rule for path, _, rule in empty.findings()}
    assert {
        "server.py": "error-contract-prefer-fail",
        "one/server.py": "error-contract-prefer-fail",
        "two/server.py": "error-contract-conformance",
    } == rules
    assert [("two/server.py", 10, "error-contract-conformance")] == empty.findings("two/server.py")


def test_excluded_projects_stay_excluded(project):
    """An excluded folder stays excluded even if it has a configuration."""
    project.settings('exclude = ["vendor"]')
    project.settings("", "vendor")
    project.write("vendor/server.py", SERVER)
    assert {"server.py"} == {path for path, _, _ in project.findings()}


def test_markdown(project):
    """Python blocks of a document are checked with the document's line numbers; documents are never rewritten."""
    body = (
        SERVER.replace("from store import Store\n", "")
        .replace(", store: Store", "")
        .replace('if store.get("a"):\n        ', "")
    )
    text = f"# Title\n\n1. A list:\n\n   ```python\n{_indented(body)}   ```\n\n```text\ndef f(:\n```\n"
    path = project.write("guide.md", text)
    line = text.splitlines().index('       raise not_found("There is nothing.")') + 1
    report = project.json("guide.md")
    (finding,) = [finding for finding in report["diagnostics"] if finding["rule"] == "error-contract-prefer-fail"]
    assert ("guide.md", line, 14, None) == (finding["path"], finding["line"], finding["column"], finding["fix"])
    project.lint("guide.md", "--fix")
    assert text == path.read_text()
    project.settings('markdown = ["*.md"]')
    assert ("guide.md", line) in {(path, at) for path, at, _ in project.findings()}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_not_a_document(project):
    """A pipe named like a document is not read, because that might never end."""
    os.mkfifo(project.root / "pipe.md")
    assert "pipe.md: not checked in full: cannot be read: not a regular file" in project.process("pipe.md").stdout


def _indented(text):
    return "".join(f"   {line}\n" if line else "\n" for line in text.splitlines())


def test_help_and_warm_runs_load_little(project):
    """Help does not load the engine; a fully cached run neither parses nor loads a rule or the SDK."""
    code = (
        "import sys; from mcpcore_lint.cli import lint\ntry:\n    lint({0!r})\nfinally:\n    print(sorted(sys.modules))"
    )

    def loaded(*args):
        done = subprocess.run(
            [sys.executable, "-c", code.format(list(args))],
            cwd=project.root,
            capture_output=True,
            text=True,
            check=False,
        )
        return set(done.stdout.splitlines()[-1].strip("[]").replace("'", "").split(", "))

    assert loaded("--help").isdisjoint(
        {"mcpcore_lint.runner.engine", "mcpcore_lint.runner.runner", "libcst", "mcp", "mcpcore_lint.rules"}
    )
    project.settings('select = ["error-contract", "handler"]')
    for path in project.root.iterdir():
        os.utime(path, (1, 1))
    loaded("--format", "concise")
    heavy = {
        "libcst",
        "mcp",
        "pydantic",
        "mcpcore_lint.runner.checker",
        "mcpcore_lint.rules",
        "mcpcore_lint.engine.syntax.source",
        "difflib",
    }
    assert set() == loaded("--format", "concise") & heavy
    assert heavy & loaded("--format", "concise", "--no-cache")


RULE = '''
from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.rule import Invalid, Rule


class NoShouting(Rule):
    """A tool's name in capitals."""

    id = "house-no-shouting"
    severity = Severity.WARNING
    family = "project"
    summary = "a tool's name in capitals"
    why = "It reads as if the agent were shouted at."
    bad = "@tool\\nasync def PING() -> str: ..."
    good = "@tool\\nasync def ping() -> str: ..."
    how_to_fix = "Write the name in lower case."
    when_to_suppress = "For names that an agent knows already."
    valid = ("from mcpcore import tool\\n\\n@tool\\nasync def ping() -> str: ...\\n",)
    invalid = (Invalid("from mcpcore import tool\\n\\n@tool\\nasync def PING() -> str: ...  # here\\n", "PING"),)

    def check_tool(self, tool, ctx):
        if tool.display_name.isupper():
            ctx.report(tool.handler.node, f"{tool.display_name} is in capitals", help="write it small", tool=tool)
'''

DOCUMENTED = RULE.replace(
    RULE[RULE.index('in capitals."""') : RULE.index("    valid = ")],
    '''in capitals.

    Summary: a tool's name
        in capitals
    Why: It reads as if the agent were shouted at.
    How to fix: Write the name in lower case.
    When to suppress: the attribute takes precedence
    Bad:
        @tool
        async def PING() -> str: ...
    Good: @tool
        async def ping() -> str: ...
    """

    id = "house-no-shouting"
    severity = Severity.WARNING
    family = "project"
    when_to_suppress = "For names that an agent knows already."
''',
)


def test_custom_rules_of_a_project(empty):
    """A rule of another package is found by its entry point and has a page, cases and cached results."""
    rules = empty.write("../plugin/house_rules.py", RULE)
    empty.write("../plugin/house-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: house\nVersion: 1.0\n")
    empty.write("../plugin/house-1.0.dist-info/entry_points.txt", "[mcpcore.lint.rules]\nhouse = house_rules\n")
    empty.write("server.py", CLEAN.replace("ping()", "PING()"))
    env = {
        "PYTHONPATH": os.pathsep.join([str(rules.parent), os.environ.get("PYTHONPATH", os.curdir)]),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    assert "house-no-shouting" in empty.process("--list-rules", env=env).stdout
    explain, stripped = ["--explain", "house-no-shouting"], {**env, "PYTHONOPTIMIZE": "2"}
    page = empty.process(*explain, env=env).stdout
    assert "# house-no-shouting" in page
    rules.write_text(DOCUMENTED)
    assert page == empty.process(*explain, env=env).stdout, "a docstring gives the texts that attributes give"
    assert "\n\nnot known under python -OO\n\n" in empty.process(*explain, env=stripped).stdout
    assert "] PING is in capitals" in empty.process("--format", "concise", env=stripped).stdout
    for _ in range(2):
        result = empty.process("--select", "project", "--format", "concise", env=env)
        assert "server.py:5:11: warning [house-no-shouting] PING is in capitals" in result.stdout
    rules.write_text(RULE.replace("is in capitals", "shouts"))
    assert "PING shouts" in empty.process("--select", "project", "--format", "concise", env=env).stdout
    cases = "from mcpcore_lint.testing import cases, check, check_page; from house_rules import NoShouting as R\n"
    cases += "check_page(R())\nfor _, case in cases(R()): check(R(), case)"
    done = subprocess.run(
        [sys.executable, "-c", cases], env={**os.environ, **env}, capture_output=True, text=True, check=False
    )
    assert "" == done.stderr
    rules.write_text("import no_such_module")
    result = empty.process(env=env)
    assert 2 == result.returncode
    assert "the entry point 'house' (house_rules) cannot be loaded: ModuleNotFoundError" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("sys.exit(3)", "crashed: SystemExit: 3"),
        ("raise GeneratorExit", "crashed: GeneratorExit"),
        ("ctx.report(None, 'x')", "crashed: TypeError: report() takes a node or a Span, not None"),
        ("ctx.report(at, 3)", "crashed: TypeError: report() takes a message and a help that are strings"),
        ("ctx.report(at, ' ')", "crashed: TypeError"),
        ("ctx.report(at, 'x', help=None)", "crashed: TypeError"),
        ("ctx.report(at, 'x', weight='error')", "crashed: TypeError: weight is a Severity, not 'error'"),
        ("ctx.report(Span(0, 1, 1, 1), 'x')", "crashed: ValueError: lines and columns start at 1"),
        ("ctx.report(Span(2, 1, 1, 9), 'x')", "crashed: ValueError: lines and columns start at 1"),
        ("ctx.report(at, 'x', fix=ctx.fix('y', [Edit(-9, -1, 'z')]))", "crashed: ValueError: Edit(start=-9"),
        ("ctx.report(at, 'x', fix=ctx.fix('y', [Edit(0, 9999, 'z')]))", "crashed: ValueError: Edit(start=0"),
        (
            "ctx.report(at, 'x', fix=ctx.fix('y', [Edit(1, 5, ''), Edit(3, 6, '')]))",
            "crashed: ValueError: Edit(start=3",
        ),
        (
            "ctx.report(at, 'x', fix=ctx.fix('y', [Edit(0, 0, '# more\\n')]))",
            "after 50 passes house-no-shouting still has",
        ),
    ],
)
def test_errors_in_custom_rules_are_reported(empty, monkeypatch, body, said):
    """An error in a rule of another package is reported with the rule and the file, and the rest is checked."""
    text = RULE.replace(
        "        if tool.display_name.isupper():\n", f"        at = tool.handler.node\n        {body}\n"
    )
    namespace = {"__name__": "house_rules", "at": None}
    exec(
        f"import sys\nfrom mcpcore_lint.diagnostics import Edit, Span\n{text.partition('            ctx.report(tool')[0]}",
        namespace,
    )
    own = namespace["NoShouting"]()
    known = {**rules.all_rules(), own.id: own}
    monkeypatch.setattr(rules, "all_rules", lambda: known)
    monkeypatch.setattr("mcpcore_lint.runner.checker.all_rules", rules.all_rules)
    empty.write("server.py", CLEAN)
    result = empty.lint("--no-cache", "--jobs", "1", "--fix", "--format", "concise", code=2)
    assert (
        f"server.py: not checked in full: {'' if 'passes' in said else 'the rule house-no-shouting '}{said}"
        in result.stdout
    )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"house-no-shouting"', '"House rule"', "its id must be lower-case words with hyphens between them"),
        ("Severity.WARNING", '"warning"', "its severity must be a Severity, not 'warning'"),
        ('family = "project"', 'family = "house"', "its family must be one of contract, "),
        ("why =", "reason =", "it lacks why, which its page shows: write `Why: ...` into its docstring"),
    ],
)
def test_unusable_rules_are_reported(old, new, said):
    """An invalid rule is rejected before it runs."""
    from mcpcore_lint.rules import _problem

    namespace = {"__name__": "house_rules"}
    exec(RULE.replace(old, new, 1), namespace)
    assert said in _problem(namespace["NoShouting"]())


def test_the_page_of_a_rule_of_another_package_is_shown_by_the_command():
    """The website has pages only for the linter's own rules."""
    from mcpcore_lint.diagnostics import Diagnostic, Severity, Span
    from mcpcore_lint.options import FORMATS
    from mcpcore_lint.report import Outcome, render

    finding = Diagnostic("house-no-shouting", Severity.WARNING, "a.py", Span(1, 1, 1, 2), "loud", "")
    for name in FORMATS:
        text = render(name, Outcome((finding,)))
        assert "rules/house" not in text
        assert (name == "full") == ("mcpcore lint --explain house-no-shouting" in text)


def test_the_api_accepts_a_single_path(project):
    """A single path is not treated as a sequence of characters."""
    for path in ("server.py", Path("server.py")):
        report = lint_paths(type(path)(project.root / path))
        assert (1, ()) == (report.files, report.failures)
