# message: raises RuntimeError
from mcpcore import tool
import builtins as b

Bad = ValueError

@tool
async def fetch(pmid: str) -> str:
    if not pmid:
        raise b.RuntimeError("no")  # here
    if pmid == "1":
        raise Bad("no")  # here
    if pmid == "2":
        error = Exception("no")  # here
        raise error
    if pmid == "3":
        raise KeyError  # here
    match pmid:
        case "4":
            raise (ValueError("a") if pmid else LookupError("b")).with_traceback(None)  # here
        case _:
            pass

    def inner():
        raise OSError("no")  # here

    return inner()
