# message: the errors of one is a FailureMode
from mcpcore import Server
from modes import MODE

server = Server("x")

@server.tool(errors=MODE)  # here
def one() -> str: ...

def two() -> str: ...

server.add_tool(two, errors={})  # here
