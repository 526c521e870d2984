# message: returns None
from mcpcore import not_found, tool

def answer(error: Exception) -> dict: ...

def maybe(why):
    if why:
        raise not_found(why)

@tool
def fetch(a: str) -> dict | None:
    try:
        return load(a)
    except ConnectionError as error:
        answer(error)
        return None  # here
    except Exception as error:
        maybe(str(error))
        return None  # here
