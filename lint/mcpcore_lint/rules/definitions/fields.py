"""The rule about what a model reads of a tool's parameters."""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.meaning.annotations import unquote
from mcpcore_lint.meaning.resolve import Resolver
from mcpcore_lint.meaning.symbols import enum_like
from mcpcore_lint.model import CallValue, Const, Items, Missing, Parameter, Symbol, options, string
from mcpcore_lint.patterns import regex
from mcpcore_lint.reading.syntax import walk
from mcpcore_lint.rules.base import Invalid, Rule, RuleContext
from mcpcore_lint.rules.definitions import _plain
from mcpcore_lint.rules.definitions.descriptions import in_test, is_blank, sets_docstring

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mcpcore_lint.model import ToolDef
    from mcpcore_lint.reading.scopes import Scope
    from mcpcore_lint.rules.base import Family


class FieldDescription(Rule):
    """A parameter that the model has to guess."""

    id = "field-description"
    severity = Severity.INFO
    family: ClassVar[Family] = "definitions"
    summary = "a parameter that the model must fill in, without a description"
    why = (
        "The model fills in what the schema asks for. A name and a type leave open the unit, the format, and where a "
        "valid value comes from. Nothing is said where they do not: an enum, a `Literal`, a model, `is_final: bool`, "
        "the numbers of a calculation, `sheet_name` and `filepath`, and, in a tool with one or two parameters, names "
        "such as `path`, `query` and `city` or that the tool's description speaks of. On servers without mcpcore "
        "such names need no description in a tool of any size, nor do identifiers, paths, columns and the names that "
        "the description mentions."
    )
    bad = '@tool\ndef fetch(pmids: list[str]) -> Articles:\n    """Fetch articles."""'
    good = '@tool\ndef fetch(pmids: Annotated[list[str], Field(description="PubMed identifiers.")]) -> Articles: ...'
    how_to_fix = (
        "Describe it with `Annotated[..., Field(description=...)]`. A docstring that explains the parameter by name "
        "counts too, since it is sent as the description of the tool, or read for the schema by FastMCP."
    )
    when_to_suppress = (
        "Where name, type and description of the tool say all, in words that the rule does not know. Tools in tests "
        "are left alone."
    )
    valid = (
        '''
        from typing import Annotated

        McpServer = lookalike()
        mcp = McpServer("a framework that reads plain strings")

        @mcp.tool
        def close(database: Annotated[str, "Of which session."]) -> str:
            """Close it."""

        @mcp.tool
        def edit(action: str, where: dict | None = None) -> str:
            """Edit it.

            Actions:
              plan -> what would be done
              make -> what was done
            """
        ''',
        '''
        from typing import Annotated, Any, Optional

        from elsewhere import Query, TEXT
        from fastmcp import Context as Theirs, FastMCP
        from fastmcp.dependencies import CurrentHeaders, Depends, TokenClaim
        from mcp.server.mcpserver import MCPServer
        from mcp.server.lowlevel import Server as Low
        from mcpcore import Context, prompt, tool
        from pydantic import BaseModel, Field

        mcp = FastMCP("x")
        sdk = MCPServer("x")
        low = Low("x")
        Path = Annotated[str, Field(description="A path below the workspace.")]

        class Filter(BaseModel):
            text: str

        @tool
        def one(ctx: Context, path: Annotated[str, Field(description="A.")], text: str = Field(description="B.")):
            """Say one."""

        @tool
        def two(path: Path, limit: int = 10, more: str | None = None, filter: Filter = Filter()) -> str:
            """Say two."""

        @mcp.tool
        def three(ctx: Theirs, path: Annotated[str, "A path."], store=Depends(open), *args: str, **more: str) -> str:
            """Say three."""

        @sdk.tool()
        def four(path: str, text: str, lines: list[int], depth: int, name: str) -> str:
            """Say four.

            Args:
                path: A path below the workspace.
                text (str): What to write.
                lines (list[int], optional): The lines.

            - `depth`: how deep
            :param str name: The name.
            """

        @tool
        def five(filter: Filter, query: Query, path: Annotated[str, Field(description=TEXT)] | None) -> str:
            """Say five."""

        @tool(description=TEXT)
        def six(path: str) -> str: ...

        @tool(description="Say `path`.")
        def seven(path: str) -> str: ...

        @low.call_tool()
        async def call(name: str, arguments: dict[str, Any]): ...

        @prompt
        def eight(path: str) -> str:
            """Say eight."""

        @mcp.tool(exclude_args=["user"])
        def nine(user: str) -> str:
            """Say nine.

            Parameters
            ----------
            user : str
                Who asks.
            """

        Token = Annotated[str, Depends(open)]
        Secret = Annotated[Token, "What nobody sees."]

        @mcp.tool
        def injected(
            here: Theirs | None,
            token: Token,
            secret: Secret,
            key: Annotated[str, Depends(open)],
            salt: "Annotated[str, Depends(open)]",
            claim: str = TokenClaim("sub"),
            headers: dict = CurrentHeaders(),
        ) -> str:
            """Say injected."""

        @tool
        def ten(path: str = Field(default="", description="")) -> str:
            """Say ten."""

        @tool
        def eleven(path: str) -> str:
            """Say eleven, with path="a/b"."""

        def twelve(path: str) -> str:
            """Say twelve."""

        twelve.__doc__ = TEXT
        sdk.add_tool(twelve)

        class TestTools:
            def test_one(self):
                @sdk.tool()
                def thirteen(path: str) -> str:
                    """Say thirteen."""
        ''',
        # What type, name and context say.
        '''
        from datetime import date
        from enum import Enum
        from typing import Literal, Optional, TypedDict

        from fastmcp import FastMCP
        from mcp.server.mcpserver import Context, MCPServer
        from pydantic import BaseModel

        mcp = FastMCP("x")
        sdk = MCPServer("x")
        Side = Literal["buy", "sell"]

        class Mood(Enum):
            GOOD = "good"

        class Shape(TypedDict):
            width: int

        class Order(BaseModel):
            amount: int

        @mcp.tool
        def trade(side: Side, mood: Mood | None, shape: Shape, order: Order, when: date, is_final: bool) -> str:
            """Trade."""

        @mcp.tool
        def add(a: int, b: int) -> int:
            """Add two numbers."""

        @mcp.tool
        def add_three(x: float, y: float, z: float) -> float: ...

        @sdk.tool()
        def greet(name: str, ctx: Context) -> str: ...

        @sdk.tool()
        def weather(city: str, days: int, units: str = "metric") -> str:
            """Tell the weather."""

        @sdk.tool()
        def search(query: str, limit: int) -> str: ...

        @sdk.tool()
        def resize(image_path: str, tags: Optional[list[str]]) -> str:
            """Resize an image, and tag it."""

        @sdk.tool()
        def remove_note(note_id: str) -> str: ...

        @sdk.tool()
        def translate(text: str, target_language: str) -> str:
            """Translate text to the target language."""

        @sdk.tool()
        def refund(amount: int) -> str:
            """Refund an amount, in cents."""

        @sdk.tool()
        def switch(light_name: str, state: bool) -> str:
            """Turn a light on (true) or off (false)."""

        @sdk.tool()
        def rename(binary_name: str, function_name_or_address: str, variable_name: str, new_name: str) -> str:
            """Rename a variable in a function."""

        @sdk.tool()
        def loose(self, _: str) -> str:
            """Give what is there."""
        ''',
    )
    invalid = (
        Invalid(
            '''
            from fastmcp import FastMCP

            mcp = FastMCP("x")

            @mcp.tool
            def merge(
                filepath: str,
                sheet_name: str,
                start_cell: str,  # here
                end_cell: str,  # here
                sheet_name_or_range: str,  # here
            ) -> str:
                """Merge cells."""
            ''',
            "the parameter start_cell of merge has no description",
        ),
        Invalid(
            '''
            from typing import Annotated

            from fastmcp import Context as Theirs, FastMCP
            from mcp.server.mcpserver import MCPServer
            from mcpcore import Context, Server, tool
            from pydantic import Field

            mcp = FastMCP("x")
            sdk = MCPServer("x")
            server = Server("x")
            Path = Annotated[str, Field(min_length=1)]

            @tool
            def one(
                ctx: Context,
                path: str,  # here
                text: Annotated[str, Field(description="A text.")],
                lines: list[int],  # here
            ) -> str:
                """Say one."""

            @mcp.tool
            def two(
                path: Path,
                text=Field(),
                depth: Annotated[int, Field(ge=1)] = Field(...),  # here
            ) -> str:
                """Say two."""

            @sdk.tool()
            def three(
                path: Annotated[str, "A path."],
                limit: Annotated[int, "How many."] = 3,  # here
                *,
                name: str,
                other: Annotated[str, Field(description=" ")],  # here
            ) -> str:
                """Say three, from the path on.

                Returns:
                    What is there.
                """

            class Tools:
                @server.tool()
                def four(self, mode: str) -> str:  # here
                    """Say four."""

            @server.tool(description="Say five.")
            def five(path: str) -> str:  # here
                """Not what is sent.

                Args:
                    path: A path.
                """

            @server.tool()
            def refund(amount: float) -> str:  # here
                """Refund an amount."""

            @server.tool()
            def book(
                date: str,  # here
                sure: bool,  # here
            ) -> str:
                """Book a table."""

            @server.tool()
            def remove(row: int, rule: dict[str, str]) -> str:  # here
                """Remove a row by a rule."""

            @server.tool()
            def copy(
                source: str,  # here
                target: str,  # here
                path: str,  # here
            ) -> str:
                """Copy a source to a target."""
            ''',
            "the parameter path of one has no description",
        ),
    )

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each parameter that is required, and described nowhere."""
        if tool.kind != "tool" or tool.flavour == "lowlevel" or in_test(tool):
            return
        handler = tool.handler
        scope = handler.module.scope_of(handler.node)
        outside = scope.parent or scope
        excluded = _excluded(tool, ctx)
        visible = [
            each
            for each in handler.parameters
            if not each.injected
            and not each.kind.startswith("var_")
            and each.name not in excluded
            # That a model is asked for these at all is what is wrong with them.
            and not (each.name == "self" or each.name.startswith("_"))
        ]
        lacking = [(each, found) for each in visible if (found := _undescribed(each, tool, outside, ctx)) is not None]
        told = _told(tool) if lacking else None
        if told is None:
            return
        needless: frozenset[str] | None = None
        for parameter, lack in lacking:
            problem = lack
            if _explains(told, parameter.name) or (tool.flavour != "mcpcore" and _mentions(told, parameter.name)):
                continue
            if problem == _NOTHING:
                if needless is None:
                    needless = _needless(tool, visible, told, outside, ctx)
                if _documents(handler.docstring or "", parameter.name):
                    if not told.strip():
                        continue
                    problem = "is explained in the docstring alone, which description= takes the place of"
                elif parameter.name in needless or _names_itself(parameter, tool):
                    continue
            if _binds(tool.registration):
                return
            ctx.report(
                parameter.node,
                f"the parameter {parameter.name} of {tool.display_name} {problem}",
                help=f'describe it: {parameter.name}: Annotated[..., Field(description="...")]',
                tool=tool,
                module=handler.module,
            )


def _binds(registration: ast.expr) -> bool:
    """Whether a registration may fill parameters in itself: `add_tool(partial(fetch, store))`."""
    return any(
        (each.attr if isinstance(each, ast.Attribute) else each.id) == "partial"
        for each in walk([registration])
        if isinstance(each, (ast.Name, ast.Attribute))
    )


def _told(tool: ToolDef) -> str | None:
    """What is said about a tool as a whole, and may be about its parameters; None where that cannot be known."""
    texts: list[str] = []
    for each in options(tool.description):
        text = string(each)
        if text is None and not isinstance(each, Missing) and not (isinstance(each, Const) and each.value is None):
            return None
        texts.append(text or "")
    if tool.flavour == "fastmcp" and tool.handler.docstring:
        texts.append(tool.handler.docstring)
    registration = tool.registration
    if sets_docstring(tool):
        return None
    if isinstance(registration, ast.Call) and any(each.arg is None for each in registration.keywords):
        return None
    return "\n".join(texts)


def _explains(text: str, name: str) -> bool:
    """Whether a text explains a parameter: as a docstring does, or by its name as code."""
    if name.lower() not in text.lower():
        return False
    escaped = re.escape(name)
    # `Actions:` heads the list of what `action` can be.
    said = rf"[`'\"]{escaped}[`'\"]|(?<!\w){escaped}\s*=|(?im:^[ \t]*(?:\w+[ \t]+)?{escaped}s[ \t]*:[ \t]*$)"
    return _documents(text, name) or bool(re.search(said, text))


_NAMES_ITSELF: Final = regex(r"(?:\w+_)?(?:u?u?ids?|names?|paths?|files?|urls?|cols?|columns?)(?:_\w)?")


def _names_itself(parameter: Parameter, tool: ToolDef) -> bool:
    """Whether a parameter is an identifier, a name or a place, which a server without mcpcore need not describe."""
    return tool.flavour != "mcpcore" and _NAMES_ITSELF.fullmatch(parameter.name) is not None


def _mentions(text: str, name: str) -> bool:
    """Whether a text has the name of a parameter as a word, in any capitals."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None


