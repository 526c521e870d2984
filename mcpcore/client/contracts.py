"""`ToolContract`: the contract of a tool in the code of its caller, so that a type checker knows its reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic

from mcpcore.contract.failure_modes import Contract, FailureMode, R_co

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcpcore.client.failures import ToolCallFailed


class ToolContract(Generic[R_co]):
    """The name of a tool and its failure modes; pass it to `call` in place of the name.

    ```python
    FETCH: ToolContract[Literal["no_match", "queue_full"]] = ToolContract("fetch_articles", (NO_MATCH, QUEUE_FULL))

    try:
        result = await call(session, FETCH, {"pmids": ["1"]})
    except ToolCallFailed as failed:
        match FETCH.reason_of(failed):
            case "no_match":
                print(failed.data_of(NO_MATCH).pmids)
            case "queue_full" | None:
                raise
            case other:
                assert_never(other)
    ```

    Attributes:
        name: The name of the tool.
        errors: Its failure modes.
    """

    __slots__ = ("contract", "name")

    def __init__(self, name: str, errors: Iterable[FailureMode[R_co]] = ()) -> None:
        """Name the tool and its failure modes.

        Raises:
            ContractError: If an entry is not a `FailureMode` or two entries have the same reason.
        """
        self.name = name
        self.contract: Contract[R_co] = Contract(errors, tool=name)

    def reason_of(self, failed: ToolCallFailed) -> R_co | None:
        """The declared reason of a failure of this tool; None for any other failure.

        Args:
            failed: The failure of a call.
        """
        entry = self.contract.get(failed.reason)
        return None if entry is None or failed.tool != self.name else entry.reason

    def __repr__(self) -> str:
        return f"ToolContract({self.name!r}, {list(self.contract.reasons)})"
