import httpx
from mcpcore import tool

class ArticleNotFound(Exception): ...

@tool
async def fetch(a: str) -> list[str]:
    try:
        return open(a).readlines()
    except FileNotFoundError:
        return []
    except (KeyError, ArticleNotFound):
        return []
    except httpx.HTTPStatusError as error:
        if error.response.status_code == 404:
            return []
        raise
    except httpx.HTTPError as error:
        return {"items": [], "warning": "the index is down"}
    except Exception:
        return cached
    return []

def service():
    try:
        return load()
    except Exception:
        return []
