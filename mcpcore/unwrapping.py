"""What a resource or a prompt raised, out of what the SDK made of it."""

from __future__ import annotations

from typing import Any

from mcp.server.mcpserver.exceptions import ResourceError
from mcp.shared.exceptions import MCPError

from mcpcore.arguments import INVALID_ARGUMENTS
from mcpcore.boundary import is_a
from mcpcore.codes import ErrorCode
from mcpcore.errors import FrameworkError
from mcpcore.jsonable import safe_str


def as_raised(exc: BaseException) -> BaseException:
    """The failure behind `exc`, which reading a resource or getting a prompt of the SDK's ended with."""
    if is_a(exc, MCPError):
        return _of_resource(exc)
    inner = exc.__cause__
    if type(exc) is not ValueError or inner is None or safe_str(exc) != safe_str(inner):
        return exc
    said = safe_str(inner)
    if type(inner) is not ValueError:
        return inner
    if inner.__cause__ is not None:
        return inner.__cause__ if said.startswith("Error rendering prompt ") else inner
    if said.startswith("Unknown prompt: "):
        return FrameworkError(
            ErrorCode.NOT_FOUND, said, reason="unknown_prompt", recovery="List the prompts to see what there is."
        )
    if said.startswith("Missing required arguments: "):
        hint = "Add the arguments that are missing, as the list of prompts describes them."
        return FrameworkError(ErrorCode.INVALID_PARAMS, said, reason=INVALID_ARGUMENTS, recovery=hint)
    return inner


def _of_resource(exc: Any) -> BaseException:
    """The error of a resource that the SDK answers with `exc`; `exc` itself where its author raised that."""
    behind: BaseException | None = exc.__context__
    if exc.__cause__ is None and behind is not None and is_a(behind, ResourceError):
        return behind if safe_str(behind) == safe_str(exc) else exc
    return exc  # type: ignore[no-any-return]
