"""The catalog of a server: from its own listings when it is imported, and from its source code."""

from __future__ import annotations

import contextlib
import inspect
import os
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import anyio
from pydantic import ValidationError

from mcpcore.catalog import Item, ServerCatalog, item_of_listing
from mcpcore.catalog.items import item_of_source, servers_of_source, with_source
from mcpcore.cli.call import Conversation, Request, ServerAddress, perform
from mcpcore.cli.loading import Target, kind_of, load, where
from mcpcore.cli.problems import Failed, Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mcp import Client

    from mcpcore.catalog.model import Kind


_MAX_PAGES: Final = 100
_MAX_ITEMS: Final = 20_000
_LISTINGS: Final[tuple[tuple[Kind, str, str, str], ...]] = (
    ("tool", "tools", "list_tools", "tools"),
    ("resource", "resources", "list_resources", "resources"),
    ("resource", "resources", "list_resource_templates", "resource_templates"),
    ("prompt", "prompts", "list_prompts", "prompts"),
)
"""The kind, the capability, the method of the client, and the field of its result."""


def listed_server(
    text: str, command: Sequence[str], *, timeout: float, verbose: bool, headers: Mapping[str, str]
) -> ServerCatalog:
    """Start or reach a server and read what it lists.

    Args:
        text: The URL; for a command, any name.
        command: The command that starts it; empty for a URL.
        timeout: Seconds for reaching it, and for all its lists.
        verbose: Whether its standard error is shown.
        headers: Headers that are sent to a URL.

    Raises:
        Problem: If it cannot be reached, or its lists break the protocol.
    """
    address = (
        ServerAddress(None, tuple(command), command[0], shlex.join(command))
        if command
        else ServerAddress(text, (), text, text, headers=headers)
    )
    request = Request(tool=None, words=(), timeout=timeout, era="auto", verbose=verbose, as_json=False)
    listing = perform(address, request, Listing)
    assert listing.server is not None
    return listing.server


@dataclass
class Listing(Conversation):
    """A conversation that lists everything."""

    server: ServerCatalog | None = None

    async def talk(self, client: Client) -> bool:
        """List everything; problems are raised by `run`."""
        self.reached = True
        try:
            with anyio.fail_after(self.request.timeout):
                items, problems = await list_items(client)
        except TimeoutError:
            self.problem = Failed(
                f"{self.address.shown} did not list what it has within {self.request.timeout:g} s.",
                hint="raise --timeout SECONDS, or watch the server with -v",
            )
            return False
        info = client.server_info
        name = (info.name if info is not None else "") or self.address.shown
        if not items and problems:
            self.problem = Failed(
                f"{self.address.shown}: {problems[0]}.",
                hint="fix the server: its answer does not have the form that the protocol requires",
            )
            return False
        self.server = ServerCatalog(name=name[:1000], items=tuple(items), problems=tuple(problems))
        return True


async def list_items(client: Client) -> tuple[list[Item], list[str]]:
    """What a server lists, and what could not be read of it."""
    from mcp.shared.exceptions import MCPError
    from mcp_types import METHOD_NOT_FOUND

    from mcpcore.client.failures import is_lost

    items: list[Item] = []
    problems: list[str] = []
    capabilities = client.server_capabilities
    for kind, capability, method, field in _LISTINGS:
        if getattr(capabilities, capability, None) is None:
            continue
        try:
            await _pages(client, kind, (method, field), items, problems)
        except ValidationError as exc:
            first = exc.errors(include_url=False, include_input=False)[0]
            place = ".".join(map(str, first["loc"]))
            problems.append(f"the list of {field.replace('_', ' ')} breaks the protocol at {place}: {first['msg']}")
        except MCPError as error:
            if is_lost(error):
                raise
            # One capability announces resources and their templates, but many servers answer only one of the two lists.
            if error.code != METHOD_NOT_FOUND:
                problems.append(f"the server refused to list its {field.replace('_', ' ')}: {error.message[:500]}")
    return items, problems


