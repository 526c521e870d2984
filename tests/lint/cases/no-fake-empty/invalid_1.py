# message: returns an empty dict as "tags" after Exception
import json
import logging
from mcpcore import tool

@tool
def tagged(name: str) -> dict:
    result = {"page": load(name)}
    try:
        result["tags"] = tags_of(name)
    except Exception:
        result["tags"] = {}  # here
    return result

@tool
def counted(name: str) -> str:
    result = load(name)
    try:
        number = count(name)
        result.number = number
    except ConnectionError as error:
        logging.warning("not counted: %s", error)
        result.number = 0  # here
    return json.dumps({"data": result})

@tool
def searched(query: str) -> dict:
    try:
        rows = search(query)
    except Exception:
        rows = []  # here
    return {"query": query, "rows": rows, "count": len(rows)}

@tool
def explained(name: str) -> dict:
    result = {"page": load(name)}
    try:
        result["tags"] = tags_of(name)
    except Exception as error:
        result["tags"] = {}
        result["tags_error"] = str(error)
    return result

@tool
def unknown(name: str) -> dict:
    result = {"page": load(name)}
    try:
        result["owner"], result["online"] = owner_of(name)
    except Exception:
        result["owner"] = None
        result["online"] = False
    return result

@tool
def replaced(name: str) -> dict:
    result = {"page": load(name)}
    try:
        result["tags"] = tags_of(name)
    except Exception:
        result["tags"] = []
    if not result["tags"]:
        result["tags"] = stored(name)
    return result

@tool
def parsed(name: str) -> dict:
    result = {"page": load(name)}
    try:
        result["number"] = int(name)
    except Exception:
        result["number"] = 0
    return result
