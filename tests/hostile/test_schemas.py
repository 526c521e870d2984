"""Small schemas that refer to themselves many times cost every reader of schemas a time that their size explains."""

from __future__ import annotations

import contextlib
import cProfile
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from mcpcore.catalog.diff import compare
from mcpcore.catalog.model import Catalog, Failure, Item, ServerCatalog
from mcpcore.catalog.python import to_python
from mcpcore.check.probe_arguments import draw
from mcpcore.cli.arguments import parse_arguments
from mcpcore.cli.problems import Problem
from mcpcore.client.failures import ListedTool
from mcpcore.proxy.listings import Listing
from mcpcore.testing.value_strategies import UndrawableSchemaError, values_of
from mcpcore.wire.arguments import misfit

COUNT = 8
MOST_CALLS = 10_000_000
"""A walk along every path makes billions of them."""

SELF = {"$ref": "#/$defs/N"}


def _object(definition: dict[str, Any], **others: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": SELF}, "required": ["a"], "$defs": {"N": definition, **others}}


def _schemas() -> Iterator[Any]:
    numbers = range(COUNT)
    yield pytest.param(_object({"anyOf": [dict(SELF) for _ in numbers]}), id="union")
    yield pytest.param(_object({"anyOf": [{**SELF, "title": f"{n}"} for n in numbers]}), id="differing branches")
    yield pytest.param(_object({"allOf": [dict(SELF) for _ in numbers]}), id="all of")
    parts = {f"p{n}": SELF for n in numbers}
    yield pytest.param(_object({"type": "object", "properties": parts, "required": [*parts]}), id="properties")
    inner = [{"type": "object", "properties": {name: SELF}, "required": [name]} for name in parts]
    yield pytest.param(_object({"anyOf": inner}), id="union of objects")
    yield pytest.param(_object({"type": "array", "items": {"anyOf": [SELF] * COUNT}, "minItems": 9}), id="items")
    yield pytest.param(_object({"type": "array", "prefixItems": [SELF] * COUNT}), id="first items")
    lists = {}
    for number in numbers:
        following = {"type": "array", "items": {"$ref": f"#/$defs/N{number + 1}"}}
        lists[f"N{number}"] = {"anyOf": [following, {"type": "array", "items": following}]}
    yield pytest.param(_object({"$ref": "#/$defs/N0"}, **lists), id="two of the next")
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(500):
        deep = {"type": "array", "items": deep}
    yield pytest.param(_object(deep), id="deep")
    yield pytest.param(_object({"enum": ["x" * 200_000]}), id="long")


def _catalog(schema: dict[str, Any]) -> Catalog:
    error = Failure(reason="r", code=-32001, name="NOT_FOUND", when="w", recovery="r", data_schema=schema)
    item = Item(kind="tool", name="t", errors=(error,), input_schema=schema)
    return Catalog(servers=(ServerCatalog(name="s", items=(item,)),))


def _values(schema: dict[str, Any]) -> None:
    with contextlib.suppress(UndrawableSchemaError):
        values_of(schema)


def _parsed(schema: dict[str, Any]) -> None:
    with contextlib.suppress(Problem):
        parse_arguments(["a=1"], schema, tool="t")


def _hint(schema: dict[str, Any]) -> None:
    import pydantic

    with pytest.raises(pydantic.ValidationError) as caught:
        pydantic.create_model("M", a=(int, ...))(a="x")
    misfit(caught.value, schema, "t", {"a": "x"})


def _checked(schema: dict[str, Any]) -> None:
    tool = ListedTool(name="t", input_schema=schema)
    Listing(tools={"t": tool}).misfit("t", {"a": [{"p0": {"p1": [1]}}]})
    tool.misfit({"a": [{"p0": {"p1": [1]}}]})


READERS: dict[str, Callable[[dict[str, Any]], object]] = {
    "the catalog in Python": lambda schema: to_python(_catalog(schema)),
    "diff": lambda schema: compare(_catalog(schema), _catalog({**schema, "title": "new"})),
    "the arguments of check": lambda schema: draw(ListedTool(name="t", input_schema=schema), seed=1),
    "the arguments of a fuzz test": _values,
    "the arguments of a command": _parsed,
    "the hint for wrong arguments": _hint,
    "the check of arguments": _checked,
}


@pytest.mark.parametrize("read", READERS.values(), ids=READERS.keys())
@pytest.mark.parametrize("schema", [*_schemas()])
def test_a_schema_that_contains_itself_many_times_is_read(
    schema: dict[str, Any], read: Callable[[dict[str, Any]], object]
) -> None:
    """No reader follows every path through the references."""
    profile = cProfile.Profile()
    profile.runcall(read, schema)
    assert sum(entry.callcount for entry in profile.getstats()) < MOST_CALLS
