import mcpcore
MODE = mcpcore.FailureMode("a", mcpcore.ErrorCode.CONFLICT, when="x", recovery="Read it again.")
