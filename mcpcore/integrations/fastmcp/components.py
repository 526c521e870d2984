"""Contract tools among the components of FastMCP: how they are found, and what FastMCP asks of them.

The tools of a mounted server are found through private attributes of FastMCP. If a release renames them, only the
recovery of a failed dependency and the hints of some bad arguments are lost. Middleware that would undo contracts is
found here too.

FastMCP reads the signature of a tool to describe the parameters, to check arguments and to fill in dependencies. A
contract tool checks arguments by its own definition, so that bad ones fail in the same words on every server. Its
signature therefore passes arguments through unchecked, and has one extra parameter: a dependency that marks the calls
of FastMCP.
"""

from __future__ import annotations

import dataclasses
import inspect
import itertools
from typing import TYPE_CHECKING, Annotated, Any, Final, cast

from fastmcp import FastMCP
from fastmcp.dependencies import CurrentContext
from fastmcp.prompts.function_prompt import PromptMeta
from fastmcp.resources.function_resource import ResourceMeta
from fastmcp.server.context import Context as FastMCPContext
from fastmcp.server.dependencies import OptionalCurrentContext
from fastmcp.server.middleware.dereference import DereferenceRefsMiddleware
from fastmcp.server.middleware.error_handling import ErrorHandlingMiddleware, RetryMiddleware
from fastmcp.server.providers.aggregate import AggregateProvider
from fastmcp.server.providers.fastmcp_provider import FastMCPProvider, FastMCPProviderTool
from fastmcp.server.sessions import CurrentSession, OptionalCurrentSession
from fastmcp.tools.function_tool import ToolMeta
from fastmcp.tools.tool_transform import TransformedTool
from fastmcp.utilities.tasks import TaskConfig
from fastmcp.utilities.types import NotSet, is_class_member_of_type
from pydantic import Field, WrapValidator
from uncalled_for import Dependency, Provider

from mcpcore.contract.effects import default_effects
from mcpcore.contract.failure_modes import CONTRACT_META_KEY, ContractError
from mcpcore.declare.declaration import FASTMCP_CALL, Declared
from mcpcore.declare.decorators import DeclaredPrompt, DeclaredResource, Tool
from mcpcore.integrations.fastmcp.calling import Calling, Default, MaskingMiddleware, claim
from mcpcore.integrations.fastmcp.private import inner_provider, mounted_tool
from mcpcore.sdk.definition import admitting_error, annotations_of, without_error
from mcpcore.sdk.errors import not_mountable, with_failures
from mcpcore.values.logs import LOGGER
from mcpcore.values.untrusted import quietly
from mcpcore.wire.envelope import CANONICAL

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

    from fastmcp.server.middleware.middleware import Middleware
    from fastmcp.tools.base import Tool as FastMCPTool
    from pydantic.fields import FieldInfo

    from mcpcore.sdk.tools import Registered
    from mcpcore.wire.dialects.dialect import Dialect

_MAX_DEPTH: Final = 20
"""The depth to which mounted servers and transformed tools are searched."""


def contract_tool_of(tool: Any) -> Tool[..., Any] | None:
    """The contract tool behind `tool`; None for another tool, and for a tool of a mounted server."""
    fn = getattr(tool, "fn", None)
    return fn if isinstance(fn, Tool) else None


async def find_contract_tool(server: FastMCP[Any], name: str) -> Tool[..., Any] | None:
    """The contract tool that `name` calls on `server` or on a mounted server; None if it calls another tool."""
    tool = await server.get_tool(name)
    for _ in range(_MAX_DEPTH):
        if tool is None:
            return None
        if isinstance(tool, FastMCPProviderTool):
            below, name = mounted_tool(tool)
            tool = await below.get_tool(name)
        elif isinstance(tool, TransformedTool) and not tool.transform_args:
            tool = tool.parent_tool
        else:
            return contract_tool_of(tool)
    return None  # pragma: no cover - deeper than servers are mounted


