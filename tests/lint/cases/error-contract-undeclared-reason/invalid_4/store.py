from mcpcore import not_found

async def load(a):
    return _read(a)

def _read(a):
    raise not_found("x", reason="gonee")
