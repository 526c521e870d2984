from elsewhere import NAME
from fastmcp import FastMCP
from mcp.server.fastmcp import FastMCP as Old
from mcpcore import Server, prompt, resource, tool

mcp = FastMCP("x")
old = Old("x")

@tool
def search_articles() -> str: ...

@tool(name="Search.articles-v2_0")
def one() -> str: ...

@tool(name=NAME)
def two() -> str: ...

@tool(name=f"get_{NAME}")
def three() -> str: ...

@mcp.tool("a-b")
def four() -> str: ...

@old.tool(title="With spaces", description="A b c")
def five() -> str: ...

@prompt(name="A prompt")
def six() -> str: ...

@resource("a://b c", name="A resource")
def seven() -> str: ...

@tool(name=None)
def eight() -> str: ...

@tool(**NAME)
def nine() -> str: ...

@tool(name="n" * NAME)
def ten() -> str: ...
