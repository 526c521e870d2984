# message: fetch guards with the reason 'no_itme', which its contract does not declare
from mcpcore import ErrorCode, FailureMode, guard, tool
from store import by_name, load, shared

TABLE = {(KeyError, IndexError): "no_itm"}

@tool(errors=[FailureMode("no_item", ErrorCode.NOT_FOUND, when="x", recovery="y")])
@guard(errors={OSError: "no_itme"})  # here
async def fetch(a: str) -> str:
    with guard("fetch", errors={KeyError: "no_itm"}):  # here
        load(a)  # here
    async with guard(errors=TABLE):  # here
        shared(a)
    with guard(errors={KeyError: "unlike"}):  # here
        shared(a)
    with by_name:  # here
        return a
