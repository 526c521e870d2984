"""What a resource or a prompt raised, out of what the SDK made of it."""

from __future__ import annotations

from mcp.server.mcpserver.exceptions import ResourceNotFoundError
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR

from mcpcore.arguments import INVALID_ARGUMENTS
from mcpcore.boundary import returned_failure, unwrapped
from mcpcore.codes import ErrorCode
from mcpcore.errors import FrameworkError
from mcpcore.jsonable import safe_str, shown_name


class UnansweredError(MCPError):
    """The failure of a resource or a prompt on its way through the SDK, which would log its text with all secrets."""

    def __init__(self, failure: BaseException) -> None:
        """Carry `failure`."""
        super().__init__(code=INTERNAL_ERROR, message="the request cannot be answered")
        self.failure = failure

    def __reduce__(self) -> tuple[type[UnansweredError], tuple[BaseException]]:
        return type(self), (self.failure,)


def as_raised(exc: BaseException, name: str) -> BaseException:
    """The failure behind `exc`, with which the SDK ended reading the resource or getting the prompt `name`."""
    if isinstance(exc, UnansweredError):
        failure = unwrapped(exc.failure)
        # The SDK repeats the URI of the caller.
        if type(failure) is ResourceNotFoundError and safe_str(failure) == f"Unknown resource: {name}":
            return ResourceNotFoundError(f"Unknown resource: {shown_name(name)}")
        return failure
    inner = exc.__cause__
    if type(exc) is not ValueError or inner is None or safe_str(exc) != safe_str(inner):
        return exc
    if safe_str(inner) == f"Unknown prompt: {name}":
        message = f"Unknown prompt: {shown_name(name)}"
        return FrameworkError(
            ErrorCode.NOT_FOUND, message, reason="unknown_prompt", recovery="List the prompts to see what there is."
        )
    said = safe_str(inner)
    if type(inner) is not ValueError:
        return inner
    if inner.__cause__ is not None:
        return returned_failure(inner.__cause__) if said.startswith("Error rendering prompt ") else inner
    if said.startswith("Missing required arguments: "):
        hint = "Add the arguments that are missing, as the list of prompts describes them."
        return FrameworkError(ErrorCode.INVALID_PARAMS, said, reason=INVALID_ARGUMENTS, recovery=hint)
    return inner
