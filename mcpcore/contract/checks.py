"""What a failure mode must be, and what to write where it is not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from mcpcore.contract.codes import EFFECTS, STRATEGIES, ErrorCode, Retry, code_numbered, is_code
from mcpcore.values.templates import Template, parse, placeholders

MAX_REASON: Final = 200
"""The longest reason, in characters."""

MAX_ARGUMENTS: Final = 4 * 1024
"""The most bytes of the arguments for a fallback tool, as declared and as sent."""


def not_a_code(code: object) -> str:
    """Why `code` is not one, and what it was probably meant to be."""
    hint = "write a member of ErrorCode, such as ErrorCode.NOT_FOUND, or a CustomCode"
    if isinstance(code, int) and not isinstance(code, bool):
        member = code_numbered(code)
        if member is not None:
            kind = "ErrorCode." if isinstance(member, ErrorCode) else ""
            hint = f"the number {code} is {kind}{member.name}: write that"
    elif isinstance(code, str):
        # difflib takes several milliseconds to import, which only a mistake should cost.
        import difflib

        close = difflib.get_close_matches(code.upper(), list(ErrorCode.__members__), n=1)
        hint = f"did you mean ErrorCode.{close[0]}?" if close else hint
    return f"the code {code!r} is not a code; {hint}"


def problem_of(values: Mapping[str, Any]) -> str | None:
    """What makes the declaration unfit, as a sentence that says what to do; None where it stands."""
    reason = values["reason"]
    if not isinstance(reason, str):
        return f"the reason must be a string, not {type(reason).__name__}"
    if not reason.strip():
        return "the reason is empty; name the failure in snake_case, such as 'no_match'"
    if not reason.isprintable() or reason != reason.strip() or len(reason) > MAX_REASON:
        return (
            f"the reason must be at most {MAX_REASON} printable characters, without spaces around them; name the "
            "failure in snake_case, such as 'no_match'"
        )
    if not is_code(values["code"]):
        return not_a_code(values["code"])
    for name, what in (("when", "when this happens"), ("recovery", "how the caller can recover")):
        text = values[name]
        if not isinstance(text, str):
            return f"{name} must be a string, not {type(text).__name__}"
        if not text.strip():
            return f"{name} is blank; say in a sentence {what}"
    if values["retry"] is not None and not isinstance(values["retry"], Retry):
        return f"retry must be Retry.never(), Retry.now() or Retry.after(seconds=…), not {values['retry']!r}"
    if values["strategy"] is not None and values["strategy"] not in STRATEGIES:
        return f"strategy must be one of {', '.join(STRATEGIES)}, not {values['strategy']!r}"
    if values["effects"] is not None and values["effects"] not in EFFECTS:
        return f"effects must be one of {', '.join(EFFECTS)}, not {values['effects']!r}"
    for name in ("fallback_tool", "user_message"):
        if values[name] is not None and (not isinstance(values[name], str) or not values[name].strip()):
            return f"{name} must be a string that says something, or left out; not {values[name]!r}"
    actions = values["actions"]
    if not isinstance(actions, list | tuple) or not all(isinstance(action, str) and action for action in actions):
        return f"actions must be a list of short identifiers, such as ['wait_and_retry'], not {actions!r}"
    for name in ("fallback_arguments", "corrective_params", "example"):
        if values[name] is not None and not isinstance(values[name], Mapping):
            return f"{name} must be a mapping, not {type(values[name]).__name__}"
    if values["fallback_arguments"] is not None:
        if values["fallback_tool"] is None:
            return "fallback_arguments are the arguments of a fallback_tool; name that tool, or leave them out"
        problem = _problem_of_arguments(dict(values["fallback_arguments"]))
        if problem is not None:
            return f"fallback_arguments {problem}"
    if values["data"] is not None and not isinstance(values["data"], type):
        return f"data must name a pydantic model, a TypedDict or a dataclass, not {values['data']!r}"
    return None


def _problem_of_arguments(arguments: dict[Any, Any]) -> str | None:
    from mcpcore.values.jsonable import size, to_json

    if to_json(arguments) != arguments:
        return "must be JSON: arguments by their names, with texts, numbers, lists and mappings as values"
    if size(arguments) > MAX_ARGUMENTS:
        return f"must be at most {MAX_ARGUMENTS:,} bytes of JSON"
    try:
        placeholders(arguments)
    except ValueError as exc:
        return str(exc)
    return None


class Templates(NamedTuple):
    """The declared texts of an entry that have braces."""

    when: Template | None
    recovery: Template | None
    user_message: Template | None


def templates_of(
    texts: tuple[str, str | None, str | None], schema: Callable[[], Mapping[str, Any] | None]
) -> Templates | None:
    """The templates among the `texts` of an entry with a data model; None if none of them has a brace.

    Args:
        texts: The `when`, the recovery and the message for users.
        schema: The schema of the data, which is only made for a template.

    Raises:
        ValueError: If a placeholder is not a required field of the data, or a brace belongs to none.
    """
    if not any("{" in text or "}" in text for text in texts if text is not None):
        return None
    listed = (schema() or {}).get("required")
    required = listed if isinstance(listed, list) else []  # the schema may come from another program
    templates: list[Template | None] = []
    for argument, text in zip(Templates._fields, texts, strict=True):
        try:
            template = None if text is None else parse(text)
        except ValueError as exc:
            raise ValueError(f"{argument} {exc}") from None
        for name in () if template is None else template.names:
            if name not in required:
                fields = ", ".join(f"{{{field}}}" for field in required)
                raise ValueError(
                    f"{argument} has the placeholder {{{name}}}, which is not a required field of the data model; "
                    f"{f'use {fields}' if fields else 'no field is required'}, or write {{{{ and }}}} for braces"
                )
        templates.append(template)
    return Templates(*templates)
