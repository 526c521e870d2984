"""Batch tools: what succeeded and, for each item that failed, the envelope that it would have had alone.

Where all items fail, the failure is the same for the same items, whatever their order. A batch may do its items one
after another or concurrently, so their order says nothing about what went wrong.
"""

from __future__ import annotations

import asyncio
import re
from bisect import insort
from collections import Counter
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, cast

import anyio
from pydantic import BaseModel, Field, PrivateAttr
from pydantic_core import to_json as json_bytes
from typing_extensions import TypeVar

from mcpcore.boundary.mapper import select_failure
from mcpcore.contract.advice import BETWEEN
from mcpcore.contract.codes import Code, Effects, ErrorCode, Retry, severity
from mcpcore.contract.effects import CHANGED, weakest
from mcpcore.contract.errors import CodedError
from mcpcore.services.guarding import contract_guard
from mcpcore.values.escaping import one_line
from mcpcore.values.jsonable import JSON, cut_text, dumps, fit, size, to_json
from mcpcore.values.unwrapping import is_a, passes_through
from mcpcore.wire.envelope_text import INDENT, word

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mcpcore.contract.failure_modes import Contract, FailureMode
    from mcpcore.declare.context import Context
    from mcpcore.wire.envelope import Envelope

COUNTS: Final = "counts"
"""The key of `data` with the number of failed items by reason, or by the name of the code where there is no reason."""

SEE_ITEMS: Final = "Read `failed` in the data: each item says why it failed and what to do about it."
"""The recovery of a batch whose items need different recoveries."""

_MAX_NAMED: Final = 20
"""Items that the advice of a batch names."""

_MAX_LABEL: Final = 100
"""Characters of an item in a text."""

_MAX_COUNTS: Final = 50
_OTHERS: Final = "(others)"

_MAX_LISTED: Final = 12 * 1024
"""Bytes of the failed items in the data of a batch that failed as a whole."""


