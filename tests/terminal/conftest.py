"""A folder of hostile things: a server, a trail, a project; and commands run on it through pipes and on a terminal."""

from __future__ import annotations

import json
import math
import os
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.in_process import Output, run_command

HOSTILE = (
    "\x1b[31mred\x1b]0;owned\x07\x9b2J\x7f\x08\u202egnp\u2066x\u2069\u200e\u200f\u061c\u2028\u2029\U000e0041\U000e007f\r"
    "\nforged: line\tend"
)
"""One of each kind of character that a terminal obeys, and a line feed that begins a forged line."""

NAME = HOSTILE.replace("/", "")
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
OWN = re.compile(r"(?:\r\x1b\[K(?:checked \d+ of \d+ files)?)+|\x1b\[[0-9;]*m")

SERVER = r"""
import json, os, sys
HOSTILE = json.loads(os.environ["HOSTILE"])
MODE = os.environ.get("MODE", "")
SCHEMA = {"type": "object", "properties": {HOSTILE: {"type": HOSTILE, "description": HOSTILE, "default": HOSTILE},
          "choice": {"enum": [HOSTILE]}, "reference": {"$ref": HOSTILE}, "const": {"const": HOSTILE}},
          "required": [HOSTILE]}
CONTRACT = [{"reason": HOSTILE, "name": HOSTILE, "when": HOSTILE, "recovery": HOSTILE, "fallbackTool": HOSTILE}]
TOOLS = [{"name": name, "description": HOSTILE.replace("\n", " "), "title": HOSTILE, "inputSchema": SCHEMA,
          "_meta": {"mcpcore/failure-modes": CONTRACT, "mcpcore/errors": CONTRACT, KEY: CONTRACT}}
         for KEY in [os.environ["META_KEY"]] for name in (HOSTILE, "good")]
def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()
def text(value, **more):
    return {"content": [{"type": "text", "text": value}], **more}
ANSWERS = {
    "text": text(HOSTILE),
    "failed": text(HOSTILE, isError=True),
    "structured": text("ok", structuredContent={HOSTILE: [HOSTILE, {"deep": HOSTILE}]}),
    "image": {"content": [{"type": "image", "data": "aGk=", "mimeType": HOSTILE}]},
    "link": {"content": [{"type": "resource_link", "uri": "x:y", "name": HOSTILE, "description": HOSTILE}]},
    "resource": {"content": [{"type": "resource", "resource": {"uri": "x:y", "text": HOSTILE, "mimeType": HOSTILE}}]},
    "kind": {"content": [{"type": HOSTILE}]},
    "shape": {"content": HOSTILE, HOSTILE: HOSTILE},
}
sys.stderr.write(HOSTILE + "\n")
sys.stderr.flush()
if MODE == "crash":
    sys.exit(HOSTILE)
if MODE == "noise":
    print(HOSTILE * 3, flush=True)
for line in sys.stdin:
    message = json.loads(line)
    method, params = message.get("method"), message.get("params") or {}
    if "id" not in message:
        continue
    reply = {"id": message["id"]}
    if method == "initialize":
        if MODE == "refuse":
            send({**reply, "error": {"code": -32000, "message": HOSTILE, "data": HOSTILE}})
            continue
        send({**reply, "result": {"protocolVersion": params.get("protocolVersion", "2025-06-18"),
              "capabilities": {"tools": {}, "logging": {}}, "serverInfo": {"name": HOSTILE, "version": HOSTILE}}})
    elif method == "tools/list":
        if MODE == "list":
            send({**reply, "error": {"code": -32001, "message": HOSTILE, "data": {HOSTILE: HOSTILE}}})
        elif MODE == "malformed":
            send({**reply, "result": {"tools": [{"name": HOSTILE, HOSTILE: 1}]}})
        else:
            send({**reply, "result": {"tools": TOOLS}})
    elif method == "tools/call":
        send({"method": "notifications/message", "params": {"level": "error", "logger": HOSTILE, "data": HOSTILE}})
        if MODE == "gone":
            sys.stderr.write(HOSTILE)
            sys.exit(3)
        if MODE in ANSWERS:
            send({**reply, "result": ANSWERS[MODE]})
        else:
            send({**reply, "error": {"code": -32002, "message": HOSTILE, "data": {"why": HOSTILE}}})
    else:
        send({**reply, "error": {"code": -32601, "message": "Method not found"}})
"""

SOURCE = '''\
# {plain}
from typing import Literal
from mcpcore import Context, ErrorCode, FailureMode, not_found, tool


@tool(name={hostile}, errors=[FailureMode({hostile}, ErrorCode.NOT_FOUND, when={hostile}, recovery="Call search to get it.")])
async def fetch(ctx: Context[Literal["no_match"]]) -> str:
    """Fetch {plain}."""
    if ctx:
        raise not_found("{plain}")  # {plain}
    raise ctx.fail({hostile})


@tool(errors=[FailureMode("no_match", ErrorCode.NOT_FOUND, when="None.", recovery="Call search_keys to find one.")])
async def other(ctx: Context[Literal["no_match"]]) -> str:
    """Fetch {plain}."""
    if ctx:  # {plain}
        raise not_found("{plain}")  # {plain}
    raise ctx.fail("no_match")


@tool(name={hostile})
async def swallow() -> str:
    """Answer."""
    try:
        raise ValueError({hostile})
    except Exception:
        return ""  # {plain}
'''


