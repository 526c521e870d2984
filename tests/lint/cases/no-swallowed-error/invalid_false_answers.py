# message: swallows every exception
import json
import logging
from mcpcore import tool
from pydantic import BaseModel

logger = logging.getLogger(__name__)

class Rows(BaseModel):
    rows: list
    total: int

@tool
def model(query: str) -> dict:
    rows = []
    try:
        for page in pages(query):
            rows.extend(page)
    except Exception as error:  # here
        logger.error("no rows: %s", error)
    return Rows(rows=rows, total=len(rows)).model_dump()

@tool
def saved(name: str) -> str:
    store = connect()
    try:
        store.write(name)
    except Exception as error:  # here
        logger.error("not written: %s", error)
    return f"{name} is saved"

@tool
def warned(query: str) -> dict:
    rows, warnings = [], []
    try:
        rows = search(query)
    except Exception as error:
        warnings.append(str(error))
    return {"rows": rows, "warnings": warnings}

@tool
def flagged(query: str) -> dict:
    rows = []
    loaded = False
    try:
        rows = search(query)
        loaded = True
    except Exception as error:
        logger.error("no rows: %s", error)
    return {"rows": rows, "loaded": loaded}

@tool
def replaced(query: str) -> dict:
    rows = None
    try:
        rows = search(query)
    except Exception as error:
        logger.error("no rows: %s", error)
    if rows is None:
        rows = stored(query)
    return {"rows": rows}

@tool
def beside(query: str) -> dict:
    page = load(query)
    owner = None
    try:
        owner = owner_of(page)
    except Exception as error:
        logger.error("no owner: %s", error)
    return {"page": page, "owner": owner}

@tool
def shared(query: str) -> dict:
    try:
        return search(query)
    except ConnectionError as error:
        logger.error("not reached: %s", error)
    except Exception as error:
        logger.error("failed: %s", error)
    return {"error": "the search failed"}
