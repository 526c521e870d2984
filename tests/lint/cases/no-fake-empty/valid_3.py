import sys
from typing import Any, Literal, NoReturn, overload
import typing as t
from mcpcore import not_found, tool

@overload
def answer(error: Exception, *, raises: Literal[True] = True) -> NoReturn: ...
@overload
def answer(error: Exception, *, raises: Literal[False]) -> dict[str, Any]: ...
def answer(error: Exception, *, raises: bool = True) -> dict[str, Any]:
    if raises:
        raise not_found("x")
    return {}

def give_up(why):
    if why:
        raise not_found(why)
    else:
        raise not_found("x")

class Tools:
    def _failed(self, error: Exception) -> "t.Never": ...

    @tool
    async def fetch(self, a: str) -> dict | None:
        try:
            return load(a)
        except KeyboardInterrupt:
            sys.exit(1)
            return None
        except ConnectionError as error:
            answer(error)
            return None  # for those who check returns
        except TimeoutError as error:
            give_up(str(error))
            return None
        except Exception as error:
            self._failed(error)
            return None
