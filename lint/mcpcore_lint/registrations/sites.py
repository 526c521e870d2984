"""What a registration is made of: the maker, and the call with what it registers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import ast

    from mcpcore_lint.model import CallValue
    from mcpcore_lint.records import ToolFlavour
    from mcpcore_lint.registrations.tables import Way
    from mcpcore_lint.syntax.scopes import Scope


class Maker(NamedTuple):
    """What makes tools of functions: whose it is, on which server, and with what arguments."""

    way: Way
    flavour: ToolFlavour
    server: str | None
    call: CallValue | None = None
    """The arguments, without the handler; None where there are none."""
    inner: ast.Call | None = None
    """The call that holds them as written."""
    first: bool = False
    """Whether the first argument of that call is the handler."""
    derived: bool = False
    """Whether that call is one of a function of the project, whose parameters are others."""


class Site(NamedTuple):
    """A call that registers something."""

    maker: Maker
    target: ast.expr
    """What is registered."""
    scope: Scope
    registration: ast.expr
    call: ast.Call
    """The call that stands in the loop, if it is in one."""
