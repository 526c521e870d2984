"""What a check finds, with servers that really run."""

from __future__ import annotations

import subprocess
import sys

import pytest

from mcpcore.check.judging import Paths, Surroundings, judge
from mcpcore.check.model import SERVER, UNKNOWN_TOOL, Answer, CheckedTool, Marks, Probe, Report, broken, met
from mcpcore.check.rules import QUESTIONS, RULES
from mcpcore.check.running import Target, UnreachableError
from tests.check.conftest import HOSTILE, SERVERS

GOOD = (sys.executable, "-m", "mcpcore", "run", str(SERVERS / "good.py"))

EXPECTED = {
    "leaks_environment": {"leaks-environment"},
    "leaks_traceback": {"leaks-traceback"},
    "leaks_exception": {"leaks-exception", "no-next-step"},
    "leaks_secret": {"leaks-secret"},
    "leaks_path": {"leaks-path"},
    "dies": {"server-dies"},
    "hangs": {"no-answer"},
    "malformed": {"malformed-answer"},
    "as_success": {"failure-as-success"},
    "accepts": {"accepts-bad-arguments"},
    "as_protocol_error": {"failure-as-protocol-error", "argument-not-named", "no-next-step"},
    "forges": {"forgeable-text"},
    "repeats": {"echoes-large-input"},
    "echoes": {"echoes-input"},
    "contradicts": {"retry-contradiction"},
    "read_only_effects": {"effects-contradiction"},
    "unknown_fallback": {"unknown-fallback-tool"},
    "undeclared": {"undeclared-reason"},
    "wrong_code": {"contract-code-mismatch"},
    "wrong_data": {"contract-data-mismatch"},
    "broken_contract": {"contract-invalid"},
    "contract_without_list": {"contract-invalid"},
    "declares_fallback": {"unknown-fallback-tool"},
    "breaks_on_cancel": {"breaks-on-cancel"},
    "remote_schema": {"unusable-schema"},
    "hard_schema": {"unusable-schema"},
    "huge_schema": {"unusable-schema"},
    "writes": {"not-called"},
    "unsafe": {"not-called"},
    "contradictory_hints": {"not-called"},
    UNKNOWN_TOOL: {"unknown-tool-succeeds"},
    SERVER: {"noise-on-stdout"},
}


def rules_of(report: Report, tool: str) -> set[str]:
    return {finding.rule.id for finding in report.findings if finding.tool == tool}


@pytest.mark.parametrize("tool", EXPECTED)
def test_each_bad_way_to_fail_is_found(hostile, tool):
    assert EXPECTED[tool] <= rules_of(hostile, tool)


def test_what_is_right_is_not_found(hostile):
    assert not rules_of(hostile, "as_declared") & {
        "undeclared-reason",
        "contract-code-mismatch",
        "contract-data-mismatch",
    }
    assert not rules_of(hostile, "json_advice") & {"no-next-step", "no-retry-advice"}
    assert "leaks-environment" not in rules_of(hostile, "leaks_path")


def test_tools_that_may_change_something_are_not_called(hostile):
    skipped = {subject.name for subject in hostile.tools if not subject.calls}

    assert skipped == {"writes", "unsafe", "contradictory_hints", "remote_schema", "hard_schema", "huge_schema"}


def test_a_report_does_not_hold_the_environment(hostile):
    withheld = [f.message for f in hostile.findings if f.tool == "leaks_environment" and "withheld" in f.message]

    assert withheld
    assert "PATH" not in str([f.message for f in hostile.findings if f.tool == "leaks_environment"])


def test_a_server_that_dies_is_reported_with_its_exit_code_and_started_again(hostile):
    finding = next(f for f in hostile.findings if f.rule.id == "server-dies")
    dies = next(subject for subject in hostile.tools if subject.name == "dies")

    assert finding.message == "it ended with the exit code 3"
    assert dies.skipped == "2 calls were not answered"
    assert next(subject for subject in hostile.tools if subject.name == "accepts").calls == 9


def test_the_second_tool_of_a_name_is_reported(hostile):
    assert "duplicate-tool" in rules_of(hostile, "leaks_environment")


@pytest.mark.parametrize("era", ["modern", "handshake"])
def test_a_server_with_contracts_gets_the_best_grades_in_both_eras(checked, era):
    report = checked(*GOOD, era=era, timeout=20)

    assert {question: report.grade(question) for question in QUESTIONS} == dict.fromkeys(QUESTIONS, "yes")
    assert {finding.rule.id for finding in report.findings} == {"no-contract"}
    assert report.protocol == {"modern": "2026-07-28", "handshake": "2025-11-25"}[era]
    assert all(report.marks[question]["met"] for question in QUESTIONS)


