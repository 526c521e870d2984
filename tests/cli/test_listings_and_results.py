"""`mcpcore call` against servers that list and answer in every way that the protocol allows."""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import signal
import sys
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import mcp.client
import mcp.shared
import pytest

from mcpcore.cli.call import CLIENT_LOGGERS
from tests.serving import answering

SERVERS = Path(__file__).parent / "servers"
ODD = str(SERVERS / "odd.py")


def test_every_page_of_a_list_is_read(call):
    """The tools of a server that lists them page by page are all shown, and each one's arguments are known."""
    done = call(f"{ODD}:paged", "--list", "--json")
    assert 0 == done.exit_code, done.stderr
    assert ["picture", "log", "on_page_2", "on_page_3"] == [tool["name"] for tool in json.loads(done.stdout)]
    done = call(f"{ODD}:paged", "on_page_3", "count=x")
    assert (2, "") == (done.exit_code, done.stdout)
    assert "count must be an integer" in done.stderr


def test_a_list_that_never_ends_is_cut(call):
    """A server whose every page names a next one does not hang the command."""
    done = call(f"{ODD}:endless", "--list", "--json")
    assert 0 == done.exit_code, done.stderr
    assert 100 == len(json.loads(done.stdout))


def test_a_server_without_tools_says_so(call):
    """An empty list is reported in a sentence, and is not a failure."""
    assert "The server has no tools.\n" == call(f"{ODD}:empty", "--list").stdout


def test_resources_and_prompts_are_listed_with_their_failures(call):
    """As tools are; as JSON, each entry is as the server lists it."""
    whole = SERVERS / "whole.py"
    texts = call(whole, "--list").stdout
    assert "resource books://all  All books.\n\nresource books://{isbn}  A book.\n  fails: gone (NOT_FOUND" in texts
    assert "prompt review  Review a book.\n  isbn: string\n  tone?: string\n  fails: gone (NOT_FOUND" in texts
    listed = json.loads(call(whole, "--list", "--json").stdout)
    assert [("add", None), ("books", "books://all"), ("book", "books://{isbn}"), ("review", None)] == [
        (entry["name"], entry.get("uri") or entry.get("uriTemplate")) for entry in listed
    ]


def test_a_list_of_any_schema_and_any_contract_is_shown(call):
    """The list of another server may contain anything: a property that is `true`, an unknown retry, a contract of
    the wrong kind."""
    done = call(f"{ODD}:strange", "--list")
    assert 0 == done.exit_code, done.stderr
    lines = done.stdout.splitlines()
    for expected in (
        "  anything?: any",
        '  only?: "this"',
        "  items?: list of any",
        "  either?: string | null  one of two",
        "  fails: gone (NOT_FOUND)",
        "    when: It is gone.",
        "  fails: sent (it may have taken effect: check before you call again)",
        "  fails: bare",
        "  a?: any",
        "  fails: ? (try other)",
        "other  Only a title",
    ):
        assert expected in lines
    assert 4 == sum("fails:" in line for line in lines)
    assert not any("recovery" in line for line in lines)


def test_a_refused_list_is_a_protocol_error_in_words_and_as_json(call):
    """A server that lists no tools at all refuses the request; the error is shown with its data, and exits 1."""
    done = call(f"{ODD}:unlisted", "--list", "--era", "modern")
    assert (1, "") == (done.exit_code, done.stderr)
    assert done.stdout.startswith("protocol error -32601\n\n--- message\nMethod not found\n")
    assert 'data\n"tools/list"\n' in done.stdout
    done = call(f"{ODD}:unlisted", "--list", "--json", "--era", "handshake")
    assert {"error": {"code": -32601, "message": "Method not found", "data": "tools/list"}} == json.loads(done.stdout)


def test_a_tool_that_is_not_listed_is_called_with_guessed_values(call):
    """Where the server refuses to list, the call goes out all the same, each value read as JSON where it is JSON."""
    done = call(f"{ODD}:unlisted", "fail", "x=1", "y=a")
    assert (1, "") == (done.exit_code, done.stderr)
    assert "{'x': 1, 'y': 'a'}" in done.stdout


