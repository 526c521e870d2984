"""`fuzz_tool` finds crashes, leaks and undeclared failures, each with small arguments; hostile schemas are refused."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any, Literal

import pytest
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from hypothesis import given, settings, strategies as st
from jsonschema import Draft202012Validator
from mcp import MCPError
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.tools import Tool as SDKTool
from pydantic import AfterValidator, BaseModel

from mcpcore import Context, ErrorCode, FailureMode, Server, not_found, tool
from mcpcore.testing import fuzz_tool
from mcpcore.testing.fuzzing import CannotDrawError, FuzzError
from mcpcore.testing.value_strategies import UndrawableSchemaError, values_of

pytest_plugins = ["pytester"]

TOO_MANY = FailureMode(
    "too_many", ErrorCode.INVALID_PARAMS, when="Too many.", recovery="Ask for less.", fallback_tool="x"
)


@tool(errors=[TOO_MANY])
def take(ctx: Context[Literal["too_many"]], count: int, names: list[str]) -> int:
    """Take some."""
    if count > 1_000:
        raise ctx.fail("too_many")
    if count > 100:
        raise not_found("not here")
    if len(names) > 2:
        return int(names[0])
    return count


@tool(errors=[TOO_MANY])
def good(ctx: Context[Literal["too_many"]], count: int) -> int:
    """Take some."""
    if count > 10:
        raise ctx.fail("too_many")
    return count


class Named:
    name = "good"


def problems_of(*args: Any, **options: Any) -> dict[str, Any]:
    with pytest.raises(FuzzError) as caught:
        fuzz_tool(*args, **options)
    return {f"{problem.kind}: {problem.text}": problem.arguments for problem in caught.value.problems}


def on_server(added: Any) -> Any:
    return Server("s", tools=[added], external_tools=["x"])


def on_fastmcp(added: Any) -> Any:
    mcp: FastMCP[Any] = FastMCP("s")
    mcp.add_tool(added)
    return mcp


@pytest.mark.parametrize("make", [None, on_server, on_fastmcp])
def test_crashes_and_undeclared_failures(make: Any) -> None:
    """With the smallest arguments, and the same in each run; a tool without problems passes."""
    options: dict[str, Any] = {} if make is None else {"server": make(take)}
    problems = problems_of(take, **options)
    assert {"count": 101, "names": []} == problems["undeclared failure: NOT_FOUND without a reason: not here"]
    crashes = {name.split(": ")[1]: arguments for name, arguments in problems.items() if name.startswith("crash")}
    assert {
        "ValueError": {"count": 0, "names": ["", "", ""]},
    } == crashes
    if make is None:
        assert problems == problems_of(take)
    fuzz_tool(good, server=None if make is None else make(good), seed=7, max_examples=30)


@pytest.mark.parametrize("kind", ["FastMCP", "SDK"])
def test_leaks_of_plain_tools(kind: str) -> None:
    """The text of an exception, a secret and a traceback."""

    def leak(count: int) -> str:
        """Leak."""
        if count > 5:
            raise KeyError("/srv/private/orders.db")
        return "fine"

    if kind == "FastMCP":
        from fastmcp.tools import Tool as FastMCPTool

        problems = problems_of(FastMCPTool.from_function(leak))
    else:
        problems = problems_of(SDKTool.from_function(leak))
    names = [name for name in problems if "KeyError" in name]
    assert names
    assert all({"count": 6} == problems[name] for name in names)


def test_secrets_and_broken_contracts() -> None:
    """A failure that the author wrote may have them."""
    both = FailureMode("both", ErrorCode.NOT_FOUND, when="Both.", recovery="Stop.")

    @tool(errors=[both])
    def fail(ctx: Context[Literal["both"]], secret: bool) -> str:
        """Fail."""
        if secret:
            raise ctx.fail("both", "postgres://shop:hunter2secret@db/orders Traceback (most recent call last):")
        ctx.fail("both")
        return "lost"

    assert {"leak", "broken contract"} == {name.partition(":")[0] for name in problems_of(fail)}


def test_what_an_author_raises_for_clients() -> None:
    """It is no crash, but the answer may have a secret."""
    mcp: FastMCP[Any] = FastMCP("s", list_page_size=1)

    @mcp.tool
    def first() -> str:
        """Succeed."""
        return "first"

    @mcp.tool
    def login(secret: bool) -> str:
        """Fail."""
        raise ToolError("postgres://shop:hunter2secret@db/orders" if secret else "The database is closed.")

    with pytest.raises(FuzzError) as caught:
        fuzz_tool("login", server=mcp)
    assert ["undeclared failure", "leak"] == [problem.kind for problem in caught.value.problems]
    assert str(caught.value).startswith(
        "login: 2 problems; call it with the arguments to see one again\nundeclared failure: "
    )
    assert str(caught.value).endswith('\n  arguments: {"secret": true}')


@tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="It is gone.", recovery="Call list_items to see more.")])
def translated(ctx: Context[Literal["gone"]], count: int) -> int:
    """Translate an exception."""
    with ctx.guard({KeyError: "gone"}):
        return {1: 1}[count]


@tool
def crashes(first: int, second: int) -> int:
    """Crash in many ways."""
    raise [KeyError, ValueError, OSError, TypeError, IndexError, NameError][(first + second) % 6](f"{second}")


def logging_is(enabled: bool) -> None:
    logging.disable(logging.NOTSET if enabled else logging.CRITICAL)


@pytest.mark.parametrize("is_logged", [True, False])
@pytest.mark.parametrize("make", [None, on_server, on_fastmcp])
def test_the_answer_is_judged_and_not_the_log(make: Any, is_logged: bool) -> None:
    """A declared failure is no problem, whatever exception caused it; a crash is a problem, even if nothing is logged."""
    logging_is(is_logged)
    try:
        fuzz_tool(translated, server=None if make is None else make(translated), max_examples=20)
        problems = problems_of(crashes, server=None if make is None else make(crashes), max_examples=20)
    finally:
        logging_is(enabled=True)
    assert {name.partition(":")[0] for name in problems} == {"crash"}


def test_a_failed_test_prints_its_problems_alone(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the hundreds of calls that were logged; the text of the error has at most ten lines."""
    pytester.makepyfile(
        """
        from mcpcore import tool
        from mcpcore.testing import fuzz_tool

        @tool
        def crashes(first: int, second: int) -> int:
            "Crash in many ways."
            raise [KeyError, ValueError, OSError, TypeError, IndexError, NameError][(first + second) % 6]("text")

        def test_it():
            fuzz_tool(crashes)
        """
    )
    # Where one of these is set, the summary of pytest repeats the whole error.
    for variable in ("CI", "BUILD_NUMBER"):
        monkeypatch.delenv(variable, raising=False)
    run = pytester.runpytest_inprocess("-q", "-p", "no:cacheprovider")
    said = [line for line in run.outlines if line.startswith("E ")]
    assert 1 < len(said) <= 10
    assert "; call it with the arguments to see one again" in said[0]
    assert "more, in the attribute `problems` of this error" in said[-1]
    assert len(run.outlines) <= 25
    assert run.errlines in ([], [""])


