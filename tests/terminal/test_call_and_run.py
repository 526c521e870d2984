"""`mcpcore call` and `mcpcore run` against hostile servers, names, arguments and sources."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

from tests.in_process import Output
from tests.terminal.conftest import HOSTILE, NAME, assert_clean

MODES = (
    "text", "failed", "structured", "image", "link", "resource", "kind", "shape", "protocol", "gone", "crash", "noise",
    "refuse", "list", "malformed",
)  # fmt: skip
WORDS = HOSTILE.replace("\x00", "")


def called(bench, server, mode, *options, terminal=False):
    """Call the tool `good` of the hostile server in a mode."""
    run = bench.on_a_terminal if terminal else bench.run
    return run("call", *options, "--era", "handshake", "--timeout", "20", "good", "choice:=1", *server, mode=mode)


@pytest.mark.parametrize("mode", MODES)
def test_what_a_server_sends(bench, server, mode):
    """Every kind of answer is printed without the characters that a terminal obeys, with `-v` as well."""
    assert_clean(called(bench, server, mode, "-v"), lines=False)


@pytest.mark.parametrize("mode", ["text", "structured", "protocol", "gone", "crash", "noise"])
def test_what_a_server_sends_as_json(bench, server, mode):
    """`--json` prints the same values, and not one of those characters."""
    output = called(bench, server, mode, "--json")
    assert_clean(output, lines=mode not in {"gone", "crash"})
    if mode == "text":
        assert json.loads(output.stdout)["content"][0]["text"] == HOSTILE
    elif mode == "structured":
        assert json.loads(output.stdout)["structuredContent"] == {
            HOSTILE: [HOSTILE, {"deep": HOSTILE}],
        }
    elif mode == "protocol":
        error = json.loads(output.stdout)["error"]
        assert (error["message"], error["data"]) == (HOSTILE, {"why": HOSTILE})


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("mode", ["text", "protocol", "crash"])
def test_what_a_server_sends_on_a_terminal(bench, server, mode):
    """A terminal gets the program's own colours and no other sequence."""
    assert_clean(called(bench, server, mode, "-v", terminal=True), lines=False)


@pytest.mark.parametrize("options", [(), ("--json",), ("-v",)], ids=str)
@pytest.mark.parametrize("mode", ["", "list", "malformed"])
def test_lists_of_tools(bench, server, options, mode):
    """A tool's name, arguments and failure modes cannot forge a line of the listing."""
    output = bench.run("call", *options, "--era", "handshake", "--list", *server, mode=mode)
    assert_clean(output, lines=options == ("--json",))
    if not mode and options == ("--json",):
        assert json.loads(output.stdout)[0]["name"] == HOSTILE
    if not mode and not options:
        assert_clean(Output(output.stdout, output.stderr, 0))


@pytest.mark.parametrize(
    "words",
    [
        ("call",),
        ("call", WORDS),
        ("call", f"{WORDS}.py", "tool"),
        ("call", f"{WORDS}/x.py", "tool"),
        ("call", f"a{WORDS}b:c", "tool"),
        ("call", "http://127.0.0.1:1/" + WORDS, "tool"),
        ("call", "http://127.0.0.1:1/" + WORDS, "tool", "--", "x"),
        ("call", "tool", "--", WORDS),
        ("call", "tool", "--", f"./{WORDS}", WORDS),
        ("call", f"--{WORDS}"),
        ("call", "--era", WORDS),
        ("call", "--timeout", WORDS),
        ("call", "--list", "x", WORDS, "--", sys.executable, "-c", "0"),
        ("call", "x", WORDS, "--", sys.executable, "-c", f"raise SystemExit({WORDS!r})"),
        ("run", WORDS),
        ("run", f"{WORDS}.py"),
        ("run", f"{WORDS}.module"),
        ("run", "x.py", "--http", WORDS),
        ("run", "x.py", "--http", f"{WORDS}:99"),
        ("run", "x.py", "--http", ":80", "--path", WORDS),
        ("run", f"--{WORDS}=1"),
        ("run", "x.py", WORDS),
        ("completion", WORDS),
        (WORDS,),
        (f"--{WORDS}",),
    ],
    ids=lambda words: " ".join(words).encode("unicode_escape").decode()[:40],
)
def test_words_of_the_command_line(bench, words):
    """What is quoted from the command line is escaped, in click's own messages too."""
    output = bench.run(*words)
    assert output.code in {1, 2}
    assert_clean(output)


@pytest.mark.parametrize(
    "words",
    [
        (WORDS,),
        (f"{WORDS}=1",),
        ("choice=" + WORDS + "x",),
        ("choice:=" + WORDS,),
        (f"{WORDS}=1", f"{WORDS}:=1"),
        (f"choice=@{WORDS}",),
        ('{"a": ' + WORDS,),
        ("@" + WORDS,),
        ("{}", WORDS),
    ],
    ids=lambda words: " ".join(words).encode("unicode_escape").decode()[:40],
)
def test_arguments_of_a_tool(bench, server, words):
    """Keys and values that do not fit are quoted without those characters."""
    assert_clean(bench.run("call", "--era", "handshake", "good", *words, *server, mode="text"), lines=False)


