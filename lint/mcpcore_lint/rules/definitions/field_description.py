"""field-description."""

import ast
import re
from typing import Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.engine.semantics.data_model import requires_value
from mcpcore_lint.engine.syntax.scopes import Scope
from mcpcore_lint.model import CallValue, Parameter, ToolDef, options, string
from mcpcore_lint.patterns import regex
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._tools import binds_arguments, in_test
from mcpcore_lint.rules.definitions import _parameters
from mcpcore_lint.rules.definitions._texts import says_nothing, sets_docstring

_IN_DOCSTRING: Final = "is described only in the docstring, which description= replaces, so the model never reads it"
_IDENTIFIER: Final = regex(r"(?:\w+_)?(?:u?u?ids?|names?|paths?|files?|urls?|cols?|columns?)(?:_\w)?")


class FieldDescription(Rule):
    """A required parameter has no description.

    Summary: a parameter that the model must fill in has no description
    Why: The model has to guess the value: the name and the type do not say what the unit and the format are, or where a
        valid value comes from. Parameters that explain themselves are not reported: an enum, a `Literal`, a model, a
        bool, the numbers of a calculation, names such as `path`, `query`, `city` and `sheet_name`, and names whose
        words the tool's description contains. On servers without mcpcore, identifiers, paths and columns need no
        description either.
    How to fix: Describe it with `Annotated[..., Field(description=...)]`. An entry for the parameter in the docstring
        counts too: the docstring is sent as the tool's description, or FastMCP reads the entry for the schema.
    When to suppress: When the name, the type and the tool's description are enough, but use words that the rule does
        not know. Tools in tests are not checked.
    """

    severity = Severity.INFO
    bad = '@tool\ndef fetch(pmids: list[str]) -> Articles:\n    """Fetch articles."""'
    good = '@tool\ndef fetch(pmids: Annotated[list[str], Field(description="PubMed identifiers.")]) -> Articles: ...'

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each required parameter that is described nowhere."""
        if tool.kind != "tool" or tool.flavour == "lowlevel" or in_test(tool) or binds_arguments(tool):
            return
        handler = tool.handler
        scope = handler.module.scope_of(handler.node)
        scope = scope.parent or scope
        required = [
            parameter
            for parameter in handler.parameters
            if not parameter.injected
            and not parameter.kind.startswith("var_")
            # A description would not help: these parameters should be hidden from the model.
            and not (parameter.name == "self" or parameter.name.startswith("_"))
            and any(map(says_nothing, options(parameter.description)))
            and _is_required(parameter, scope, ctx)
        ]
        text = _tool_text(tool) if required else None
        if text is None:
            return
        for parameter in required:
            name = parameter.name
            types = frozenset(_parameters.kinds(parameter.annotation, scope))
            if _parameters.UNKNOWN in types or _parameters.explains(text, name):
                continue
            if tool.flavour != "mcpcore" and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE):
                continue
            in_docstring = _parameters.documents(handler.docstring or "", name)
            enough = _parameters.explains_itself(name, types, f"{tool.display_name} {handler.name} {text}") or (
                tool.flavour != "mcpcore" and _IDENTIFIER.fullmatch(name)
            )
            if (in_docstring and not text.strip()) or (enough and not in_docstring):
                continue
            problem = _IN_DOCSTRING if in_docstring else "has no description"
            message = f"the parameter {name} of {tool.display_name} {problem}"
            step = f'describe it: {name}: Annotated[..., Field(description="...")]'
            ctx.report(parameter.node, message, help=step, tool=tool, module=handler.module)


def _tool_text(tool: ToolDef) -> str | None:
    """The text about a tool that the model may read, which may describe parameters; None if it is unknown."""
    texts = [string(value) or ("" if says_nothing(value) else None) for value in options(tool.description)]
    if tool.flavour == "fastmcp" and tool.handler.docstring:
        texts.append(tool.handler.docstring)
    registration = tool.registration
    keywords = registration.keywords if isinstance(registration, ast.Call) else []
    if None in texts or sets_docstring(tool) or any(keyword.arg is None for keyword in keywords):
        return None
    return "\n".join(text or "" for text in texts)


def _is_required(parameter: Parameter, scope: Scope, ctx: RuleContext) -> bool:
    """Whether a parameter has no default, neither in Python nor in `Field(...)`."""
    if parameter.default is None:
        return True
    value = ctx.resolve(parameter.default, scope)
    if isinstance(value, CallValue) and value.func.name.rpartition(".")[2] == "Field" and value.complete:
        return requires_value(value)
    return False
