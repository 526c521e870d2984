"""Fallback tools of contracts on FastMCP servers: checked at the first message, and renamed for the client."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Literal, TypedDict

import anyio
import pytest
from fastmcp import Client, FastMCP
from fastmcp.server import create_proxy
from fastmcp.server.dependencies import get_context
from fastmcp.server.middleware import Middleware
from fastmcp.server.middleware.tool_injection import ToolInjectionMiddleware
from fastmcp.server.providers import AggregateProvider, LocalProvider, Provider
from fastmcp.server.transforms import Namespace, ResourcesAsTools, ToolTransform, Transform
from fastmcp.server.transforms.search import RegexSearchTransform
from fastmcp.tools import Tool as FastMCPTool
from fastmcp.tools.tool_transform import ToolTransformConfig
from mcp import Client as SDKClient
from mcp.server.mcpserver import MCPServer
from mcp.shared.exceptions import MCPError
from mcp_types import Implementation

from mcpcore import Context, ContractError, Envelope, ErrorCode, FailureMode, Server, prompt, resource, tool
from mcpcore.contract.failure_modes import CONTRACT_META_KEY
from mcpcore.integrations.fastmcp import ContractFailure, ContractMiddleware
from mcpcore.services.batch import Batch, BatchResult
from tests.answers import ask, envelope_of, settled
from tests.integrations.fastmcp.contract_server import extended
from tests.runtime.test_fallbacks import warnings

NO_ITEM = FailureMode(
    "no_item", ErrorCode.NOT_FOUND, when="There is no such item.", recovery="Search.", fallback_tool="search"
)
GONE = FailureMode(
    "gone",
    ErrorCode.NOT_FOUND,
    when="The item is gone.",
    recovery="Search for {name}.",
    fallback_tool="search",
    data=TypedDict("Gone", {"name": str}),
)
MISSPELT = FailureMode(
    "no_item", ErrorCode.NOT_FOUND, when="There is no such item.", recovery="Search.", fallback_tool="serch"
)


@tool(errors=[NO_ITEM])
def fetch(ctx: Context[Literal["no_item"]], how: str = "") -> str:
    """Fetch an item."""
    if how == "own recovery":
        raise ctx.fail("no_item", recovery={"hint": "Search.", "fallbackTool": "search"})
    if how == "recovery_for":
        raise ctx.fail("no_item", data=ctx.recovery_for("no_item"))
    raise ctx.fail("no_item")


@tool(errors=[GONE], name="fetch")
def fetch_again(ctx: Context[Literal["gone"]], how: str) -> str:
    """Fetch an item, and leave out the data of the hint."""
    raise ctx.fail("gone")


@tool
def search() -> str:
    """Search."""
    return "none"


@tool(errors=[MISSPELT], name="get")
def misspelt(ctx: Context[Literal["no_item"]]) -> str:
    """Get an item."""
    raise ctx.fail("no_item")


@resource("items://{item}", errors=[NO_ITEM])
def item_at(ctx: Context[Literal["no_item"]], item: str) -> str:
    """An item."""
    raise ctx.fail("no_item")


@resource("items://all", errors=[NO_ITEM])
def all_items(ctx: Context[Literal["no_item"]]) -> str:
    """All items."""
    raise ctx.fail("no_item")


@prompt(errors=[NO_ITEM])
def describe(ctx: Context[Literal["no_item"]]) -> str:
    """Describe an item."""
    raise ctx.fail("no_item")


@tool(errors=[NO_ITEM])
async def fetch_all(ctx: Context[Literal["no_item"]]) -> BatchResult[str]:
    """Fetch items, of which one fails while the call goes on."""
    batch = Batch[str](ctx)
    for key in ("a", "b"):
        with batch.item(key):
            if key == "a":
                raise ctx.fail("no_item")
            batch.add(key)
    return batch.result()


def shop(*tools: Any, name: str = "shop") -> FastMCP[Any]:
    return extended(FastMCP(name), *(tools or (fetch, search)))


def covered(*mounted: tuple[FastMCP[Any], str | None], **options: Any) -> FastMCP[Any]:
    """A parent with a `ContractMiddleware` on which the servers are mounted."""
    mcp = extended(FastMCP("all"), ContractMiddleware(**options))
    for server, namespace in mounted:
        mcp.mount(server, namespace=namespace)
    return mcp


def fallbacks(mcp: FastMCP[Any], name: str, arguments: dict[str, Any] | None = None) -> set[str]:
    """Return the fallback tool of a failed call from the structured content, the text and `tools/list`."""

    async def run() -> set[str]:
        async with Client(mcp) as client:
            result = await client.call_tool_mcp(name, arguments or {})
            (listed,) = [tool.meta or {} for tool in await client.list_tools() if tool.name == name]
            error: Any = result.structured_content
            return {
                error["error"]["data"]["recovery"]["fallbackTool"],
                result.content[0].text.rpartition("try ")[2].partition(" ")[0],
                listed[CONTRACT_META_KEY][0]["fallbackTool"],
            }

    return anyio.run(run)


def start(mcp: FastMCP[Any], times: int = 1) -> None:
    for _ in range(times):
        ask(Client(mcp), lambda client: client.list_tools())


# --- renamed ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fetching", "how"), [(fetch, ""), (fetch, "own recovery"), (fetch, "recovery_for"), (fetch_again, "no hint")]
)
def test_a_namespace_renames_the_fallback_tool(fetching: Any, how: str) -> None:
    """It is renamed in the result, the text and the list, wherever the recovery was set."""
    assert {"shop_search"} == fallbacks(covered((shop(fetching, search), "shop")), "shop_fetch", {"how": how})


def test_without_a_namespace_the_name_is_kept() -> None:
    """This holds without a mount and on a mount without a namespace."""
    assert {"search"} == fallbacks(extended(shop(), ContractMiddleware()), "fetch")
    assert {"search"} == fallbacks(covered((shop(), None)), "fetch")


def test_nested_mounts_add_their_namespaces() -> None:
    """Each level adds its namespace."""
    middle: FastMCP[Any] = FastMCP("middle")
    middle.mount(shop(), namespace="shop")
    assert {"eu_shop_search"} == fallbacks(covered((middle, "eu")), "eu_shop_fetch")


def test_a_server_mounted_twice_uses_the_name_of_the_called_mount() -> None:
    """One server has two namespaces."""
    both = shop()
    mcp = covered((both, "a"), (both, "b"))
    assert {"a_search"} == fallbacks(mcp, "a_fetch")
    assert {"b_search"} == fallbacks(mcp, "b_fetch")


def test_a_sibling_tool_is_preferred_to_one_of_the_parent() -> None:
    """A tool of the parent is found if the mounted server has no such tool."""
    parent = extended(covered((shop(), "shop"), (shop(fetch), "alone")), search)
    assert {"shop_search"} == fallbacks(parent, "shop_fetch")
    assert {"search"} == fallbacks(parent, "alone_fetch")


def test_the_clients_name_may_be_declared(caplog: pytest.LogCaptureFixture) -> None:
    """A contract that knows its mount may use the name that clients see."""
    mode = FailureMode("no", ErrorCode.NOT_FOUND, when="No.", recovery="No.", fallback_tool="shop_search")

    @tool(errors=[mode])
    def get(ctx: Context[Literal["no"]]) -> str:
        raise ctx.fail("no")

    assert {"shop_search"} == fallbacks(covered((shop(get, search), "shop")), "shop_get")
    assert [] == warnings(caplog)


def test_renamed_tools() -> None:
    """Renames come from `mount(tool_names=...)` and from transforms of a server, a mounted server or a provider."""
    mcp = covered()
    mcp.mount(shop(), namespace="shop", tool_names={"search": "find"})
    assert {"shop_find"} == fallbacks(mcp, "shop_fetch")
    mcp = extended(covered((shop(), "shop")), ToolTransform({"shop_search": ToolTransformConfig(name="look")}))
    assert {"look"} == fallbacks(mcp, "shop_fetch")
    child = extended(shop(), Namespace("inner"))
    assert {"outer_inner_search"} == fallbacks(covered((child, "outer")), "outer_inner_fetch")
    local = extended(
        LocalProvider(),
        FastMCPTool.from_function(fetch, name="fetch"),
        FastMCPTool.from_function(search, name="search"),
        ToolTransform({"search": ToolTransformConfig(name="find")}),
    )
    mcp = covered()
    mcp.add_provider(local, namespace="local")
    assert {"local_find"} == fallbacks(mcp, "local_fetch")


def test_external_tools_are_not_renamed(caplog: pytest.LogCaptureFixture) -> None:
    """This holds even if a sibling tool has that name."""
    mcp = covered((shop(fetch, search, misspelt), "shop"), external_tools=["search", "serch"], strict=True)
    assert {"search"} == fallbacks(mcp, "shop_fetch")
    assert {"serch"} == fallbacks(mcp, "shop_get")
    assert [] == warnings(caplog)


def test_an_unknown_fallback_tool_is_sent_as_declared(caplog: pytest.LogCaptureFixture) -> None:
    """The warning has the client's name of the tool and the right name of the fallback."""
    assert {"serch"} == fallbacks(covered((shop(misspelt, search), "shop")), "shop_get")
    (text,) = warnings(caplog)
    assert text.startswith("unknown fallback tool 'serch': the failure 'no_item' of the tool 'shop_get' names it")
    assert "the server 'all' has no such tool; did you mean 'shop_search'?" in text
    assert "ContractMiddleware(external_tools=[...])" in text


