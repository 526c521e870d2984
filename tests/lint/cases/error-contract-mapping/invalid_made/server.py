from mcpcore import tool
from errors import missing


@tool(errors=[missing("gone", Exception)])  # here
def read(book: str) -> str:
    return load(book)


@tool(errors=[missing("gone", KeyError), missing("lost", KeyError)])  # here
def find(book: str) -> str:
    return load(book)
