"""The recorded fields, their destinations, and failures that cannot be recorded."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given, settings, strategies as st

from mcpcore import Context, ErrorCode, FailureMode, Server, tool
from mcpcore.audit import AuditError, AuditTrail, verify
from mcpcore.audit.chain import RESERVED
from mcpcore.audit.files import head_path
from mcpcore.audit.reading import read
from mcpcore.audit.record import MAX_RECORD, encode
from tests.audit.conftest import written

SECRET = "hunter2-is-the-secret"


class Keep:
    """A sink that keeps its records."""

    def __init__(self) -> None:
        self.taken: list[tuple[dict[str, object], str]] = []

    def failure(self, record, line):
        self.taken.append((dict(record), line))


def test_a_record_is_one_line_with_the_whole_failure(path, failure):
    """Every field has its name, including the fields of the chain."""
    fields = failure(1, context={"session_id": "s", "plan_hash": "p"}, data={"pmids": ["1"]}, text="snow\u2603\n\x00")
    with AuditTrail.open(path, sinks=()) as trail:
        trail.record(fields)
        assert trail.head.seq == 1
    (line,) = path.read_text("ascii").splitlines()
    record = json.loads(line)
    assert {key: value for key, value in record.items() if key not in RESERVED} == fields
    assert record["seq"] == 1
    assert record["hash"] == trail.head.hash
    if sys.platform != "win32":
        assert path.stat().st_mode & 0o077 == 0
        assert head_path(path).stat().st_mode & 0o077 == 0


def test_secrets_reach_no_sink(path, failure, caplog):
    """No destination has a secret from the message, data, arguments, exception or traceback."""
    sink = Keep()
    with AuditTrail.open(path, sinks=(sink,)) as trail:
        trail.record(
            failure(
                1,
                message=f"login with password={SECRET} failed",
                data={"apiKey": SECRET, "rows": [{"token": SECRET}]},
                arguments={"url": f"https://u:{SECRET}@host/x", "headers": [["Authorization", f"Bearer {SECRET}"]]},
                exception={
                    "type": "E",
                    "message": f"Authorization: Bearer {SECRET}",
                    "causes": [f"--password {SECRET}"],
                },
                traceback=f'  File "x.py", line 1\n    connect(password="{SECRET}")\n',
            )
        )
    assert SECRET not in path.read_text()
    assert SECRET not in caplog.text
    assert SECRET not in repr(sink.taken)
    assert all(SECRET not in repr(vars(record)) for record in caplog.records)
    assert path.read_text().count("[redacted]") == 8


def test_the_logger_gets_every_failure_as_one_line(failure, caplog):
    """Without a file, the logger gets the complete structured failure, without line breaks."""
    trail = AuditTrail.from_options(None, environ={})
    trail.record(failure(1, message="two\nlines\r\x1b[31m"))
    trail.record(failure(2, name="INTERNAL_ERROR"))
    first, second = caplog.records
    assert (first.name, first.levelno, second.levelno) == ("mcpcore.audit", logging.INFO, logging.ERROR)
    assert json.loads(first.getMessage())["message"] == "two\nlines\r\x1b[31m"
    assert first.getMessage().isprintable()
    assert first.audit["correlationId"] == f"{1:016x}"
    assert trail.head is None


@pytest.mark.usefixtures("only_warnings")
def test_sinks_get_the_line_of_the_file_and_cannot_damage_it(path, failure, caplog):
    """A sink receives the written bytes, and a sink that raises is logged and skipped."""

    class Broken:
        def failure(self, record, line):
            raise RuntimeError("collector is down")

    sink = Keep()
    with AuditTrail.open(path, sinks=(Broken(), sink), policy="refuse") as trail:
        trail.record(failure(1))
    assert [line for _, line in sink.taken] == path.read_text().splitlines()
    assert "audit sink Broken failed: RuntimeError" in caplog.text


class Hostile:
    def __str__(self) -> str:
        raise ValueError("no text for you")


@pytest.mark.parametrize(
    "value",
    [
        Hostile(),
        float("nan"),
        float("inf"),
        10**5000,
        "\ud800 lone",
        {1: "a", None: "b", (1, 2): "c", "a": 1},
        {"x": object()},
        datetime(2026, 11, 21, tzinfo=UTC),
        b"\xff\x00",
        {frozenset({1})},
        "x" * 3_000_000,
        ["y" * 100] * 50_000,
        {f"key{n}": n for n in range(50_000)},
    ],
    ids=lambda value: type(value).__name__,
)
def test_any_failure_can_be_recorded(path, failure, value):
    """Values that JSON cannot represent are named, overlong ones are cut, and the record is valid."""
    with AuditTrail.open(path, sinks=(), policy="refuse") as trail:
        for field in ("data", "message", "tool", "extra"):
            trail.record(failure(1, **{field: value}))
        trail.record(failure(2))
    assert verify(path).ok
    recorded = list(read(path))
    assert len(recorded) == 5
    assert all(len(line) < MAX_RECORD + 400 for line in path.read_bytes().splitlines())
    assert all(record["correlationId"] for record in recorded)


def test_cycles_and_endless_nesting_are_cut(path, failure):
    """A structure that contains itself is cut at some depth."""
    loop: dict[str, object] = {}
    loop["self"] = loop
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    with AuditTrail.open(path, sinks=(), policy="refuse") as trail:
        trail.record(failure(1, data=loop))
        trail.record(failure(2, data=deep))
    assert verify(path).records == 2


def test_an_oversized_record_says_what_was_dropped(failure):
    """The largest parts are dropped first, and the identifying fields are kept."""
    record, text = encode(failure(1, traceback="t" * MAX_RECORD, data={"a": 1}, password="x"))
    assert len(text) <= MAX_RECORD
    assert record["dropped"] == ["traceback"]
    assert record["data"] == {"a": 1}
    record, text = encode(failure(1, message="m" * 10**6, data="d" * 10**6, other="o" * 10**6))
    assert len(text) <= MAX_RECORD
    assert set(record["dropped"]) >= {"data", "other"}
    assert record["message"].startswith("mmm")
    assert record["message"].endswith("(1000000 characters)")


def test_a_record_cannot_imitate_the_trails_own_fields(path, failure):
    """A failure's fields with names of the chain are renamed."""
    with AuditTrail.open(path, sinks=()) as trail:
        trail.record(failure(1, seq=99, prev="x", hash="y", alg="z", event="pruned"))
    (record,) = read(path)
    assert (record["seq"], record["seq_"], record["event_"], record["hash_"]) == (1, 99, "pruned", "y")
    assert "event" not in record
    assert verify(path).ok


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@pytest.fixture(scope="module")
def long_trail(tmp_path_factory):
    with AuditTrail.open(
        tmp_path_factory.mktemp("any") / "audit.jsonl", sinks=(), policy="refuse", key="k" * 32
    ) as trail:
        yield trail


