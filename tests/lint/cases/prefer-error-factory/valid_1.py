from mcpcore import CodedError, CustomCode, ErrorCode, not_found, tool

QUOTA = CustomCode("QUOTA", 1, http_status=429, category="upstream", retry=None, sentence="x")

@tool
def fetch(a: str, code: ErrorCode) -> str:
    if a == "1":
        raise not_found("x")
    if a == "2":
        raise CodedError(QUOTA, "x")
    if a == "3":
        raise CodedError(ErrorCode.UNKNOWN_ERROR, "no factory")
    if a == "4":
        raise CodedError(ErrorCode.NOT_FOUND if a else ErrorCode.CONFLICT, "x")
    raise CodedError(code, "x")
