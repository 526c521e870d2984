# message: returns an empty list after OSError
from mcpcore import tool

@tool
def late(name: str) -> dict:
    result = {}
    try:
        result = load(name)
        return result
    except ConnectionError:
        result = stored(name)
        return result
    except OSError:
        result = []
        return result  # here

@tool
def branched(name: str) -> dict:
    value = load(name)
    try:
        return search(value)
    except OSError:
        if name:
            value = []
        return value
    except Exception:
        value = []
        return value  # here
