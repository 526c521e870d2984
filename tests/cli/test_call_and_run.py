"""`mcpcore call` and `mcpcore run` with real servers in separate processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from mcpcore.cli.loading import Target, load
from mcpcore.cli.problems import Problem
from mcpcore.cli.root import cli
from tests.files import write_files

SERVERS = Path(__file__).parent / "servers"
NOISY = str(SERVERS / "noisy.py")
SEVERAL = str(SERVERS / "several.py")


def exit_and_message(done):
    """The exit code and the message of a command that could not run."""
    assert "Traceback" not in done.stderr
    assert "" == done.stdout
    return done.exit_code, done.stderr


def test_a_success_shows_both_surfaces_whatever_the_server_prints(call):
    """A server that prints at every turn, from every thread, does not disturb the protocol."""
    done = call(NOISY, "echo", "words=a", "words=b", 'point={"x": 1}', "--", "one", "--two")
    assert 0 == done.exit_code, done.stderr
    structured = json.loads(done.stdout.split("--- structuredContent\n")[1])
    expected = {"words": ["a", "b"], "count": 1, "mode": "fast", "point": {"x": 1, "y": 0}}
    assert {"given": expected, "argv": ["one", "--two"], "stdin": ""} == structured
    assert done.stdout.startswith("echo succeeded (isError: false)\n\n--- content[0] text\n")
    assert "" == done.stderr


def test_a_failure_shows_both_surfaces_and_exits_1(call):
    """A declared failure is printed as a client receives it, and scripts see it in the exit code."""
    done = call(NOISY, "echo", "words=a", "count=-1")
    assert 1 == done.exit_code, done.stderr
    text, structured = done.stdout.split("--- structuredContent\n")
    error = json.loads(structured)["error"]
    assert ("queue_full", "RATE_LIMITED") == (error["data"]["reason"], error["name"])
    assert "Recovery: Wait 30 seconds and retry, or reduce the batch size." in text
    assert error["correlationId"] in text
    assert "\x1b" not in done.stdout


def test_json_prints_the_whole_result_for_machines(call):
    """`--json` is the CallToolResult by the names of the wire, and nothing else."""
    done = call(NOISY, "echo", "-", "--json", stdin='{"words": [], "count": -1}')
    result = json.loads(done.stdout)
    assert 1 == done.exit_code, done.stderr
    assert result["isError"] is True
    assert result["content"][0]["text"].startswith("Error: The queue is at capacity.")
    assert 30000 == result["structuredContent"]["error"]["retry"]["afterMs"]


@pytest.mark.parametrize("era", ["modern", "handshake"])
def test_an_unknown_tool_is_a_protocol_error_with_the_near_name(call, era):
    """A protocol error is printed with its data, and exits 1, in both eras."""
    done = call(NOISY, "ecko", "anything=1", "--json", "--era", era)
    error = json.loads(done.stdout)["error"]
    assert (1, -32602) == (done.exit_code, error["code"])
    assert "Did you mean echo?" in error["message"]
    assert "unknown_tool" == error["data"]["error"]["data"]["reason"]


def test_an_unknown_tool_of_another_server_gets_near_names_too(call):
    """Where the server does not say what was meant, the command does."""
    done = call(f"{SEVERAL}:second", "ad")
    assert 1 == done.exit_code, done.stderr
    assert "ad" in done.stdout
    assert f"did you mean add? All tools: mcpcore call {SEVERAL}:second --list\n" in done.stderr


def test_bad_arguments_reach_the_server_as_json_only(call):
    """key=value is checked before anything is sent; JSON is sent as it is, so that the tool's own answer shows."""
    code, message = exit_and_message(call(NOISY, "echo", "wrods=a"))
    assert 2 == code
    assert "did you mean words?" in message
    done = call(NOISY, "echo", '{"wrods": ["a"]}')
    assert 1 == done.exit_code, done.stderr
    assert "invalid_arguments" in done.stdout


