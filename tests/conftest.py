"""What tests of every area share."""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, settings
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult

# On a busy machine any example can be slow. The benches measure speed.
settings.register_profile("mcpcore", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("mcpcore")

Call = Callable[..., CallToolResult]


@pytest.fixture
def anyio_backend() -> str:
    """The loop of tests that are coroutines."""
    return "asyncio"


@pytest.fixture(params=["legacy", "auto"], ids=["handshake", "2026-07-28"])
def era(request: pytest.FixtureRequest) -> str:
    """Both eras of the protocol, as the mode of a client."""
    return str(request.param)


@pytest.fixture
def call() -> Call:
    """Call one tool through the SDK's in-memory client: `call(server, name, arguments, mode=...)`."""

    def called(server: Any, name: str, arguments: dict[str, Any] | None = None, *, mode: str = "auto") -> Any:
        async def run() -> Any:
            async with Client(server, mode=mode) as client:
                try:
                    return await client.call_tool(name, arguments or {})
                except MCPError as error:  # raised outside, or the client's task group wraps it
                    return error

        result = anyio.run(run)
        if isinstance(result, MCPError):
            raise result
        return result

    return called


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that asks for `door` on a `Server` and on FastMCP, and one marked `server_only` on a `Server`."""
    if "door" in metafunc.fixturenames:
        alone = metafunc.definition.get_closest_marker("server_only") is not None
        metafunc.parametrize("door", ["server"] if alone else ["server", "fastmcp"], indirect=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out what FastMCP does itself: it converts the results of plain tools, and so sees no exception in them."""
    items[:] = [item for item in items if not _is_of_fastmcp_alone(getattr(item, "callspec", None))]


def _is_of_fastmcp_alone(callspec: Any) -> bool:
    params = {} if callspec is None else callspec.params
    return params.get("door") == "fastmcp" and str(params.get("kind", "")).startswith("sdk")


@pytest.fixture
def door(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The framework that serves: as "fastmcp", a client of a `Server` talks to FastMCP with the same tools instead.

    A module runs all its tests on both with `pytestmark = pytest.mark.usefixtures("door")`.
    """
    if request.param == "fastmcp":
        twins: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
        connect = Client.__init__

        def connected(client: Client, server: Any, *args: Any, **options: Any) -> None:
            from mcpcore import Server

            if isinstance(server, Server):
                if server not in twins:
                    twins[server] = on_fastmcp(server)
                server = twins[server]._mcp_server
            connect(client, server, *args, **options)

        monkeypatch.setattr(Client, "__init__", connected)
    return str(request.param)


def on_fastmcp(server: Any) -> Any:
    """A FastMCP server with the tools and the options of a `Server`, resources and prompts too."""
    from fastmcp import FastMCP
    from fastmcp.prompts import Prompt
    from fastmcp.resources import Resource, ResourceTemplate
    from fastmcp.tools import Tool

    from mcpcore.integrations.fastmcp import ContractMiddleware
    from mcpcore.tool import as_tool

    boundary = server._boundary
    mcp = FastMCP(server.name, lifespan=server.settings.lifespan)
    mcp.add_middleware(
        ContractMiddleware(
            audit=boundary.trail,
            advertise_errors=server._advertise_errors,
            describe_failures=server._describe_failures,
            expose_internal_errors=boundary.judge.expose,
            unknown_tool=server._unknown_tool,
            dialect=boundary.dialect.name,
            limits=boundary.judge.limits,
            bind=server._fields,
        )
    )
    for registered in server._tool_manager.list_tools():
        tool = as_tool(getattr(registered, "tool", None))
        if tool is not None:
            mcp.add_tool(tool)
        else:
            named = {"name": registered.name, "description": registered.description}
            mcp.add_tool(Tool.from_function(without_context(registered), **named))
    for resource in server._resource_manager.list_resources():
        declared = getattr(resource, "_declared", None)
        mcp.add_resource(declared or Resource.from_function(resource.fn, uri=str(resource.uri), name=resource.name))
    for template in server._resource_manager.list_templates():
        declared = getattr(template, "_declared", None)
        if declared is not None:
            mcp.add_resource(declared)
        else:
            uri = template.uri_template
            mcp.add_template(ResourceTemplate.from_function(template.fn, uri_template=uri, name=template.name))
    for prompt in server._prompt_manager.list_prompts():
        declared = getattr(prompt, "_declared", None)
        if declared is not None:
            mcp.add_prompt(declared)
        else:
            # A `Server` keeps the function of a prompt of the SDK within a partial that watches its results.
            (fn,) = prompt.fn.args
            mcp.add_prompt(Prompt.from_function(inspect.unwrap(fn), name=prompt.name))
    return mcp


def without_context(registered: Any) -> Any:
    """The function of a tool of the SDK's, without the SDK's context, which only the SDK's own server has."""
    if registered.context_kwarg is None:
        return registered.fn
    signature = inspect.signature(registered.fn)
    kept = [parameter for name, parameter in signature.parameters.items() if name != registered.context_kwarg]

    def fn(**arguments: Any) -> Any:
        return registered.fn(**{registered.context_kwarg: None}, **arguments)

    fn.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
    fn.__annotations__ = {parameter.name: parameter.annotation for parameter in kept}
    return fn
