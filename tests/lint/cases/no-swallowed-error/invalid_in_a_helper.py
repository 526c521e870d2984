import asyncio, logging, subprocess
import httpx
from mcp.server.fastmcp import FastMCP

mcp = FastMCP("x")
log = logging.getLogger(__name__)


def _load(path):
    try:
        with open(path) as file:
            return file.read()
    except Exception:  # here
        log.exception("failed")


@mcp.tool()
def s1_returns_helper(path: str) -> str:
    """A."""
    return _load(path)


@mcp.tool()
def s2_assigned(path: str) -> str:
    """A."""
    text = _load(path)
    return text


class Client:
    def listing(self):
        items = []
        for name in self.names:
            try:
                items.append(self.one(name))
            except Exception:  # here
                continue
        return items


client = Client()


@mcp.tool()
def s3_method_loop() -> list:
    """A."""
    return client.listing()