def test_the_list_shows_arguments_and_failure_modes(call):
    """`--list` tells what a caller needs: names, types, defaults, and how each tool fails."""
    done = call(NOISY, "--list")
    assert 0 == done.exit_code, done.stderr
    assert done.stdout.startswith("echo  Echo what is given.\n")
    for text in (
        "words: list of string\n",
        'mode?: "fast" | "slow" = "fast"\n',
        "fails: queue_full (RATE_LIMITED · retry after 30 s · or try other)",
        "recovery: Wait 30 seconds and retry, or reduce the batch size.",
    ):
        assert text in done.stdout


def test_a_server_that_dies_during_the_call_is_a_failed_call(call):
    """The crash is reported with the last output of the server, and exits 1."""
    code, message = exit_and_message(call(NOISY, "echo", "words=a", "count=99"))
    assert 1 == code
    assert "went away during the call" in message
    assert "printed by the handler" in message


def test_a_call_that_takes_too_long_is_a_failed_call(call):
    """`--timeout` ends the wait and the server."""
    started = time.monotonic()
    code, message = exit_and_message(call(NOISY, "echo", "words=a", "count=98", "--timeout", "5"))
    assert 1 == code
    assert "echo did not answer within 5 s" in message
    assert time.monotonic() - started < 25


def test_verbose_shows_what_the_server_writes(apart):
    """`-v` passes the server's standard error through, and the server says why its prints are there."""
    done = apart("call", "-v", NOISY, "echo", "words=a")
    assert 0 == done.returncode
    assert "standard output belongs to the protocol" in done.stderr
    for printed in ("printed while loading", "written to descriptor 1", "echoed by a child", "printed by the handler"):
        assert printed in done.stderr
        assert printed not in done.stdout


def test_a_command_after_dashes_is_the_server(call):
    """Any command can be the server; the tool then comes first."""
    done = call("add", "a=1", "b=2.5", "--json", "--", sys.executable, "-m", "mcpcore", "run", f"{SEVERAL}:second")
    assert {"result": 3.5} == json.loads(done.stdout)["structuredContent"]


def test_factories_are_called_with_the_arguments_after_dashes(call):
    """OBJECT may be a function; make_server is found by itself; FastMCP servers work as well."""
    done = call(f"{SEVERAL}:made_of", "name_of", "--json", "--", "given name")
    assert {"result": "given name"} == json.loads(done.stdout)["structuredContent"]
    done = call(SERVERS / "plain_fastmcp.py", "add", "a=1", "b=2", "--json")
    assert {"result": 3} == json.loads(done.stdout)["structuredContent"], done.stderr


def test_a_result_that_breaks_the_tools_own_schema_is_a_failed_call(call):
    """The SDK's client refuses it, as agents' clients do; the command says who is wrong."""
    code, message = exit_and_message(call(SERVERS / "lowlevel.py", "lie"))
    assert 1 == code
    assert "the client refused the result of lie" in message


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "which server?"),
        ((NOISY,), "which tool?"),
        ((NOISY, "--list", "echo"), "--list takes no tool"),
        ((NOISY.replace("noisy", "nosy"), "echo"), "did you mean"),
        ((str(SERVERS), "echo"), "is a folder"),
        ((str(SERVERS.parents[2] / "README.md"), "echo"), "README.md is not a Python file"),
        (("nowhere.md", "echo"), "the file nowhere.md does not exist"),
        (
            ("echo", NOISY, "words=a b"),
            f"the server comes before the tool.\nNext: write mcpcore call {NOISY} echo 'words=a b'",
        ),
        (
            ("env", NOISY, "echo"),
            f"commands come after `--`.\nNext: write the command behind them: mcpcore call TOOL -- env {NOISY}",
        ),
        (("--", sys.executable, NOISY), f"or list them: mcpcore call --list -- {sys.executable} {NOISY}"),
        ((NOISY, "echo", "--words", "a"), "An argument of the tool is written words=VALUE."),
        ((NOISY, "echo", "--tmeout", "1"), "Did you mean '--timeout'?"),
        (("echo", "--", sys.executable, SEVERAL), "it does not serve, which `mcpcore run"),
        (("no such name", "echo"), "is not a server"),
        (("not_a_module_at_all", "echo"), "the module not_a_module_at_all does not exist"),
        (("http://127.0.0.1:1/mcp", "echo"), "cannot be reached"),
        (("http://127.0.0.1:1/mcp", "echo", "--", "x"), "takes no arguments"),
        (("echo", "--"), "the command after `--` is missing"),
        (("echo", "--", "no-such-command-here"), "unknown command 'no-such-command-here'"),
        (("echo", "--", "echo", "hello"), "not a message of the protocol: 'hello'"),
        (("echo", "--", sys.executable, "-c", "raise SystemExit('out of luck')"), "out of luck"),
        (("echo", "--timeout", "0.5", "--", "sleep", "60"), "did not answer within 0.5 s"),
        ((f"{SEVERAL}:secnd", "add"), "several.py:second"),
    ],
)
def test_a_server_that_cannot_be_reached_exits_2_and_says_why(call, arguments, said):
    """A mistake of the user is reported with its cause, its place and a hint."""
    code, message = exit_and_message(call(*arguments))
    assert 2 == code
    assert said in message