@settings(max_examples=100, deadline=None)
@given(record=st.dictionaries(st.text(), json_values, max_size=6))
def test_any_record_makes_a_line_that_verifies(long_trail, record):
    """Keys and values may be anything."""
    long_trail.record(record)
    assert verify(long_trail.path, key="k" * 32).ok


class TestOptions:
    def test_without_a_path_there_is_no_file(self):
        """A server without the option or with False writes no file."""
        assert AuditTrail.from_options(None, environ={}).path is None
        assert AuditTrail.from_options(None, environ={"MCPCORE_AUDIT": ""}).path is None
        assert AuditTrail.from_options(False, environ={"MCPCORE_AUDIT": "/tmp/x"}).path is None

    def test_the_environment_names_path_key_policy_and_flush(self, tmp_path, path, failure):
        """A server started by a desktop client is configured only by environment variables."""
        environ = {
            "MCPCORE_AUDIT": str(path),
            "MCPCORE_AUDIT_KEY": "k" * 32,
            "MCPCORE_AUDIT_POLICY": "refuse",
            "MCPCORE_AUDIT_FLUSH": "fsync",
        }
        trail = AuditTrail.from_options(None, environ=environ)
        trail.record(failure())
        assert trail.policy == "refuse"
        assert verify(path, key="k" * 32).keyed
        AuditTrail.from_options(tmp_path / "other", environ=environ).record(failure())
        assert verify(tmp_path / "other", key="k" * 32).keyed
        assert AuditTrail.from_options(trail, environ={}) is trail

    @pytest.mark.parametrize("variable", ["MCPCORE_AUDIT_POLICY", "MCPCORE_AUDIT_FLUSH"])
    def test_a_mistyped_variable_is_an_error_with_valid_values(self, tmp_path, variable):
        """A mistyped policy must not become the default."""
        with pytest.raises(ValueError, match=rf"{variable} must be one of (warn|record), .*'ignore'"):
            AuditTrail.from_options(tmp_path / "a", environ={variable: "ignore"})

    def test_a_tilde_means_the_users_home_folder(self, tmp_path, monkeypatch):
        """A desktop client passes the value on without a shell."""
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("USERPROFILE", str(tmp_path))
        trail = AuditTrail.from_options(environ={"MCPCORE_AUDIT": "~/audit.jsonl"})
        assert trail.path == tmp_path / "audit.jsonl"
        trail.close()

    def test_a_newline_at_the_end_of_a_key_is_ignored(self, path, failure):
        """A key set from a file's content equals the key read from that file."""
        with AuditTrail.from_options(path, environ={"MCPCORE_AUDIT_KEY": "k" * 32 + "\n"}) as trail:
            trail.record(failure(1))
        assert verify(path, key="k" * 32).ok

    @pytest.mark.usefixtures("only_warnings")
    @pytest.mark.parametrize("key", ["", "\n"])
    def test_an_empty_key_is_an_error(self, tmp_path, caplog, key):
        """The file of the key may be missing, and the trail must not silently go unsigned."""
        AuditTrail.from_options(tmp_path / "audit.jsonl", environ={"MCPCORE_AUDIT_KEY": key}).close()
        assert "MCPCORE_AUDIT_KEY is set and empty" in caplog.text
        caplog.clear()
        AuditTrail.from_options(tmp_path / "audit.jsonl", environ={}).close()
        assert not caplog.text

    @pytest.mark.parametrize(
        "options", [{"policy": "maybe"}, {"flush": "never"}, {"max_bytes": 0}, {"keep": -1}, {"flush_interval": 0}]
    )
    def test_a_mistyped_option_is_an_error(self, tmp_path, options):
        """Options are validated when they are set."""
        with pytest.raises(ValueError, match="audit"):
            AuditTrail(tmp_path / "a", **options)

    @pytest.mark.usefixtures("only_warnings")
    def test_a_short_key_is_an_error(self, tmp_path, caplog):
        """A guessable key protects nothing."""
        AuditTrail.open(tmp_path / "a", key="abc")
        assert "can be forged" in caplog.text


