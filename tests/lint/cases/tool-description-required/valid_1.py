from elsewhere import TEXT, documented
from fastmcp import FastMCP
from mcp.server.mcpserver import MCPServer
from mcp.server.lowlevel import Server as Low
from mcp.types import Tool as Listed
from mcpcore import prompt, resource, tool

mcp = FastMCP("x")
sdk = MCPServer("x")
low = Low("x")

@tool
def one() -> str:
    """Say one."""

@tool(description="Say two.")
def two() -> str: ...

@mcp.tool(description=TEXT)
def three() -> str: ...

@sdk.tool("four", "Four", "Say four.")
def four() -> str: ...

@tool(**TEXT)
def five() -> str: ...

def six() -> str:
    """Say six."""

sdk.add_tool(six)
mcp.tool(lambda x: x, description="Say x.")

class Seven:
    """Say seven."""

    def __call__(self, x: int) -> str: ...

sdk.add_tool(Seven(), name="seven")

def eight() -> str: ...

eight.__doc__ = TEXT
sdk.add_tool(eight)

def made() -> object:
    def thirteen() -> str: ...

    return thirteen

for each in TEXTS:
    other = made()
    other.__doc__ = each
    sdk.tool()(other)

@low.call_tool()
async def call(name, arguments): ...

@low.list_tools()
async def list_tools():
    return [
        Listed(name="a", description="Say a.", inputSchema={}),
        Listed(name="b", description=TEXT, inputSchema={}),
        Listed(name="c", inputSchema={}, **TEXT),
        *(Listed(name=each, description=each.text) for each in TEXT),
    ]

@resource("a://b")
def nine() -> str: ...

@prompt
def ten() -> str: ...

@tool
@documented("Say eleven.")
def eleven() -> str: ...

def test_a_tool():
    @mcp.tool
    def twelve() -> str: ...
