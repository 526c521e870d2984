from mcp.server.fastmcp import FastMCP

mcp = FastMCP("x")


@mcp.tool()
async def listed(urls: list[str]) -> list[dict]:
    """Fetch."""
    out = []
    for url in urls:
        try:
            out.append({"url": url, "body": await load(url)})
        except Exception as e:
            out.append({"url": url, "error": str(e)})
    return out
