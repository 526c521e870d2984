from mcpcore import Context, Server, tool
from pydantic import BaseModel
from mcpcore.services.batch import Batch, BatchResult


@tool
async def a_batch(ctx: Context, urls: list[str]) -> BatchResult[str]:
    """Fetch."""
    batch = Batch[str](ctx)
    for url in urls:
        with batch.item(url):
            batch.add(await load(url))
    return batch.result()


@tool
async def raised(urls: list[str]) -> list[str]:
    """Fetch."""
    out, errors = [], []
    for url in urls:
        try:
            out.append(await load(url))
        except Exception as e:
            errors.append(f"{url}: {e}")
    if errors:
        raise not_found("; ".join(errors))
    return out


@tool
async def raised_with_them(urls: list[str]) -> list[str]:
    """Fetch."""
    out, errors = [], []
    for url in urls:
        try:
            out.append(await load(url))
        except Exception as e:
            errors.append(f"{url}: {e}")
    if len(errors) == len(urls):
        raise not_found("; ".join(errors))
    return {"out": out, "errors": errors}


@tool
async def tries(urls: list[str]) -> str:
    """Several attempts at one answer."""
    tried = []
    for url in urls:
        try:
            return await load(url)
        except OSError as e:
            tried.append(str(e))
    raise not_found("; ".join(tried))


@tool
async def skipped(urls: list[str]) -> list[str]:
    """What is added is no failure."""
    out = []
    for url in urls:
        try:
            out.append(await load(url))
        except KeyError:
            out.append("")
    return out


@tool
async def alone(url: str) -> list[str]:
    """No loop."""
    out = []
    try:
        out.append(await load(url))
    except Exception as e:
        out.append(str(e))
    return out


@tool
async def round_by_round(urls: list[str]) -> int:
    """A list of each round."""
    for url in urls:
        notes = []
        try:
            await load(url)
        except Exception as e:
            notes.append(str(e))
        store(notes)
    return len(urls)


@tool
async def attempts(url: str) -> dict:
    """Attempts at one answer."""
    notes = []
    for _ in range(3):
        try:
            text = await load(url)
            break
        except OSError as e:
            notes.append(str(e))
    return {"text": text, "notes": notes}


@tool
async def all_or_nothing(urls: list[str]) -> list[dict]:
    """Fetch."""
    out = []
    for url in urls:
        try:
            out.append({"url": url, "ok": True, "body": await load(url)})
        except OSError as e:
            out.append({"url": url, "ok": False, "error": str(e)})
    if not all(item["ok"] for item in out):
        raise RuntimeError("some urls failed")
    return out
