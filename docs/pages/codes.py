"""The codes of failures."""

from __future__ import annotations

from typing import Final

from mcpcore.contract.codes import BASELINE, PROTOCOL_INVALID_PARAMS, SEVERITY, ErrorCode
from mcpcore.contract.errors import FACTORIES
from pages.markdown import table

OWN: Final = """\
## Your own codes

None of these fits? Make a `CustomCode` once, where your failure modes are. Choose a number outside -32768..-32000. Your code is then
accepted wherever an `ErrorCode` is:

```python
import asyncio
from typing import Literal

from mcp import Client

from mcpcore import Context, CustomCode, Envelope, FailureMode, Retry, Server, tool

PLAN_LIMIT = CustomCode(
    "PLAN_LIMIT",
    1600,
    http_status=402,
    category="client",
    retry=Retry.never(),
    sentence="The plan of this account does not cover this.",
)
NO_REPORTS_LEFT = FailureMode(
    "no_reports_left",
    PLAN_LIMIT,
    when="This month's reports are used up.",
    recovery="Ask the user to buy more, or wait until next month.",
)


@tool(errors=[NO_REPORTS_LEFT])
def report(ctx: Context[Literal["no_reports_left"]]) -> str:
    \"\"\"Make a report.\"\"\"
    raise ctx.fail("no_reports_left")


async def main() -> Envelope | None:
    async with Client(Server("reports", tools=[report])) as client:
        return Envelope.from_result(await client.call_tool("report", {}))


failure = asyncio.run(main())
assert failure is not None
assert (failure.name, failure.reason, failure.retry.phrase) == ("PLAN_LIMIT", "no_reports_left", "not retryable")
```

Give an exception of yours this code with [`classifies`](../how-to/services.md#give-any-exception-a-code).
"""
"""How an application adds a code."""


def page() -> str:
    """The codes."""
    factories = {code: f"`{name}`" for name, code in FACTORIES.items()}
    facts: list[list[object]] = [
        [f"`{code.name}`", code.sentence, int(code), code.http_status, code.category, code.retry.phrase]
        for code in ErrorCode
    ]
    steps: list[list[object]] = [
        [f"`{code.name}`", factories.get(code, ""), code.strategy, ", ".join(f"`{action}`" for action in code.actions)]
        for code in ErrorCode
    ]
    return "\n".join(
        [
            "# Error codes",
            "",
            "Each failure mode has one of these codes. Take the one whose sentence fits best.",
            "",
            table(["code", "sentence", "number", "HTTP", "who can fix it", "advice"], facts),
            "",
            "Clients read the sentence if an exception is not declared. The advice is the default: what you declare and the "
            "tool's annotations [change it](advice.md).",
            "",
            f"You need not declare these codes, since any tool may fail with them: {', '.join(f'`{code.name}`' for code in ErrorCode if code in BASELINE)}.",
            "",
            "If the items of a batch fail with different codes, the batch has the most severe one. In this order: "
            + ", ".join(f"`{code.name}`" for code in SEVERITY)
            + ". Your own codes come after those of their category.",
            "",
            "An unknown tool, a resource and a prompt fail with an error of the protocol. Its number is -32602 for "
            + ", ".join(f"`{code.name}`" for code in ErrorCode if code in PROTOCOL_INVALID_PARAMS)
            + " and -32603 for all others; its data has the code itself.",
            "",
            'A code is an int whose text is its name: `str(code)`, `f"{code}"` and `%s` give `NOT_FOUND`; `int(code)`, `%d`, '
            '`f"{code:d}"` and JSON give -32001.',
            "",
            "## Factories and steps",
            "",
            "A factory builds an error with its code: `raise not_found(...)`. The strategy and the actions tell programs what to do "
            "without a declared recovery.",
            "",
            table(["code", "factory", "strategy", "actions"], steps),
            "",
            OWN,
        ]
    )
