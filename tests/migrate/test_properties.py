"""Any combination of patterns gives code that compiles, and that a second run leaves alone."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings, strategies as st

from tests.migrate.migrating import run

FAILURES = [
    'raise ValueError(f"There is no {x}")',
    "raise ValueError",
    "raise RuntimeError(x)",
    "raise KeyError()",
    'raise OSError(2, "missing")',
    'raise ToolError("It is " + str(x))',
    'return {"error": str(x)}',
    'return {"success": False, "error": "bad", "details": {"x": x}}',
    'return {"error": "partly", "items": [x]}',
    'return json.dumps({"error": "bad %s" % x})',
    'return "Error: " + str(x)',
    "return error_of(x)",
    "raise made(x)",
    'return Answer(status="error", message=f"Error: {x}", x=x)',
    'y = "Error: bad"\nreturn y',
    "y = error_of(x)\nreturn y",
    'return CallToolResult(isError=True, content=[TextContent(type="text", text="bad")])',
    'return {  # a comment\n    "error": "bad",\n}',
    'if x: raise ValueError("bad"); y = 1',
    "pass",
    "return x",
]
CLAUSES = ["except Exception as e:", "except ValueError:", "except (KeyError, OSError) as e:", "except:"]
IN_CLAUSES = [
    'raise RuntimeError(f"Failed: {x}")',
    "raise",
    'return {"error": "caught"}',
    'return f"Failed to do {x}"',
    "log(x)",
    "log(x)\nreturn None",
    "undo(x)\nreturn {'error': 'undone'}",
    "continue_ = x",
]
DECORATORS = ["", "@answered\n", "@retried(3)\n", "@unknown.thing\n"]
SIGNATURES = [
    "x",
    "x: int = 1, *, y: str = ''",
    "x: int, ctx: Context",
    "ctx, x: int, /",
    "\n    x: int,  # one\n",
    "*x: int",
    "",
]
HEAD = """import functools
import json
from mcp.server.fastmcp import Context, FastMCP
from mcp.server.fastmcp.exceptions import ToolError
from mcp.types import CallToolResult, TextContent
mcp = FastMCP("x")
def answered(f):
    @functools.wraps(f)
    def inner(*args, **kwargs):
        try:
            return f(*args, **kwargs)
        except Exception as e:
            return {"error": str(e)}
    return inner
def retried(n):
    def deco(f):
        @functools.wraps(f)
        def inner(*args, **kwargs):
            for _ in range(n):
                try:
                    return f(*args, **kwargs)
                except Exception:
                    continue
        return inner
    return deco
def error_of(x):
    return {"error": x}
def made(x):
    return ValueError(x)
class Answer:
    status: str
"""


def indented(code: str, indent: str) -> str:
    """Code in a block."""
    return "".join(f"{indent}{line}\n" for line in code.split("\n"))


@st.composite
def bodies(draw: st.DrawFn, depth: int = 0) -> str:
    """Statements that fail in some of the ways, in `try` statements or not."""
    parts: list[str] = []
    for _ in range(draw(st.integers(1, 2))):
        if depth < 2 and draw(st.booleans()):
            clauses = [*draw(st.lists(st.sampled_from(CLAUSES[:3]), max_size=2, unique=True))]
            clauses += [draw(st.sampled_from(CLAUSES))] * (not clauses)
            code = "try:\n" + indented(draw(bodies(depth=depth + 1)), "    ")
            for clause in clauses:
                code += f"{clause}\n" + indented(draw(st.sampled_from(IN_CLAUSES)), "    ")
            parts.append(code.rstrip("\n"))
        else:
            parts.append(draw(st.sampled_from(FAILURES)))
    return "\n".join(parts)


@st.composite
def tools(draw: st.DrawFn) -> str:
    """A server with some tools, registered in different ways."""
    code = HEAD
    for number in range(draw(st.integers(1, 3))):
        name, signature = f"tool_{number}", draw(st.sampled_from(SIGNATURES))
        kind = draw(st.sampled_from(["", "async "]))
        body = indented(draw(bodies()), "    ")
        definition = f"{draw(st.sampled_from(DECORATORS))}{kind}def {name}({signature}):\n{body}"
        match draw(st.sampled_from(["decorator", "call", "method", "nested"])):
            case "decorator":
                code += f"@mcp.tool()\n{definition}"
            case "call":
                code += f"{definition}mcp.tool(name='t{number}')({name})\n"
            case "method":
                method = definition.replace(f"{name}(", f"{name}(self, ")
                code += f"class C{number}:\n{indented(method.rstrip(), '    ')}mcp.add_tool(C{number}().{name})\n"
            case _:
                inner = "@mcp.tool()\n" + definition.rstrip()
                code += f"def register_{number}(mcp: FastMCP):\n{indented(inner, '    ')}"
    return code


@settings(max_examples=40)
@given(tools(), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_what_is_written_compiles_and_stays(source: str, newline: str, tabs: bool) -> None:
    """What is written compiles if the source does, and a second run changes nothing."""
    if tabs:
        source = source.replace("    ", "\t")
    source = source.replace("\n", newline)
    try:
        compile(source, "before.py", "exec")
    except SyntaxError:
        return
    with tempfile.TemporaryDirectory() as folder:
        first, files = run(Path(folder) / "p", {"server.py": source})
        assert () == first.failures
        compile(files["server.py"], "after.py", "exec")
        assert newline == "\n" or files["server.py"].count("\n") == files["server.py"].count("\r\n")
        assert not [left for left in first.left if "would break" in left.pattern]
        second, _ = run(Path(folder) / "p", {})
        assert () == second.files, second.files[0].diff("server.py")
        assert [line[2:5] for line in first.left] == [line[2:5] for line in second.left]
