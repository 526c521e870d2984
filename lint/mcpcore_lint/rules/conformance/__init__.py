"""The family "Conformance": what a handler throws, set against what its contract declares."""

from mcpcore_lint.rules.conformance.failing import (
    ContractDataMismatch,
    ContractFailNotRaised,
    ContractFailUndeclared,
    ContractMessageData,
)
from mcpcore_lint.rules.conformance.missing import ContractMissing
from mcpcore_lint.rules.conformance.throwing import (
    ContractCodeMismatch,
    ContractConformance,
    ContractPreferFail,
    ContractUndeclaredReason,
)
from mcpcore_lint.rules.conformance.unthrown import ContractUnthrown

__all__ = [
    "ContractCodeMismatch",
    "ContractConformance",
    "ContractDataMismatch",
    "ContractFailNotRaised",
    "ContractFailUndeclared",
    "ContractMessageData",
    "ContractMissing",
    "ContractPreferFail",
    "ContractUndeclaredReason",
    "ContractUnthrown",
]
