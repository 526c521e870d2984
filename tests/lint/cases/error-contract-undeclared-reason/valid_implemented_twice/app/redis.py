from mcpcore import rate_limited
from app.ports import Queue

class RedisQueue(Queue):
    def push(self, item: str) -> None:
        raise rate_limited("full", reason="queue_full")
