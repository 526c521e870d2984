"""The official JSON Schema of SARIF 2.1.0."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import jsonschema


@cache
def validator() -> jsonschema.Draft4Validator:
    """A validator that checks the formats, too."""
    schema = json.loads((Path(__file__).parent / "data" / "sarif-schema-2.1.0.json").read_text(encoding="utf-8"))
    return jsonschema.Draft4Validator(schema, format_checker=jsonschema.Draft4Validator.FORMAT_CHECKER)
