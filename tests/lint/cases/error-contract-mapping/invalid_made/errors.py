from mcpcore import ErrorCode, FailureMode


def missing(reason, error):
    return FailureMode(
        reason, ErrorCode.NOT_FOUND, when="It is gone.", recovery="Call list_books to see what there is."
    ).on(error)
