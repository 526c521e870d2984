import os
from typing import Any

import requests
from mcp.server.fastmcp import FastMCP

mcp = FastMCP("issues")


class Cache:
    def is_known(self, key: str) -> bool:
        return True


    def is_fresh(self) -> bool:
        return True


class FileCache(Cache):
    is_fresh = os.getcwd

    def is_known(self, key: str) -> bool:
        return key.isalnum()


class Client:
    def is_open(self) -> bool:
        return True

    def __init__(self, url: str) -> None:
        self.url, self.session = url, None
        self.cache: Cache = FileCache()

    def connect(self) -> bool:
        if not self.url:
            return
        self.session = requests.Session()
        return True

    def has_key(self, key: str) -> bool:
        if key:
            return True

    def get(self, key: str) -> dict[str, Any]:
        if not self.session and not self.connect():
            return {"error": "not connected"}  # here
        if not self.is_open():
            return {"error": "closed"}  # here
        if not self.has_key(key):
            return {"error": "no key"}  # here
        if not self.cache.is_fresh():
            return {"error": "old cache"}  # here
        if not self.cache.is_known(key):
            return {"error": "unknown key"}  # here
        return self.session.get(f"{self.url}/{key}").json()


@mcp.tool()
def get_issue(key: str) -> dict[str, Any]:
    """Get an issue."""
    client = Client("https://issues.example")
    client.is_open = lambda: not key
    return client.get(key)
