import asyncio, logging, subprocess
import httpx
from mcp.server.fastmcp import FastMCP

mcp = FastMCP("x")
log = logging.getLogger(__name__)
client = httpx.AsyncClient()


@mcp.tool()
async def d1_tuple(url: str):
    """A."""
    try:
        return (await client.fetch(url), None)
    except Exception as e:
        return (None, str(e))  # here


@mcp.tool()
async def d2_tuple_bare(url: str):
    """A."""
    try:
        return await client.fetch(url), None
    except Exception as e:
        return None, str(e)  # here


@mcp.tool()
async def d3_http(url: str):
    """A."""
    r = httpx.get(url)
    if r.status_code != 200:
        return {"message": f"HTTP {r.text}"}  # here
    return r.json()


@mcp.tool()
async def d3b_http(url: str):
    """A."""
    r = httpx.get(url)
    if r.status_code >= 400:
        return {"message": f"HTTP {r.status_code}: {r.text}"}  # here
    return r.json()


@mcp.tool()
async def d3c_http(url: str):
    """A."""
    r = httpx.get(url)
    if not r.is_success:
        return f"HTTP {r.status_code}"  # here
    return r.json()


@mcp.tool()
def d4_stderr(cmd: str):
    """A."""
    p = subprocess.run(cmd, shell=True, capture_output=True, text=True)
    if p.returncode != 0:
        return p.stderr  # here
    return p.stdout


@mcp.tool()
def d4b_stderr(cmd: str):
    """A."""
    p = subprocess.run(cmd, shell=True, capture_output=True, text=True)
    return p.stdout if p.returncode == 0 else p.stderr  # here


@mcp.tool()
def d4c_stderr(cmd: str):
    """stdout or stderr: a terminal tool; both returned, no finding."""
    p = subprocess.run(cmd, shell=True, capture_output=True, text=True)
    return {"stdout": p.stdout, "stderr": p.stderr, "code": p.returncode}


@mcp.tool()
def d4d_stderr(cmd: str):
    """A."""
    try:
        p = subprocess.run(cmd, shell=True, capture_output=True, text=True, check=True)
        return p.stdout
    except subprocess.CalledProcessError as e:
        return e.stderr  # here
