from fastmcp import FastMCP

mcp = FastMCP("x")

def create_response(data=None, error=None, *, quiet=False):
    if error:
        return {"success": False, "error": error}
    return {"success": True, "data": data}

def either(data=None, error=None):
    if error is None and data is not None:
        return {"data": data}
    if error is None:
        return {"data": None}
    return {"error": error, "data": data}

def shown(error=None, message=""):
    return {"error": error, "message": message}

def passed_on(data, error=None):
    return create_response(data, error)

class Tools:
    def respond(self, data, failed: bool = False):
        return {"error": data} if failed else {"data": data}

    def fetch(self, a: str) -> dict:
        return self.respond(a)

tools = Tools()
mcp.tool(tools.fetch)

@mcp.tool
def first(a: str) -> dict:
    return create_response({"a": a})

@mcp.tool
def second(a: str) -> dict:
    return either(a)

@mcp.tool
def third(a: str) -> dict:
    return shown(message=a)

@mcp.tool
def fourth(a: str) -> dict:
    return passed_on(a, error=None)