LOCAL = ("--http", "127.0.0.1:0")
ONE = f"{SEVERAL}:second"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        # None, several, or a thing that is no server: the message names what there is.
        (["", *LOCAL], "is not a server"),
        ([SEVERAL, *LOCAL], f"name one of them: {SEVERAL}:first"),
        ([f"{SEVERAL}:number", *LOCAL], "is a int, not a server"),
        ([f"{SEVERAL}:made_of", *LOCAL], "missing a required argument: 'name'"),
        ([f"{SEVERAL}:made_later", *LOCAL], "is async"),
        ([f"{SEVERAL}:made_wrong", *LOCAL], "returned a int, not a server"),
        (["json", *LOCAL], "no server at its top level"),
        # A bad address or a lonely option.
        ([ONE, "--stateless"], "add --http HOST:PORT"),
        ([ONE, "--http", "localhost"], "is not a port"),
        ([ONE, "--http", "::1:80"], "needs brackets"),
        ([ONE, "--http", "1.2.3.4:99999"], "is not a port"),
        ([ONE, "--http", ":80", "--path", "mcp"], "write --path /mcp"),
        ([ONE, "--http", "203.0.113.7:8000"], "cannot listen on 203.0.113.7:8000"),
        ([ONE, "--http", "203.0.113.7:8000"], "give an address of this machine"),
    ],
)
def test_servers_and_options_that_do_not_fit_are_told(monkeypatch, words, said):
    """The exit code is 2, and the message says what to write."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "argv", list(sys.argv))
    done = CliRunner().invoke(cli, ["run", *words], catch_exceptions=False)
    assert 2 == done.exit_code
    assert said in done.stderr


SHOP = "from fastmcp import FastMCP\n\nshop = FastMCP('shop')\n"


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("from shop import shop\nimport fastmcp\nmain = fastmcp.FastMCP('main')\n", "main"),
        ("from shop import shop as main\nfrom mcp.server import MCPServer\nother = MCPServer('main')\n", "main"),
        (f"{SHOP}main = FastMCP('main')\nmain.mount(shop, namespace='shop')\n", "main"),
        (f"{SHOP}main = FastMCP('main')\nmain.mount(shop)\nthird = FastMCP('third')\n", None),
        ("from shop import shop, second\n", None),
        ("from shop import shop\n", "shop"),
    ],
)
def test_the_server_is_the_parent_of_the_mounted_ones_and_the_files_own(monkeypatch, tmp_path, source, name):
    """Several servers that are not mounted on each other need a name on the command line."""
    for path in ("path", "argv"):
        monkeypatch.setattr(sys, path, list(getattr(sys, path)))
    for module in ("shop", "desk"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    write_files(tmp_path, {"shop.py": f"{SHOP}second = FastMCP('second')\n", "desk.py": source})
    target = Target.parse(str(tmp_path / "desk.py"))
    if name is None:
        with pytest.raises(Problem, match="has several servers"):
            load(target, ())
    else:
        assert name == load(target, ()).name


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("x = (\n", "broken.py:1: '(' was never closed"),
        ("import math\nprint(math.nothing)\n", "broken.py:2: print(math.nothing)"),
        ("import sys\nsys.exit('no key is set')\n", "no key is set"),
        ("if __name__ == '__main__':\n    pass\n", "no server at its top level"),
        ("raise KeyboardInterrupt\n", ""),
    ],
)
def test_a_file_that_cannot_be_loaded_is_told_without_a_traceback(apart, tmp_path, source, said):
    """The file's own mistake is shown with its line; nothing reaches standard output."""
    (tmp_path / "broken.py").write_text(source)
    done = apart("run", "broken.py", cwd=tmp_path)
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert ("", 2 if said else 130) == (done.stdout, done.returncode)


