"""Loads the server object that `SERVER[:OBJECT]` names."""

from __future__ import annotations

import ast
import difflib
import importlib
import importlib.machinery
import importlib.util
import inspect
import itertools
import re
import sys
import sysconfig
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from mcpcore.cli.problems import Problem

FACTORY: Final = "make_server"
"""The function that makes the server of a module without a server object."""

_KINDS: Final = {
    ("mcp.server.mcpserver.server", "MCPServer"): "mcpserver",
    ("mcp.server.lowlevel.server", "Server"): "lowlevel",
    ("fastmcp.server.server", "FastMCP"): "fastmcp",
}
"""The classes whose instances can be served, by module and name."""


_OTHERS: Final = (".md", ".rst", ".txt", ".toml", ".yml", ".yaml", ".js", ".mjs", ".ts", ".sh")
"""The ends of names that are files rather than modules."""


@dataclass(frozen=True, slots=True)
class Target:
    """A parsed `SERVER[:OBJECT]`.

    Attributes:
        source: The file or the module, as on the command line.
        name: The object, or None to search for it.
        is_file: Whether `source` is a file.
    """

    source: str
    name: str | None
    is_file: bool

    @classmethod
    def parse(cls, text: str) -> Target:
        """Read `SERVER[:OBJECT]`.

        Raises:
            Problem: If it names neither a file nor a module.
        """
        source, colon, name = text.rpartition(":")
        dotted = name.split(".")
        # A path may contain a colon, as `C:\server.py` does.
        if not colon or not source or not all(part.isidentifier() for part in dotted) or Path(text).is_file():
            source, name = text, ""
        path = Path(source)
        if source and path.is_dir():
            raise Problem(
                f"{source} is a folder, not a server.",
                hint=f"give the file in it, such as {path / 'server.py'}, or a module, such as package.server",
            )
        if path.is_file() and path.suffix and not is_python(path.suffix):
            raise Problem(
                f"{source} is not a Python file.",
                hint="give the file of a server (server.py), or the command of a server in another language after `--`",
            )
        if path.is_file():
            return cls(source, name or None, is_file=True)
        if looks_like_file(source):
            raise Problem(f"the file {source} does not exist.", hint=_near_file(path))
        if not all(part.isidentifier() for part in source.split(".")):
            raise Problem(
                f"{text!r} is not a server.",
                hint="give a file (server.py), a module (package.server), or either with an object (server.py:app)",
            )
        return cls(source, name or None, is_file=False)


def looks_like_file(text: str) -> bool:
    """Whether `text` is a path rather than a module."""
    return is_python(text) or text.endswith(_OTHERS) or "/" in text or "\\" in text


def is_python(name: str) -> bool:
    """Whether a name is that of a Python file."""
    return name.endswith((".py", ".pyw"))


def load(target: Target, arguments: Sequence[str]) -> Any:
    """Import the target and find the server in it.

    Sets `sys.argv` for the server: its file, then `arguments`.

    Raises:
        Problem: If the module cannot be imported, or holds no server, or several.
    """
    path = Path(target.source)
    sys.argv = [target.source, *arguments]
    module = _guarded(target, lambda: _import_file(path) if target.is_file else _import_module(target.source))
    if module.__file__ is not None and not target.is_file:
        sys.argv[0] = module.__file__
    if target.name is not None:
        return _named(module, target, target.name, arguments)
    servers = _candidates(module)
    if len({id(server) for _, server in servers}) > 1:
        names = [name for name, _ in servers]
        raise Problem(
            f"{target.source} has several servers: {', '.join(names)}.",
            hint=f"name one of them: {target.source}:{names[0]}",
        )
    if servers:
        return servers[0][1]
    factory = getattr(module, FACTORY, None)
    if callable(factory):
        return _made(factory, FACTORY, target, arguments)
    raise Problem(
        f"{target.source} has no server at its top level, and no function {FACTORY}.",
        hint=(
            'write `server = Server("name", tools=[...])` outside any function and outside '
            f'`if __name__ == "__main__":`, or name a function that makes it: {target.source}:FUNCTION'
        ),
    )


def kind_of(thing: object) -> str | None:
    """The kind of a server: "mcpserver", "lowlevel" or "fastmcp"; None if `thing` is not a server."""
    # Classes are compared by name, so that no library is imported for a server of another one.
    for cls in type(thing).__mro__:
        kind = _KINDS.get((cls.__module__, cls.__name__))
        if kind is not None:
            return kind
    return None


