import builtins
import contextlib
import functools
import io
import sys
from fastmcp import FastMCP

mcp = FastMCP("x")
shown = functools.partial(print, file=sys.stderr)

class Quiet:
    def __enter__(self):
        self.kept = sys.stdout
        sys.stdout = io.StringIO()

    def __exit__(self, *raised):
        sys.stdout = self.kept

@contextlib.contextmanager
def hushed():
    with contextlib.redirect_stdout(io.StringIO()):
        yield

@contextlib.contextmanager
def silent():
    kept, sys.stdout = sys.stdout, io.StringIO()
    yield
    sys.stdout = kept

@mcp.tool
def fetch(a: str) -> str:
    print = functools.partial(builtins.print, file=sys.stderr)
    print(a)
    shown(a)
    return a

@mcp.tool
def show(a: str) -> str:
    with Quiet():
        print(a)
    with hushed():
        print(a)
    with silent():
        print(a)
    return a
