"""Messages that need no change arrive as the bytes that were sent, and processes end as they should."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from mcpcore.cli.root import cli
from tests.proxy.conftest import PLAIN, PROXY, SERVERS, request

Relay = Callable[..., tuple[bytes, bytes, int]]

CLIENT = [
    b'{"method":"initialize","jsonrpc":"2.0","id":"a\\u00e9","params":{"x":1.0,"protocolVersion":"2025-06-18","z":{}}}',
    b'{"jsonrpc":"2.0","method":"notifications/initialized","extra":[1e3, 12345678901234567890]}',
    b'{ "jsonrpc" : "2.0", "id" : 2, "method" : "tools/list" , "unknown":true }',
    b'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"t","arguments":{"n":1.50,"s":"\\ud800"}}}',
    b'{"jsonrpc":"2.0","id":4,"method":"completion/complete","params":{}}',
    b'{"jsonrpc":"2.0","id":77,"result":{"role":"assistant","content":{"type":"text","text":"\xc3\xa9"}}}',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}',
    b'[{"jsonrpc":"2.0","id":5,"method":"ping"}]',
    b"this is no JSON at all",
]
SERVER = [
    b'{"id":"a\\u00e9","jsonrpc":"2.0","result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s"}}}',
    b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"\\u2028 \xe2\x82\xac"},"more":0}',
    b'{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"t","inputSchema":{"type":"object"},"x":1.0}],"_meta":{}}}',
    b'{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"ok","q":null}],"later":{"a":1e2}},"z":1}',
    b'{"jsonrpc":"2.0","id":4,"error":{"code":-32601,"message":"no","data":[1.0]},"z":{}}',
    b'{"jsonrpc":"2.0","id":77,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1,"new":{}}}',
    b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}',
    b'[{"jsonrpc":"2.0","id":5,"result":{}}]',
    b"a print of the server",
]


def test_both_directions_are_relayed_byte_for_byte(relay: Relay, tmp_path: Path) -> None:
    """Unknown fields, key order, spaces, numbers, escapes, batches and lines that are no JSON all stay."""
    answers, seen = tmp_path / "answers", tmp_path / "seen"
    answers.write_bytes(b"\n".join(SERVER))
    command = ("--", sys.executable, SERVERS / "scripted.py", answers, seen)
    out, _, code = relay(b"\n".join(CLIENT) + b"\n", *command, in_turn=True)
    assert SERVER == out.splitlines()
    assert CLIENT == seen.read_bytes().splitlines()
    assert 0 == code


def test_a_call_before_any_list_is_checked(relay: Relay) -> None:
    """The proxy asks for the tools itself, once, and the client sees nothing of it."""
    initialize = request(
        "initialize", 0, protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "c", "version": "1"}
    )
    calls = [
        request("tools/call", ident, name="add", arguments=arguments)
        for ident, arguments in ((1, {}), (2, {"a": 1, "b": 2}))
    ]
    initialized = b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
    out, _, _ = relay(b"".join([initialize, initialized, *calls]), "--", *PLAIN, wait_for=3)
    answers = {message["id"]: message["result"] for message in map(json.loads, out.splitlines())}
    assert {0, 1, 2} == set(answers)
    assert "invalid_arguments" == answers[1]["structuredContent"]["error"]["data"]["reason"]
    assert {"value": 3} == answers[2]["structuredContent"]


def test_a_cancelled_call_that_waits_is_never_sent(relay: Relay, tmp_path: Path) -> None:
    """A call that waits for the list of tools is dropped; the server hears of neither."""
    answers, seen = tmp_path / "answers", tmp_path / "seen"
    answers.write_bytes(b"*\n*")
    lines = (
        request("tools/call", 9, name="t")
        + b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}\n'
    )
    relay(lines, "--", sys.executable, SERVERS / "scripted.py", answers, seen)
    assert ["tools/list"] == [json.loads(line)["method"] for line in seen.read_bytes().splitlines()]


def test_a_file_as_input(tmp_path: Path) -> None:
    """Standard input may be a file, which cannot be waited for."""
    source = tmp_path / "session"
    source.write_bytes(request("ping"))
    with source.open("rb") as stdin:
        done = subprocess.run(
            [*PROXY, "--", sys.executable, "-c", "print(input())"],
            stdin=stdin,
            capture_output=True,
            timeout=30,
            check=False,
        )
    assert request("ping") == done.stdout


def _alive(marker: str) -> list[str]:
    """Return the processes whose command line has the marker."""
    processes = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if marker.encode() in (entry / "cmdline").read_bytes():
                    processes.append(entry.name)
            except OSError:
                continue
    return processes


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("ending", ["input", "SIGTERM", "SIGINT", "SIGHUP"])
def test_no_process_stays(ending: str, tmp_path: Path) -> None:
    """The server and what it has started end with the proxy, even if they ignore the end of their input."""
    marker = f"mcpcore-{tmp_path.name}-{ending}"
    grandchild = f"import time, signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)  # {marker}"
    child = (
        f"import subprocess, sys, time, signal; subprocess.Popen([sys.executable, '-c', {grandchild!r}]); "
        f"signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)  # {marker}"
    )
    with subprocess.Popen(
        [*PROXY, "--", sys.executable, "-c", child],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert b"up\n" == process.stdout.readline()
        if ending == "input":
            process.stdin.close()
        else:
            process.send_signal(getattr(signal, ending))
        # As other commands: 130 after Ctrl+C, and another signal ends the proxy itself.
        number = 0 if ending == "input" else -getattr(signal, ending)
        assert (130 if ending == "SIGINT" else number) == process.wait(timeout=20)
    deadline = time.monotonic() + 5
    while _alive(marker) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert [] == _alive(marker)


def test_a_server_that_ends_at_once(relay: Relay) -> None:
    """The handshake is tried twice, then answered with an error, and the exit code is 1."""
    out, errors, code = relay(
        request("initialize", 5), "--", sys.executable, "-c", "import sys; input(); sys.exit(4)", wait_for=1
    )
    answer = json.loads(out)
    assert 5 == answer["id"]
    assert "exit code 4" in answer["error"]["message"]
    assert 2 == errors.count(b"ended while it was in use")
    assert 1 == code


@pytest.mark.parametrize(
    ("lines", "program", "said"),
    [
        (b"", "false", "has not answered a single message: it ended with the exit code 1"),
        (request("ping", 5), "false", "it ended with the exit code 1"),
        (request("ping", 5), "import sys; sys.stdin.read()", "has not answered a single message"),
        (
            request("ping", 5),
            "import os, sys; input(); os.remove(sys.argv[0]); sys.exit(4)",
            "cannot be started: No such",
        ),
    ],
)
def test_a_server_that_never_answers(relay: Relay, lines: bytes, program: str, said: str, tmp_path: Path) -> None:
    """The exit code is 1, and the message says what happened and what to do."""
    if program != "false":
        script = tmp_path / "server"
        script.write_text(f"#!{sys.executable}\n{program}\n")
        script.chmod(0o755)
        program = str(script)
    _, errors, code = relay(lines, "--", program, wait_for="started" in said)
    assert 1 == code
    assert said in errors.decode()
    assert f"Next: run it without the proxy to see why: {program}" in errors.decode()


def test_an_open_request_of_a_server_that_ended_is_answered_at_the_end(relay: Relay) -> None:
    """A client in a pipeline still reads."""
    out, _, code = relay(request("ping", 5) + request("ping", 6), "--", "false")
    assert {5, 6} == {json.loads(line)["id"] for line in out.splitlines()}
    assert 1 == code


def test_a_line_that_is_too_long_ends_the_session() -> None:
    """The reason is on standard error; the client may be any program."""
    with subprocess.Popen(
        [*PROXY, "--", "cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            for _ in range(130):
                process.stdin.write(b"x" * 1024 * 1024)
        assert process.stderr is not None
        assert b"the client is disconnected: a message has more than" in process.stderr.read()


def test_a_client_that_reads_no_more_has_left() -> None:
    """The server ends with it."""
    with subprocess.Popen(
        [*PROXY, "--", "cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.close()
        process.stdin.write(request("ping"))
        process.stdin.flush()
        assert 0 == process.wait(timeout=20)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["stock.py"], "Next: mcpcore proxy -- python stock.py"),
        (["npx", "-y", "some-server"], "'npx' is not an option of the proxy. Put the command of the server after `--`"),
        (["--stats", "a server.js", "--contract", "x"], "Next: mcpcore proxy -- node 'a server.js'"),
        (["uvx", "--", "mcp-server-git"], "Next: mcpcore proxy -- uvx mcp-server-git"),
        (["https://example.com/mcp"], "Next: mcpcore proxy --url https://example.com/mcp"),
        (["--", "no-such-command-here"], "was not found"),
        ([], "name one server"),
        (["--url", "http://127.0.0.1:1/mcp", "--", "cat"], "takes no command"),
        (["--url", "ftp://x"], "is not an http URL"),
        (["--overlay", "missing.toml", "--", "cat"], "missing.toml cannot be read"),
        (["--contract", "missing.toml", "--", "cat"], "missing.toml cannot be read"),
        (["--learn", __file__, "--", "cat"], "the file exists"),
        (["--learn", "no/such/folder/draft.toml", "--", "cat"], "draft.toml cannot be written: No such file"),
        (["--http", "x", "--", "cat"], "is not a port"),
    ],
)
def test_what_cannot_start_says_why(arguments: list[str], said: str) -> None:
    """Misuse ends with the exit code 2, and a message."""
    done = CliRunner().invoke(cli, ["proxy", *arguments])
    assert ("", 2) == (done.stdout, done.exit_code)
    assert said in done.stderr


def test_a_url_that_cannot_be_reached(relay: Relay) -> None:
    """Each request is answered; the proxy tries again with the next one, and says at the end that none was answered."""
    modern = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}
    lines = request("tools/call", 1, name="x", **modern) + request("resources/read", 2, uri="a://b", **modern)
    out, errors, code = relay(lines, "--url", "http://127.0.0.1:9/mcp", wait_for=2)
    answers: dict[int, Any] = {message["id"]: message for message in map(json.loads, out.splitlines())}
    assert "server_ended" == answers[1]["result"]["structuredContent"]["error"]["data"]["reason"]
    assert "cannot be reached" in answers[2]["error"]["message"]
    assert b"has not answered a single message" in errors
    assert 1 == code


def test_a_program_that_cannot_be_run(relay: Relay, tmp_path: Path) -> None:
    """It is found, but the system refuses to start it."""
    program = tmp_path / "program"
    program.write_bytes(b"\x00\x01")
    program.chmod(0o755)
    out, errors, code = relay(b"", "--", program)
    assert (b"", 1) == (out, code)
    assert b"cannot be started: Exec format error" in errors
    assert b"Next: " in errors


def test_a_client_of_a_url_that_sends_garbage(relay: Relay) -> None:
    """It is not sent on, and the proxy goes on."""
    modern = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}
    lines = b"garbage\n" + request("ping", 1, **modern)
    out, errors, code = relay(lines, "--url", "http://127.0.0.1:9/mcp", wait_for=1)
    assert 1 == json.loads(out)["id"]
    assert b"is not JSON-RPC" in errors
    assert 1 == code