def test_a_trail_without_a_file_cannot_be_flushed_or_closed(failure, caplog):
    """The logger still gets each record, even after closing."""
    trail = AuditTrail()
    trail.flush()
    trail.close()
    trail.record(failure(1))
    assert len(caplog.records) == 1
    assert (trail.head, trail.lost) == (None, 0)


def test_a_closed_trail_opens_again(tmp_path, failure):
    """Closing releases the files, but a failure during shutdown is still recorded."""
    trail = AuditTrail.open(tmp_path / "audit.jsonl", sinks=(), flush="interval")
    trail.record(failure(1))
    trail.close()
    trail.close()
    trail.record(failure(2))
    trail.close()
    assert verify(trail.path).records == 2


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_file_without_permission_is_reported(path):
    """The warning names the removed permissions."""
    path.touch(mode=0o400)
    with pytest.raises(AuditError, match="EACCES"):
        AuditTrail.open(path, policy="refuse")


def test_a_folder_that_vanishes_is_reported_once_and_then_counted(tmp_path, failure, caplog, capsys):
    """There is one warning per period, the logger gets the records, and the trail notes the loss later."""
    folder = tmp_path / "logs"
    folder.mkdir()
    trail = AuditTrail.open(folder / "audit.jsonl", sinks=())
    trail.record(failure(1))
    folder.rename(tmp_path / "moved")
    for number in range(2, 7):
        trail.record(failure(number))
    assert trail.lost == 5
    errors = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
    assert len(errors) == 1
    assert "No such file or directory (ENOENT); 1 record(s) not in the file so far" in errors[0]
    assert capsys.readouterr().err.count("cannot be written") == 1
    (tmp_path / "moved").rename(folder)
    trail.record(failure(7))
    report = verify(trail.path)
    assert report.ok, report.problems
    assert "record 2: 5 record(s) could not be written before this one, and are not in the trail" in report.notes


def test_the_next_period_repeats_the_warning(tmp_path, failure, caplog):
    """A trail that stays broken is reported repeatedly."""
    trail = AuditTrail.open(tmp_path / "no" / "audit.jsonl", sinks=(), warn_every=0)
    for number in range(3):
        trail.record(failure(number))
    assert len([record for record in caplog.records if record.levelno == logging.ERROR]) == 4


class Articles:
    """A server whose tools fail in every way."""

    @staticmethod
    def server(audit) -> Server:
        @tool(errors=[FailureMode("no_match", ErrorCode.NOT_FOUND, when="Nothing matched.", recovery="Search first.")])
        async def fetch(ctx: Context[Literal["no_match"]], mode: Literal["ok", "declared", "crash"]) -> str:
            """Fetch."""
            if mode == "declared":
                raise ctx.fail("no_match", data={"secret": SECRET, "n": 1})
            if mode == "crash":
                raise RuntimeError(f"password={SECRET}")
            return "fine"

        return Server("articles", tools=[fetch], audit=audit)


def call(server: Server, *arguments: dict[str, object]) -> list[object]:
    from mcp import Client

    async def run() -> list[object]:
        async with Client(server) as client:
            return [await client.call_tool("fetch", case) for case in arguments]

    return asyncio.run(run())


