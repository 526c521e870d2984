# message: no function is found behind `self.answer`, so rules check no more than what it returns
from abc import ABC, abstractmethod

from mcp.server.lowlevel import Server

server = Server("shop")


class ShopTool(ABC):
    def __init__(self, name: str) -> None:
        self.name = name

    @abstractmethod
    async def answer(self, arguments: dict) -> list: ...

    async def run(self, arguments: dict) -> list:
        answer = await self.answer(arguments)
        return [*answer]


class Orders(ShopTool):
    async def answer(self, arguments: dict) -> list:
        return ["Error: no order"]


class Bills(ShopTool):
    async def answer(self, arguments: dict) -> list:
        return ["Error: no bill"]


TOOLS = {tool.name: tool for tool in (Orders("orders"), Bills("bills"))}


@server.call_tool()  # here
async def call_tool(name: str, arguments: dict) -> list:
    if name not in TOOLS:
        raise ValueError(f"Unknown tool: {name}")
    return await TOOLS[name].run(arguments)
