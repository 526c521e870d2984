"""The errors, unresolved calls and writes to standard output that a handler reaches through the functions it calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from mcpcore_lint.dataclasses import light_value

if TYPE_CHECKING:
    from mcpcore_lint.diagnostics import Span
    from mcpcore_lint.model import ErrorForm


@light_value
class Site:
    """A place in a file."""

    path: str
    span: Span


@light_value
class ReachedThrow:
    """An error that leaves the handler after it was raised in a function that the handler calls.

    `codes` and `reasons` list all that the error may have, or are None if they are unknown. `reasons` is `()` if the
    error definitely has no reason.
    """

    type_name: str
    form: ErrorForm
    codes: tuple[str, ...] | None
    reasons: tuple[str, ...] | None
    path: tuple[str, ...]
    """The chain of functions, starting with the handler: ("fetch_articles", "ArticleStore.get", "_request")."""
    call: Span
    """The call in the handler that starts the chain."""
    site: Site
    """The `raise`, or the third-party call, at the end of the chain."""
    source: Literal["project", "settings"]
    """"settings": the settings list it for a third-party function. `path` ends with the function's name."""
    is_named_only: bool = False
    """Whether a guard names the error, but no known exception inside the guard becomes it."""
    data_keys: tuple[str, ...] | None = None
    """All keys of the data that a guard attaches; None if they are unknown."""


@light_value
class UnresolvedCall:
    """A call in the handler, or in a function it reaches, that the linter cannot follow and that may raise anything."""

    name: str
    path: tuple[str, ...]
    call: Span
    """The call in the handler that starts the chain."""
    site: Site
    takes_context: bool
    """Whether the context is an argument, so that the callee could call `ctx.fail`."""
    project: bool
    """Whether the callee probably belongs to the project."""
    why: str


@light_value
class ReachedWrite:
    """A write to standard output, in the handler or in a function that it calls."""

    label: str
    """The call as messages show it: `print()`, `subprocess.run()`."""
    kind: Literal["print", "child", "input"]
    """"child": a child process inherits standard output; "input": `input()`, which reads standard input as well."""
    function: str
    """The function that contains the call."""
    path: tuple[str, ...]
    """The chain of functions, starting with the handler."""
    call: Span
    """The call in the handler that starts the chain, or the writing call if the handler contains it."""
    site: Site


@light_value
class Reach:
    """The outcome of the functions that a handler calls."""

    throws: tuple[ReachedThrow, ...] = ()
    """Errors raised in other functions, each with the call in the handler that reaches it."""
    unresolved: tuple[UnresolvedCall, ...] = ()
    own: tuple[ReachedThrow, ...] = ()
    """Errors that leave the handler and are raised in it, or in a nested function that it calls. `call` is the `raise`
    statement."""
    writes: tuple[ReachedWrite, ...] = ()
    """Writes to standard output, in the handler and in the functions that it calls."""
