"""What a resource or a prompt raised, out of what the SDK made of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR

from mcpcore.arguments import INVALID_ARGUMENTS
from mcpcore.boundary import unwrapped
from mcpcore.codes import ErrorCode
from mcpcore.errors import FrameworkError
from mcpcore.jsonable import safe_str

if TYPE_CHECKING:
    from mcp.server.mcpserver.exceptions import ResourceError


class UnreadError(MCPError):
    """A resource that failed, on its way through the SDK, which would log what it raised with all its secrets."""

    def __init__(self, failure: ResourceError) -> None:
        """Carry `failure`."""
        super().__init__(code=INTERNAL_ERROR, message="the resource cannot be read")
        self.failure = failure


def as_raised(exc: BaseException) -> BaseException:
    """The failure behind `exc`, which reading a resource or getting a prompt of the SDK's ended with."""
    if isinstance(exc, UnreadError):
        return unwrapped(exc.failure)
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
