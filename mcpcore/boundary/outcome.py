"""A call that failed, the outcome for the client and for the log, and breaches of the contract."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from mcpcore.boundary import coverage_hook
from mcpcore.contract.effects import REPEATABLE, CallState
from mcpcore.contract.errors import FrameworkError
from mcpcore.contract.failure_modes import NO_CONTRACT, Contract
from mcpcore.contract.unraised import UnraisedFailure

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mcpcore.audit.kinds import BreachKind
    from mcpcore.boundary.strictness import Strictness
    from mcpcore.contract.codes import Code
    from mcpcore.wire.envelope import Envelope

_MAX_DESCRIBED: Final = 10
"""Breaches of one call that its description names."""

_MAX_TEXT: Final = 2_000
"""Characters of each breach in a description."""


# Internal, so not frozen: freezing slows the import. So it is with the classes below.
@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class FailedCall:
    """A call that failed, or a part of one: everything that the boundary has to know, except for the exception."""

    name: str | None
    """The tool, resource or prompt, as the client knows it."""

    contract: Contract[Any] = NO_CONTRACT
    surface: str = "tool"
    """A "tool", a "resource", a "prompt" or a "completion"; or the "server" itself, which fails to start or to stop."""

    context: Mapping[str, Any] | None = None
    """The bound fields."""

    find_context: Callable[[Sequence[BaseException]], Mapping[str, Any] | None] | None = None
    """Finds the bound fields, if they depend on the exceptions that answer for the failure."""

    code: Code | None = None
    """The code of an exception that is not a `CodedError`; by default, the one that `classify` finds."""

    arguments: Mapping[str, Any] | None = None
    """The arguments of the call; None if they are not known."""

    state: CallState | None = None
    """What is known of the effects of the call."""

    lost: Sequence[UnraisedFailure | BrokenItem] = ()
    """The failures that the call lost, which are reported first."""

    strictness: Strictness | None = None
    """Replaces the server's own strictness."""

    inner: Envelope | None = None
    """The failure of a call within this one, with which this one failed too; it keeps its id and its recovery."""

    @property
    def repeatable(self) -> bool:
        """Whether a second call does no harm: the tool is idempotent, or changes nothing."""
        return self.state is not None and self.state.default in REPEATABLE


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Outcome:
    """What became of an exception: client-visible data and log-only data, kept apart."""

    envelope: Envelope
    """For the client."""

    exception: BaseException
    """For the log alone."""

    expected: bool
    """Whether somebody raised it on purpose: a coded error, bad arguments, an error of the SDK. A crash is not."""

    breaches: Sequence[Breach] = ()
    """How the failure violates its contract."""

    others: int = 0
    """Failures of the same group that the envelope does not mention."""

    relayed: bool = False
    """Whether another server failed, and this one passes its failure on."""


class Breach(NamedTuple):
    """One way in which a call broke its contract."""

    kind: BreachKind
    text: str


class BrokenContractError(Exception):
    """A call broke its contract, and the server is strict; the cause is the failure that the call ended with."""

    def __init__(self, *breaches: Breach) -> None:
        """Describe `breaches`."""
        super().__init__(*breaches)
        self.breaches = breaches

    @classmethod
    def of(cls, outcome: Outcome, lost: Sequence[UnraisedFailure | BrokenItem]) -> Self:
        """The error of a call that ended with `outcome` and lost `lost`."""
        error = cls(*outcome.breaches, *breaches_of(lost))
        error.__cause__ = outcome.exception
        return error

    def __str__(self) -> str:
        return described_breaches(self.breaches)


class BrokenItem(NamedTuple):
    """A part of a call that broke the contract while the call went on, on a strict server; recorded already."""

    outcome: Outcome

    @property
    def breaches(self) -> tuple[Breach, ...]:
        """What the part broke, and where its own record is found."""
        ident = self.outcome.envelope.correlation_id
        return tuple(Breach(kind, f"{text} (an item, id {ident})") for kind, text in self.outcome.breaches)


def observe(outcome: Outcome, call: FailedCall) -> None:
    """Show a failure to the observer, unless the framework raised it for no declared reason, or a test injected it."""
    observer = coverage_hook.observer
    exc = outcome.exception
    is_own = isinstance(exc, FrameworkError) and exc.entry is None
    if observer is not None and not (is_own or outcome.envelope.injected):
        observer.failed(call.surface, call.name, call.contract, outcome.envelope.name, outcome.envelope.reason)


def described_breaches(breaches: Sequence[Breach]) -> str:
    """What broke, as one text."""
    texts = [text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]}…" for _, text in breaches[:_MAX_DESCRIBED]]
    if len(breaches) > _MAX_DESCRIBED:
        texts.append(f"{len(breaches) - _MAX_DESCRIBED} more")
    return "; ".join(texts)


def breaches_of(noted: Sequence[UnraisedFailure | BrokenItem]) -> list[Breach]:
    """How the failures that were noted in a call broke its contract."""
    breaches: list[Breach] = []
    for failure in noted:
        if isinstance(failure, UnraisedFailure):
            breaches.append(Breach("lost", failure.description))
        else:
            breaches += failure.breaches
    return breaches
