from mcpcore import Context, ErrorCode, FailureMode, tool

BASE = {"missing": "no_order", "late": "too_late"}
OWN = {**BASE, "missing": "no_item"}


@tool(errors=[FailureMode("no_item", ErrorCode.NOT_FOUND, when="No item has it.", recovery="Call list_items first.")])
def item(ctx: Context, item_id: str) -> str:
    """Read an item."""
    raise ctx.fail(OWN["missing"], data={"item_id": item_id})
