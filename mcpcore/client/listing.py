"""The tools that a server lists: their contracts, annotations and schemas, read once for each session."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Generic, cast
from weakref import WeakKeyDictionary, ref

import anyio

from mcpcore.client.schemas import error_path
from mcpcore.contract.effects import ToolEffects, default_effects
from mcpcore.contract.failure_modes import NO_CONTRACT, Contract, FailureMode
from mcpcore.contract.mapping import R_co
from mcpcore.sdk.changed_tools import watch_tools
from mcpcore.values.json_schema import properties
from mcpcore.values.untrusted import quietly

if TYPE_CHECKING:
    from mcpcore.client.failures import ToolCallFailed


MAX_PAGES: Final = 100
"""The most pages of tools that are read, since a list may be endless."""

LISTING_TIMEOUT: Final = 10.0
"""How long a server may take to list its tools, in seconds; without the list, a failure has no declared entry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTool:
    """What a server says of one of its tools.

    Attributes:
        name: The name of the tool.
        contract: The contract that the server advertises; empty without one.
        read_only: Whether the annotations say that the tool changes nothing.
        idempotent: Whether the annotations say that a second call changes nothing more.
        effects: The effects that follow from the annotations for a failure that declares none, by the defaults of MCP
            where a hint is left out.
        input_schema: The JSON schema of the arguments.
    """

    name: str
    contract: Contract[Any] = NO_CONTRACT
    read_only: bool = False
    idempotent: bool = False
    effects: ToolEffects | None = None
    input_schema: Mapping[str, Any] = field(default_factory=dict)

    @property
    def repeatable(self) -> bool:
        """Whether the same call can be made twice."""
        return self.read_only or self.idempotent

    def misfit(self, arguments: Mapping[str, Any]) -> str | None:
        """Why `arguments` cannot be sent to the tool, as the end of a sentence; None if they fit its input schema.

        An argument that the schema does not name is a misfit, unless the schema expressly takes others: a server may
        ignore it in silence, and it may be the one that mattered.

        Args:
            arguments: The arguments of a call.
        """
        schema = self.input_schema
        named = quietly(lambda: properties(schema, schema), dict[str, Any]())
        open_ended = "patternProperties" in schema or schema.get("additionalProperties", False) is not False
        unknown = [] if open_ended else [name for name in arguments if name not in named]
        if unknown:
            return f"{self.name} takes no argument {unknown[0]!r}"
        # A schema of a server may be broken; then nobody can say that the arguments fit.
        path = quietly(lambda: error_path(schema, arguments), ...)
        if path is ...:
            return f"the schema of {self.name} is broken or cannot be checked"
        if path is None:
            return None
        return f"the argument {path!r} does not fit {self.name}" if path else f"the arguments do not fit {self.name}"


def listed_tool(tool: object) -> ListedTool | None:
    """Read a tool of `tools/list`; None if it has no name.

    ```python
    schema = {"type": "object", "properties": {"number": {"type": "string"}}}
    tool = listed_tool({"name": "track", "inputSchema": schema})
    assert tool.misfit({"number": 7}) == "the argument 'number' does not fit track"
    ```

    Args:
        tool: A `Tool` of the SDK, a tool of FastMCP, or the JSON of one as a dict.
    """
    name = _part(tool, "name", "name")
    if not isinstance(name, str):
        return None
    annotations = _part(tool, "annotations", "annotations")
    schema = _part(tool, "input_schema", "inputSchema")
    if schema is None:
        schema = _part(tool, "parameters", "parameters")  # the name of FastMCP
    return ListedTool(
        name=name,
        contract=Contract.from_listing(tool),
        read_only=_part(annotations, "read_only_hint", "readOnlyHint") is True,
        idempotent=_part(annotations, "idempotent_hint", "idempotentHint") is True,
        effects=cast("ToolEffects", quietly(lambda: default_effects(annotations), "unstated")),
        input_schema=schema if isinstance(schema, Mapping) else {},
    )


def _part(value: object, name: str, wire_name: str) -> Any:
    if isinstance(value, Mapping):
        return quietly(lambda: value.get(wire_name), None)
    return quietly(lambda: getattr(value, name, None), None)


Tools = Mapping[str, ListedTool]
NO_TOOLS: Final[Tools] = MappingProxyType({})

_listings: Final[WeakKeyDictionary[Any, Tools]] = WeakKeyDictionary()


