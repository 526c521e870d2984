# message: Tools.fetch_articles > ArticleStore.get > _request
from mcpcore import ErrorCode, FailureMode, tool
from store import ArticleStore

class Tools:
    def __init__(self, store: ArticleStore) -> None:
        self.store = store

    @tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
    async def fetch_articles(self, a: str) -> str:
        return await self.store.get(a)  # here
