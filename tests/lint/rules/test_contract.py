"""The contract rules on whole files, across files, and in every layout."""

from __future__ import annotations

import io
import re
import tokenize
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st
from mcpcore_lint.rules.contract.error_contract_reason_format import SNAKE_CASE, snake_case
from mcpcore_lint.rules.contract.error_contract_retry_contradiction import ContractRetryContradiction
from mcpcore_lint.runner.engine import lint_paths, lint_source
from mcpcore_lint.settings import Settings

from tests.files import write_files
from tests.lint.fixing import fix_for_good, fix_paths

CASES = Path(__file__).parent.parent / "cases"

CONTRACT = Settings(select=frozenset({"contract"}))


def lint(tmp_path, files, *rules):
    """Write files and lint them together: path, line and message of each finding."""
    write_files(tmp_path, files)
    chosen = Settings(select=frozenset(rules), cache_dir=str(tmp_path / ".cache"))
    report = lint_paths([tmp_path], settings=chosen, root=str(tmp_path))
    assert not report.failures
    return report.diagnostics


TOOL = """

@tool(errors=[{name}("gone", ErrorCode.NOT_FOUND, when="It is gone.", recovery="Call list_all to see what there is.")])
def fetch(ctx: Context) -> str:
    \"\"\"Fetch it.\"\"\"
    raise ctx.fail("gone")
"""
OTHERS = {
    "FailureMode": "from mcpcore import Context, ErrorCode, FailureMode, tool\n",
    "FM": "from mcpcore import Context, ErrorCode, FailureMode as FM, tool\n",
    "mcpcore.FailureMode": "import mcpcore\nfrom mcpcore import Context, ErrorCode, tool\n",
    "Mode": "import mcpcore\nfrom mcpcore import Context, ErrorCode, tool\nMode = mcpcore.FailureMode\n",
    "Own": "from mcpcore import Context, ErrorCode, FailureMode, tool\nOwn = FailureMode\n",
}


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("tool", [TOOL, ""])
def test_a_failure_mode_outside_a_tool_is_found_under_any_name(name, tool):
    """Other entries of the file may belong to tools, and the class may be imported under any name."""
    later = f'\n\ndef later():\n    return [{name}("Bad Reason", ErrorCode.NOT_FOUND, when="x", recovery="Ask.")]\n'
    source = OTHERS[name] + tool.format(name=name) + later
    report = lint_source(source, settings=Settings(select=frozenset({"error-contract-reason-format"})))
    assert [diagnostic.span.line for diagnostic in report.diagnostics] == [len(source.splitlines())]