@pytest.mark.parametrize("era", ["modern", "handshake", "auto"])
def test_a_successful_call_is_one_though_the_server_refuses_to_list(call, era):
    """The result is shown, and not the refusal of a list by which it could have been checked."""
    done = call(f"{ODD}:unlisted", "work", "x=1", "--era", era)
    assert (0, "") == (done.exit_code, done.stderr)
    assert done.stdout.startswith("work succeeded (isError: false)\n\n--- content[0] text\nwork {'x': 1}\n")
    done = call(f"{ODD}:unlisted", "work", "x=1", "--era", era, "--json")
    assert [{"type": "text", "text": "work {'x': 1}"}] == json.loads(done.stdout)["content"]


def test_a_call_asks_for_the_list_once(call):
    """A server that answers the list one time alone is called all the same, whether the list has the tool or not."""
    code = (
        "import json, sys\n"
        "lists = 0\n"
        "for line in sys.stdin:\n"
        "    asked = json.loads(line)\n"
        "    if 'id' not in asked: continue\n"
        "    lists += asked['method'] == 'tools/list'\n"
        "    if lists > 1: continue\n"
        "    tools = [{'name': 'known', 'inputSchema': {'type': 'object'}}]\n"
        "    result = {'initialize': {'protocolVersion': '2025-06-18', 'capabilities': {'tools': {}},\n"
        "              'serverInfo': {'name': 's', 'version': '1'}}, 'tools/list': {'tools': tools},\n"
        "              'tools/call': {'content': [{'type': 'text', 'text': 'done'}]}}[asked['method']]\n"
        "    print(json.dumps({'jsonrpc': '2.0', 'id': asked['id'], 'result': result}), flush=True)\n"
    )
    for tool in ("known", "unknown"):
        done = call(tool, "--era", "handshake", "--timeout", "20", "--", sys.executable, "-c", code)
        assert (0, "") == (done.exit_code, done.stderr)
        assert done.stdout.startswith(f"{tool} succeeded")


def test_an_error_without_data_is_shown_without_the_heading(call):
    """The message alone, where the server sent no more."""
    code = (
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    asked = json.loads(line)\n"
        "    if 'id' not in asked: continue\n"
        "    answer = {'protocolVersion': '2025-06-18', 'capabilities': {'tools': {}},\n"
        "              'serverInfo': {'name': 's', 'version': '1'}}\n"
        "    fault = {'code': -32000, 'message': 'out of order'}\n"
        "    body = {'result': answer} if asked['method'] == 'initialize' else {'error': fault}\n"
        "    print(json.dumps({'jsonrpc': '2.0', 'id': asked['id'], **body}), flush=True)\n"
    )
    done = call("--list", "--era", "handshake", "--", sys.executable, "-c", code)
    assert (1, "") == (done.exit_code, done.stderr)
    assert "protocol error -32000\n\n--- message\nout of order\n" == done.stdout


@pytest.mark.parametrize(
    ("wrong", "asked", "said"),
    [
        ("list", "--list", "the client refused the list of tools: tools: Input should be a valid "),
        ("no-list", "--list", "did not list its tools within 1.5 s."),
        ("no-list", "work", "did not list its tools within 1.5 s."),
        ("call", "work", "the client refused the result of work: content: Input should be a valid "),
    ],
)
def test_an_answer_that_is_none_is_not_taken_for_a_server_that_went_away(call, wrong, asked, said):
    """A server that answers wrongly, or not at all, is reported with its answer."""
    server = (sys.executable, str(SERVERS / "malformed.py"), wrong)
    done = call(asked, "--era", "handshake", "--timeout", "1.5", "--", *server)
    assert (1, "") == (done.exit_code, done.stdout)
    assert said in done.stderr
    assert "Next: " in done.stderr
    assert "went away" not in done.stderr
    assert "did not start" not in done.stderr


