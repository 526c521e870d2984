"""`--header` of the commands that reach a URL: the header is sent, and its value comes back nowhere."""

from __future__ import annotations

import base64
import json
import logging
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import anyio
import pytest
from click.testing import CliRunner
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCResponse

from mcpcore.cli.root import cli
from mcpcore.client.headers import HIDDEN as MARK, HidingFormatter, _Hiding, secrets_of

SERVER = Path(__file__).parents[1] / "check" / "servers" / "authorized.py"
TOKEN, KEY = "s3cret_token", "k-987654"
HEADERS = ("--header", "Authorization: Bearer ${THE_TOKEN}", "--header", f"X-Key:{KEY}")
HIDDEN = "[hidden header] and [hidden header]"


@pytest.fixture(scope="module")
def url():
    """The URL of a server that wants both headers, and sends them back."""
    with subprocess.Popen([sys.executable, "-S", str(SERVER)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/mcp"
        process.kill()


@pytest.fixture
def run(monkeypatch):
    """A command in this process, with the variable of the token."""
    monkeypatch.setenv("THE_TOKEN", TOKEN)

    def invoke(*words):
        return CliRunner().invoke(cli, list(words), catch_exceptions=False)

    return invoke


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("check", "--url", "URL", "--format", "json"), 1),
        (("call", "URL", "find"), 1),
        (("call", "URL", "--list", "--json"), 0),
        (("catalog", "--url", "URL", "--format", "html"), 0),
        (("diff", "URL", "URL"), 0),
    ],
)
def test_the_headers_are_sent_and_never_shown(run, url, words, code):
    result = run(*(url if word == "URL" else word for word in words), *HEADERS)

    assert result.exit_code == code
    assert HIDDEN in result.output
    assert not [value for value in (TOKEN, KEY) if value in result.output]


def test_a_check_reports_that_a_header_comes_back(run, url):
    findings = json.loads(run("check", "--url", url, "--format", "json", *HEADERS).stdout)["findings"]

    assert "leaks-secret" in {finding["rule"] for finding in findings}


def test_the_proxy_sends_the_headers_and_records_none(url, tmp_path, monkeypatch):
    monkeypatch.setenv("THE_TOKEN", TOKEN)
    trail = tmp_path / "trail.jsonl"
    client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
    requests = [("initialize", client), ("tools/call", {"name": "find", "arguments": {}})]
    command = [sys.executable, "-m", "mcpcore", "proxy", "--url", url, "--audit", str(trail), *HEADERS]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        answers = []
        for number, (method, params) in enumerate(requests):
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            process.stdin.write(json.dumps(message) + "\n")
            process.stdin.flush()
            answers.append(process.stdout.readline())
        process.stdin.close()
        assert process.wait(timeout=20) == 0

    text = "".join(answers) + trail.read_text()
    assert HIDDEN in answers[1]
    assert trail.read_text()
    assert not [value for value in (TOKEN, KEY) if value in text]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("call", "URL", "find", "--header", "secret-value"), "--header takes a name, a colon and a value"),
        (("call", "URL", "find", "--header", "a b: secret-value"), "--header takes a name"),
        (("call", "URL", "find", "--header", "MCP-Session-Id: secret-value"), "the protocol itself sends this header"),
        (("call", "URL", "find", "--header", "X: a\nsecret-value"), "must be one line of ASCII"),
        (("call", "URL", "find", "--header", "X:"), "and not empty"),
        (("call", "URL", "find", "--header", "X: ${NO_SUCH}"), "the variable NO_SUCH is not set"),
        (("call", "find", "--header", "X: secret-value", "--", "true"), "is for a server behind a URL"),
        (("check", "--header", "X: secret-value", "--", "true"), "is for a server behind a URL"),
        (("catalog", "--header", "X: secret-value", "--", "true"), "is for a server behind a URL"),
        (("proxy", "--header", "X: secret-value", "--", "true"), "is for a server behind a URL"),
        (("proxy", "--header", "X: secret-value", "--url", "URL", "--http", "127.0.0.1:0"), "for clients over stdio"),
    ],
)
def test_a_header_that_cannot_be_sent_is_refused_and_not_quoted(run, words, message):
    result = run(*("http://127.0.0.1:1/mcp" if word == "URL" else word for word in words))

    assert result.exit_code == 2
    assert message in result.stderr
    assert "secret-value" not in result.output


def test_a_short_value_is_sent_and_not_hidden(run, url):
    result = run("call", url, "find", "--header", "Authorization: Bearer", "--header", "X-Key: 1")

    assert "[hidden header] and 1" in result.output
    assert result.exit_code == 1


@pytest.mark.anyio
async def test_an_error_of_the_transport_quotes_no_header():
    """The client reports what it cannot read as an exception, whose text may be that of the server."""
    send, receive = anyio.create_memory_object_stream(2)
    kept = ValueError("no JSON")
    send.send_nowait(ValueError(f"no JSON: {TOKEN}"))
    send.send_nowait(kept)
    send.close()

    async with _Hiding(receive, secrets_of({"X-Key": TOKEN})) as stream:
        received = [item async for item in stream]

    assert str(received[0]) == "no JSON: [hidden header]"
    assert received[1] is kept


@pytest.mark.anyio
async def test_a_message_holds_no_encoding_of_a_header():
    """Nor its number, except where the protocol needs a number."""
    key = "12345678"
    result = {
        "text": quote(TOKEN),
        TOKEN: [base64.b64encode(f"a{TOKEN}".encode()).decode()],
        "n": 12345678,
        "m": 1.5,
        "z": None,
    }
    send, receive = anyio.create_memory_object_stream(1)
    send.send_nowait(SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=12345678, result=result)))
    send.close()

    async with _Hiding(receive, secrets_of({"Authorization": f"Bearer {TOKEN}", "X-Key": key})) as stream:
        message = (await stream.receive()).message

    assert message.id == 12345678
    shown = message.result[MARK][0]
    assert {**message.result, MARK: []} == {"text": MARK, MARK: [], "n": MARK, "m": 1.5, "z": None}
    assert MARK in shown
    assert len(shown) <= len(MARK) + 5


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("Authorization", "Basic " + base64.b64encode(b"user:pass-word-1").decode(), "pass-word-1"),
        ("Authorization", "Basic no-base64", "no-base64"),
        ("Cookie", "theme=a; session=0a1b2c3d4e", "0a1b2c3d4e"),
        ("X-Key", "one two three", "one+two+three"),
    ],
)
def test_the_secret_within_a_header_is_hidden_too(name, value, secret):
    assert secrets_of({name: value}).hide(f"You sent {secret}!") == f"You sent {MARK}!"


def test_the_log_of_the_proxy_holds_no_header():
    """Not in a traceback either, such as the SDK writes for an answer that it cannot read."""
    try:
        raise ValueError(quote(f"{TOKEN}/").replace("_", "%5F"))
    except ValueError:
        record = logging.LogRecord("mcp", logging.ERROR, "", 1, "%s failed", (TOKEN,), sys.exc_info())

    text = HidingFormatter("proxy: %(message)s", {"X-Key": TOKEN}).format(record)

    assert text.startswith(f"proxy: {MARK} failed\nTraceback")
    assert text.endswith(f"ValueError: {MARK}/")
