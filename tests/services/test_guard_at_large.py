"""`guard` with code from other authors: groups, unusual callables, hostile exceptions and concurrent calls."""

from __future__ import annotations

import abc
import asyncio
import functools
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import httpx
import pytest
from mcp.client import Client
from pydantic import BaseModel

from mcpcore import (
    CodedError,
    Context,
    ErrorCode,
    FailureMode,
    Retry,
    Server,
    guard,
    not_found,
    retrying,
    tool,
)
from mcpcore.services import decorated
from tests.answers import envelope_of

NO_ROW = FailureMode(
    "no_row", ErrorCode.NOT_FOUND, when="No such row.", recovery="Call list_rows to see what there is."
)
BUSY = FailureMode("busy", ErrorCode.RATE_LIMITED, when="Too much at once.", recovery="Wait and then try again.")
NEVER = FailureMode(
    "spent", ErrorCode.RATE_LIMITED, when="Spent.", recovery="Buy more credit for it.", retry=Retry.never()
)


def raised(act: Callable[[], object]) -> Exception:
    with pytest.raises(Exception) as caught:
        act()
    return caught.value


def test_one_guard_serves_many_functions_and_names_each(caplog: pytest.LogCaptureFixture) -> None:
    """The log has the name of the function that failed, not of the first decorated one."""
    both = guard(errors={KeyError: ErrorCode.NOT_FOUND})

    @both
    def first() -> None:
        raise KeyError

    @both
    def second() -> None:
        raise KeyError

    for fn in (first, second):
        raised(fn)
    names = [record.mcpcore["operation"] for record in caplog.records]  # type: ignore[attr-defined]
    assert ["first", "second"] == [name.rpartition(".")[2] for name in names]


class Store:
    """Callables of every kind."""

    @guard("method", errors={KeyError: NO_ROW})
    def method(self) -> None:
        raise KeyError

    @guard("outside", errors={KeyError: NO_ROW})
    @classmethod
    def over_class(cls) -> None:
        raise KeyError(cls)

    @classmethod
    @guard("inside", errors={KeyError: NO_ROW})
    def under_class(cls) -> None:
        raise KeyError(cls)

    @guard("static", errors={KeyError: NO_ROW})
    @staticmethod
    def static() -> None:
        raise KeyError

    async def __call__(self) -> None:
        await asyncio.sleep(0)
        raise KeyError


async def fetch() -> None:
    raise KeyError


@pytest.mark.parametrize("name", ["method", "over_class", "under_class", "static"])
def test_methods_of_every_kind_are_guarded(name: str) -> None:
    """The guard may be above or below `classmethod` and `staticmethod`."""
    assert "no_row" == getattr(raised(getattr(Store(), name)), "reason", None)


@pytest.mark.parametrize(
    "fn",
    [Store(), functools.partial(fetch), functools.partial(Store()), lambda: fetch()],  # noqa: PLW0108
    ids=["callable object", "partial", "partial of an object", "plain function"],
)
def test_any_callable_that_returns_a_coroutine_is_guarded_until_it_ends(fn: Callable[[], Any]) -> None:
    """Awaiting raises the failure with its code."""
    assert "no_row" == getattr(raised(lambda: asyncio.run(guard(errors={KeyError: NO_ROW})(fn)())), "reason", None)


def test_unsupported_objects_cannot_be_decorated() -> None:
    """These are a tool (the guard goes below), a class, a property and a number."""

    @tool
    def act() -> None: ...

    for wrong in (act, Store, property(lambda self: None), 3):
        with pytest.raises(TypeError, match=r"guard"):
            guard()(wrong)  # type: ignore[type-var]
    with pytest.raises(TypeError, match="cancellation"):
        guard(errors={asyncio.CancelledError: ErrorCode.TIMEOUT})
    assert fetch is decorated(fetch, "x", lambda fn: fn)


class KnownError(Exception, abc.ABC):
    """A virtual base."""


class ForeignError(Exception):
    """Registered with it, but not derived from it."""


KnownError.register(ForeignError)


def test_a_type_registered_with_a_key_matches_that_key() -> None:
    """The exception's own base classes come first, then the classes that it is registered with."""
    assert ErrorCode.CONFLICT == getattr(
        raised(lambda: guard(errors={KnownError: ErrorCode.CONFLICT})(throw)(ForeignError())), "code", None
    )
    both = guard(errors={KnownError: ErrorCode.CONFLICT, Exception: ErrorCode.TIMEOUT})
    assert ErrorCode.TIMEOUT == getattr(raised(lambda: both(throw)(ForeignError())), "code", None)


