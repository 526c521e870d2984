from mcpcore import Contract
ERRORS = Contract([])
