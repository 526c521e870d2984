# settings: {"min_recovery_words": 3}
from mcpcore import ErrorCode, FailureMode

A = FailureMode("a", ErrorCode.NOT_FOUND, when="x", recovery="Call search_articles first.")
