"""What the server calls."""

from mcpcore import CodedError, ErrorCode, conflict, forbidden, not_found, rate_limited


class StoreError(CodedError):
    """A failure of the store."""


class Store:
    def __init__(self, url: str) -> None:
        self.url = url

    async def get(self, pmid: str) -> str:
        return await self._request(pmid)

    async def _request(self, pmid: str) -> str:
        if not pmid:
            raise rate_limited("slow down")
        raise not_found("x", data={"reason": "gone"})

    async def put(self, pmid: str) -> None:
        if pmid:
            raise conflict("x", reason="changed")
        raise conflict("x", reason="gone")


def locked(pmid: str) -> CodedError:
    return forbidden(f"{pmid} is locked")
