"""`FailureMode.on` and `.on_code`: exceptions, codes, data and messages, and what they leave of the mode's type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel
from typing_extensions import TypedDict

from mcpcore import CodedError, Context, ErrorCode, FailureMode, Server, guard, resource, tool


class Row(BaseModel):
    row: int


@dataclass
class Place:
    x: int


class Page(TypedDict):
    number: int


class MissingError(LookupError):
    row: int = 7


class TakenError(Exception):
    row: int = 8
    by: str = "me"


class Coded(CodedError): ...


LIST_ROWS = "list the rows.".capitalize()
GONE = FailureMode("gone", ErrorCode.NOT_FOUND, when="It is gone.", recovery=LIST_ROWS)
NO_ROW = FailureMode("no_row", ErrorCode.NOT_FOUND, when="No row {row}.", recovery="List the rows.", data=Row)
NO_PLACE = FailureMode("no_place", ErrorCode.NOT_FOUND, when="No place.", recovery="List the places.", data=Place)
NO_PAGE = FailureMode("no_page", ErrorCode.NOT_FOUND, when="No page.", recovery="List the pages.", data=Page)


def sentence(exc: BaseException) -> str:
    return str(exc)


# What is right.
GONE.on(MissingError)
GONE.on(MissingError, message="The row is gone.")
GONE.on(MissingError, KeyError, OSError, TimeoutError, data=lambda exc: {"text": type(exc).__name__})
GONE.on(TakenError, data=lambda exc: Row(row=exc.row), message=lambda exc: f"Taken by {exc.by}.")
GONE.on(MissingError).on(TakenError).on_code(ErrorCode.CONFLICT, ErrorCode.TIMEOUT)
GONE.on_code(ErrorCode.CONFLICT, data=lambda exc: dict(exc.data or {}), message=lambda exc: exc.code.name)
NO_ROW.on(MissingError, data=lambda exc: Row(row=exc.row))
NO_ROW.on(MissingError, TakenError, data=lambda exc: Row(row=exc.row), message="It is missing.")
NO_ROW.on_code(ErrorCode.NOT_FOUND, data=lambda exc: Row(row=len(exc.message)))
NO_ROW.on(MissingError, data=lambda exc: Row(row=exc.row), message=str)
NO_ROW.on(MissingError, TakenError, data=lambda exc: Row(row=exc.row), message=str)
NO_ROW.on(MissingError, data=lambda exc: Row(row=exc.row), message=sentence)
GONE.on(MissingError, TakenError, data=lambda exc: Row(row=exc.row), message=lambda exc: f"{exc.row} is gone.")
NO_PLACE.on(MissingError, data=lambda exc: Place(x=exc.row))
NO_PAGE.on(MissingError, data=lambda exc: Page(number=exc.row))


def row_of(exc: LookupError) -> Row:
    return Row(row=len(exc.args))


NO_ROW.on(MissingError, KeyError, data=row_of)
MAPPED = NO_ROW.on(MissingError, data=row_of)


@tool(errors=[GONE.on(TakenError), MAPPED, NO_PLACE.on_code(ErrorCode.CONFLICT, data=lambda exc: Place(x=1))])
async def get_row(ctx: Context[Literal["gone", "no_row", "no_place"]], row: int) -> str:
    if row == 1:
        raise ctx.fail(GONE)
    if row == 2:
        raise ctx.fail(NO_ROW, data=Row(row=row))
    if row == 3:
        raise ctx.fail(MAPPED, data=Row(row=row))
    with ctx.guard({MissingError: "gone", ErrorCode.CONFLICT: GONE, (ErrorCode.TIMEOUT, OSError): "gone"}):
        return ""


@resource("rows://{row}", errors=[GONE.on(MissingError)])
def read_row(row: int) -> str:
    with guard("rows", errors={ErrorCode.CONFLICT: GONE, (KeyError, ErrorCode.TIMEOUT): ErrorCode.NOT_FOUND}):
        return str(row)


server = Server("rows", tools=[get_row], resources=[read_row])


# What is wrong: the exceptions and codes.
GONE.on()  # E: all - no exception
GONE.on(MissingError())  # E: all - an instance
GONE.on("MissingError")  # E: all - a string
GONE.on(ErrorCode.CONFLICT)  # E: all - a code
GONE.on(KeyboardInterrupt)  # E: all - no Exception
GONE.on(MissingError, BaseException)  # E: all - no Exception
GONE.on((MissingError, KeyError))  # E: all - a tuple
GONE.on(int)  # E: all - no exception class
GONE.on_code()  # E: all - no code
GONE.on_code("CONFLICT")  # E: all - a string
GONE.on_code(-32000)  # E: all - a number
GONE.on_code(MissingError)  # E: all - a class
GONE.on_code(ErrorCode.CONFLICT, KeyError)  # E: all - a class

# The data of the failure.
NO_ROW.on(MissingError)  # E: all - the data is missing
NO_ROW.on_code(ErrorCode.CONFLICT)  # E: all - the data is missing
NO_PLACE.on(MissingError)  # E: all - the data is missing
NO_PAGE.on(MissingError, message="It is missing.")  # E: all - the data is missing
NO_ROW.on(MissingError, data=None)  # E: all - the data is missing
NO_ROW.on(MissingError, data=Row(row=1))  # E: all - data, not a function
NO_ROW.on(MissingError, data=lambda exc: {"row": exc.row})  # E: all - a dict, not the model
NO_ROW.on(MissingError, data=lambda exc: Place(x=exc.row))  # E: all - data of another model
NO_PLACE.on(MissingError, data=lambda exc: Row(row=exc.row))  # E: all - data of another model
NO_ROW.on_code(ErrorCode.CONFLICT, data=lambda exc: Place(x=1))  # E: all - data of another model
NO_ROW.on(MissingError, data=lambda exc: Row(row="7"))  # E: mypy pyright basedpyright - a field of another type
NO_ROW.on(MissingError, data=lambda exc: None)  # E: all - no data
NO_ROW.on(MissingError, data=lambda: Row(row=7))  # E: all - the function takes nothing
NO_ROW.on(TakenError, data=row_of)  # E: all - a function of another exception
NO_ROW.on(MissingError, TakenError, data=row_of)  # E: all - a function of another exception
NO_ROW.on(MissingError, data=lambda exc: Row(row=exc.rows))  # E: all - no such attribute
NO_ROW.on(MissingError, KeyError, data=lambda exc: Row(row=exc.row))  # E: all - an attribute of one of them
NO_ROW.on_code(ErrorCode.CONFLICT, data=lambda exc: Row(row=exc.row))  # E: all - no such attribute
GONE.on(MissingError, data=lambda exc: exc.row)  # E: mypy pyright basedpyright pyrefly - a number

# The message and the options.
GONE.on(MissingError, message=7)  # E: all - no sentence
GONE.on(MissingError, message=lambda exc: exc.row)  # E: all - no sentence
GONE.on(MissingError, message=lambda exc: exc.by)  # E: all - no such attribute
GONE.on(MissingError, TakenError, message=lambda exc: exc.by)  # E: pyright basedpyright ty pyrefly - an attribute of one of them
GONE.on_code(ErrorCode.CONFLICT, message=lambda exc: exc.code)  # E: all - no sentence
GONE.on(MissingError, mesage="It is gone.")  # E: all - no such parameter
GONE.on(exc=MissingError)  # E: all - no such parameter

# The type that is left.
number: int = GONE.on(MissingError)  # E: all - a failure mode


def fails(ctx: Context[Literal["gone", "no_row"]], response: Any) -> CodedError:
    with ctx.guard({ErrorCode.CONFLICT: "gon"}):  # E: all - misspelt reason
        pass
    if response:
        return ctx.fail(MAPPED, data=Place(x=1))  # E: all - data of another model
    return ctx.fail(NO_PAGE.on(MissingError, data=lambda exc: Page(number=1)), data=Page(number=1))  # E: plugin pyright basedpyright ty pyrefly - undeclared mode


@tool(errors=[GONE.on(MissingError), MAPPED])  # E: plugin - undeclared reason
def misnamed(ctx: Context[Literal["gone", "no_rows"]]) -> str:
    return ""


Server("wrong", tools=[misnamed])  # E: pyright basedpyright - undeclared reason
