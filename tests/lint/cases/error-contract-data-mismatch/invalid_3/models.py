from pydantic import BaseModel

class Base(BaseModel):
    query: str
