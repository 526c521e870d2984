from abc import ABC, abstractmethod
from typing import Protocol

class Store(Protocol):
    async def load(self, key: str) -> str: ...

class Queue(ABC):
    @abstractmethod
    def push(self, item: str) -> None:
        """Push."""
