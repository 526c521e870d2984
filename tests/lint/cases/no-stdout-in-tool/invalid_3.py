# message: print() in step writes to standard output, which over stdio carries the protocol (tools: fetch, read, show)
from mcp.server.fastmcp import FastMCP

mcp = FastMCP("x")

def step(text):
    print(text)  # here

def load(a):
    step(a)
    return a

@mcp.tool()
def fetch(a: str) -> str:
    step(a)
    return load(a)

@mcp.tool()
def show(a: str) -> str:
    return load(a)

@mcp.resource("x://{a}")
def read(a: str) -> str:
    def inner():
        print("inner")  # here
    inner()
    return load(a)