class _Ending(BaseHTTPRequestHandler):
    """Ends the stream of a call without an answer."""

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        server = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}}
        result = {"tools": [], **server, "serverInfo": {"name": "s", "version": "1"}}
        answer = json.dumps({"jsonrpc": "2.0", "id": message.get("id"), "result": result}).encode()
        self.send_response(200 if "id" in message else 202)
        is_call = message["method"] == "tools/call"
        self.send_header("content-type", "text/event-stream" if is_call else "application/json")
        self.end_headers()
        self.wfile.write(b"" if is_call or "id" not in message else answer)


def test_a_stream_that_ends_without_an_answer_is_a_server_that_went_away(call):
    """The SDK's client makes an error of the protocol of it, which no server sent."""
    with answering(_Ending) as url:
        done = call("--era", "handshake", f"{url}/mcp", "work")
    assert (1, "") == (done.exit_code, done.stdout)
    assert f"{url}/mcp went away during the call" in done.stderr


def test_a_list_that_cannot_be_read_does_not_keep_from_a_call(call):
    """The call goes out with guessed values, as where the server refuses to list."""
    done = call("work", "--era", "handshake", "--", sys.executable, str(SERVERS / "malformed.py"), "list")
    assert (0, "") == (done.exit_code, done.stderr)
    assert done.stdout.startswith("work succeeded")


def test_an_unknown_name_that_is_near_to_none_gets_the_command_that_lists_the_tools(call):
    """Only similar names are suggested; otherwise only the command that lists the tools."""
    server = f"{SERVERS / 'several.py'}:second"
    done = call(server, "zzzzzz")
    assert (1, f"Next: list the tools: mcpcore call {server} --list\n") == (done.exit_code, done.stderr)


def test_bytes_are_counted_rather_than_printed(call):
    """A picture does not fill the terminal with base64, wherever in a block its bytes are."""
    done = call(f"{ODD}:paged", "picture")
    assert 0 == done.exit_code, done.stderr
    assert "aGVsbG8=" not in done.stdout
    assert '"data": "<8 characters of base64>"' in done.stdout
    assert '"blob": "<4 characters of base64>"' in done.stdout


def test_log_messages_of_the_server_are_shown_on_request(apart, call):
    """`-v` shows what the server logs through the protocol, apart from the result; without it, nothing is shown."""
    done = apart("call", "-v", "--era", "handshake", f"{ODD}:paged", "log")
    assert 0 == done.returncode, done.stderr
    assert '[warning] {"half": "done"}\n' in done.stderr
    assert "half" not in done.stdout
    quiet = call("--era", "handshake", f"{ODD}:paged", "log")
    assert (0, "", done.stdout) == (quiet.exit_code, quiet.stderr, quiet.stdout)


def test_a_call_of_a_tool_that_is_not_listed_writes_nothing_beside_the_result(apart):
    """The SDK's client remarks that it cannot check such a result; the command's user did nothing wrong."""
    done = apart("call", f"{ODD}:empty", "hidden", "x=1")
    assert (0, "") == (done.returncode, done.stderr)
    assert "hidden {'x': 1}" in done.stdout


def test_every_logger_of_the_sdks_client_is_kept_off_the_terminal():
    """Whatever module of the client logs, and by whatever name, its logger is one of those that are collected."""
    modules = [
        importlib.import_module(f"{package.__name__}.{module.name}")
        for package in (mcp.client, mcp.shared)
        for module in pkgutil.iter_modules(package.__path__)
        if module.name != "__main__"
    ]
    names = {module.logger.name for module in modules if hasattr(module, "logger")}
    assert "client" in names
    assert set(CLIENT_LOGGERS) == {name.partition(".")[0] for name in names}


def test_lines_that_are_no_messages_are_named_once_and_shown_on_request(apart):
    """However much a program prints, its first line is named; `-v` shows that the client refused each."""
    # A program that ends before the client has written its request makes the SDK's client close the connection unread.
    done = apart("call", "-v", "tool", "--", sys.executable, "-c", "input(); print('hello\\n' * 9)")
    assert 2 == done.returncode
    assert done.stderr.count("[client] ") > 3
    assert "that is not a message of the protocol: 'hello'\n" in done.stderr


