"""The rules that read a tool's annotations, in every form of annotations and registrations."""

from __future__ import annotations

import textwrap

import pytest
from mcp_types import ToolAnnotations
from mcpcore_lint.rules._advice import CHANGED_BY_HINTS
from mcpcore_lint.runner.engine import lint_paths, lint_source
from mcpcore_lint.settings import Settings

from mcpcore.contract import codes, effects
from tests.tables import in_one_test

PATH = "server.py"
HEAD = """\
import mcp.types
import mcp_types as types
from typing import Final
from mcp.types import ToolAnnotations, ToolAnnotations as TA

FLAGS = {"readOnlyHint": False, "idempotentHint": False}
NO: Final = False
WRITES = ToolAnnotations(read_only_hint=False, idempotent_hint=False)


"""
ANNOTATIONS = [
    "None",
    "WRITES",
    "TA()",
    "TA(title='x', destructive_hint=True, open_world_hint=False)",
    "TA(read_only_hint=True)",
    "TA(read_only_hint=False)",
    "TA(idempotent_hint=False)",
    "TA(idempotent_hint=True)",
    "TA(read_only_hint=True, idempotent_hint=False)",
    "TA(readOnlyHint=False, idempotentHint=False)",
    "TA(readOnlyHint=False, idempotent_hint=True)",
    "TA(read_only_hint=None, idempotent_hint=False)",
    "TA(read_only_hint=NO, idempotent_hint=NO)",
    "TA(**FLAGS)",
    "TA(title='x', **FLAGS)",
    "TA(**{**FLAGS, 'idempotentHint': True})",
    "TA(**{'idempotentHint': True, **FLAGS})",
    "TA(**dict(FLAGS, readOnlyHint=True))",
    "types.ToolAnnotations(read_only_hint=False, idempotent_hint=False)",
    "mcp.types.ToolAnnotations(read_only_hint=False, idempotent_hint=False)",
    "TA(read_only_hint=False, idempotent_hint=False) if NO else WRITES",
]
"""Annotations that the linter reads to the end."""

UNSEEN = [
    "elsewhere.WRITES",
    "elsewhere.Hints(read_only_hint=False, idempotent_hint=False)",
    "TA(read_only_hint=False, idempotent_hint=elsewhere.NO)",
    "TA(read_only_hint=elsewhere.NO, idempotent_hint=False)",
    "TA(read_only_hint=False, idempotent_hint=False, **elsewhere.MORE)",
    "TA(read_only_hint=False, idempotent_hint=NO if elsewhere.NO else True)",
    "WRITES.model_copy(update={'idempotent_hint': True})",
    "WRITES if elsewhere.NO else TA(read_only_hint=True)",
    "WRITES if elsewhere.NO else None",
    "elsewhere.given or WRITES",
    "TA(read_only_hint='false', idempotent_hint=0)",
    "Mine(read_only_hint=False, idempotent_hint=False)",
]
"""Annotations of which some hint is settled at run time alone."""