class TestAcrossFiles:
    """Entries, handlers and models in a different file from the tool."""

    MODES = (
        'from mcpcore import ErrorCode, FailureMode\nMODES = [FailureMode("gone", -32001, when="x", recovery="Ask.")]\n'
    )
    SERVER = (
        "from mcpcore import tool\nfrom modes import MODES\n@tool(errors=MODES)\ndef {0}() -> str:\n    '''Say.'''\n"
    )

    def test_an_entry_that_two_tools_share_is_one_finding_in_its_file(self, tmp_path):
        """An entry that tools of several files use is reported once, in its own file."""
        files = {"modes.py": self.MODES, "one.py": self.SERVER.format("one"), "two.py": self.SERVER.format("two")}
        findings = lint(tmp_path, files, "error-contract-code-type", "error-contract-recovery-min-words")
        assert [(finding.path, finding.span.line, finding.tool) for finding in findings] == [("modes.py", 2, None)] * 2

    def test_an_entry_is_fixed_in_its_own_file(self, tmp_path):
        """The fix of a shared entry changes its file and no other."""
        lint(tmp_path, {"modes.py": self.MODES, "one.py": self.SERVER.format("one")})
        chosen = Settings(select=frozenset({"error-contract-code-type"}), cache_dir=str(tmp_path / ".cache"))
        fix_paths([tmp_path], tmp_path, chosen)
        assert "ErrorCode.NOT_FOUND" in (tmp_path / "modes.py").read_text()
        assert (tmp_path / "one.py").read_text() == self.SERVER.format("one")

    def test_a_failure_mode_that_no_tool_uses_is_checked_too(self, tmp_path):
        """A module of contracts is checked by itself."""
        findings = lint(tmp_path, {"modes.py": self.MODES}, "error-contract-code-type")
        assert [finding.span.line for finding in findings] == [2]

    def test_a_handler_in_another_file_is_reported_and_fixed_there(self, tmp_path):
        """The finding and the fix are in the file of the handler, not in the file that registers it."""
        files = {
            "server.py": "from handlers import fetch\nfrom mcpcore import ErrorCode, FailureMode, Server\n"
            'server = Server("x")\n'
            'server.add_tool(fetch, errors=[FailureMode("a", ErrorCode.CONFLICT, when="x", recovery="y")])\n',
            "handlers.py": "from mcpcore import Context\n\n\ndef fetch(ctx: Context) -> str: ...\n",
        }
        findings = lint(tmp_path, files, "error-contract-context-mismatch")
        assert [(finding.path, finding.span.line) for finding in findings] == [("handlers.py", 4)]
        chosen = Settings(select=frozenset({"error-contract-context-mismatch"}), cache_dir=str(tmp_path / ".cache"))
        fix_paths([tmp_path], tmp_path, chosen)
        assert 'ctx: Context[Literal["a"]]' in (tmp_path / "handlers.py").read_text()
        assert not lint(tmp_path, {}, "error-contract-context-mismatch")

    def test_a_reason_that_another_file_raises_is_not_renamed(self, tmp_path):
        """A rename would not reach the other file, so no fix is offered."""
        files = {
            "server.py": "from mcpcore import Context, ErrorCode, FailureMode, tool\nfrom store import find\n"
            '@tool(errors=[FailureMode("NoMatch", ErrorCode.NOT_FOUND, when="x", recovery="y")])\n'
            "def fetch(ctx: Context) -> str:\n    return find()\n",
            "store.py": "from mcpcore import not_found\n"
            'def find() -> str:\n    raise not_found("x", reason="NoMatch")\n',
        }
        assert [finding.fix for finding in lint(tmp_path, files, "error-contract-reason-format")] == [None]

    def test_a_model_is_followed_through_the_modules_of_the_project(self, tmp_path):
        """An inherited field of a re-exported model is found, with its place."""
        files = {
            "app/__init__.py": "",
            "app/base.py": "from pydantic import BaseModel\nclass Base(BaseModel):\n    error: str = ''\n",
            "app/models.py": "from .base import Base\nclass Found(Base):\n    items: list[str]\n",
            "app/api.py": "from . import models\nResult = models.Found\n",
            "app/server.py": "from mcpcore import tool\nfrom app.api import Result\n@tool\ndef go() -> Result: ...\n",
        }
        (finding,) = lint(tmp_path, files, "output-error-field")
        assert (finding.path, finding.span.line) == ("app/server.py", 4)
        assert [(place.path, place.span.line) for place in finding.related] == [("app/base.py", 3)]


class TestReasons:
    """Reasons in snake_case."""

    @given(st.text(max_size=90))
    def test_a_new_reason_is_snake_case_and_stable(self, text):
        """The new reason has the right format, and renaming it again changes nothing."""
        reason = snake_case(text)
        if reason is not None:
            assert re.fullmatch(SNAKE_CASE, reason)
            assert len(reason) <= 63
            assert snake_case(reason) == reason

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("NoMatch", "no_match"),
            ("HTTPError", "http_error"),
            ("queue-full", "queue_full"),
            ("Not Found!", "not_found"),
            ("getURLFast", "get_url_fast"),
            ("v2Beta", "v2_beta"),
            ("404", None),
            ("", None),
            ("größe", None),
        ],
    )
    def test_a_reason_in_any_spelling_becomes_snake_case(self, old, new):
        """Capitals, hyphens and spaces separate words; a reason without usable letters gets no new name."""
        assert snake_case(old) == new


