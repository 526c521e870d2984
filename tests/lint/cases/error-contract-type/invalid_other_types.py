# message: the errors of one is a FailureMode
import mcpcore as m
from mcpcore import ErrorCode, FailureMode, not_found
from mcpcore import tool as make

A = FailureMode("a", ErrorCode.NOT_FOUND, when="It is gone.", recovery="Call list_items to see them all.")

@make(errors=A)  # here
def one() -> str: ...

@m.tool(errors={"a": A})  # here
def two() -> str: ...

@make(errors="a")  # here
def three() -> str: ...

@make(errors={A})  # here
def four() -> str: ...

@make(errors=(A))  # here
def five() -> str: ...

@make(errors=FailureMode)  # here
def seven() -> str: ...

@make(errors=[A] if A else {"a": A})  # here
def eight() -> str: ...

@make(errors=frozenset([A]))  # here
def nine() -> str: ...

@make(errors=True)  # here
def ten() -> str: ...

@make(errors=not_found("gone"))  # here
def eleven() -> str: ...
