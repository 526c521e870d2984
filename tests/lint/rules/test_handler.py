"""The handler rules on whole servers, with and without contracts."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from mcpcore_lint.runner.engine import fix_source, lint_source
from mcpcore_lint.settings import Settings

from tests.lint.fixing import fix_for_good

CASES = Path(__file__).parent.parent / "cases"
HANDLER = Settings(select=frozenset({"handler"}))


@pytest.mark.parametrize(
    ("group", "path"),
    [
        (group, path)
        for group in ("contract", "definitions", "handler")
        for path in sorted((CASES / group).glob("*.py"))
    ],
    ids=lambda value: getattr(value, "stem", value),
)
def test_each_case_file_gets_the_findings_that_it_names(group, path, check_marks):
    """Each marked line has exactly the findings that it names, of the rules of its group."""
    check_marks(path, group)


def rules_and_lines(code, root, **options):
    """The rules and lines of the findings in a server."""
    report = lint_source(code, path="server.py", root=str(root), settings=HANDLER, **options)
    assert not report.failures
    return [(diagnostic.rule, diagnostic.span.line) for diagnostic in report.diagnostics]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("indent", ["    ", "\t"])
def test_the_cause_is_added_in_any_layout(tmp_path, newline, indent):
    """Line ends, tabs and non-ASCII letters before the place are kept."""
    lines = [
        "from mcpcore import not_found, tool",
        "@tool",
        "def fetch(a: str) -> str:",
        "~try: ü = '→'; return open(a).read()",
        "~except (KeyError, (OSError)): raise not_found('→')",
        "",
    ]
    code = newline.join(lines).replace("~", indent)
    fixed, after = fix_source(code, path="server.py", root=str(tmp_path), settings=HANDLER)
    assert code.replace("(OSError)):", "(OSError)) as error:").replace("('→')", "('→') from error") == fixed.after
    assert not after.diagnostics


def test_a_new_name_for_the_cause_hides_no_other(tmp_path):
    """If `error` is taken, another name is chosen, and an inner clause never reuses the outer one's."""
    code = (
        "from mcpcore import not_found, tool\n"
        "@tool\n"
        "def fetch(error: str) -> str:\n"
        "    try:\n        return open(error).read()\n"
        "    except KeyError:\n"
        "        try:\n            return ''\n"
        "        except OSError:\n            raise not_found('a')\n"
        "        raise not_found('b')\n"
    )
    fixed, _ = fix_source(code, path="server.py", root=str(tmp_path), settings=HANDLER)
    for part in (
        "except KeyError as exc:",
        "except OSError as inner_error:",
        "raise not_found('a') from inner_error",
        "raise not_found('b') from exc",
    ):
        assert part in fixed.after


def test_an_imported_handler_is_reported_in_its_own_file(tmp_path):
    """With `add_tool(imported_function)` the findings are in the function's own file."""
    code = "from mcp.server.fastmcp import FastMCP\nfrom work import fetch\n\nmcp = FastMCP('x')\nmcp.add_tool(fetch)\n"
    files = {"work.py": "def fetch(a: str) -> str:\n    raise Exception(a)\n"}
    report = lint_source(code, path="server.py", root=str(tmp_path), settings=HANDLER, files=files)
    assert [("work.py", 2, "prefer-mcp-error-in-handler")] == [
        (diagnostic.path, diagnostic.span.line, diagnostic.rule) for diagnostic in report.diagnostics
    ]


def test_a_low_level_handler_may_raise_for_an_unknown_tool(tmp_path):
    """The protocol requires an error there; other errors raised by the handler are reported."""
    code = (
        "from mcp import MCPError\n"
        "from mcp.server.lowlevel import Server\n"
        "async def call(ctx, params):\n"
        "    if params.name != 'fetch':\n"
        "        raise MCPError(code=-32602, message=f'Unknown tool: {params.name}')\n"
        "    raise MCPError(code=-32602, message='no such article')\n"
        "server = Server('x', on_call_tool=call)\n"
    )
    assert [("no-protocol-error-in-tool", 6)] == rules_and_lines(code, tmp_path)


def test_a_plain_module_gets_no_findings(tmp_path):
    """The handler rules do not apply to code that defines no tool."""
    code = "def fetch():\n    try:\n        raise ValueError\n    except:\n        return {'error': 'x'}\n"
    assert rules_and_lines(code, tmp_path) == []


STATEMENTS = st.sampled_from(
    [
        "raise ValueError('x')",
        "raise CodedError(ErrorCode.NOT_FOUND, 'x')",
        "raise CodedError(message='x', code=ErrorCode.CONFLICT)",
        "raise (not_found('x') if a else CodedError(ErrorCode.TIMEOUT))",
        "raise not_found(f'{error}')",
        "error = CodedError(ErrorCode.FORBIDDEN, *a); raise error",
        "return {'error': a}",
        "pass",
        "return []",
        "raise",
    ]
)
CLAUSES = st.sampled_from(
    ["except OSError:", "except (KeyError):", "except Exception as exc:", "except:", "except (A, B):"]
)


