"""The family "Definitions": the names and the descriptions that a model chooses and calls tools by."""

from mcpcore_lint.rules.definitions.descriptions import ToolDescriptionRequired
from mcpcore_lint.rules.definitions.fields import FieldDescription
from mcpcore_lint.rules.definitions.names import ToolNameFormat, ToolNameUnique
from mcpcore_lint.rules.definitions.tool_annotations_missing import ToolAnnotationsMissing
from mcpcore_lint.rules.definitions.tool_registration_unresolved import ToolRegistrationUnresolved

__all__ = [
    "FieldDescription",
    "ToolAnnotationsMissing",
    "ToolDescriptionRequired",
    "ToolNameFormat",
    "ToolNameUnique",
    "ToolRegistrationUnresolved",
]
