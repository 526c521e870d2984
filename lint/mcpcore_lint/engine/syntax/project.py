"""The files of a project as modules: which file an import means, read when it is asked for."""

import ast
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Final

from mcpcore_lint.dataclasses import cached_method
from mcpcore_lint.engine.syntax.module import ClassInfo, Module
from mcpcore_lint.engine.syntax.requirements import Requirements, nearest, packages_required
from mcpcore_lint.engine.syntax.source import Source, SourceError
from mcpcore_lint.model import FunctionNode
from mcpcore_lint.names import FRAMEWORKS
from mcpcore_lint.patterns import regex

MANY: Final = 400
"""How many files are listed at most: an editor waits for the answer."""
_OF_TESTS: Final = regex(r"^(?:test_.*|.*_test|conftest)\.py$")
_SKIPPED: Final = frozenset({"__pycache__", "node_modules", "site-packages", "venv", "build", "dist", "tests", "test"})


class Project:
    """The files round the ones that are linted: finds and reads the module that an import means, on demand."""

    def __init__(
        self,
        root: str,
        *,
        source_roots: tuple[str, ...] = (),
        reads_whole: Callable[[str, bytes], bool] = lambda path, raw: False,  # noqa: ARG005
    ) -> None:
        """Know of a project; nothing is read yet.

        Args:
            root: Its folder.
            source_roots: Folders below it from which imports are looked for as well.
            reads_whole: Whether all of a file, given its path and content, will be asked for: then putting off the
                bodies of functions saves nothing.
        """
        self.root = os.path.abspath(root)
        self.source_roots = tuple(os.path.join(self.root, source_root) for source_root in source_roots)
        self._by_path: dict[str, Module | None] = {}
        self._listings: dict[str, set[str]] = {}
        self._edges: dict[str, tuple[set[str], set[str]]] = {}
        """For each file, the files that its imports led to, and the modules that they did not find."""
        self._requirements: dict[str, tuple[Requirements, list[str], list[str]]] = {}
        self._texts: dict[str, str] = {}
        """The texts of files that were searched before they were parsed, if ever."""
        self._given: dict[str, Source] = {}
        """Files held in memory, which replace those on disk."""
        self.reads_whole = reads_whole
        self.loaded_lines = 0
        self._all: dict[str, list[str]] = {}
        """The names of the Python files in each folder of the project, once something asks for all of them."""
        # The paths of those files and of the files held in memory, and those of them that are no tests, sorted.
        self._paths: set[str] = set()
        self._searched: list[str] = []
        self._matching: dict[Callable[[str], bool], list[str]] = {}
        """The files with a text that matches: the same search is made for many functions."""
        self._by_tree: dict[ast.AST, Module] = {}
        self._classes: dict[ast.ClassDef, ClassInfo] = {}
        self._classes_by_name: dict[str, ClassInfo] = {}
        self._sources: tuple[str, ...] | None = None
        self._classes_named = 0
        """How many of the classes are there by name too."""
        self._functions: dict[FunctionNode, Module] = {}

    # -- reading -------------------------------------------------------------------------------------------------

    def display_path(self, absolute: str) -> str:
        """A path as diagnostics show it: relative to the project where it lies inside."""
        if absolute == self.root or not absolute.startswith(self.root + os.sep):
            return absolute.replace(os.sep, "/")
        return absolute[len(self.root) + 1 :].replace(os.sep, "/")

    def give(self, absolute: str, source: Source) -> None:
        """Hold a file in memory, as an editor does; it replaces the file on disk, and is parsed when it is needed."""
        absolute = os.path.abspath(absolute)
        self._given[absolute] = source
        self._by_path.pop(absolute, None)
        # The listings and the list of all files include the files in memory.
        self._listings.clear()
        self._all.clear()

    def add(self, absolute: str, source: Source, *, whole: bool = True, tree: ast.Module | None = None) -> Module:
        """Parse a file and make it known; where not `whole`, most bodies of functions only when asked for.

        `tree` is its syntax, if that is known.

        Raises:
            SourceError: If it is not valid Python.
        """
        self._by_path[absolute] = None
        name, is_package = self.module_name(absolute)
        module = Module(self, source, name, absolute, is_package=is_package, whole=whole, tree=tree)
        # An outline takes a part of the memory that the whole takes.
        self.loaded_lines += len(source.line_starts) // (1 if whole else 4)
        self._by_path[absolute] = module
        self._by_tree[module.tree] = module
        self.note(module, module.functions, module.classes.values())
        return module

    def note(self, module: Module, functions: Iterable[FunctionNode], classes: Iterable[ClassInfo]) -> None:
        """Make functions and classes of a module known."""
        self._functions.update(dict.fromkeys(functions, module))
        self._classes.update({kind.node: kind for kind in classes})

    def read(self, absolute: str) -> Module:
        """Read and parse a file.

        Raises:
            SourceError: If it is not valid Python.
            OSError: If it cannot be read.
        """
        module = self._by_path.get(absolute)
        if module is not None:
            return module
        if absolute in self._given:
            return self.add(absolute, self._given[absolute])
        with open(absolute, "rb") as file:
            raw = file.read()
        whole = self.reads_whole(absolute, raw)
        return self.add(absolute, Source.from_bytes(self.display_path(absolute), raw), whole=whole)

    def module_of_bytes(self, absolute: str, raw: bytes, tree: ast.Module | None = None) -> Module:
        """The module of a file whose content was read already, and maybe parsed.

        Raises:
            SourceError: If it is not valid Python.
        """
        module = self._by_path.get(absolute)
        if module is None:
            source = self._given.get(absolute)
            return self.add(absolute, source or Source.from_bytes(self.display_path(absolute), raw), tree=tree)
        module.complete()
        return module

    def module_name(self, absolute: str) -> tuple[str, bool]:
        """The dotted name of a file, from the top of its package, and whether it is a package's `__init__`."""
        directory, filename = os.path.split(absolute)
        stem = filename.removesuffix(".py")
        is_package = stem == "__init__"
        parts = [] if is_package else [stem]
        inside = False
        while self._exists(directory, "__init__.py") and os.path.dirname(directory) != directory:
            inside = True
            directory, part = os.path.split(directory)
            parts.insert(0, part)
        if not inside:
            shown = self.display_path(absolute)
            parts = [part for part in os.path.splitext(shown)[0].split("/") if part]
            if parts and parts[0] == "src":
                parts = parts[1:]
        return ".".join(parts) or stem, is_package

    # -- finding -------------------------------------------------------------------------------------------------

    @cached_method
    def _roots_for(self, directory: str) -> tuple[str, ...]:
        """The folders that the imports of the files in a folder start from, nearest first."""
        top = directory
        roots = [*self.source_roots]
        while self._exists(top, "__init__.py"):
            parent = os.path.dirname(top)
            if parent == top:
                break
            if os.path.basename(top) == "src":
                # Imports start from it, although somebody made it a package.
                roots.append(top)
            top = parent
        while True:
            roots.append(top)
            if top == self.root or not top.startswith(self.root + os.sep):
                break
            top = os.path.dirname(top)
        # The root may hold an `__init__.py` without being a package that anybody imports.
        roots += [self.root, os.path.join(self.root, "src")]
        return tuple(dict.fromkeys(roots))

    def _exists(self, directory: str, name: str) -> bool:
        """Whether a folder holds a name; each folder is listed once."""
        return name in self._listed(directory)

    def _listed(self, directory: str) -> set[str]:
        names = self._listings.get(directory)
        if names is None:
            try:
                names = set(os.listdir(directory))
            except OSError:
                names = set()
            for path in self._given:
                head, tail = os.path.split(path)
                if head == directory:
                    names.add(tail)
                elif head.startswith(directory + os.sep):
                    names.add(head[len(directory) + 1 :].split(os.sep)[0])
            self._listings[directory] = names
        return names

    def _file_of(self, base: str, parts: list[str]) -> str | None:
        """The file of a dotted name below a folder."""
        current = base
        for index, part in enumerate(parts):
            last = index == len(parts) - 1
            if last and self._exists(current, part + ".py"):
                # As in Python, a package takes precedence over a module of its name.
                package = os.path.join(current, part)
                if self._exists(current, part) and self._exists(package, "__init__.py"):
                    return os.path.join(package, "__init__.py")
                return package + ".py"
            # A folder without `__init__.py` is a namespace package, so only a missing folder ends the search.
            if not self._exists(current, part):
                return None
            current = os.path.join(current, part)
        return os.path.join(current, "__init__.py") if self._exists(current, "__init__.py") else None

    def locate_from(self, absolute: str, name: str, level: int) -> str | None:
        """The file that an import means in a file, whether that file was read or not."""
        if not level and is_outside(name):
            return None
        path, consulted, missing = self._search(os.path.dirname(absolute), name, level)
        self._depends(absolute, consulted, missing)
        return path

    def _depends(self, absolute: str, consulted: Iterable[str], missing: Iterable[str]) -> None:
        """Note the files that a file's findings depend on, and the paths that were looked for and not found."""
        known_files, known_missing = self._edges.setdefault(absolute, (set(), set()))
        known_files.update(consulted)
        known_missing.update(missing)

    @cached_method
    def _search(self, directory: str, name: str, level: int) -> tuple[str | None, tuple[str, ...], tuple[str, ...]]:
        """What an import means in a folder, the files that decide it, and the paths that were not found."""
        parts = name.split(".") if name else []
        if level:
            base = directory
            for _ in range(level - 1):
                base = os.path.dirname(base)
            path = self._file_of(base, parts)
            return path, (path,) if path is not None else (), (self._preferred(base, parts),)
        missing: list[str] = []
        for root in (*self._roots_for(directory), *self._packages()):
            path = self._file_of(root, parts)
            missing.append(self._preferred(root, parts))
            if path is not None:
                return path, (path,), tuple(missing)
        sibling = self._file_of(directory, parts)
        missing.append(self._preferred(directory, parts))
        if sibling is None:
            return None, (), tuple(missing)
        consulted = [os.path.join(directory, file) for file in sorted(self._listed(directory)) if file.endswith(".py")]
        program = sibling if self._is_program(consulted, sibling, parts[0]) else None
        return program, (*consulted, sibling), tuple(missing)

    def _is_program(self, files: list[str], sibling: str, name: str) -> bool:
        """Whether the files of a package import each other by bare names, as a script that is run in its folder does.

        In a package, `import redis` means another package, also beside a `redis.py`.
        """
        texts = {path: self.text_of(path) for path in files}
        package = os.path.basename(os.path.dirname(files[0]))
        imports = rf"^[ \t]*(?:from|import)[ \t]+(?:\.|{re.escape(package)}\b)"
        imports_itself = rf"^[ \t]*(?:from|import)[ \t]+{re.escape(name)}\b"
        return (
            any("__main__" in text for text in texts.values())
            and not any(re.search(imports, text, re.MULTILINE) for text in texts.values())
            and not re.search(imports_itself, texts.get(sibling, ""), re.MULTILINE)
        )

    def _preferred(self, base: str, parts: list[str]) -> str:
        """The path below a folder that an import would mean if it existed: of a missing part, or of a package."""
        current = base
        for part in parts:
            if not self._exists(current, part):
                is_module = self._exists(current, part + ".py")
                return os.path.join(current, part, "__init__") if is_module else os.path.join(current, part)
            current = os.path.join(current, part)
        return os.path.join(current, "__init__")

    def _packages(self) -> tuple[str, ...]:
        """The source folders of the packages that one repository holds, such as `packages/core/src`."""
        if self._sources is None:
            top = sorted(self._listed(self.root) - _SKIPPED)
            inner = [os.path.join(self.root, name) for name in top if not name.startswith(".") and "." not in name[1:]]
            inner += [os.path.join(folder, name) for folder in inner for name in sorted(self._listed(folder))]
            folders = [folder for folder in inner if self._exists(folder, "pyproject.toml")]
            self._sources = tuple(source for folder in folders for source in (folder, os.path.join(folder, "src")))
        return self._sources

    def requirements(self, module: Module) -> Requirements:
        """What the project that a file belongs to depends on; the findings of the file then depend on it too."""
        directory = os.path.dirname(module.absolute)
        known = self._requirements.get(directory)
        if known is None:
            known = self._requirements[directory] = nearest(directory, self.root, self._exists)
        requirements, files, missing = known
        self._depends(module.absolute, files, missing)
        return requirements

    def packages_required(self, module: Module) -> frozenset[str]:
        """The packages that every installation of the project of a file has, as far as names show them."""
        self.requirements(module)
        files = self._requirements[os.path.dirname(module.absolute)][1]
        return module.once("packages required", lambda: packages_required(files))

    def dependencies(self, absolute: str) -> tuple[set[str], set[str]]:
        """The other files that a file's findings depend on, and the modules that were looked for and not found."""
        seen: set[str] = {absolute}
        missing: set[str] = set()
        queue = [absolute]
        while queue:
            edges = self._edges.get(queue.pop())
            if edges is not None:
                missing |= edges[1]
                queue += edges[0] - seen
                seen |= edges[0]
        seen.discard(absolute)
        return seen, missing

    def text_of(self, absolute: str) -> str:
        """The text of a file. A file that was not parsed is decoded as Latin-1, which is enough to search for ASCII."""
        module = self._by_path.get(absolute)
        if module is not None:
            return module.source.text
        if absolute in self._given:
            return self._given[absolute].text
        text = self._texts.get(absolute)
        if text is None:
            try:
                with open(absolute, "rb", buffering=0) as file:
                    text = file.read().decode("latin-1")
            except OSError:
                text = ""
            # A file is read again in less time than it is worth in memory.
            if len(self._texts) < MANY:
                self._texts[absolute] = text
        return text

    def forget(self) -> None:
        """Drop the syntax of everything read; what imports mean stays known."""
        for module in self._by_path.values():
            if module is not None:
                module.clear()
        self._by_path.clear()
        self._by_tree.clear()
        self._classes.clear()
        self._classes_by_name.clear()
        self._classes_named = 0
        self._functions.clear()
        self.loaded_lines = 0

    @cached_method
    def absolute(self, shown: str) -> str:
        """The absolute path of a path as shown."""
        return os.path.normpath(os.path.join(self.root, shown))

    def depends_on_packages(self, absolute: str) -> None:
        """Note that the name of a file, and where its imports start from, depend on the packages that it is in."""
        directory = os.path.dirname(absolute)
        while self._exists(directory, "__init__.py") and os.path.dirname(directory) != directory:
            self._depends(absolute, (os.path.join(directory, "__init__.py"),), ())
            directory = os.path.dirname(directory)
        self._depends(absolute, (), (os.path.join(directory, "__init__"),))

    def module_of(self, importer: Module, name: str, level: int = 0) -> Module | None:
        """The module of the project that an import means; None where it is not the project's or cannot be read."""
        path = self.locate_from(importer.absolute, name, level)
        return None if path is None else self._readable(path)

    def _readable(self, path: str) -> Module | None:
        if path not in self._by_path:
            try:
                self.read(path)
            except (SourceError, OSError):
                self._by_path[path] = None
        return self._by_path[path]

    def module_by_name(self, name: str, tree: ast.AST) -> Module | None:
        """The module of a tree that was read before."""
        module = self._by_tree.get(tree)
        return module if module is not None and module.name == name else None

    def class_info(self, node: ast.ClassDef) -> ClassInfo | None:
        """What is known of a class of the project, whichever file it is in."""
        return self._classes.get(node)

    def classes(self) -> Iterable[ClassInfo]:
        """The classes that were read before."""
        return self._classes.values()

    def class_named(self, name: str) -> ClassInfo | None:
        """A class that was read before, by its qualified name."""
        known = self._classes_by_name
        if len(self._classes) > self._classes_named:
            # The table only grows until it is dropped, so only its end is new.
            for info in islice(self._classes.values(), self._classes_named, None):
                known.setdefault(f"{info.module.name}.{info.qualname}", info)
            self._classes_named = len(self._classes)
        return known.get(name)

    def modules_with(self, of: Module, matches: Callable[[str], bool]) -> list[Module] | None:
        """The modules of the project with a text that matches, without tests; None if the project has too many files.

        The findings of the files that consult a module then depend on all files of the project.
        """
        paths = self._paths_with(of, matches)
        modules = (self._readable(path) for path in paths or ())
        return None if paths is None else [module for module in modules if module is not None]

    def has_text(self, of: Module, matches: Callable[[str], bool]) -> bool:
        """Whether a file of the project, without tests, has a text that matches; true if it has too many files."""
        return self._paths_with(of, matches) != []

    def _paths_with(self, of: Module, matches: Callable[[str], bool]) -> list[str] | None:
        """The files of the project with a text that matches, without tests; None if the project has too many files."""
        if not self._all:
            top = package = os.path.dirname(of.absolute)
            while self._exists(package, "__init__.py") and os.path.dirname(package) != package:
                top, package = package, os.path.dirname(package)
            # Without a pyproject.toml the root is the folder of a file, and its package may start above.
            for folder, folders, names in os.walk(top if self.root.startswith(top + os.sep) else self.root):
                folders[:] = [name for name in folders if name not in _SKIPPED and not name.startswith(".")]
                self._all[os.path.join(folder, "")] = [name for name in names if name.endswith(".py")]
                if sum(map(len, self._all.values())) > MANY or len(self._all) > MANY:
                    break
            self._paths = {folder + name for folder, names in self._all.items() for name in names} | self._given.keys()
            self._searched = sorted(path for path in self._paths if not _OF_TESTS.search(os.path.basename(path)))
            self._matching.clear()
        if len(self._paths) > MANY or len(self._all) > MANY:
            return None
        self._depends(of.absolute, self._paths, self._all)
        if matches not in self._matching:
            self._matching[matches] = [path for path in self._searched if matches(self.text_of(path))]
        return self._matching[matches]

    def module_defining(self, node: FunctionNode) -> Module | None:
        """The module that a function is in."""
        return self._functions.get(node)

    def module_at(self, shown: str) -> Module | None:
        """The module of a path as diagnostics show it; None where it cannot be read."""
        return self._readable(self.absolute(shown))

    def class_at(self, place: str) -> ClassInfo | None:
        """The class that starts at `path:line:column`."""
        path, line, column = place.rsplit(":", 2)
        module = self.module_at(path)
        return module.class_at(int(line), int(column)) if module is not None else None