@pytest.mark.parametrize(
    ("code", "retry", "hint", "contradicts"),
    [
        ("NOT_FOUND", "", "Wait 30 seconds and try again.", True),
        ("NOT_FOUND", "", "Never wait 30 seconds; it is gone for good.", False),
        ("NOT_FOUND", "", "Retry with another id.", False),
        ("CONFLICT", "", "Wait for 5 minutes, then call it again.", True),
        ("CONFLICT", "", "Wait until the other job is done, then list jobs.", False),
        ("CONFLICT", "Retry.after(seconds=300)", "Wait for 5 minutes, then call it again.", False),
        ("RATE_LIMITED", "", "Retry after 30s.", False),
        ("RATE_LIMITED", "", "Retry after 1 minute.", True),
        ("RATE_LIMITED", "Retry.after(seconds=0.5)", "Wait 500 ms and retry.", False),
        ("RATE_LIMITED", "", "Wait 30-60 seconds before retrying.", False),
        ("RATE_LIMITED", "", "Wait roughly 25 seconds.", False),
        ("TIMEOUT", "", "Retry, with 10 seconds more of timeout.", False),
        ("TIMEOUT", "Retry.never()", "Ask for less; do not retry.", False),
        ("TIMEOUT", "", "Do not retry without a smaller range.", False),
        ("TIMEOUT", "", "Do not retry.", True),
        ("SERVICE_UNAVAILABLE", "", "Try again in a few seconds.", False),
        ("SERVICE_UNAVAILABLE", "", "Don't retry; call status instead.", True),
        ("DATABASE_ERROR", "", "Back off and retry.", True),
        ("DATABASE_ERROR", "Retry.now()", "Run it again.", False),
        ("INTERNAL_ERROR", "Retry.now()", "Run it again.", False),
        ("UNAUTHORIZED", "Retry.now()", "Call login first.", True),
    ],
)
def test_a_hint_that_contradicts_the_advice_is_reported(code, retry, hint, contradicts):
    """The retry advice and the wording of the hint agree, or the rule reports them."""
    given_retry = f", retry={retry}" if retry else ""
    source = (
        "from mcpcore import ErrorCode, FailureMode, Retry\n"
        f'MODE = FailureMode("a", ErrorCode.{code}, when="x", recovery={hint!r}{given_retry})\n'
    )
    report = lint_source(source, settings=Settings(select=frozenset({ContractRetryContradiction.id})))
    assert contradicts == bool(report.diagnostics), report.diagnostics


# ---------------------------------------------------------------------------------------------------------------------
# Fixes in every layout.
# ---------------------------------------------------------------------------------------------------------------------

REASONS = st.lists(
    st.sampled_from(["no_match", "NoMatch", "queue-full", "gone", "Gone Away", "x"]),
    min_size=1,
    max_size=4,
    unique=True,
)
CODES = st.sampled_from(["-32001", "(-32002)", "ErrorCode.TIMEOUT", "LOST", "- 32003", "ErrorCode.TIMEOUT.value"])


