"""unknown-handler: an entry of the setting `handlers` matches no function."""

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.rule import Rule


class UnknownHandler(Rule):
    """An entry of `handlers` without a function. The runner reports it; this class is its documentation.

    Summary: an entry of `handlers` matches no function, so the functions it was meant for are not checked
    Why: A misspelt module or function in the settings switches the checks off, and nobody notices.
    How to fix: Correct the module or the function. Write the module as imports do, with its full dotted name. A pattern
        matches functions whose names begin with an underscore only if the pattern does too.
    When to suppress: Ignore the rule in the settings if the functions are generated later.

    Bad:
        [tool.mcpcore.lint]
        handlers = ["acme.tolls.*:handle_*"]
    Good:
        [tool.mcpcore.lint]
        handlers = ["acme.tools.*:handle_*"]
    """

    severity = Severity.WARNING
