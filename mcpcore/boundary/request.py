"""The request behind a call: its contract, what its server does for it, and the failures that were made in it."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Final

from mcpcore.contract.effects import CallState, ToolEffects, call_state
from mcpcore.contract.failure_modes import NO_CONTRACT, Contract
from mcpcore.contract.unraised import CLOSED, Notes, UnraisedFailure

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from anyio import CancelScope
    from fastmcp import Context as FastMCPContext
    from mcp.server.mcpserver import Context as SDKContext

    from mcpcore.boundary.call_limits import Place
    from mcpcore.boundary.outcome import BrokenItem
    from mcpcore.boundary.strictness import Strictness
    from mcpcore.contract.codes import Effects
    from mcpcore.values.jsonable import JSON
    from mcpcore.wire.envelope import Envelope

numbers: Final = itertools.count(1)
"""A number for each call of this process: tells what an exception brings from one call from what it has of another."""


class Request:
    """The request behind a context; the SDK's own object for it is made when something asks for it."""

    # On the class, so that a request costs nothing for what it does not use.
    contract: Contract[Any] = NO_CONTRACT
    """The contract of the handler."""

    arguments: Mapping[str, Any] | None = None
    """The arguments that the handler was called with, before they were validated."""

    effects: ToolEffects | None = None
    """The effects that follow from the tool's annotations for a failure that declares none."""

    began = False
    """Whether the handler has begun; a call that fails earlier has changed nothing."""

    at_least: Effects | None = None
    """The effects of parts of the call that ended earlier, such as items of a batch."""

    fastmcp: FastMCPContext | None = None
    """FastMCP's own context, if FastMCP runs the server."""

    timeout: float | None = None
    """Seconds that the call may take; None for no limit."""

    scope: CancelScope | None = None
    """Cancels the call when its time is up."""

    places: tuple[Place, ...] = ()
    """The places that the call takes among those that may run concurrently."""

    fields: dict[str, Any] | None = None
    """The fields that the handler has bound."""

    claimed = True
    """Whether a handler answers the request; the contract is that handler's."""

    reads = False
    """Whether the request is for a resource, and the SDK has not begun to read it."""

    strictness: Strictness | None = None
    """Decides in place of the strictness of the server that answers, which is mounted on another."""

    _sdk: SDKContext[Any, Any] | None = None
    notes: Notes | None = None
    """The failures that have been made for this request; None before the first."""

    def __init__(
        self,
        make: Callable[[], SDKContext[Any, Any]],
        *,
        contract: Contract[Any] = NO_CONTRACT,
        effects: ToolEffects | None = None,
        fastmcp: FastMCPContext | None = None,
    ) -> None:
        """Keep `make`, which makes the SDK's context, and the contract of the handler."""
        self._make = make
        self.number = next(numbers)
        if contract is not NO_CONTRACT:
            self.contract = contract
        if effects is not None:
            self.effects = effects
        if fastmcp is not None:
            self.fastmcp = fastmcp

    def state(self, *, of_part: bool = False) -> CallState | None:
        """What is known of the effects of this call; with `of_part`, of a part of it such as an item of a batch."""
        at_least = None if of_part else self.at_least
        if self.effects is None and at_least is None:
            return None
        return call_state(self.effects, self.began, at_least)

    def noted(self) -> Notes:
        """The failures that have been made for this request."""
        if self.notes is None:
            self.notes = Notes()
        return self.notes

    def unraised(self, outcome: BaseException | None = None) -> Sequence[UnraisedFailure | BrokenItem]:
        """The failures that were made for this request, which ended with `outcome`, and lost; call it once.

        On a strict server, also the parts of the call that broke its contract.
        """
        notes, self.notes = self.notes, CLOSED
        return () if notes is None else notes.close(outcome)

    @property
    def is_of_a_client(self) -> bool:
        """Whether a client sent the request; code on a FastMCP server makes some too."""
        return self.fastmcp is None or self.fastmcp.request_context is not None

    @property
    def sdk(self) -> SDKContext[Any, Any]:
        """The SDK's own context."""
        if self._sdk is None:
            self._sdk = self._make()
        return self._sdk


class AnsweredRequest(Request):
    """A request whose server records and writes the failures of its parts, such as the items of a batch."""

    def record_item(self, exc: BaseException) -> Envelope:
        """The envelope of a part of the call that failed while the call goes on; recorded like a failed call."""
        raise NotImplementedError  # pragma: no cover - each server has its own

    def render_item(self, envelope: Envelope) -> dict[str, Any]:
        """The envelope as a part of an answer."""
        raise NotImplementedError  # pragma: no cover - each server has its own

    def show_value(self, value: JSON) -> JSON:
        """A value of the caller's as a part of an answer."""
        raise NotImplementedError  # pragma: no cover - each server has its own
