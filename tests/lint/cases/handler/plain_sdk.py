"""A server of the plain SDK that has never heard of contracts."""

import asyncio
import contextlib
import functools
import json
import logging
import sqlite3
import subprocess
import sys

import httpx
from mcp.server.fastmcp import FastMCP
from mcp.server.fastmcp.exceptions import ToolError
from mcp.shared.exceptions import McpError
from mcp.types import INVALID_PARAMS, CallToolResult, ErrorData, TextContent

mcp = FastMCP("articles")
log = logging.getLogger(__name__)


class ArticleError(Exception):
    """The project's own."""


def retried(fn):
    @functools.wraps(fn)
    async def wrapper(*args, **kwargs):
        return await fn(*args, **kwargs)

    return wrapper


@mcp.tool()
@retried
async def search(query: str) -> str:
    if not query:
        raise ValueError("query is empty")
    if len(query) > 100:
        raise Exception("query is too long")  # expect: prefer-mcp-error-in-handler
    try:
        async with httpx.AsyncClient() as client:
            response = await client.get("https://example.org", params={"q": query})
            response.raise_for_status()
    except httpx.TimeoutException:
        raise ToolError("the index is slow")
    except httpx.HTTPStatusError as e:
        if e.response.status_code == 404:
            return "[]"
        raise ToolError(f"the index said {e.response.text}") from e
    except httpx.HTTPError as e:
        return f"Error: {e}"  # expect: no-error-as-data
    except ArticleError as e:
        raise ToolError(str(e)) from e
    except Exception as e:
        log.exception("search failed")
        return json.dumps({"error": str(e)})  # expect: no-error-as-data
    return response.text


@mcp.tool(name="count")
def count_articles() -> int:
    try:
        with sqlite3.connect("articles.db") as connection:
            return connection.execute("select count(*) from article").fetchone()[0]
    except sqlite3.Error:
        return 0  # expect: no-fake-empty


@mcp.tool()
async def warm(ids: list[str]) -> str:
    for each in ids:
        try:
            await search(each)
        except Exception as e:  # expect: no-swallowed-error
            log.warning("skipped %s: %s", each, e)
            continue
    with contextlib.suppress(Exception):  # expect: no-swallowed-error
        await asyncio.sleep(1)
    with contextlib.suppress(FileNotFoundError):
        open("x")
    return "done"


@mcp.tool()
async def stop() -> str:
    try:
        await asyncio.sleep(1)
    except:  # expect: no-base-exception-catch
        return "stopped"
    raise McpError(ErrorData(code=INVALID_PARAMS, message="no"))


@mcp.tool()
def show(name: str) -> CallToolResult:
    match name:
        case "":
            return CallToolResult(content=[TextContent(type="text", text="no")], isError=True)
        case "?":
            return {"success": False, "message": "no such article"}  # expect: no-error-as-data
        case _:
            raise ToolError("no such article: call search first")


@mcp.resource("articles://{pmid}")
def article(pmid: str) -> str:
    if not pmid.isdigit():
        raise McpError(ErrorData(code=INVALID_PARAMS, message="a PMID is a number"))
    raise KeyError(pmid)


@mcp.prompt()
def report(topic: str) -> str:
    return f"Error: the reports about {topic} disagree. Explain why."


class Service:
    """Not a handler, until it is added as one."""

    def __init__(self) -> None:
        self.open = {}

    def close(self, name: str) -> str:
        try:
            return self.open.pop(name)
        except BaseException:  # expect: no-base-exception-catch
            return {"ok": False}  # expect: no-error-as-data

    def helper(self) -> None:
        raise ValueError("services may raise what they like")


service = Service()
mcp.add_tool(service.close)
mcp.add_tool(functools.partial(service.close, "x"), name="close_x")


def progress(text):
    print(text)  # expect: no-stdout-in-tool


@mcp.tool()
async def build(target: str) -> str:
    progress(target)
    subprocess.run(["make", target], check=True)  # expect: no-stdout-in-tool
    subprocess.run(["make", "clean"], check=True, capture_output=True)
    print("done", file=sys.stderr)
    return target


@mcp.tool()
async def rebuild(target: str) -> str:
    progress(target)
    return await build(target)
