from mcpcore import CodedError, Context, ErrorCode, FailureMode, tool

GONE = FailureMode("gone", ErrorCode.NOT_FOUND, when="It is gone.", recovery="Call list_books to see what there is.")


def load(ctx: Context, book: str) -> str:
    raise ctx.fail("gone")


@tool(errors=[GONE])
def read(ctx: Context, book: str) -> str:
    """Read a book."""
    last = None
    for _ in range(3):
        try:
            return load(ctx, book)
        except CodedError as error:
            last = error
    raise last
