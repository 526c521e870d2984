from mcpcore import not_found, tool

@tool
def fetch(a: str) -> str:
    try:
        return open(a).read()
    except (FileNotFoundError) as exc:
        raise not_found("x") from exc
    except PermissionError as denied:
        error = not_found("y")
        raise (error if a else not_found("z")) from denied
    except BaseException as exc:
        raise not_found(
            "x",  # why
        ) from exc
