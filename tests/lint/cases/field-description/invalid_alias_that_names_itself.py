# message: the parameter payload of store has no description
from typing import Union

from mcpcore import tool

Json = Union[list["Json"], tuple["Json", "Json", "Json"], set["Json"], frozenset["Json"], dict[str, "Json"], str, None]

@tool
def store(
    payload: Json,  # here
) -> str:
    """Keep an entry in the cache."""
