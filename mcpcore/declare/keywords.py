"""The keyword arguments that several overloads share, for type checkers alone; nothing imports this at run time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import EllipsisType

    from mcp.server.mcpserver.resources.templates import ResourceSecurity
    from mcp_types import Annotations, Icon, ToolAnnotations

    from mcpcore.contract.codes import Effects
    from mcpcore.contract.errors import RecoveryLike
    from mcpcore.contract.retry import Retry


class OwnKeywords(TypedDict, total=False):
    """The options of `@tool` that the SDK's own registration does not have; see `ToolOptions`."""

    timeout: float | None
    max_concurrency: int | None
    auth: Sequence[str]
    read_only: bool | None
    idempotent: bool | None
    destructive: bool | None


class ToolKeywords(OwnKeywords, total=False):
    """The options of `@tool` without its contract; see `ToolOptions`."""

    name: str | None
    title: str | None
    description: str | None
    annotations: ToolAnnotations | None
    icons: list[Icon] | None
    meta: dict[str, Any] | None
    structured_output: bool | None


class ResourceKeywords(TypedDict, total=False):
    """The options of `@resource` without its URI and its contract; see `ResourceOptions`."""

    name: str | None
    title: str | None
    description: str | None
    mime_type: str | None
    icons: list[Icon] | None
    annotations: Annotations | None
    meta: dict[str, Any] | None
    security: ResourceSecurity | None


class PromptKeywords(TypedDict, total=False):
    """The options of `@prompt` without its contract; see `PromptOptions`."""

    name: str | None
    title: str | None
    description: str | None
    icons: list[Icon] | None


class FailKeywords(TypedDict, total=False):
    """The options of `ctx.fail`, without the reason, the message and the data."""

    recovery: RecoveryLike | EllipsisType | None
    retry: Retry | EllipsisType | None
    effects: Effects | None
