"""The imports, classes and fields that version 2 of the SDK calls differently, in tests too; FastMCP's middleware."""

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from mcpcore_lint.codemods import edits as codemods
from mcpcore_lint.diagnostics import Edit
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.semantics.symbols import class_round
from mcpcore_lint.engine.semantics.type_model import definition_of
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.parse import FUNCTIONS, walk
from mcpcore_lint.engine.syntax.scopes import Scope
from mcpcore_lint.migrate.body import classes_of, has_alias, is_answer, reader_of, scope_around, text_of_url
from mcpcore_lint.migrate.clients import CLIENTS, MAKER, client_edits
from mcpcore_lint.migrate.comments import comment_edits
from mcpcore_lint.migrate.model import STOPS, Left
from mcpcore_lint.migrate.renames import (
    ATTRIBUTES,
    EITHER,
    FASTMCP_3,
    FASTMCP_4,
    LISTING,
    MODULES,
    MOVED,
    OF_PROTOCOL,
    OLD_PACKAGE,
    POSITIONAL,
    REMOVED,
    REQUESTS,
    SDK_2,
    SERVER,
    SERVER_CLASSES,
    UNIONS,
    renamed,
    renamed_path,
    servers_in,
)
from mcpcore_lint.model import CallValue, Symbol
from mcpcore_lint.records import in_test_file

_DUMPS: Final = frozenset({"model_dump", "model_dump_json"})
_MEMBERS: Final = frozenset(name for _, name in [*REMOVED, *MOVED])
_CONCERNS: Final = re.compile(
    "|".join(
        rf"\b{word}\b"
        for word in (
            "McpError",
            *sorted(UNIONS),
            r"fastmcp",
            "FastMCP",
            "MCPServer",
            "get_(?:context|server_capabilities)",
            "call_tool",
            "request_handlers",
            "cursor",
            "(?:streamable_http|sse)_app",
            "streamable_http_client",
            *sorted(_DUMPS),
            *_MEMBERS,
        )
    )
)
"""A file without these words, and without fields and names that are renamed, stays as it is."""
_PATH: Final = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\Z")
_CLASS: Final = re.compile(r"<class 'mcp\.server\.fastmcp(?:\.server)?\.FastMCP'>\Z")
"""What `str(type(server))` shows."""
_DOUBLES: Final = frozenset({"Mock", "MagicMock", "AsyncMock", "NonCallableMock", "SimpleNamespace", "namedtuple"})
"""Test doubles, whose keywords are the fields that they show."""
_ELICITING: Final = frozenset({"elicit", "elicit_form"})
"""The methods of the SDK that took a keyword by its name in camelCase, and do not any more."""
# The option with which clients go on to read the texts of exceptions that no contract declares.
TEXTS: Final = 'expose_internal_errors="message"'
_SHARED: Final = (
    "connect in each call, or pass check_same_thread=False and lock, since version 2 runs functions in threads"
)
_PARTS: Final = "read .structured_content or .content of the CallToolResult, which is no tuple"
_NO_CONTEXT: Final = f"_tool_manager.call_tool() without a context, which {SDK_2} asks for"
_CONNECTS: Final = "mcp.client.streamable_http.streamable_http_client"
_ENTERS: Final = ("enter_async_context", "__aenter__", "wait_for")
"""The methods that open a connection outside `async with`."""
_APPS: Final = frozenset({"streamable_http_app", "sse_app"})
_OPTIONS: Final = "take **options and hand them on, since run() passes its options in version 2"
_OF_CALL_TOOL: Final = 4
"""The parameters of `call_tool` of a server in version 2, with `self`."""
# Types of the SDK whose `uri` is a text in version 2.
_WITH_URI: Final = frozenset({"Resource", "ResourceLink", "TextResourceContents", "BlobResourceContents"})


