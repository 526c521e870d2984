"""`mcpcore run`: what a server finds where its standard output was, and where it listens."""

from __future__ import annotations

import json
import os
import re
import socket
import sys
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner

from mcpcore.cli.problems import Problem
from mcpcore.cli.root import cli
from mcpcore.cli.run import parse_address

SERVERS = Path(__file__).parent / "servers"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("8000", ("127.0.0.1", 8000)),
        (":0", ("127.0.0.1", 0)),
        ("0.0.0.0:80", ("0.0.0.0", 80)),
        ("[::1]:8000", ("::1", 8000)),
        ("[::]:65535", ("::", 65535)),
        ("example.org:9", ("example.org", 9)),
    ],
)
def test_an_address_is_a_port_with_or_without_its_host(text, expected):
    """A port alone means this machine; the brackets of an IPv6 host are not part of it."""
    assert expected == parse_address(text)


@pytest.mark.parametrize("text", ["", "x", "::1", "::1:80", "[::1]", "1.2.3.4:", "1.2.3.4:-1", "1:65536", "1:²"])
def test_what_is_no_address_is_told_with_one_to_write(text):
    """Neither the host nor the port is guessed."""
    with pytest.raises(Problem) as caught:
        parse_address(text)
    assert text in caught.value.message
    assert "write --http " in str(caught.value.hint)


STREAM = """
import sys
from mcpcore import Server

stream = sys.stdout
print("by print")
stream.buffer.write(b"by bytes\\n")
stream.write("by write\\n")
facts = [stream.encoding, stream.isatty(), stream.writable(), stream.fileno(), stream.write("four")]
server = Server("facts")


def told() -> list[object]:
    return facts


server.add_tool(told)
"""


def test_what_stands_for_standard_output_can_do_all_that_a_module_asks_of_it(apart, tmp_path):
    """Loggers and progress bars ask a stream for its encoding, its descriptor, and whether it is a terminal; what they
    write goes to standard error, as text or as bytes, and is announced once."""
    (tmp_path / "facts.py").write_text(STREAM)
    done = apart("call", "-v", tmp_path / "facts.py", "told", "--json")
    assert 0 == done.returncode, done.stderr
    encoding, isatty, writable, descriptor, written = json.loads(done.stdout)["structuredContent"]["result"]
    assert (False, True, 1, 4) == (isatty, writable, descriptor, written)
    assert "a".encode(encoding) == b"a"
    for line in ("by print\n", "by bytes\n", "by write\n", "four"):
        assert line in done.stderr
    assert 1 == done.stderr.count("standard output belongs to the protocol")


def test_the_whole_way_to_a_mistake_is_shown_on_request(apart, tmp_path):
    """`--traceback` shows the server's own frames, and one line for libraries, instead of the command's sentence."""
    (tmp_path / "broken.py").write_text(
        "import json\n\n\ndef made():\n    try:\n        json.loads('{')\n    except ValueError as exc:\n"
        "        raise KeyError('missing') from exc\n\n\nmade()\n"
    )
    done = apart("run", "broken.py", "--traceback", cwd=tmp_path)
    assert (2, "") == (done.returncode, done.stdout)
    lines = [line for line in done.stderr.splitlines() if line.lstrip(" ~^")]
    lines[3] = re.sub('".*", line [0-9]+', "PLACE", lines[3])
    file = f'  File "{tmp_path / "broken.py"}", line'
    assert [
        "Traceback (most recent call last):",
        f"{file} 6, in made", "    json.loads('{')", "  File PLACE, in raw_decode",
        lines[4],
        "The above exception was the direct cause of the following exception:",
        "Traceback (most recent call last):",
        f"{file} 11, in <module>", "    made()",
        f"{file} 8, in made", "    raise KeyError('missing') from exc",
        "KeyError: 'missing'",
    ] == lines  # fmt: skip


def test_an_installed_server_is_a_library_with_all_its_frames(apart, tmp_path):
    """Its code is below site-packages, and the only code that its author can look at."""
    (tmp_path / "site-packages").mkdir()
    (tmp_path / "site-packages" / "broken.py").write_text("def made():\n    return {}['missing']\n\n\nmade()\n")
    done = apart("run", "site-packages/broken.py", "--traceback", cwd=tmp_path)
    assert 2 == done.returncode
    assert ["5, in <module>", "2, in made"] == re.findall("line (.*)", done.stderr)


def test_a_trail_that_cannot_be_written_is_reported_once(apart, tmp_path):
    """The handler of the SDK's logging writes to standard error, so the trail need not."""
    (tmp_path / "server.py").write_text("from mcpcore import Server\nserver = Server('a')\n")
    environment = {**os.environ, "MCPCORE_AUDIT": str(tmp_path / "none" / "audit.jsonl")}
    done = apart("run", "server.py", cwd=tmp_path, env=environment)
    assert 1 == done.stderr.count("cannot be written: No such file or directory")


def test_a_mistake_that_is_no_exception_has_no_traceback(apart, tmp_path):
    """`--traceback` changes nothing where the message says all that there is."""
    done = apart("run", "none.py", "--traceback", cwd=tmp_path)
    assert (2, "") == (done.returncode, done.stdout)
    assert "the file none.py does not exist" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_fastmcp_server_is_served_over_http(call, served, tmp_path):
    """FastMCP serves HTTP by itself: on the socket that was bound for it, at the path asked for, with JSON answers."""
    options = ("--http", "127.0.0.1:0", "--path", "/here", "--stateless", "--json-response")
    with served(SERVERS / "plain_fastmcp.py", *options) as (name, url):
        assert "plain" == name
        assert re.fullmatch(r"http://127\.0\.0\.1:[1-9]\d*/here", url)
        done = call(url, "add", "a=1", "b=2", "--json")
        assert {"result": 3} == json.loads(done.stdout)["structuredContent"], done.stderr


def _has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


@pytest.mark.skipif(not _has_ipv6(), reason="this machine has no IPv6")
def test_the_url_of_an_ipv6_server_can_be_called_as_it_is_printed(call, served):
    """The host is in brackets in the URL, as on the command line."""
    with served(f"{SERVERS / 'several.py'}:second", "--http", "[::1]:0") as (name, url):
        assert "second" == name
        assert url.startswith("http://[::1]:")
        done = call(url, "add", "a=1", "--json")
        assert {"result": 1.5} == json.loads(done.stdout)["structuredContent"], done.stderr


def test_a_port_that_is_taken_is_told(apart):
    """The port is named, and that 0 would find a free one."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        done = apart("run", f"{SERVERS / 'several.py'}:second", "--http", address)
    assert (2, "") == (done.returncode, done.stdout)
    assert f"cannot listen on {address}: " in done.stderr
    assert "0 for any free port" in done.stderr


def test_the_command_works_in_a_thread_where_signals_cannot_be_set(monkeypatch):
    """A program that embeds the command in a thread gets its answer, not an error about signals."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "argv", list(sys.argv))
    results = []

    def work() -> None:
        command = ["run", "no_such_module_anywhere", "--http", "127.0.0.1:0"]
        results.append(CliRunner().invoke(cli, command, catch_exceptions=True))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(30)
    assert 2 == results[0].exit_code, results[0].exception
    assert "the module no_such_module_anywhere does not exist" in results[0].stderr
