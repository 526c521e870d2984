# message: returns {"error": ...}
import functools
import logging

from acme import store
from fastmcp import FastMCP

mcp = FastMCP("x")

def reply(data, metadata=None):
    answer = {"source": "shop", "data": data}
    if metadata:
        answer["metadata"] = metadata
    return answer

class Shop:
    def find(self, q: str | None = None, kinds: list[str] | None = None) -> dict:
        params: dict[str, str] = {"format": "json"}
        if kinds:
            params["kinds"] = "|".join(kinds)
        if not q and not kinds:
            return reply(None, {"hint": "name something"})
        try:
            return reply(store.find(params))
        except Exception:
            return {"rows": []}

    def find_all(self, kinds: list[str] | None = None) -> dict:
        params = {"kinds": "|".join(kinds)}
        try:
            return store.find(params)
        except Exception:
            return {"rows": []}

    @property
    def client(self):
        raise RuntimeError("no client")

    def by_name(self, name: str) -> dict:
        """Find by the name."""
        logging.info(f"find {name}")
        return self.find(name)

    def by_user(self, user) -> dict:
        return self.find(user.name)

    def by_client(self, client) -> dict:
        return self.find(self.client)

    def by_price(self, price) -> dict:
        return self.find(f"{price:.2f}")

    def by_place(self, place) -> dict:
        return store.find(place)

    @functools.cache
    def by_cached_name(self, name: str) -> dict:
        return self.find(name)

    def again(self, name: str) -> dict:
        return self.again(name)

shop = Shop()

@mcp.tool
def find(kinds: list[str] | None = None) -> dict:
    try:
        return shop.find("a", kinds=kinds)
    except Exception as e:
        return {"error": str(e)}

@mcp.tool
def find_by_name(name: str) -> dict:
    try:
        return shop.by_name(name)
    except Exception as e:
        return {"error": str(e)}

@mcp.tool
def find_all(kinds: list[str] | None = None) -> dict:
    try:
        return shop.find_all(kinds)
    except Exception as e:
        return {"error": str(e)}  # here

@mcp.tool
def find_by_user(user: str) -> dict:
    try:
        return shop.by_user(user)
    except Exception as e:
        return {"error": str(e)}  # here

@mcp.tool
def find_by_client(client: str) -> dict:
    try:
        return shop.by_client(client)
    except Exception as e:
        return {"error": str(e)}  # here

@mcp.tool
def find_by_price(price: str) -> dict:
    try:
        return shop.by_price(price)
    except Exception as e:
        return {"error": str(e)}  # here

@mcp.tool
def find_by_place(place: str) -> dict:
    try:
        return shop.by_place(place)
    except Exception as e:
        return {"error": str(e)}  # here

@mcp.tool
def find_by_cached_name(name: list) -> dict:
    try:
        return shop.by_cached_name(name)
    except Exception as e:
        return {"error": str(e)}  # here

@mcp.tool
def find_again(name: str) -> dict:
    try:
        return shop.again(name)
    except Exception as e:
        return {"error": str(e)}  # here
