from typing import Any

import requests
from mcp.server.fastmcp import FastMCP

mcp = FastMCP("issues")


class Client:
    def __init__(self, url: str) -> None:
        self.url, self.session = url, None

    def connect(self) -> bool:
        try:
            self.session = requests.Session()
            return True
        except Exception as e:
            raise RuntimeError("no connection") from e

    async def enter(self) -> bool:
        self.connect()
        return True

    async def get(self, key: str) -> dict[str, Any]:
        if not self.session and not self.connect():
            return {"error": "not connected"}
        if not await self.enter():
            return {"error": "not entered"}
        return self.session.get(f"{self.url}/{key}").json()


@mcp.tool()
async def get_issue(key: str) -> dict[str, Any]:
    """Get an issue."""
    return await Client("https://issues.example").get(key)