SOURCES = {
    "syntax": f"x = '{HOSTILE.partition(chr(13))[0]}' (\n",
    "name of a module": f"raise ModuleNotFoundError({HOSTILE!r}, name={HOSTILE!r})",
    "import": f"raise ImportError({HOSTILE!r}, path={HOSTILE!r})",
    "exception": f"raise ValueError({HOSTILE!r})",
    "type": f"raise type({HOSTILE!r}, (Exception,), {{}})({HOSTILE!r})",
    "exit": f"raise SystemExit({HOSTILE!r})",
    "two servers": (
        "from mcpcore import Server\n"
        f"globals()[{HOSTILE!r}] = Server('a', tools=[])\nglobals()['x' + {HOSTILE!r}] = Server('b', tools=[])\n"
    ),
    "factory": f"def make_server():\n    raise KeyError({HOSTILE!r})\n",
    "result": f"def make_server():\n    return type({HOSTILE!r}, (), {{}})()\n",
    "warning": f"import warnings\nwarnings.warn({HOSTILE!r})\n",
    "log": f"import logging\nlogging.getLogger('mcpcore').error('%s', {HOSTILE!r})\n",
    "thread": (
        "import threading\n"
        f"def fail():\n    raise ValueError({HOSTILE!r})\n"
        "thread = threading.Thread(target=fail)\nthread.start()\nthread.join()\n"
    ),
    "print": f"print({HOSTILE!r})",
}


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("options", [(), ("--traceback",)], ids=str)
def test_servers_that_cannot_be_loaded(bench, kind, options):
    """What the interpreter and the server's own code say while it is loaded is escaped, tracebacks included."""
    name = f"a{NAME}.py"
    bench.write(name, SOURCES[kind])
    assert_clean(bench.run("run", name, *options), lines=False)


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("kind", ["syntax", "exception", "print", "thread"])
def test_servers_that_cannot_be_loaded_on_a_terminal(bench, kind):
    """The same on a terminal."""
    bench.write("server.py", SOURCES[kind])
    assert_clean(bench.on_a_terminal("run", "server.py", "--traceback"), lines=False)


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
def test_a_server_that_waits_on_a_terminal_says_so(bench):
    """The words that start it are escaped, and Ctrl+C ends it."""
    bench.write("server.py", "from mcpcore import Server\nserver = Server('a', tools=[])\n")
    done = bench.on_a_terminal("run", "server.py", "--", WORDS, until="Waiting for an MCP client")
    assert_clean(done)
    assert "To try the tools: mcpcore call server.py --list -- " in done.stdout
    assert 130 == done.code


@pytest.mark.skipif(os.name == "nt", reason="sends SIGINT")
def test_the_log_of_a_server(bench):
    """A record of a failure is one line, and its traceback is indented: neither forges a record."""
    bench.write(
        "server.py",
        f"""
import logging
from mcpcore import Server, tool
@tool
async def crash() -> str:
    "Crash."
    raise RuntimeError({HOSTILE!r})
server = Server("x", tools=[crash])
logging.getLogger("mcpcore").error("%s", {HOSTILE!r})
""",
    )
    output = bench.run("call", "-v", "server.py", "crash")
    assert output.code == 1
    assert_clean(output)
    with subprocess.Popen(
        [sys.executable, "-m", "mcpcore", "run", "server.py", "--http", ":0"],
        cwd=bench.root, env=bench.environment(), stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        for line in process.stderr:
            if b"Serving" in line:
                break
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read().decode()
    assert_clean(Output(line.decode(), rest, 0))


@pytest.mark.parametrize("kind", ["mcpserver", "lowlevel"])
def test_what_a_client_sends(bench, kind):
    """Malformed messages and unknown names are logged without those characters."""
    made = {
        "mcpserver": "from mcpcore import Server\nserver = Server('x', tools=[])\n",
        "lowlevel": "from mcp.server.lowlevel import Server\nserver = Server('x')\n",
    }
    bench.write("server.py", made[kind])
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": HOSTILE, "version": HOSTILE}}},
        {"jsonrpc": "2.0", "id": 2, "method": HOSTILE},
        {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": HOSTILE, "arguments": {HOSTILE: 1}}},
        {"jsonrpc": HOSTILE, "id": HOSTILE, "method": "tools/call"},
        {"jsonrpc": "2.0", "method": HOSTILE, "params": {HOSTILE: HOSTILE}},
        HOSTILE,
    ]  # fmt: skip
    lines = "".join(json.dumps(message) + "\n" for message in messages) + f"{HOSTILE}\n"
    output = bench.run("run", "server.py", stdin=lines.encode())
    assert json.loads(output.stdout.splitlines()[0])["id"] == 1
    assert_clean(Output("", output.stderr + " ", 0), lines=False)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(bench, shell, monkeypatch):
    """The suggestions for a word hold none of the characters of the word."""
    monkeypatch.setenv("_MCPCORE_COMPLETE", f"{shell}_complete")
    monkeypatch.setenv("COMP_WORDS", f"mcpcore lint --{WORDS}")
    monkeypatch.setenv("COMP_CWORD", "2")
    output = bench.run()
    assert_clean(Output(output.stdout + " ", output.stderr, 0))
