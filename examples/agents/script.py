"""A script in place of a model: it makes the same calls one after the other, whatever the tools answer."""

from __future__ import annotations

from typing import Any, NamedTuple


class Call(NamedTuple):
    """A tool call of the model."""

    tool: str
    arguments: dict[str, Any]


CALLS = (
    Call("book", {"show": "Hamlet", "seats": 8}),
    Call("book", {"show": "Hamlet", "seats": 5}),
    Call("waiting_list", {"show": "Hamlet", "seats": 5}),
)


class Script:
    """A model that makes `CALLS` and prints what it reads in between."""

    def __init__(self) -> None:
        """Begin with the first call."""
        self._made = 0

    def read(self, text: str) -> None:
        """Print the text of an answer, as the model gets it."""
        print(f"the model reads:\n{text}\n")

    def next_call(self) -> Call | None:
        """The next call, or None at the end of the script."""
        if self._made == len(CALLS):
            return None
        call = CALLS[self._made]
        self._made += 1
        print(f"the model calls {call.tool} with {call.arguments}")
        return call


def show_retries(step: Any) -> None:
    """Print the steps that the model does not see."""
    if step.kind == "waited":
        print(f"  (not shown to the model: {step.failure})")
