"""The keyword arguments that several overloads share, for type checkers alone; nothing imports this at run time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import EllipsisType

    from mcp.server.auth.provider import OAuthAuthorizationServerProvider, TokenVerifier
    from mcp.server.auth.settings import AuthSettings
    from mcp.server.caching import CacheableMethod, CacheHint
    from mcp.server.context import ServerMiddleware
    from mcp.server.extension import Extension
    from mcp.server.mcpserver.resources.templates import ResourceSecurity
    from mcp.server.request_state import RequestStateSecurity
    from mcp.server.subscriptions import SubscriptionBus
    from mcp_types import Annotations, Icon, ToolAnnotations

    from mcpcore.contract.codes import Effects, Retry
    from mcpcore.contract.errors import RecoveryLike


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

    # `...` is the default, since None leaves the declared recovery out.
    recovery: RecoveryLike | EllipsisType | None
    retry: Retry | EllipsisType | None
    effects: Effects | None


class ServerOptions(TypedDict, total=False):
    """The options that `Server` passes on as they are, so that checkers and editors know them.

    `Server` has `tools`, `resources` and `lifespan` itself. At run time an option that is not listed here reaches the
    SDK all the same.
    """

    title: str | None
    description: str | None
    instructions: str | None
    website_url: str | None
    icons: list[Icon] | None
    version: str
    auth_server_provider: OAuthAuthorizationServerProvider[Any, Any, Any] | None
    token_verifier: TokenVerifier | None
    extensions: Sequence[Extension] | None
    debug: bool
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]
    warn_on_duplicate_resources: bool
    warn_on_duplicate_tools: bool
    warn_on_duplicate_prompts: bool
    dependencies: list[str] | None
    auth: AuthSettings | None
    resource_security: ResourceSecurity
    request_state_security: RequestStateSecurity | None
    cache_hints: Mapping[CacheableMethod, CacheHint] | None
    subscriptions: SubscriptionBus | Literal[False] | None
    middleware: Sequence[ServerMiddleware[Any]] | None