class WholeFailure:
    """Gathers the failed items of a batch, in any order, for the failure of the batch as a whole."""

    def __init__(self, *, max_items: int) -> None:
        """Gather items, of which the failure lists at most `max_items`, within 12 KiB."""
        self._max = max_items
        self._counts: Counter[str] = Counter()
        self._steps: Counter[Step] = Counter()
        self._reasons: set[str | None] = set()
        self._recoveries: dict[str, Mapping[str, Any] | None] = {}
        self._retry: Retry | None = None
        self._messages: set[str] = set()
        self._effects: list[Effects | None] = []
        self._number = 0
        # Sorted. A later item can only move the others back, so an item that has no room now never has room again.
        self._listed: list[tuple[tuple[Any, ...], int, int, dict[str, Any], Envelope]] = []
        self._first_unlisted: tuple[Any, ...] | None = None
        """The key of the first item without room. No item after it is listed, however small it is."""

    def add(self, failure: dict[str, Any], envelope: Envelope) -> None:
        """Add a failed item: `failure` as the answer lists it, and its envelope."""
        self._number += 1
        self._counts[reason_or_code(envelope)] += 1
        self._steps[Step.of(envelope)] += 1
        # Two different values are as many as there could be: of more, none is kept.
        if len(self._reasons) < 2:
            self._reasons.add(envelope.reason)
        if len(self._recoveries) < 2:
            self._recoveries[dumps(dict(envelope.recovery or {}))] = envelope.recovery
        self._effects = [weakest((envelope.effects, *self._effects))]
        if len(self._messages) < 2:
            self._messages.add(envelope.message)
        advice = (envelope.retry,) if self._retry is None else (self._retry, envelope.retry)
        self._retry = min(advice, key=lambda retry: retry.caution)
        key = _order(failure["item"], envelope)
        if self._first_unlisted is not None and key >= self._first_unlisted:
            return
        insort(self._listed, (key, self._number, size(failure), failure, envelope))
        room = _MAX_LISTED
        for place, (_, _, weight, _, _) in enumerate(self._listed):
            room -= weight
            # The first place is never removed: the code and the message of the whole failure are those of its item.
            if place and (room < 0 or place >= self._max):
                self._first_unlisted = self._listed[place][0]
                del self._listed[place:]
                break

    def error(self, contract: Contract[Any]) -> CodedError:
        """The failure of the batch, under the contract of its tool."""
        most_severe = self._listed[0][-1]
        reason = next(iter(self._reasons)) if len(self._reasons) == 1 else None
        data: dict[str, Any] = {COUNTS: self._shown_counts()}
        listed = [failure for *_, failure, _ in self._listed]
        rest = self._counts - Counter(reason_or_code(envelope) for *_, envelope in self._listed)
        if (note := note_of(_by_name(rest))) is not None:
            data["note"] = note
        if len(self._steps) > 1 and any(step.retry.retryable for step in self._steps):
            # The advice for the whole call is that of the most cautious item; others may be sent again.
            items = [FailedItem.of(failure["item"], envelope) for *_, failure, envelope in self._listed]
            data["advice"] = advice_of(items, self._steps - Counter(item.step for item in items))
        if reason is not None:
            # The data model of the reason may require them.
            data = {**data, **{key: value for key, value in most_severe.details.items() if key not in data}}
        entry = contract.get(reason)
        recovery = self._recovery(entry, reason)
        effects = weakest(self._effects)
        error = CodedError(
            code_of(most_severe),
            self._message(most_severe, reason),
            {**data, "failed": listed},
            reason=reason,
            recovery=... if entry is not None and recovery == entry.recovery_json() else recovery,
            retry=self._retry,
            effects=effects,
        )
        # What an entry says of one failure may not hold for the other items.
        error.omits_effects = True
        return error

    def _message(self, most_severe: Envelope, reason: str | None) -> str:
        count, message = self._number, most_severe.message
        if count == 1:
            return message
        if len(self._messages) == 1:
            return f"All {count} items failed: {message}"
        if reason is not None:
            return f"All {count} items failed; one of them: {message}"
        return f"All {count} items failed: {_listing(_by_name(self._counts))}. The most severe: {message}"

    def _recovery(self, entry: FailureMode[Any] | None, reason: str | None) -> Any:
        """The recovery that the items share; else the declared one of their reason, else where to find theirs."""
        if len(self._recoveries) == 1:
            return next(iter(self._recoveries.values()))
        # A template, filled for one item, may be wrong for the others.
        is_of_item = entry is not None and (entry.templates is not None or entry.fallback_arguments is not None)
        return SEE_ITEMS if reason is None or is_of_item else ...

    def _shown_counts(self) -> dict[str, int]:
        ordered = Counter(_by_name(self._counts)).most_common()
        shown = dict(ordered[:_MAX_COUNTS])
        if others := sum(count for _, count in ordered[_MAX_COUNTS:]):
            shown[_OTHERS] = shown.get(_OTHERS, 0) + others
        return shown


class Step(NamedTuple):
    """What may be done next with a failed item."""

    retry: Retry
    must_check: bool
    """Whether the item may have taken effect, so that sending it again may do it twice."""

    @classmethod
    def of(cls, envelope: Envelope) -> Step:
        """The step after the failure of an item."""
        return cls(envelope.retry, not envelope.retryable and envelope.effects in CHANGED)


class FailedItem(NamedTuple):
    """A failed item as a model reads it."""

    label: str
    line: str
    """Why it failed, what to do about it, and the advice, each in one line."""

    step: Step

    @classmethod
    def of(cls, item: JSON, envelope: Envelope, *, number: int | None = None) -> FailedItem:
        """Describe the failure of `item`. Its texts may be a caller's, so none of them begins a line.

        `number` tells long items apart, whose texts are cut; None where the order of the items must not show.
        """
        label = _label(item, number)
        facts = [] if envelope.reason is None else [f"reason {word(envelope.reason)}"]
        facts += [word(envelope.name), envelope.item_advice, f"id {envelope.correlation_id}"]
        lines = [f"Failed: {label} — {one_line(envelope.message)}"]
        if envelope.hint is not None:
            lines.append(f"{INDENT}Recovery: {one_line(envelope.hint)}")
        lines.append(f"{INDENT}({BETWEEN.join(facts)})")
        return cls(label, "\n".join(lines), Step.of(envelope))


