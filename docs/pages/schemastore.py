"""The JSON Schemas of the files that people write, in the form that SchemaStore and editors take."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any, Final

from mcpcore_lint.config import KEYS
from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.options import FORMATS

from mcpcore.catalog.rules import LEVELS, RULES
from mcpcore.cli.diff import THRESHOLDS
from mcpcore.proxy.overlay import json_schema as overlay_schema
from pages.markdown import table

_PROJECT: Final = Path(__file__).parents[2] / "pyproject.toml"
_URLS: Final[dict[str, str]] = tomllib.loads(_PROJECT.read_text(encoding="utf-8"))["project"]["urls"]
REPOSITORY: Final = _URLS["Repository"]
_DRAFT_7: Final = "http://json-schema.org/draft-07/schema#"

_STRINGS: Final = {"type": "array", "items": {"type": "string"}}
_SEVERITY: Final = {"type": "string", "enum": [str(severity.label) for severity in Severity]}
_KINDS: Final[dict[str, dict[str, Any]]] = {
    "string": {"type": "string", "minLength": 1},
    "boolean": {"type": "boolean"},
    "integer": {"type": "integer", "minimum": 0},
    "list": _STRINGS,
    "table": {"type": "object"},
}
_VALUES: Final[dict[str, dict[str, Any]]] = {
    "severities": {"additionalProperties": _SEVERITY},
    "per-file": {
        "additionalProperties": {
            "anyOf": [
                _STRINGS,
                {
                    "type": "object",
                    "properties": {
                        "select": _STRINGS,
                        "ignore": _STRINGS,
                        "severity": {"type": "object", "additionalProperties": _SEVERITY},
                    },
                    "additionalProperties": False,
                },
            ]
        }
    },
    "fail-on": _SEVERITY,
    "format": {"type": "string", "enum": list(FORMATS)},
    "raises": {"additionalProperties": _STRINGS},
    "exceptions": {"additionalProperties": _STRINGS},
    "options": {"additionalProperties": {"type": "object"}},
}
"""What the values of a key must be, beyond its kind."""


def address(name: str, urls: dict[str, str] = _URLS) -> str:
    """Where the file of a schema is: on the site, once the project has one, and until then in the repository."""
    site = urls.get("Documentation", f"{urls['Repository']}/raw/main/docs")
    return f"{site.rstrip('/')}/reference/{name}"


def identified(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """A schema with the address of its file."""
    return {"$schema": schema["$schema"], "$id": address(name), **schema}


def _draft_7(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema in the dialect that all editors know; in it, `$defs` is `definitions`."""
    plain = json.loads(json.dumps(schema).replace('"#/$defs/', '"#/definitions/'))
    plain["definitions"] = plain.pop("$defs", {})
    return {**plain, "$schema": _DRAFT_7}


def overlay() -> dict[str, Any]:
    """The schema of the overlay of the proxy."""
    return {**_draft_7(overlay_schema()), "title": "mcpcore overlay"}


def settings() -> dict[str, Any]:
    """The schema of `[tool.mcpcore]` in pyproject.toml."""
    lint = {
        name: {"description": key.meaning, **_KINDS[key.kind], **_VALUES.get(name, {})} for name, key in KEYS.items()
    }
    levels = {
        name: {"description": rule.change, "type": "string", "enum": list(LEVELS)} for name, rule in RULES.items()
    }
    sections = {
        "lint": ("Settings of `mcpcore lint`.", lint),
        "diff": (
            "Settings of `mcpcore diff`.",
            {
                "fail-on": {
                    "description": "The least grave change that fails the command; `breaking`.",
                    "type": "string",
                    "enum": list(THRESHOLDS),
                },
                "levels": {
                    "description": "Rule to its level.",
                    "type": "object",
                    "properties": levels,
                    "additionalProperties": False,
                },
            },
        ),
    }
    return {
        "$schema": _DRAFT_7,
        "title": "mcpcore",
        "description": "The table `[tool.mcpcore]` of pyproject.toml.",
        "type": "object",
        "properties": {
            name: {"description": meaning, "type": "object", "properties": keys, "additionalProperties": False}
            for name, (meaning, keys) in sections.items()
        },
        "additionalProperties": False,
    }


def entry() -> dict[str, Any]:
    """The overlay in the catalog of SchemaStore."""
    return {
        "name": "mcpcore overlay",
        "description": "Failure contracts for an MCP server that declares none",
        "fileMatch": ["*.mcpcore.toml", "*.mcpcore.json"],
        "url": identified("overlay.schema.json", overlay())["$id"],
    }


def page(schemas: dict[str, dict[str, Any]]) -> str:
    """The page that lists all schemas."""
    rows: list[list[object]] = [
        [f"[{name}]({name})", str(schema["title"]), "draft-07" if schema["$schema"] == _DRAFT_7 else "2020-12"]
        for name, schema in schemas.items()
    ]
    example = f"#:schema {entry()['url']}"
    return "\n".join(
        [
            "# JSON Schemas",
            "",
            "These schemas describe the messages of mcpcore, and the files that it reads and writes.",
            "",
            table(["file", "what it describes", "dialect"], rows),
            "",
            "## In an editor",
            "",
            "An editor completes and checks an overlay if the file begins with the address of its schema. Taplo and Tombi read it. "
            "Without a network, write the path of a copy instead, such as `./overlay.schema.json`:",
            "",
            "```toml",
            example,
            "version = 1",
            "```",
            "",
            "An overlay in JSON names it under the key `$schema`.",
            "",
            "## SchemaStore",
            "",
            "The schemas of files that people write are in draft-07 and pass the strict mode of Ajv, as "
            "[SchemaStore](https://www.schemastore.org) wants it. The entry of the overlay in its catalog is below, so call your "
            "overlay `NAME.mcpcore.toml`:",
            "",
            "```json",
            json.dumps(entry(), indent=2),
            "```",
            "",
            "`pyproject.schema.json` goes there as `partial-mcpcore.json`, since SchemaStore cannot refer to a schema elsewhere. In its "
            "`pyproject.json`, the property `mcpcore` of `tool` refers to it.",
            "",
        ]
    )
