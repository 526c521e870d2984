"""The scopes of whoever calls a tool: those of the access token that the server has verified."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpcore.boundary.scopes import require_scopes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpcore.boundary.request import Request


def require_granted(required: Sequence[str], request: Request) -> None:
    """Check that the caller of `request` has been granted the `required` scopes.

    Access tokens belong to HTTP. Over stdio and in memory, whoever calls a tool also runs the server, and may call all.

    Raises:
        CodedError: UNAUTHORIZED or FORBIDDEN.
    """
    from mcp.server.auth.middleware.auth_context import get_access_token
    from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser

    http = _http_request(request)
    user = None if http is None else http.scope.get("user")
    # The context variable may hold the token with which a session began; a token is refreshed in between.
    token = user.access_token if isinstance(user, AuthenticatedUser) else get_access_token()
    if http is None and token is None:
        return
    require_scopes(required, None if token is None else token.scopes, request.contract)


def _http_request(request: Request) -> Any:
    try:
        return request.sdk.request_context.request
    except (AttributeError, ValueError):  # code on the server calls the tool
        return None