def test_a_file_named_like_a_module_and_a_file_in_a_package_both_load(call, tmp_path):
    """types.py does not replace the library's, and a file in a package has its relative imports."""
    package = tmp_path / "pack"
    write_files(
        package,
        {
            "__init__.py": "",
            "names.py": "NAME = 'packed'\n",
            "types.py": "from mcpcore import Server\nfrom .names import NAME\nserver = Server(NAME)\n"
            "def hello() -> str:\n    return __name__\nserver.add_tool(hello)\n",
        },
    )
    (tmp_path / "types.py").write_text(
        (package / "types.py").read_text().replace("from .names import NAME", "NAME='x'")
    )
    done = call(package / "types.py", "hello", "--json")
    assert {"result": "pack.types"} == json.loads(done.stdout)["structuredContent"], done.stderr
    done = call(tmp_path / "types.py", "hello", "--json")
    assert {"result": "__mcpcore_server__"} == json.loads(done.stdout)["structuredContent"], done.stderr


def test_nothing_but_the_protocol_reaches_standard_output(started):
    """Every line on standard output is a message, from the first import to the last exit handler."""
    request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}  # fmt: skip
    with started("run", NOISY) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        lines = [process.stdout.readline()]
        rest, errors = process.communicate(timeout=30)
        lines += rest.splitlines()
    assert [1] == [json.loads(line)["id"] for line in lines]
    assert "written at exit" in errors


def test_a_server_over_http_is_called_by_its_url(call, served):
    """Streamable HTTP, stateless with JSON answers, at a path of one's own; Ctrl+C ends it."""
    options = ("--http", "127.0.0.1:0", "--stateless", "--json-response", "--path", "/here")
    with served(f"{SEVERAL}:second", *options) as (_, url):
        assert url.endswith("/here")
        for era in ("modern", "handshake"):
            done = call(url, "add", "a=1", "--json", "--era", era)
            assert {"result": 1.5} == json.loads(done.stdout)["structuredContent"], done.stderr
        code, message = exit_and_message(call(url + "x", "add"))
        assert 2 == code
        assert "the path of the URL" in message


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_interrupting_a_server_over_stdio_ends_it_though_its_input_stays_open(started):
    """Ctrl+C at a terminal does not wait for another line of input."""
    with started("run", NOISY) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write('{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        process.stdin.flush()
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert 130 == process.wait(timeout=20)


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_an_interrupt_during_an_exec_of_text_is_an_exit_code_too(tmp_path):
    """CPython would end `python -m` by SIGINT. The option keeps the process from being a fork of another, which has no `-m`."""
    (tmp_path / "server.py").write_text("exec('import os, signal; os.kill(os.getpid(), signal.SIGINT)')\n")
    command = [sys.executable, "-Xutf8", "-m", "mcpcore", "run", "server.py"]
    assert 130 == subprocess.run(command, cwd=tmp_path, stdin=subprocess.DEVNULL, timeout=60, check=False).returncode


def test_a_reader_that_goes_away_is_not_taken_for_the_server():
    """`mcpcore call … | head` ends quietly."""
    with subprocess.Popen(
        [sys.executable, "-m", "mcpcore", "call", NOISY, "--list"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert b"" == process.stderr.read()
