"""The family "Conformance": what a handler throws, set against what its contract declares."""

from mcpcore_lint.rules.conformance.data import ContractDataMismatch, ContractMessageData
from mcpcore_lint.rules.conformance.error_contract_prefer_fail import ContractPreferFail
from mcpcore_lint.rules.conformance.failing import ContractFailNotRaised, ContractFailUndeclared
from mcpcore_lint.rules.conformance.missing import ContractMissing
from mcpcore_lint.rules.conformance.reasons import ContractCodeMismatch, ContractUndeclaredReason
from mcpcore_lint.rules.conformance.throwing import ContractConformance
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
