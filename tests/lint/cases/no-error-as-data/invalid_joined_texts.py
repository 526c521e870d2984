# message: returns {"error": ...}
import json

from mcp.server.fastmcp import FastMCP

mcp = FastMCP("x")

class Answers:
    def told(self, kind, **fields):
        return json.dumps({"error": kind, **fields})  # here

    def counted(self, kind):
        return json.dumps({"error": kind})

class Host:
    def __init__(self):
        self.answers = Answers()

host = Host()

@mcp.tool()
def describe(name: str):
    """Describe."""
    try:
        return "\n---\n".join([json.dumps(look(name))])
    except Exception as error:
        answer = host.answers.told("not described", name=name)
        return "\n---\n".join([answer])

@mcp.tool()
def count(name: str):
    """Count."""
    answer = host.answers.counted("not counted")
    return SEPARATOR.join([answer])
