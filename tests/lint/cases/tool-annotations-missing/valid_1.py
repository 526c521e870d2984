from elsewhere import CODE, HINTS, OPTIONS, mode
from mcp.types import ToolAnnotations
from mcpcore import CustomCode, ErrorCode, FailureMode, Retry, Server, resource, tool

SPENT = CustomCode("SPENT", 1402, http_status=402, category="client", retry=Retry.now(), sentence="Spent.")
LATE = FailureMode("late", ErrorCode.TIMEOUT, when="x", recovery="y")
server = Server("x")

@tool(annotations=ToolAnnotations(read_only_hint=True), errors=[LATE])
def one() -> str: ...

@tool(annotations=ToolAnnotations(readOnlyHint=False, idempotentHint=False), errors=[LATE])
def two() -> str: ...

# A second call is safe, whether the first one changed something or not.
@tool(annotations=ToolAnnotations(idempotent_hint=True), errors=[LATE])
def three() -> str: ...

@tool(read_only=True, errors=[LATE])
def thirteen() -> str: ...

@server.tool(idempotent=True, errors=[LATE])
def fourteen() -> str: ...

@tool(read_only=False, idempotent=False, destructive=False, errors=[LATE])
def fifteen() -> str: ...

@tool(read_only=False, annotations=ToolAnnotations(idempotent_hint=False), errors=[LATE])
def sixteen() -> str: ...

@tool(idempotent=True, annotations=HINTS, errors=[LATE])
def seventeen() -> str: ...

@tool(idempotent=CODE, errors=[LATE])
def eighteen() -> str: ...

def nineteen() -> str: ...

server.add_tool(nineteen, errors=[LATE], read_only=True)

@tool(annotations=HINTS, errors=[LATE])
def four() -> str: ...

@tool(**OPTIONS, errors=[LATE])
def five() -> str: ...

@tool(annotations=ToolAnnotations(**HINTS), errors=[LATE])
def six() -> str: ...

@tool(
    errors=[
        FailureMode("a", ErrorCode.TIMEOUT, when="x", recovery="y", retry=Retry.never()),
        FailureMode("b", ErrorCode.TIMEOUT, when="x", recovery="y", effects="none"),
        FailureMode("c", ErrorCode.NOT_FOUND, when="x", recovery="y"),
        FailureMode("d", ErrorCode.RATE_LIMITED, when="x", recovery="y"),
        FailureMode("e", CODE, when="x", recovery="y"),
        FailureMode("f", SPENT, when="x", recovery="y"),
        FailureMode("g", ErrorCode.TIMEOUT, when="x", recovery="y", retry=HINTS),
        mode(),
    ]
)
def seven() -> str: ...

@tool
def eight() -> str: ...

@resource("x://y", errors=[LATE])
def nine() -> str: ...

@tool(errors=[LATE])
def ten() -> str: ...

server.add_tool(ten, annotations=ToolAnnotations(read_only_hint=True))

def reads(**options):
    return tool(annotations=ToolAnnotations(read_only_hint=True), **options)

@reads(errors=[LATE])
def eleven() -> str: ...

class TestTools:
    def test_one(self):
        @server.tool(errors=[LATE])
        def twelve() -> str: ...
