"""The catalogue of a running server, in any language: what it lists."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, Final

import anyio

from mcpcore.cli.call import Conversation, Request, ServerAddress, is_lost, perform
from mcpcore.cli.problems import Failed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcp import Client

    from mcpcore.catalog import Item, ServerCatalog
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
    conversation: list[Listing] = []

    def make(*arguments: Any) -> Listing:
        conversation.append(Listing(*arguments))
        return conversation[0]

    perform(address, request, make)
    server = conversation[0].server
    assert server is not None
    return server


class Listing(Conversation):
    """A conversation that lists everything."""

    server: ServerCatalog | None = None

    async def talk(self, client: Client) -> bool:
        """List everything; problems are raised by `run`."""
        from mcpcore.catalog import ServerCatalog

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
    from pydantic import ValidationError

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
            from mcp_types import METHOD_NOT_FOUND

            if is_lost(error):
                raise
            if error.code != METHOD_NOT_FOUND:
                problems.append(f"the server refused to list its {field.replace('_', ' ')}: {error.message[:500]}")
    return items, problems


async def _pages(client: Client, kind: Kind, names: tuple[str, str], items: list[Item], problems: list[str]) -> None:
    from mcpcore.catalog import item_of_listing

    method, field = names
    cursor: str | None = None
    for _ in range(_MAX_PAGES):
        page = await getattr(client, method)(cursor=cursor)
        for listed in getattr(page, field):
            if len(items) >= _MAX_ITEMS:
                problems.append(f"the server lists more than {_MAX_ITEMS} entries, of which the first are read")
                return
            item = item_of_listing(kind, listed.model_dump(mode="json", by_alias=True, exclude_none=True))
            if item is None:
                problems.append(f"an entry in the list of {field.replace('_', ' ')} has no name")
            else:
                items.append(item)
        cursor = page.next_cursor
        if not cursor:
            return
    problems.append(f"the list of {field.replace('_', ' ')} has more than {_MAX_PAGES} pages")
