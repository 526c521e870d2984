"""error-contract-placeholder."""

from contextlib import suppress

from mcpcore.values.templates import parse
from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.engine.semantics.data_model import read_model
from mcpcore_lint.model import Mapping, options, string
from mcpcore_lint.rules._wording import near
from mcpcore_lint.rules.contract._entries import Checked, EntryRule, Problem

_STEP = "write the name of a required field in braces, or {{ and }} for the braces themselves"


class ContractPlaceholder(EntryRule):
    """A declared text has braces that are neither a required field of the data model nor doubled.

    Summary: a placeholder in `when`, `recovery` or `user_message` is not a required field of the data model
    Why: With a data model, these texts are templates: each failure replaces `{left}` with its value. A misspelt field
        has no value and an optional one may have none, so the declaration is refused. Without a data model nothing is
        replaced, and the client reads the braces. The rule reports that if the handler passes a value with this name.
    How to fix: Write the name of a required field, or `{{` and `}}` for literal braces.
    When to suppress: Never: the server does not start, or without a data model, clients read the braces.

    Bad:
        class Stock(BaseModel):
            left: int

        TOO_MANY = FailureMode("too_many", ErrorCode.CONFLICT, when="...", recovery="Order at most {lef}.", data=Stock)
    Good:
        class Stock(BaseModel):
            left: int

        TOO_MANY = FailureMode("too_many", ErrorCode.CONFLICT, when="...", recovery="Order at most {left}.", data=Stock)
    """

    severity = Severity.ERROR
    arguments = ("when", "recovery", "user_message")

    def check_value(self, checked: Checked) -> Problem | None:
        """Report the first brace of a text that the data model does not explain."""
        text = checked.text
        if text is None or ("{" not in text and "}" not in text):
            return None
        if checked.argument.name == "recovery" and (text.strip() == "TODO" or text.strip().startswith("TODO:")):
            return None  # it is never sent
        data = checked.entry.model.arguments["data"]
        if not data.given:
            return _unfilled(text, checked)
        models = [read_model(value) for value in options(data.value)]
        model = models[0] if len(models) == 1 else None
        if model is None:
            return None
        try:
            template = parse(text)
        except ValueError as exc:
            return checked.problem(str(exc).partition(";")[0], _STEP)
        required = model.required
        for name in () if template is None or required is None else template.names:
            if name not in (required or ()):
                meant = near(name, required or ())
                return checked.problem(
                    f"has the placeholder {{{name}}}, which is not a required field of {model.name}",
                    f"did you mean {{{meant}}}?" if meant else _STEP,
                )
        return None


def _unfilled(text: str, checked: Checked) -> Problem | None:
    """The placeholders of an entry without a data model, if a handler passes values for all of them."""
    with suppress(ValueError):
        template, entry = parse(text), checked.entry.model
        passed = {
            string(key)
            for tool in checked.ctx.tools
            if tool.contract is not None and any(other.node is entry.node for other in tool.contract.entries)
            for error in tool.handler.fail_calls
            if string(error.reason) == entry.reason_text and isinstance(error.data.value, Mapping)
            for key, _ in error.data.value.items
        }
        if template is not None and template.names and passed.issuperset(template.names):
            problem = f"has the placeholder {{{template.names[0]}}}, but no data model, so the client reads the braces"
            return checked.problem(problem, "declare the value: data= takes a model with a field of this name")
    return None