def _label(item: JSON, number: int | None) -> str:
    """The name of an item within a sentence: JSON, but for plain words, so that it cannot pass for a part of it."""
    if isinstance(item, str) and len(item) <= _MAX_LABEL and _PLAIN.fullmatch(item):
        return item
    text = one_line(dumps(item)).replace("·", "\\u00b7")
    cut = text if len(text) <= _MAX_LABEL else cut_text(text, _MAX_LABEL)
    return cut if cut is text or number is None else f"item {number} ({cut})"


_PLAIN: Final = re.compile(r"[\w.@#/:+-]+(?: [\w.@#/:+-]+)*")


def advice_of(items: Sequence[FailedItem], unlisted: Mapping[Step, int]) -> str:
    """Which of the failed items of a batch may be sent again, and when; the others are done already.

    Args:
        items: The failed items that are named.
        unlisted: How many further items failed, by the step that comes next.
    """
    steps: dict[Step, list[str]] = {}
    for item in items:
        steps.setdefault(item.step, []).append(item.label)
    for step in unlisted:
        steps.setdefault(step, [])
    parts: list[str] = []
    for step, labels in sorted(steps.items(), key=lambda pair: pair[0].retry.caution, reverse=True):
        named = _named(labels, unlisted.get(step, 0))
        if step.retry.retryable:
            parts.append(f"send again only {named}, {step.retry.phrase.removeprefix('retry ')}")
        elif step.must_check:
            parts.append(f"check before you send again: {named}")
    return BETWEEN.join(parts) or "send none of the failed items again as they are"


def _named(labels: Sequence[str], unlisted: int) -> str:
    rest = len(labels[_MAX_NAMED:]) + unlisted
    more = [f"{rest} {'item' if rest == 1 else 'items'} not named here"] if rest else []
    return ", ".join([*labels[:_MAX_NAMED], *more])


def reason_or_code(envelope: Envelope) -> str:
    """The key by which failed items are counted; taken from the envelope, which holds no secret."""
    return one_line(envelope.reason or envelope.name)


def note_of(left_out: Mapping[str, int]) -> str | None:
    """How many more items failed, and why; None if all are listed."""
    return f"{sum(left_out.values())} more items failed and are not listed: {_listing(left_out)}." if left_out else None


def code_of(envelope: Envelope) -> Code:
    """The code of a failed item; INTERNAL_ERROR for a code of another application."""
    return envelope.error_code or ErrorCode.INTERNAL_ERROR


def _listing(counts: Mapping[str, int]) -> str:
    """The counts, the highest first; equal counts keep their order."""
    ordered = Counter(counts).most_common()
    return ", ".join(f"{count} {name}" for name, count in ordered[:10]) + (", …" if ordered[10:] else "")


def _by_name(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items()))


def _order(item: Any, envelope: Envelope) -> tuple[Any, ...]:
    """The sort key of a failed item: the most severe first. Items with the same key differ in ids and times only."""
    is_number = isinstance(item, int | float) and not isinstance(item, bool)
    error = envelope.to_json()
    del error["correlationId"], error["timestamp"]
    return (
        severity(code_of(envelope)),
        envelope.reason or "",
        (0, item, "") if is_number else (1, 0, dumps(item)),
        envelope.message,
        dumps(error),
    )


T = TypeVar("T", default=Any)

MAX_FAILURES: Final = 100
"""Failed items that an answer tells in full, where the batch does not say otherwise."""

MAX_BYTES: Final = 256 * 1024
"""Bytes of the failed items of an answer, as JSON."""

_MAX_ITEM: Final = 1024

_within: Final[ContextVar[tuple[tuple[object, int], ...]]] = ContextVar("mcpcore_batch_items", default=())
"""The items that are being done, each with its batch, the innermost last; each task has its own."""


class ItemFailure(BaseModel):
    """An item that failed.

    ```python
    for failure in answer.failed:
        print(failure.item, failure.error["message"])
    ```

    Attributes:
        item: The item, as the caller named it.
        error: The envelope that a failed call would have.
    """

    item: Any = Field(description="The item, as the caller named it.")
    error: dict[str, Any] = Field(description="Why it failed: the envelope of a failed call.")


