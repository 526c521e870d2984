from mcp.server import Server
from mcp.types import TextContent

server = Server("calendar")

@server.call_tool()
async def call_tool(name: str, arguments: dict):
    if name == "list_events":
        result = await request("GET", "/events")
        events = result if isinstance(result, list) else []
        shown = [event["name"] for event in events]
        return [TextContent(type="text", text="\n".join(shown))]
    if name == "coming_events":
        coming = []
        for event in await request("GET", "/events"):
            if event.get("category") == arguments["category"]:
                coming.append(event)
        shown = [f"{event['name']}: {event.get('content', '')}" for event in coming[:10]]
        return [TextContent(type="text", text="\n".join(shown))]
    raise ValueError(name)
