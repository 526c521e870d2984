from mcpcore import prompt, resource
from pydantic import BaseModel

class Inner(BaseModel):
    error: str

@resource("a://b")
def one() -> Inner: ...
