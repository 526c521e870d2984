from mcpcore import CodedError, Context, ErrorCode, FailureMode, tool

GONE = FailureMode("gone", ErrorCode.NOT_FOUND, when="The page was deleted.", recovery="Look for a newer page.")


def load(ctx: Context, key: str) -> str:
    if not key:
        raise ctx.fail("gone")
    raise ctx.fail("lost")


# Only `gone` is raised again; which reason passes a condition is not known, so nothing is said.
@tool(errors=[GONE], read_only=True)
async def fetch(ctx: Context, key: str) -> str:
    """Fetch a page."""
    try:
        return load(ctx, key)
    except CodedError as exc:
        if exc.reason == GONE.reason:
            raise
        return ""


@tool(errors=[GONE], read_only=True)
async def fetch_or_nothing(ctx: Context, key: str) -> str:
    """Fetch a page."""
    try:
        return load(ctx, key)
    except CodedError as exc:
        known = exc.reason in ("gone",)
        if known:
            raise
        return ""
