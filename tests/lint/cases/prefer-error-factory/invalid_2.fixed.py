import mcpcore
from mcpcore import ErrorCode as E

@mcpcore.tool
def fetch(a: str) -> str:
    if a:
        error = mcpcore.timeout(message="slow")
        raise error
    raise mcpcore.conflict()
