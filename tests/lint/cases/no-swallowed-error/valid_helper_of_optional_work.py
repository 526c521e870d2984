import asyncio, logging, subprocess, json
import httpx
from mcp.server.fastmcp import FastMCP

mcp = FastMCP("x")
log = logging.getLogger(__name__)


def _log_only():
    try:
        beat()
    except Exception:
        log.warning("x")


@mcp.tool()
def t6(name: str):
    """Not returned."""
    _log_only()
    return name


def _notify():
    try:
        beat()
    except Exception:
        pass
    return load()


@mcp.tool()
def t7(name: str):
    """The helper returns something else."""
    return _notify()