@pytest.mark.anyio
async def test_resources_and_prompts_of_a_mounted_server() -> None:
    """Names are replaced in the protocol error and in the lists."""
    child = extended(shop(search), item_at, all_items, describe)

    async with SDKClient(covered((child, "shop"))._mcp_server) as client:
        for request in (
            lambda: client.read_resource("items://shop/1"),
            lambda: client.read_resource("items://shop/all"),
            lambda: client.get_prompt("shop_describe"),
        ):
            error = await settled(request())
            assert "shop_search" == error.error.data["error"]["data"]["recovery"]["fallbackTool"]
        for listed in (
            (await client.list_resources()).resources,
            (await client.list_resource_templates()).resource_templates,
            (await client.list_prompts()).prompts,
        ):
            (component,) = listed
            assert "shop_search" == (component.meta or {})[CONTRACT_META_KEY][0]["fallbackTool"]


def test_a_mounted_server_with_its_own_middleware_renames_like_the_parent() -> None:
    """It answers and records for its tools, and sends the names that the client knows."""
    child = extended(FastMCP[Any]("shop"), ContractMiddleware(), fetch, search)
    assert {"shop_search"} == fallbacks(covered((child, "shop")), "shop_fetch")


def test_a_middleware_on_only_the_mounted_server_knows_only_its_own_names() -> None:
    """It cannot know where it is mounted, as the docs say."""
    child = extended(shop(), ContractMiddleware())
    parent: FastMCP[Any] = FastMCP("all")
    parent.mount(child, namespace="shop")
    assert {"search"} == fallbacks(parent, "shop_fetch")