TOOLS = {
    "a decorator": """
        from mcpcore import ErrorCode, FailureMode, Retry, tool

        @tool(annotations=<X>, errors=[<E>])
        def one() -> str: ...
    """,
    "a decorator of a server": """
        from mcpcore import ErrorCode, FailureMode, Retry, Server

        server = Server("x")

        @server.tool(annotations=<X>, errors=[<E>])
        def one() -> str: ...
    """,
    "a decorator of a server, by position": """
        from mcpcore import ErrorCode, FailureMode, Retry, Server

        server = Server("x")

        @server.tool("one", None, None, <X>, errors=[<E>])
        def one() -> str: ...
    """,
    "a function that a server adds": """
        from mcpcore import ErrorCode, FailureMode, Retry, Server

        def one() -> str: ...

        Server("x").add_tool(one, annotations=<X>, errors=[<E>])
    """,
    "a function that a server adds, by position": """
        from mcpcore import ErrorCode, FailureMode, Retry, Server

        def one() -> str: ...

        Server("x").add_tool(one, "one", "One", "One.", <X>, errors=[<E>])
    """,
    "a declared tool that a server adds with other annotations": """
        from mcpcore import ErrorCode, FailureMode, Retry, Server, tool

        @tool(errors=[<E>])
        def one() -> str: ...

        Server("x").add_tool(one, annotations=<X>)
    """,
    "FastMCP's decorator above": """
        from fastmcp import FastMCP
        from mcpcore import ErrorCode, FailureMode, Retry, tool

        app = FastMCP("x")

        @app.tool(annotations=<X>)
        @tool(errors=[<E>])
        def one() -> str: ...
    """,
    "under FastMCP's decorator": """
        from fastmcp import FastMCP
        from mcpcore import ErrorCode, FailureMode, Retry, tool

        app = FastMCP("x")

        @app.tool(tags={"x"})
        @tool(annotations=<X>, errors=[<E>])
        def one() -> str: ...
    """,
    "a decorator of the project": """
        from mcpcore import ErrorCode, FailureMode, Retry, tool

        def contract_tool(*errors):
            return tool(annotations=<X>, errors=[*errors])

        @contract_tool(<E>)
        def one() -> str: ...
    """,
    "a decorator of the project that hands its options on": """
        from mcpcore import ErrorCode, FailureMode, Retry, tool

        def contract_tool(**options):
            return tool(**options)

        @contract_tool(annotations=<X>, errors=[<E>])
        def one() -> str: ...
    """,
    "a method": """
        from mcpcore import ErrorCode, FailureMode, Retry, tool

        class Tools:
            @tool(annotations=<X>, errors=[<E>])
            def one(self) -> str: ...
    """,
}
DECLARED = 'FailureMode("late", ErrorCode.TIMEOUT, when="x", recovery="y", retry=Retry.now())'
DEFAULT = 'FailureMode("late", ErrorCode.TIMEOUT, when="x", recovery="y")'


def findings_of(rule, spelling, annotations, entry, tmp_path):
    """The findings of one rule in a tool with some annotations."""
    code = HEAD + "import elsewhere\n\n\nclass Mine(ToolAnnotations): ...\n\n\n" + textwrap.dedent(TOOLS[spelling])
    code = code.replace("<X>", annotations).replace("<E>", entry)
    report = lint_source(code, path=PATH, settings=Settings(select=frozenset({rule})), root=str(tmp_path))
    assert not report.failures, report.failures
    assert len(report.tools) >= 1
    return [diagnostic for diagnostic in report.diagnostics if diagnostic.rule == rule]


def stated(annotations):
    """The values of the SDK's own object."""
    names = {}
    exec(f"{HEAD}found = {annotations}", names)
    value = names["found"] or ToolAnnotations()
    return value.read_only_hint, value.idempotent_hint


@in_one_test("spelling", TOOLS)
@in_one_test("annotations", ANNOTATIONS)
def test_annotations_are_read_as_the_sdk_reads_them(annotations, spelling, tmp_path):
    """Declared advice is unsafe if both hints are False; default advice needs the hints to be set."""
    read_only, idempotent = stated(annotations)
    unsafe = findings_of("retry-unsafe", spelling, annotations, DECLARED, tmp_path)
    assert len(unsafe) == (read_only is False and idempotent is False)
    missing = findings_of("tool-annotations-missing", spelling, annotations, DEFAULT, tmp_path)
    lacking = [name for name, hint in (("read_only", read_only), ("idempotent", idempotent)) if hint is None]
    settled = read_only or idempotent or not lacking
    assert len(missing) == (not settled)
    assert all(finding.message.endswith(f"nothing states {' and '.join(lacking)}") for finding in missing)
    assert all(finding.fix is None for finding in missing)


@in_one_test("spelling", TOOLS)
@in_one_test("annotations", UNSEEN)
def test_unknown_annotations_are_not_reported(annotations, spelling, tmp_path):
    """A hint that is not a constant may have any value."""
    assert findings_of("retry-unsafe", spelling, annotations, DECLARED, tmp_path) == []
    assert findings_of("tool-annotations-missing", spelling, annotations, DEFAULT, tmp_path) == []


def test_the_linter_and_the_runtime_withhold_the_same_advice():
    """The same codes have default advice that depends on annotations."""

    def sent(code, hints):
        return effects.settled(effects.CallState(effects.default_effects(hints)), code, code.retry)[1]

    reads = {"read_only_hint": True}
    assert {code.name for code in codes.ErrorCode if sent(code, None) != sent(code, reads)} == CHANGED_BY_HINTS


