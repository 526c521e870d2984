# message: the answer of listed
from mcpcore import Context, Server, tool
from pydantic import BaseModel

class Answer(BaseModel):
    rows: list[dict]


@tool
async def listed(ctx: Context, urls: list[str]) -> list[dict]:
    """Fetch."""
    out = []
    for url in urls:
        try:
            out.append({"url": url, "body": await load(url)})
        except Exception as e:
            out.append({"url": url, "error": str(e)})  # here
    return out


@tool
async def by_key(urls: list[str]) -> dict:
    """Fetch."""
    out = {}
    for url in urls:
        try:
            out[url] = await load(url)
        except OSError:
            out[url] = {"success": False, "url": url}  # here
    return {"results": out, "total": len(out)}


@tool
async def apart(urls: list[str]) -> dict:
    """Fetch."""
    out, errors = [], []
    async for url in stream(urls):
        try:
            out.append(await load(url))
        except Exception as e:
            errors.append(f"{url}: {e}")  # here
    return {"results": out, "errors": errors}


@tool
async def in_a_model(urls: list[str]) -> Answer:
    """Fetch."""
    rows = []
    for url in urls:
        try:
            rows.append(await load(url))
        except Exception as e:
            log(e)
            rows.append({"url": url, "status": "failed", "message": str(e)})  # here
    return Answer(rows=rows)


@tool
async def never_empty(urls: list[str]) -> list[dict]:
    """Fetch."""
    out = []
    for url in urls:
        try:
            out.append(await load(url))
        except Exception as e:
            out.append({"url": url, "error": str(e)})  # here
    if not out:
        raise RuntimeError("no urls")
    return out
