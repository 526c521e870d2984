import pytest
from mcpcore import ContractError, FailureMode

def test_refused():
    with pytest.raises(ContractError):
        FailureMode("a", -32001, when="x", recovery="y")
