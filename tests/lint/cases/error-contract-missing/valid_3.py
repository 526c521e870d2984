from mcpcore import Server, not_found

server = Server("x")

@server.resource("x://{name}")
def read(name: str) -> str:
    raise not_found("resources take no errors")

@server.prompt()
def ask(name: str) -> str:
    raise not_found("nor do prompts")
