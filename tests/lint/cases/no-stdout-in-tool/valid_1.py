import contextlib
import io
import logging
import subprocess
import sys
import traceback
import warnings
from rich.console import Console
from fastmcp import FastMCP

mcp = FastMCP("x")
console = Console(stderr=True)

@mcp.tool
def fetch(a: str, out: io.StringIO, **options: str) -> str:
    print(a, file=sys.stderr)
    print(a, file=out)
    print(a, **options)
    warnings.warn(a)
    sys.stderr.write(a)
    traceback.print_exc()
    logging.basicConfig(stream=sys.stderr)
    console.print(a)
    Console(file=out).print(a)
    with contextlib.redirect_stdout(out):
        print(a)
        shown(a)
    subprocess.run(["ls"], capture_output=True)
    subprocess.run(["ls"], stdout=subprocess.DEVNULL)
    subprocess.run(["ls"], **options)
    subprocess.check_output(["ls"])
    if sys.stdout.isatty() or hasattr(sys.stdout, "name"):
        sys.stdout.flush()
    return quiet(a)

def shown(a):
    print(a)

def quiet(a):
    kept = sys.stdout
    sys.stdout = io.StringIO()
    try:
        print(a)
        return shown(a)
    finally:
        sys.stdout = kept

def main():
    print("not a tool")

if __name__ == "__main__":
    print("starting")
    main()
    mcp.run()
