from app.ports import Queue

from mcpcore import not_found

class MemoryStore:
    async def load(self, key: str) -> str:
        raise not_found(key, reason="no_row")

class ListQueue(Queue):
    def push(self, item: str) -> None: self.items.append(item)
