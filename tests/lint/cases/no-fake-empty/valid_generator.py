from fastmcp import FastMCP

mcp = FastMCP("x")

@mcp.tool
async def stream(prompt: str):
    """Stream an answer."""
    try:
        provider = await connect()
    except Exception as error:
        yield {"error": str(error)}
        return
    async for part in provider.run(prompt):
        yield part