def _documents(text: str, name: str) -> bool:
    """Whether a text has an entry for a parameter, as Google, NumPy, reST, Epytext, Javadoc or Markdown write it."""
    if name not in text:
        return False
    if name in _plainly_documented(text):
        return True
    # Several parameters may share an entry: `x, y : float`.
    named = rf"(?:[*_`]*\w+[*_`]*[ \t]*,[ \t]*)*[*_`]*{re.escape(name)}[*_`]*(?:[ \t]*,[ \t]*[*_`]*\w+[*_`]*)*"
    return bool(
        (re.search(_FIELD, text) and re.search(rf"{_FIELD}(?:\s[^:\n]*)?\s\*{{0,2}}{named}(?:\s*:|\s)", text))
        or re.search(
            rf"(?m)^[ \t]*(?:[-*+\u2022]|\d+[.)])?[ \t]*{named}"
            r"[ \t]*(?:\([^)\n]*\)|\[[^\]\n]*\]|<[^>\n]*>)?[ \t]*[*_`]*(?::|=|[ \t]-|[ \t]?--|[ \t]\u2013|\u2014)",
            text,
        )
        or ("|" in text and re.search(rf"(?m)^[ \t]*\|[ \t]*{named}[ \t]*\|", text))
        # NumPy without a type: the name alone, and what it is on the next line, further in.
        or re.search(rf"(?m)^([ \t]*){named}[ \t]*\n\1[ \t]+\S", text)
    )


