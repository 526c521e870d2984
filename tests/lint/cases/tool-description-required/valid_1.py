from elsewhere import TEXT, documented
from fastmcp import FastMCP
from mcp.server.mcpserver import MCPServer
from mcpcore import prompt, resource, tool

mcp = FastMCP("x")
sdk = MCPServer("x")

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
