# message: the contract of one is empty
from mcpcore import Contract, Server, prompt, resource, tool

server = Server("x")
NONE = []

@tool(errors=[])  # here
def one() -> str: ...

@tool(errors=())  # here
def two() -> str: ...

@tool(errors=NONE)  # here
def three() -> str: ...

@tool(errors=[*NONE])  # here
def four() -> str: ...

@server.tool(title="Five", errors=NONE + [])  # here
def five() -> str: ...

@tool(errors=Contract([]))  # here
def six() -> str: ...

@tool(errors=list())  # here
def seven() -> str: ...

@resource("a://b", errors=[])  # here
def eight() -> str: ...

@prompt(errors=[])  # here
def nine() -> str: ...
