import sys

from fastmcp import FastMCP
from mcpcore import Server, tool

one = FastMCP("one")
two = FastMCP("two")
new = FastMCP("new", on_duplicate_tools="replace")

@one.tool
def fetch() -> str: ...

@two.tool(name="fetch")
def fetch_two() -> str: ...

if sys.platform == "win32":
    @one.tool
    def copy() -> str: ...
else:
    @one.tool
    def copy() -> str: ...

try:
    import fast

    @one.tool
    def search() -> str: ...
except ImportError:
    @one.tool
    def search() -> str: ...

match sys.platform:
    case "linux":
        @one.tool
        def move() -> str: ...
    case _:
        @one.tool
        def move() -> str: ...

@new.tool
def read() -> str: ...

@new.tool(name="read")
def read_again() -> str: ...

@one.tool(version="1")
def write() -> str: ...

@one.tool(name="write", version="2")
def write_two() -> str: ...

@one.tool(name=unknown())
def three() -> str: ...

@one.tool(name=unknown())
def four() -> str: ...

@one.prompt
def fetch_prompt() -> str: ...

@one.resource("a://b", name="fetch")
def five() -> str: ...

@tool
def six() -> str: ...

@tool(name="six")
def seven() -> str: ...

a = Server("a", tools=[six])
b = Server("b", tools=[seven])

def register_some(server: FastMCP):
    @server.tool
    def eight() -> str: ...

def register_others(server: FastMCP):
    @server.tool
    def eight() -> str: ...

app = FastMCP("first")

@app.tool
def nine() -> str: ...

app = FastMCP("second")

@app.tool
def nine() -> str: ...