def _servers(module: ModuleType) -> list[tuple[str, Any]]:
    return [(name, thing) for name, thing in vars(module).items() if kind_of(thing) is not None]


def _candidates(module: ModuleType) -> list[tuple[str, Any]]:
    """The servers of a module, without those that are mounted on another, and without imported ones beside its own."""
    servers = _servers(module)
    if len(servers) > 1 and any(kind_of(server) == "fastmcp" for _, server in servers):
        from mcpcore.integrations.fastmcp.components import mounted

        below = {id(part) for _, server in servers if kind_of(server) == "fastmcp" for part in mounted(server)}
        servers = [entry for entry in servers if id(entry[1]) not in below] or servers
    if len(servers) > 1 and module.__file__ is not None:
        tree = ast.parse(Path(module.__file__).read_bytes())
        imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        names = {alias.asname or alias.name for node in imports for alias in node.names}
        servers = [entry for entry in servers if entry[0] not in names] or servers
    return servers


def _named(module: ModuleType, target: Target, name: str, arguments: Sequence[str]) -> Any:
    thing: Any = module
    for part in name.split("."):
        if not hasattr(thing, part):
            names = [server for server, _ in _servers(module)] or [key for key in vars(module) if key[0] != "_"]
            near = difflib.get_close_matches(part, names, n=1)
            meant = f"did you mean {target.source}:{near[0]}?" if near else f"it has {', '.join(names) or 'nothing'}"
            raise Problem(f"{target.source} has no {name}.", hint=meant)
        thing = getattr(thing, part)
    if kind_of(thing) is not None:
        return thing
    if callable(thing):
        return _made(thing, name, target, arguments)
    raise Problem(
        f"{target.source}:{name} is a {type(thing).__name__}, not a server.",
        hint="name a Server of mcpcore, an MCPServer of the SDK, or a function that returns one",
    )


def _made(factory: Callable[..., Any], name: str, target: Target, arguments: Sequence[str]) -> Any:
    """The server that `factory` returns for the remaining arguments."""
    where = f"{target.source}:{name}"
    signature = inspect.signature(factory)
    try:
        signature.bind(*arguments)
    except TypeError as exc:
        raise Problem(
            f"{where} cannot be called with {len(arguments)} argument{'s' if len(arguments) != 1 else ''}: {exc}.",
            hint=f"its signature is {name}{signature}; give the arguments after `--`",
        ) from exc
    server = _guarded(target, lambda: factory(*arguments))
    if inspect.iscoroutine(server):
        # Python would warn of a coroutine that nobody awaits.
        server.close()
        raise Problem(
            f"{where} is async, but the server is made before an event loop runs.",
            hint="make it a plain function, and await in the lifespan of the server",
        )
    if kind_of(server) is None:
        raise Problem(
            f"{where} returned a {type(server).__name__}, not a server.",
            hint="return a Server of mcpcore or an MCPServer of the SDK",
        )
    return server


def _import_module(name: str) -> ModuleType:
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        # As `python -m` does.
        sys.path.insert(0, str(Path.cwd()))
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as exc:
        # Otherwise the module exists, but not another one that it imports.
        if exc.name is None or not f"{name}.".startswith(f"{exc.name}."):
            raise
        raise Problem(
            f"the module {exc.name} does not exist.",
            hint=f"give a file ({name.replace('.', '/')}.py), or run this where the module can be imported",
        ) from exc


