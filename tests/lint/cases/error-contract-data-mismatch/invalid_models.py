# message: lacks 'taken_by'
from dataclasses import dataclass
from typing import NotRequired, TypedDict

from mcpcore import Context, ErrorCode, FailureMode, tool
from pydantic import BaseModel, ConfigDict, Field


class Room(BaseModel):
    room: str
    taken_by: str | None
    floor: int = 0


@dataclass
class House:
    room: str
    house: str


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    room: str


class Suite(Room):
    beds: int = 2


class Found(TypedDict):
    room: str
    taken_by: str
    since: NotRequired[str]


class Renamed(BaseModel):
    number: str = Field(alias="room")


TAKEN = FailureMode("taken", ErrorCode.CONFLICT, when="It is taken.", recovery="Take another room.", data=Room)


@tool(errors=[TAKEN])
def one(ctx: Context, room: str, **more: str) -> str:
    """One."""
    match room:
        case "1":
            raise ctx.fail(TAKEN, data=Room(room=room))  # here
        case "2":
            raise ctx.fail(TAKEN, data=House(room, "b"))  # here
        case "3":
            raise ctx.fail(TAKEN, data=Room(room=room, taken_by=None))
        case "4":
            raise ctx.fail(TAKEN, data=Open(room=room))
        case "5":
            raise ctx.fail(TAKEN, data=Renamed(room=room))
        case "6":
            raise ctx.fail(TAKEN, data=Suite(room=room, taken_by=None))
        case "7":
            raise ctx.fail(TAKEN, data=Found(room=room, taken_by="a"))
    raise ctx.fail(TAKEN, data=Room(room=room, **more))
