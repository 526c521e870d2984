"""Batch tools: what succeeded and, for each item that failed, the envelope that it would have had alone."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Generic

from pydantic import BaseModel, Field
from typing_extensions import TypeVar

from mcpcore.boundary import chosen_of, passes_through
from mcpcore.errors import CodedError
from mcpcore.jsonable import to_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore.context import Context

T = TypeVar("T", default=Any)


class ItemFailure(BaseModel):
    """An item that failed."""

    item: Any = Field(description="The item, as the caller named it.")
    error: dict[str, Any] = Field(description="Why it failed: the same envelope as that of a failed call.")


class BatchResult(BaseModel, Generic[T]):
    """The answer of a batch tool of which some items succeeded."""

    succeeded: list[T] = Field(description="The results of the items that succeeded, in order.")
    failed: list[ItemFailure] = Field(default_factory=list, description="The items that failed, in order.")


class Batch(Generic[T]):
    """Collects the outcomes of a batch, item by item.

    An item that fails is recorded as a failed call is, and told beside those that succeeded. The whole call fails where
    every item failed, and at once where an item fails with a reason whose failure mode says `fails_batch=True`.

    ```python
    batch = Batch[Article](ctx)
    for pmid in pmids:
        with batch.item(pmid):
            batch.add(await store.fetch(pmid))
    return batch.result()
    ```
    """

    def __init__(self, ctx: Context[Any, Any]) -> None:
        """Collect for the tool whose context is `ctx`."""
        self._ctx = ctx
        self._succeeded: list[T] = []
        self._failed: list[ItemFailure] = []
        self._causes: list[Exception] = []

    @contextmanager
    def item(self, item: object) -> Iterator[None]:
        """Do one item; an exception that leaves the block is that item's failure, and the batch goes on.

        Raises:
            Exception: If the failure is one that fails the whole batch.
        """
        try:
            yield
        except Exception as exc:
            if passes_through(exc) or self._is_whole(exc):
                raise
            told = self._ctx.judged(exc)
            self._failed.append(ItemFailure(item=to_json(item), error=told.to_json()))
            self._causes.append(exc)

    def add(self, result: T) -> None:
        """Take the result of an item that succeeded."""
        self._succeeded.append(result)

    @property
    def failed(self) -> tuple[ItemFailure, ...]:
        """The items that failed so far."""
        return tuple(self._failed)

    def result(self) -> BatchResult[T]:
        """The answer.

        Raises:
            CodedError: If every item failed: the failure that says most, with all of them in its data.
        """
        if self._failed and not self._succeeded:
            raise self._all_failed() from ExceptionGroup("every item failed", self._causes)
        return BatchResult[T](succeeded=self._succeeded, failed=self._failed)

    def _is_whole(self, exc: Exception) -> bool:
        chosen = chosen_of(exc, self._ctx.contract)
        entry = self._ctx.contract.get(chosen.reason) if isinstance(chosen, CodedError) else None
        return entry is not None and entry.fails_batch

    def _all_failed(self) -> CodedError:
        told = self._failed[0].error
        codes = {failure.error["name"] for failure in self._failed}
        speaker = chosen_of(ExceptionGroup("every item failed", self._causes), self._ctx.contract)
        count = len(self._failed)
        message = told["message"] if count == 1 else f"All {count} items failed; the first: {told['message']}"
        data = {"failed": [failure.model_dump() for failure in self._failed]}
        if isinstance(speaker, CodedError):
            return CodedError(
                speaker.code,
                message,
                data,
                reason=speaker.reason,
                recovery=... if speaker.recovery is None else speaker.recovery,
                retry=speaker.retry,
            )
        from mcpcore.codes import ErrorCode, code_named

        return CodedError(code_named(told["name"]) if len(codes) == 1 else ErrorCode.INTERNAL_ERROR, message, data)
