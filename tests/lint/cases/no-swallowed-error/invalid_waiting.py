import time

from mcp.server.fastmcp import FastMCP

mcp = FastMCP("x")

@mcp.tool()
def pages(last: int) -> dict:
    """Read all pages, slowly."""
    rows = []
    page = 0
    while page < last:
        try:
            rows.extend(load(page))
        except Exception:  # here
            pass
        page += 1
        time.sleep(0.2)
    return {"rows": rows}

@mcp.tool()
def send(queue: list[str]) -> dict:
    """Send all messages, slowly."""
    sent = {}
    while queue:
        message = queue.pop()
        try:
            sent[message] = post(message)
        except Exception:  # here
            continue
        time.sleep(0.2)
    return {"sent": sent}

@mcp.tool()
def count(last: int) -> str:
    """Count the rows of all pages, slowly."""
    rows = 0
    page = 0
    while page < last:
        try:
            rows += len(load(page))
        except Exception:  # here
            pass
        page += 1
        time.sleep(0.2)
    return f"{rows} rows"

@mcp.tool()
def patient(key: str) -> list:
    """Try again for some time."""
    tries = 0
    while tries < 3:
        try:
            return load(key)
        except Exception:  # here
            pass
        tries += 1
        time.sleep(1)
    return []

@mcp.tool()
def post_all(messages: list[str]) -> str:
    """Post all messages, slowly."""
    for message in messages:
        text = message.strip()
        try:
            post(text)
        except Exception:  # here
            pass
        time.sleep(1)
    return "posted"
