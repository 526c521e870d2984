import io
import sys
from fastmcp import FastMCP

mcp = FastMCP("x")

def dump(a, out=None):
    out = out or sys.stdout
    out.write(a)
    print(a, file=out)

class Printer:
    def __init__(self, stream=None):
        self.stream = stream if stream is not None else sys.stdout

    def show(self, a):
        self.stream.write(a)
        print(a, file=self.stream)

@mcp.tool
def fetch(a: str) -> str:
    out = io.StringIO()
    dump(a, out)
    Printer(out).show(a)
    print(a, exc_info=True)
    return out.getvalue()
