import json
from fastmcp import FastMCP
from mcp.types import TextContent

mcp = FastMCP("x")

def as_text(message: str, *, loud: bool = False) -> list[TextContent]:
    return [TextContent(type="text", text=message)]

def about(topic: str) -> str:
    return f"See {topic}."

def check(a: str) -> str | None:
    return f"{a} is fine" if a else None

def find(a: str):
    return (a, None) if a else (None, f"nothing known of {a}")

class Tools:
    def as_text(self, message: str) -> str:
        return message

    @mcp.tool
    def show(self, a: str) -> str:
        return self.as_text(f"found {a}")

@mcp.tool
async def fetch(a: str) -> list:
    if a == "1":
        return as_text(f"Found {a}", loud=True)
    if a == "2":
        return about("Error: what it means")
    if note := check(a):
        return note
    row, note = find(a)
    if note:
        return note
    if a == "3":
        return {"ERROR": 3, "WARNING": 7}
    if a == "4":
        return [{"error": 0.1, "mean": 2}, {"error": 0.2, "mean": 3}]
    try:
        return load(a)
    except StopIteration as done:
        return done.value
    except ValueError as e:
        return f"{a} has no number: {e}"

@mcp.tool
def validate_query(text: str) -> str:
    try:
        parse(text)
    except SyntaxError as e:
        return str(e)
    except ValueError as e:
        return f"Invalid query: {e}"
    return "ok"

@mcp.tool
def validate_file(path: str):
    return checked(path)

def checked(path: str) -> tuple[bool, str]:
    try:
        parse(read(path))
    except Exception as e:
        return False, f"Invalid Turtle: {e}"
    return True, "Valid Turtle."

@mcp.tool
def job_status(a: str) -> dict:
    if a in STOPPED:
        return {"status": "failed", "message": f"{a} has stopped"}
    return {"status": "running", "message": a}


@mcp.tool()
def read_timeout(path: str) -> str:
    """A file that does not exist has a default."""
    try:
        return f"The timeout is {load(path)} seconds"
    except FileNotFoundError:
        return "Default timeout of 30 seconds is used"
