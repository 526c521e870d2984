"""Starts the processes of tests by fork from a process that has already imported the MCP SDK, or FastMCP or pytest too.

A test that starts `python -m mcpcore` or a server's script gets a real process: with its own descriptors, directory,
environment, signals and exit status, and the test process as its parent. Only the imports, 0.7 s of processor time, are
made once; FastMCP costs as much again. For that moment the parent is a subreaper of Linux, to which the orphan of the
forking process goes; on other systems, and where a request is unusual (`-c`, options of the interpreter, other `PYTHON…`
variables), `subprocess` starts a new interpreter as always. A test of what a process imports passes such an option, as
`-I` or `-X`. Coverage measures a forked process by its patch "fork", in pyproject.toml.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import importlib
import json
import os
import re
import runpy
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

_ROOT: Final = Path(__file__).parents[1]
_LINTER: Final = _ROOT / "lint" / "mcpcore_lint"
PRELOADED: Final = (
    *(f"mcpcore.cli.{name}" for name in ("root", "call", "run", "proxy", "check", "catalog", "diff", "loading")),
    "mcpcore.sdk.server",
    "mcpcore.sdk.errors",
    "mcpcore.sdk.http",
    "mcpcore.classification",
    "mcpcore.client",
    "mcpcore.integrations.otel",
    "mcpcore.testing.faults",
    "opentelemetry._logs",
    "opentelemetry.metrics",
    "anyio._backends._asyncio",
    "anyio._core._subprocesses",
    "encodings.idna",
    "rich.console",
    "rich.logging",
    "mcp.client.stdio",
    "mcp.client.streamable_http",
    "mcp.server.mcpserver",
    "mcp.server.stdio",
    "mcp.server.streamable_http_manager",
    "uvicorn.lifespan.on",
    "uvicorn.loops.auto",
    "uvicorn.protocols.http.auto",
)
# For programs that import FastMCP themselves: a server on the SDK behaves in another way where FastMCP is imported too.
FASTMCP: Final = ("fastmcp", "fastmcp.server.providers.prefab_synthesis", "griffe", "mcpcore.integrations.fastmcp")
LINT: Final = (
    "mcpcore_lint.report.full",
    "mcpcore_lint.runner.checker",
    *(f"mcpcore_lint.rules.{path.parent.name}.{path.stem}" for path in _LINTER.glob("rules/[a-z]*/[a-z]*.py")),
    "libcst.matchers",
    "libcst.metadata",
)
PYTEST: Final = ("pytest", "_pytest.pytester", "_pytest.junitxml", "hypothesis", "mcpcore.testing")
FURTHER: Final = {"fastmcp": FASTMCP, "pytest": PYTEST, "lint": LINT}
"""What is also imported in a process that the first one forks."""
_IMPORTS_FASTMCP: Final = re.compile(rb"^(?:from|import) fastmcp\b", re.MULTILINE)
_PYTHON_FILE: Final = re.compile(r"[^\s\"\[\],]+\.py\b")
GARBAGE: Final = (20_000, 20, 100)
"""How much is made before Python looks for garbage. By its own numbers, an eighth of the time of the tests goes into that."""
_HEEDED: Final = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "PYTHONIOENCODING")
"""Variables of the interpreter that a forked process heeds. It has the search path of the tests too, behind its own."""
_SUBREAPER: Final = 36
_STARTING: Final = [["call"], ["proxy"], ["check"], ["catalog"], ["diff"]]
"""The commands that start servers."""


class Program(NamedTuple):
    """What a process runs.

    Attributes:
        name: A module, or the path of a script.
        arguments: The words after it.
        is_module: Whether it is a module.
        safe_path: Whether the folder of the program stays out of the search path.
        writes_bytecode: Whether what it imports is stored as bytecode.
        further: Which of `FURTHER` it imports before all else that it does.
    """

    name: str
    arguments: list[str]
    is_module: bool
    safe_path: bool
    writes_bytecode: bool
    further: str = ""

    @property
    def starts_servers(self) -> bool:
        """Whether it starts processes that import the SDK too."""
        module = self.name.startswith(("examples.", "bench.soak", "tests.hostile.noisy"))
        return module or (self.name == "mcpcore" and self.arguments[:1] in _STARTING)


def install() -> None:
    """Let `subprocess`, and what is built on it, start matching processes by fork."""
    if sys.platform == "linux":
        _Forker({})


class _Forker:
    """The side of a process that starts others.

    Args:
        connections: The connections to the forking processes, by what is imported there. Each starts with the
            first request for it if the mapping is empty; otherwise the same process serves all programs.
    """

    def __init__(self, connections: dict[str, socket.socket]) -> None:
        self._prctl = ctypes.CDLL(None).prctl
        self._connections = connections
        self._has_others = not connections
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
        variables = dict(os.environ)
        if env is not None:
            variables = dict(os.fsdecode(pair).split("=", 1) for pair in env)
        program = _program([os.fsdecode(word) for word in args], cwd, variables.get("PATH"))
        usual = (
            close_fds
            and len(kept) == 1
            and (group, gid, gids, uid, umask, before) == (-1, None, None, None, -1, None)
            and _python_variables(variables) == self._variables
        )
        if not usual or os.getpid() != self._owner or program is None:
            return int(self._fork_exec(args, executables, close_fds, kept, cwd, env, *rest))
        request = {"program": program, "env": variables, "cwd": os.fsdecode(cwd or os.getcwd()), "session": new_session}
        descriptors = [descriptor if descriptor >= 0 else own for own, descriptor in enumerate((stdin, stdout, stderr))]
        with self._lock:
            further = program.further if self._has_others else ""
            for name in ("", further):
                if name not in self._connections:
                    self._connections[name] = _begin(name, self._connections.get(""))
            connection = self._connections[further]
            self._prctl(_SUBREAPER, 1)
            _send(connection, request, descriptors)
            answer = connection.recv(8)
            self._prctl(_SUBREAPER, 0)  # other orphans go to the init process, as always
        if not answer:
            raise RuntimeError("the process that forks others has ended")
        return int.from_bytes(answer, "big")


def _begin(further: str, first: socket.socket | None) -> socket.socket:
    """Start the first forking process, or let it fork one that imports more."""
    ours, theirs = socket.socketpair()
    if first is None:
        command = [sys.executable, "-c", f"from tests.forking import serve; serve({theirs.fileno()})"]
        process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, cwd=_ROOT)
        atexit.register(process.wait)
    else:
        _send(first, {"further": further}, [theirs.fileno()])
    theirs.close()
    atexit.register(ours.close)  # goes first, and ends the process
    return ours


def _send(connection: socket.socket, request: dict[str, Any], descriptors: Sequence[int]) -> None:
    content = json.dumps(request).encode()
    socket.send_fds(connection, [len(content).to_bytes(8, "big")], descriptors)
    connection.sendall(content)


def _program(words: list[str], cwd: Any, path: str | None) -> Program | None:
    """What the words run, if that is a command, a module of this repository or a script that imports the SDK."""
    scripts = Path(sys.executable).parent
    executable = Path(words[0] if "/" in words[0] else shutil.which(words[0], path=path) or "")
    if executable == scripts / "mcpcore":
        words = ["python", "-P", "-m", *words]
    elif executable not in (Path(sys.executable), scripts / "python"):
        return None
    rest = words[1:]
    writes_bytecode = rest[:1] != ["-B"]
    rest = rest[not writes_bytecode :]
    safe_path = rest[:1] == ["-P"]
    rest = rest[safe_path:]
    is_module = rest[:1] == ["-m"]
    rest = rest[is_module:]
    if not rest:
        return None
    program = Program(rest[0], rest[1:], is_module, safe_path, writes_bytecode)
    folder = Path(os.fsdecode(cwd or ""))
    source = _text(_ROOT.joinpath(*rest[0].split(".")).with_suffix(".py") if is_module else folder / rest[0])
    is_linter = rest[0] == "mcpcore_lint" or rest[:2] == ["mcpcore", "lint"]
    of_this_project = program.starts_servers or is_linter or rest[0].startswith(("tests.", "pytest", "mcpcore"))
    with_sdk = of_this_project if is_module else b"mcp" in source
    # The door of a server in `tests`, the program's own import, or that of a file that it is to import.
    named = [_text(folder / name) for word in program.arguments for name in _PYTHON_FILE.findall(word)]
    with_fastmcp = "fastmcp" in program.arguments or any(map(_IMPORTS_FASTMCP.search, (source, *named)))
    further = "pytest" if rest[0] == "pytest" else "fastmcp" if with_fastmcp and not program.starts_servers else ""
    further = "lint" if is_linter else further
    return program._replace(further=further) if with_sdk else None


def _text(path: Path) -> bytes:
    return path.read_bytes() if path.suffix == ".py" and path.is_file() else b""


def _python_variables(variables: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in variables.items() if name.startswith("PYTHON") and name not in _HEEDED}


def serve(descriptor: int) -> None:
    """Import modules; answer each request with the id of a new process; in the new process, run what was requested."""
    sys.path.pop(0)
    _import(PRELOADED)
    # The SDK and FastMCP log with colours, which takes 50 ms for a traceback; a file or a pipe gets it as Python writes it.
    sys.modules["rich.logging"].RichHandler.rich_tracebacks = property(lambda _: os.isatty(2), lambda *_: None)
    request, descriptors = _forked(socket.socket(fileno=descriptor))
    for number, received in enumerate(descriptors):
        os.dup2(received, number)
        os.close(received)
    if request["session"]:
        os.setsid()
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    _run(Program(*request["program"]))


def _import(names: Sequence[str]) -> None:
    for name in names:
        importlib.import_module(name)
    for name in {"anyio", "hypothesis", "_hypothesis_globals", "mcpcore"} if names is PYTEST else ():
        # pytest would warn that it can no longer rewrite the assertions of these, as they have plugins.
        sys.modules[name].__doc__ = "PYTEST_DONT_REWRITE"
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GARBAGE)


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
        if "further" in request:
            if os.fork():
                os.close(descriptors[0])
            else:
                connection.close()
                connection = socket.socket(fileno=descriptors[0])
                if request["further"] == "fastmcp":
                    # It decides at import whether its log has colours, by the terminal that it sees then.
                    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
                _import(FURTHER[request["further"]])
            continue
        read_end, write_end = os.pipe()
        between = os.fork()
        if between == 0:
            child = os.fork()
            if child:
                os.write(write_end, child.to_bytes(8, "big"))
                os._exit(0)
            connection.close()
            os.close(read_end)
            os.close(write_end)
            if Program(*request["program"]).starts_servers:
                # Its own processes are forked from a process that has run no more than this one.
                ours, connection = socket.socketpair()
                if os.fork():
                    connection.close()
                    _Forker({"": ours})
                    return request, descriptors
                ours.close()
                for number in descriptors:
                    os.close(number)
                continue
            return request, descriptors
        os.waitpid(between, 0)  # the new process is now a child of the one that asks
        connection.sendall(os.read(read_end, 8))
        for number in (read_end, write_end, *descriptors):
            os.close(number)


def _run(program: Program) -> None:
    """Run a module or a script as the interpreter does, with streams on the new descriptors."""
    from mcpcore.boundary import coverage_hook

    encoding, _, errors = os.environ.get("PYTHONIOENCODING", "").partition(":")
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        old = getattr(sys, name)
        lines = number == 2 or os.isatty(number)
        code = (encoding, old.errors if number == 2 else errors or "strict") if encoding else (old.encoding, old.errors)
        stream = open(number, "w" if number else "r", 1 if lines else -1, *code, "\n", closefd=False)  # noqa: SIM115
        stream.buffer.raw.name = f"<{name}>"
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    main = sys.modules["__main__"].__dict__
    main.pop("serve")
    folder = os.getcwd() if program.is_module else str(Path(program.name).resolve().parent)
    entries = [os.path.abspath(entry) for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    sys.path[:0] = own = [entry for entry in entries if entry not in sys.path]
    for entry in own:
        if os.path.exists(os.path.join(entry, "sitecustomize.py")):
            sys.modules.pop("sitecustomize", None)
            importlib.import_module("sitecustomize")
    sys.path[:0] = [] if program.safe_path else [folder]
    sys.argv[:] = [program.name, *program.arguments]
    sys.dont_write_bytecode = not program.writes_bytecode or bool(os.environ.get("PYTHONDONTWRITEBYTECODE"))
    if coverage_hook.REASONS_VARIABLE in os.environ:  # which is read at import
        coverage_hook.observer = coverage_hook._from_environment()
    status: Any = None
    try:
        if program.is_module:
            runpy._run_module_as_main(program.name)
        else:
            main["__file__"] = program.name
            exec(compile(Path(program.name).read_bytes(), program.name, "exec", dont_inherit=True), main)
    except SystemExit as end:
        status = end.code
    if not isinstance(status, int | None):
        raise SystemExit(status)
    # All that a program can see of its end. What would follow frees each object of what was imported, for 0.03 s to 0.1 s.
    threading._shutdown()
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        raise SystemExit(status) from None
    os._exit((status or 0) & 0xFF)