_FIELD: Final = r"[:@](?:param(?:eter)?|arg(?:ument)?|key(?:word)?)"
_PLAIN_ENTRY: Final = r"(?m)^[ \t]*(\w+)[ \t]*(?:\([^)\n]*\)[ \t]*)?:"


@lru_cache(maxsize=16)
def _plainly_documented(text: str) -> frozenset[str]:
    """The names that have an entry of their own in the usual form, `name (type): ...`.

    They are looked for all at once: an expression for each name takes longer to be compiled than to be searched for.
    """
    return frozenset(re.findall(_PLAIN_ENTRY, text))


def _excluded(tool: ToolDef, ctx: RuleContext) -> frozenset[str]:
    """Parameters that FastMCP is told to keep from the model."""
    given = tool.decorator_keyword("exclude_args")
    value = ctx.resolve(given.value) if given is not None else None
    return frozenset(string(each) or "" for each in value.items) if isinstance(value, Items) else frozenset()


def _undescribed(parameter: Parameter, tool: ToolDef, scope: Scope, ctx: RuleContext) -> str | None:
    """What is lacking in a parameter; None where nothing is, or that cannot be known."""
    unread = _unread_string(parameter, tool)
    described = options(parameter.description)
    if unread is None and not any(isinstance(each, Missing) or is_blank(each) for each in described):
        return None
    if unread is None and not _required(parameter, scope, ctx):
        return None
    if _speaks_for_itself(parameter.annotation, scope):
        return None
    if unread is not None:
        return f"is described by a plain string, {unread!r}, which {_WHO[tool.flavour]} does not read"
    return _NOTHING


