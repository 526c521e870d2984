"""Failures on demand: a declared reason is raised in a handler's place, so that its author can see what an agent does.

A fault is written as text, since the command line, tests and the proxy take the same: `payment_unconfirmed` for every
call, `payment_unconfirmed,first=2` for the first two, `payment_unconfirmed,probability=0.3`, `…,after` for a failure
once the handler has done its work, and `all` for every declared reason in turn, once each.
"""

from __future__ import annotations

import functools
import inspect
import random
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final

from mcpcore.contract.errors import CodedError, failure_of
from mcpcore.contract.failure_modes import Contract, FailureMode
from mcpcore.values.untrusted import quietly

ALL: Final = "all"
"""Means every reason of a tool, or every tool."""

INSTRUCTIONS: Final = (
    "This server is under test: some of its failures are injected. They say so, and are otherwise the real ones."
)
"""What a server that fails on demand adds to its instructions."""


_COUNT: Final = re.compile("[1-9][0-9]{0,8}")


class FaultError(ValueError):
    """A fault cannot be raised: it is misspelt, or names a tool or a reason that does not exist."""


@dataclass(slots=True, kw_only=True)
class Fault:
    """One failure on demand.

    Attributes:
        reason: A declared reason of the tool, or `ALL`.
        first: The number of calls that fail; None for no end.
        probability: The share of calls that fail, above 0 and at most 1.
        after: Whether the handler runs first, so that its effects have happened when the call fails.
    """

    reason: str
    first: int | None = None
    probability: float = 1.0
    after: bool = False

    @classmethod
    def parse(cls, text: str) -> Fault:
        """Read `REASON[,first=N][,probability=P][,after]`.

        Raises:
            FaultError: If the text has another form.
        """
        # Tests pass faults as values of Python, of any type.
        if not isinstance(text, str):
            raise FaultError(f"{text!r} is no failure to inject; write the name of a declared reason")
        reason, *options = (part.strip() for part in text.split(","))
        fault = cls(reason=reason)
        for option in options:
            name, _, value = option.partition("=")
            if option == "after":
                fault.after = True
            elif name == "first" and _COUNT.fullmatch(value):
                fault.first = int(value)
            elif name == "probability" and 0 < quietly(functools.partial(float, value), 0.0) <= 1:
                fault.probability = float(value)
            elif name in ("first", "probability"):
                wanted = "a whole number from 1" if name == "first" else "a number above 0 and at most 1"
                raise FaultError(f"{text!r}: {name} takes {wanted}, not {value!r}")
            else:
                raise FaultError(f"{text!r}: {option!r} is unknown; the options are first=N, probability=P and after")
        if not reason:
            raise FaultError(f"{text!r} names no reason; write the name of a declared reason, or {ALL!r}")
        if reason == ALL and fault.first is not None:
            raise FaultError(f"{text!r}: {ALL!r} raises each reason once; leave first= out")
        return fault


def parse_faults(texts: Iterable[str]) -> dict[str, list[str]]:
    """Read `TOOL=FAULT` and `all`, as the command line has them: the faults of each tool, in order.

    Raises:
        FaultError: If a text has another form.
    """
    faults: dict[str, list[str]] = {}
    for text in texts:
        tool, equals, fault = text.partition("=")
        if text.strip() == ALL:
            tool, fault = ALL, ALL
        elif not equals or not tool.strip():
            raise FaultError(
                f"{text!r} is no failure to inject; write TOOL=REASON, such as place_order=declined, or all"
            )
        faults.setdefault(tool.strip(), []).append(fault)
    return faults


