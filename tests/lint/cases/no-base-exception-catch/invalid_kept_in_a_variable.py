# message: `except BaseException` in fetch swallows cancellation
from mcpcore import tool

@tool
async def fetch(a: str) -> str:
    failure = None
    try:
        text = await load(a)
    except BaseException as error:  # here
        failure = error
    return f"{failure}"
