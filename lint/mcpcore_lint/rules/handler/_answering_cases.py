"""The cases of no-error-as-data."""

from __future__ import annotations

from typing import Final

from mcpcore_lint.rules.base import Invalid

VALID: Final = (
    """
    from fastmcp import Context, FastMCP

    mcp = FastMCP("x")

    @mcp.tool
    async def delete(ctx: Context, a: str) -> dict:
        asked = await ctx.elicit("Really?")
        if asked.action == "cancel":
            return {"success": False, "message": f"Deletion of {a!r} was cancelled."}
        if asked.action == "decline":
            return {"success": False, "status": "declined"}
        return {"success": True}
    """,
    """
    import json
    from mcpcore import tool

    @tool
    def fetch(a: str, error: str | None) -> dict:
        if a == "1":
            return {"ok": True, "error": None}
        if a == "2":
            return {"valid": False, "error": "line 3: unexpected token"}
        if a == "3":
            return {"rows": [], "error": error}
        if a == "4":
            return {"mean": 1.5, "error": 0.03}
        if a == "5":
            return {"job": a, "status": "failed"}
        if a == "5b":
            return {"job": a, "state": "error", "retries": 3}
        if a == "6":
            return {"success": bool(a)}
        if a == "7":
            return "Error codes of HTTP are 4xx and 5xx"
        if a == "8":
            return json.dumps({"errors": [], "items": [1]})
        result = {"ok": False}
        result["ok"] = True
        return result

    @tool
    def health_check() -> dict:
        try:
            ping()
        except OSError as error:
            return {"status": "unhealthy", "error": error.strerror}
        return {"status": "healthy"}

    @tool
    def test_connection() -> dict:
        return {"success": False, "error": "refused"}

    @tool
    def validate_settings(text: str) -> dict:
        if "=" not in text:
            return {"ok": False, "problems": ["nothing is set"]}
        return {"ok": True, "problems": []}
    """,
    """
    import json
    from fastmcp import FastMCP
    from mcp.types import TextContent

    mcp = FastMCP("x")

    def as_text(message: str, *, loud: bool = False) -> list[TextContent]:
        return [TextContent(type="text", text=message)]

    def about(topic: str) -> str:
        return f"See {topic}."

    def check(a: str) -> str | None:
        return f"{a} is fine" if a else None

    def find(a: str):
        return (a, None) if a else (None, f"nothing known of {a}")

    class Tools:
        def as_text(self, message: str) -> str:
            return message

        @mcp.tool
        def show(self, a: str) -> str:
            return self.as_text(f"found {a}")

    @mcp.tool
    async def fetch(a: str) -> list:
        if a == "1":
            return as_text(f"Found {a}", loud=True)
        if a == "2":
            return about("Error: what it means")
        if note := check(a):
            return note
        row, note = find(a)
        if note:
            return note
        data = await request(a)
        rows = data.get("rows", [])
        if not rows:
            return "Unable to fetch the rows or no rows found."
        if a == "3":
            return {"ERROR": 3, "WARNING": 7}
        if a == "4":
            return [{"error": 0.1, "mean": 2}, {"error": 0.2, "mean": 3}]
        try:
            return load(a)
        except StopIteration as done:
            return done.value
        except ValueError as e:
            return f"{a} has no number: {e}"

    @mcp.tool
    def validate_query(text: str) -> str:
        try:
            parse(text)
        except SyntaxError as e:
            return str(e)
        except ValueError as e:
            return f"Invalid query: {e}"
        return "ok"

    @mcp.tool
    def job_status(a: str) -> dict:
        if a in STOPPED:
            return {"status": "failed", "message": f"{a} has stopped"}
        return {"status": "running", "message": a}
    """,
    """
    from mcp.server.lowlevel import Server
    from mcp.types import CallToolResult, TextContent

    server = Server("x")

    def failed(text: str) -> CallToolResult:
        return CallToolResult(content=[TextContent(type="text", text=text)], isError=True)

    @server.call_tool()
    async def call(name: str, arguments: dict):
        return failed("Error: no such row")
    """,
    """
    from typing import NoReturn
    from mcpcore import tool

    def fail(why: str) -> NoReturn: ...

    @tool
    def fetch(a: str) -> dict:
        fail(a)
        return {"error": a}
    """,
    """
    from mcp.server.lowlevel import Server
    from mcp.types import CallToolResult, TextContent

    server = Server("x")

    @server.call_tool()
    async def call(name: str, arguments: dict):
        return CallToolResult(content=[TextContent(type="text", text="no")], isError=True)
    """,
    """
    from fastmcp import FastMCP
    from mcp.types import CallToolResult, TextContent

    mcp = FastMCP("x")

    class Described(CallToolResult):
        name: str = ""

    @mcp.tool
    def fetch(a: str):
        if a:
            return Described(content=[TextContent(type="text", text=f"no {a}")], isError=True)
        return CallToolResult(content=[TextContent(type="text", text="a is missing")], isError=True)
    """,
    """
    import functools
    from fastmcp import FastMCP

    mcp = FastMCP("x")

    def load(a: str) -> dict:
        return {"error": "no a"} if not a else {"rows": [a]}

    def refused(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            answer = function(*args, **kwargs)
            if answer.get("error"):
                raise ValueError(answer["error"])
            return answer
        return wrapper

    @mcp.tool
    def first(a: str) -> dict:
        answer = load(a)
        if "error" not in answer:
            return answer
        raise ValueError(answer["error"])

    @mcp.tool
    def second(a: str) -> dict:
        answer = load(a)
        error = answer.get("error")
        if error is not None:
            raise ValueError(error)
        return answer

    @mcp.tool
    def third(a: str) -> dict:
        answer = load(a)
        match answer:
            case {"error": error}:
                raise ValueError(error)
        return answer

    def save(a: str) -> dict:
        return {"ok": False, "message": "no a"} if not a else {"ok": True}

    @mcp.tool
    def saved(a: str) -> dict:
        answer = save(a)
        if answer["ok"] is not True:
            raise ValueError(answer["message"])
        return answer

    @mcp.tool
    def fourth(a: str) -> dict:
        for _ in range(3):
            answer = load(a)
            if "rows" in answer:
                return answer
        raise ValueError(a)

    @mcp.tool
    def fifth(a: str) -> dict:
        answer = load(a)
        assert "error" not in answer
        return answer

    @mcp.tool
    @refused
    def sixth(a: str) -> dict:
        return load(a)
    """,
    """
    from fastmcp import FastMCP

    mcp = FastMCP("x")

    @mcp.tool
    def delete(a: str, confirm: bool = False) -> dict:
        if not confirm:
            return {"success": False, "requires_confirmation": True, "message": f"{a} would be deleted"}
        return {"success": True}
    """,
    """
    from mcp.types import CallToolResult
    from mcpcore import tool

    @tool
    def fetch(a: str):
        return CallToolResult(content=[], is_error=False)

    def service(a):
        return {"error": a}
    """,
)

