from mcpcore.integrations.fastmcp import ContractMiddleware
MIDDLEWARE = ContractMiddleware(external_tools=frozenset({"fourth"}))
