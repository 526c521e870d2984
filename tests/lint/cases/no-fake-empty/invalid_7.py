# message: returns None
from typing import Literal, NoReturn, overload
from mcpcore import not_found, tool

@overload
def answer(error: Exception, raises: Literal[True]) -> NoReturn: ...
@overload
def answer(error: Exception, raises: Literal[False] = False) -> dict: ...
def answer(error, raises=False): ...

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
