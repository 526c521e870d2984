"""The reference pages of the Python API: which names are public, and where an example of each is."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pages.markdown import noted, table
from pages.members import lines_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

DOCS: Final = Path(__file__).parents[1]


@dataclass(frozen=True, kw_only=True)
class Module:
    """A public module.

    Attributes:
        name: Its name.
        names: Its public names; left out, those of its `__all__`.
    """

    name: str
    names: Sequence[str] = ()

    @property
    def public(self) -> list[str]:
        """The names of the module that are part of the reference."""
        return list(self.names or importlib.import_module(self.name).__all__)


@dataclass(frozen=True, kw_only=True)
class ApiPage:
    """A page of the reference.

    Attributes:
        title: Its heading.
        intro: The sentences below it.
        modules: What the page describes.
    """

    title: str
    intro: str
    modules: Sequence[Module]


PAGES: Final = {
    "mcpcore": ApiPage(
        title="mcpcore",
        intro="Everything that a server needs. Each name is loaded when it is first used.",
        modules=[Module(name="mcpcore")],
    ),
    "services": ApiPage(
        title="Services and batches",
        intro="For the code that handlers call. How to use it: [Call services](../../how-to/services.md).",
        modules=[
            Module(name="mcpcore.services", names=["code_for_status", "from_http_response_async"]),
            Module(name="mcpcore.services.batch", names=["Batch", "BatchResult", "ItemFailure"]),
            Module(name="mcpcore.services.breaker", names=["CircuitBreaker", "CircuitOpenError"]),
            Module(name="mcpcore.contract.bound_fields", names=["bind"]),
        ],
    ),
    "client": ApiPage(
        title="mcpcore.client",
        intro="For programs that call tools. How to use it: [Call tools](../../how-to/calling.md).",
        modules=[Module(name="mcpcore.client")],
    ),
    "integrations": ApiPage(
        title="Integrations",
        intro="One module for each framework; it imports the framework. How to use them: "
        "[FastMCP](../../how-to/fastmcp.md), [agents](../../how-to/agents.md).",
        modules=[
            Module(name="mcpcore.integrations.fastmcp", names=["ContractMiddleware", "ContractFailure"]),
            Module(name="mcpcore.integrations.fastmcp_client", names=["PolicyClient", "PolicyToolError"]),
            Module(name="mcpcore.integrations.pydantic_ai", names=["PolicyToolset"]),
            Module(
                name="mcpcore.integrations.openai_agents",
                names=["FollowsPolicy", "PolicyServerStdio", "PolicyServerStreamableHttp"],
            ),
            Module(name="mcpcore.integrations.langchain", names=["PolicyMiddleware"]),
            Module(name="mcpcore.integrations.langchain_mcp_adapters", names=["PolicyInterceptor"]),
            Module(name="mcpcore.integrations.otel", names=["OtelSink"]),
        ],
    ),
    "audit": ApiPage(
        title="mcpcore.audit",
        intro="The trail of failures. How to use it: [Keep an audit trail](../../how-to/audit.md).",
        modules=[Module(name="mcpcore.audit")],
    ),
    "classification": ApiPage(
        title="mcpcore.classification",
        intro="The code of any exception. The tables: [Classification](../classification.md).",
        modules=[Module(name="mcpcore.classification")],
    ),
    "dialects": ApiPage(
        title="mcpcore.wire.dialects",
        intro="Envelopes of other servers. How to use them: [Move from another envelope](../../how-to/dialects.md).",
        modules=[Module(name="mcpcore.wire.dialects", names=["DIALECTS", "Dialect", "dialect_named", "read_result"])],
    ),
    "testing": ApiPage(
        title="Testing",
        intro="For the tests of a server. How to use it: [Test a server](../../how-to/testing.md).",
        modules=[
            Module(name="mcpcore.testing"),
            Module(name="mcpcore.boundary.strictness", names=["strict_scope"]),
        ],
    ),
    "lint": ApiPage(
        title="mcpcore_lint",
        intro="For rules of your own. How to write them: [Rules of your own](../lint.md#rules-of-your-own).",
        modules=[
            Module(name="mcpcore_lint"),
            Module(name="mcpcore_lint.rule", names=["Rule", "RuleContext", "ProjectContext", "Valid", "Invalid"]),
            Module(name="mcpcore_lint.codemods", names=["CstRule"]),
            Module(name="mcpcore_lint.diagnostics", names=["Span", "Fix", "Change", "Edit", "Related"]),
            Module(name="mcpcore_lint.testing", names=["cases", "check", "check_page"]),
        ],
    ),
}


INHERITED: Final = {"FailureMode": ("on", "on_code")}
"""The members of base classes that the page of a class shows."""

HIDDEN: Final = {
    "FailureMode": (
        "advice",
        "settled",
        "recovery_json",
        "has_field",
        "check_data",
        "dump_data",
        "read_data",
        "templates",
    ),
    "CodedError": (
        "settled",
        "with_found_advice",
        "sent_reason",
        "misused_keys",
        "declare",
        "is_dumped",
        "with_traceback",
    ),
    "Context": ("judged", "has_changed", "part", "shown", "show_value", "render_item"),
    "Tool": ("with_options", "changed"),
    "Retry": ("caution",),
    "CallPolicy": ("action_of", "allows_.*"),
    "ContractMiddleware": ("on_.*", "startup_.*", "unrecorded.*", "covered", "audit"),
    "AuditTrail": ("check", "listens", "record", "waiting", "retry"),
    "Report": ("add",),
}
"""The members that only the framework calls, as regular expressions, by the names of their classes."""


FACTORIES: Final = {
    "invalid_params": 'invalid_params("number is missing.")',
    "invalid_request": 'invalid_request("This server does not export articles.")',
    "not_found": 'not_found("There is no order 7.", data={"order_id": 7})',
    "forbidden": 'forbidden("Only the owner may cancel an order.")',
    "unauthorized": 'unauthorized("The session has ended.", recovery="Ask the user to sign in again.")',
    "validation_error": 'validation_error("A parcel weighs at most 30 kg.", data={"weight": 41})',
    "conflict": 'conflict("The order is shipped already.", effects="none")',
    "rate_limited": 'rate_limited("100 calls a minute are allowed.", retry=Retry.after(seconds=20))',
    "timeout": 'timeout("The search took more than 5 seconds.")',
    "service_unavailable": 'service_unavailable("The carrier does not answer.", retry=Retry.after(seconds=1))',
    "configuration_error": 'configuration_error("CARRIER_URL is not set.")',
    "internal_error": 'internal_error("The totals do not add up.")',
    "serialization_error": 'serialization_error("The carrier\'s answer is not JSON.")',
    "database_error": 'database_error("The orders could not be read.", effects="none")',
    "request_cancelled": 'request_cancelled("The export was stopped.", effects="partial")',
}
"""A call of each factory, whose own docstring is one sentence."""


def entries() -> Iterator[tuple[str, Module, str]]:
    """Every public name, with its module and its page."""
    for page, content in PAGES.items():
        for module in content.modules:
            for name in module.public:
                yield page, module, name


def value_of(module: Module, name: str) -> Any:
    """The object of a public name."""
    return getattr(importlib.import_module(module.name), name)


def docstring(module: Module, name: str) -> str:
    """The docstring of a name; that of a constant is the string below it."""
    value = value_of(module, name)
    if inspect.isclass(value) or inspect.isroutine(value):
        return inspect.getdoc(value) or ""
    return _below_assignment(name, module.name.partition(".")[0]) or inspect.getdoc(value) or ""


@cache
def _below_assignment(name: str, package: str) -> str:
    """The string below the assignment of a constant, in any loaded module of a package."""
    pattern = re.compile(rf'^{name}\b[^\n]* = (?:[^\n]*|.*?\n[\])}}])\n"""(.+?)"""', re.MULTILINE | re.DOTALL)
    for loaded, module in sorted(sys.modules.items()):
        if loaded.partition(".")[0] == package and getattr(module, name, None) is not None:
            match = pattern.search(inspect.getsource(module))
            if match is not None:
                return match[1]
    return ""


def summary(text: str) -> str:
    """The first sentence of a docstring."""
    return re.split(r"(?<=\.)\s", " ".join(text.split("\n\n", 1)[0].split()), maxsplit=1)[0]


@cache
def _code_of_pages() -> dict[Path, str]:
    """The Python code of every guide, and then of every other page of the reference."""
    fence = re.compile(r"^```python.*?\n(.*?)^```", re.MULTILINE | re.DOTALL)
    return {
        page: "\n".join(fence.findall(page.read_text(encoding="utf-8")))
        for folder in ("how-to", "reference")
        for page in sorted((DOCS / folder).glob("*.md"))
    }


def example_of(module: Module, name: str) -> Path | None:
    """The first of these pages whose code imports a name."""
    wanted = re.compile(rf"^\s*from {re.escape(module.name)} import [^\n]*\b{name}\b", re.MULTILINE)
    return next((page for page, code in _code_of_pages().items() if wanted.search(code)), None)


def _call_of_factory(name: str) -> list[str]:
    """How a factory is called, which its page cannot take from an attribute."""
    from mcpcore import not_found

    signature = inspect.signature(type(not_found).__call__)
    bare = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in signature.parameters.values()
        if parameter.name != "self"
    ]
    text = str(signature.replace(parameters=bare)).replace("Ellipsis", "...").replace("'", "")
    return [
        "```python no-run",
        f"def {name}{text}: ...",
        "```",
        "",
        "The parameters are those of [`CodedError`](#mcpcore.CodedError), and so are the errors. For example:",
        "",
        "```python no-run",
        f"raise {FACTORIES[name]}",
        "```",
        "",
    ]


def pages() -> dict[Path, str]:
    """The pages by their paths."""
    folder = DOCS / "reference" / "api"
    source = "the docstrings of the names in `docs/pages/api.py`"
    names = "A name is imported from the module that its path begins with."
    index = ["# Python API", "", names, ""]
    made = {}
    for page, content in PAGES.items():
        lines = [f"# {content.title}", "", content.intro, ""]
        rows: list[list[object]] = []
        for module in content.modules:
            for name in module.public:
                text = docstring(module, name)
                path = f"{module.name}.{name}"
                lines += lines_of(path, hidden=HIDDEN.get(name, ()), inherited=INHERITED.get(name, ()))
                if name in FACTORIES and module.name == "mcpcore":
                    lines += _call_of_factory(name)
                guide = None if "```" in text or name in FACTORIES else example_of(module, name)
                if guide is not None:
                    title = guide.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
                    lines += [
                        f"There is an example of `{name}` in [{title}](../../{guide.parent.name}/{guide.name}).",
                        "",
                    ]
                rows.append([f"[`{module.name}.{name}`]({page}.md#{path})", summary(text)])
        made[folder / f"{page}.md"] = noted("\n".join(lines), source)
        index += [f"## [{content.title}]({page}.md)", "", table(["name", "meaning"], rows), ""]
    made[folder / "index.md"] = noted("\n".join(index), source)
    return made
