import sys
from typing import NoReturn
import typing as t
from mcpcore import not_found, tool

def answer(error: Exception) -> NoReturn: ...

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
