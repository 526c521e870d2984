from mcpcore import Server, not_found, timeout, tool


def endpoint(title: str):
    return tool(title=title, read_only=True)


@endpoint("One")
async def one(a: str) -> str:  # here
    raise not_found("no")


async def two(a: str) -> str:  # here
    raise not_found("no")


async def three(a: str) -> str:
    raise timeout("no")


server = Server("s")
for function in (two, three):
    server.add_tool(tool(read_only=True)(function))