def _needless(tool: ToolDef, visible: Sequence[Parameter], told: str, scope: Scope, ctx: RuleContext) -> frozenset[str]:
    """The parameters that nobody needs a description of, in view of their types, their names and the tool."""
    found: set[str] = set()
    asked: dict[str, frozenset[str]] = {}
    for each in visible:
        of = _plain.kinds(each.annotation, scope)
        if _plain.type_says(each.name, of) or _plain.is_specific(each.name, of):
            found.add(each.name)
        elif _required(each, scope, ctx):
            asked[each.name] = of
    small = len(asked) <= _plain.SMALL or tool.flavour != "mcpcore"
    if small or all(_plain.is_number(name, of) for name, of in asked.items()):
        names = f"{tool.display_name} {tool.handler.name}"
        found.update(name for name, of in asked.items() if _plain.name_says(name, of, told, names))
    return frozenset(found)


_NOTHING: Final = "has no description"
_WHO: Final = {"mcpcore": "mcpcore", "sdk": "the SDK", "fastmcp": "FastMCP", "lowlevel": "the SDK"}


def _unread_string(parameter: Parameter, tool: ToolDef) -> str | None:
    """The string in `Annotated[str, "..."]`: FastMCP reads it as a description, pydantic and so the SDK do not."""
    annotation = unquote(parameter.annotation)
    if tool.flavour == "fastmcp" or not isinstance(annotation, ast.Subscript):
        return None
    elts = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else []
    for each in elts[1:]:
        if each is parameter.description.node and isinstance(each, ast.Constant) and isinstance(each.value, str):
            return each.value if not _made_of_something_else(tool) else None
    return None


