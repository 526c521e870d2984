# message: returns an empty list
import json
import sqlite3
import httpx
from pydantic import BaseModel
from mcpcore import tool

class Page(BaseModel):
    items: list[str] = []
    total: int = 0

class StoreError(Exception): ...

@tool
async def fetch(a: str) -> list[str]:
    try:
        return await load(a)
    except httpx.HTTPError:
        return []  # here
    except sqlite3.Error as error:
        log(error)
        return {"items": [], "total": 0}  # here
    except StoreError:
        return Page(items=[], total=0)  # here
    except TimeoutError:
        return None  # here
    except ValueError:
        return ""  # here
    except OSError:
        return "No results found."  # here
    except ConnectionError:
        return json.dumps([])  # here
    except Exception:
        return  # here
