# message: `except BaseException` in fetch swallows cancellation
from mcpcore import tool

@tool
async def fetch(a: str) -> str:
    failure = None
    try:
        text = open(a).read()
    except BaseException as error:  # here
        failure = error
    return f"{failure}"
