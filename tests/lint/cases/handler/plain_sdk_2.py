"""A server of version 2 of the SDK, which hides the text of anything but its own errors."""

import logging

import httpx
from mcp import MCPError
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ToolError

server = MCPServer("articles")
log = logging.getLogger(__name__)


@server.tool()
async def search(query: str) -> str:
    if not query:
        raise ValueError("query is empty")  # expect: prefer-mcp-error-in-handler
    if len(query) > 100:
        raise Exception("query is too long")  # expect: prefer-mcp-error-in-handler
    try:
        async with httpx.AsyncClient() as client:
            response = await client.get("https://example.org", params={"q": query})
            response.raise_for_status()
    except httpx.TimeoutException:
        raise ToolError("the index is slow: try again in a minute")
    except httpx.HTTPStatusError as e:
        raise ToolError(f"the index said {e.response.text}") from e  # expect: no-stringify-upstream-error
    except httpx.HTTPError as e:
        raise RuntimeError(f"the index failed: {e}") from e  # expect: prefer-mcp-error-in-handler
    return response.text


@server.tool()
def fetch(pmid: str) -> str:
    if not pmid.isdigit():
        raise MCPError(code=-32602, message="a PMID is a number")  # expect: no-protocol-error-in-tool
    raise ToolError("no such article: call search first")


@server.resource("articles://{pmid}")
def article(pmid: str) -> str:
    if not pmid.isdigit():
        raise ResourceError("a PMID is a number")
    raise KeyError(pmid)  # expect: prefer-mcp-error-in-handler
