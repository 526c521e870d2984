from mcpcore import Context, ErrorCode, FailureMode, tool

BUSY = FailureMode("busy", ErrorCode.RATE_LIMITED, when="It is busy.", recovery="Wait 30 seconds and call again.")
GONE = FailureMode("gone", ErrorCode.NOT_FOUND, when="It is gone.", recovery="Call list_books to see what there is.")


def query(*errors):
    errors = (*errors, BUSY)

    def decorate(function):
        return tool(errors=[*errors], read_only=True)(function)

    return decorate


@query(GONE)
def lend(ctx: Context, book: str) -> str:
    """Lend a book."""
    if book:
        raise ctx.fail("busy")
    raise ctx.fail("gone")
