"""parse-error: the file is not valid Python."""

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.rule import Rule


class ParseError(Rule):
    """A file that is not valid Python. The runner reports it; this class is its documentation.

    Summary: the file is not valid Python, so none of its tools are checked
    Why: A file that cannot be parsed cannot be checked. The other files are checked as usual.
    How to fix: Correct the syntax at the reported place, save the file in the encoding that it declares, or run the
        linter under the Python version that the file is written for.
    When to suppress: A comment cannot suppress it, because the file cannot be read. Exclude the file by its path. Files
        and folders with `{{` in their names are templates and are never read.

    Bad:
        def fetch(:
            ...
    Good:
        def fetch():
            ...
    """

    severity = Severity.ERROR