class BatchResult(BaseModel, Generic[T]):
    """The answer of a batch tool of which some items succeeded.

    Attributes:
        succeeded: The results of the items that succeeded, in order.
        failed: The items that failed, in order.
        advice: Which of the failed items may be sent again, and when.
        note: How many more items failed, and why, if not all are listed.
    """

    succeeded: list[T] = Field(description="The results of the items that succeeded, in order.")
    failed: list[ItemFailure] = Field(default_factory=list, description="The items that failed, in order.")
    advice: str | None = Field(
        default=None,
        exclude_if=lambda advice: advice is None,
        description="Which of the failed items may be sent again, and when.",
    )
    note: str | None = Field(
        default=None,
        exclude_if=lambda note: note is None,
        description="How many more items failed, and why, if not all are listed.",
    )
    _lines: tuple[str, ...] = PrivateAttr(default=())
    """A paragraph for each failed item."""

    _count: str = PrivateAttr(default="")
    """How many items were done, as a sentence."""

    def __mcpcore_text__(self) -> str | None:
        """The answer as models read it; None if no item failed, or another part of the program made the answer."""
        # A handler may have changed the answer since.
        if not self._lines or len(self._lines) != len(self.failed):
            return None
        done = one_line(json_bytes(self.succeeded, fallback=str).decode())
        parts = [f"{self._count} {self._lines[0]}", *self._lines[1:]]
        if self.note is not None:
            parts.append(self.note)
        parts.append(f"Done: {done}")
        if self.advice is not None:
            parts.append(f"({self.advice})")
        return "\n\n".join(parts)