async def find_tool(server: FastMCP[Any], name: str) -> FastMCPTool | None:
    """The tool that a client knows as `name`; None also if looking it up fails, which must not hide a failure."""
    try:
        return await server.get_tool(name)
    except Exception:  # noqa: BLE001 - code of other providers
        return None


async def tool_names(server: FastMCP[Any]) -> list[str]:
    """The names of the tools that `server` lists for the caller; none if it cannot list them."""
    try:
        return [tool.name for tool in await server.list_tools()]
    except Exception:  # noqa: BLE001 - a list that fails must not cost the answer
        return []


async def is_delegated(server: FastMCP[Any], name: str) -> bool:
    """Whether a mounted server answers a call of `name`, without any code of `server` itself."""
    return isinstance(await find_tool(server, name), FastMCPProviderTool)


async def find_contract_prompt(server: FastMCP[Any], name: str) -> DeclaredPrompt[..., Any] | None:
    """The contract prompt that `name` gets from `server`; None for another prompt, and for one of a mounted server.

    FastMCP keeps it within a function that fills in dependencies.
    """
    cells = getattr(getattr(await server.get_prompt(name), "fn", None), "__closure__", None) or ()
    return next((cell.cell_contents for cell in cells if isinstance(cell.cell_contents, DeclaredPrompt)), None)


def require_compatible(server: FastMCP[Any], below: Sequence[Any], middleware: Middleware) -> None:
    """Check that no other middleware of `server`, or of the servers mounted `below`, undoes contracts of `middleware`.

    Raises:
        ContractError: If one does; the message says what to change.
    """
    _require_no_undoing(server)
    for other in below:
        if isinstance(other, FastMCP):
            _require_no_undoing(other)
        else:
            raise ContractError(f"server {server.name!r}: {not_mountable(other)}")
    before = _before(server.middleware, middleware)
    if before:
        LOGGER.warning(
            "on the FastMCP server %r, ContractMiddleware is not the outermost middleware: the failures of %s get no "
            "envelope and no record; add ContractMiddleware first",
            server.name,
            ", ".join(before),
        )


def _require_no_undoing(server: FastMCP[Any]) -> None:
    for other in server.middleware:
        if isinstance(other, RetryMiddleware):
            raise ContractError(
                f"server {server.name!r}: RetryMiddleware repeats failed calls even if their contract says not to; "
                "remove it, and retry inside the tool with mcpcore.retrying"
            )
        if isinstance(other, ErrorHandlingMiddleware) and other.transform_errors:
            raise ContractError(
                f"server {server.name!r}: ErrorHandlingMiddleware replaces failures by its own errors; remove it, "
                "since ContractMiddleware answers and records every failure, or keep only its callback with "
                "transform_errors=False"
            )


def providers_of(server: FastMCP[Any]) -> Iterator[tuple[Any, Any, Any]]:
    """The providers of `server`, direct and indirect: each with the one that it wraps, and with what is below it."""
    stack: list[tuple[Any, int]] = [(provider, 0) for provider in server.providers]
    while stack:
        provider, depth = stack.pop()
        inner = inner_provider(provider)
        below = provider.server if isinstance(provider, FastMCPProvider) else provider
        yield provider, inner, below
        if inner is not None:
            stack.append((inner, depth))
        if isinstance(below, AggregateProvider) and depth < _MAX_DEPTH:
            stack += [(part, depth + 1) for part in below.providers]


def mounted(server: FastMCP[Any]) -> Iterator[Any]:
    """The servers mounted on `server`, directly and indirectly."""
    return (below for provider, _, below in providers_of(server) if isinstance(provider, FastMCPProvider))


def transforms_of(provider: Any) -> Sequence[Any]:
    """The transforms of a provider or a server; none of a class of others that does not call its base class."""
    return getattr(provider, "transforms", ())