def is_outside(name: str) -> bool:
    """Whether an absolute import names no file, or a framework or the standard library and so no file of a project."""
    top = name.partition(".")[0]
    return not top or top in FRAMEWORKS or top in sys.stdlib_module_names


def nearby(absolute: str, root: str) -> Iterator[str]:
    """The Python files of the folder of a file and of the folders above, then all of its package."""
    seen = {absolute}
    folder, top = os.path.dirname(absolute), ""

    def others(folder: str, names: list[str]) -> list[str]:
        paths = (os.path.join(folder, name) for name in sorted(names) if name.endswith(".py"))
        unseen = [path for path in paths if path not in seen]
        seen.update(unseen)
        return unseen

    while True:
        # Nothing for a folder that cannot be read.
        yield from others(folder, next(os.walk(folder), ("", [], []))[2])
        package = os.path.isfile(os.path.join(folder, "__init__.py"))
        if package:
            top = folder
        above = os.path.dirname(folder)
        # Without a pyproject.toml the root is the folder of the file, and its package may start above.
        inside = folder != root and folder.startswith(root)
        if not (package or inside) or above == folder or len(seen) > MANY:
            break
        folder = above
    for inner, folders, names in os.walk(top) if top else ():
        folders[:] = sorted(parent for parent in folders if parent not in _SKIPPED and not parent.startswith("."))
        yield from others(inner, names)
        if len(seen) > MANY:
            return
