# message: the tool one has no description
from fastmcp import FastMCP
from mcp.server.fastmcp import FastMCP as Old
from mcpcore import Server, tool

mcp = FastMCP("x")
old = Old("x")
server = Server("x")
NOTHING = " "

@tool
def one() -> str: ...  # here

@server.tool(name="two", description="")
async def second() -> str: ...  # here

@mcp.tool
def three() -> str:  # here
    """  """

@old.tool(description=NOTHING)
def four() -> str:  # here
    """Not what is sent."""

def five() -> str:  # here
    "x" + "y"

old.add_tool(five)

@tool(description=None)
def six() -> str: ...  # here

@mcp.tool
def eight(a: str) -> str:  # here
    f"""Say {NOTHING}."""

class Tools:
    @tool
    def seven(self) -> str: ...  # here
