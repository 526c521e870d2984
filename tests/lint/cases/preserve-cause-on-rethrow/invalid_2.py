# message: the `except` of FileNotFoundError raises CodedError without `from`, so the log shows its cause as an unrelated error
from mcpcore import not_found, tool

@tool
def fetch(a: str) -> str:
    try:
        return open(a).read()
    except FileNotFoundError as error:
        error = not_found("x")
        raise error  # here
    except PermissionError as error:
        raise (error := not_found("x"))  # here
    except ConnectionError as error:
        error = not_found("x")
        raise error from error  # here
    except OSError as caught:
        error = not_found("x")
        raise error from error  # here
