from fastmcp import FastMCP

mcp = FastMCP("x")

@mcp.tool
def lend(book: str) -> str:
    """Lend a book."""
    try:
        from shelves import take

        take(book)
    except Exception:  # here
        pass
    return f"{book} is yours."

@mcp.tool
def remind(reader: str) -> str:
    """Remind a reader."""
    try:
        from shutil import move

        move(reader, "reminders")
    except Exception:  # here
        pass
    return f"{reader} is reminded."