def throw(exc: BaseException) -> None:
    raise exc


def test_group_members_that_become_the_same_are_merged() -> None:
    """They may be nested, and the group is the cause."""
    group = ExceptionGroup("g", [KeyError(1), ExceptionGroup("h", [KeyError(2)])])
    exc = raised(lambda: guard(errors={KeyError: NO_ROW})(throw)(group))
    assert ("no_row", group) == (getattr(exc, "reason", None), exc.__cause__)


def test_group_members_that_differ_are_mapped_separately() -> None:
    """A coded error is kept, the others are mapped with themselves as the cause, and `except*` finds them."""
    coded = not_found("gone")
    key, value = KeyError("hunter2"), ValueError("v")
    errors: list[CodedError] = []
    try:
        with guard(errors={KeyError: NO_ROW}):
            raise ExceptionGroup("g", [coded, key, value])
    except* CodedError as group:
        errors = [leaf for leaf in group.exceptions if isinstance(leaf, CodedError)]
    assert [coded, "no_row", ErrorCode.VALIDATION_ERROR] == [errors[0], errors[1].reason, errors[2].code]
    assert [None, key, value] == [leaf.__cause__ for leaf in errors]


def test_groups_without_an_entry() -> None:
    """A group with a coded error passes, so the boundary can choose; otherwise `classify` decides."""
    coded = ExceptionGroup("g", [not_found("gone"), ValueError()])
    assert coded is raised(lambda: guard(errors={KeyError: NO_ROW})(throw)(coded))
    plain = raised(lambda: guard()(throw)(ExceptionGroup("g", [TimeoutError(), TimeoutError()])))
    assert ErrorCode.TIMEOUT == getattr(plain, "code", None)
    whole = raised(lambda: guard(errors={ExceptionGroup: ErrorCode.CONFLICT})(throw)(ExceptionGroup("g", [KeyError()])))
    assert ErrorCode.CONFLICT == getattr(whole, "code", None)


def test_a_group_with_a_cancellation_passes_unchanged() -> None:
    """It is not a failure of this service."""
    group = BaseExceptionGroup("g", [asyncio.CancelledError(), KeyError()])
    with pytest.raises(BaseExceptionGroup) as caught, guard(errors={KeyError: NO_ROW}):
        raise group
    assert group is caught.value


class HostileError(Exception):
    """Refuses every operation."""

    def __str__(self) -> str:
        raise RuntimeError("no text")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(name)

    def __getattr__(self, name: str) -> object:
        return True


def test_a_hostile_exception_is_mapped_and_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    """It has no text and no attributes, and answers every question, but there is one record and one code."""

    @guard(error_mapper=lambda exc: exc)
    def same(exc: Exception) -> None:
        throw(exc)

    exc = raised(lambda: guard("outer", code=ErrorCode.CONFLICT)(same)(HostileError()))
    assert (ErrorCode.CONFLICT, 1) == (getattr(exc, "code", None), len(caplog.records))


class SealedError(HostileError):
    """Has no accessible `__dict__`."""

    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        raise RuntimeError


def test_an_exception_that_cannot_be_marked_is_still_mapped(caplog: pytest.LogCaptureFixture) -> None:
    """Each guard on the way logs it, since none can see that another one did."""
    exc = raised(lambda: guard("x", code=ErrorCode.CONFLICT)(throw)(SealedError()))
    assert (ErrorCode.CONFLICT, 1) == (getattr(exc, "code", None), len(caplog.records))


def test_a_mapper_that_returns_the_cause_creates_no_cycle() -> None:
    """An exception already in the chain is not chained in reverse, and an existing cause is kept."""
    inner, outer, third = ValueError("inner"), RuntimeError("outer"), KeyError()
    outer.__cause__ = inner
    third.__context__ = outer
    assert inner is raised(lambda: guard(error_mapper=lambda exc: inner)(throw)(third))
    assert inner.__cause__ is None
    own = OSError("own")
    own.__cause__ = inner
    assert inner is raised(lambda: guard(error_mapper=lambda exc: own)(throw)(KeyError())).__cause__


@dataclass
class Login:
    user: str
    password: str


class Form(BaseModel):
    api_key: str
    page: int


