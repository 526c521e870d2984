"""Equal findings are merged: in a helper that tools share, and in a file of a server without mcpcore."""

from __future__ import annotations

import pytest

HELPER = """
def failed(why: str) -> dict:
    return {"error": why}
"""
TOOLS = """
from fastmcp import FastMCP
from helper import failed

{name} = FastMCP("x")


@{name}.tool
def {name}_one(a: str) -> dict:
    '''One.'''
    return failed(a)


@{name}.tool
def {name}_two(a: str) -> dict:
    '''Two.'''
    return failed(a)
"""
ALIKE = """
from {package}

mcp = {server}("x")


@mcp.tool()
def first(a: str) -> dict:
    '''First.'''
    return {{"error": a}}


@mcp.tool()
def second(a: str) -> dict:
    '''Second.'''
    return {{"error": a}}


@mcp.tool()
def third(a: str) -> dict:
    '''Third.'''
    return {{"error": a}}
"""
FASTMCP = ALIKE.format(package="fastmcp import FastMCP", server="FastMCP")
SELECT = ("--select", "no-error-as-data")


@pytest.fixture
def shared(project):
    """A helper that builds a failure for the tools of three files."""
    (project.root / "store.py").unlink()
    (project.root / "server.py").unlink()
    project.write("helper.py", HELPER)
    for name in ("a", "b", "c"):
        project.write(f"{name}.py", TOOLS.format(name=name))
    return project


@pytest.fixture
def alike(project):
    """A FastMCP server with three tools that fail in the same wrong way."""
    (project.root / "store.py").unlink()
    project.write("server.py", FASTMCP)
    return project


def test_a_helper_has_one_finding_with_the_tools_of_all_files(shared):
    """The finding is where the failure is built, and lists where each tool returns it."""
    (finding,) = shared.json(*SELECT)["diagnostics"]
    assert ("helper.py", 3) == (finding["path"], finding["line"])
    assert finding["message"].endswith("(tools: a_one, a_two, b_one and 3 more)")
    assert ["a_one", "a_two", "b_one", "b_two", "c_one", "c_two"] == finding["tools"]
    places = [(place["path"], place["line"]) for place in finding["related"]]
    assert [(f"{name}.py", line) for name in "abc" for line in (11, 17)] == places


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_it_is_the_same_from_the_cache_and_from_several_processes(shared, jobs):
    """The finding is also the same if only some of the files are checked again."""
    cold = shared.json(*SELECT, "--no-cache")["diagnostics"]
    assert cold == shared.json(*SELECT, "--jobs", jobs)["diagnostics"]
    assert cold == shared.json(*SELECT, "--jobs", jobs)["diagnostics"]
    shared.write("b.py", TOOLS.format(name="b") + "# changed\n")
    assert cold == shared.json(*SELECT, "--jobs", jobs)["diagnostics"]
    shared.write("c.py", "")
    (finding,) = shared.json(*SELECT, "--jobs", jobs)["diagnostics"]
    assert ["a_one", "a_two", "b_one", "b_two"] == finding["tools"]


def test_a_comment_at_the_helper_suppresses_it(shared):
    """One comment covers all tools."""
    shared.write("helper.py", HELPER.replace("why}", "why}  # mcpcore: ignore[no-error-as-data] the client wants it"))
    assert "No findings" in shared.lint(*SELECT, code=0).stdout


def test_a_call_is_suppressed_for_its_tool(shared):
    """A comment where a tool returns the failure covers that tool, and is not reported as unused."""
    text = TOOLS.format(name="a").replace("failed(a)", "failed(a)  # mcpcore: ignore[no-error-as-data] a test", 1)
    shared.write("a.py", text)
    report = shared.json("--select", "no-error-as-data,unused-ignore")
    (finding,) = report["diagnostics"]
    assert ["a_two", "b_one", "b_two", "c_one", "c_two"] == finding["tools"]
    assert 1 == report["summary"]["suppressed"]


def test_a_baseline_knows_a_helper_whichever_tools_use_it(shared):
    """Another tool that uses the helper neither adds a new finding nor fixes a known one."""
    shared.write("b.py", "")
    shared.write("c.py", "")
    shared.write("a.py", TOOLS.format(name="a").partition("@a.tool\ndef a_two")[0])
    shared.lint(*SELECT, "--baseline", "known.json", "--write-baseline", code=0)
    shared.write("a.py", TOOLS.format(name="a"))
    assert "No findings" in shared.lint("--baseline", "known.json", code=0).stdout.splitlines()[-1]


