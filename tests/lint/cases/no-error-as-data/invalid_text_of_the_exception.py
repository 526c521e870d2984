# message: returns the text of the caught exception
import traceback
from fastmcp import FastMCP
from mcp.types import TextContent

mcp = FastMCP("x")

@mcp.tool
async def fetch(a: str) -> str:
    try:
        return await load(a)
    except KeyError as e:
        return str(e)  # here
    except ValueError as e:
        return f"{type(e).__name__}: {e}"  # here
    except OSError as e:
        return [TextContent(type="text", text=repr(e))]  # here
    except RuntimeError:
        return "Encountered an error while loading."  # here
    except TypeError:
        return f"Invalid kind: {a}"  # here
