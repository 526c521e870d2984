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

@mcp.tool
def lend_one(title: str) -> Loan:
    """Lend."""
    return lend(title)