def test_a_coded_error_of_a_plain_tool_is_no_crash() -> None:
    """The SDK logs it like one."""

    def find() -> str:
        """Find."""
        raise not_found("not here")

    (name,) = problems_of(SDKTool.from_function(find), max_examples=5)
    assert name.startswith("undeclared failure: ")


def test_an_error_of_the_protocol_is_a_crash() -> None:
    """A tool answers with a result, also when it fails."""

    def refuse() -> str:
        """Refuse."""
        raise MCPError(-32000, "closed")

    assert {"crash: MCPError: closed": {}} == problems_of(SDKTool.from_function(refuse), max_examples=5)


@pytest.mark.parametrize("starts", [False, True])
def test_a_server_that_fails(starts: bool) -> None:
    """Its exception is raised, whether it fails at the start or at the end."""

    @asynccontextmanager
    async def lifespan(server: Any) -> AsyncIterator[None]:
        if starts:
            yield
        raise TimeoutError("no database")

    with pytest.raises(TimeoutError, match="no database"):
        fuzz_tool("good", server=Server("s", tools=[good], external_tools=["x"], lifespan=lifespan), max_examples=2)


def test_without_hypothesis(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says how to install it."""
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install \"mcpcore\[testing\]\""):
        fuzz_tool(good)


@tool
async def wait(forever: bool) -> str:
    """Wait."""
    import anyio

    if forever:
        await anyio.sleep(60)
    return "done"


@tool
async def block(forever: bool) -> str:
    """Block."""
    if forever:
        time.sleep(30)  # noqa: ASYNC251 - it blocks on purpose
    return "done"


@pytest.mark.parametrize(
    ("endless", "timeout", "problem"),
    [
        (wait, 0.2, "timeout: no answer within 0.2 seconds"),
        (block, 0.1, "timeout: no answer within 0.1 seconds, since the handler blocks the event loop"),
    ],
    ids=["waits", "blocks"],
)
def test_calls_without_an_answer(endless: Any, timeout: float, problem: str) -> None:
    """They end after the timeout; a handler that blocks the event loop is left behind."""
    start = time.monotonic()
    assert {problem: {"forever": True}} == problems_of(endless, timeout=timeout, max_examples=5)
    assert time.monotonic() - start < 25


def test_the_search_has_a_limit_of_time() -> None:
    """A tool without problems passes if it was called at all."""
    fuzz_tool(good, max_seconds=0.5, max_examples=10**6)
    with pytest.raises(CannotDrawError, match="no arguments could be drawn within 0 seconds"):
        fuzz_tool(good, max_seconds=0)


def test_what_cannot_be_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error that names the tool and the way out."""

    def never(value: str) -> str:
        raise ValueError("never")

    @tool
    def picky(value: Annotated[str, AfterValidator(never)]) -> str:
        """Take nothing."""
        return value

    with pytest.raises(CannotDrawError, match="picky: the tool rejected all 10 arguments that were drawn"):
        fuzz_tool(picky, max_examples=10)
    with pytest.raises(LookupError, match="no tool 'pick'; it has 'picky'"):
        fuzz_tool("pick", server=on_server(picky))
    for wrong in (3, "name", object(), Named()):
        with pytest.raises(TypeError, match=r"fuzz_tool\(...\) takes"):
            fuzz_tool(wrong)
    monkeypatch.delitem(sys.modules, "fastmcp")  # as in a project without it
    with pytest.raises(TypeError, match=r"fuzz_tool\(...\) takes"):
        fuzz_tool(Named())
    fuzz_tool(good, arguments=st.fixed_dictionaries({"count": st.just(3)}))


HOSTILE = {
    "remote": {"properties": {"a": {"$ref": "http://127.0.0.1:9/x.json"}}},
    "file": {"$ref": "file:///etc/passwd"},
    "anchor": {"$dynamicRef": "#node"},
    "nowhere": {"properties": {"a": {"$ref": "#/$defs/none"}}, "required": ["a"]},
    "itself": {"$ref": "#"},
    "regex": {"properties": {"a": {"type": "string", "pattern": "(?<x>\\p{L}["}}, "required": ["a"]},
    "text": {"properties": {"a": {"type": "string", "pattern": "\ud800"}}, "required": ["a"]},
    "type": {"properties": {"a": {"type": "text"}}},
    "huge": {"properties": {"a": {"type": "array", "minItems": 10**9}}, "required": ["a"]},
    "nothing": {"properties": {"a": False}, "required": ["a"]},
    "not a mapping": {"properties": 7},
    "doubled": {
        "$defs": {
            f"n{i}": {"minimum": 1, "anyOf": [{"$ref": f"#/$defs/n{i + 1}"}] * 2} if i < 20 else {"type": "integer"}
            for i in range(21)
        },
        "properties": {"a": {"$ref": "#/$defs/n0"}},
        "required": ["a"],
    },
    "slow to check": {
        "$defs": {
            f"n{i}": {"allOf": [{"$ref": f"#/$defs/n{i + 1}"}] * 2} if i < 25 else {"type": "integer"}
            for i in range(26)
        },
        "properties": {"a": {"$ref": "#/$defs/n0"}},
        "required": ["a"],
    },
    "itself in parts": {"allOf": [{"$ref": "#/allOf/0"}]},
    "no number between": {"properties": {"a": {"type": "integer", "minimum": 3, "maximum": 2}}, "required": ["a"]},
    "endless": {
        "$defs": {"n": {"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}}, "required": ["n"]}},
        "$ref": "#/$defs/n",
    },
}


@pytest.mark.parametrize("schema", HOSTILE.values(), ids=HOSTILE)
def test_hostile_schemas_are_refused(schema: dict[str, Any]) -> None:
    """With a clear error, and without a request to the network."""
    plain = MCPServer("s")
    plain.add_tool(lambda: "yes", name="ask", description="Ask.")
    plain._tool_manager.get_tool("ask").parameters = {"type": "object", **schema}  # type: ignore[union-attr]
    with pytest.raises(CannotDrawError, match="ask: no arguments can be drawn from the input schema: "):
        fuzz_tool("ask", server=plain, max_examples=5)


def test_a_schema_of_any_depth_is_an_error() -> None:
    """And not a crash of the recursion."""
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(3_000):
        schema = {"type": "array", "items": schema}
    with pytest.raises(UndrawableSchemaError):
        values_of(schema)


class Node(BaseModel):
    name: str
    children: list[Node] = []
    kind: Literal["a", "b"] | None = None


SCHEMAS = {
    "recursive": Node.model_json_schema(),
    "all of": {"allOf": [{"properties": {"a": {"type": "integer"}}}, {"required": ["a"]}], "type": "object"},
    "all of both": {"type": "object", "properties": {"a": {"const": 1}}, "required": ["a"], "allOf": [
        True, {"properties": {"b": {"type": "boolean"}}, "required": ["a", "b"]}]},
    "one of": {"type": "object", "properties": {"a": {"oneOf": [{"type": "integer"}, {"const": "x"}]}}},
    "numbers": {"type": "object", "required": ["a", "b"], "properties": {
        "a": {"type": "number", "exclusiveMinimum": 0, "maximum": 1}, "b": {"type": "integer", "multipleOf": 5, "minimum": 3}}},
    "strings": {"type": "object", "required": ["a", "b", "c"], "properties": {
        "a": {"type": "string", "pattern": "^[a-z]{2,4}$"}, "b": {"type": "string", "format": "date-time"},
        "c": {"type": ["string", "null"], "minLength": 1, "maxLength": 3}}},
    "arrays": {"type": "object", "properties": {"a": {"type": "array", "uniqueItems": True, "items": {"enum": [1, 2, 3]}},
        "b": {"type": "array", "prefixItems": [{"type": "integer"}], "items": False}}},
    "maps": {"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 1},
    "patterns": {"type": "object", "patternProperties": {"^x_": {"type": "boolean"}}, "additionalProperties": False},
    "siblings": {"$defs": {"n": {"type": "integer"}}, "type": "object", "required": ["a"],
        "properties": {"a": {"$ref": "#/$defs/n", "minimum": 3}}},
    "lookahead": {"type": "object", "required": ["a"], "properties": {"a": {"type": "string", "pattern": "^(?!foo)[a-z]{3}$"}}},
    "steps": {"type": "object", "required": ["a"], "properties": {"a": {"type": "number", "multipleOf": 0.5, "maximum": 9}}},
    "any type": {"type": "object", "required": ["a", "b", "z"], "properties": {
        "a": {"type": ["string", "integer", "null", "array", "object", "boolean", "number"]}, "b": True}},
    "closed": {"type": "object", "properties": {"a": {"type": "array", "items": False}, "b": {"type": "boolean"}},
        "unevaluatedProperties": False},
    "names": {"type": "object", "propertyNames": {"enum": ["x", "y"]}, "additionalProperties": {"type": "integer"}},
    "escaped": {"$defs": {"a/b c": {"type": "integer"}}, "type": "object", "required": ["a"],
        "properties": {"a": {"$ref": "#/$defs/a~1b%20c"}}},
    "not": {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer", "not": {"const": 0}}}},
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_drawn_values_fit_the_schema(schema: dict[str, Any]) -> None:
    """As jsonschema reads it; and not all are the same."""
    seen = []

    @settings(max_examples=40, database=None, derandomize=True)
    @given(values_of(schema))
    def check(value: Any) -> None:
        seen.append(repr(value))
        Draft202012Validator(schema).validate(value)

    check()
    assert len(set(seen)) > 1
