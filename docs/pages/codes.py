"""The codes of failures."""

from __future__ import annotations

from mcpcore.contract.codes import BASELINE, PROTOCOL_INVALID_PARAMS, SEVERITY, ErrorCode
from mcpcore.contract.errors import FACTORIES
from pages.markdown import NOTE, table


def page() -> str:
    """The codes."""
    factories = {code: f"`{name}`" for name, code in FACTORIES.items()}
    rows: list[list[object]] = [
        [
            f"`{code.name}`",
            int(code),
            code.http_status,
            code.category,
            code.retry.phrase,
            code.strategy,
            ", ".join(f"`{action}`" for action in code.actions),
            factories.get(code, ""),
            code.sentence,
        ]
        for code in ErrorCode
    ]
    head = ["name", "number", "HTTP", "category", "retry", "strategy", "actions", "factory", "sentence"]
    return "\n".join(
        [
            "# Error codes",
            "",
            NOTE.format("mcpcore/contract/codes.py"),
            "",
            table(head, rows),
            "",
            f"Codes that a contract need not declare: {', '.join(f'`{code.name}`' for code in ErrorCode if code in BASELINE)}.",
            "",
            "The most severe first, which is the code of a batch whose items failed for different reasons: "
            + ", ".join(f"`{code.name}`" for code in SEVERITY)
            + ". An application's own code comes after those of its category.",
            "",
            "Where the protocol itself carries the error (unknown tools, resources, prompts), the number is -32602 for "
            + ", ".join(f"`{code.name}`" for code in ErrorCode if code in PROTOCOL_INVALID_PARAMS)
            + " and -32603 for all others; the code itself is in the error's data.",
            "",
            "An application adds its own codes with `CustomCode`, numbered outside -32768..-32000.",
            "",
            'A code is an int whose text is its name: `str(code)`, `f"{code}"` and `%s` give `NOT_FOUND`; `int(code)`, `%d`, '
            '`f"{code:d}"` and JSON give -32001.',
            "",
        ]
    )
