"""The table of the linter's own rules: what options and settings may name, known without loading a single rule.

A run that finds everything in its cache loads no rule at all. A test holds this table, the rules and their pages
together.
"""

from __future__ import annotations

from typing import Final

IDS: Final[dict[str, tuple[str, ...]]] = {
    "contract": (
        "error-contract-type",
        "error-contract-empty",
        "error-contract-entry-type",
        "error-contract-code-type",
        "error-contract-code-unknown",
        "error-contract-code-unknown-error",
        "error-contract-reason-required",
        "error-contract-reason-format",
        "error-contract-reason-unique",
        "error-contract-when-required",
        "error-contract-recovery-required",
        "error-contract-recovery-empty",
        "error-contract-recovery-min-words",
        "error-contract-recovery-unknown-tool",
        "error-contract-retry-type",
        "error-contract-retry-contradiction",
        "error-contract-context-mismatch",
        "error-contract-hint-too-long",
        "output-error-field",
    ),
    "conformance": (
        "error-contract-conformance",
        "error-contract-prefer-fail",
        "error-contract-fail-undeclared",
        "error-contract-fail-not-raised",
        "error-contract-unthrown",
        "error-contract-undeclared-reason",
        "error-contract-code-mismatch",
        "error-contract-data-mismatch",
        "error-contract-message-data",
        "error-contract-missing",
    ),
    "handler": (
        "prefer-mcp-error-in-handler",
        "prefer-error-factory",
        "preserve-cause-on-rethrow",
        "no-stringify-upstream-error",
        "no-error-as-data",
        "no-swallowed-error",
        "no-fake-empty",
        "no-protocol-error-in-tool",
        "no-base-exception-catch",
        "no-stdout-in-tool",
        "retry-unsafe",
        "details-not-json",
    ),
    "definitions": (
        "tool-name-format",
        "tool-name-unique",
        "tool-description-required",
        "tool-annotations-missing",
        "field-description",
        "tool-registration-unresolved",
    ),
    "linter": (
        "parse-error",
        "unused-ignore",
        "ignore-without-reason",
        "unknown-rule",
        "unknown-handler",
    ),
}
"""The ids of each family, in the order of the reference."""


def known(selector: str) -> bool:
    """Whether a selector certainly means a rule of the linter's own: an id, a family, `all` or a prefix of ids."""
    if selector == "all" or selector in IDS:
        return True
    lead = selector.rstrip("-*") + "-"
    return any(selector == each or each.startswith(lead) for ids in IDS.values() for each in ids)


def is_id(name: str) -> bool:
    """Whether a name is the id of a rule of the linter's own."""
    return any(name in ids for ids in IDS.values())