SHORT = [
    "",
    "read_only=True",
    "idempotent=True",
    "read_only=False, idempotent=False",
    "read_only=False",
    "destructive=True",
]


@in_one_test("annotations", ["None", "TA(title='x')", "{'title': 'x'}"])
@in_one_test("short", SHORT)
def test_short_hints_are_read_like_annotations(short, annotations, tmp_path):
    """`@tool(read_only=True)` says what `ToolAnnotations(read_only_hint=True)` says, also beside other annotations."""
    long = short.replace("=", "_hint=")
    for rule, entry in (("retry-unsafe", DECLARED), ("tool-annotations-missing", DEFAULT)):
        spelled = f"{annotations}, {short}" if short else annotations
        expected = [finding.message for finding in findings_of(rule, "a decorator", f"TA({long})", entry, tmp_path)]
        assert expected == [finding.message for finding in findings_of(rule, "a decorator", spelled, entry, tmp_path)]


@pytest.mark.parametrize("options", ["**OPTIONS", "**elsewhere.OPTIONS"])
def test_options_from_a_dict_count_if_they_are_known(options, tmp_path):
    """`@tool(**OPTIONS)` has the annotations of a known dict; with an unknown dict they may be any."""
    code = HEAD + (
        "import elsewhere\nfrom mcpcore import ErrorCode, FailureMode, Retry, tool\n"
        'OPTIONS = {"annotations": WRITES}\n'
        f"@tool({options}, errors=[{DECLARED}])\ndef one() -> str: ...\n"
    )
    settings = Settings(select=frozenset({"retry-unsafe", "tool-annotations-missing"}))
    report = lint_source(code, path=PATH, settings=settings, root=str(tmp_path))
    assert [diagnostic.rule for diagnostic in report.diagnostics] == (
        ["retry-unsafe"] if options == "**OPTIONS" else []
    )


def test_annotations_and_entries_of_another_file(tmp_path):
    """The finding is at the tool that combines the two, and names the place of the advice."""
    (tmp_path / "hints.py").write_text(HEAD)
    (tmp_path / "modes.py").write_text(f"from mcpcore import ErrorCode, FailureMode, Retry\nLATE = {DECLARED}\n")
    (tmp_path / "server.py").write_text(
        "from hints import WRITES\nfrom modes import LATE\nfrom mcpcore import tool\n"
        '@tool(annotations=WRITES, errors=[LATE])\ndef one() -> str:\n    """Do it."""\n'
    )
    settings = Settings(select=frozenset({"retry-unsafe"}))
    (finding,) = lint_paths([tmp_path], settings=settings, root=str(tmp_path)).diagnostics
    assert (finding.path, finding.span.line, finding.tool) == ("server.py", 4, "one")
    assert [(place.path, place.span.line) for place in finding.related] == [("modes.py", 2)]


def test_a_shared_handler_is_reported_if_one_tool_may_not_be_called_twice(tmp_path):
    """Annotations belong to a registration, in either order; two registrations give one finding for one place."""
    body = (
        "from mcp.types import ToolAnnotations as TA\nfrom mcpcore import Retry, Server, timeout\n"
        'server = Server("x")\n'
        'def one() -> str:\n    raise timeout("Late.", retry=Retry.now())\n'
    )
    safe = 'server.add_tool(one, "safe", annotations=TA(read_only_hint=True))\n'
    unsafe = 'server.add_tool(one, "{}", annotations=TA(read_only_hint=False, idempotent_hint=False))\n'
    settings = Settings(select=frozenset({"retry-unsafe"}))
    for calls in (safe + unsafe.format("a"), unsafe.format("a") + safe, unsafe.format("a") + unsafe.format("b")):
        report = lint_source(body + calls, path=PATH, settings=settings, root=str(tmp_path))
        assert [(diagnostic.span.line, diagnostic.tool) for diagnostic in report.diagnostics] == [(5, "a")]
    assert lint_source(body + safe, path=PATH, settings=settings, root=str(tmp_path)).diagnostics == ()
