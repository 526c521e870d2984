# message: post() returns {"error": ...}
from typing import Any

import requests
from mcp.server.fastmcp import FastMCP


class Client:
    def post(self, path: str) -> dict[str, Any]:
        try:
            return requests.post(path, timeout=5).json()
        except requests.RequestException as e:
            return {"error": str(e)}  # here


def register_scan(mcp, client):
    @mcp.tool()
    def scan(target: str) -> dict[str, Any]:
        """Scan a host."""
        return client.post(f"api/scan/{target}")


def setup(client):
    mcp = FastMCP("scans")
    register_scan(mcp, client)
    return mcp


setup(Client()).run()