class Batch(Generic[T]):
    """Collects the outcomes of a batch, item by item; items may be done one after another or concurrently.

    An item that fails is recorded as a failed call is, and told beside those that succeeded, in the server's dialect.
    The order is that in which the items were begun. An item that fails leaves nothing behind that it had added before.

    The whole call fails immediately if an item fails with a reason whose failure mode says `fails_batch=True`, and at
    the end if every item failed. The failure is then the same whatever the order of the items. It has the reason that
    all items share; without a shared reason, it has the most severe code of `mcpcore.contract.codes.SEVERITY`. Its
    `data` has the number of items by reason in `counts`, and the items in `failed`, the most severe first. Its retry
    advice is the most cautious of the items: never, else the longest wait, else now.

    ```python
    @tool(errors=[NO_ARTICLE])
    async def fetch_articles(ctx: Context[Literal["no_article"]], pmids: list[str]) -> BatchResult[Article]:
        '''Fetch articles by their ids.'''
        batch = Batch[Article](ctx)
        for pmid in pmids:
            with batch.item(pmid):
                batch.add(await store.fetch(pmid))
        return batch.result()
    ```
    """

    def __init__(self, ctx: Context[Any, Any], *, max_failures: int = MAX_FAILURES) -> None:
        """Collect for the tool whose context is `ctx`.

        Args:
            ctx: The context of the call.
            max_failures: How many failed items the answer tells in full, within 256 KiB; of the others it tells how
                many there are, by reason. All are recorded.

        Raises:
            ValueError: If `max_failures` is not an int of at least 1.
        """
        if isinstance(max_failures, bool) or not isinstance(max_failures, int) or max_failures < 1:
            raise ValueError(f"Batch(max_failures=...) must be an int of at least 1, not {max_failures!r}")
        self._ctx = ctx
        self._max = max_failures
        self._begun = 0
        self._done = 0
        self._succeeded: list[tuple[int, T]] = []
        self._failed: list[tuple[int, ItemFailure]] = []
        self._items: list[tuple[int, FailedItem]] = []
        self._exceptions: list[BaseException] = []
        self._whole = WholeFailure(max_items=max_failures)
        self._left_out: Counter[str] = Counter()
        self._unlisted: Counter[Step] = Counter()
        self._bytes = 0
        self._effects: list[Effects | None] = []
        self._guard = contract_guard(ctx.contract) if ctx.contract.mapped else None

    @contextmanager
    def item(self, item: object) -> Iterator[None]:
        """Do one item; an exception that leaves the block is that item's failure, and the batch goes on.

        Args:
            item: The item, as the caller named it.

        Raises:
            Exception: If the failure is one that fails the whole batch.
        """
        number = self._begin()
        around = _within.get()
        _within.set((*around, (self, number)))
        try:
            if self._guard is None:
                yield
            else:
                with self._guard:
                    yield
        except BaseException as exc:
            if not isinstance(exc, Exception) and not _is_stray(exc):
                raise
            speaker = select_failure(exc, self._ctx.contract)
            if self._is_whole(speaker):
                self._tell_call()
                raise
            self._fail(number, item, exc, speaker)
        else:
            self._done += 1
            self._tell_call()
        finally:
            _within.set(around)

    def add(self, result: T) -> None:
        """Take the result of an item that succeeded.

        Args:
            result: The result.
        """
        number = next((number for batch, number in reversed(_within.get()) if batch is self), None)
        if number is None:
            number = self._begin()
            self._done += 1
        self._succeeded.append((number, result))

    @property
    def failed(self) -> tuple[ItemFailure, ...]:
        """The items that failed so far, as many as the answer lists."""
        return tuple(failure for _, failure in sorted(self._failed, key=_number))

    def result(self) -> BatchResult[T]:
        """The answer.

        Raises:
            CodedError: If every item failed: with the reason that all items share, else with the most severe code.
        """
        if self._failed and not self._done:
            error = self._whole.error(self._ctx.contract)
            raise error from BaseExceptionGroup("every item failed", self._exceptions)
        items = [item for _, item in sorted(self._items, key=_number)]
        answer = BatchResult[T](
            succeeded=[result for _, result in sorted(self._succeeded, key=_number)],
            failed=list(self.failed),
            advice=advice_of(items, self._unlisted) if items else None,
            note=note_of(self._left_out),
        )
        answer._lines = tuple(item.line for item in items)  # noqa: SLF001 - its own
        total = self._done + len(items) + sum(self._left_out.values())
        answer._count = f"{self._done} of {total} done."  # noqa: SLF001 - its own
        return answer

    def _tell_call(self) -> None:
        """Report the effects of the items so far, since the call may still fail: with an item, or outside of them."""
        self._ctx.has_changed(weakest(["partial" if self._done else None, *self._effects]))

    def _begin(self) -> int:
        self._begun += 1
        return self._begun

    def _fail(self, number: int, item: object, exc: BaseException, speaker: BaseException) -> None:
        envelope = self._ctx.record_failure(exc)
        self._effects = [weakest((envelope.effects, *self._effects))]
        self._tell_call()
        self._succeeded = [added for added in self._succeeded if added[0] != number]
        shown = self._ctx.show_value(to_json(item, room=_MAX_ITEM))
        failure = ItemFailure(item=fit(shown, _MAX_ITEM), error=self._ctx.render_item(envelope))
        written = failure.model_dump()
        if not self._done:
            self._whole.add(written, envelope)
        weight = size(written)
        # The first is always listed, however long it is, so that an answer with failures never shows none.
        if self._failed and (len(self._failed) >= self._max or self._bytes + weight > MAX_BYTES):
            self._left_out[reason_or_code(envelope)] += 1
            self._unlisted[Step.of(envelope)] += 1
            return
        self._bytes += weight
        self._failed.append((number, failure))
        self._items.append((number, FailedItem.of(failure.item, envelope, number=number)))
        # Not those of unlisted items, which may be many, each with its frames.
        self._exceptions.append(speaker)

    def _is_whole(self, speaker: BaseException) -> bool:
        entry = self._ctx.contract.get(cast("CodedError", speaker).reason) if is_a(speaker, CodedError) else None
        return entry is not None and entry.fails_batch


def _is_stray(exc: BaseException) -> bool:
    """Whether `exc` is the cancellation of something that the item waited for, while nobody cancels the call."""
    if isinstance(exc, asyncio.CancelledError):
        with suppress(RuntimeError, anyio.NoEventLoopError):  # in a worker thread nobody can tell
            return not passes_through(exc)
    return False


def _number(numbered: tuple[Any, ...]) -> Any:
    return numbered[0]
