from app.ports import Queue, Store

class Service:
    def __init__(self, store: Store, queue: Queue) -> None:
        self.store = store
        self._queue = queue

    async def get(self, key: str) -> str:
        return await self.store.load(key)

    def put(self, item: str) -> None:
        self._queue.push(item)

service = Service(make_store(), make_queue())