async def _pages(client: Client, kind: Kind, names: tuple[str, str], items: list[Item], problems: list[str]) -> None:
    from mcpcore.client.failures import pages_of

    method, field = names
    page: Any = None
    async for page in pages_of(lambda cursor: getattr(client, method)(cursor=cursor), most=_MAX_PAGES):
        for listed in getattr(page, field):
            if len(items) >= _MAX_ITEMS:
                problems.append(f"the server lists more than {_MAX_ITEMS} entries, of which the first are read")
                return
            item = item_of_listing(kind, listed.model_dump(mode="json", by_alias=True, exclude_none=True))
            if item is None:
                problems.append(f"an entry in the list of {field.replace('_', ' ')} has no name")
            else:
                items.append(item)
    if page.next_cursor:
        problems.append(f"the list of {field.replace('_', ' ')} has more than {_MAX_PAGES} pages")


def root_of(path: Path) -> Path:
    """The folder that paths in a catalog are relative to: the repository, else the project, else its own folder."""
    absolute = path.absolute()
    folder = absolute if absolute.is_dir() else absolute.parent
    for marker in (".git", "pyproject.toml"):
        for above in (folder, *folder.parents):
            if (above / marker).exists():
                return above
    return folder


def static_servers(path: str, root: Path, *, name: str) -> Sequence[ServerCatalog]:
    """The servers in a file or a folder, read by the linter and never run.

    Raises:
        Problem: If the code cannot be read, or registers nothing.
    """
    from mcpcore_lint.config import ConfigError
    from mcpcore_lint.inventory import take_inventory

    try:
        inventory = take_inventory([path], root=str(root))
    except ConfigError as exc:
        raise Problem(f"the configuration cannot be used: {exc}.") from exc
    # Servers of tests are no servers, unless nothing else was asked for.
    records = [record for record in inventory.items if not record.in_test] or list(inventory.items)
    if not records and inventory.failures:
        raise Problem(f"{name} cannot be read: {inventory.failures[0]}.", hint="correct the file")
    if not records:
        raise Problem(
            f"{name} registers no tools, resources or prompts that can be seen without running it.",
            hint="give the file that registers them, or leave out --static to import the server",
        )
    absolute = Path(path).absolute()
    if absolute != root and absolute.is_relative_to(root):
        name = absolute.relative_to(root).as_posix()
    items = [(item_of_source(record.item), record.path) for record in records]
    return servers_of_source(name, items, inventory.failures)


def source_items(files: Sequence[str], root: Path) -> dict[tuple[str, int], Item]:
    """The items in some files, by the path of the handler and its first line; empty if they cannot be read."""
    from mcpcore_lint.config import ConfigError
    from mcpcore_lint.inventory import take_inventory

    try:
        records = take_inventory(files, root=str(root)).items
    except ConfigError:
        return {}
    return {(record.path, record.first): item_of_source(record.item) for record in records}


def imported_server(target: Target, arguments: Sequence[str] = ()) -> ServerCatalog:
    """The server that `target` names, imported in this process; it is not started, and its lifespan does not run.

    Args:
        target: The server.
        arguments: Its arguments.

    Raises:
        Problem: If it cannot be imported, or cannot list what it has.
    """
    with _own_modules(), _stdout_to_stderr():
        try:
            server = load(target, arguments)
        except Problem as problem:
            read = f"to read the code and run none of it: mcpcore catalog --static {target.source}"
            problem.hint = read if problem.hint is None else f"{problem.hint}; {read}"
            raise
        try:
            items, functions = anyio.run(_listed, server)
        except Exception as exc:
            raise Problem(
                f"{target.source} cannot list what it has: {type(exc).__name__}: {exc}",
                detail=where(exc),
                hint=f"start it instead: mcpcore catalog -- mcpcore run {target.source}",
            ) from exc
        name = str(getattr(server, "name", "") or Path(target.source).stem)
        places = {key: _place_of(function) for key, function in functions.items()}
    files = sorted({path for place in places.values() if place is not None for path in [place[0]]})
    root = root_of(Path(target.source) if target.is_file else Path(files[0]) if files else Path.cwd())
    # A virtual environment may be in the folder of the project.
    own = [path for path in files if Path(path).is_relative_to(root) and "site-packages" not in Path(path).parts]
    sources = source_items(own, root) if own else {}
    located: list[Item] = []
    for item in items:
        place = places.get((item.kind, item.name))
        source = None
        if place is not None and Path(place[0]).is_relative_to(root):
            source = sources.get((Path(place[0]).relative_to(root).as_posix(), place[1]))
        located.append(item if source is None else with_source(item, source))
    return ServerCatalog(name=name, items=tuple(located))


