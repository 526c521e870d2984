"""How other envelopes are written and read."""

from __future__ import annotations

from mcpcore.contract.codes import ErrorCode
from mcpcore.wire.dialects import DIALECTS, ok_envelope, system_error, taxonomy
from pages.markdown import table


def page() -> str:
    """The codes of the other dialects."""
    parts = [
        "# Dialects",
        "",
        f"`Server(dialect=...)` takes one of {', '.join(f'`{name}`' for name in DIALECTS)}.",
        "",
        "## How each code is written",
        "",
        table(
            ["code", "system_error", "ok_envelope", "ok_envelope_b", "taxonomy", "tool_error"],
            [
                [
                    f"`{code.name}`",
                    f"`{system_error.WRITTEN[code]}`",
                    "`INVALID_PARAMS`" if code is ErrorCode.INVALID_PARAMS else f"`{ok_envelope.HANDLER_ERROR}`",
                    f"`{ok_envelope.DOMAIN_CODES[code]}`",
                    f"`{taxonomy.WRITTEN[code]}`",
                    f"`{code.name}`",
                ]
                for code in ErrorCode
            ],
        ),
        "",
    ]
    for name, read in (
        ("system_error", system_error.READ),
        ("ok_envelope", ok_envelope.READ),
        ("taxonomy", taxonomy.READ),
    ):
        rows: list[list[object]] = [[f"`{native}`", f"`{code.name}`"] for native, code in read.items()]
        parts += [f"## How {name} is read", "", table(["its code", "code"], rows), ""]
    return "\n".join(parts)
