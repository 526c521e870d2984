# message: the name 'fetch' is taken
from app import server

@server.tool()
def fetch() -> str: ...  # here
