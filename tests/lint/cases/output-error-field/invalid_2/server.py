# message: one returns Found, whose field problem is sent as 'error', which clients read as a failure
import models
from mcpcore import Server
from models import Found as Result

class Mine(Result):
    more: int

server = Server("x")

@server.tool()
def one() -> models.Found: ...  # here

@server.tool()
def two() -> Mine: ...  # here
