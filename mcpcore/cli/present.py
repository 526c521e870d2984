"""Prints results, protocol errors and lists of tools for `mcpcore call`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from mcpcore.cli import output
from mcpcore.contract.advice import advice_phrase
from mcpcore.contract.codes import NEVER, stated_advice
from mcpcore.contract.effects import as_effects
from mcpcore.contract.failure_modes import CONTRACT_META_KEY
from mcpcore.values.json_schema import constants, own_properties, required_names, type_names
from mcpcore.values.untrusted import list_in

if TYPE_CHECKING:
    from mcp.shared.exceptions import MCPError
    from mcp_types import CallToolResult
    from pydantic import BaseModel

    from mcpcore.client import Step

_FAILED: Final = output.styled("failed", fg="red", bold=True)
_SUCCEEDED: Final = output.styled("succeeded", fg="green", bold=True)


def result(tool: str, received: CallToolResult, *, as_json: bool) -> None:
    """Print a result: both of its surfaces, or all of it as JSON."""
    whole = wire(received)
    if as_json:
        output.text(output.dumps(whole))
        return
    failed = bool(received.is_error)
    verdict = _FAILED if failed else _SUCCEEDED
    output.line(f"{tool} ", verdict, f" (isError: {'true' if failed else 'false'})")
    for index, block in enumerate(whole.get("content", [])):
        heading(f"content[{index}] {block.get('type', '')}")
        output.text(block["text"] if block.get("type") == "text" else output.dumps(_shortened(block)))
    structured = whole.get("structuredContent")
    heading("structuredContent" if "structuredContent" in whole else "no structuredContent")
    if "structuredContent" in whole:
        output.text(output.dumps(structured))


def step(taken: Step) -> None:
    """Print a step of a call that follows the advice of failures, on standard error."""
    colour = {"failed": "red", "gave_up": "red", "succeeded": "green"}.get(taken.kind)
    kind = output.styled(taken.kind.replace("_", " "), fg=colour)
    output.line(f"{taken.elapsed:6.1f} s  #{taken.attempt} ", kind, f"  {taken.why}", err=True)


def texts(received: CallToolResult) -> str:
    """The text blocks of a result, joined."""
    return "\n".join(block.text for block in received.content if block.type == "text")


def protocol_error(error: MCPError, *, as_json: bool) -> None:
    """Print a JSON-RPC error, which most hosts never show to the model."""
    whole: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.data is not None:
        whole["data"] = error.data
    if as_json:
        output.text(output.dumps({"error": whole}))
        return
    output.line(output.styled("protocol error", fg="red", bold=True), f" {error.code}")
    heading("message")
    output.text(error.message)
    if error.data is not None:
        heading("data")
        output.text(output.dumps(error.data))


def listing(listed: Sequence[Any], *, as_json: bool) -> None:
    """Print the tools of a server, its resources and its prompts, with their arguments and failure modes."""
    if as_json:
        output.text(output.dumps([wire(item) for item in listed]))
        return
    if not listed:
        output.line("The server has no tools.")
    for index, item in enumerate(listed):
        if index:
            output.line()
        summary = (item.description or item.title or "").strip().split("\n", 1)[0]
        uri = getattr(item, "uri", None) or getattr(item, "uri_template", None)
        schema = getattr(item, "input_schema", None)
        kind = "resource " if uri is not None else "prompt " if schema is None else ""
        output.line(kind, output.styled(str(uri or item.name), bold=True), f"{'  ' if summary else ''}{summary}")
        if schema is None:
            arguments = getattr(item, "arguments", None) or ()
            schema = {
                # The arguments of a prompt are always texts, so MCP has no schema for them.
                "properties": {part.name: {"type": "string", "description": part.description} for part in arguments},
                "required": [part.name for part in arguments if part.required],
            }
        for line in _arguments(schema):
            output.line(f"  {line}")
        for entry in list_in(item.meta, CONTRACT_META_KEY):
            if isinstance(entry, Mapping):
                _failure_mode(entry)


def _arguments(schema: Mapping[str, Any]) -> Iterator[str]:
    required = required_names(schema)
    for name, part in own_properties(schema).items():
        kind = _kind(part)
        default = f" = {compact(part['default'])}" if isinstance(part, Mapping) and "default" in part else ""
        about = str(part.get("description") or "") if isinstance(part, Mapping) else ""
        mark = "" if name in required else "?"
        yield f"{name}{mark}: {kind}{default}{'  ' if about else ''}{about}".rstrip()


def _kind(part: Any) -> str:
    if not isinstance(part, Mapping):
        return "any"
    choices = constants(part)
    if choices:
        return " | ".join(map(compact, choices))
    if isinstance(part.get("$ref"), str):
        return str(part["$ref"]).rsplit("/", 1)[-1]
    alternatives = part.get("anyOf") or part.get("oneOf")
    if isinstance(alternatives, list):
        return " | ".join(_kind(way) for way in alternatives)
    kinds = type_names(part)
    if kinds == ["array"]:
        return f"list of {_kind(part.get('items'))}"
    return " | ".join(kinds) or "any"


def _failure_mode(entry: Mapping[str, Any]) -> None:
    known = stated_advice(entry.get("retry"))
    effects, fallback = as_effects(entry.get("effects")), entry.get("fallbackTool")
    tool = str(fallback) if fallback else None
    if known is not None:
        advice = advice_phrase(known.kind, known.after_ms, effects, fallback_tool=tool)
    else:
        # Nothing is known of the retry advice, so nothing is said of it.
        advice = advice_phrase(NEVER, None, effects, fallback_tool=tool).removeprefix("not retryable").lstrip(" ·")
    facts = [str(entry.get("name") or ""), advice]
    reason = output.styled(str(entry.get("reason") or "?"), fg="yellow")
    summary = " · ".join(fact for fact in facts if fact)
    output.line("  fails: ", reason, f" ({summary})" if summary else "")
    for key in ("when", "recovery"):
        if entry.get(key):
            output.line(f"    {key}: {entry[key]}")


def heading(text: str) -> None:
    """Print the heading of a surface."""
    output.line()
    output.line(output.styled(f"--- {text}", fg="cyan", bold=True))


def wire(model: BaseModel) -> dict[str, Any]:
    """A message of the protocol as received: only the fields that were sent, by their names on the wire."""
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True)


def _shortened(block: Mapping[str, Any]) -> dict[str, Any]:
    """A block without its binary data, which `--json` prints."""
    return {
        key: f"<{len(value)} characters of base64>" if key in ("data", "blob") and isinstance(value, str)
        else _shortened(value) if isinstance(value, Mapping) else value
        for key, value in block.items()
    }  # fmt: skip


def compact(value: Any) -> str:
    """`value` as JSON on one line."""
    return json.dumps(value, ensure_ascii=False)