async def _listed(server: Any) -> tuple[list[Item], dict[tuple[str, str], Any]]:
    """The items of a server, and the functions behind them."""
    kind = kind_of(server)
    if kind == "lowlevel":
        return await _listed_by_client(server), {}
    if kind == "fastmcp":
        from mcpcore.integrations.fastmcp.components import registered_on
    else:
        from mcpcore.sdk.tools import registered_on  # type: ignore[assignment]

    items: list[Item] = []
    functions: dict[tuple[str, str], Any] = {}
    registered = registered_on(server)
    for noun, _, method, _ in _LISTINGS:
        for listed in await getattr(server, method)():
            plain = _wire(listed)
            known = await registered(noun, str(plain.get("uri") or plain.get("uriTemplate") or plain.get("name")))
            item = item_of_listing(noun, plain, contract=known.contract)
            if item is not None:
                items.append(item)
                functions[item.kind, item.name] = known.function
    return items, functions


def _wire(listed: Any) -> dict[str, Any]:
    """A listed item as JSON; FastMCP lists objects of other classes."""
    for name in ("to_mcp_tool", "to_mcp_resource", "to_mcp_template", "to_mcp_prompt"):
        if hasattr(listed, name):
            listed = getattr(listed, name)()
            break
    return cast("dict[str, Any]", listed.model_dump(mode="json", by_alias=True, exclude_none=True))


async def _listed_by_client(server: Any) -> list[Item]:
    """What a low-level server lists to a client in memory."""
    from mcp import Client

    async with Client(server, cache=None) as client:
        items, problems = await list_items(client)
    if problems:
        raise ValueError(problems[0])
    return items


def _place_of(function: Any) -> tuple[str, int] | None:
    """The file of a function and its first line, with its decorators."""
    function = inspect.unwrap(getattr(function, "func", function)) if callable(function) else function
    declared = getattr(function, "declaration", None)
    function = inspect.unwrap(declared.handler) if declared is not None else function
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    if code is None or not Path(code.co_filename).is_file():
        return None
    return os.path.realpath(code.co_filename), code.co_firstlineno


@contextlib.contextmanager
def _own_modules() -> Iterator[None]:
    """Forget the modules that a server brings along, so that those of another server may have the same names."""
    modules, path, arguments = set(sys.modules), list(sys.path), list(sys.argv)
    try:
        yield
    finally:
        for name in _foreign(set(sys.modules) - modules):
            del sys.modules[name]
        # Other modules may hold these lists, so they are changed in place.
        sys.path[:], sys.argv[:] = path, arguments


def _foreign(names: Iterable[str]) -> list[str]:
    """The modules that no package of the environment brings."""
    here = [os.path.realpath(folder) for folder in (sys.prefix, sys.base_prefix)]
    outside = []
    for name in names:
        file = getattr(sys.modules[name], "__file__", None)
        # A second mcpcore would have other classes, and the next server would not be an instance of those known here.
        if file is None or name.partition(".")[0] in {"mcpcore", "mcpcore_lint"}:
            continue
        if "site-packages" not in file and not any(os.path.realpath(file).startswith(folder) for folder in here):
            outside.append(name)
    return outside


@contextlib.contextmanager
def _stdout_to_stderr() -> Iterator[None]:
    """Keep the output of the server, while it is imported, out of the catalog."""
    # Extensions and child processes write to the descriptor, not to the stream of Python.
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
