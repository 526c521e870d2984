# message: without `from`
from mcpcore import not_found, tool

@tool
def fetch(a: str) -> str:
    try:
        return open(a).read()
    except (FileNotFoundError):
        raise not_found("x")  # here
    except PermissionError as denied:
        error = not_found("y")
        raise (error if a else not_found("z"))  # here
    except:
        raise not_found(  # here
            "x",  # why
        )
