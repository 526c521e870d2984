# message: lend() returns Loan(success=False)
from dataclasses import dataclass

from fastmcp import FastMCP

mcp = FastMCP("x")

@dataclass
class Loan:
    success: bool
    title: str

def lend(title: str) -> Loan:
    loan = Loan(success=False, title=title)
    if title == "atlas":
        return loan  # here
    loan.success = True
    return loan

def refuse(reason: str, **more) -> dict:
    answer = {"success": False, "error": reason}
    answer.update(more)
    return answer  # here

def decline(reason: str, **more) -> dict:
    answer = {"success": False, "error": reason}
    for key, value in more.items():
        if value is not None:
            answer[key] = value
    return answer  # here

def reject(reason: str, more: dict | None = None) -> dict:
    answer = {"success": False, "error": reason}
    if more:
        answer.update(more)
    return answer  # here

@mcp.tool
def lend_one(title: str) -> Loan:
    """Lend."""
    return lend(title)

@mcp.tool
def renew(title: str) -> dict:
    """Renew."""
    if title == "atlas":
        return refuse("not for loan", title=title)
    return {"renewed": title}

@mcp.tool
def find(title: str) -> dict:
    """Find."""
    if title == "atlas":
        return reject("not here")
    return {"found": title}

@mcp.tool
def drop(title: str) -> dict:
    """Drop."""
    answer = {"success": False, "error": "not here"}
    if title == "atlas":
        return answer  # here
    answer["success"] = True
    return answer

@mcp.tool
def read(title: str) -> dict:
    """Read."""
    if title == "atlas":
        return decline("torn", title=title)
    return {"read": title}
