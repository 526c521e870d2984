async def call(name, arguments):
    if name == "fetch":
        return await handle_fetch(None, arguments)
async def handle_fetch(tools, arguments):
    return []