def test_fallback_tools_of_a_proxied_server_are_renamed(caplog: pytest.LogCaptureFixture) -> None:
    """Its envelope is passed on with this server's names, and its contracts are not checked here."""
    mcp = covered(strict=True)
    mcp.mount(create_proxy(Server("shop", tools=[fetch, search, misspelt])), namespace="shop")
    assert {"shop_search"} == fallbacks(mcp, "shop_fetch")
    assert {"serch"} == fallbacks(mcp, "shop_get")
    assert not [text for text in warnings(caplog) if "'all'" in text]


@pytest.mark.anyio
@pytest.mark.parametrize(
    "uri_or_name", ["items://shop/1", "items://shop/all", "shop_describe"], ids=["template", "resource", "prompt"]
)
async def test_resources_and_prompts_of_a_proxied_server_are_renamed_too(uri_or_name: str) -> None:
    """This includes the first failure, before a client has listed anything."""
    mcp = covered()
    shop = Server("shop", tools=[search], resources=[item_at, all_items], prompts=[describe])
    mcp.mount(create_proxy(shop), namespace="shop")
    async with Client(mcp) as client:
        is_uri = "://" in uri_or_name
        error = await settled(client.read_resource(uri_or_name) if is_uri else client.get_prompt(uri_or_name))
        assert "shop_search" == error.error.data["error"]["data"]["recovery"]["fallbackTool"]


@pytest.mark.anyio
async def test_a_proxied_server_that_hangs_delays_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the first message waits for its tools, and other tools' names are always known."""
    lists = 0

    class Hangs(Middleware):
        async def on_list_tools(self, context: Any, call_next: Any) -> Any:
            nonlocal lists
            lists += 1
            await anyio.sleep_forever()

    @tool(errors=[NO_ITEM, FailureMode("sold", ErrorCode.NOT_FOUND, when="w", recovery="r", fallback_tool="far_get")])
    def buy(ctx: Context[Literal["no_item", "sold"]]) -> str:
        raise ctx.fail("no_item")

    monkeypatch.setattr("mcpcore.integrations.fastmcp.fallbacks.PROXY_SECONDS", 0.05)
    mcp = covered((shop(buy, search), "shop"), (create_proxy(FastMCP("far", middleware=[Hangs()])), "far"))
    async with Client(mcp) as client:
        results = [(await client.call_tool_mcp("shop_buy", {})).structured_content for _ in range(4)]
        assert ["shop_search"] * 4 == [
            result["error"]["data"]["recovery"]["fallbackTool"] for result in results if result
        ]
    assert 1 == lists