@pytest.mark.usefixtures("door")
def test_a_server_records_every_failure_before_it_answers_and_no_success(path):
    """On a real server, declared failures, crashes and bad arguments are recorded under the client's id."""
    results = call(Articles.server(path), {"mode": "ok"}, {"mode": "declared"}, {"mode": "crash"}, {"mode": 7})
    recorded = list(read(path))
    assert [record["name"] for record in recorded] == ["NOT_FOUND", "INTERNAL_ERROR", "INVALID_PARAMS"]
    ids = [result.structured_content["error"]["correlationId"] for result in results[1:]]
    assert [record["correlationId"] for record in recorded] == ids
    assert SECRET not in path.read_text()
    assert recorded[1]["exception"]["type"] == "RuntimeError"
    assert verify(path).ok


@pytest.mark.usefixtures("only_warnings")
@pytest.mark.usefixtures("door")
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_server_with_an_unwritable_trail_follows_its_policy(tmp_path, caplog):
    """With "warn" the client gets its failure, and with "refuse" an audit failure."""
    (answered,) = call(Articles.server("/dev/full"), {"mode": "declared"})
    assert answered.structured_content["error"]["data"]["reason"] == "no_match"
    assert "it is not a regular file" in caplog.text
    trail = AuditTrail(tmp_path / "missing" / "audit.jsonl", policy="refuse")
    server = Articles.server(trail)
    assert server.audit is trail
    (refused,) = call(server, {"mode": "declared"})
    assert refused.is_error
    assert refused.structured_content["error"]["name"] == "INTERNAL_ERROR"
    assert "audit" in json.dumps(refused.structured_content)


def test_catching_audit_errors_does_not_load_the_writer():
    """The boundary imports the error, and the other modules are loaded with a server."""
    script = (
        "import sys; from mcpcore.audit import AuditError; "
        "print([m for m in ('mcpcore.audit.trail', 'mcpcore.wire.redaction', 'opentelemetry') if m in sys.modules])"
    )
    assert subprocess.check_output([sys.executable, "-c", script], text=True).strip() == "[]"


@pytest.fixture
def broken_filter():
    """A filter of the application that raises."""

    def raises(record):
        raise RuntimeError("the filter is broken")

    logger = logging.getLogger("mcpcore.audit")
    logger.addFilter(raises)
    yield
    logger.removeFilter(raises)


def test_a_filter_that_raises_does_not_affect_the_file_or_sinks(tmp_path, failure, broken_filter, caplog):
    """The records are written before the filter runs, or in spite of it."""
    ids = []

    class Sink:
        def failure(self, record, line):
            ids.append(record["correlationId"])

    trail = AuditTrail.open(tmp_path / "audit.jsonl", sinks=[Sink()])
    with trail, pytest.raises(RuntimeError, match="filter is broken"):
        trail.record(failure(1, name="INTERNAL_ERROR"))
    assert ids == [f"{1:016x}"]
    assert [record["correlationId"] for record in read(tmp_path / "audit.jsonl")] == ids


def test_a_filter_that_raises_does_not_disable_refusing(tmp_path, failure, broken_filter, capsys):
    """Failures without a record are withheld and reported if possible."""
    folder = tmp_path / "logs"
    folder.mkdir()
    trail = AuditTrail.open(folder / "audit.jsonl", sinks=(), policy="refuse")
    folder.rename(tmp_path / "moved")
    with pytest.raises(AuditError, match="cannot be written"):
        trail.record(failure(1, name="INTERNAL_ERROR"))
    assert "cannot be written" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "problem"), [("a\0b", r"audit path .* contains a NUL"), ("a\ud800b", "surrogates not allowed")]
)
def test_an_invalid_path_is_an_error(name, problem, tmp_path):
    """The error is raised when the path is set, not with the first failure."""
    with pytest.raises(ValueError, match=problem):
        AuditTrail(f"{tmp_path}/{name}")


def test_two_trails_in_one_process_write_one_chain(path, failure):
    """Two servers in a program may have the same path."""
    with (
        AuditTrail.open(path, sinks=(), max_bytes=2_000) as first,
        AuditTrail.open(path, sinks=(), max_bytes=2_000) as second,
    ):
        for number in range(60):
            (first if number % 3 else second).record(failure(number))
    report = verify(path)
    assert (report.ok, report.records) == (True, 60)


@pytest.mark.skipif(os.name != "posix", reason="permissions are others on Windows")
@pytest.mark.parametrize("umask", [0, 0o022, 0o077])
def test_created_files_are_private(tmp_path, umask):
    """All files, including the head and the lock, are private under any umask, and the lock cannot be read."""
    before = os.umask(umask)
    try:
        written(tmp_path / "audit.jsonl", *range(6), max_bytes=1000)
    finally:
        os.umask(before)
    modes = {file.name: file.stat().st_mode & 0o777 for file in tmp_path.iterdir()}
    assert len(modes) > 4
    assert modes.pop("audit.jsonl.lock") == 0o200
    assert set(modes.values()) == {0o600}