INVALID: Final = (
    Invalid(
        """
        import json
        from mcp import types
        from pydantic import BaseModel
        from mcpcore import tool

        class Result(BaseModel):
            success: bool
            error: str | None = None

        def failed(why):
            return {"error": why, "code": 1}  # here

        @tool
        def fetch(a: str, bad: bool) -> dict:
            if a == "1":
                return {"ok": False, "why": a}  # here
            if a == "2":
                return {"error": a}  # here
            if a == "3":
                return f"Error: no {a}"  # here
            if a == "4":
                return types.CallToolResult(content=[], is_error=True)  # here
            if a == "5":
                return json.dumps({"error": "no"}, indent=2)  # here
            if a == "6":
                return [types.TextContent(type="text", text="Failed to fetch " + a)]  # here
            if a == "7":
                return {"status": "error", "message": "no"}  # here
            if a == "8":
                return Result(success=False, error="no")  # here
            if a == "9":
                return failed(a)
            if a == "10":
                return {"error": "no"} if bad else {"rows": []}  # here
            answer = dict(isError=True)
            return answer  # here
        """,
        'failed() returns {"error": ...} as if it were a result, so the failure looks like a success (tool: fetch)',
    ),
    Invalid(
        """
        from fastmcp import FastMCP

        mcp = FastMCP("x")

        @mcp.tool
        async def fetch(a: str) -> str:
            try:
                return await load(a)
            except KeyError as exc:
                return "Could not load: " + str(exc)  # here
            except Exception as exc:
                result = {"status": "failed", "details": exc}
                return result  # here

        @mcp.tool
        async def validate(a: str) -> dict:
            try:
                return {"ok": await load(a)}
            except KeyError:
                return {"ok": False}  # here

        def shown(value):
            return json.dumps(value, indent=2)

        @mcp.tool
        async def show(a: str) -> str:
            if not a:
                return shown({"ok": False, "message": "a is missing"})  # here
            return shown({"ok": True, "a": a})

        @mcp.resource("x://y")
        def read() -> str:
            try:
                return open("y").read()
            except OSError as e:
                return f"Error reading y: {e}"  # here

        mcp.add_tool(lambda a: {"error": a}, name="short")  # here
        """,
        "Could not load",
    ),
    # Keys and values in any letters, and a list of one.
    Invalid(
        """
        from fastmcp import FastMCP

        mcp = FastMCP("x")

        @mcp.tool
        async def fetch(a: str) -> dict:
            if not a:
                return {"Status": "Failed", "Message": "no a"}  # here
            if a == "1":
                return {"IsError": True, "Content": a}  # here
            try:
                return await load(a)
            except KeyError as e:
                return [{"error": f"no {a}"}]  # here
            except Exception as e:
                return {"STATUS": "Failed", "Instance": a}  # here
            data = await load(a)
            if not data:
                return "Unable to fetch the rows or no rows found."  # here
        """,
        'returns {"Status": "Failed"}',
    ),
    # The caught exception is the answer.
    Invalid(
        """
        import traceback
        from fastmcp import FastMCP
        from mcp.types import TextContent

        mcp = FastMCP("x")

        @mcp.tool
        async def fetch(a: str) -> str:
            try:
                return await load(a)
            except KeyError as e:
                return str(e)  # here
            except ValueError as e:
                return f"{type(e).__name__}: {e}"  # here
            except OSError as e:
                return [TextContent(type="text", text=repr(e))]  # here
            except RuntimeError:
                return "Encountered an error while loading."  # here
            except TypeError:
                return f"Invalid kind: {a}"  # here
        """,
        "returns the text of the caught exception",
    ),
    # What a function makes of the failure that it is given, and a chain of them.
    Invalid(
        """
        import json
        from fastmcp import FastMCP
        from mcp.types import CallToolResult, TextContent

        mcp = FastMCP("x")

        def as_text(message: str) -> list[TextContent]:
            return [TextContent(type="text", text=message)]

        def envelope(success: bool, message: str) -> str:
            answer = {"success": success, "message": message}
            return dumped(answer)

        def dumped(value: object) -> str:
            return json.dumps(value, default=str)

        def failed(why: str) -> str:
            answer = {"error": why}
            return dumped(answer)  # here

        def of_network(why: str) -> str:
            return failed(f"network: {why}")

        def again(why: str) -> str:
            return of_network(f"{why}, try again")

        async def late(why: str) -> str:
            return again(why)

        def by_hand(why: str) -> CallToolResult:
            return CallToolResult(content=as_text(why), isError=True)

        class Tools:
            def as_text(self, message: str) -> list[TextContent]:
                return [TextContent(type="text", text=message)]

            @mcp.tool
            def show(self, a: str) -> list[TextContent]:
                try:
                    return self.as_text(load(a))
                except Exception as e:
                    return self.as_text(f"Upstream API error: {e}")  # here

        @mcp.tool
        async def fetch(a: str) -> str:
            if a == "1":
                return envelope(False, "no")  # here
            if a == "2":
                return envelope(True, "yes")
            if a == "3":
                return as_text(f"Error: no {a}")  # here
            if a == "4":
                return again(a)
            if a == "5":
                return await late(a)
            if a == "6":
                return by_hand(a)
            return as_text(a)
        """,
        'failed() returns {"error": ...}',
    ),
    # A decorator that answers for its tools is reported once, where it answers.
    Invalid(
        """
        import functools
        from fastmcp import FastMCP
        from mcp.server.fastmcp.exceptions import ToolError

        mcp = FastMCP("x")

        def answered(func):
            @functools.wraps(func)
            async def wrapper(*args, **kwargs):
                try:
                    return await func(*args, **kwargs)
                except ToolError:
                    raise
                except Exception as e:
                    return {"error": str(e)}  # here
            return wrapper

        def named(name):
            def decorate(func):
                def wrapper(*args, **kwargs):
                    try:
                        return func(*args, **kwargs)
                    except Exception as e:
                        return f"Failed: {e}"  # here
                return wrapper
            return decorate

        def raised(func):
            def wrapper(*args, **kwargs):
                try:
                    return func(*args, **kwargs)
                except KeyError:
                    return {"error": "no such key"}
                except Exception as e:
                    raise ToolError("it failed") from e
            return wrapper

        def safely(run, *, fallback=None):
            try:
                return run()
            except Exception as e:
                return [{"error": f"it failed: {e}"}]  # here

        def timed(run):
            try:
                return run()
            finally:
                log()

        @mcp.tool
        @answered
        async def one(a: str) -> dict:
            return await load(a)

        @mcp.tool
        @answered
        async def two(a: str) -> dict:
            return await load(a)

        @mcp.tool
        @named("three")
        def three(a: str) -> dict:
            return load(a)

        @mcp.tool
        @raised
        def four(a: str) -> dict:
            return load(a)

        @mcp.tool
        def five(a: str) -> list:
            return safely(lambda: load(a))

        @mcp.tool
        def six(a: str) -> list:
            return timed(lambda: load(a))

        @answered
        async def service(a: str) -> dict:
            return await load(a)
        """,
        'answered() returns {"error": ...} for every exception of the tools that it wraps',
    ),
    # Results of functions that tools hand on, also in JSON, from a thread and through an object.
    Invalid(
        """
        import asyncio
        import json
        from fastmcp import FastMCP

        mcp = FastMCP("x")

        async def rows_of(a: str) -> dict:
            try:
                return {"rows": await load(a)}
            except Exception as e:
                return {"error": str(e)}  # here

        def counted(a: str) -> str:
            if not a:
                return "Error: no table"  # here
            return str(len(a))

        class Client:
            async def get(self, a: str) -> dict:
                if not a:
                    return {"success": False, "why": "no a"}  # here
                return await self.http(a)

        def client() -> Client: ...

        async def checked(a: str) -> dict:
            answer = await rows_of(a)
            if "error" in answer:
                raise ValueError(answer["error"])
            return answer

        @mcp.tool
        async def one(a: str) -> dict:
            return await rows_of(a)

        @mcp.tool
        async def two(a: str) -> str:
            answer = await rows_of(a)
            return json.dumps(answer)

        @mcp.tool
        async def three(a: str) -> dict:
            api = client()
            return await api.get(a)

        @mcp.tool
        async def four(a: str) -> str:
            return await asyncio.to_thread(counted, a)

        @mcp.tool
        async def five(a: str) -> dict:
            return await checked(a)

        @mcp.tool
        async def six(a: str) -> dict:
            return await one(a)
        """,
        "so the failure looks like a success (tools: one, two)",
    ),
    # What an `except` clause puts into an answer that is returned after it, and a text that goes on.
    Invalid(
        """
        import json
        from fastmcp import FastMCP
        from mcp.types import TextContent

        mcp = FastMCP("x")

        @mcp.tool
        async def assigned(a: str) -> dict:
            result = {}
            try:
                result["rows"] = await load(a)
            except Exception as e:
                result["error"] = str(e)  # here
            return result

        @mcp.tool
        async def updated(a: str) -> str:
            result = {"success": True}
            try:
                result.update(await load(a))
            except Exception as e:
                result.update({"success": False, "message": str(e)})  # here
            return json.dumps(result)

        @mcp.tool
        async def replaced(a: str) -> str:
            try:
                out = await load(a)
            except Exception as e:
                out = {"error": str(e)}
            return json.dumps(out)  # here

        @mcp.tool
        async def appended(a: str) -> str:
            text = f"Error: no {a}"
            if a.islower():
                text += ", try capitals"
            return text  # here

        @mcp.tool
        async def joined(a: str) -> list:
            try:
                return await load(a)
            except Exception as e:
                return [TextContent(type="text", text=json.dumps({"error": str(e)}) + suffix())]  # here

        @mcp.tool
        async def asked(a: str) -> dict:
            error = None
            try:
                found = await load(a)
            except Exception as e:
                error = str(e)
            if error:
                return {"error": error, "asked": a}  # here
            if found.error is not None:
                return {"error": found.error, "asked": a}  # here
            return {"error": found["message"]}  # here

        @mcp.tool
        async def partly(a: str) -> dict:
            report = {}
            try:
                report["disk"] = await disk(a)
            except Exception as e:
                report["error"] = str(e)
            try:
                report["memory"] = await memory(a)
            except Exception as e:
                report["error"] = str(e)
            return report
        """,
        'assigned returns {"error": ...}',
    ),
    # Functions in a table, keys with an underscore, and results of FastMCP with the failure inside.
    Invalid(
        """
        from fastmcp import FastMCP
        from fastmcp.tools.tool import ToolResult

        mcp = FastMCP("x")

        def get_one(a: str) -> dict:
            try:
                return {"_success": True, "row": load(a)}
            except TimeoutError as e:
                return too_late(e)

        def too_late(e: TimeoutError) -> dict:
            return {"_success": False, "error_code": "TOO_LATE", "seconds": e.seconds}  # here

        def delete_one(a: str) -> dict:
            if not a:
                return {"_success": False, "hint": "give a"}  # here
            return {"_success": True}

        ACTIONS = {"get": get_one, "delete": delete_one}

        @mcp.tool
        def manage(action: str, a: str) -> dict:
            run = ACTIONS.get(action)
            if run is None:
                raise ValueError(action)
            return run(a)

        @mcp.tool
        def structured(a: str) -> ToolResult:
            if not a:
                return ToolResult(content="no a", structured_content={"success": False, "message": "no a"})  # here
            return ToolResult(content=a)
        """,
        'too_late() returns {"_success": False} as if it were a result',
    ),
    # Waiting, threads, functions that add to what they are given, and answers that a branch fills in.
    Invalid(
        """
        import asyncio
        import traceback
        from fastmcp import FastMCP

        mcp = FastMCP("x")

        def found(a: str) -> dict:
            return {"rows": [a]} if a else {"error": "no a"}  # here

        def slow(a: str) -> dict:
            if not a:
                return {"success": False, "message": "no a"}  # here
            return {"success": True}

        def with_time(answer: dict) -> dict:
            answer["at"] = 1
            return answer

        @mcp.tool
        async def one(a: str) -> dict:
            return with_time({**found(a), "asked": a})

        @mcp.tool
        async def again(a: str) -> dict:
            answer = load(a)
            answer = with_time(answer)
            answer = with_time(answer)
            return answer

        @mcp.tool
        async def two(a: str) -> dict:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(None, slow, a)

        @mcp.tool
        async def three(a: str) -> dict:
            response = {"success": False, "rows": None}
            if not a:
                response["error"] = "a is missing"
                return response  # here
            response["success"] = True
            return response

        @mcp.tool
        async def four(a: str) -> str:
            try:
                return await asyncio.wait_for(load(a), 3)
            except Exception:
                return traceback.format_exc()  # here
        """,
        'found() returns {"error": ...} as if it were a result',
    ),
    # What an `except` clause says in a sentence, under whatever key, and a model by its name.
    Invalid(
        """
        from fastmcp import FastMCP
        from pydantic import BaseModel

        mcp = FastMCP("x")

        class ErrorResponse(BaseModel):
            why: str

        @mcp.tool
        async def fetch(a: str) -> dict:
            try:
                return await load(a)
            except KeyError as e:
                return {"errors": [str(e)]}  # here
            except ValueError as e:
                return ErrorResponse(why=str(e))  # here
            except TimeoutError as e:
                return [{"type": "text", "text": f"Error: {e}"}]  # here
            except ConnectionError:
                return {"result": f"Could not load {a}"}  # here
            except LookupError:
                return {"message": "It was there before", "ok": True}
            except EOFError as e:
                return {"success": False, "message": str(e), "dry_run": dry_run}  # here
            except OSError:
                return {"message": "Failed to load all of it", "rows": await known(a)}
            except Exception as e:
                return {"message": str(e), "asked": a}  # here
        """,
        'fetch returns {"errors": ...}',
    ),
    # Models whose defaults say that they failed.
    Invalid(
        """
        from fastmcp import FastMCP
        from pydantic import BaseModel, Field

        mcp = FastMCP("x")

        class Base(BaseModel):
            status: str = Field(default="error")

        class Failed(Base):
            message: str = ""

        class Page(Base):
            rows: list = []

        @mcp.tool
        async def fetch(a: str) -> Base:
            if not a:
                return Failed(message="no a")  # here
            return Page(rows=[a])
        """,
        "Failed(status=error)",
    ),
    # A function that gives a failure or None.
    Invalid(
        """
        import json
        from fastmcp import FastMCP

        mcp = FastMCP("x")

        def lacking(action: str, **given: object) -> str | None:
            names = [each for each, value in given.items() if not value]
            return f"Error: {action} needs {names}" if names else None  # here

        def resolve(a: str):
            if not a:
                return None, json.dumps({"error": "no a"})  # here
            return {"id": a}, None

        def resolved(a: str):
            row, error = resolve(a)
            if error:
                return None, error
            return row, None

        async def check(a: str) -> dict | None:
            if a.isdigit():
                return {"status": "error", "reason": "a number"}  # here

        @mcp.tool
        async def fetch(action: str, a: str) -> str:
            if error := lacking(action, a=a):
                return error
            row, error2 = resolved(a)
            if error2:
                return error2
            wrong = await check(a)
            if wrong is not None:
                return wrong
            return json.dumps(row)
        """,
        'lacking() returns the text "Error:..." as if it were a result',
    ),
)
