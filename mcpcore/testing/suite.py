"""`contract_suite`: the tests that every contract of a server must pass, for pytest to collect."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import anyio
from jsonschema import Draft202012Validator  # the SDK depends on jsonschema
from jsonschema.exceptions import SchemaError, best_match
from mcp_types import Tool as ListedTool

from mcpcore.boundary.mapper import FailureMapper
from mcpcore.boundary.outcome import FailedCall
from mcpcore.contract.errors import CodedError
from mcpcore.contract.failure_modes import Contract, FailureMode
from mcpcore.testing.client import all_tools, tool_client, watch
from mcpcore.testing.servers import connectable
from mcpcore.values.jsonable import to_json

_NAMED: Final = re.compile(
    r"\b(?:(?P<call>[Cc]all|[Rr]un|[Ii]nvoke)|[Uu]se|[Tt]ry)\s+(?:the\s+tool\s+)?(?P<quote>[`'\"]?)"
    r"(?P<name>[a-z][a-z0-9]*(?:_[a-z0-9]+)+)\b(?!\s*=)"
)
"""What may be a tool in a sentence: a name with an underscore, after a verb that calls for it."""


class _Listing:
    """The tools of a server with their contracts, as a client sees them."""

    def __init__(self, server: Any, external: frozenset[str]) -> None:
        self._server = server
        self.external = external
        self._tools: dict[str, ListedTool] | None = None

    @property
    def tools(self) -> dict[str, ListedTool]:
        """All tools; the server is started once for all tests."""
        if self._tools is None:
            self._tools = _run(self._listed)
        return self._tools or {}

    async def _listed(self) -> dict[str, ListedTool]:
        async with tool_client(self._server, strict=False) as client:
            return {tool.name: tool for tool in await all_tools(client)}

    def contract(self, name: str) -> Contract[str]:
        """The contract of a tool, as it is listed."""
        return Contract.from_listing(self.tools[name])


def contract_suite(
    server: Any, *, external_tools: tuple[str, ...] | list[str] = (), state: Callable[[], Any] | None = None
) -> type[Any]:
    '''The tests that every contract of `server` must pass, as a class for pytest.

    ```python
    from mcpcore import Server, tool
    from mcpcore.testing import contract_suite


    @tool
    def count_orders() -> int:
        """Count the orders."""
        return 7


    TestContracts = contract_suite(Server("orders", tools=[count_orders]))
    ```

    Each tool is a parameter of each test. The tests check that

    - the schemas of the arguments and of the result are valid, and the second admits a failure;
    - the examples in the schema of the arguments, and `example` of each failure mode, fit their schemas;
    - the tool has a description;
    - fallback tools, and tools in the sentences of `recovery`, exist, and corrective parameters are arguments. In a
      sentence, a name with an underscore counts as a tool after "call", "run" or "invoke"; after "use" or "try", it
      must also be in backticks or resemble the name of a tool;
    - the data models have valid schemas.

    Args:
        server: A server of any kind that `tool_client` takes. It is started once, when the first test runs.
        external_tools: Tools of other servers, in addition to those that the server itself names.
        state: Returns a value of the world, such as the number of rows in a table, or the calls that a service got; it
            may be async. Every test that calls the server with `tool_client` then checks the effects of its failures:
            one that says that nothing was changed must leave the value as it was, and one that says "partial" must not.

    Raises:
        TypeError: If `server` is no server.
    '''
    connectable(server, taker="contract_suite")
    if state is not None:
        watch(server, state)
    listing = _Listing(server, frozenset(external_tools) | _external(server))
    # pytest needs the parameters when it collects the tests, before the server runs.
    names = _names_now(server)

    def parametrized(check: Callable[[_Listing, str], Iterator[str]]) -> Callable[..., None]:
        import pytest

        def test(self: object, tool: str) -> None:  # noqa: ARG001 - pytest passes the instance
            __tracebackhide__ = True
            _require_none(f"{tool}: {problem}" for problem in check(listing, tool))

        test.__doc__ = check.__doc__
        return pytest.mark.parametrize("tool", names)(test)

    def of_the_lifespan(self: object) -> None:  # noqa: ARG001 - pytest passes the instance
        """Tools that the running server adds pass all checks too."""
        __tracebackhide__ = True
        added = [name for name in listing.tools if name not in names]
        _require_none(
            f"{name}: {problem}" for name in added for check in _CHECKS.values() for problem in check(listing, name)
        )

    tests = {f"test_{name}": parametrized(check) for name, check in _CHECKS.items()} if names else {}
    body = {"mcpcore_suite": True, "__doc__": "The contracts of a server.", "__test__": True, **tests}
    body["test_tools_of_the_running_server"] = of_the_lifespan
    return type("ContractSuite", (), body)


def _require_none(problems: Iterator[str]) -> None:
    __tracebackhide__ = True
    lines = list(problems)
    if lines:
        raise AssertionError("\n".join(lines))


def _names_now(server: Any) -> list[str]:
    """The names of the tools that the server has before it starts; none if it cannot say."""
    listed = getattr(server, "list_tools", None)
    if listed is None:
        return []
    try:
        return sorted(tool.name for tool in _run(listed))
    except Exception:  # noqa: BLE001 - the running server is asked instead
        return []


def _external(server: Any) -> frozenset[str]:
    """The tools of other servers that the options of a server name."""
    owners = (server, *getattr(server, "middleware", ()))
    return frozenset().union(*(getattr(owner, "external_tools", ()) for owner in owners))


def _run(function: Callable[[], Any]) -> Any:
    """The result of an async function. In another thread, since this one may have an event loop."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(anyio.run, function).result()