def test_secrets_in_models_texts_and_tracebacks_are_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    """Fields are redacted by name and texts by shape, including in tracebacks and beyond the cut."""
    secret = "hunter2hunter2"
    arguments = {"form": Form(api_key=secret, page=3), "login": Login("ann", secret), "line": f"password={secret}"}
    with pytest.raises(CodedError), guard("x", input=arguments, context={"token": secret, "n": 1}):
        raise RuntimeError(f"line\n{'x' * 980} password={secret}")
    text = caplog.text + str(caplog.records[0].mcpcore)  # type: ignore[attr-defined]
    assert secret not in text.replace(f'secret = "{secret}"', "")
    assert "RuntimeError" in caplog.text
    assert "'page': 3" in text
    assert "\n" not in caplog.records[0].getMessage()


def test_errors_of_the_input_function_are_ignored(caplog: pytest.LogCaptureFixture) -> None:
    """The failure propagates unchanged, and a `with` block calls the function without arguments."""

    @guard(input=lambda: None)
    def act(key: str) -> None:
        raise KeyError(key)

    assert isinstance(raised(lambda: act("x")), CodedError)
    assert "input= raised TypeError" in caplog.text
    with pytest.raises(CodedError), guard("y", input=lambda: {"n": 41}):
        raise KeyError
    assert '"n":41' in caplog.text


def test_a_disabled_log_level_costs_no_work() -> None:
    """The input function is not even called."""
    asked: list[int] = []
    logger = logging.getLogger("mcpcore.services")
    logger.setLevel(logging.CRITICAL + 1)
    try:
        with pytest.raises(CodedError), guard("y", input=lambda: asked.append(1)):
            raise KeyError
        assert isinstance(raised(lambda: retrying(attempts=1)(throw)(TimeoutError())), CodedError)
    finally:
        logger.setLevel(logging.NOTSET)
    assert not asked


def test_a_traceback_that_cannot_be_formatted_is_noted(caplog: pytest.LogCaptureFixture) -> None:
    """The record says so and still describes the operation."""

    class Unspeakable:
        def __format__(self, spec: str) -> str:
            raise RuntimeError

    class UnnamedError(Exception):
        __module__: Any = Unspeakable()

    with pytest.raises(CodedError), guard("x"):
        raise UnnamedError
    (record,) = caplog.records
    assert "could not be formatted: RuntimeError" in record.getMessage()
    assert ("x", None) == (record.mcpcore["operation"], record.exc_info)  # type: ignore[attr-defined]


def limited() -> httpx.HTTPStatusError:
    request = httpx.Request("GET", "http://x")
    return httpx.HTTPStatusError(
        "429", request=request, response=httpx.Response(429, headers={"Retry-After": "7"}, request=request)
    )


@pytest.mark.parametrize(
    ("target", "advice"),
    [
        (BUSY, Retry.after(seconds=7)),
        (NEVER, Retry.never()),
        (ErrorCode.RATE_LIMITED, Retry.after(seconds=7)),
        (ErrorCode.CONFLICT, ErrorCode.CONFLICT.retry),
        ("busy", Retry.after(seconds=7)),
    ],
)
def test_the_declaration_decides_and_a_retry_after_fills_in(target: Any, advice: Retry) -> None:
    """An entry without retry advice uses the wait from the response."""
    exc = raised(lambda: guard(errors={httpx.HTTPStatusError: target})(throw)(limited()))
    assert isinstance(exc, CodedError)
    assert advice == exc.advice


@pytest.mark.usefixtures("door")
@pytest.mark.anyio
async def test_an_explicit_context_declares_the_reasons() -> None:
    """Outside a request `ctx=` selects the contract; an undeclared reason keeps the exception's code."""

    @tool(errors=[NO_ROW])
    def get(ctx: Context[Literal["no_row"]], reason: str) -> None:
        with guard(errors={KeyError: reason}, ctx=ctx):
            raise KeyError

    exc = raised(lambda: get(reason="no_row"))
    assert isinstance(exc, CodedError)
    assert ("no_row", ErrorCode.NOT_FOUND) == (exc.reason, exc.code)
    other = raised(lambda: get(reason="other"))
    assert isinstance(other, CodedError)
    assert ("other", ErrorCode.INTERNAL_ERROR) == (other.reason, other.code)
    async with Client(Server("rows", tools=[get])) as client:
        envelope = envelope_of(await client.call_tool("get", {"reason": "no_row"}))
    assert "no_row" == envelope.reason
