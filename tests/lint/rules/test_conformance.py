"""The conformance rules: across files, in every layout, and with all fixes combined."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from mcpcore_lint.runner.engine import fix_source, lint_source
from mcpcore_lint.settings import Settings

from tests.lint.fixing import fix_for_good

CASES = Path(__file__).parent.parent / "cases" / "conformance"
CONFORMANCE = Settings(select=frozenset({"conformance"}))


def test_a_server_and_its_store_get_the_findings_that_they_name(check_marks):
    """Each marked line has exactly the findings that it names, including those through calls."""
    check_marks(CASES / "server.py", "conformance")


def lint(code, root, **options):
    """The findings in a server."""
    report = lint_source(code, path="server.py", root=str(root), settings=CONFORMANCE, **options)
    assert not report.failures
    return report.diagnostics


def test_a_finding_through_calls_names_the_path_and_the_raise(tmp_path):
    """The message shows the call path; the `raise` is the related place."""
    code = (
        "from mcpcore import ErrorCode, FailureMode, tool\n"
        "from store import load\n"
        "@tool(errors=[FailureMode('gone', ErrorCode.NOT_FOUND, when='x', recovery='y')])\n"
        "def fetch(a: str) -> str:\n"
        "    return load(a)\n"
    )
    store = "from mcpcore import conflict\ndef load(a):\n    return _read(a)\ndef _read(a):\n    raise conflict(a)\n"
    (finding,) = [
        finding
        for finding in lint(code, tmp_path, files={"store.py": store})
        if finding.rule == "error-contract-conformance"
    ]
    assert "fetch > load > _read" in finding.message
    assert (5, "store.py", 5) == (finding.span.line, finding.related[0].path, finding.related[0].span.line)


def test_caught_errors_are_not_reported(tmp_path):
    """A clause for the class or one of its bases, in the handler or a called function, catches it."""
    code = (
        "from mcpcore import CodedError, ErrorCode, FailureMode, conflict, tool\n"
        "class Busy(Exception): ...\n"
        "def load(a):\n    raise conflict(a)\n"
        "def kept(a):\n    try:\n        return load(a)\n    except CodedError:\n        return ''\n"
        "def other(a):\n    try:\n        return load(a)\n    except Busy:\n        return ''\n"
        "@tool(errors=[FailureMode('gone', ErrorCode.NOT_FOUND, when='x', recovery='y')])\n"
        "def fetch(a: str) -> str:\n"
        "    kept(a)\n"
        "    try:\n        load(a)\n    except Exception:\n        pass\n"
        "    return other(a)\n"
    )
    lines = [finding.span.line for finding in lint(code, tmp_path) if finding.rule == "error-contract-conformance"]
    assert [len(code.splitlines())] == lines


def test_a_contract_written_by_the_fix_can_be_imported_and_needs_recoveries(tmp_path):
    """The contract is an unsafe fix and valid at import; each placeholder recovery is reported."""
    code = (
        "from mcpcore import Server, conflict, not_found, tool\n\n\n"
        "@tool\nasync def fetch(pmid: str) -> str:\n"
        '    """Fetch."""\n'
        "    if not pmid:\n"
        '        raise not_found(f"No article {pmid}.", {"pmid": pmid})\n'
        "    return save(pmid)\n\n\n"
        'def save(article: str) -> str:\n    raise conflict("x", reason="changed")\n\n\n'
        'server = Server("x", tools=[fetch])\n'
    )
    safe, _ = fix_source(code, path="server.py", root=str(tmp_path))
    assert "FailureMode" not in safe.after
    fixed, after = fix_for_good(code, root=str(tmp_path), unsafe=True)
    for part in ('"not_found"', '"changed"'):
        assert part in fixed.after
    assert 'raise ctx.fail("not_found", f"No article {pmid}.", {"pmid": pmid})' in fixed.after
    asked = [diagnostic for diagnostic in after.diagnostics if diagnostic.rule.startswith("error-contract-recovery-")]
    assert fixed.after.count("recovery=") == len(asked)
    path = tmp_path / "server.py"
    path.write_text(fixed.after)
    assert "changed" in {entry.reason for entry in runpy.run_path(str(path))["fetch"].contract}


@pytest.mark.parametrize(
    ("signature", "expected"),
    [
        ("def fetch() -> str:", 'def fetch(ctx: Context[Literal["gone"]]) -> str:'),
        ("def fetch(*, a: str) -> str:", 'def fetch(ctx: Context[Literal["gone"]], *, a: str) -> str:'),
        (
            "def fetch(\n    a: str,\n) -> str:",
            'def fetch(\n    ctx: Context[Literal["gone"]],\n    a: str,\n) -> str:',
        ),
        ("def fetch(a, /, b) -> str:", 'def fetch(ctx: Context[Literal["gone"]], a, /, b) -> str:'),
        ("def fetch(ctx: str) -> str:", 'def fetch(context: Context[Literal["gone"]], ctx: str) -> str:'),
    ],
)
def test_the_context_comes_first_in_any_signature(tmp_path, signature, expected):
    """The context is added before all other parameters, under a free name."""
    head = (
        "from typing import Literal\n"
        "from mcpcore import Context, ErrorCode, FailureMode, not_found, tool\n"
        "@tool(errors=[FailureMode('gone', ErrorCode.NOT_FOUND, when='x', recovery='y')])\n"
    )
    fixed, _ = fix_source(
        f"{head}{signature}\n    raise not_found('x')\n", path="server.py", root=str(tmp_path), settings=CONFORMANCE
    )
    name = "context" if "context:" in expected else "ctx"
    assert f"{head}{expected}\n    raise {name}.fail(\"gone\", 'x')\n" == fixed.after


def test_adding_a_parameter_to_a_shared_handler_is_unsafe(tmp_path):
    """A function that is registered elsewhere may have other callers, so the fix is unsafe."""
    code = (
        "from mcpcore import ErrorCode, FailureMode, Server, not_found\n"
        "def fetch(a: str) -> str:\n    raise not_found(a)\n"
        "server = Server('x')\n"
        "server.add_tool(fetch, errors=[FailureMode('gone', ErrorCode.NOT_FOUND, when='x', recovery='y')])\n"
    )
    (finding,) = [finding for finding in lint(code, tmp_path) if finding.rule == "error-contract-prefer-fail"]
    assert finding.fix is not None
    assert finding.fix.safety == "unsafe"


def test_two_tools_with_one_handler_are_checked_by_their_own_contracts(tmp_path):
    """An error declared by one contract may be missing in the other."""
    code = (
        "from mcpcore import Context, ErrorCode, FailureMode, Server\n"
        "def fetch(ctx: Context, a: str) -> str:\n    raise ctx.fail('gone')\n"
        "server = Server('x')\n"
        "server.add_tool(fetch, errors=[FailureMode('gone', ErrorCode.NOT_FOUND, when='x', recovery='y')])\n"
        "server.add_tool(fetch, name='b', errors=[FailureMode('lost', ErrorCode.NOT_FOUND, when='x', recovery='y')])\n"
    )
    assert {("error-contract-fail-undeclared", 3), ("error-contract-unthrown", 6)} == {
        (finding.rule, finding.span.line) for finding in lint(code, tmp_path)
    }


RAISES = st.sampled_from(
    [
        "raise not_found('x', {'a': a})",
        "raise conflict(f'no {a}', retry=None)",
        "raise CodedError(ErrorCode.NOT_FOUND, 'x', reason='gone')",
        "raise CodedError(message='x', code=ErrorCode.TIMEOUT)",
        "ctx.fail('gone')",
        "return ctx.fail('goen', 'x')",
        "raise rate_limited(data={'reason': 'full', 'n': 1})",
        "raise (not_found() if a else timeout('slow'))",
    ]
)
CONTRACTS = st.sampled_from(
    [
        "@tool",
        "@tool()",
        "@tool(title='x')",
        "@tool(errors=[])",
        "@tool(errors=[GONE])",
        "@tool(errors=[GONE, SLOW])",
        "@tool(\n    errors=[\n        GONE,\n        SLOW,\n    ],\n)",
    ]
)


@given(CONTRACTS, st.lists(RAISES, min_size=1, max_size=4), st.sampled_from(["a: str", "ctx: Context, a: str", ""]))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_fixes_leave_code_that_parses_and_nothing_to_do(tmp_path, contract, raises, parameters):
    """For any contract and raises, the fixed text parses and a second run changes nothing."""
    body = "".join(f"    if {number}:\n        {statement}\n" for number, statement in enumerate(raises))
    code = (
        "from mcpcore import CodedError, Context, ErrorCode, FailureMode, conflict, not_found\n"
        "from mcpcore import rate_limited, timeout, tool\n"
        "GONE = FailureMode('gone', ErrorCode.NOT_FOUND, when='x', recovery='Call search for another article.')\n"
        "SLOW = FailureMode('slow', ErrorCode.TIMEOUT, when='x', recovery='Wait a minute and call again.')\n"
        f"{contract}\ndef fetch({parameters}):\n{body}"
    )
    every = Settings(select=frozenset({"conformance", "handler", "contract"}))
    fix_for_good(code, root=str(tmp_path), settings=every, unsafe=True)
