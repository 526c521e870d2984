"""The OAuth scopes that a tool asks for: a caller without them gets UNAUTHORIZED or FORBIDDEN."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from mcpcore.boundary.framework_failures import own_failure
from mcpcore.contract.codes import ErrorCode

if TYPE_CHECKING:
    from mcpcore.contract.failure_modes import Contract


def checked_scopes(where: str, scopes: object) -> tuple[str, ...]:
    """The scopes that a tool declares.

    Raises:
        ValueError: If they are no list of names; the message begins with `where`.
    """
    if isinstance(scopes, str) or not isinstance(scopes, Sequence):
        raise ValueError(  # noqa: TRY004 - as for any other bad option
            f"{where}: auth must be a list of scopes, such as ['orders:read'], not {scopes!r}"
        )
    for scope in scopes:
        # RFC 6749, section 3.3: printable ASCII without a space, a quotation mark or a backslash.
        if not isinstance(scope, str) or not scope.isascii() or not scope.isprintable() or set(scope) & set(' "\\'):
            raise ValueError(
                f"{where}: auth holds {scope!r}, which is not a scope; scopes have no spaces and no quotes"
            )
        if not scope:
            raise ValueError(f"{where}: auth holds an empty scope; leave it out")
    return tuple(scopes)


def require_scopes(required: Sequence[str], granted: Collection[str] | None, contract: Contract[Any]) -> None:
    """Check that the caller has been granted the `required` scopes; None if it has not been identified.

    Raises:
        CodedError: UNAUTHORIZED if there is no access token, FORBIDDEN if it lacks a scope.
    """
    missing = [scope for scope in required if granted is None or scope not in granted]
    if not missing:
        return
    named = f"the scope{'s' if len(missing) > 1 else ''} {', '.join(missing)}"
    data = {"requiredScopes": list(required), "missingScopes": missing}
    if granted is None:
        raise own_failure(
            ErrorCode.UNAUTHORIZED,
            f"The call has no valid access token; it needs one with {named}.",
            data,
            contract,
            reason="no_access_token",
            recovery="Sign in, and send the access token with the request.",
            effects="none",
        )
    raise own_failure(
        ErrorCode.FORBIDDEN,
        f"The access token lacks {named}.",
        data,
        contract,
        reason="missing_scope",
        recovery="Ask the user to grant the missing scopes, then call again with the new access token.",
        effects="none",
    )
