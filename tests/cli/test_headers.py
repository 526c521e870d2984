"""`--header` of the commands that reach a URL: the header is sent, and its value comes back nowhere."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from click.testing import CliRunner

from mcpcore.cli.root import cli
from mcpcore.client.headers import _Hiding

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

    async with _Hiding(receive, re.compile(TOKEN)) as stream:
        received = [item async for item in stream]

    assert str(received[0]) == "no JSON: [hidden header]"
    assert received[1] is kept
