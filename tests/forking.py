"""Starts the processes of tests by fork from one process that has already imported the MCP SDK.

A test that starts `python -m mcpcore` or a server's script gets a real process: with its own descriptors, directory,
environment, signals and exit status, and the test process as its parent. Only the imports, 0.7 s of processor time, are
made once. For that moment the parent is a subreaper of Linux, to which the orphan of the forking process goes;
on other systems, and where a request is unusual (`-c`, options of the interpreter, other `PYTHON…` variables, coverage),
`subprocess` starts a new interpreter as always. A test that asserts what a process imports passes such an option, `-P`.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import gc
import importlib
import json
import os
import runpy
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

PRELOADED: Final = (
    *(f"mcpcore.cli.{name}" for name in ("call", "run", "proxy", "check", "catalog", "diff", "loading")),
    "mcpcore.sdk.serving",
    "mcpcore.sdk.http",
    "mcp.client.stdio",
    "mcp.client.streamable_http",
    "mcp.server.mcpserver",
    "mcp.server.stdio",
    "mcp.server.streamable_http_manager",
    "uvicorn.lifespan.on",
    "uvicorn.loops.auto",
    "uvicorn.protocols.http.auto",
)
_SUBREAPER: Final = 36
_NESTING: Final = ("call", "proxy", "check", "catalog", "diff")
"""The commands that start servers of their own; they and `run` import the SDK."""


def install() -> None:
    """Let `subprocess`, and what is built on it, start matching processes by fork."""
    if sys.platform == "linux" and "COVERAGE_PROCESS_CONFIG" not in os.environ:
        _Forker(None)


class _Forker:
    """The side of a process that starts others. Its forking process starts with the first request."""

    def __init__(self, connection: socket.socket | None) -> None:
        self._prctl = ctypes.CDLL(None).prctl
        self._connection = connection
        self._owner = os.getpid()
        self._lock = threading.RLock()
        self._variables = _python_variables(os.environ)
        self._fork_exec = subprocess._fork_exec
        subprocess._fork_exec = self._start

    def _start(
        self, args: Sequence[Any], executables: Any, close_fds: bool, kept: Any, cwd: Any, env: Any, *rest: Any
    ) -> int:
        """Take the place of `subprocess._fork_exec`, whose arguments have no names; returns the process id."""
        stdin, _, _, stdout, _, stderr, _, _, _, new_session, group, gid, gids, uid, umask, before = rest[:16]
        words = [os.fsdecode(word) for word in args]
        variables = dict(os.environ)
        if env is not None:
            variables = dict(os.fsdecode(pair).split("=", 1) for pair in env)
        usual = (
            close_fds
            and len(kept) == 1
            and (group, gid, gids, uid, umask, before) == (-1, None, None, None, -1, None)
            and os.fsdecode(executables[0]) == sys.executable
            and _python_variables(variables) == self._variables
        )
        if not usual or os.getpid() != self._owner or not _is_preloaded(words, cwd):
            return int(self._fork_exec(args, executables, close_fds, kept, cwd, env, *rest))
        request = {"words": words, "env": variables, "cwd": os.fsdecode(cwd or os.getcwd()), "session": new_session}
        content = json.dumps(request).encode()
        descriptors = [given if given >= 0 else own for own, given in enumerate((stdin, stdout, stderr))]
        with self._lock:
            if self._connection is None:
                self._connection = _begin()
            self._prctl(_SUBREAPER, 1)
            socket.send_fds(self._connection, [len(content).to_bytes(8, "big")], descriptors)
            self._connection.sendall(content)
            answer = self._connection.recv(8)
            self._prctl(_SUBREAPER, 0)  # other orphans go to the init process, as always
            return int.from_bytes(answer, "big")


def _begin() -> socket.socket:
    ours, theirs = socket.socketpair()
    command = [sys.executable, "-c", f"from tests.forking import serve; serve({theirs.fileno()})"]
    root = Path(__file__).parents[1]
    process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, cwd=root)
    theirs.close()
    atexit.register(process.wait)
    atexit.register(ours.close)  # goes first, and ends the process
    return ours


def _is_preloaded(words: list[str], cwd: Any) -> bool:
    """Whether the process is a command that imports the SDK, or such a script."""
    if words[1:3] == ["-m", "mcpcore"]:
        return words[3:4] == ["run"] or _is_nesting(words)
    with contextlib.suppress(OSError):
        return words[1].endswith(".py") and b"mcp" in Path(os.fsdecode(cwd or ""), words[1]).read_bytes()
    return False


def _is_nesting(words: list[str]) -> bool:
    return words[1:3] == ["-m", "mcpcore"] and " ".join(words[3:4]) in _NESTING


def _python_variables(variables: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in variables.items() if name.startswith("PYTHON")}


def serve(descriptor: int) -> None:
    """Answer each request with the id of a new process; in the new process, run what was requested."""
    sys.path.pop(0)
    for name in PRELOADED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    request, descriptors = _forked(socket.socket(fileno=descriptor))
    for number, given in enumerate(descriptors):
        os.dup2(given, number)
        os.close(given)
    if request["session"]:
        os.setsid()
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    _run(request["words"])


def _forked(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """Fork for each request; return it, with its descriptors, in the new process."""
    while True:
        size, descriptors, _, _ = socket.recv_fds(connection, 8, 3)
        if not size:
            os._exit(0)
        content = b""
        while len(content) < int.from_bytes(size, "big"):
            content += connection.recv(1 << 20)
        request = json.loads(content)
        told, tell = os.pipe()
        between = os.fork()
        if between == 0:
            child = os.fork()
            if child:
                os.write(tell, child.to_bytes(8, "big"))
                os._exit(0)
            connection.close()
            os.close(told)
            os.close(tell)
            if _is_nesting(request["words"]):
                # Its own processes are forked from a process that has run no more than this one.
                ours, connection = socket.socketpair()
                if os.fork():
                    connection.close()
                    _Forker(ours)
                    return request, descriptors
                ours.close()
                for number in descriptors:
                    os.close(number)
                continue
            return request, descriptors
        os.waitpid(between, 0)  # the new process is now a child of the one that asks
        connection.sendall(os.read(told, 8))
        for number in (told, tell, *descriptors):
            os.close(number)


def _run(words: list[str]) -> None:
    """Run a module or a script as the interpreter does, with streams on the new descriptors."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        old = getattr(sys, name)
        lines = number == 2 or os.isatty(number)
        stream = open(number, "w" if number else "r", 1 if lines else -1, old.encoding, old.errors, "\n", closefd=False)  # noqa: SIM115
        stream.buffer.raw.name = f"<{name}>"
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    _, first, *arguments = words
    main = sys.modules["__main__"].__dict__
    main.pop("serve")
    if first == "-m":
        sys.path.insert(0, os.getcwd())
        sys.argv[:] = ["-m", *arguments[1:]]
        runpy._run_module_as_main(arguments[0])
    else:
        sys.path.insert(0, str(Path(first).resolve().parent))
        sys.argv[:] = [first, *arguments]
        main["__file__"] = first
        exec(compile(Path(first).read_bytes(), first, "exec", dont_inherit=True), main)