def test_tools_that_may_change_something_are_called_with_consent(checked, tmp_path, monkeypatch):
    monkeypatch.setenv("HOSTILE_LOG", str(tmp_path / "log"))
    names = ("writes", "unsafe")

    report = checked(*HOSTILE, *names, everything=True, timeout=5, only=frozenset(names))

    assert "called" in (tmp_path / "log").read_text()
    assert "retry-unsafe" in rules_of(report, "unsafe")


def test_the_limit_of_time_ends_a_check_and_names_what_was_not_reached(checked):
    report = checked(*HOSTILE, "hangs", "accepts", timeout=0.7, limit=0.1)

    assert report.stopped == "the limit of 0.1 s is over"
    assert [(subject.name, subject.skipped) for subject in report.tools][-1] == ("accepts", report.stopped)


@pytest.mark.parametrize("era", ["auto", "modern"])
def test_a_server_over_http_that_dies_is_reported(checked, era):
    with subprocess.Popen(
        [sys.executable, "-S", str(SERVERS / "over_http.py")], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        try:
            report = checked(url=f"http://127.0.0.1:{port}/mcp", era=era, timeout=20)
        finally:
            process.kill()

    assert report.stopped.startswith("the server cannot be started again")
    assert "server-dies" in rules_of(report, UNKNOWN_TOOL)
    assert [subject.skipped == report.stopped for subject in report.tools] == [False, True, True]


@pytest.mark.parametrize("again", ["ends", "deaf"])
def test_a_server_that_cannot_be_started_again_is_reported(checked, tmp_path, monkeypatch, again):
    monkeypatch.setenv("HOSTILE_LOG", str(tmp_path / "log"))
    monkeypatch.setenv("HOSTILE_AGAIN", again)
    # A child that keeps the output of the server open.
    monkeypatch.setenv("HOSTILE_CHILD", "1")

    report = checked(*HOSTILE, "dies", "accepts", timeout=1)

    assert report.stopped.startswith("the server cannot be started again")
    assert "server-dies" in rules_of(report, "dies")


def test_an_answer_in_time_is_judged_though_the_call_was_to_be_cancelled(checked, monkeypatch):
    monkeypatch.setattr("mcpcore.check.running._MOMENT", 20)

    report = checked(*HOSTILE, "malformed", timeout=20)

    assert [report.tools[-1].calls] == [f.count for f in report.findings if f.rule.id == "malformed-answer"]


def test_a_line_without_end_is_not_read_to_the_end(checked, monkeypatch):
    monkeypatch.setattr("mcpcore.proxy.child.MAX_LINE", 2_000)

    with pytest.raises(UnreachableError, match="Connection closed"):
        checked(*HOSTILE, timeout=5)


def test_an_endless_list_of_tools_ends(checked):
    report = checked(sys.executable, "-S", str(SERVERS / "many.py"), "endless", timeout=20, limit=0.1)

    assert report.stopped
    assert len(report.tools) < 1_000


# --- the judge alone, for answers that no server above gives ---------------------------------------------------------

AROUND = Surroundings(names=frozenset({"t", "search"}), marker="mcpcheck0")
TOOL = CheckedTool(name="t", read_only=True)


def judged(answer: Answer, kind: str = "valid", tool: CheckedTool | None = TOOL, **more: object) -> set[str]:
    probe = Probe(kind=kind, tool="t", arguments={}, argument="text", **more)
    return {verdict.rule.id for verdict in judge(probe, answer, tool, AROUND) if verdict.rule is not None}


def failure(text: str, **structured: object) -> Answer:
    value = {"isError": True, "content": [{"type": "text", "text": text}]}
    return Answer(kind="result", value=value | ({"structuredContent": structured} if structured else {}))


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Error\n    at f (/srv/app/index.js:3:5)", "leaks-traceback"),
        ("boom\n\tat com.acme.Tool.call(Tool.java:12)", "leaks-traceback"),
        ("panic: x\n\ngoroutine 1 [running]:", "leaks-traceback"),
        ("thread 'main' panicked at src/main.rs:2:5", "leaks-traceback"),
        ("#0 /var/www/app/Tool.php(12): call()", "leaks-traceback"),
        ("Cannot read properties of undefined (reading 'x')", "leaks-exception"),
        ("AKIAIOSFODNN7EXAMPLE is not allowed", "leaks-secret"),
        (r"C:\Users\alice\app.db is locked", "leaks-path"),
        ("in site-packages/acme/tool.py", "leaks-path"),
        ("see file:///etc/acme.conf", "leaks-path"),
    ],
)
def test_leaks_of_other_languages_are_found(text, rule):
    assert rule in judged(failure(text))


