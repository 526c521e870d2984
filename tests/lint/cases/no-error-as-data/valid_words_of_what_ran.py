import asyncio, logging, subprocess, json
import httpx
from mcp.server.fastmcp import FastMCP

mcp = FastMCP("x")
log = logging.getLogger(__name__)


@mcp.tool()
def run(cmd: str):
    """All."""
    p = subprocess.run(cmd, shell=True, capture_output=True, text=True)
    if p.returncode != 0:
        return f"exit {p.returncode}\n{p.stdout}\n{p.stderr}"
    return p.stdout


@mcp.tool()
def run2(cmd: str):
    """Raised."""
    p = subprocess.run(cmd, shell=True, capture_output=True, text=True)
    if p.returncode != 0:
        raise RuntimeError(p.stderr)
    return p.stdout


@mcp.tool()
def run3(cmd: str):
    """ffmpeg writes to stderr."""
    p = subprocess.run(cmd, shell=True, capture_output=True, text=True)
    if p.returncode == 0:
        return p.stderr
    raise RuntimeError("x")


@mcp.tool()
def check_url(url: str):
    """Check."""
    r = httpx.get(url)
    if r.status_code != 200:
        return f"{url} is down: HTTP {r.status_code}"
    return "up"


@mcp.tool()
def fetch(url: str):
    """Fetch."""
    r = httpx.get(url)
    if r.status_code != 200:
        return {"status": r.status_code, "body": r.text, "headers": dict(r.headers)}
    return r.text


@mcp.tool()
def g1(url: str):
    """404 is an answer."""
    r = httpx.get(url)
    if r.status_code == 404:
        return f"Nothing at {url} ({r.status_code})"
    r.raise_for_status()
    return r.text


@mcp.tool()
def g2(url: str):
    """404 is an answer."""
    try:
        r = httpx.get(url)
        r.raise_for_status()
        return r.text
    except httpx.HTTPStatusError as e:
        if e.response.status_code == 404:
            return f"Nothing at {url} ({e.response.status_code})"
        raise


@mcp.tool()
def t1(text: str):
    """Pair in except of a validation."""
    try:
        json.loads(text)
    except ValueError as e:
        raise RuntimeError("x") from e
    return True, None


@mcp.tool()
def validate_json(text: str):
    """A validator."""
    try:
        json.loads(text)
    except ValueError as e:
        return False, str(e)
    return True, None


@mcp.tool()
def t3(text: str):
    """A helper whose pair is looked at."""
    value, error = pair(text)
    if error:
        raise RuntimeError(error)
    return value


def pair(text):
    try:
        return json.loads(text), None
    except ValueError as e:
        return None, str(e)


@mcp.tool()
def t4(text: str):
    """Wrapped in a message and checked."""
    r = httpx.get(text)
    if r.status_code < 400:
        return {"message": r.text}
    raise RuntimeError(r.text)
