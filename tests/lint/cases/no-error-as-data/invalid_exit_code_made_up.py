# message: run returns {"exit_code": 124}
import json
import subprocess

from fastmcp import FastMCP

mcp = FastMCP("x")

@mcp.tool
def run(command: list[str]) -> str:
    """Run a command."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        return json.dumps({"exit_code": done.returncode, "stdout": done.stdout, "stderr": done.stderr})
    except subprocess.TimeoutExpired:
        return json.dumps({"exit_code": 124, "stdout": "", "stderr": "zu lange"})  # here
    except FileNotFoundError as error:
        return json.dumps({"exit_code": -1, "stdout": "", "stderr": error.filename})  # here

@mcp.tool
def tidy(path: str) -> dict:
    """Look for mistakes in the code of a project."""
    try:
        output = subprocess.check_output(["ruff", "check", path], text=True)
    except subprocess.CalledProcessError as error:
        return {"exit_code": 1, "output": error.output}
    except OSError as error:
        return {"exit_code": 127, "output": str(error)}  # here
    return {"exit_code": 0, "output": output}

@mcp.tool
def look(command: str) -> dict:
    """Look for a command."""
    try:
        return {"exit_code": 0, "path": found(command)}
    except KeyError:
        return {"exit_code": 0, "path": "nowhere"}

@mcp.tool
def check(command: str) -> dict:
    """Check a command."""
    if not command:
        return {"exit_code": 1, "stderr": "leer"}
    return {"exit_code": 0, "stderr": ""}
