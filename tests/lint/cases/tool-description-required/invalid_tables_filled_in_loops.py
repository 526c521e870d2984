from collections import defaultdict
from fastmcp import FastMCP

mcp = FastMCP("x")

def first(a: str) -> str:  # here
    return a

def second(a: str) -> str:  # here
    return a

def third(a: str) -> str:  # here
    return a

def fourth(a: str) -> str:  # here
    return a

def fifth(a: str) -> str:  # here
    return a

def sixth(a: str) -> str:  # here
    return a

BY_NAME = {}
for function in [first, second]:
    BY_NAME[function.__name__] = function
for name, function in BY_NAME.items():
    mcp.tool(name=name)(function)

GROUPS = {}
for function in [third]:
    GROUPS.setdefault("readers", []).append(function)
LATER = defaultdict(list)
for function in [fourth]:
    LATER["writers"].append(function)
for group in [*GROUPS.values(), *LATER.values()]:
    for function in group:
        mcp.add_tool(function)

UPDATED = {}
UPDATED.update({function.__name__: function for function in (fifth,)})

def build() -> dict:
    tools = {}
    tools.setdefault("sixth", {"run": sixth})
    return tools

def register(server: FastMCP) -> None:
    for function in UPDATED.values():
        server.add_tool(function)
    for entry in build().values():
        server.add_tool(entry["run"])

register(mcp)
