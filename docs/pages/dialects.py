"""How other envelopes are written and read."""

from __future__ import annotations

from mcpcore.contract.codes import ErrorCode
from mcpcore.wire.dialects import DIALECTS, ok_envelope, system_error, taxonomy
from pages.markdown import table

FIELDS = """\
| dialect | form | where its fields come from |
|---|---|---|
| `system_error` | all at the root, null without a value: `error_code`, `human_message`, `role`, `session_id`, `workspace_root`, `tool_name`, `invariant_id`, `phase_id`, `plan_hash`, `cause`, `timestamp` | A reason spelled like a registered code in lower case (`file_not_found`) is written as this code; a missing argument is `MISSING_REQUIRED_FIELD`. `cause`, the original exception, and `stack_trace` need `expose_internal_errors=True`. There is no field for advice, effects, recovery and data |
| `ok_envelope` | `{"ok": false, "error": {code, message, details}}` with `isError` | A reason may be a domain code: `not_finalized` is `ERR_NOT_FINALIZED`. `details` has the rest of the canonical envelope |
| `ok_envelope_b` | `{"ok": true, "data": {"ok": false, "error": …}}`, a success | the same |
| `taxonomy` | `code` | the reason, if it is a code of the taxonomy in lower case (`circuit_open`), else the table below |
| | `recovery_hint` | `strategy=`; without it, `RETRY_LATER` if retryable, `TRY_ALTERNATIVE` with a fallback tool, `CHECK_INPUT` with corrective parameters, else the hint of [the code](codes.md) |
| | `recovery_actions` | `actions=`, else those of the taxonomy's code |
| | `corrective_params` | `FailureMode(corrective_params=…)`, or `recovery=` of the raised error |
| `tool_error` | `{code, message, retry, suggestion, details}` at the root | `retry` as in the canonical envelope; `suggestion` is the recovery's hint |

`CodedError.from_unknown`, `.invariant_violation`, `.tool_failure` and `.startup_failure` replace `SystemError.fromUnknown` and its
siblings. A failure that is read and written in the same dialect keeps its code and its fields. In a success with structured content,
the text is not read."""


def page() -> str:
    """The fields and the codes of the other dialects."""
    parts = [
        "# Dialects",
        "",
        f"`Server(dialect=...)` takes one of {', '.join(f'`{name}`' for name in DIALECTS)}.",
        "",
        "## The fields of each dialect",
        "",
        FIELDS,
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