@pytest.mark.parametrize(
    "text",
    [
        "Check the date at https://example.com/usr/lib/page",
        "Use a / b",
        "Send 24/7",
        "Use either/or and/or",
        "Error executing tool x",
    ],
)
def test_texts_that_leak_nothing_are_not_found(text):
    assert not {rule for rule in judged(failure(text)) if rule.startswith("leaks")}


FILES = CheckedTool(name="t", input_schema={"type": "object", "properties": {"filePath": {"type": "string"}}})


@pytest.mark.parametrize(
    ("text", "tool", "arguments", "shown", "leaked"),
    [
        ("cannot open /srv/data/a.db", TOOL, {}, "", "/srv/data/a.db"),
        # The tool is about files, but not about the installation of the server.
        ("cannot open /srv/data/a.db", FILES, {}, "", None),
        ("in /opt/venv/lib/site-packages/acme/tool.py", FILES, {}, "", "/opt/venv/lib/site-packages/acme/tool.py"),
        ("use a path in /home/a/notes, not /etc/hosts", TOOL, {"path": "/etc/hosts"}, "server /home/a/notes", None),
        # The caller sent the end of the path, and the server made it absolute.
        ("cannot open /srv/data/notes/a.md", TOOL, {"note": "notes/a.md"}, "", None),
        ("cannot open /srv/data/b.md", TOOL, {"note": "a.md"}, "", "/srv/data/b.md"),
        # A success, the command line or the description names the directory.
        ("cannot open /srv/data/a.db", TOOL, {}, '["/srv/data/b.db", "/srv/data"]', None),
        ("cannot open /srv/data/a.db", TOOL, {}, "see https://example.com/srv/data", "/srv/data/a.db"),
    ],
)
def test_a_path_that_the_server_is_for_is_not_a_leak(text, tool, arguments, shown, leaked):
    paths = Paths()
    paths.show(shown)

    assert paths.leaked(text, tool, arguments) == leaked


REFUSED = "connect: connection refused"


@pytest.mark.parametrize(
    ("answer", "kind", "takes", "rules"),
    [
        # Only a failure that may pass needs advice about a retry.
        (failure(REFUSED), "valid", (), {"no-next-step", "no-retry-advice"}),
        (failure("Connection refused. Start the database."), "valid", (), set()),
        (failure("HTTP 404"), "valid", (), {"no-next-step"}),
        (failure(REFUSED), "missing", (), {"argument-not-named", "no-next-step"}),
        # The server may well say what to do, in a language that the check does not read.
        (failure("ECONNREFUSED. Bitte noch einmal versuchen."), "valid", (), {"unclear-next-step"}),
        # There is no cause in nothing, in a masked exception, and in a value alone.
        (failure(""), "valid", (), {"no-cause", "no-next-step"}),
        (failure("Error executing tool t"), "valid", (), {"no-cause", "no-next-step"}),
        (failure("Error calling tool 't': 'x'"), "valid", (), {"no-cause", "no-next-step"}),
        # For a wrong value, it must be plain what the argument takes.
        (failure("text: string erforderlich"), "wrong-type", ("string", "str"), set()),
        (failure("text: string erforderlich"), "out-of-range", ("eu", "us"), {"unclear-next-step"}),
        (failure("Invalid text"), "out-of-range", ("eu", "us"), {"no-next-step"}),
        # A hint is advice in any language, unless it only states something.
        (failure("Nein.", error="Nein.", hint="Bitte zuerst suchen."), "valid", (), set()),
        (failure("It broke.", error="It broke.", hint="It broke."), "valid", (), {"no-next-step"}),
        # The full stop after a value of the caller ends the first sentence.
        (failure(f"There is no order {AROUND.marker}.md. Call the list tool for the ids."), "valid", (), set()),
    ],
)
def test_a_failure_is_judged_by_what_the_server_says(answer, kind, takes, rules):
    assert judged(answer, kind, strict=kind != "valid", takes=frozenset(takes)) == rules