# -- the checks --------------------------------------------------------------------------------------------------------


def _schemas(listing: _Listing, name: str) -> Iterator[str]:
    """The schemas are valid, and the schema of the result admits a failure."""
    tool = listing.tools[name]
    problem = _invalid(tool.input_schema)
    if problem is not None:
        yield f"the input schema is invalid: {problem}"
    output = tool.output_schema
    if output is None:
        return
    problem = _invalid(output)
    if problem is not None:
        yield f"the output schema is invalid: {problem}"
        return
    for entry in listing.contract(name):
        failure = {"error": _envelope(entry, name)}
        misfit = _misfit(failure, output)
        if misfit is not None:
            yield f"the output schema rejects the failure {entry.reason!r}: {misfit}; set advertise_errors=True"
            return


def _examples(listing: _Listing, name: str) -> Iterator[str]:
    """The examples fit their schemas."""
    schema = listing.tools[name].input_schema
    for argument, field in (schema.get("properties") or {}).items():
        for example in field.get("examples", ()) if isinstance(field, dict) else ():
            misfit = _misfit(example, {**field, "$defs": schema.get("$defs", {})})
            if misfit is not None:
                yield f"the example {example!r} of the argument {argument!r} does not fit: {misfit}"
    for example in schema.get("examples", ()):
        misfit = _misfit(example, schema)
        if misfit is not None:
            yield f"the example {example!r} of the arguments does not fit: {misfit}"
    for entry in listing.contract(name):
        schema_of_data = entry.data_schema()
        if entry.example is None or schema_of_data is None:
            continue
        misfit = _misfit(to_json(entry.example), schema_of_data)
        if misfit is not None:
            yield f"the example of {entry.reason!r} does not fit its data model: {misfit}"


def _descriptions(listing: _Listing, name: str) -> Iterator[str]:
    """The tool is described."""
    if not (listing.tools[name].description or "").strip():
        yield "the tool has no description; write a docstring, or pass description="


def _hints(listing: _Listing, name: str) -> Iterator[str]:
    """Recoveries name tools and arguments that exist."""
    tools = {*listing.tools, *listing.external}
    arguments = listing.tools[name].input_schema.get("properties") or {}
    # Words with underscores may also be arguments, reasons, or names in the entry itself.
    words = {*arguments, *listing.contract(name).reasons}
    for entry in listing.contract(name):
        if entry.fallback_tool is not None and entry.fallback_tool not in tools:
            near = _near(entry.fallback_tool, tools)
            yield f"{entry.reason!r}: there is no fallback tool {entry.fallback_tool!r}{near}"
        for match in _NAMED.finditer(entry.recovery):
            named = match["name"]
            if named in tools or named in words or named == entry.fallback_tool:
                continue
            near = _near(named, tools)
            # Other things can be used or tried too, such as "Use snake_case names".
            if match["call"] or match["quote"] == "`" or near:
                yield f"{entry.reason!r}: the recovery names {named!r}, and there is no such tool{near}"
        for argument in entry.corrective_params or ():
            if argument not in arguments:
                near = _near(argument, arguments)
                yield f"{entry.reason!r}: corrective_params has {argument!r}, which is no argument of the tool{near}"


def _data_models(listing: _Listing, name: str) -> Iterator[str]:
    """Data models have valid schemas."""
    for entry in listing.contract(name):
        schema = entry.data_schema()
        problem = None if schema is None else _invalid(schema)
        if problem is not None:
            yield f"{entry.reason!r}: the schema of the data is invalid: {problem}"


_CHECKS: Final = {
    "schemas": _schemas,
    "examples": _examples,
    "descriptions": _descriptions,
    "hints": _hints,
    "data_models": _data_models,
}


def _envelope(entry: FailureMode[Any], tool: str) -> Any:
    data = None if entry.example is None else dict(entry.example)
    error = CodedError(entry.code, None, data, reason=entry.reason)
    call = FailedCall(name=tool, contract=Contract([entry]))
    return FailureMapper().outcome(error, call).envelope.to_json()


def _invalid(schema: Mapping[str, Any]) -> str | None:
    """Why a schema is invalid; None if it is valid."""
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as exc:
        return f"{'.'.join(map(str, exc.absolute_path)) or 'the schema'}: {exc.message}"[:500]
    return None


def _misfit(value: Any, schema: Mapping[str, Any]) -> str | None:
    """Why a value does not fit a schema; None if it fits."""
    try:
        error = best_match(Draft202012Validator(schema).iter_errors(value))
    except Exception as exc:  # noqa: BLE001 - a schema may refer to anything
        return f"the schema cannot be used: {exc}"[:500]
    return None if error is None else f"{'.'.join(map(str, error.absolute_path)) or 'it'}: {error.message}"[:500]


def _near(name: str, names: Any) -> str:
    close = difflib.get_close_matches(name, list(names), n=1, cutoff=0.6)
    return f"; did you mean {close[0]!r}?" if close else ""
