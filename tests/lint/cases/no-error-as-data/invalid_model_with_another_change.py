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
    loan.title = title.strip()
    return loan  # here

def succeeding(title: str) -> Loan:
    loan = Loan(success=False, title=title)
    if title != "atlas":
        loan.success = True
    return loan

@mcp.tool
def lend_one(title: str, again: bool) -> Loan:
    """Lend."""
    return succeeding(title) if again else lend(title)

@mcp.tool
def renew(title: str) -> Loan:
    """Renew."""
    loan = Loan(success=False, title=title)
    if title != "atlas":
        loan.success = True
    return loan
