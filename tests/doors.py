"""The two doors of the wire tests: an mcpcore `Server`, and a FastMCP server with the same tools."""

from __future__ import annotations

import inspect
from typing import Any

DOORS = ("server", "fastmcp")


def behind(door: str, server: Any) -> Any:
    """Return `server`, or for "fastmcp" its FastMCP counterpart; tests of servers in other processes call this."""
    return on_fastmcp(server) if door == "fastmcp" else server


def on_fastmcp(server: Any) -> Any:
    """Return a FastMCP server with the tools, options, resources and prompts of a `Server`."""
    from fastmcp import FastMCP
    from fastmcp.prompts import Prompt
    from fastmcp.resources import Resource, ResourceTemplate, TextResource
    from fastmcp.tools import Tool

    from mcpcore.declare.decorators import as_tool
    from mcpcore.integrations.fastmcp import ContractMiddleware

    boundary, limits = server._boundary, server._calls._limits
    contracts = ContractMiddleware(
        audit=boundary.trail,
        advertise_errors=server._listing.advertise_errors,
        describe_failures=server._listing.describe_failures,
        expose_internal_errors=boundary.mapper.expose,
        strict=boundary.strictness.on,
        unknown_tool=server._calls._unknown_tool,
        dialect=boundary.dialect.name,
        tool_failure_meta=boundary.writes_tool_failure,
        limits=boundary.mapper.limits,
        bind=server._fields,
        repeat_notice=boundary.repeats.is_on,
        timeout=None if limits is None else limits.timeout,
        max_concurrency=None if limits is None else limits.max_concurrency,
    )
    watched = server.settings.lifespan
    # A `Server` wraps the author's lifespan in one that records its failures.
    own = {} if watched is None else {"lifespan": inspect.getclosurevars(watched).nonlocals["lifespan"]}
    mcp = FastMCP(server.name, lifespan=contracts.watch_lifespan(**own))
    mcp.add_middleware(contracts)
    for registered in server._tool_manager.list_tools():
        tool = as_tool(getattr(registered, "tool", None))
        if tool is not None:
            mcp.add_tool(tool)
        else:
            described = {
                "name": registered.name,
                "description": registered.description,
                "annotations": registered.annotations,
            }
            mcp.add_tool(Tool.from_function(without_context(registered), **described))
    for resource in server._resource_manager.list_resources():
        declared = getattr(resource, "_declared", None)
        named = {"uri": str(resource.uri), "name": resource.name}
        if declared is not None:
            mcp.add_resource(declared)
        elif hasattr(resource, "text"):
            mcp.add_resource(TextResource(**named, text=resource.text))
        else:
            mcp.add_resource(Resource.from_function(resource.fn, **named))
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
            # A `Server` wraps the function of an SDK prompt in a partial that watches its results.
            (fn,) = prompt.fn.args
            mcp.add_prompt(Prompt.from_function(inspect.unwrap(fn), name=prompt.name))
    completion = server._lowlevel_server.get_request_handler("completion/complete")
    if completion is not None:
        mcp.add_completion_handler(completion.handler.keywords["complete"])
    return mcp


def without_context(registered: Any) -> Any:
    """Return the function of an SDK tool without the SDK's context, which only an SDK server can pass."""
    if registered.context_kwarg is None:
        return registered.fn
    signature = inspect.signature(registered.fn)
    kept = [parameter for name, parameter in signature.parameters.items() if name != registered.context_kwarg]

    def fn(**arguments: Any) -> Any:
        return registered.fn(**{registered.context_kwarg: None}, **arguments)

    fn.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
    fn.__annotations__ = {parameter.name: parameter.annotation for parameter in kept}
    return fn
