# message: returns {"error": ...}
import logging
from dataclasses import dataclass

from fastmcp import FastMCP

mcp = FastMCP("x")
logger = logging.getLogger(__name__)

@dataclass
class State:
    key: str | None = None
    limited: bool = False

class Client:
    def __init__(self):
        self.state = State()
        self.session = connect()

    @property
    def user(self):
        return self.session.user()

    @property
    def is_known(self):
        return self.state.key is not None

    def status(self):
        if self.is_known:
            logger.info("known")
        return {"known": bool(self.state.key), "limited": self.state.limited}

    async def all_status(self):
        answer = self.status()
        return {"status": answer, **self.totals()}

    def totals(self):
        try:
            return {"total": self.session.count() / 2}
        except Exception:
            return {"total": None}

    def owner(self):
        return {"owner": self.user}

    def guest(self):
        return {"guest": self.session.guest}

    def again(self):
        return self.again()

    @retried
    def tried(self):
        return {"key": self.state.key}

client = Client()

@mcp.tool
def show_status() -> dict:
    """Show it."""
    try:
        status = client.status()
        logger.debug("read")
        return status
    except Exception as e:
        return {"error": str(e)}

@mcp.tool
async def show_all() -> dict:
    """Show it."""
    try:
        return await client.all_status()
    except Exception as e:
        return {"error": str(e)}

@mcp.tool
def show_state() -> dict:
    """Show it."""
    try:
        return {"known": client.is_known, "key": client.state.key}
    except Exception as e:
        return {"error": str(e)}

@mcp.tool
def show_owner() -> dict:
    """Show it."""
    try:
        return client.owner()
    except Exception as e:
        return {"error": str(e)}  # here

@mcp.tool
def show_guest() -> dict:
    """Show it."""
    try:
        return client.guest()
    except Exception as e:
        return {"error": str(e)}  # here

@mcp.tool
def show_again() -> dict:
    """Show it."""
    try:
        return client.again()
    except Exception as e:
        return {"error": str(e)}  # here

@mcp.tool
def show_tried() -> dict:
    """Show it."""
    try:
        return client.tried()
    except Exception as e:
        return {"error": str(e)}  # here

@mcp.tool
def show_key() -> dict:
    """Show it."""
    try:
        return {"key": client.state.name}
    except Exception as e:
        return {"error": str(e)}  # here

@mcp.tool
def show_items(client: Client) -> dict:
    """Show them."""
    try:
        return {"items": [item for item in client.session]}
    except Exception as e:
        return {"error": str(e)}  # here

@mcp.tool
async def show_pending() -> dict:
    """Show it."""
    try:
        pending = client.state
        return {"pending": await pending}
    except Exception as e:
        return {"error": str(e)}  # here
