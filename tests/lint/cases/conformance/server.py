"""Contract tools and the store behind them."""

from enum import StrEnum
from typing import Literal

from pydantic import BaseModel

from mcpcore import CodedError, Context, ErrorCode, FailureMode, not_found, timeout, tool

from store import Store, locked


class Reason(StrEnum):
    GONE = "gone"
    SLOW = "slow"


class Gone(BaseModel):
    pmid: str


ERRORS = [
    FailureMode(Reason.GONE, ErrorCode.NOT_FOUND, when="It is gone.", recovery="Call search for another.", data=Gone),
    FailureMode("slow", ErrorCode.TIMEOUT, when="It is slow.", recovery="Wait a minute and call again."),
]
MORE = (*ERRORS, FailureMode("never", ErrorCode.CONFLICT, when="Never.", recovery="x"))  # expect: error-contract-unthrown


class Tools:
    def __init__(self, store: Store) -> None:
        self.store = store

    @tool(errors=ERRORS)
    async def fetch(self, ctx: Context[Literal["gone", "slow"]], pmid: str) -> str:
        """Fetch."""
        if pmid == "1":
            raise ctx.fail("gone")  # expect: error-contract-data-mismatch
        if pmid == "2":
            raise ctx.fail(Reason.SLOW, f"{pmid} is slow")  # expect: error-contract-message-data
        if pmid == "3":
            ctx.fail("slow")  # expect: error-contract-fail-not-raised
        if pmid == "4":
            raise timeout("slow")  # expect: error-contract-prefer-fail
        if pmid == "5":
            raise ctx.fail("solw")  # expect: error-contract-fail-undeclared
        if pmid == "6":
            raise not_found("x", reason="slow")  # expect: error-contract-code-mismatch
        if pmid == "7":
            raise locked(pmid)  # expect: error-contract-conformance
        if pmid == "8":
            await self.store.put(pmid)  # expect: error-contract-undeclared-reason, error-contract-code-mismatch
        try:
            await self.store.put(pmid)
        except CodedError as error:
            raise ctx.fail("slow") from error
        return await self.store.get(pmid)  # expect: error-contract-conformance

    @tool(errors=MORE)
    async def both(self, ctx: Context, pmid: str, store: "Store | None" = None) -> str:
        """Both."""
        if pmid:
            raise ctx.fail("slow" if store else "gone", data={"pmid": pmid})
        return pmid

    @tool
    async def bare(self, pmid: str) -> str:  # expect: error-contract-missing
        """Bare."""
        return await self.store.get(pmid)


@tool(errors=[])
def empty(ctx: Context) -> str:
    """Empty."""
    raise ctx.fail("gone")  # expect: error-contract-fail-undeclared
