# message: print() in find writes to standard output
from mcp.server import Server

def find(arguments):
    print(arguments)  # here
    return {"books": read(arguments["shelf"])}

HANDLERS = {"find": find}

class Library:
    def __init__(self):
        self.server = Server("library")

    def register(self):
        @self.server.call_tool()
        async def call_tool(name: str, arguments: dict):
            if name == "ping":
                def run():
                    return {"pong": True}
            else:
                entry = HANDLERS[name]

                def run():
                    return entry(arguments)

            return await audited(name, run)

async def audited(name, run):
    return run()
