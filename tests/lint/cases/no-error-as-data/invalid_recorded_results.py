# message: returns {"error": ...}
import functools
import json
import logging

from fastmcp import FastMCP

mcp = FastMCP("x")

class History:
    def __init__(self, store):
        self.store = store
        self.entries = []

    def record(self, name, answer):
        self.entries.append(self.store.shortened(answer))

    async def note(self, answer):
        self.entries.append(answer)

    def check(self, answer):
        if "error" in answer:
            raise ValueError(answer["error"])

history = History(open)

def traced(function):
    @functools.wraps(function)
    def wrapper(q):
        answer = None
        try:
            answer = function(q)
            return answer
        finally:
            try:
                history.check(answer)
            except Exception:
                logging.debug("not traced")
    return wrapper

def recorded(function):
    @functools.wraps(function)
    async def wrapper(q):
        answer = function(q)
        history.record("fetch", answer)
        await history.note(answer)
        return answer
    return wrapper

def checked(function):
    @functools.wraps(function)
    def wrapper(q):
        answer = function(q)
        history.check(answer)
        return answer
    return wrapper

def marked(function):
    @functools.wraps(function)
    def wrapper(q):
        answer = function(q)
        try:
            history.check(answer)
        except Exception:
            raise RuntimeError(q)
        return answer
    return wrapper

@mcp.tool
@traced
def fetch(q: str):
    """Fetch."""
    return {"error": q}  # here

@mcp.tool
@recorded
def search(q: str):
    """Search."""
    return {"error": q}  # here

@mcp.tool
@checked
def find(q: str):
    """Find."""
    return {"error": q}

@mcp.tool
@marked
def get(q: str):
    """Get."""
    return {"error": q}
