from pydantic import BaseModel, Field
class Found(BaseModel):
    problem: str = Field(serialization_alias="error")
