"""A model that is a script: it runs one errand at the order desk, and follows the recovery of each failure."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Final

from examples.agents.script import Call

_REASON: Final = re.compile(r"\(reason (\w+)")


@dataclass
class Clerk:
    """A model that runs one errand, and follows the recovery of each failure that it reads."""

    call: Call
    done: str
    """A pattern of the answer with which the errand is done."""

    customer: str
    is_done: bool = False
    reported: str = ""
    """The failure that is reported to the customer, as its text."""

    _next: Call | None = field(init=False)
    _met: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Begin with the call of the errand."""
        self._next = self.call

    def next_call(self) -> Call | None:
        """The next call; None at the end."""
        following, self._next = self._next, None
        return following

    def read(self, text: str) -> None:
        """Read an answer, and choose the next call."""
        failure = _REASON.search(text)
        if failure is not None:
            self._recover(failure[1], text)
        elif re.search(self.done, text):
            self.is_done = True
        elif "looked" not in self._met:
            # A list of items or orders, from which the call can be corrected.
            self._next = self._corrected(text)
            self._met.append("looked")
        else:
            self.reported = f"The errand is not done. The last answer is: {text}"

    def _corrected(self, text: str) -> Call:
        arguments = json.loads(json.dumps(self.call.arguments).replace('"lmap"', '"lamp"'))
        number = re.search(r"""['"]id['"]: ?(\d+)""", text)
        if "order_id" in arguments and number is not None:
            arguments["order_id"] = int(number[1])
        return Call(self.call.tool, arguments)

    def _recover(self, reason: str, text: str) -> None:
        left = re.search(r"Order at most (\d+)", text)
        new_call: Call | None = None
        if reason == "no_item":
            new_call = Call("list_items", {})
        elif reason in ("no_order", "payment_unconfirmed"):
            new_call = Call("find_orders", {"customer": self.customer})
        elif reason == "key_reused":
            new_call = Call(self.call.tool, {**self.call.arguments, "idempotency_key": f"{self.customer}-2"})
        elif left is not None:
            fewer = re.sub(r'"quantity": \d+', f'"quantity": {left[1]}', json.dumps(self.call.arguments))
            new_call = Call(self.call.tool, json.loads(fewer))
        if new_call is None or reason in self._met:
            self.reported = text
        else:
            self._next = new_call
        self._met.append(reason)