class Bench:
    """A folder of hostile things, and the commands run in it."""

    def __init__(self, root):
        self.root = root

    def write(self, name, text):
        """Write a file below the folder."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape"))
        return path

    def environment(self, mode=""):
        """The variables of a process."""
        from mcpcore.contract.failure_modes import CONTRACT_META_KEY

        kept = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "FORCE_COLOR"}}
        return {
            **kept,
            "HOSTILE": json.dumps(HOSTILE),
            "META_KEY": CONTRACT_META_KEY,
            "MODE": mode,
            "MCPCORE_CACHE_DIR": str(self.root.parent / "cache"),
            "TERM": "xterm",
            "COLUMNS": "200",
        }

    def run(self, *words, mode="", stdin=b""):
        """Run `mcpcore`: here, except that a server's own code, and what is asked by variables, run in another process."""
        if words and words[0] != "run":
            environment = {"NO_COLOR": None, "FORCE_COLOR": None, **self.environment(mode)}
            return run_command(words, folder=self.root, variables=environment, stdin=stdin)
        done = subprocess.run(
            [sys.executable, "-m", "mcpcore", *map(str, words)],
            cwd=self.root,
            env=self.environment(mode),
            input=stdin,
            capture_output=True,
            timeout=60,
            check=False,
        )
        return Output(done.stdout.decode(), done.stderr.decode(), done.returncode)

    def on_a_terminal(self, *words, mode="", until=None):
        """Run `mcpcore` on a terminal; the printed text, without the colours and links of the program."""
        command = [sys.executable, "-m", "mcpcore", *map(str, words)]
        text, code = on_a_terminal(command, self.root, self.environment(mode), until=until)
        return Output(OWN.sub("", text.replace("\r\n", "\n")), "", code)


def on_a_terminal(command, folder, environment, *, until=None, typed=b"\x03", every=math.inf):
    """Run a command on a new terminal, and press Ctrl+C after the text `until`; what it printed, and its exit code.

    Something else may be `typed`, and typed again `every` some seconds.
    """
    import pty

    pid, terminal = pty.fork()
    if pid == 0:
        try:
            os.chdir(folder)
            os.execvpe(command[0], command, environment)
        finally:
            os._exit(127)
    output = b""
    # A program may discard its output between the two calls below.
    os.set_blocking(terminal, False)
    deadline, due = time.monotonic() + 50, 0.0
    while time.monotonic() < deadline:
        if until is not None and until.encode() in output and time.monotonic() > due:
            os.write(terminal, typed)
            due = time.monotonic() + every
        ready, _, _ = select.select([terminal], [], [], 0.5)
        if not ready:
            continue
        try:
            data = os.read(terminal, 65536)
        except BlockingIOError:
            continue
        except OSError:
            break
        if not data:
            break
        output += data
    else:
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    return output.decode(), os.waitstatus_to_exitcode(status)


def assert_clean(output, *, lines=True):
    """No character that a terminal obeys was printed; and, unless texts of several lines are, no line was forged."""
    for text in (output.stdout, output.stderr):
        assert OBEYED.findall(text) == [], text
        if lines:
            assert not any(line.startswith("forged:") for line in text.splitlines()), text
    assert output.stdout or output.stderr


def source():
    """A module that holds findings, and hostile characters wherever Python allows them."""
    plain = HOSTILE.partition("\r")[0].replace("\x00", "")
    return SOURCE.format(hostile=json.dumps(HOSTILE).replace("\\ud", "\\\\ud"), plain=plain)


@pytest.fixture
def bench(tmp_path):
    """The folder."""
    root = Path(tmp_path) / "bench"
    root.mkdir()
    return Bench(root)


@pytest.fixture
def server(bench):
    """The command of a hostile server, as words after `--`."""
    return ("--", sys.executable, str(bench.write("hostile_server.py", SERVER)))


@pytest.fixture
def trail(bench):
    """A trail whose records hold nothing but hostile values, as nobody's writer made it."""
    from mcpcore.audit.trail import AuditTrail

    path = bench.root / NAME / "audit.jsonl"
    path.parent.mkdir()
    with AuditTrail.open(path, sinks=()) as opened:
        for number in range(2):
            opened.record(
                {
                    "timestamp": f"2026-11-21T08:15:0{number}.000Z",
                    "tool": HOSTILE,
                    "reason": HOSTILE,
                    "name": HOSTILE,
                    "code": 404,
                    "correlationId": HOSTILE,
                    "message": HOSTILE,
                    "arguments": {HOSTILE: HOSTILE},
                    "context": HOSTILE,
                    "data": [HOSTILE],
                    "broken_contract": HOSTILE,
                    "exception": {"type": HOSTILE, "message": HOSTILE, "causes": [HOSTILE, {"type": HOSTILE}]},
                }
            )
    with path.open("ab") as file:
        forged = {"event": HOSTILE, "seq": HOSTILE, "timestamp": HOSTILE, HOSTILE: HOSTILE, "hash": HOSTILE, "prev": 1}
        file.write((json.dumps(forged, ensure_ascii=False) + "\n").encode())
        file.write(f"{HOSTILE}\n".encode())
    return path
