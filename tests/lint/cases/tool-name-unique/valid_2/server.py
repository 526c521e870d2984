from app import server

@server.tool()
def fetch() -> str: ...
