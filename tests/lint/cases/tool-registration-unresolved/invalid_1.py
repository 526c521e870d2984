# message: no function is found behind
import importlib.util
from pathlib import Path

from fastmcp import FastMCP

mcp = FastMCP("x")

def load(path: Path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {"run": getattr(module, path.stem, None)}

def discovered() -> list:
    return [load(path) for path in Path("skills").rglob("*.py")]

def register(skills: list) -> None:
    for record in skills:
        mcp.tool()(record["run"])

register(discovered())  # here
