# message: no function that takes the name and the arguments is found behind `server.call_tool()`
from mcp.server import Server
from mcp.types import TextContent


def configure(server: Server) -> None:
    @server.call_tool()  # here
    async def core_list_projects(arguments: dict) -> list[TextContent]:
        if not arguments.get("project"):
            return [TextContent(type="text", text="Error: project is required")]
        return [TextContent(type="text", text="none")]


configure(Server("devops"))


other = Server("other")


@other.call_tool()
async def call_tool(name: str, /, arguments: dict) -> list[TextContent]:
    return [TextContent(type="text", text=name)]