def _made_of_something_else(tool: ToolDef) -> bool:
    """Whether the server is made in the tool's own file, which imports no SDK: some frameworks look like it."""
    if tool.flavour != "sdk":
        return False
    node: ast.expr = tool.registration
    while isinstance(node, (ast.Call, ast.Attribute)):
        node = node.func if isinstance(node, ast.Call) else node.value
    bindings = tool.module.scope.bindings.get(node.id, ()) if isinstance(node, ast.Name) else ()
    made_here = any(isinstance(each.value, ast.Call) for each in bindings)
    return made_here and _IMPORTS_THE_SDK.search(tool.module.source.text) is None


_IMPORTS_THE_SDK: Final = regex(r"(?m)^[ \t]*(?:from|import)[ \t]+mcp\b")


def _required(parameter: Parameter, scope: Scope, ctx: RuleContext) -> bool:
    """Whether the model must fill a parameter in: it has no default, neither in Python nor in `Field(...)`."""
    default = parameter.default
    if default is None:
        return True
    value = ctx.resolve(default, scope)
    if isinstance(value, CallValue) and value.func.name.rpartition(".")[2] == "Field" and value.complete:
        if not isinstance(value.argument("default_factory"), Missing):
            return False
        first = value.argument("default", 0)
        return isinstance(first, Missing) or (isinstance(first.node, ast.Constant) and first.node.value is Ellipsis)
    return False


def _speaks_for_itself(annotation: ast.expr | None, scope: Scope) -> bool:
    """Whether a type may bring its own description: a model with fields of its own, a type of another package."""
    node = unquote(annotation)
    if node is None:
        return False
    for each in _type_names(node):
        value = Resolver().expression(each, scope)
        if isinstance(value, Symbol) and isinstance(value.definition, ast.ClassDef):
            if not enum_like(value):
                return True
        elif isinstance(value, Symbol):
            if not _is_plain(value.name):
                return True
        elif Resolver().alias_of(each, scope) is None:
            return True
    return any(isinstance(each, ast.Call) and _gives_description(each) for each in walk([node]))


def _type_names(node: ast.expr) -> Iterable[ast.Name | ast.Attribute]:
    """The names in an annotation that are types, not the metadata of `Annotated`."""
    stack: list[ast.AST] = [node]
    while stack:
        each = stack.pop()
        if isinstance(each, (ast.Name, ast.Attribute)):
            yield each
        elif isinstance(each, ast.Subscript):
            stack.append(each.value)
            named = each.value.attr if isinstance(each.value, ast.Attribute) else getattr(each.value, "id", "")
            if named == "Annotated" and isinstance(each.slice, ast.Tuple) and each.slice.elts:
                stack.append(each.slice.elts[0])
            elif named != "Literal":
                stack.append(each.slice)
        elif isinstance(each, (ast.Tuple, ast.List, ast.BinOp)):
            stack.extend(ast.iter_child_nodes(each))


_PLAIN_PACKAGES: Final = frozenset(
    {
        "builtins",
        "typing",
        "collections",
        "datetime",
        "decimal",
        "enum",
        "fractions",
        "ipaddress",
        "pathlib",
        "re",
        "uuid",
    }
)


def _is_plain(name: str) -> bool:
    return name.split(".", maxsplit=1)[0] in _PLAIN_PACKAGES or name in {
        "pydantic.AnyUrl",
        "pydantic.HttpUrl",
        "pydantic.EmailStr",
    }


def _gives_description(call: ast.Call) -> bool:
    for each in call.keywords:
        if each.arg in {"description", "json_schema_extra"} or each.arg is None:
            return not (isinstance(each.value, ast.Constant) and not str(each.value.value or "").strip())
    func = call.func
    return (func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")) in {"Doc", "WithJsonSchema"}
