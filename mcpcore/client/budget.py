"""A budget of retries over a whole session: it ends retry storms that the cap of a single call cannot see."""

from __future__ import annotations

import math


class RetryBudget:
    """Allows retries while they are at most `minimum + ratio * calls`.

    Share one budget between all calls of a session, or of a process. While most calls succeed, it is never spent. When
    a server is down, every call fails, and the budget ends the retries of all calls together.

    ```python
    budget = RetryBudget(ratio=0.5, minimum=1)
    budget.called()
    assert [budget.spend() for _ in range(2)] == [True, False]
    ```
    """

    def __init__(self, ratio: float = 0.1, minimum: int = 10) -> None:
        """Start a budget.

        Args:
            ratio: The retries that each call adds.
            minimum: The retries that are allowed before any call.

        Raises:
            ValueError: If one of the two is negative or not finite.
        """
        for name, value in (("ratio", ratio), ("minimum", minimum)):
            if not (math.isfinite(value) and value >= 0):
                raise ValueError(f"RetryBudget({name}=...) takes a finite number from 0 up, not {value!r}")
        self.ratio = ratio
        self.minimum = minimum
        self.calls = 0
        self.retries = 0

    @property
    def left(self) -> bool:
        """Whether one more retry is allowed."""
        return self.retries + 1 <= self.minimum + self.ratio * self.calls

    def called(self) -> None:
        """Count a call of the application; its retries do not count."""
        self.calls += 1

    def spend(self) -> bool:
        """Count a retry, if one more is allowed."""
        if not self.left:
            return False
        self.retries += 1
        return True

    def __repr__(self) -> str:
        return f"RetryBudget(ratio={self.ratio}, minimum={self.minimum}): {self.retries} retries of {self.calls} calls"
