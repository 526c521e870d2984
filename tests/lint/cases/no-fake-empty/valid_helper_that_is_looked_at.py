import asyncio, logging, subprocess, json
import httpx
from mcp.server.fastmcp import FastMCP

mcp = FastMCP("x")
log = logging.getLogger(__name__)


def _cached(key):
    try:
        return CACHE[key]
    except KeyError:
        return None


@mcp.tool()
def v1(key: str) -> str:
    """Absence."""
    return _cached(key)


def _int(text):
    try:
        return int(text)
    except ValueError:
        return None


@mcp.tool()
def v2(key: str) -> int:
    """Parsing."""
    return _int(key)


def _rows(sql):
    try:
        return db.run(sql)
    except Exception:
        return []


@mcp.tool()
def v3(sql: str):
    """Looked at."""
    rows = _rows(sql)
    if not rows:
        raise ValueError("none")
    return rows


@mcp.tool()
def v4(sql: str):
    """Alternative."""
    return _rows(sql) or ["default"]


@mcp.tool()
def v5(sql: str):
    """Warned."""
    rows = _rows(sql)
    return {"rows": rows, "warning": "may be empty after a failure"}


def _topics(repo):
    try:
        return repo.topics()
    except Exception:
        return []


@mcp.tool()
def t5(name: str):
    """An optional part."""
    repo = get(name)
    topics = _topics(repo)
    return {"name": repo.name, "stars": repo.stars, "topics": topics}


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