def test_with_the_middleware_alone_grades_move_only_where_a_client_gets_more(checked):
    """Its keys, such as `retry`, say nothing that the server would know. It repeats no rejected values."""
    plain, behind = (
        checked(sys.executable, str(SERVERS / "undeclared.py"), *arguments, timeout=60)
        for arguments in ((), ("middleware",))
    )

    def grades(report: Report, *questions: str) -> dict[str, list[str]]:
        return {subject.name: [subject.grade(question) for question in questions] for subject in report.tools}

    assert grades(plain, "failed", "why", "next", "safe") == grades(behind, "failed", "why", "next", "safe")
    assert {*grades(plain, "next")["states"], *grades(plain, "safe")["refused"]} == {"partly"}
    assert {f.rule.id for f in plain.findings} - {f.rule.id for f in behind.findings} == {"echoes-input"}


@pytest.mark.parametrize(
    ("value", "rules"),
    [
        ({"content": [{"type": "text", "text": "Error: cannot connect to the database"}]}, {"unclear-failure"}),
        ({"content": [], "structuredContent": {"success": False, "error": "the disk is full"}}, {"unclear-failure"}),
        ({"content": [{"type": "text", "text": "3 cities"}]}, set()),
    ],
)
def test_a_success_that_may_be_a_failure_is_a_readers_to_judge(value, rules):
    """Neither counts as all right nor as wrong: the tool may be asked for just that text."""
    assert judged(Answer(kind="result", value=value), "valid", strict=False) == rules


def test_a_result_that_asks_for_input_is_no_failure():
    assert judged(Answer(kind="result", value={"resultType": "input_required"}), "missing", strict=True) == set()


def test_an_argument_that_an_open_schema_does_not_name_may_be_accepted():
    success = Answer(kind="result", value={"content": []})

    assert judged(success, "unknown") == {"accepts-unknown-arguments"}
    assert judged(success, "unknown", strict=True) == {"accepts-bad-arguments"}


def test_the_answer_to_an_unknown_tool_needs_no_advice():
    """Every client has the list of the tools."""
    error = {"code": -32602, "message": "There is no such tool"}

    assert judged(Answer(kind="error", value=error), "unknown-tool", None) == set()


def test_a_success_that_leaks_the_environment_is_found():
    around = Surroundings(names=frozenset(), marker="m", canary="mcpcanary")
    answer = Answer(kind="result", value={"content": [], "structuredContent": {"env": [{"TOKEN": "mcpcanary"}, 1]}})
    probe = Probe(kind="valid", tool="t", arguments={})

    assert [v.rule.id for v in judge(probe, answer, TOOL, around) if v.rule] == ["leaks-environment"]


def test_an_advice_may_be_in_an_endless_structure():
    deep: list[object] = []
    for _ in range(60):
        deep = [deep]

    assert "no-retry-advice" in judged(failure("connection refused", deep=deep, wide=["a"] * 20_000))


def test_a_call_counts_once_for_a_question_by_the_worst_of_its_findings():
    sheet = Marks()

    sheet.add([broken("leaks-path", ""), broken("leaks-secret", ""), met("failed"), broken("unclear-next-step", "")])
    sheet.add([met("leak"), broken("no-contract", ""), met("next")])
    assert sheet == {"leak": {"error": 1, "met": 1}, "failed": {"met": 1}, "next": {"note": 1, "met": 1}}


@pytest.mark.parametrize(
    ("calls", "grade"),
    [
        ({}, "not tried"),
        ({"met": 1}, "yes"),
        ({"met": 1, "warning": 1}, "partly"),
        ({"warning": 1}, "no"),
        ({"met": 2, "note": 1}, "unclear"),
        ({"met": 1, "warning": 1, "note": 1}, "partly"),
        ({"warning": 1, "note": 1}, "no"),
        # One secret is a leak, whatever the other calls are.
        ({"met": 99, "error": 1}, "no"),
    ],
)
def test_a_grade_answers_its_question(calls, grade):
    sheet = Marks()
    sheet["leak"].update(calls)

    assert sheet.grade("leak", whole=True) == grade
    assert sheet.grade("leak", whole=False) == ("unclear" if grade == "yes" else grade)


def test_every_error_answers_a_question():
    assert {rule.question for rule in RULES.values() if rule.level == "error"} == {*QUESTIONS} - {"next"}


def test_a_target_has_the_mode_of_its_era():
    assert [Target(era=era).mode for era in ("auto", "modern", "handshake")] == ["auto", "2026-07-28", "legacy"]