@given(st.lists(st.tuples(CLAUSES, STATEMENTS, STATEMENTS), min_size=1, max_size=4, unique_by=lambda parts: parts[0]))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_fixes_leave_code_that_parses_and_nothing_to_do(tmp_path, clauses):
    """For any handler, the fixed text parses and a second run changes nothing."""
    ordered = sorted(clauses, key=lambda parts: parts[0] == "except:")
    body = "".join(f"    {clause}\n        if a: {first}\n        {second}\n" for clause, first, second in ordered)
    code = (
        "from mcpcore import CodedError, ErrorCode, not_found, tool\n\n"
        f"@tool\ndef fetch(a: str):\n    try:\n        return load(a)\n{body}"
    )
    fix_for_good(code, root=str(tmp_path), settings=HANDLER, unsafe=True)


def served(helpers, answer):
    """A server with some functions and one tool that returns an expression."""
    head = "from mcp.server.fastmcp import FastMCP\nmcp = FastMCP('x')\n"
    return f"{head}{helpers}@mcp.tool()\ndef fetch(a: str):\n    {answer}\n"


@pytest.mark.parametrize("length", [1, 5, 20])
def test_a_failure_is_found_through_any_chain_of_functions(tmp_path, length):
    """A function that builds a failure is found however many functions pass its result on."""
    chain = "".join(f"def f{number}(m):\n    return f{number + 1}(m)\n" for number in range(length))
    code = served(f"{chain}def f{length}(m):\n    return {{'error': m}}\n", "return f0(a)")
    assert rules_and_lines(code, tmp_path) == [
        ("no-error-as-data", code.split("\n").index("    return {'error': m}") + 1)
    ]


def test_a_failure_behind_a_long_chain_is_found_in_any_order_of_the_tools(tmp_path):
    """A tool that starts further down the chain finds it, whichever tool is checked first."""
    chain = "".join(f"def f{n}(m):\n    if m: return f{n + 1}(m)\n    return load(m)\n" for n in range(9))
    chain += "def f9(m):\n    if m: return {'error': m}\n    return load(m)\n"
    far = "@mcp.tool()\ndef far(a: str):\n    return f0(a)\n"
    near = "@mcp.tool()\ndef near(a: str):\n    return f5(a)\n"
    head = f"from mcp.server.fastmcp import FastMCP\nmcp = FastMCP('x')\n{chain}"
    assert rules_and_lines(head + near + far, tmp_path) == rules_and_lines(head + far + near, tmp_path) != []


@pytest.mark.parametrize(
    ("helpers", "answer"),
    [
        ("".join(f"def f{n}(m):\n    return f{n + 1}(m)\n" for n in range(500)), "return f0(f'Error: {a}')"),
        (
            "".join(f"def f{n}(m):\n{f'    if a: return f{n + 1}(m){chr(10)}' * 3}    return m\n" for n in range(30)),
            "return f0(f'Error: {a}')",
        ),
        (
            "".join(f"def f{n}(m):\n    x, e = f{n + 1}(m)\n    return x, e\n" for n in range(500)),
            "x, e = f0(a)\n    if e: return e\n    return x",
        ),
        ("".join(f"def f{n}(m):\n    return [m]\n" for n in range(40)), f"return {'f0(f1(f2(' * 13}a{')))' * 13}"),
        ("def f(m):\n    return g(m)\ndef g(m):\n    return f(m)\n", "return f(f'Error: {a}')"),
        ("def f(m):\n    e = f(m)\n    if e: return e\n", "if e := f(a): return e\n    return a"),
    ],
    ids=["long", "wide", "tuples", "nested", "round", "itself"],
)
def test_endless_chains_of_functions_are_given_up(tmp_path, helpers, answer):
    """Chains that are too long, too wide or circular are given up, quickly and without a crash."""
    assert rules_and_lines(served(helpers, answer), tmp_path) == []


def test_the_help_names_a_clause_that_would_catch_the_proposed_exception(tmp_path):
    """An exception raised in place of the answer must get past the clause, which lets none through."""
    code = """\
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
mcp = FastMCP("x")
@mcp.tool
def fetch(a: str) -> dict:
    try:
        if not a:
            return {"error": "no a"}
        return {"a": open(a).read()}
    except Exception as error:
        return {"error": str(error)}
@mcp.tool
def kept(a: str) -> dict:
    try:
        if not a:
            return {"error": "no a"}
        return {"a": open(a).read()}
    except ToolError:
        raise
    except Exception as error:
        return {"error": str(error)}
"""
    settings = Settings(select=frozenset({"no-error-as-data"}))
    report = lint_source(code, path="server.py", root=str(tmp_path), settings=settings)
    helps = {diagnostic.span.line: diagnostic.help for diagnostic in report.diagnostics}
    assert {8, 11, 16, 21} == set(helps)
    assert helps[8].endswith("; the `except` on line 10 must then raise it again")
    assert not any("must then" in helps[line] for line in (11, 16, 21))