@st.composite
def servers(draw):
    """A server with contracts and contexts, in any layout that Python allows."""
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    indent = draw(st.sampled_from(["    ", "\t", "  "]))
    imports = draw(
        st.sampled_from(
            [
                "from mcpcore import Context, ErrorCode, FailureMode, tool",
                "from mcpcore import (\n    Context,  # the context\n    ErrorCode,\n    FailureMode,\n    tool,\n)",
                "from mcpcore import Context, ErrorCode, FailureMode, tool; import typing",
                "import typing as t\nfrom mcpcore import Context, ErrorCode, FailureMode, tool  # all of it",
                "from typing import Any\nfrom mcpcore import Context, ErrorCode, FailureMode, \\\n    tool",
                "from mcpcore import Context, FailureMode, tool\nimport mcpcore\nErrorCode = mcpcore.ErrorCode",
            ]
        )
    )
    future = draw(st.sampled_from(["", "from __future__ import annotations\n", '"""A server. \u00e4"""\n']))

    def gap(*, inside=True):
        choices = ["", " ", "  "]
        if inside:
            choices += [
                f"\n{indent * 2}",
                f"  # why\n{indent * 2}",
                f"\n\n{indent}# ä comment\n{indent * 2}",
                " \\\n  ",
            ]
        return draw(st.sampled_from(choices))

    def text(value):
        return draw(st.sampled_from([f'"{value}"', f"'{value}'", f'("{value}")', f'"" "{value}"']))

    reasons = draw(REASONS)
    comma = draw(st.sampled_from(["", ",", " ,"]))
    entries = ",".join(
        f"{gap()}FailureMode({gap()}{text(reason)}{gap()},{gap()}{draw(CODES)}{gap()}, when='x'{gap()},"
        f" recovery='y'{draw(st.sampled_from(['', ',']))}{gap()})"
        for reason in reasons
    )
    named = draw(st.lists(st.sampled_from([*reasons, "typo", "other"]), max_size=4))
    literal = draw(st.sampled_from(["typing.Literal", "Literal"]))
    if named:
        inner = ",".join(f"{gap()}{text(reason)}{gap()}" for reason in named)
        argument = (
            f"[{gap()}{literal}[{inner}{comma}{gap()}]{draw(st.sampled_from(['', ', int', ' , dict[str, int],']))}]"
        )
    else:
        argument = ""
    annotation = f"Context{argument}"
    if draw(st.booleans()) and "#" not in annotation and "\n" not in annotation and "'" not in annotation:
        annotation = f"'{annotation}'"
    used = draw(st.lists(st.sampled_from(reasons), max_size=3))
    body = "".join(
        f"{indent}if flag == {at}:\n{indent * 2}raise ctx.fail({text(reason)})\n" for at, reason in enumerate(used)
    )
    lines = (
        f"{future}{imports}\nimport typing\nfrom typing import Literal\nLOST = -32001\n\n"
        f"@tool(errors=[{entries}{comma}{gap()}])\n"
        f"def fetch({gap()}ctx: {annotation}{gap()},{gap()}flag: int = 1{comma}{gap()}) -> str:{gap(inside=False)}\n"
        f"{body}{indent}return 'x'\n"
    )
    if draw(st.booleans()):
        lines = lines.replace(
            "import typing\nfrom typing import Literal\n", "import typing\n" if "typing.L" in lines else ""
        )
    return lines.replace("\n", newline)


def comments(source):
    """The comments of a source, in order."""
    reader = io.StringIO(source.replace("\r\n", "\n")).readline
    return [token.string for token in tokenize.generate_tokens(reader) if token.type == tokenize.COMMENT]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(servers())
@example(
    "from mcpcore import Context, ErrorCode, FailureMode, tool\nfrom typing import Literal\n\n"
    '@tool(errors=[FailureMode("no_match",-32001, when="x", recovery="y"),FailureMode("gone",-32001, when="x", '
    'recovery="y"),])\ndef fetch(ctx: Context[Literal["no_match","typo"  # why\n        ,]],flag: int = 1,) -> str:\n'
    '    return "x"\n'
)
def test_fixes_leave_valid_python_and_are_idle_the_second_time(source):
    """In any layout, fixed code parses, keeps its comments and line ends, and is not changed again."""
    fixed, report = fix_for_good(source, settings=CONTRACT, unsafe=True, root="/nonexistent")
    assert comments(source) == comments(fixed.after)
    if "\r\n" in source:
        assert "\n" not in fixed.after.replace("\r\n", "")
    assert not [diagnostic for diagnostic in report.diagnostics if diagnostic.fix is not None]
