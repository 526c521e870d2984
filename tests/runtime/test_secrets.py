"""Secrets planted wherever an exception can hold them reach no client surface."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Annotated, Any

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from pydantic import AfterValidator, BaseModel, TypeAdapter, field_serializer, model_validator

from mcpcore import Context, ErrorCode, FailureMode, Server, not_found, tool

pytestmark = pytest.mark.usefixtures("door")

SECRET = "hunter2-correct-horse"
NO_MATCH = FailureMode("no_match", ErrorCode.NOT_FOUND, when="Nothing.", recovery="Search.")


def text() -> None:
    raise ValueError(SECRET)


def cause() -> None:
    raise RuntimeError("outer") from OSError(2, SECRET, f"/home/{SECRET}")


def context() -> None:
    try:
        raise KeyError(SECRET)
    except KeyError:
        raise TimeoutError  # noqa: B904


def local_and_argument() -> None:
    password = SECRET
    dict[str, str]()[password]


def note() -> None:
    exc = ValueError("x")
    exc.add_note(SECRET)
    raise exc


def group() -> None:
    raise ExceptionGroup(SECRET, [ValueError(SECRET), OSError(SECRET)])


def type_name() -> None:
    raise type(SECRET.replace("-", "_"), (Exception,), {})


def attribute() -> None:
    exc: Any = PermissionError("x")
    exc.token = SECRET
    exc.response = {"headers": {"Authorization": SECRET}}
    raise exc


def validation() -> None:
    TypeAdapter(dict[str, int]).validate_python({SECRET: SECRET})


def exit_text() -> None:
    raise SystemExit(SECRET)


def coded_from_secret() -> None:
    try:
        raise ConnectionError(SECRET)
    except ConnectionError as exc:
        raise not_found("Gone.", {"reason": "no_match"}) from exc


def misspelt() -> None:
    Context().fail(SECRET)


class Result(BaseModel):
    number: int

    @field_serializer("number")
    def written(self, number: int) -> int:
        if number == 13:
            raise ValueError(SECRET)
        return number

    @model_validator(mode="after")
    def checked(self) -> Result:
        if self.number == 12:
            raise ValueError(SECRET)
        return self


PLANTED: list[Callable[[], Any]] = [
    text, cause, context, local_and_argument, note, group, type_name, attribute, validation, exit_text,
    coded_from_secret, misspelt, lambda: {"number": SECRET}, lambda: {SECRET: 1},
    lambda: Result.model_construct(number=12), lambda: Result.model_construct(number=13),
]  # fmt: skip


def crash(value: str) -> str:
    raise LookupError(value)


def serving(**options: Any) -> Server[Any]:
    server: Server[Any] = Server("s", **options)

    def fails(number: int) -> Result:
        return PLANTED[number]()  # type: ignore[no-any-return]

    async def fails_async(number: int) -> Result:
        return PLANTED[number]()  # type: ignore[no-any-return]

    server.add_tool(tool(errors=[NO_MATCH])(fails))
    server.add_tool(tool(errors=[NO_MATCH])(fails_async))
    server.add_tool(fails, name="sdk")

    @tool
    def invalid(x: Annotated[str, AfterValidator(crash)]) -> str:
        return x

    server.add_tool(invalid)
    server.add_tool(invalid.handler, name="sdk_invalid")

    @server.tool(name="sdk_nested")
    async def sdk_nested(number: int) -> str:
        return str(await server.call_tool("sdk", {"number": number}))

    @server.tool(name="nested", errors=[NO_MATCH])
    async def nested(number: int) -> str:
        return str(await server.call_tool("fails", {"number": number}))

    @server.tool(name="misused", errors=[NO_MATCH])
    async def misused(name: str) -> str:
        return str(await server.call_tool(name, {"number": SECRET}))

    return server


CALLS: list[tuple[str, dict[str, Any]]] = [
    *[
        (name, {"number": number})
        for name in ("fails", "fails_async", "sdk", "sdk_nested", "nested")
        for number in range(len(PLANTED))
    ],
    ("fails", {"number": SECRET}),
    ("sdk", {"number": SECRET}),
    ("invalid", {"x": SECRET}),
    ("sdk_invalid", {"x": SECRET}),
    ("misused", {"name": "fails"}),
    ("misused", {"name": "sdk"}),
]


async def surfaces(server: Server[Any], era: str, door: str) -> list[tuple[str, dict[str, Any], str]]:
    """Return everything that a client gets for every call, results and protocol errors."""
    answers = []
    async with Client(server, mode=era) as client:
        for name, arguments in CALLS:
            try:
                result = await client.call_tool(name, arguments)
                # FastMCP does not validate results of its plain tools, and dumps values that do not fit their model.
                assert result.is_error or (door == "fastmcp" and name.startswith("sdk")), (name, arguments)
                answer = result.model_dump_json()
            except MCPError as error:
                answer = f"{error.message} {error.data}"
            answers.append((name, arguments, answer))
    return answers


def test_no_planted_secret_reaches_a_client(era: str, door: str, caplog: pytest.LogCaptureFixture) -> None:
    """Texts, causes, locals, notes, groups, types, validation input and broken results have secrets; logs show them."""
    caplog.set_level(logging.INFO)
    leaked = [
        (name, arguments, answer)
        for name, arguments, answer in anyio.run(surfaces, serving(), era, door)
        if "hunter2" in answer or "correct_horse" in answer
    ]
    assert [] == leaked
    assert SECRET in caplog.text


def test_with_exposure_they_are_shown(era: str, door: str) -> None:
    """This proves that the test above would notice a leak, and lets developers see the cause."""
    served = serving(expose_internal_errors=True)
    assert (
        len([answer for _, _, answer in anyio.run(surfaces, served, era, door) if "hunter2" in answer]) > len(CALLS) / 2
    )