class ToolFaults:
    """The faults of one tool; each call takes the first that applies to it."""

    def __init__(self, name: str, contract: Contract[Any], texts: Sequence[str], *, seed: int) -> None:
        """Check the faults in `texts` against `contract`.

        Raises:
            FaultError: If one of them is misspelt, or names a reason that the tool does not declare.
        """
        self._faults: list[tuple[Fault, FailureMode[Any], random.Random]] = []
        for text in texts:
            fault = Fault.parse(text)
            if not len(contract):
                raise FaultError(f"the tool {name!r} declares no failure modes")
            whole = fault.reason == ALL
            for reason in contract.reasons if whole else (fault.reason,):
                entry = contract.get(reason)
                if entry is None:
                    declared = ", ".join(map(repr, contract.reasons))
                    raise FaultError(f"the tool {name!r} declares no reason {reason!r}; declared are {declared}")
                first = 1 if whole else fault.first
                # Each reason counts its own calls, also the reasons that one `all` names.
                own = Fault(reason=reason, first=first, probability=fault.probability, after=fault.after)
                # Its own for each fault, so that one does not change what another draws.
                self._faults.append((own, entry, random.Random(f"{seed} {name} {reason}")))  # noqa: S311 - no secret

    @property
    def entries(self) -> list[FailureMode[Any]]:
        """The failure modes that may be raised."""
        return [entry for _, entry, _ in self._faults]

    def take(self) -> tuple[Fault, FailureMode[Any]] | None:
        """The fault for the next call; None if the call goes to the handler."""
        for fault, entry, chance in self._faults:
            if fault.first == 0 or (fault.probability < 1 and chance.random() >= fault.probability):
                continue
            if fault.first is not None:
                fault.first -= 1
            return fault, entry
        return None


def injected_failure(entry: FailureMode[Any], data: Mapping[str, Any] | None) -> CodedError:
    """The failure of `entry` with `data`, as a handler would make it, and marked as injected."""
    error = failure_of(entry, None, data)
    error.injected = True
    return error


def failing_on_demand(
    run: Callable[..., Any],
    faults: ToolFaults,
    sample: Callable[[FailureMode[Any], Mapping[str, Any]], Mapping[str, Any] | None],
    *,
    is_async: bool,
    is_meant: Callable[[], bool] = lambda: True,
) -> Callable[..., Any]:
    """The handler `run`, with failures of `faults` in its place.

    `is_meant` says whether the call that runs now may fail, since another server may have the same handler. `sample`
    makes the data of a failure of an entry, and may use the arguments of the call.
    """

    def run_or_fail(*args: Any, **options: Any) -> Any:
        taken = faults.take() if is_meant() else None
        if taken is None:
            return run(*args, **options)
        fault, entry = taken
        returned = run(*args, **options) if fault.after else None
        # An async handler fails once it is awaited, after its own work. A decorator may hide that the handler is async.
        if is_async or inspect.isawaitable(returned):
            return _failed_after(returned, lambda: injected_failure(entry, sample(entry, options)))
        raise injected_failure(entry, sample(entry, options))

    return functools.wraps(run)(run_or_fail)


async def _failed_after(returned: Awaitable[Any] | None, failure: Callable[[], CodedError]) -> None:
    if returned is not None:
        await returned
    raise failure()


def faults_of_tools(
    wanted: Mapping[str, Sequence[str]], contracts: Mapping[str, Contract[Any]], *, seed: int
) -> Iterator[tuple[str, ToolFaults]]:
    """The faults of each tool that has any, by the tool's name; the key `ALL` means all tools with contracts.

    Raises:
        FaultError: If a fault is misspelt, or names a tool or a reason that does not exist.
    """
    declared = {name: contract for name, contract in contracts.items() if len(contract)}
    if not declared:
        raise FaultError("no tool of the server declares failure modes, so none can be raised on demand")
    for name in wanted:
        if name != ALL and name not in contracts:
            near = get_close_matches(name, contracts, n=1)
            meant = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(map(repr, declared))}"
            raise FaultError(f"the server has no tool {name!r}; {meant}")
    for name, contract in contracts.items():
        texts = [*wanted.get(name, ()), *(wanted.get(ALL, ()) if name in declared else ())]
        if texts:
            yield name, ToolFaults(name, contract, texts, seed=seed)
