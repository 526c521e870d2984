from mcpcore import rate_limited

class ArticleStore:
    async def get(self, a):
        return await _request(a)

async def _request(a):
    raise rate_limited("slow down")