async def list_tools(session: Any, *, fresh: bool = False) -> tuple[Tools, bool]:
    """The tools of the server of `session`, by name, and whether the list was read just now.

    It is empty if the server does not list its tools.

    The list is read once for each session, and again after the server says that it has changed. Never raises, except
    for a cancellation.

    ```python
    tools, _ = await list_tools(session)
    print(tools["fetch_articles"].contract.reasons)
    ```

    Args:
        session: The SDK's `Client` or `ClientSession`, or the client of FastMCP.
        fresh: Whether to read the list again.
    """
    key = _connection_of(session)
    # A session of another kind may be impossible to hash; then its tools are listed for each failed call.
    known = None if fresh else quietly(lambda: _listings.get(key), None)
    if known is not None:
        return known, False
    tools: dict[str, ListedTool] = {}
    try:
        with anyio.fail_after(LISTING_TIMEOUT):
            async for page in pages_of(partial(_page, session)):
                for tool in filter(None, map(listed_tool, page.tools)):
                    tools.setdefault(tool.name, tool)
    except Exception:  # noqa: BLE001 - without the list, the failure of the call is still known
        return NO_TOOLS, True
    listing = MappingProxyType(tools)
    quietly(lambda: _keep(key, listing), None)
    return listing, True


async def pages_of(list_page: Callable[[str | None], Awaitable[Any]], *, most: int = MAX_PAGES) -> AsyncIterator[Any]:
    """The pages of a list, the first `most` of them; `list_page` gets the cursor of a page.

    Raises:
        Exception: What `list_page` raises.
    """
    cursor: str | None = None
    for _ in range(most):
        page = await list_page(cursor)
        yield page
        cursor = page.next_cursor
        if not cursor:
            return


def _keep(connection: Any, tools: Tools) -> None:
    _listings[connection] = tools
    # The connection itself keeps the watcher, which must not keep the connection alive in turn.
    reference = ref(connection)
    watch_tools(connection, lambda: _listings.pop(reference(), None))


def forget_tools(session: Any) -> None:
    """Forget the list of tools of `session`, so that it is read again when it is needed next.

    A session of the SDK or of FastMCP does this by itself when the server says that its tools have changed.

    ```python
    forget_tools(session)
    ```

    Args:
        session: The session, or the client around it.
    """
    quietly(lambda: _listings.pop(_connection_of(session), None), None)


def _connection_of(session: Any) -> Any:
    """The `ClientSession` inside a client: a client cannot be hashed, and may connect again to another server."""
    return quietly(lambda: session.session, session)


async def _page(session: Any, cursor: str | None) -> Any:
    if hasattr(session, "list_tools_mcp"):  # the client of FastMCP
        return await session.list_tools_mcp(cursor=cursor, cache_mode="refresh")
    if _connection_of(session) is not session:  # the SDK's Client; its own cache may be older than the change
        return await session.list_tools(cursor=cursor, cache_mode="refresh")
    from mcp_types import PaginatedRequestParams

    return await session.list_tools(params=PaginatedRequestParams(cursor=cursor))


class ToolContract(Generic[R_co]):
    """The name of a tool and its failure modes; pass it to `call` in place of the name.

    ```python
    FETCH: ToolContract[Literal["no_match", "queue_full"]] = ToolContract("fetch_articles", (NO_MATCH, QUEUE_FULL))

    try:
        result = await call(session, FETCH, {"pmids": ["1"]})
    except ToolCallFailed as failed:
        match FETCH.reason_of(failed):
            case "no_match":
                print(failed.data_of(NO_MATCH).pmids)
            case "queue_full" | None:
                raise
            case other:
                assert_never(other)
    ```

    Attributes:
        name: The name of the tool.
        errors: Its failure modes.
    """

    __slots__ = ("contract", "name")

    def __init__(self, name: str, errors: Iterable[FailureMode[R_co]] = ()) -> None:
        """Name the tool and its failure modes.

        Raises:
            ContractError: If an entry is not a `FailureMode` or two entries have the same reason.
        """
        self.name = name
        self.contract: Contract[R_co] = Contract(errors, tool=name)

    def reason_of(self, failed: ToolCallFailed) -> R_co | None:
        """The declared reason of a failure of this tool; None for any other failure.

        Args:
            failed: The failure of a call.
        """
        entry = self.contract.get(failed.reason)
        return None if entry is None or failed.tool != self.name else entry.reason

    def __repr__(self) -> str:
        return f"ToolContract({self.name!r}, {list(self.contract.reasons)})"
