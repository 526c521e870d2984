# message: no function is found behind
import importlib.util
from pathlib import Path

from fastmcp import FastMCP

mcp = FastMCP("x")

def discovered() -> dict:
    found = {}
    for path in Path("skills").rglob("*.py"):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        run = getattr(module, path.stem, None)
        found[path.stem] = {"run": run}
    return found

def register(skills: dict) -> None:
    for name, record in skills.items():
        mcp.tool(name=name)(record["run"])

register(discovered())  # here
