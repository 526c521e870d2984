"""error-contract-placeholder."""

from mcpcore.values.templates import parse
from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.engine.semantics.data_model import read_model
from mcpcore_lint.model import options
from mcpcore_lint.rules._wording import near
from mcpcore_lint.rules.contract._entries import Checked, EntryRule, Problem

_STEP = "write the name of a required field in braces, or {{ and }} for the braces themselves"


class ContractPlaceholder(EntryRule):
    """A declared text has braces that are neither a required field of the data model nor doubled."""

    severity = Severity.ERROR
    summary = "a placeholder of `when`, `recovery` or `user_message` that is not a required field of the data model"
    why = """With a data model, these texts are templates: each failure replaces `{left}` by its value. A field
    that is misspelt, or that a failure may lack, has no value, so the declaration is refused."""
    bad = """class Stock(BaseModel):
    left: int

TOO_MANY = FailureMode("too_many", ErrorCode.CONFLICT, when="...", recovery="Order at most {lef}.", data=Stock)"""
    good = """class Stock(BaseModel):
    left: int

TOO_MANY = FailureMode("too_many", ErrorCode.CONFLICT, when="...", recovery="Order at most {left}.", data=Stock)"""
    how_to_fix = "Write the name of a required field, or `{{` and `}}` for braces."
    arguments = ("when", "recovery", "user_message")

    def check_value(self, checked: Checked) -> Problem | None:
        """Report the first brace of a text that the data model does not explain."""
        text = checked.text
        if text is None or ("{" not in text and "}" not in text):
            return None
        if checked.argument.name == "recovery" and (text.strip() == "TODO" or text.strip().startswith("TODO:")):
            return None  # it is never sent
        models = [read_model(value) for value in options(checked.entry.model.arguments["data"].value)]
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