@pytest.mark.anyio
async def test_external_tools_are_not_searched_for() -> None:
    """A failure does not list the tools again to find a tool of another server."""
    lists = 0

    class Counting(Transform):
        async def list_tools(self, tools: Any) -> Any:
            nonlocal lists
            lists += 1
            return tools

    mcp = extended(covered((shop(fetch), "shop"), external_tools=["search"]), Counting())

    async with Client(mcp) as client:
        await client.call_tool_mcp("shop_fetch", {})
        before = lists
        await client.call_tool_mcp("shop_fetch", {})
        assert before == lists


def test_a_failure_that_a_handler_passes_on_keeps_the_other_servers_names() -> None:
    """Its fallback tool belongs to that server, even if this one has a tool with the same name."""
    other = Server("other", tools=[fetch, search])
    child = shop(search)

    @child.tool
    async def relay() -> Any:
        async with SDKClient(other) as client:
            result = await client.call_tool("fetch")
        from fastmcp.tools.base import ToolResult

        return ToolResult.from_mcp_result(result)

    assert (
        "search"
        == ask(
            Client(covered((child, "shop"))), lambda client: client.call_tool_mcp("shop_relay", {})
        ).structured_content["error"]["data"]["recovery"]["fallbackTool"]
    )


@pytest.mark.anyio
async def test_tools_added_later_are_found() -> None:
    """The fallback tool or the tool with the contract is registered after the first message."""
    child = shop(fetch)
    async with Client(covered((child, "shop"))) as client:
        seen = []
        for added in (None, search):
            if added is not None:
                child.add_tool(added)
            result: Any = await client.call_tool_mcp("shop_fetch", {})
            seen.append(result.structured_content["error"]["data"]["recovery"]["fallbackTool"])
        assert ["search", "shop_search"] == seen


def test_a_failed_item_of_a_batch_has_the_clients_name() -> None:
    """The item is written during the call."""

    (failed,) = ask(
        Client(covered((shop(fetch_all, search), "shop"))), lambda client: client.call_tool_mcp("shop_fetch_all", {})
    ).structured_content["failed"]
    assert "shop_search" == failed["error"]["data"]["recovery"]["fallbackTool"]


class ByClient(Transform):
    """Names one tool after the client that asks, as a server with many tenants may."""

    def name(self) -> str:
        params = get_context().session.client_params
        return "search" if params is None else f"{params.client_info.name}_search"

    async def list_tools(self, tools: Any) -> Any:
        return [tool.model_copy(update={"name": self.name()}) if tool.name == "search" else tool for tool in tools]

    async def get_tool(self, name: str, call_next: Any, *, version: Any = None) -> Any:
        tool = await call_next("search" if name == self.name() else name, version=version)
        return tool and (await self.list_tools([tool]))[0]


@pytest.mark.anyio
async def test_no_client_reads_the_names_of_another() -> None:
    """A transform of the server's own may answer each client differently: in failures, in items of batches, in lists."""
    mcp = extended(shop(fetch, search, fetch_all), ContractMiddleware(), ByClient())

    async with AsyncExitStack() as stack:
        clients = {
            name: await stack.enter_async_context(Client(mcp, client_info=Implementation(name=name, version="1")))
            for name in ("a", "b")
        }
        for name, client in [*clients.items()] * 2:
            failed = Envelope.from_result(await client.call_tool_mcp("fetch", {}))
            items: Any = (await client.call_tool_mcp("fetch_all", {})).structured_content
            listed = {tool.name: tool.meta for tool in await client.list_tools()}
            assert failed is not None
            assert [f"{name}_search"] * 3 == [
                failed.fallback_tool,
                items["failed"][0]["error"]["data"]["recovery"]["fallbackTool"],
                listed["fetch"][CONTRACT_META_KEY][0]["fallbackTool"],  # type: ignore[index]
            ]