def test_an_editor_shows_where_its_buffer_leads_to_a_helper(shared):
    """The failure is built in another file, so the finding is where the buffer returns it."""
    report = shared.json(*SELECT, "--stdin-filename", "a.py", input=TOOLS.format(name="a"))
    assert [("a.py", 11), ("a.py", 17)] == [(finding["path"], finding["line"]) for finding in report["diagnostics"]]
    for finding in report["diagnostics"]:
        assert ("helper.py", 3) in [(place["path"], place["line"]) for place in finding["related"]]


def test_a_file_without_mcpcore_has_one_finding_for_a_rule(alike):
    """The finding lists the other places."""
    (finding,) = alike.json(*SELECT)["diagnostics"]
    assert 10 == finding["line"]
    assert finding["message"].endswith("; 2 more like it in this file")
    assert [16, 22] == [place["line"] for place in finding["related"]]
    assert "1 warning in 1 file, 3 tools (3 places)" in alike.lint(*SELECT, "--statistics").stdout


def test_in_an_editor_and_on_a_server_of_mcpcore_each_place_has_its_own(alike):
    """An editor marks lines, and in a tool with a contract each failure needs its own entry."""
    report = alike.json(*SELECT, "--stdin-filename", "server.py", input=FASTMCP)
    assert [10, 16, 22] == [finding["line"] for finding in report["diagnostics"]]
    alike.write("server.py", ALIKE.format(package="mcpcore import Server", server="Server"))
    assert [10, 16, 22] == [line for _, line, _ in alike.findings(*SELECT)]


def test_suppressions_and_the_baseline_hold_for_each_place(alike):
    """Known and suppressed places are left out, and new ones are reported."""
    alike.write(
        "server.py", FASTMCP.replace('"error": a}', '"error": a}  # mcpcore: ignore[no-error-as-data] so be it', 1)
    )
    (finding,) = alike.json(*SELECT)["diagnostics"]
    assert (16, [22]) == (finding["line"], [place["line"] for place in finding["related"]])
    alike.write("server.py", FASTMCP)
    alike.lint(*SELECT, "--baseline", "known.json", "--write-baseline", code=0)
    alike.lint(*SELECT, "--baseline", "known.json", code=0)
    alike.write("server.py", FASTMCP.replace("third", "fourth"))
    assert [22] == [line for _, line, _ in alike.findings(*SELECT, "--baseline", "known.json")]


def test_the_full_report_shows_the_first_places_and_counts_the_rest(shared):
    """It shows three with their source line, lists up to twelve, and counts the others."""
    many = "".join(f"@a.tool\ndef more_{n}(a: str) -> dict:\n    return failed(a)\n\n\n" for n in range(20))
    shared.write("a.py", TOOLS.format(name="a") + "\n\n" + many)
    text = shared.lint(*SELECT, code=1).stdout
    assert 12 == text.count(":::") - 1
    assert 3 == text.count("    return failed(a)")
    assert "  ::: and 14 more; --format json lists all" in text


CAUSES = """
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("x")


@mcp.tool
def load(a: str, b: str) -> str:
    '''Load both.'''
    try:
        first = open(a).read()
    except OSError:
        raise ToolError("no first file")
    try:
        return first + open(b).read()
    except OSError as error:
        raise ToolError("no second file")
"""


def test_the_fix_of_a_file_makes_the_edits_of_all_places(alike):
    """The report offers one fix, and `--fix` makes each edit."""
    alike.write("server.py", CAUSES)
    (finding,) = alike.json("--select", "preserve-cause-on-rethrow")["diagnostics"]
    assert "Add the cause, and 1 more" == finding["fix"]["title"]
    text = CAUSES
    for edit in sorted(finding["fix"]["edits"], key=lambda edit: -edit["start"]):
        text = text[: edit["start"]] + edit["text"] + text[edit["end"] :]
    alike.lint("--select", "preserve-cause-on-rethrow", "--fix", code=0)
    assert text == (alike.root / "server.py").read_text()
    assert 2 == text.count('file") from ')