def parts_of(server: FastMCP[Any]) -> list[object]:
    """The middleware, the transforms and the providers of a server, and those of the servers below it."""
    parts: list[object] = [*server.middleware, *server.transforms]
    for provider, _, below in providers_of(server):
        parts.append(provider)
        parts += transforms_of(provider)
        if below is not provider:
            parts.append(below)
            parts += getattr(below, "middleware", ())
            parts += transforms_of(below)
    return parts


def _before(chain: Sequence[Middleware], middleware: Middleware) -> list[str]:
    """The class names of the middleware before `middleware`, without those that FastMCP and mcpcore add themselves."""
    before = itertools.takewhile(lambda other: other is not middleware, chain)
    own = (DereferenceRefsMiddleware, MaskingMiddleware)
    return [type(other).__name__ for other in before if not isinstance(other, own)]


def registered_on(server: FastMCP[Any]) -> Callable[[str, str], Awaitable[Registered]]:
    """A function that finds what `server` has registered, by kind ("tool", "resource", "prompt") and by name or URI."""
    from mcpcore.sdk.tools import Registered

    async def find(kind: str, name: str) -> Registered:
        declared: Declared[..., Any] | None = None
        item: Any = None
        if kind == "tool":
            declared, item = await find_contract_tool(server, name), await server.get_tool(name)
        elif kind == "prompt":
            declared, item = await find_contract_prompt(server, name), await server.get_prompt(name)
        else:
            item = await server.get_resource(name) or await server.get_resource_template(name)
        function = getattr(item, "fn", None)
        if declared is None:
            declared = _within(function)
        if declared is not None:
            return Registered(declared.contract, declared.declaration.handler, declared.declaration)
        return Registered(None, function)

    return find


def _within(function: Any) -> Declared[..., Any] | None:
    """The declared handler that FastMCP keeps within functions that fill in dependencies and validate arguments."""
    for _ in range(_MAX_DEPTH):
        if isinstance(function, Declared) or function is None:
            return function
        cells = getattr(function, "__closure__", None) or ()
        contents = (quietly(lambda cell=cell: cell.cell_contents, None) for cell in cells)  # type: ignore[misc]
        declared = next((content for content in contents if isinstance(content, Declared)), None)
        if declared is not None:
            return declared
        function = getattr(function, "__wrapped__", None)
    return None  # pragma: no cover - deeper than functions are wrapped


WRAPPED_RESULT: Final = "x-fastmcp-wrap-result"
"""The keyword of an output schema by which FastMCP's client knows that the result is wrapped in an object."""


def registration_of(declared: Declared[..., Any], metadata: Any) -> ToolMeta | ResourceMeta | PromptMeta:
    """Merge `metadata`, the options of FastMCP's decorator, with the options of mcpcore's decorator.

    Where both say something, FastMCP's decorator has the last word; the contract is added to its `meta`.
    """
    options = declared.declaration.options
    chosen: Any
    own: dict[str, Any] = {}
    if isinstance(declared, DeclaredResource):
        chosen = metadata if isinstance(metadata, ResourceMeta) else ResourceMeta(uri=options.uri)
    elif isinstance(declared, DeclaredPrompt):
        chosen = metadata if isinstance(metadata, PromptMeta) else PromptMeta()
    else:
        chosen = metadata if isinstance(metadata, ToolMeta) else ToolMeta()
        own["output_schema"] = (
            output_schema_of(cast("Tool[..., Any]", declared))
            if chosen.output_schema is NotSet
            else chosen.output_schema
        )
        own["task"] = _task_config(chosen.task)
        own["annotations"] = annotations_of(declared.declaration, chosen.annotations)
        # FastMCP's threads, which all its tools share, may be taken by tools that hang. A contract tool has its own,
        # and FastMCP's call only makes an awaitable. FastMCP refuses a timeout for a sync function without a thread.
        own["run_in_thread"] = chosen.timeout is not None and chosen.run_in_thread
    registration: ToolMeta | ResourceMeta | PromptMeta = dataclasses.replace(
        chosen,
        name=chosen.name or declared.name,
        description=chosen.description if chosen.description is not None else options.description,
        meta=_meta(declared, own, getattr(options, "meta", None), chosen.meta),
        **{name: getattr(chosen, name) or getattr(options, name) for name in _SHARED if hasattr(options, name)} | own,
    )
    return registration


