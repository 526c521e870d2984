"""The catalogue of a server that is imported: its own listings, its contracts, and what its source code shows."""

from __future__ import annotations

import contextlib
import inspect
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import anyio

from mcpcore.cli.loading import Target, kind_of, load, where
from mcpcore.cli.problems import Problem
from mcpcore.cli.static import root_of, source_items

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mcpcore.catalog import Item, ServerCatalog
    from mcpcore.catalog.model import Kind

_LISTINGS: Final[tuple[tuple[Kind, str], ...]] = (
    ("tool", "list_tools"),
    ("resource", "list_resources"),
    ("resource", "list_resource_templates"),
    ("prompt", "list_prompts"),
)


def imported_server(target: Target, arguments: Sequence[str] = ()) -> ServerCatalog:
    """The server that `target` names, imported in this process; it is not started, and its lifespan does not run.

    Args:
        target: The server.
        arguments: Its arguments.

    Raises:
        Problem: If it cannot be imported, or cannot list what it has.
    """
    from mcpcore.catalog import ServerCatalog
    from mcpcore.catalog.source import with_source

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
        from mcpcore.integrations.fastmcp.declared import registered_on
    else:
        from mcpcore.sdk.declared import registered_on  # type: ignore[assignment]
    from mcpcore.catalog import item_of_listing

    items: list[Item] = []
    functions: dict[tuple[str, str], Any] = {}
    registered = registered_on(server)
    for noun, method in _LISTINGS:
        for listed in await getattr(server, method)():
            plain = _wire(listed)
            key = (noun, str(plain.get("uri") or plain.get("uriTemplate") or plain.get("name")))
            known = await registered(*key)
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
    plain: dict[str, Any] = listed.model_dump(mode="json", by_alias=True, exclude_none=True)
    return plain


async def _listed_by_client(server: Any) -> list[Item]:
    """What a low-level server lists to a client in memory."""
    from mcp import Client

    from mcpcore.cli.listing import list_items

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
        sys.path[:], sys.argv[:] = path, arguments


def _foreign(names: Iterable[str]) -> list[str]:
    """The modules that no package of the environment brings."""
    here = [os.path.realpath(folder) for folder in (sys.prefix, sys.base_prefix)]
    outside = []
    for name in names:
        file = getattr(sys.modules[name], "__file__", None)
        if file is None or name.partition(".")[0] in {"mcpcore", "mcpcore_lint"}:
            continue
        if "site-packages" not in file and not any(os.path.realpath(file).startswith(folder) for folder in here):
            outside.append(name)
    return outside


@contextlib.contextmanager
def _stdout_to_stderr() -> Iterator[None]:
    """Keep the output of the server, while it is imported, out of the catalogue."""
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
