"""Failures that plain FastMCP tools, resources and prompts return instead of raising them.

FastMCP writes such an exception as text and reports a success. A transform on each server sees the tool, resource or
prompt that FastMCP is about to use. The object's class becomes a subclass, whose `convert_result` first
looks for exceptions in the result. Outside a request that a `ContractMiddleware` answers, the subclass changes nothing.
"""

from __future__ import annotations

import functools
import weakref
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from fastmcp.prompts.base import Message, Prompt, PromptResult
from fastmcp.resources.base import Resource, ResourceContent, ResourceResult
from fastmcp.server.transforms import GetPromptNext, GetResourceNext, GetResourceTemplateNext, GetToolNext, Transform
from fastmcp.tools.base import InputRequiredToolResult, Tool, ToolResult
from fastmcp.tools.function_tool import FunctionTool
from fastmcp.tools.tool_transform import TransformedTool
from fastmcp.utilities.types import Audio, File, Image
from mcp_types import CallToolResult, ContentBlock, InputRequiredResult

from mcpcore.integrations.fastmcp.calling import answer_claimed, answering_now, claim
from mcpcore.integrations.fastmcp.components import contract_tool_of
from mcpcore.integrations.fastmcp.private import lowlevel_of
from mcpcore.sdk.private import copy_identity_once
from mcpcore.sdk.returned import raise_within
from mcpcore.values.unwrapping import is_a

if TYPE_CHECKING:
    from fastmcp import FastMCP
    from fastmcp.resources.template import ResourceTemplate
    from fastmcp.utilities.versions import VersionSpec

ComponentT = TypeVar("ComponentT", bound="Tool | Resource | ResourceTemplate | Prompt")

_WRITTEN: Final = (
    str,
    bytes,
    ToolResult,
    ResourceResult,
    PromptResult,
    ResourceContent,
    Message,
    ContentBlock,
    Image,
    Audio,
    File,
    InputRequiredResult,
)
"""Results, or items of results, that hold texts and bytes only: the author has converted the values already."""

_watched: Final[weakref.WeakSet[FastMCP[Any]]] = weakref.WeakSet()


def watch(server: FastMCP[Any]) -> None:
    """Notice exceptions that the functions of `server` return; a second call changes nothing."""
    if server not in _watched:
        server.add_transform(Noticing())
        copy_identity_once(lowlevel_of(server))
        _watched.add(server)


class Noticing(Transform):
    """Has each component that FastMCP looks up to use it notice exceptions in its result."""

    async def get_tool(self, name: str, call_next: GetToolNext, *, version: VersionSpec | None = None) -> Tool | None:
        """The tool of a name, and with it the tools that it was made from."""
        named = tool = await call_next(name, version=version)
        while isinstance(_notice(tool), TransformedTool):
            tool = cast("TransformedTool", tool).parent_tool
        return named

    async def get_resource(
        self, uri: str, call_next: GetResourceNext, *, version: VersionSpec | None = None
    ) -> Resource | None:
        """The resource of a URI."""
        return _notice(await call_next(uri, version=version))

    async def get_resource_template(
        self, uri: str, call_next: GetResourceTemplateNext, *, version: VersionSpec | None = None
    ) -> ResourceTemplate | None:
        """The template of a resource's URI."""
        return _notice(await call_next(uri, version=version))

    async def get_prompt(
        self, name: str, call_next: GetPromptNext, *, version: VersionSpec | None = None
    ) -> Prompt | None:
        """The prompt of a name."""
        return _notice(await call_next(name, version=version))


def _notice(component: ComponentT | None) -> ComponentT | None:
    """`component`, whose class is now one that notices exceptions in a result.

    The object is changed in place: a transformed tool calls its original through a closure, which a copy would miss.
    """
    if component is not None and _MARK not in vars(type(component)) and answering_now() is not None:
        cls: Any = type(component)
        object.__setattr__(component, "__class__", _noticing_class(cls))
    return component


@functools.lru_cache(maxsize=1000)
def _noticing_class(cls: type[Any]) -> type[Any]:
    """The subclass of `cls` that notices exceptions; `cls` itself if it allows no subclass.

    A contract tool notices them itself, as it checks its arguments and converts its result. It gets the arguments as
    they were sent, since FastMCP's own checks, its scope for dependencies and its conversion would only cost time.
    """

    def convert_result(self: Any, raw_value: Any) -> Any:
        if answering_now() is not None:
            _raise_exceptions_in(raw_value)
        return cls.convert_result(self, raw_value)

    async def run(self: Any, arguments: dict[str, Any]) -> Any:
        declared = contract_tool_of(self)
        # Parameters that FastMCP fills in, and a timeout, need FastMCP's own way.
        if declared is None or self.timeout is not None or declared.declaration.signature.injected:
            return await cls.run(self, arguments)
        call = claim(declared)
        if call is None:
            return await cls.run(self, arguments)
        result = await answer_claimed(declared, arguments, {}, call)
        if isinstance(result, InputRequiredResult):
            return InputRequiredToolResult(result)
        return cls.convert_result(self, result)

    namespace: dict[str, Any] = {
        # Logs then show the name that the author of the class knows.
        "__module__": cls.__module__,
        "__qualname__": cls.__qualname__,
        "__doc__": cls.__doc__,
        "convert_result": convert_result,
        _MARK: True,
    }
    # A class that overrides `run` keeps its method.
    if getattr(cls, "run", None) is FunctionTool.run:
        namespace["run"] = run
    metaclass: Any = type(cls)
    try:
        return cast("type[Any]", metaclass(cls.__name__, (cls,), namespace))
    except Exception:  # noqa: BLE001 - a class of the user's may refuse subclasses in any way
        return cls


_MARK: Final = "__mcpcore_notices__"


def _raise_exceptions_in(result: Any) -> None:
    """Raise the exceptions in `result`, which a function returned, as one failure.

    Raises:
        ReturnedError: If it is an exception, or there are exceptions within it.
    """
    if isinstance(result, CallToolResult):
        raise_within(result.structured_content, result.meta)
        return
    if not is_a(result, BaseException):
        if isinstance(result, list | tuple):
            result = [item for item in result if is_a(item, BaseException) or not isinstance(item, _WRITTEN)]
        if isinstance(result, _WRITTEN):
            return
    raise_within(result)