_SHARED: Final = ("title", "icons", "annotations", "mime_type")
"""Options that both decorators take, of all or some kinds of components."""


class _TaskConfig(TaskConfig):
    """Background tasks need an async function: that is the handler, not the object that FastMCP calls."""

    def validate_function(self, fn: Callable[..., Any], name: str) -> None:
        super().validate_function(cast("Tool[..., Any]", fn).handler, name)


def _task_config(task: bool | TaskConfig | None) -> TaskConfig | None:  # noqa: FBT001 - as FastMCP has it
    if task is None:
        return None
    config = TaskConfig.from_bool(task) if isinstance(task, bool) else task
    return _TaskConfig(mode=config.mode, poll_interval=config.poll_interval)


def _meta(declared: Declared[..., Any], own: Mapping[str, Any], *metas: dict[str, Any] | None) -> dict[str, Any] | None:
    """The `_meta` of all decorators together, the last of them first in rank, with the contract."""
    merged = {key: value for meta in metas for key, value in (meta or {}).items()}
    if len(declared.contract):
        effects = default_effects(own["annotations"]) if "annotations" in own else None
        merged[CONTRACT_META_KEY] = declared.contract.to_json(effects)
    return merged or None


def output_schema_of(tool: Tool[..., Any]) -> dict[str, Any] | None:
    """The output schema of `tool`, which admits the error, for FastMCP; bytes have none, as in FastMCP itself."""
    definition = tool.definition
    schema = None if tool.declaration.signature.returns is bytes else definition.output_schema
    if schema is not None and definition.sdk.fn_metadata.wrap_output:
        return {**schema, WRAPPED_RESULT: True}
    return schema


def described(tool: FastMCPTool, *, dialect: Dialect, advertise: bool, describe: bool) -> FastMCPTool:
    """`tool` as clients see it: with its contract, and an output schema that admits the error.

    A tool of FastMCP's own is unchanged. `advertise` and `describe` are options of the middleware.
    """
    fn = getattr(tool, "fn", None)
    ours = fn if isinstance(fn, Tool) else None
    changes: dict[str, Any] = {}
    meta = tool.meta or {}
    is_added = ours is not None and len(ours.contract) > 0 and CONTRACT_META_KEY not in meta
    if ours is not None and is_added:
        changes["meta"] = meta = {**meta, CONTRACT_META_KEY: ours.contract.to_json()}
    published = _advised(tool, meta.get(CONTRACT_META_KEY))
    if published != meta.get(CONTRACT_META_KEY):
        changes["meta"] = {**meta, CONTRACT_META_KEY: published}
    if describe and isinstance(published, list) and "Fails with:" not in (tool.description or ""):
        changes["description"] = with_failures(tool.description or "", published)
    schema = tool.output_schema
    if schema is None and ours is not None and is_added:
        schema = output_schema_of(ours)
    # A mounted server has changed the schema of its contract tools already.
    if schema is not None and (ours is not None or published is not None or without_error(schema) is not schema):
        schema = _admitting(schema, dialect) if advertise else without_error(schema)
        if schema != tool.output_schema:
            changes["output_schema"] = schema
    return tool.model_copy(update=changes) if changes else tool


def _advised(tool: FastMCPTool, published: object) -> object:
    """The contract in the `_meta` of a tool, with the advice that follows from the annotations of this very tool."""
    declared: FastMCPTool | None = tool
    while isinstance(declared, TransformedTool):
        declared = declared.parent_tool
    ours = None if declared is None else contract_tool_of(declared)
    if ours is None or not isinstance(published, list):
        return published
    entries: list[Any] = ours.contract.to_json(default_effects(tool.annotations))
    advice = {entry["reason"]: {key: entry[key] for key in ("retry", "effects") if key in entry} for entry in entries}
    return [
        {key: value for key, value in entry.items() if key != "effects"} | advice[str(entry.get("reason"))]
        if isinstance(entry, dict) and str(entry.get("reason")) in advice
        else entry
        for entry in published
    ]


