from typing import Literal, NoReturn, overload

from fastmcp.exceptions import ToolError


@overload
def structured(error: Exception, context: dict | None = None, *, raise_error: Literal[True] = True) -> NoReturn:
    pass


@overload
def structured(error: Exception, context: dict | None = None, *, raise_error: Literal[False]) -> dict:
    pass


def structured(error, context=None, *, raise_error=True):
    if raise_error:
        raise ToolError(str(context))
    return {"context": context}
