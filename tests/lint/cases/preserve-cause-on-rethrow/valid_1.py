from mcpcore import not_found, tool

@tool
def fetch(a: str) -> str:
    try:
        return open(a).read()
    except FileNotFoundError as error:
        raise not_found("x") from error
    except PermissionError:
        raise not_found("x") from None
    except OSError as error:
        if a:
            raise
        if not a:
            raise error
        again = error
        raise again
    except ValueError:
        def later():
            raise not_found("not in the clause")
        return ""
    except KeyError as error:
        raise error from error  # the caught one, raised again
