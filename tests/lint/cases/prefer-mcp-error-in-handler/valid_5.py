from mcpcore import tool, validation_error

@tool
def fetch(pmid: str) -> str:
    try:
        if not pmid.isdigit():
            raise ValueError(pmid)
        return pmid
    except ValueError as error:
        raise validation_error("a PMID is a number") from error

def service(pmid: str) -> str:
    raise ValueError("services are not handlers")