def _import_file(path: Path) -> ModuleType:
    """Import a file, as a module of its package if it has one."""
    path = path.resolve()
    parts = [path.stem]
    folder = path.parent
    while (folder / "__init__.py").is_file() and folder.name.isidentifier():
        parts.insert(0, folder.name)
        folder = folder.parent
    if sys.path[:1] != [str(folder)]:
        sys.path.insert(0, str(folder))
    if len(parts) > 1 and parts[-1].isidentifier():
        return importlib.import_module(".".join(parts))
    # The file may have the name of another module, such as types.py.
    name = path.stem if path.stem.isidentifier() and path.stem not in sys.modules else "__mcpcore_server__"
    # `spec_from_file_location` knows no loader for a file whose name does not end in .py.
    spec = importlib.util.spec_from_loader(
        name, importlib.machinery.SourceFileLoader(name, str(path)), origin=str(path)
    )
    assert spec is not None
    assert spec.loader is not None
    spec.has_location = True
    module = importlib.util.module_from_spec(spec)
    # Before its code runs, which may look the module up by its name, as dataclasses do.
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _guarded(target: Target, load: Callable[[], Any]) -> Any:
    """The result of `load`; an error in the code of the server is reported with its place, without a traceback."""
    try:
        return load()
    except Problem:
        raise
    except SystemExit as exc:
        message = exc.code if isinstance(exc.code, str) else None
        raise Problem(
            f"{target.source} ended while it was loaded{'' if message else f', with exit code {exc.code or 0}'}.",
            detail=message,
            hint="put arguments for the server after `--`, and code for running it as a program under "
            '`if __name__ == "__main__":`',
        ) from exc
    except SyntaxError as exc:
        raise Problem(
            f"{exc.filename or target.source}:{exc.lineno or 0}: {exc.msg}.",
            detail=exc.text,
            hint="fix the line; this is Python " + sys.version.split()[0],
        ) from exc
    except Exception as exc:
        message, _, more = str(exc).partition("\n")
        raise Problem(
            f"{target.source} cannot be loaded: {type(exc).__name__}: {message}",
            detail="\n".join(filter(None, (more, where(exc)))),
            hint=_next_step(exc) or f"for the traceback: mcpcore run {target.source} --traceback",
        ) from exc


def _next_step(exc: Exception) -> str | None:
    """The way out of an error that says nothing of it itself; None for others."""
    if isinstance(exc, ModuleNotFoundError) and exc.name in _EXTRAS:
        return f'pip install "mcpcore[{_EXTRAS[exc.name]}]"'
    if isinstance(exc, TypeError) and str(exc).endswith("got an unexpected keyword argument 'errors'"):
        return "give `errors` to mcpcore's own decorator, directly above the function, below that of FastMCP or the SDK"
    return None


_EXTRAS: Final = {"fastmcp": "fastmcp", "opentelemetry": "otel", "tenacity": "retry"}
"""The extra that installs a library which servers import, by the name of the module."""


def where(exc: BaseException) -> str | None:
    """The last line of the author's code that led to `exc`; without any, the last line of a library."""
    frames = [frame for frame in traceback.extract_tb(exc.__traceback__) if not frame.filename.startswith(_OWN)]
    outside = [frame for frame in frames if not _is_library(frame)] or frames
    return f"{outside[-1].filename}:{outside[-1].lineno}: {outside[-1].line}" if outside else None


def traceback_of(exc: BaseException) -> str:
    """The traceback of `exc` and its causes: the author's frames, and one line for the libraries between them."""
    links = [traceback.TracebackException.from_exception(exc)]
    for link in links:
        frames: list[traceback.FrameSummary] = []
        for is_library, group in itertools.groupby(link.stack, _is_library):
            if not is_library:
                frames += group
            elif frames:  # what comes before the author's first frame is this command
                *_, last = group
                frames.append(traceback.FrameSummary(last.filename, last.lineno, last.name, line=""))
        if not frames and link is links[0]:  # an installed server, which looks like a library
            frames = [frame for frame in link.stack if not frame.filename.startswith(_OWN)]
        link.stack = traceback.StackSummary.from_list(frames)
        links += filter(None, (link.__cause__, link.__context__, *(link.exceptions or ())))
    return "".join(links[0].format())


def _is_library(frame: traceback.FrameSummary) -> bool:
    return (
        frame.filename.startswith((*_OWN, _STANDARD)) or re.search("(site|dist)-packages", frame.filename) is not None
    )


_OWN: Final = (str(Path(__file__).parent.parent), "<frozen")
_STANDARD: Final = sysconfig.get_path("stdlib")


def _near_file(path: Path) -> str:
    try:
        names = [entry.name for entry in path.parent.iterdir() if entry.suffix in (".py", ".pyw")]
    except OSError:
        return f"the folder {path.parent} cannot be read; check the path"
    near = difflib.get_close_matches(path.name, names, n=1)
    return f"did you mean {path.parent / near[0]}?" if near else "check the path; it is relative to the current folder"