@pytest.mark.anyio
async def test_names_are_found_again_only_when_parts_of_the_server_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls of a server with mounts list no tools; a mount that is added later has its names in the next failure."""
    lists = 0
    list_tools = LocalProvider._list_tools

    async def counted(self: Any) -> Any:
        nonlocal lists
        lists += 1
        return await list_tools(self)

    monkeypatch.setattr(LocalProvider, "_list_tools", counted)
    mcp = covered((shop(), "shop"))

    async def fallback(client: Client[Any], name: str) -> str | None:
        return envelope_of(await client.call_tool_mcp(name, {})).fallback_tool

    async with Client(mcp) as client:
        assert "shop_search" == await fallback(client, "shop_fetch")
        before = lists
        assert "shop_search" == await fallback(client, "shop_fetch")
        assert before == lists
        mcp.mount(shop(), namespace="later")
        assert "later_search" == await fallback(client, "later_fetch")


# --- checked ----------------------------------------------------------------------------------------------------------


def test_a_wrong_entry_is_a_warning_once(caplog: pytest.LogCaptureFixture) -> None:
    """One warning serves all clients."""
    start(extended(shop(misspelt, search), ContractMiddleware()), times=3)
    assert 1 == len(warnings(caplog))


def test_tools_registered_by_lifespans_are_known(caplog: pytest.LogCaptureFixture) -> None:
    """The lifespans belong to the server and to mounted servers."""

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[dict[str, Any]]:
        app.add_tool(search)
        yield {}

    start(covered((extended(FastMCP("shop", lifespan=lifespan), fetch), "shop"), strict=True))
    assert [] == warnings(caplog)


def test_tools_hidden_from_some_sessions_are_known(caplog: pytest.LogCaptureFixture) -> None:
    """Visibility and auth differ by session, so the check uses all registered tools."""
    child = shop(fetch)
    child.tool(lambda: "", name="search", tags={"hidden"})
    child.disable(tags={"hidden"})
    guarded = extended(FastMCP("guarded"), fetch)
    guarded.tool(lambda: "", name="search", auth=lambda _: False)
    start(covered((child, "shop"), (guarded, "guarded"), strict=True))
    assert [] == warnings(caplog)


def test_tools_added_by_middleware_and_transforms_are_known(caplog: pytest.LogCaptureFixture) -> None:
    """A callable tool need not be registered, and may be hidden behind a search."""
    modes = [
        FailureMode("a", ErrorCode.NOT_FOUND, when="A.", recovery="B.", fallback_tool="injected"),
        FailureMode("b", ErrorCode.NOT_FOUND, when="A.", recovery="B.", fallback_tool="list_resources"),
        FailureMode("c", ErrorCode.NOT_FOUND, when="A.", recovery="B.", fallback_tool="search_tools"),
    ]
    mcp = extended(covered(strict=True), fetch, search, tool(errors=modes, name="other")(lambda: ""))
    mcp.resource("notes://plain")(lambda: "")
    extended(
        mcp,
        ToolInjectionMiddleware([FastMCPTool.from_function(lambda: "", name="injected")]),
        ResourcesAsTools(mcp),
        RegexSearchTransform(),
    )
    start(mcp)
    assert [] == warnings(caplog)


def test_tools_of_a_proxied_server_are_known(caplog: pytest.LogCaptureFixture) -> None:
    """They are listed if a contract of this server names a tool that is missing here."""
    mode = FailureMode("no", ErrorCode.NOT_FOUND, when="No.", recovery="No.", fallback_tool="shop_search")
    mcp = extended(covered(strict=True), tool(errors=[mode], name="get")(lambda: ""))
    mcp.mount(create_proxy(Server("shop", tools=[search])), namespace="shop")
    start(mcp)
    assert [] == warnings(caplog)


def test_an_unlistable_provider_prevents_warnings(caplog: pytest.LogCaptureFixture) -> None:
    """The missing tool may be one of its tools."""

    class Down(Provider):
        async def _list_tools(self) -> Any:
            raise ConnectionError("down")

    start(extended(covered(strict=True), misspelt, Down()))
    assert [] == warnings(caplog)
    assert "'all' could not list all of its tools; its fallback tools were not checked" in caplog.text


def test_broken_transforms_and_providers_do_not_prevent_answers() -> None:
    """One raises for every tool, one skips the base class, and one lists tools that it cannot find."""

    class Broken(Transform):
        async def get_tool(self, name: str, call_next: Any, *, version: Any = None) -> Any:
            if name == "look":
                raise LookupError(name)
            return await call_next(name, version=version)

        async def list_tools(self, tools: Any) -> Any:
            return [tool.model_copy(update={"name": "look"}) for tool in tools]

    class Bare(Provider):
        def __init__(self) -> None:
            pass

    mcp = extended(covered((shop(), "shop")), Bare(), Broken())

    assert (
        "fallbackTool"
        in ask(Client(mcp), lambda client: client.call_tool_mcp("shop_fetch", {})).structured_content["error"]["data"][
            "recovery"
        ]
    )


def test_nested_providers() -> None:
    """An aggregate of providers is not a server."""
    local = extended(
        LocalProvider(),
        FastMCPTool.from_function(fetch, name="fetch"),
        FastMCPTool.from_function(search, name="search"),
    )
    inner = AggregateProvider()
    inner.add_provider(local, namespace="local")
    mcp = covered()
    mcp.add_provider(AggregateProvider([inner]), namespace="all")
    assert {"all_local_search"} == fallbacks(mcp, "all_local_fetch")


def test_a_tool_removed_by_a_transform_is_unknown(caplog: pytest.LogCaptureFixture) -> None:
    """Clients cannot call it."""

    class Without(Transform):
        async def list_tools(self, tools: Any) -> Any:
            return [tool for tool in tools if tool.name != "search"]

        async def get_tool(self, name: str, call_next: Any, *, version: Any = None) -> Any:
            return None if name == "search" else await call_next(name, version=version)

    assert {"search"} == fallbacks(extended(shop(), ContractMiddleware(), Without()), "fetch")
    assert 1 == len(warnings(caplog))


def test_a_transform_that_shows_one_tool_renames_none(caplog: pytest.LogCaptureFixture) -> None:
    """It replaces the whole list, but clients still call the tools by their names."""

    class Single(Transform):
        async def list_tools(self, tools: Any) -> Any:
            return [FastMCPTool.from_function(lambda: "", name="do")]

        async def get_tool(self, name: str, call_next: Any, *, version: Any = None) -> Any:
            return (await self.list_tools([]))[0] if name == "do" else await call_next(name, version=version)

    mcp = extended(covered((shop(), "shop"), strict=True), Single())

    assert (
        "shop_search"
        == ask(Client(mcp), lambda client: client.call_tool_mcp("shop_fetch", {})).structured_content["error"]["data"][
            "recovery"
        ]["fallbackTool"]
    )
    assert [] == warnings(caplog)


@pytest.mark.anyio
@pytest.mark.parametrize("contract", ["no list", [3, {"reason": 3}, {"fallbackTool": "x"}, {"reason": "a"}]], ids=repr)
async def test_foreign_metadata_is_passed_on(contract: Any) -> None:
    """The `_meta` of a proxied server may contain anything."""
    forged = MCPServer("forged")
    entry = {"reason": "no_item", "fallbackTool": "search"}
    forged.add_tool(lambda: "", name="fetch", meta={CONTRACT_META_KEY: contract})
    forged.add_tool(lambda: "", name="get", meta={CONTRACT_META_KEY: [*contract, entry]})
    forged.add_tool(lambda: "", name="search")
    mcp = covered()
    mcp.mount(create_proxy(forged), namespace="shop")

    async with Client(mcp) as client:
        listed = {tool.name: (tool.meta or {}).get(CONTRACT_META_KEY) for tool in await client.list_tools()}
    assert contract == listed["shop_fetch"]
    assert [*contract, {**entry, "fallbackTool": "shop_search"}] == listed["shop_get"]


@pytest.mark.anyio
@pytest.mark.parametrize(
    "contract",
    [["x", 3, {}, {"reason": "no_item", "name": "NOT_FOUND", "recovery": "r"}], [{"reason": []}], []],
    ids=["mixed", "no text", "empty"],
)
async def test_descriptions_leave_out_entries_of_other_servers_without_text(contract: list[Any]) -> None:
    """An entry of a later version must not break the list of tools."""
    whole = {"reason": "gone", "name": "NOT_FOUND", "when": "It is gone.", "recovery": "Search."}
    forged = MCPServer("forged")
    forged.add_tool(lambda: "", name="get", description="Get.", meta={CONTRACT_META_KEY: contract})
    forged.add_tool(lambda: "", name="find", description="Find.", meta={CONTRACT_META_KEY: [*contract, whole]})
    forged.add_tool(
        lambda: "",
        name="pay",
        description="Pay.",
        meta={CONTRACT_META_KEY: [{**whole, "effects": "none", "retry": {"kind": "later"}}]},
    )
    mcp = covered(describe_failures=True)
    mcp.mount(create_proxy(forged))

    async with Client(mcp) as client:
        listed = {tool.name: tool.description for tool in await client.list_tools()}
    assert "Get." == listed["get"]
    assert "Pay.\n\nFails with:\n- gone (NOT_FOUND): It is gone. Search. (nothing was changed)" == listed["pay"]
    assert "Find.\n\nFails with:\n- gone (NOT_FOUND): It is gone. Search." == listed["find"]


@pytest.mark.anyio
@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {}}, "anyOf": [{"required": ["a"]}, True]},
        {"type": "object", "properties": {"error": {}}, "anyOf": [{"properties": 3}, {"required": ["error"]}]},
        {"type": "object", "properties": ["a"]},
    ],
    ids=["a boolean branch", "properties of a branch", "properties"],
)
@pytest.mark.parametrize("advertise_errors", [True, False])
async def test_output_schemas_of_other_servers_may_hold_anything(
    schema: dict[str, Any], advertise_errors: bool
) -> None:
    """A schema may even contain a boolean branch, and none may break the list of tools."""
    tool = FastMCPTool.from_function(lambda: {"a": 1}, name="get").model_copy(update={"output_schema": schema})
    async with Client(extended(covered(advertise_errors=advertise_errors), tool)) as client:
        (listed,) = [tool.output_schema for tool in await client.list_tools()]
    assert listed is not None
    assert schema == listed


def test_an_invalid_provider_does_not_break_calls() -> None:
    """FastMCP cannot list it, either."""

    class Nonsense(Provider):
        async def _list_tools(self) -> Any:
            return [object()]

    mcp = extended(covered((shop(), "shop")), Nonsense())

    assert (
        "search"
        == ask(Client(mcp), lambda client: client.call_tool_mcp("shop_fetch", {})).structured_content["error"]["data"][
            "recovery"
        ]["fallbackTool"]
    )


@pytest.mark.usefixtures("only_warnings")
@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_strict_server_refuses_every_message(mode: Any, caplog: pytest.LogCaptureFixture) -> None:
    """The error is recorded and logged once. Only discovery is answered, since its errors are not shown."""
    contracts = ContractMiddleware(strict=True)
    mcp = extended(shop(misspelt, search), contracts)
    texts: list[str] = []

    for _ in range(2):
        try:
            async with SDKClient(mcp._mcp_server, mode=mode) as client:
                await client.call_tool("search")
        except* MCPError as group:
            texts.extend(str(exc) for exc in leaves(group))
    assert 2 == len(texts)
    assert all("unknown fallback tool 'serch'" in text and "did you mean 'search'?" in text for text in texts)
    assert 1 == caplog.text.count("the server 'shop' cannot start: unknown fallback tool")
    assert isinstance(contracts.startup_failure(mcp), ContractError)


@pytest.mark.anyio
async def test_a_strict_server_refuses_a_call_without_a_handshake() -> None:
    """A stateless client may begin with a call."""
    mcp = extended(shop(misspelt, search), ContractMiddleware(strict=True))

    async with SDKClient(mcp._mcp_server, mode="2026-07-28") as client:
        for request in (lambda: client.call_tool("search"), client.list_tools, client.list_prompts):
            with pytest.raises(MCPError, match="unknown fallback tool") as caught:
                await request()
            envelope = Envelope.from_json(caught.value.error.data["error"])
            assert ("INITIALIZATION_FAILED", "server_not_started") == (envelope.name, envelope.reason)
        mcp.add_tool(tool(name="serch")(lambda: ""))
        assert not (await client.call_tool("search")).is_error


@pytest.mark.anyio
async def test_a_tool_registered_at_run_time_is_found_in_the_next_list(caplog: pytest.LogCaptureFixture) -> None:
    """FastMCP does not notify middleware of registrations."""
    mcp = extended(shop(), ContractMiddleware())

    async with Client(mcp) as client:
        await client.list_tools()
        assert [] == warnings(caplog)
        mcp.add_tool(misspelt)
        await client.list_tools()
        await client.list_tools()
    assert 1 == len(warnings(caplog))


@pytest.mark.anyio
async def test_code_on_the_server_does_not_start_it(caplog: pytest.LogCaptureFixture) -> None:
    """Its lifespan has not run, so tools may be missing, but names are still renamed."""
    mcp = covered((shop(misspelt, fetch, search), "shop"), strict=True)
    await mcp.list_tools()
    with pytest.raises(ContractFailure) as raised:
        await mcp.call_tool("shop_fetch", {})
    assert "shop_search" == raised.value.envelope.recovery["fallbackTool"]
    assert [] == warnings(caplog)


@pytest.mark.anyio
async def test_a_handler_that_calls_a_tool_reads_its_servers_names() -> None:
    """This holds for nested calls from contract tools and plain tools."""
    mcp = covered((shop(), "shop"))
    texts: list[str] = []

    async def ask() -> str:
        await mcp.call_tool("shop_fetch", {})
        return "never"

    @mcp.tool
    @tool
    async def declared(ctx: Context) -> str:
        return await ask()

    @mcp.tool
    async def plain() -> str:
        return await ask()

    async with Client(mcp) as client:
        for name in ("declared", "plain"):
            texts.append((await client.call_tool_mcp(name, {})).content[0].text)  # type: ignore[union-attr]  # noqa: PERF401
    assert 2 == len(texts)
    assert all("try shop_search" in text for text in texts)


def test_a_plain_string_is_refused() -> None:
    """A `Server` refuses it, too."""
    with pytest.raises(TypeError, match=r"^ContractMiddleware\(external_tools=...\) takes a list of names"):
        ContractMiddleware(external_tools="search")


@pytest.mark.anyio
async def test_middleware_that_hides_a_list_does_not_stop_the_check(caplog: pytest.LogCaptureFixture) -> None:
    """A failed list has no names, and the wrong entry is reported."""

    class NoList(Middleware):
        async def on_list_tools(self, context: Any, call_next: Any) -> Any:
            raise LookupError("no list")

    async with Client(extended(shop(misspelt), ContractMiddleware(), NoList())):
        pass
    assert 1 == len(warnings(caplog))


def leaves(group: BaseException) -> list[BaseException]:
    """Return the exceptions in a group."""
    return (
        [leaf for inner in group.exceptions for leaf in leaves(inner)]
        if isinstance(group, BaseExceptionGroup)
        else [group]
    )


LEFT = FailureMode(
    "left",
    ErrorCode.NOT_FOUND,
    when="It left.",
    recovery="Call list_pots, then `find` (not relist_pots or list_pots/all), and refine what you find. See list_pots.",
    fallback_tool="list_pots",
    actions=("Call list_pots.",),
)


@pytest.mark.anyio
@pytest.mark.parametrize("depth", [1, 2])
async def test_the_words_of_a_hint_that_name_a_tool_are_renamed_with_it(depth: int) -> None:
    """This holds for failures, contracts and descriptions, at any depth; ordinary and longer words stay."""

    @tool(errors=[LEFT])
    def get_pot(ctx: Context[Literal["left"]]) -> str:
        raise ctx.fail("left")

    @resource("pots://all", errors=[LEFT])
    def all_pots(ctx: Context[Literal["left"]]) -> str:
        raise ctx.fail("left")

    mcp = extended(FastMCP("pots", tools=[get_pot]), all_pots)
    for name in ("list_pots", "find"):
        mcp.tool(lambda: "", name=name)
    for _ in range(depth):
        child, mcp = mcp, FastMCP("above")
        mcp.mount(child, namespace="pots")
    mcp.add_middleware(ContractMiddleware(describe_failures=True))
    prefix = "pots_" * depth
    hint = (
        f"Call {prefix}list_pots, then `{prefix}find` (not relist_pots or list_pots/all), and refine what you find. "
        f"See {prefix}list_pots."
    )

    async with Client(mcp) as client:
        failure = Envelope.from_result(await client.call_tool_mcp(f"{prefix}get_pot", {}))
        refused = await settled(client.read_resource("pots://" + "pots/" * depth + "all"))
        for envelope in (failure, Envelope.from_result(refused)):
            assert envelope is not None
            assert (hint, f"{prefix}list_pots") == (envelope.hint, envelope.fallback_tool)
            assert (f"Call {prefix}list_pots.",) == envelope.actions
        listed = {definition.name: definition for definition in await client.list_tools()}[f"{prefix}get_pot"]
        (entry,) = listed.meta[CONTRACT_META_KEY]  # type: ignore[index]
        assert (hint, f"{prefix}list_pots") == (entry["recovery"], entry["fallbackTool"])
        assert hint in str(listed.description)