def _admitting(schema: dict[str, Any], dialect: Dialect) -> dict[str, Any]:
    alone = without_error(schema)
    if dialect.name == CANONICAL:
        return schema if alone is not schema else admitting_error(schema)
    failure = dict(dialect.schema)
    if schema.get("anyOf", [None])[-1] == failure:
        return schema
    admitting = admitting_error(alone, failure)
    return {**admitting, WRAPPED_RESULT: True} if alone.get(WRAPPED_RESULT) else admitting


def signature_of(declared: Declared[..., Any]) -> inspect.Signature:
    """The signature by which FastMCP describes and calls `declared`, which gets its annotations too."""
    definition = declared.definition
    fields = definition.sdk.fn_metadata.arg_model.model_fields
    shown = definition.sdk.parameters.get("properties", {})
    parameters = [
        _argument(name, fields[field], shown.get(fields[field].alias or name, {}))
        for name, field in definition.argument_names
    ]
    injected = [_injected(parameter) for parameter in declared.declaration.signature.injected]
    # FastMCP reads the annotations of parameters from here rather than from the signature.
    declared.__annotations__ = {parameter.name: parameter.annotation for parameter in (*parameters, *injected)}
    # FastMCP resolves dependencies in this order, so the contract is known before another dependency can fail.
    calling = inspect.Parameter(
        FASTMCP_CALL,
        inspect.Parameter.KEYWORD_ONLY,
        default=_CurrentCall(declared),
        annotation=inspect.Parameter.empty,
    )
    return inspect.Signature([*parameters, calling, *injected])


def _argument(name: str, field: FieldInfo, schema: Mapping[str, Any]) -> inspect.Parameter:
    """An argument of a client as FastMCP describes it, and lets it through unchecked."""
    facts: dict[str, Any] = {
        "alias": field.alias if field.alias != name else None,
        "title": field.title,
        "description": field.description,
        "examples": field.examples,
        "deprecated": field.deprecated,
        "json_schema_extra": field.json_schema_extra,
    }
    facts = {key: value for key, value in facts.items() if value is not None}
    default: Any = inspect.Parameter.empty
    if "default" in schema:
        default = Default(schema["default"])
    elif not field.is_required():  # a default that no schema can show
        facts["default_factory"] = Default
    kind = Annotated[field.annotation, *field.metadata, _AS_SENT, Field(**facts)]  # type: ignore[name-defined]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def _injected(parameter: inspect.Parameter) -> inspect.Parameter:
    """A parameter that FastMCP fills in. One that FastMCP finds by its type gets a default, as FastMCP itself does."""
    default: Any = parameter.default
    named = isinstance(default, Dependency) or any(
        isinstance(extra, Provider) for extra in getattr(parameter.annotation, "__metadata__", ())
    )
    if not named:
        optional = default is None
        if is_class_member_of_type(parameter.annotation, FastMCPContext):
            default = OptionalCurrentContext() if optional else CurrentContext()
        else:  # a UserSession
            default = OptionalCurrentSession() if optional else CurrentSession()
    return parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, default=default)


_AS_SENT: Final = WrapValidator(lambda value, _: value)
"""Pydantic describes the type but accepts any value: the tool checks it by its own definition."""


class _CurrentCall(Dependency[Calling]):
    """The dependency by which a declared handler knows that FastMCP calls it, and the request knows its contract."""

    def __init__(self, declared: Declared[..., Any]) -> None:
        self._declared = declared

    async def __aenter__(self) -> Calling:
        claim(self._declared)
        return Calling()
