"""The family "Contract structure": what a contract says, before anything is known of the code that keeps it."""

from mcpcore_lint.rules.contract.codes import ContractCodeType, ContractCodeUnknown, ContractCodeUnknownError
from mcpcore_lint.rules.contract.context import ContractContextMismatch
from mcpcore_lint.rules.contract.error_contract_retry_type import ContractRetryType
from mcpcore_lint.rules.contract.output import OutputErrorField
from mcpcore_lint.rules.contract.reasons import ContractReasonFormat, ContractReasonRequired, ContractReasonUnique
from mcpcore_lint.rules.contract.retry import ContractRetryContradiction
from mcpcore_lint.rules.contract.texts import (
    ContractHintTooLong,
    ContractRecoveryEmpty,
    ContractRecoveryMinWords,
    ContractRecoveryRequired,
    ContractRecoveryUnknownTool,
    ContractWhenRequired,
)
from mcpcore_lint.rules.contract.whole import ContractEmpty, ContractEntryType, ContractType

__all__ = [
    "ContractCodeType",
    "ContractCodeUnknown",
    "ContractCodeUnknownError",
    "ContractContextMismatch",
    "ContractEmpty",
    "ContractEntryType",
    "ContractHintTooLong",
    "ContractReasonFormat",
    "ContractReasonRequired",
    "ContractReasonUnique",
    "ContractRecoveryEmpty",
    "ContractRecoveryMinWords",
    "ContractRecoveryRequired",
    "ContractRecoveryUnknownTool",
    "ContractRetryContradiction",
    "ContractRetryType",
    "ContractType",
    "ContractWhenRequired",
    "OutputErrorField",
]
