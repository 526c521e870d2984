from mcpcore import CodedError, ErrorCode, FailureMode, not_found, tool

BUSY = FailureMode("busy", ErrorCode.RATE_LIMITED, when="It is busy.", recovery="Wait 30 seconds and call again.")


def load(book: str) -> str:
    raise not_found(book)


@tool(errors=[BUSY])
def read(book: str) -> str:
    """Read a book."""
    last: CodedError | None = None
    for _ in range(3):
        try:
            return load(book)  # here
        except CodedError as error:
            last = error
    assert last is not None
    raise last
