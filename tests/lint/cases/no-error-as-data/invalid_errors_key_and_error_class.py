# message: fetch returns {"errors": ...}
from fastmcp import FastMCP

mcp = FastMCP("x")

@mcp.tool
async def fetch(a: str) -> dict:
    try:
        return await load(a)
    except KeyError as e:
        return {"errors": [str(e)]}  # here
    except TimeoutError as e:
        return [{"type": "text", "text": f"Error: {e}"}]  # here
    except ConnectionError:
        return {"result": f"Could not load {a}"}  # here
    except LookupError:
        return {"message": "It was there before", "ok": True}
    except EOFError as e:
        return {"success": False, "message": str(e), "dry_run": dry_run}  # here
    except OSError:
        return {"message": "Failed to load all of it", "rows": await known(a)}
    except Exception as e:
        return {"message": str(e), "asked": a}  # here
