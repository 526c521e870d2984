from mcpcore import tool


def query(*errors):
    if not errors:
        return tool(read_only=True)
    return tool(errors=[*errors], read_only=True)


@query()
async def one() -> str:
    """One."""
    return "1"
