"""Failures that a handler returns instead of raising them: an exception alone, or exceptions within a result.

The SDK writes a result as JSON and calls `str` for each value that JSON does not have, an exception included. Here the
same conversion runs with a fallback that keeps the exceptions, so that a result without any costs little more.

The fallback is not called for an exception that is a dataclass itself, which pydantic writes field by field. It is
searched for in the containers of the result.
"""

from __future__ import annotations

import contextlib
import functools
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, cast

import anyio.to_thread
from mcp.server.mcpserver.prompts.base import Message, Prompt
from mcp.server.mcpserver.resources import FunctionResource, Resource, ResourceManager
from mcp.server.mcpserver.utilities.func_metadata import FuncMetadata
from mcp.server.mcpserver.utilities.types import Audio, Image
from mcp_types import CallToolResult, ContentBlock, InputRequiredResult
from pydantic import BaseModel, TypeAdapter
from pydantic_core import to_json

from mcpcore.values.jsonable import named
from mcpcore.values.untrusted import is_async
from mcpcore.values.unwrapping import ReturnedError, is_a

_CONTAINERS: Final = (dict, list, tuple, set, frozenset, deque)
# The types of nearly all values, passed over early since a result may hold very many of them.
_PLAIN: Final = {str, int, float, bool, type(None)}


class _Failures(list[BaseException]):
    """The fallback of a conversion to JSON: it writes values as `str` does, and keeps the exceptions among them."""

    def __call__(self, value: Any) -> str:
        if is_a(value, BaseException):
            self.append(value)
            return named(value)  # never the text, which may hold anything
        return str(value)

    def search(self, value: Any) -> None:
        """Keep the exceptions in `value` and the containers in it; the fallback is not called for dataclasses."""
        pending = [value]
        searched: set[int] = set()
        for item in pending:  # which grows
            kind = type(item)  # never `isinstance`, since an object may lie about its class
            if issubclass(kind, BaseException):
                self.append(item)
            elif issubclass(kind, _CONTAINERS) and id(item) not in searched:
                searched.add(id(item))
                items = item.values() if issubclass(kind, dict) else item
                pending += [inner for inner in items if type(inner) not in _PLAIN]

    def raise_any(self) -> None:
        """Raise the exceptions that were kept, as one failure; do nothing if none were kept."""
        if self:
            failures = list({id(failure): failure for failure in self}.values())
            raise ReturnedError(
                failures[0] if len(failures) == 1 else BaseExceptionGroup("exceptions within a result", failures)
            )


def require_no_exceptions(result: CallToolResult) -> None:
    """Check the data of a result that a handler made itself.

    Raises:
        ReturnedError: If there are exceptions within it.
    """
    failures = _Failures()
    failures.search((result.structured_content, result.meta))
    failures.raise_any()


def content_of(returned: Any) -> list[Any]:
    """The content blocks for what a handler returned, as the SDK makes them; a text is a dict already.

    Raises:
        ReturnedError: If `returned` is an exception, or there are exceptions within it.
    """
    return cast("list[Any]", _noticing(_blocks, returned))


class ResultForm(NamedTuple):
    """How the results of one tool are written; made once, since the SDK takes its time to find the parts."""

    metadata: FuncMetadata
    adapter: TypeAdapter[Any] | None
    """Validates and writes structured content; None without an output schema."""

    schema: Mapping[str, Any] | None
    """The output schema of the tool."""

    @classmethod
    def of(cls, metadata: FuncMetadata, schema: Mapping[str, Any] | None) -> ResultForm:
        """The form of the results of a tool with this output schema."""
        model = metadata.output_model if metadata.output_schema is not None else None
        adapter = None if model is None else metadata._output_adapter(model)  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
        return cls(metadata, adapter, schema)


def structured_of(form: ResultForm, returned: Any) -> Any:
    """The structured content for what a handler returned, as the SDK makes it; None without an output schema.

    Raises:
        pydantic.ValidationError: If it breaks the tool's own output model.
    """
    adapter = form.adapter
    if adapter is None:
        return None
    wrapped = {"result": returned} if form.metadata.wrap_output else returned
    validated = adapter.validate_python(wrapped, by_alias=True, by_name=True)
    if isinstance(validated, BaseModel):
        return validated.model_dump(mode="json", by_alias=True)
    return adapter.dump_python(validated, mode="json", by_alias=True)