class Project(NamedTuple):
    """What the renaming of a file needs to know about the others."""

    fields: frozenset[str]
    """The fields of `ATTRIBUTES` to rename, if the project uses version 1: those that its own classes do not have."""
    exported: Mapping[tuple[str, str], str]
    """The names that were renamed, by module and old name."""
    managers: frozenset[str] = frozenset()
    """The private attributes of FastMCP 2 to list, if all servers of the project are FastMCP's."""
    typed: bool = False
    """Whether it moves from version 1, and a type checker looks at what the types of the protocol are made of."""
    sends_texts: bool = False
    """Whether the project uses an early release of version 2, which sends the texts of exceptions as version 1 does."""


class Renaming:
    """The edits of one file."""

    def __init__(self, module: Module, project: Project) -> None:
        module.complete()
        self.module = module
        self.project = project
        self.edits: list[Edit] = []
        self.left: list[Left] = []
        self.exported: dict[tuple[str, str], str] = {}
        """The names at the top of this file that got new ones."""
        self._locals: dict[str, str] = {}
        """The local names that change, with their new spelling."""
        self._servers: set[str] = set()
        """The local names of the server, if it sends the texts of all exceptions."""
        self._contexts: set[str] = set()
        """The local names of the context of version 1."""

    def run(self) -> None:
        """Find everything that changes in the file."""
        words = {name for _, name in self.project.exported} | self.project.fields | self.project.managers
        if not (_CONCERNS.search(self.module.source.text) or any(map(self.module.source.has, words))):
            return
        kinds = (ast.ImportFrom, ast.Import, ast.Attribute, ast.Call, ast.Subscript, ast.Constant, ast.ClassDef)
        nodes = [node for node in walk([self.module.tree]) if type(node) in kinds]
        # Imports come first, since the names that they bind decide what the other nodes are.
        for node in nodes:
            if isinstance(node, ast.ImportFrom):
                self._import(node)
            elif isinstance(node, ast.Import):
                for name in (alias.name for alias in node.names if renamed_path(alias.name) is not None):
                    self._note(node, f"import {name}", "import the names that are used from mcp.server.mcpserver")
        if self._locals:
            self._rename_uses()
            self.edits += comment_edits(self.module, self._locals)
        old_names = {name for _, name in self.project.exported}
        for node in nodes:
            if isinstance(node, ast.Attribute) and node.attr in self.project.fields:
                end = self.module.source.node_range(node)[1]
                self.edits.append(Edit(end - len(node.attr), end, ATTRIBUTES[node.attr]))
            elif isinstance(node, ast.Attribute) and node.attr in old_names:
                self._attribute(node)
            elif isinstance(node, ast.Attribute) and node.attr in _MEMBERS:
                self._member(node, self._named(node.value))
            elif isinstance(node, ast.Attribute) and node.attr == "request_handlers" and self.project.fields:
                self._note(node, "request_handlers of a low-level server", REQUESTS)
            elif isinstance(node, ast.Attribute) and node.attr == "meta" and self.project.fields:
                if getattr(node.value, "attr", "") == "request_context" and isinstance(node.ctx, ast.Load):
                    self._note(node, "the meta of a request, a dict in SDK 2.0", 'read meta["progress_token"]')
            elif isinstance(node, ast.Attribute) and node.attr in _APPS and isinstance(node.ctx, ast.Store):
                scope = scope_around(node, self.module)
                made = definition_of(getattr(self.module.parents.get(node), "value", node), scope)
                if SERVER_CLASSES & classes_of(node.value, scope) and not (
                    isinstance(made, FUNCTIONS) and made.args.kwarg
                ):
                    self._note(node, f"{node.attr}() of the server, which is replaced", _OPTIONS)
            elif isinstance(node, ast.Attribute) and node.attr == "fastmcp":
                if "mcp.Context" in classes_of(node.value, scope_around(node, self.module)):
                    end = self.module.source.node_range(node)[1]
                    self.edits.append(Edit(end - len(node.attr), end, "mcp_server"))
            elif isinstance(node, ast.Attribute) and node.attr in self.project.managers:
                kind = node.attr.split("_")[1]
                pattern = f"{node.attr} of the server, which {FASTMCP_3} does not have"
                self._note(node, pattern, f"await get_{kind}(name) or list_{kind}s() of the server")
            elif isinstance(node, ast.Call):
                self._call(node)
            elif isinstance(node, ast.ClassDef):
                self._replaced(node)
            elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
                if node.value.id in self._contexts:
                    self._context(node)
                else:
                    self._result(node, node.value.id)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                self._string(node)

    # -- imports -------------------------------------------------------------------------------------------------------

    def _import(self, node: ast.ImportFrom) -> None:
        package = node.module or ""
        if self._is_either(node):
            return
        wanted: dict[str, list[str]] = {}
        changed = False
        for alias in node.names:
            home, client = CLIENTS.get((package, alias.name), ("", "")) if alias.asname is None else ("", "")
            calls = client_edits(self.module, alias.name, client) if home else None
            if calls is not None:
                self.edits += calls
                wanted.setdefault(home, []).append(client)
                wanted.update({MAKER[0]: [MAKER[1]]} if any(MAKER[1] in edit.text for edit in calls) else {})
                changed = True
                continue
            if not node.level and (package, alias.name) in REMOVED:
                self._note(node, f"the import of {alias.name}", REMOVED[package, alias.name])
            new = self._target(node, package, alias.name)
            if new is None and not node.level and package in MODULES and (package, alias.name) not in REMOVED:
                self._note(node, f"the import of {alias.name}", f"{FASTMCP_4} has no module {package}")
            target, name = new or ("." * node.level + package, alias.name)
            changed = changed or new is not None
            local = alias.asname or alias.name
            if f"{package}.{alias.name}" == "mcp.shared.context.RequestContext" or (
                alias.name == "Context" and package.startswith(OLD_PACKAGE) and not node.level
            ):
                self._contexts.add(local)
            if new == SERVER and (alias.name == "FastMCP" or self.project.sends_texts):
                self._servers.add(local)
            if new is not None and alias.asname is None and name != alias.name:
                local = self._local(node, alias.name, name)
            wanted.setdefault(target, []).append(name if local == name else f"{name} as {local}")
        if not changed:
            return
        source = self.module.source
        start, end = source.node_range(node)
        segment = source.text[start:end]
        if codemods.has_comment(segment):
            self._note(node, "an import with comments", "write the new imports by hand")
            self._locals.clear()
            self._servers.clear()
            return
        lines = [f"from {target} import {', '.join(names)}" for target, names in wanted.items()]
        if len(lines) == 1 and "(" in segment:
            head = f"from {next(iter(wanted))} import {segment[segment.index('(') :]}"
            for alias in node.names:
                new_name = self._locals.get(alias.name)
                if new_name is not None and alias.asname is None:
                    head = re.sub(rf"(?<![\w.]){re.escape(alias.name)}(?!\w)", _spelled(wanted, new_name), head)
            lines = [head]
        line = source.line(node.lineno)
        indent = line[: len(line) - len(line.lstrip())]
        alone = not line[len(indent) : node.col_offset].strip() and ";" not in source.line(node.end_lineno or 1)
        glue = f"{source.newline}{indent}" if alone else "; "
        self.edits.append(Edit(start, end, glue.join(sorted(lines, key=lambda part: part.split()[1]))))

    def _is_either(self, node: ast.ImportFrom) -> bool:
        """Whether a `try` imports the server from version 2, or else from version 1: the file works with both."""
        above = self.module.parents.get(node)
        around = self.module.parents.get(above) if isinstance(above, ast.ExceptHandler) else above
        servers = servers_in(around)
        if len(servers) > 1 and node is servers[-1]:
            decide = "import Server of mcpcore there, and run the command again, if version 1 need not work any more"
            self.left.append(Left(self.module.path, node.lineno, (), EITHER, decide))
        return len(servers) > 1

    def _target(self, node: ast.ImportFrom, package: str, name: str) -> tuple[str, str] | None:
        if not node.level and (new := renamed(package, name)) is not None:
            return new
        module = self.module.project.module_of(self.module, package, node.level)
        exported = self.project.exported.get((module.name, name)) if module is not None else None
        return None if exported is None else ("." * node.level + package, exported)

    def _local(self, node: ast.ImportFrom, old: str, new: str) -> str:
        """The local name of an import that is renamed; the old one if the file gets that name in other ways too."""
        scopes = [self.module.scope, *self.module.functions.values()]
        for scope in scopes:
            for binding in scope.bindings.get(old, ()):
                target = binding.target
                ours = target is not None and not target[2] and renamed(target[0], target[1] or "") is not None
                ours = ours or (isinstance(binding.node, ast.ImportFrom) and binding.node is node)
                if not ours and scope is self.module.scope:
                    return old
        if re.search(rf"^[ \t]+(?:class {old}\b|{old} = )", self.module.source.text, re.MULTILINE):
            return old  # a stub in `except ImportError` has that name too
        is_taken = any(
            binding.target is None or f"{binding.target[0]}.{binding.target[1]}" != ".".join(SERVER)
            for scope in scopes
            for binding in scope.bindings.get(new, ())
        )
        local = self._locals[old] = self.exported[self.module.name, old] = f"Contract{new}" if is_taken else new
        return local

    # -- uses ----------------------------------------------------------------------------------------------------------

    def _rename_uses(self) -> None:
        for node in self._unshadowed():
            if isinstance(node, ast.Name) and node.id in self._locals:
                self._write(node, self._locals[node.id])
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                parent = self.module.parents.get(node)
                if self._is_annotation(node) or (isinstance(parent, (ast.List, ast.Tuple)) and self._in_all(parent)):
                    self._words(node)

    def _unshadowed(self) -> Iterator[ast.AST]:
        """The nodes of the file without functions that use an old name for something else."""
        shadowing = {
            function
            for function, scope in self.module.functions.items()
            for name in self._locals
            for binding in scope.bindings.get(name, ())
            if binding.kind != "import"
        }
        stack: list[ast.AST] = [self.module.tree]
        while stack:
            node = stack.pop()
            if node in shadowing:
                continue
            yield node
            stack.extend(ast.iter_child_nodes(node))

    def _is_annotation(self, node: ast.AST) -> bool:
        child, parent = node, self.module.parents.get(node)
        while parent is not None and isinstance(child, ast.expr):
            if isinstance(parent, (ast.arg, ast.AnnAssign)):
                return parent.annotation is child
            if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef)):
                return parent.returns is child
            if isinstance(parent, ast.Call):
                return getattr(parent.func, "id", "") == "cast" and parent.args[:1] == [child]
            if isinstance(parent, ast.Subscript) and ast.unparse(parent.value).endswith("Literal"):
                return False
            child, parent = parent, self.module.parents.get(parent)
        return False

    def _in_all(self, node: ast.AST) -> bool:
        parent = self.module.parents.get(node)
        return isinstance(parent, ast.Assign) and [getattr(target, "id", "") for target in parent.targets] == [
            "__all__"
        ]

    def _words(self, node: ast.Constant) -> None:
        new = text = self.module.source.segment(node)
        for old, name in self._locals.items():
            new = re.sub(rf"(?<![\w.]){re.escape(old)}(?!\w)", name, new)
        if new != text:
            self._write(node, new)

    def _write(self, node: ast.AST, text: str) -> None:
        self.edits.append(Edit(*self.module.source.node_range(node), text))

    # -- calls and strings ---------------------------------------------------------------------------------------------

    def _call(self, node: ast.Call) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        # The SDK's own types go on to take the old names, which only type checkers refuse.
        made = self._named(node.func) if self.project.typed else ""
        typed = OF_PROTOCOL.fullmatch(made) is not None and not made.endswith("ToolAnnotations")
        for keyword in node.keywords if typed or name in _DOUBLES | _ELICITING else ():
            if keyword.arg in (ATTRIBUTES if typed else self.project.fields) and keyword.arg is not None:
                start = self.module.source.offset(keyword.lineno, keyword.col_offset)
                self.edits.append(Edit(start, start + len(keyword.arg), ATTRIBUTES[keyword.arg]))
        if isinstance(node.func, ast.Name) and self._locals.get(name) == "MCPError":
            match [*node.args, *node.keywords]:
                case [ast.expr() | ast.keyword(arg="error") as argument]:
                    self._error(node, argument)
        if self.module.source.has("streamable_http_client") and self._named(node.func) == _CONNECTS:
            self._connection(node)
        if len(node.args) > 1 and name in self._locals and self._named(node.func) == "mcp.FastMCP":
            self.edits += codemods.keyworded(self.module, node, POSITIONAL[1:])
        if self._makes_server(node):
            self.edits.append(codemods.add_argument(self.module, node, TEXTS))
        if name == "get_context" and isinstance(node.func, ast.Attribute):
            scope = scope_around(node, self.module)
            own = class_round(scope) if ast.unparse(node.func.value) == "self" else None
            if SERVER_CLASSES & classes_of(node.func.value, scope) or (own is not None and self._is_server(own.node)):
                self._note(
                    node, "get_context() of the server", "take the context as a parameter, since version 2 has no other"
                )
        if name in UNIONS and self._named(node.func) == f"mcp.types.{name}":
            source, value = self.module.source, node.args[0] if node.args else node
            (start, end), (first, last) = source.node_range(node), source.node_range(value)
            is_plain = isinstance(value, (ast.Call, ast.Name, ast.Attribute))
            if value is not node and is_plain and "#" not in source.text[start:first] + source.text[last:end]:
                self.edits += [Edit(start, first, ""), Edit(last, end, "")]
            else:
                self._note(node, f"{name}(...), which is a union in {SDK_2}", "write the value alone, in parentheses")
        is_whole = bool(node.args[2:]) or any(keyword.arg in {"context", None} for keyword in node.keywords)
        is_sdk = self.project.fields and not self.project.managers
        if is_sdk and not is_whole and ast.unparse(node.func).endswith("._tool_manager.call_tool"):
            self._note(node, _NO_CONTEXT, "pass Context() of mcp.server.mcpserver behind the arguments")
        if name == "get_server_capabilities" and isinstance(node.func, ast.Attribute) and self._is_theirs(name):
            self._write(node, f"{self.module.source.segment(node.func.value)}.server_capabilities")
        if name in _DUMPS and self.project.fields and has_alias(node, self.project.fields, self.module):
            self.edits.append(codemods.add_argument(self.module, node, "by_alias=True"))
            # These take the names of the fields, whatever the dump has.
            picks = (keyword.value for keyword in node.keywords if keyword.arg in {"include", "exclude"})
            for part in walk([*picks]):
                if isinstance(part, ast.Constant) and part.value in self.project.fields:
                    written = self.module.source.segment(part)
                    self._write(part, written.replace(part.value, ATTRIBUTES[part.value]))
        if name == "call_tool" and self.project.fields:
            self._unpacked(node)
        pages = name in LISTING and any(keyword.arg == "cursor" for keyword in node.keywords)
        if pages and self.module.source.has("ClientSession") and not self.module.source.has("fastmcp"):
            decide = "write params=PaginatedRequestParams(cursor=...) of mcp.types instead"
            self._note(node, f"cursor= of {name}(), which {SDK_2} does not have", decide)
        if ast.unparse(node.func) == "sqlite3.connect" and self.project.fields and self._is_shared(node):
            self._note(node, "a connection that calls share", _SHARED)
        for keyword in node.keywords if name in _WITH_URI and self.project.fields else ():
            if keyword.arg == "uri" and (text := text_of_url(keyword.value, scope_around(node, self.module))):
                self._write(keyword.value, text)
        match node.args[1:2]:
            case [ast.Constant(value=str(field)) as spelled] if name.endswith("attr") and field in self.project.fields:
                self._write(spelled, f'"{ATTRIBUTES[field]}"')
        if name in {"object", "setattr"} and len(node.args) > 1 and isinstance(node.args[1], ast.Constant):
            # `patch.object(server, "FastMCP")`
            old = str(node.args[1].value)
            new = self.project.exported.get((self._named(node.args[0]), old))
            if new is not None:
                self._write(node.args[1], self.module.source.segment(node.args[1]).replace(old, new))

    def _connection(self, node: ast.expr) -> None:
        """Drop the third value of a connection, the function that reads the number of the session."""
        holder, source, scope = self.module.parents[node], self.module.source, scope_around(node, self.module)
        while isinstance(holder, ast.Await) or (
            isinstance(holder, (ast.Attribute, ast.Call))
            and ast.unparse(getattr(holder, "func", holder)).endswith(_ENTERS)
        ):
            holder = self.module.parents[holder]
        match getattr(holder, "targets", [getattr(holder, "optional_vars", None)]):
            case [ast.Tuple(elts=[first, *others, third]) | ast.List(elts=[first, *others, third])] if (
                others or isinstance(first, ast.Starred)
            ) and not isinstance(third, ast.Starred):
                if isinstance(third, ast.Name) and third.id not in _read(
                    (scope.lookup(third.id) or (self.module.scope,))[0]
                ):
                    start, end = (source.node_range(part)[1] for part in ([first, *others][-1], third))
                    self.edits.append(Edit(start, end, "" if others else ","))
                else:
                    pattern = f"{ast.unparse(third)} of streamable_http_client(), which gives two values in {SDK_2}"
                    self._note(third, pattern, "read the header mcp-session-id with an event hook of http_client=")
            case [ast.Name() | ast.Attribute() as held]:
                parts = (part for part in walk([scope.node]) if isinstance(part, (ast.Name, ast.Attribute)))
                for part in parts:
                    is_later = part.lineno > node.lineno and isinstance(part.ctx, ast.Load)
                    if is_later and ast.unparse(part) == ast.unparse(held):
                        self._connection(part)

    def _is_shared(self, node: ast.Call) -> bool:
        """Whether a connection is kept for all calls, and only for one thread."""
        parent = self.module.parents.get(node)
        targets = parent.targets if isinstance(parent, ast.Assign) else [getattr(parent, "target", None)]
        kept = any(isinstance(target, ast.Attribute) for target in targets) or parent in self.module.tree.body
        return kept and all(keyword.arg != "check_same_thread" for keyword in node.keywords)

    def _replaced(self, node: ast.ClassDef) -> None:
        """A method that replaces one of the server gets the context, or the options of `run`, in version 2."""
        methods = [item for item in node.body if isinstance(item, FUNCTIONS)] if self._is_server(node) else []
        for item in (item for item in methods if item.name in _APPS and not item.args.kwarg):
            self._note(item, f"{item.name}() of the server, which is replaced", _OPTIONS)
        for item in (item for item in methods if item.name == "call_tool"):
            if not item.args.vararg and len([*item.args.posonlyargs, *item.args.args]) < _OF_CALL_TOOL:
                self._note(item, "call_tool() of the server", "take `context=None` too, and hand it on")

    def _is_server(self, node: ast.ClassDef) -> bool:
        """Whether a class is one of servers, by the name of version 1 or as it was renamed."""
        bases = [getattr(base, "value", base) if isinstance(base, ast.Subscript) else base for base in node.bases]
        values = [evaluate(base, scope_around(node, self.module)) for base in bases]
        return any(getattr(base, "id", "") in self._servers for base in bases) or any(
            isinstance(value, Symbol) and value.name in SERVER_CLASSES for value in values
        )

    def _makes_server(self, node: ast.Call) -> bool:
        """Whether a call makes a server that sends texts: of a subclass, the one in its `__init__`, if it has that."""
        match node.func:
            case ast.Name(id=name) if name in self._servers:
                return True
            case ast.Name(id=name) if self._servers:
                classes = [
                    part for part in self.module.tree.body if isinstance(part, ast.ClassDef) and part.name == name
                ]
                return any(
                    self._is_server(part) and "__init__" not in [getattr(item, "name", "") for item in part.body]
                    for part in classes
                )
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr="__init__") if self._servers:
                own = class_round(scope_around(node, self.module))
                return own is not None and self._is_server(own.node)
        return False

    def _context(self, node: ast.Subscript) -> None:
        """Drop the type of the session, which the context of version 2 does not name."""
        source = self.module.source
        if isinstance(node.slice, ast.Tuple) and len(node.slice.elts) > 1:
            first, second = (source.node_range(item)[0] for item in node.slice.elts[:2])
            self.edits.append(Edit(first, second, ""))
        else:
            self.edits.append(Edit(source.node_range(node.value)[1], source.node_range(node)[1], ""))

    def _result(self, node: ast.Subscript, name: str) -> None:
        """A part of what `call_tool()` of a server returned: a tuple or a list once, and a CallToolResult now."""
        at, scope = getattr(node.slice, "value", None), scope_around(node, self.module)
        if at not in {0, 1} or not self.project.fields or not is_answer(node.value, scope, self.module):
            return
        if any(inner is scope for _, inner in self.module.calls_near(f"isinstance({name},")):
            if not re.search(rf"\b{name}\.(?:content|structured_?[cC]ontent)\b", self.module.source.text):
                self._note(node, "a part of what call_tool() returned", _PARTS)
            return
        parent = reader_of(node, scope, self.module)
        if isinstance(parent, ast.Attribute):
            self._write(node, f"{name}.content[{at!r}]")
        elif at == 1 or isinstance(parent, (ast.Subscript, ast.BoolOp, ast.IfExp)):
            self._write(node, f"{name}.structured_content" if at == 1 else f"{name}.content")

    def _is_theirs(self, method: str) -> bool:
        """Whether a method is one of version 1, and of no class of the project."""
        return bool(self.project.fields) and all(method not in info.methods for info in self.module.project.classes())

    def _unpacked(self, node: ast.Call) -> None:
        """`content, structured = await server.call_tool(...)`: a tuple once, and a CallToolResult now."""
        at, scope = self.module.parents.get(node), scope_around(node, self.module)
        made = evaluate(node.func.value, scope) if isinstance(node.func, ast.Attribute) else None
        # An object that is not known is the server in a test, unless a class of the project has such a method too.
        if not (isinstance(made, CallValue) and made.func.name.startswith(("mcp.server.", "mcpcore."))) and (
            not in_test_file(self.module.path) or not self._is_theirs("call_tool")
        ):
            return
        match self.module.parents.get(at) if isinstance(at, ast.expr) and is_answer(at, scope, self.module) else None:
            case (
                ast.Assign(targets=[ast.Tuple(elts=[ast.Name(id=content), ast.Name(id=structured)]) as target]) as whole
            ):
                source, (start, end) = self.module.source, self.module.source.node_range(whole.value)
                indent = source.line(whole.lineno)[: whole.col_offset]
                unused = {name for name in (content, structured) if name.startswith("_")} - _read(scope)
                if unused:
                    name, field = (structured, "structured_content") if content in unused else (content, "content")
                    self._write(target, name)
                    self.edits += [Edit(start, start, "("), Edit(end, end, f").{field}")]
                elif not source.text[end:].partition("\n")[0].strip() and not indent.strip():
                    name = "result" if scope.lookup("result") is None else "called"
                    new = f"{content}, {structured} = {name}.content, {name}.structured_content"
                    self._write(target, name)
                    self.edits.append(Edit(end, end, f"{source.newline}{indent}{new}"))

    def _named(self, node: ast.expr) -> str:
        """What a name or an attribute leads to, by its qualified name; empty if that is not known."""
        symbol = (
            evaluate(node, scope_around(node, self.module)) if isinstance(node, (ast.Name, ast.Attribute)) else None
        )
        return symbol.name if isinstance(symbol, Symbol) else ""

    def _error(self, node: ast.Call, passed: ast.expr | ast.keyword) -> None:
        """`MCPError(code, message)` for `McpError(ErrorData(code=..., message=...))`, also by its keyword."""
        source = self.module.source
        argument = passed.value if isinstance(passed, ast.keyword) else passed
        start = source.node_range(argument)[0]
        start = source.offset(passed.lineno, passed.col_offset) if argument is not passed else start
        if isinstance(argument, ast.Call) and ast.unparse(argument.func).endswith("ErrorData") and not argument.args:
            self.edits += codemods.unwrapped(self.module, argument, start)
        elif not isinstance(argument, ast.Starred):
            func = source.node_range(node.func)[1]
            self.edits.append(Edit(func, func, ".from_error_data"))

    def _string(self, node: ast.Constant) -> None:
        value = str(node.value)
        shown = _CLASS.match(value)
        if not (shown or _PATH.match(value)) or isinstance(self.module.parents.get(node), ast.JoinedStr):
            return
        new = "<class 'mcpcore.sdk.server.Server'>" if shown else renamed_path(value)
        if new is None:
            for (module, old), name in self.project.exported.items():
                path, dot, rest = value.partition(f".{old}")
                same = path == module or path.endswith(f".{module}") or module.endswith(f".{path}")
                if dot and same and (not rest or rest.startswith(".")):
                    new = f"{path}.{name}{rest}"
        text = self.module.source.segment(node)
        if new is not None and text.count(value) == 1:
            self._write(node, text.replace(value, new))

    def _attribute(self, node: ast.Attribute) -> None:
        """`server.FastMCP`, a name of another module that was renamed."""
        new = self.project.exported.get((self._named(node.value), node.attr))
        if new is not None:
            end = self.module.source.node_range(node)[1]
            self.edits.append(Edit(end - len(node.attr), end, new))

    def _member(self, node: ast.Attribute, package: str) -> None:
        """`types.Content`, a name that a release moved, renamed or removed, as an attribute of its module."""
        moved, removed = MOVED.get((package, node.attr)), REMOVED.get((package, node.attr))
        if removed is not None:
            self._note(node, f"{package}.{node.attr}", removed)
        elif moved is None:
            return
        elif moved.package == package:
            self._write(node, f"{self.module.source.segment(node.value)}.{moved.name or node.attr}")
        else:
            imported = codemods.import_name(self.module, moved.package, moved.name or node.attr)
            self._write(node, imported.text)
            self.edits += [edit for edit in imported.edits if edit not in self.edits]

    def _note(self, node: ast.AST, pattern: str, decide: str) -> None:
        self.left.append(Left(self.module.path, getattr(node, "lineno", 1), (), pattern, decide, stops=STOPS))


def _read(scope: Scope) -> set[str]:
    """The names that are read or deleted in a scope and those inside."""
    names = (part for part in walk([scope.node]) if isinstance(part, ast.Name))
    return {part.id for part in names if not isinstance(part.ctx, ast.Store)}


def _spelled(wanted: Mapping[str, list[str]], local: str) -> str:
    """How an import clause spells the new name: `Server`, or `Server as ContractServer`."""
    clauses = [clause for names in wanted.values() for clause in names]
    return next((clause for clause in clauses if clause.split(" as ")[-1] == local), local)
