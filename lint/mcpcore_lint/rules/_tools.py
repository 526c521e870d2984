"""Facts about a tool: its contracts with all branches of a condition, and where its name and its description are."""

import ast
from collections.abc import Iterator

from mcpcore_lint.engine.registrations.contracts import contract_of
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.parse import walk
from mcpcore_lint.model import (
    Choice,
    Const,
    Contract,
    ContractEntry,
    Items,
    Missing,
    Symbol,
    ToolDef,
    Value,
    is_left_out,
    options,
)
from mcpcore_lint.records import in_test_file


def contracts_of(tool: ToolDef) -> tuple[Contract, ...]:
    """Every contract that `errors=` may be: one for each branch of a conditional expression that is not None."""
    contract = tool.contract
    if contract is None:
        return ()
    if not isinstance(contract.value, Choice):
        return (contract,)
    inline = None if contract.node is tool.registration else contract.node
    branches = (branch for branch in options(contract.value) if not is_left_out(branch))
    return tuple(contract_of(branch, contract.node, contract.module, inline) for branch in branches)


def may_have_contract(tool: ToolDef) -> bool:
    """Whether a tool has a contract, or may get one from a decorator that is not followed: `@api.query(NO_MATCH)`."""
    node, scope = tool.handler.node, tool.handler.module.scope_of(tool.handler.node)
    others = (decorator for decorator in getattr(node, "decorator_list", ()) if decorator is not tool.registration)
    makers = (decorator.func if isinstance(decorator, ast.Call) else decorator for decorator in others)
    return tool.contract is not None or any(
        not isinstance(evaluate(maker, scope.parent or scope), Symbol) for maker in makers
    )


def entries_of(contract: Contract) -> Iterator[tuple[int, ContractEntry]]:
    """The entries of a contract with their positions; the branches of a conditional entry share a position."""
    for index, entry in enumerate(contract.entries):
        if not isinstance(entry.value, Choice):
            yield index, entry
            continue
        inline = contract.node if entry.inline else None
        items = Items(contract.node, contract.module, "list", options(entry.value), complete=True)
        for branch in contract_of(items, contract.node, contract.module, inline).entries:
            yield index, branch


def element_of(contract: Contract, entry: ContractEntry) -> ast.AST:
    """The element of a contract that names an entry; the whole contract if that is unclear."""
    node = contract.node
    if not isinstance(node, (ast.List, ast.Tuple)) or len(node.elts) != len(contract.entries):
        return node
    places = [place for place, other in enumerate(contract.entries) if other.node is entry.node]
    return node.elts[places[0]] if places and not any(isinstance(item, ast.Starred) for item in node.elts) else node


def tool_entries(tool: ToolDef) -> Iterator[tuple[int, ContractEntry]]:
    """The entries of all contracts of a tool."""
    for contract in contracts_of(tool):
        yield from entries_of(contract)


def is_mcpcore_contract(tool: ToolDef, contract: Contract) -> bool:
    """Whether `errors` is mcpcore's option, and not one of the same name of another framework."""
    return tool.flavour == "mcpcore" or any(entry.is_failure_mode for entry in contract.entries)


def in_test(tool: ToolDef) -> bool:
    """Whether a tool exists only in a test, so that no model ever sees it."""
    outer_names = tool.handler.qualname.split(".")[:-1]
    return in_test_file(tool.module.path, tool.module.source.text) or any(
        name.startswith(("test_", "Test")) for name in outer_names
    )


def binds_arguments(tool: ToolDef) -> bool:
    """Whether a registration may supply parameters itself: `add_tool(partial(fetch, store))`."""
    return tool.module.source.has("partial") and any(
        (node.attr if isinstance(node, ast.Attribute) else node.id) == "partial"
        for node in walk([tool.registration])
        if isinstance(node, (ast.Name, ast.Attribute))
    )


def name_place(tool: ToolDef) -> tuple[ast.AST, Module]:
    """The expression in the registration that names a tool, else the registration or the handler, with its file."""
    keyword = tool.decorator_keyword("name")
    if keyword is not None:
        return keyword.value, tool.module
    if isinstance(tool.registration, ast.Call) and tool.name.node is not tool.handler.node:
        if isinstance(tool.name.node, ast.expr) and tool.name.node in set(walk([tool.registration])):
            return tool.name.node, tool.module
        return tool.registration, tool.module
    return tool.handler.node, tool.handler.module


def sets_docstring(tool: ToolDef) -> bool:
    """Whether the file of a tool sets docstrings."""
    return any(module.source.has(".__doc__ =") for module in (tool.handler.module, tool.module))


def says_nothing(value: Value) -> bool:
    """Whether a description is missing, None or blank."""
    return isinstance(value, Missing) or (isinstance(value, Const) and not str(value.value or "").strip())