def test_with_verbose_the_last_words_of_a_server_are_not_told_twice(apart):
    """What was passed through as it came is not repeated below the message."""
    done = apart("call", "-v", "tool", "--", sys.executable, "-c", "raise SystemExit('out of luck')")
    assert 2 == done.returncode
    assert 1 == done.stderr.replace("'out of luck'", "").replace("SystemExit('", "").count("out of luck\n")
    assert "run it alone to see the error" in done.stderr


@pytest.mark.parametrize(
    ("words", "stdin", "message"),
    [
        ((f"{SERVERS / 'several.py'}:second", "add", "-"), b'{"a": "\xff"}', "standard input is not UTF-8 (byte 7)"),
        (("no/such/folder/server.py", "echo"), None, "the folder no/such/folder cannot be read"),
    ],
    ids=["standard input is no text", "a file in a folder that is not there"],
)
def test_input_that_cannot_be_read_is_told(call, words, stdin, message):
    """Bytes that are not UTF-8 are named with their place before anything is called; of a path, the folder is named."""
    done = call(*words, stdin=stdin)
    assert (2, "") == (done.exit_code, done.stdout)
    assert message in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_an_interrupted_call_ends_with_the_code_of_shells(started):
    """Ctrl+C during a tool call ends the command immediately, without a traceback, with 130."""
    with started("call", "-v", SERVERS / "noisy.py", "echo", "words=a", "count=98") as process:
        assert process.stderr is not None
        assert process.stdout is not None
        for line in process.stderr:
            if "printed by the handler" in line:
                break
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
        assert "" == process.stdout.read()
    assert 130 == process.returncode
    assert "Traceback" not in rest


def test_a_module_is_found_from_the_current_folder(call, tmp_path, monkeypatch):
    """`mcpcore call my_package.inner TOOL` finds the package in the current folder, without PYTHONPATH."""
    source = "from mcpcore import Server\nserver = Server('here')\n\n\ndef where() -> str:\n    return __name__\n\n\nserver.add_tool(where)\n"
    (tmp_path / "my_package").mkdir()
    (tmp_path / "my_package" / "inner.py").write_text(source)
    monkeypatch.chdir(tmp_path)
    done = call("my_package.inner", "where", "--json")
    assert {"result": "my_package.inner"} == json.loads(done.stdout)["structuredContent"], done.stderr


def test_a_module_that_lacks_one_of_its_own_imports_is_not_taken_for_missing(apart, tmp_path):
    """A missing import of the module is reported with the line of the import."""
    (tmp_path / "my_server.py").write_text("import not_installed_at_all\n")
    done = apart("run", "my_server", cwd=tmp_path)
    assert (2, "") == (done.returncode, done.stdout)
    assert "cannot be loaded: ModuleNotFoundError: No module named 'not_installed_at_all'" in done.stderr
    assert "my_server.py:1: import not_installed_at_all" in done.stderr


@pytest.mark.parametrize(
    ("source", "step"),
    [
        ("import fastmcp\n", 'Next: pip install "mcpcore[fastmcp]"'),
        (
            "from mcp.server import MCPServer\n@MCPServer('s').tool(errors=[])\ndef f() -> str: return ''\n",
            "Next: give `errors` to mcpcore's own decorator, directly above the function",
        ),
    ],
    ids=["an extra is missing", "errors of another decorator"],
)
def test_an_error_at_import_that_names_no_way_out_gets_one(call, tmp_path, monkeypatch, source, step):
    """Libraries that know nothing of mcpcore say what is wrong, and cannot say what to write."""
    monkeypatch.setenv("PYTHONUTF8", "1")  # a forked process would have FastMCP already
    (tmp_path / "fastmcp.py").write_text("raise ModuleNotFoundError('No module named fastmcp', name='fastmcp')\n")
    (tmp_path / "own_server.py").write_text(source)
    monkeypatch.chdir(tmp_path)
    done = call("own_server.py", "f")
    assert 2 == done.exit_code
    assert step in done.stderr
