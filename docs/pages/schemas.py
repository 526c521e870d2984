"""The JSON Schemas of a failure and of a contract on the wire, made from the tables that the code itself reads."""

from __future__ import annotations

from typing import Any, Final

from mcpcore.contract.bound_fields import FIELDS, TRACE_FIELD
from mcpcore.contract.checks import MAX_REASON
from mcpcore.contract.codes import EFFECTS, KINDS, MAX_AFTER_MS, STRATEGIES
from mcpcore.contract.failure_modes import CONTRACT_META_KEY

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

_TEXT: Final = {"type": "string", "minLength": 1}
_TEMPLATE: Final = "With a dataSchema, a required field in braces is replaced by its value in a failure, and doubled braces mean braces."
_NAMED: Final = {"type": "string", "pattern": "^[A-Z][A-Z0-9_]*$"}


def _retry() -> dict[str, Any]:
    """The retry advice: one form for each kind."""
    forms = []
    for kind in KINDS:
        properties: dict[str, Any] = {"kind": {"const": kind}}
        if kind == "retryable_after_ms":
            properties["afterMs"] = {"type": "integer", "minimum": 0, "maximum": MAX_AFTER_MS}
        forms.append({"properties": properties, "required": list(properties), "additionalProperties": False})
    return {"description": "Whether and when the same call is worth making again.", "type": "object", "oneOf": forms}


def _effects() -> dict[str, Any]:
    return {
        "description": "Whether the call changed anything before it failed; absent if nothing is known.",
        "enum": list(EFFECTS),
    }


def _recovery() -> dict[str, Any]:
    return {
        "description": "The next steps for the caller.",
        "type": "object",
        "properties": {
            "hint": {"description": "The next step, as a sentence.", **_TEXT},
            "strategy": {"enum": list(STRATEGIES)},
            "actions": {"description": "Steps for an agent.", "type": "array", "items": {"type": "string"}},
            "fallbackTool": {"description": "Another tool to look at.", "type": "string"},
            "fallbackArguments": {"description": "Arguments with which a program may call it.", "type": "object"},
            "correctiveParams": {"description": "Arguments to call the tool with instead.", "type": "object"},
            "userMessage": {"description": "A sentence for the person behind the agent.", "type": "string"},
        },
        "minProperties": 1,
    }


def envelope() -> dict[str, Any]:
    """The structured content of a failed call in the canonical dialect."""
    return {
        "$schema": _DIALECT,
        "title": "A failed call of a tool",
        "description": "The structuredContent of a result with isError, in the canonical dialect of mcpcore.",
        "type": "object",
        "properties": {"error": {"$ref": "#/$defs/error"}},
        "required": ["error"],
        "additionalProperties": False,
        "$defs": {
            "error": {
                "type": "object",
                "properties": {
                    "message": {"description": "What went wrong.", "type": "string"},
                    "data": {
                        "description": "What the contract says, and the author's facts; absent where a failure is masked.",
                        "type": "object",
                        "properties": {
                            "recovery": {"$ref": "#/$defs/recovery"},
                            "reason": {"description": "The declared reason.", "type": "string"},
                            "retryable": {"description": "Whether `retry` allows another call.", "type": "boolean"},
                        },
                    },
                    "inferred": {
                        "description": "The server sent no envelope: all but the message follows from its words.",
                        "const": True,
                    },
                    "injected": {"description": "A test asked for this failure; no handler raised it.", "const": True},
                    "advice": {"description": "`retry`, `effects` and the fallback tool in words.", "type": "string"},
                    "retry": {"$ref": "#/$defs/retry"},
                    "effects": _effects(),
                    "repeated": {
                        "description": "Identical calls of the session, all of which failed in this way; from 3 on.",
                        "type": "integer",
                        "minimum": 1,
                    },
                    "code": {"description": "The number of the code.", "type": "integer"},
                    "name": {"description": "The name of the code.", **_NAMED},
                    "tool": {"description": "The tool, resource or prompt that failed.", "type": "string"},
                    "correlationId": {
                        "description": "New for each failure; the log and the audit trail have the same.",
                        "type": "string",
                        "pattern": "^[0-9a-f]{16}$",
                    },
                    "timestamp": {
                        "description": "When it failed, in UTC.",
                        "type": "string",
                        "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$",
                    },
                    "context": {
                        "description": "What the server or the call had bound; absent where nothing is.",
                        "type": "object",
                        "properties": {name: {"type": "string"} for name in (*FIELDS, TRACE_FIELD)},
                        "additionalProperties": False,
                        "minProperties": 1,
                    },
                },
                # Open, since later versions may say more.
                "required": ["message", "advice", "retry", "code", "name", "correlationId", "timestamp"],
            },
            "retry": _retry(),
            "recovery": _recovery(),
        },
    }


def contract() -> dict[str, Any]:
    """The contract of a tool in `tools/list`."""
    return {
        "$schema": _DIALECT,
        "title": "The contract of a tool",
        "description": f'The value of _meta["{CONTRACT_META_KEY}"] of a tool in tools/list: how the tool fails.',
        "type": "array",
        "items": {"$ref": "#/$defs/entry"},
        "$defs": {
            "entry": {
                "type": "object",
                "properties": {
                    "reason": {"description": "The stable name of the failure.", "maxLength": MAX_REASON, **_TEXT},
                    "code": {"description": "The number of its code.", "type": "integer"},
                    "name": {"description": "The name of its code.", **_NAMED},
                    "when": {"description": f"The circumstances, as a sentence. {_TEMPLATE}", **_TEXT},
                    "recovery": {
                        "description": f"The next step for the caller, as a sentence. {_TEMPLATE}",
                        **_TEXT,
                    },
                    "retry": {"$ref": "#/$defs/retry"},
                    "effects": _effects(),
                    "fallbackTool": {"description": "Another tool to look at.", **_TEXT},
                    "fallbackArguments": {
                        "description": "Arguments with which a program may call it. In a text, `{name}` is replaced by "
                        "an argument of the failed call or a value of its data, and `{{` and `}}` by braces.",
                        "type": "object",
                    },
                    "correctiveParams": {"description": "Arguments to call the tool with instead.", "type": "object"},
                    "dataSchema": {"description": "The JSON Schema of the failure's data.", "type": "object"},
                },
                "required": ["reason", "code", "name", "when", "retry"],
                "additionalProperties": False,
            },
            "retry": _retry(),
        },
    }
