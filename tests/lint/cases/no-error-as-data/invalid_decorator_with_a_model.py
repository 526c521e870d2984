# message: for every exception of the tools
import functools
from fastmcp import FastMCP
from pydantic import BaseModel

mcp = FastMCP("x")

class Place(BaseModel):
    name: str

def validated(model):
    def decorate(func):
        @functools.wraps(func)
        def wrapper(*args, **kwargs):
            try:
                data = model(**kwargs)
                return func(*args, **data.model_dump())
            except Exception as e:
                return f"Error in {func.__name__}: {e}"  # here
        return wrapper
    return decorate

def judged(model):
    def decorate(func):
        @functools.wraps(func)
        def wrapper(**kwargs):
            answer = func(**model(**kwargs).model_dump())
            if "Error" in answer:
                raise ValueError(answer)
            return answer
        return wrapper
    return decorate

@mcp.tool
@validated(Place)
def find(name: str) -> str:
    """Find a place."""
    if name == "Atlantis":
        return f"Error: no place {name}"  # here
    return name

def kept(func):
    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        try:
            return func(*args, **kwargs)
        except Exception as e:
            return f"Error in {func.__name__}: {e}"
    return wrapper

@mcp.tool
@kept
def count(name: str) -> str:
    """Count the places."""
    try:
        return open(name).read()
    except Exception as e:
        return f"Error: {e}"  # here

@mcp.tool
@judged(Place)
def visit(name: str) -> str:
    """Visit a place."""
    if name == "Atlantis":
        return f"Error: no place {name}"
    return name
