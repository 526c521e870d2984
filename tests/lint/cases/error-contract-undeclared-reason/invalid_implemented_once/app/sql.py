from mcpcore import not_found

class SqlStore:
    async def load(self, key: str) -> str:
        raise not_found(key, reason="no_row")
