"""Handlers of every shape: their type after the decorator, and the reasons that their context accepts."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Coroutine
from enum import StrEnum
from typing import Any, Final, Literal, ParamSpec, TypeAlias, TypeVar

from typing_extensions import assert_type

from mcpcore import CodedError, Context, Contract, ErrorCode, FailureMode, Retry, Server, Tool, tool

P = ParamSpec("P")
T = TypeVar("T")


# A sync handler: a call of the tool gives what the handler returns.
@tool(
    errors=[
        FailureMode("no_match", ErrorCode.NOT_FOUND, when="Nothing matches.", recovery="Search first."),
        FailureMode("queue_full", ErrorCode.RATE_LIMITED, when="The queue is full.", recovery="Wait 30 seconds."),
    ]
)
def sync_handler(ctx: Context[Literal["no_match", "queue_full"]], pmids: list[str], limit: int = 10) -> list[str]:
    if not pmids:
        raise ctx.fail("no_match", "None.", data={"pmids": pmids})
    if limit > 10:
        raise ctx.fail("queue_ful")  # E: all - misspelt reason
    raise ctx.fail("queue_full", recovery=None) from ValueError()


assert_type(sync_handler(["1"]), list[str])
assert_type(sync_handler(pmids=["1"], limit=3), list[str])
sync_handler(pmids=3)  # E: all - the arguments are those of the handler, without its context
sync_handler()  # E: all - an argument is missing


# An async handler: a call of the tool gives a coroutine.
@tool(errors=[FailureMode("no_match", ErrorCode.NOT_FOUND, when="Nothing matches.", recovery="Search first.")])
async def async_handler(ctx: Context[Literal["no_match"]], pmid: str) -> str:
    if pmid == "0":
        raise ctx.fail("no_mach")  # E: all - misspelt reason
    raise ctx.fail("no_match")


async def calls_async() -> None:
    assert_type(await async_handler(pmid="1"), str)
    result: str = async_handler(pmid="1")  # E: all - the call of an async tool is awaited
    print(result)


# Some of the declared reasons only.
@tool(
    errors=[
        FailureMode("one", ErrorCode.NOT_FOUND, when="One.", recovery="Do one."),
        FailureMode("two", ErrorCode.CONFLICT, when="Two.", recovery="Do two."),
    ]
)
async def narrowed(ctx: Context[Literal["one"]], name: str) -> str:
    if name:
        raise ctx.fail("two")  # E: all - declared, but not among the reasons that this context names
    raise ctx.fail("one")


# No type argument: any reason, which the linter judges.
@tool(errors=[FailureMode("one", ErrorCode.NOT_FOUND, when="One.", recovery="Do one.")])
def bare_context(ctx: Context, name: str) -> str:
    raise ctx.fail("one", name)


# No context.
@tool(errors=[FailureMode("one", ErrorCode.NOT_FOUND, when="One.", recovery="Do one.")])
def no_context(name: str) -> str:
    return name


@tool(errors=[FailureMode("one", ErrorCode.NOT_FOUND, when="One.", recovery="Do one.")])
def no_parameters() -> int:
    return 1


assert_type(no_context("x"), str)
assert_type(no_parameters(), int)


# Without parentheses, with empty ones, with options alone.
@tool
def plain(name: str) -> str:
    return name


@tool
async def plain_async(ctx: Context, name: str) -> str:
    await ctx.report_progress(1, 2)
    return name


@tool()
def parentheses(name: str) -> str:
    return name


@tool(name="other", title="Other", meta={"a": 1}, structured_output=False)
async def options_only(ctx: Context, name: str) -> str:
    return name


assert_type(plain(name="x"), str)
assert_type(parentheses("x"), str)


async def calls_plain() -> None:
    assert_type(await plain_async("x"), str)
    assert_type(await options_only("x"), str)


# Methods.
class Store:
    @tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="It is gone.", recovery="List first.")])
    async def fetch(self, ctx: Context[Literal["gone"]], key: str) -> bytes:
        if key:
            raise ctx.fail("gonne")  # E: all - misspelt reason
        raise ctx.fail("gone")

    @tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="It is gone.", recovery="List first.")])
    def size(self, ctx: Context[Literal["gone"]], key: str) -> int:
        return len(key)

    @tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="It is gone.", recovery="List first.")])
    def count(self, prefix: str) -> int:
        return len(prefix)

    @staticmethod
    @tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="It is gone.", recovery="List first.")])
    def static(ctx: Context[Literal["gone"]], key: str) -> int:
        return len(key)


async def calls_methods(store: Store) -> None:
    assert_type(await store.fetch("k"), bytes)
    assert_type(store.size(key="k"), int)
    assert_type(store.count("k"), int)
    assert_type(store.count(prefix="k"), int)
    assert_type(Store.static(key="k"), int)
    assert_type(Store.size(store, key="k"), int)
    store.size(key=1)  # E: all - the arguments are those of the handler, without self and its context


# A parameter of any type does not hide the others; the call returns the type of the handler.
@tool(errors=[FailureMode("one", ErrorCode.NOT_FOUND, when="One.", recovery="Do one.")])
def anything(name: str, value: object = None) -> dict[str, object]:
    return {name: value}


@tool(errors=[FailureMode("one", ErrorCode.NOT_FOUND, when="One.", recovery="Do one.")])
def mapping(ctx: Context[Literal["one"]], value: dict[str, Any]) -> dict[str, Any]:
    if not value:
        raise ctx.fail("one")
    return value


def gives_mapping() -> dict[str, Any]:
    return mapping(value={"a": 1})


def gives_anything() -> dict[str, object]:
    return anything("a", value=1)


# Closures.
def make(prefix: str) -> Tool[..., str]:
    @tool(errors=[FailureMode("one", ErrorCode.NOT_FOUND, when="One.", recovery="Do one.")])
    def inner(ctx: Context[Literal["one"]], name: str) -> str:
        if not name:
            raise ctx.fail("on")  # E: all - misspelt reason
        return prefix + name

    return inner


# A callable object, a partial.
class Fetcher:
    async def __call__(self, ctx: Context[Literal["one"]], name: str) -> str:
        raise ctx.fail("one", name)


decorate = tool(errors=[FailureMode("one", ErrorCode.NOT_FOUND, when="One.", recovery="Do one.")])
fetcher = decorate(Fetcher())


def with_prefix(ctx: Context[Literal["one"]], name: str, *, prefix: str) -> str:
    raise ctx.fail("one", prefix + name)


partial_tool = decorate(functools.partial(with_prefix, prefix="a"))
assert_type(partial_tool("x"), str)


async def calls_objects() -> None:
    assert_type(await fetcher("x"), str)


# Other decorators, below and above.
def timed(fn: Callable[P, Awaitable[T]]) -> Callable[P, Coroutine[Any, Any, T]]:
    @functools.wraps(fn)
    async def timed_fn(*args: P.args, **kwargs: P.kwargs) -> T:
        return await fn(*args, **kwargs)

    return timed_fn


@tool(errors=[FailureMode("one", ErrorCode.NOT_FOUND, when="One.", recovery="Do one.")])
@timed
async def decorated(ctx: Context[Literal["one"]], name: str) -> str:
    raise ctx.fail("one", name)


async def calls_decorated() -> None:
    assert_type(await decorated("x"), str)


# Reasons held in a Literal alias and in constants.
Reason: TypeAlias = Literal["no_match", "queue_full"]
NO_MATCH: Final = "no_match"

ERRORS: Final = [
    FailureMode("no_match", ErrorCode.NOT_FOUND, when="Nothing matches.", recovery="Search first."),
    FailureMode("queue_full", ErrorCode.RATE_LIMITED, when="The queue is full.", recovery="Wait 30 seconds."),
]
CONTRACT: Final = Contract([
    FailureMode("no_match", ErrorCode.NOT_FOUND, when="Nothing matches.", recovery="Search first."),
    FailureMode("queue_full", ErrorCode.RATE_LIMITED, when="The queue is full.", recovery="Wait 30 seconds."),
])


@tool(errors=ERRORS)
async def from_list(ctx: Context[Reason], name: str) -> str:
    if name:
        raise ctx.fail("no_mtch")  # E: all - misspelt reason
    raise ctx.fail(NO_MATCH)


@tool(errors=CONTRACT)
async def from_contract(ctx: Context[Reason], name: str) -> str:
    if name:
        raise ctx.fail("no_mtch")  # E: all - misspelt reason
    raise ctx.fail("queue_full")


@tool(errors=(FailureMode(NO_MATCH, ErrorCode.NOT_FOUND, when="Nothing matches.", recovery="Search first."),))
async def from_constant(ctx: Context[Literal["no_match"]], name: str) -> str:
    raise ctx.fail(NO_MATCH, name)


@tool(errors=[*ERRORS, FailureMode("third", ErrorCode.CONFLICT, when="Third.", recovery="Do third.")])
async def unpacked(ctx: Context[Literal["no_match", "third"]], name: str) -> str:
    raise ctx.fail("third", name)


async def calls_from() -> None:
    assert_type(await from_list("x"), str)
    assert_type(await from_contract("x"), str)
    assert_type(await from_constant("x"), str)
    assert_type(await unpacked("x"), str)


# Reasons that are no literals: members of an enum, and what a table says.
class Why(StrEnum):
    GONE = "gone"
    TAKEN = "taken"


@tool(errors=[FailureMode(Why.GONE, ErrorCode.NOT_FOUND, when="It is gone.", recovery="List first.")])
def from_enum(ctx: Context[Literal[Why.GONE]], name: str) -> str:
    if name:
        raise ctx.fail(Why.TAKEN)  # E: all - not among the reasons that this context names
    raise ctx.fail(Why.GONE)


TABLE: Final = {"gone": ErrorCode.NOT_FOUND, "taken": ErrorCode.CONFLICT}


@tool(errors=[FailureMode(reason, code, when=reason, recovery=reason) for reason, code in TABLE.items()])
def from_table(ctx: Context, name: str) -> str:
    raise ctx.fail(name)


@tool(errors=Contract(FailureMode(reason, code, when=reason, recovery=reason) for reason, code in TABLE.items()))
def from_table_named(ctx: Context[Literal["gone"]], name: str) -> str:
    raise ctx.fail("gone", name)


Server("tables", tools=[from_enum, from_table, from_table_named])


# Elsewhere than in the handler.
def built(ctx: Context[Literal["one"]]) -> CodedError:
    return ctx.fail("one", data={"a": 1}, retry=Retry.after(seconds=3), recovery={"hint": "Do one."})


def hint(ctx: Context[Literal["one"]]) -> dict[str, Any]:
    return {**ctx.recovery_for("one"), **ctx.recovery_for("on")}  # E: all - misspelt reason


def passed_on(ctx: Context[Literal["one", "two"]]) -> CodedError:
    return built(ctx)


def not_passed_on(ctx: Context[Literal["one"]]) -> CodedError:
    takes_both: Callable[[Context[Literal["one", "two"]]], CodedError] = passed_on
    return takes_both(ctx)  # E: all - the function may fail for a reason that this context does not name