def raise_within(*values: object) -> None:
    """Raise the exceptions within `values`, which could not be written as JSON, if they hold any.

    Raises:
        ReturnedError: If there are exceptions within it.
    """
    failures = _Failures()
    for value in values:
        failures.search(value)
        with contextlib.suppress(ValueError, RecursionError):
            to_json(value, fallback=failures)
    failures.raise_any()


def _noticing(convert: Callable[[Any, _Failures], Any], value: Any) -> Any:
    """`convert(value)`, unless there are exceptions in `value`."""
    failures = _Failures()
    try:
        converted = convert(value, failures)
    except Exception:
        failures.raise_any()  # they explain more than the error that stopped the conversion
        raise
    if failures:
        failures.raise_any()
    return converted


def _blocks(value: Any, failures: _Failures) -> list[Any]:
    """The content blocks of a result, as the SDK's `_convert_to_content` makes them."""
    if value is None:
        return []
    if isinstance(value, str):
        return [{"type": "text", "text": value if type(value) is str else str.__str__(value)}]
    if isinstance(value, ContentBlock):
        return [value]
    if isinstance(value, Image):
        return [value.to_image_content()]
    if isinstance(value, Audio):
        return [value.to_audio_content()]
    words = text_of(value)
    if words is not None:
        _text(value, failures)  # for the exceptions in it
        return [{"type": "text", "text": words}]
    if isinstance(value, list | tuple):
        return [block for item in value for block in _blocks(item, failures)]
    return [{"type": "text", "text": _text(value, failures)}]


def text_of(value: object) -> str | None:
    """The text for models of an answer that has one beside its structured content; None for any other value."""
    write = getattr(type(value), "__mcpcore_text__", None)
    return None if write is None else write(value)


def _text(value: Any, failures: _Failures) -> str:
    failures.search(value)
    return to_json(value, fallback=failures, indent=2).decode()


# --- resources --------------------------------------------------------------------------------------------------------


class Resources(ResourceManager):
    """The SDK's resources, whose functions fail where they return an exception."""

    @classmethod
    def of(cls, manager: ResourceManager) -> Resources:
        """The resources of `manager`, which must not be used any more."""
        made = cls.__new__(cls)
        vars(made).update(vars(manager))
        return made

    async def get_resource(self, uri: Any, context: Any) -> Resource | InputRequiredResult:
        """The resource of a URI, as the SDK finds or makes it."""
        resource = await super().get_resource(uri, context)
        return watched(resource) if isinstance(resource, Resource) else resource


def watched(resource: Resource) -> Resource:
    """`resource`, whose function, if it has one, now converts its result and so notices exceptions in it."""
    if not isinstance(resource, FunctionResource):
        return resource
    return resource.model_copy(update={"fn": functools.partial(_read, resource.fn)})


async def _read(fn: Callable[[], Any]) -> Any:
    result = await _called(fn)
    # The SDK sends texts and bytes unchanged, and refuses questions to the client.
    if isinstance(result, str | bytes | InputRequiredResult):
        return result
    return watched(result) if isinstance(result, Resource) else _noticing(_text, result)


# --- prompts ----------------------------------------------------------------------------------------------------------


def watched_prompt(prompt: Prompt) -> Prompt:
    """`prompt`, whose function fails where it returns an exception."""
    return prompt.model_copy(update={"fn": functools.partial(_render, prompt.fn)})


async def _render(fn: Callable[..., Any], **arguments: Any) -> Any:
    result = await _called(functools.partial(fn, **arguments))
    return result if isinstance(result, str | InputRequiredResult) else _noticing(_messages, result)


def _messages(result: Any, failures: _Failures) -> list[Any]:
    """What a prompt returned, as a list of items; those that the SDK would write as JSON are texts."""
    items = result if isinstance(result, list | tuple) else [result]
    return [_message(item, failures) for item in items]


def _message(item: Any, failures: _Failures) -> Any:
    if isinstance(item, str | Message | ContentBlock | Image | Audio):
        return item
    if not isinstance(item, dict):
        return _text(item, failures)
    if not isinstance(item.get("content"), str):
        # The SDK validates it as a message; its error would hide the exception behind a validation error.
        failures.search(item)
        with contextlib.suppress(ValueError, RecursionError):
            to_json(item, fallback=failures)
    return item


async def _called(fn: Callable[[], Any]) -> Any:
    """The result of a function, run as the SDK runs it: a sync one in a worker thread."""
    return await fn() if is_async(fn) else await anyio.to_thread.run_sync(fn)
