"""The methods that run without being called by name: of operators, items, loops, tests, texts and attributes."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Final

from mcpcore_lint.flow.effects import key_of
from mcpcore_lint.flow.facts.except_clauses import GuardReader
from mcpcore_lint.flow.facts.spelling import is_abstract, made_of_method
from mcpcore_lint.semantics.evaluate import PLAIN_BUILTINS
from mcpcore_lint.semantics.type_model import Instance, Outside, ancestry, is_property, method_of, outside_bases
from mcpcore_lint.syntax.parse import children

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcpcore_lint.flow.effects import Key
    from mcpcore_lint.semantics.type_model import Kind
    from mcpcore_lint.syntax.module import ClassInfo
    from mcpcore_lint.syntax.scopes import Binding, Scope

_BINARY: Final[dict[type[ast.operator], str]] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.MatMult: "matmul", ast.Div: "truediv", ast.Mod: "mod",
    ast.Pow: "pow", ast.LShift: "lshift", ast.RShift: "rshift", ast.BitOr: "or", ast.BitXor: "xor",
    ast.BitAnd: "and", ast.FloorDiv: "floordiv",
}  # fmt: skip
_UNARY: Final[dict[type[ast.unaryop], str]] = {ast.USub: "__neg__", ast.UAdd: "__pos__", ast.Invert: "__invert__"}
_COMPARED: Final[dict[type[ast.cmpop], tuple[str, ...]]] = {
    ast.Eq: ("__eq__",), ast.NotEq: ("__ne__", "__eq__"), ast.Lt: ("__lt__",), ast.LtE: ("__le__",),
    ast.Gt: ("__gt__",), ast.GtE: ("__ge__",),
}  # fmt: skip
_MIRRORED: Final[dict[type[ast.cmpop], str]] = {
    ast.Eq: "__eq__", ast.Lt: "__gt__", ast.LtE: "__ge__", ast.Gt: "__lt__", ast.GtE: "__le__",
}  # fmt: skip
_ITEMS: Final[dict[type[ast.expr_context], str]] = {
    ast.Load: "__getitem__", ast.Store: "__setitem__", ast.Del: "__delitem__",
}  # fmt: skip
_TEXTS: Final[dict[int, tuple[str, ...]]] = {
    ord("r"): ("__repr__",), ord("a"): ("__repr__",), ord("s"): ("__str__", "__repr__"),
    -1: ("__format__", "__str__", "__repr__"),
}  # fmt: skip
_TRUTH: Final = ("__bool__", "__len__")
_LOOP: Final = (("__iter__", "__next__"), ("__aiter__", "__anext__"))
_ITERATES: Final = frozenset(
    {"iter", "list", "tuple", "set", "frozenset", "dict", "sorted", "sum", "min", "max", "any", "all", "enumerate",
     "zip", "map", "filter", "reversed"}
)  # fmt: skip
BUILTINS: Final[dict[str, tuple[str, ...]]] = {
    "len": ("__len__",), "str": ("__str__", "__repr__"), "print": ("__str__", "__repr__"), "repr": ("__repr__",),
    "ascii": ("__repr__",), "hash": ("__hash__",), "bool": _TRUTH, "int": ("__int__", "__index__"),
    "float": ("__float__",), "bytes": ("__bytes__",), "abs": ("__abs__",), "round": ("__round__",),
    "format": ("__format__", "__str__"), "next": ("__next__",), "aiter": ("__aiter__",), "anext": ("__anext__",),
    "dir": ("__dir__",), "divmod": ("__divmod__",), "pow": ("__pow__",), **dict.fromkeys(_ITERATES, ("__iter__",)),
}  # fmt: skip
"""Builtins to the methods of their arguments that they run: the first that there is."""
_PASSES: Final = frozenset({ast.Attribute, ast.Subscript, ast.Await, ast.Starred})
_RUN_BY: Final[dict[type[ast.AST], str]] = {
    ast.Subscript: "_item", ast.BinOp: "_binary", ast.UnaryOp: "_unary", ast.Compare: "_compared",
    ast.AugAssign: "_augmented", ast.FormattedValue: "_formatted", ast.For: "_loop", ast.AsyncFor: "_loop",
    ast.comprehension: "_loop", ast.If: "_tested", ast.While: "_tested", ast.IfExp: "_tested",
    ast.BoolOp: "_either", ast.Await: "_awaited", ast.YieldFrom: "_delegated",
}  # fmt: skip
"""Kind of node to the method that tells what it runs."""


_PLAIN_TYPES: Final = frozenset(
    {"str", "int", "float", "bool", "bytes", "dict", "list", "tuple", "set", "Any", "object"}
)
_PLAIN_HEADS: Final = _PLAIN_TYPES | {"Optional", "Sequence", "Iterable", "Mapping", "frozenset", "Union"}
_CONTAINERS: Final = frozenset({ast.List, ast.Dict, ast.Tuple, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp})
_CHOICES: Final = frozenset({ast.IfExp, ast.BoolOp, ast.GeneratorExp})
MAX_DEEP: Final = 6
"""How many expressions deep it is looked whether something of the project is in one."""


_NOTHING: Final[tuple[Sequence[Kind], bool]] = ((), False)
"""What is known of a name that nothing of the project begins with."""
_OF_BUILTINS: Final[dict[str, tuple[Sequence[Kind], bool]]] = dict.fromkeys(PLAIN_BUILTINS - {"super"}, _NOTHING)
_OPERANDS: Final[dict[type[ast.AST], tuple[str, ...]]] = {
    ast.Subscript: ("value",), ast.FormattedValue: ("value",), ast.Await: ("value",), ast.YieldFrom: ("value",),
    ast.UnaryOp: ("operand",), ast.For: ("iter",), ast.AsyncFor: ("iter",), ast.comprehension: ("iter",),
    ast.If: ("test",), ast.While: ("test",), ast.IfExp: ("test",), ast.AugAssign: ("target",),
    ast.BinOp: ("left", "right"), ast.Compare: ("left", "comparators"), ast.BoolOp: ("values",),
}  # fmt: skip
"""Where the expressions stand that decide whether anything is run."""


class ImplicitReader(GuardReader):
    """Finds the methods that are run by what is written, without their names."""

    def _begin(self) -> None:
        super()._begin()
        self.followed: set[ast.expr] = set()
        """The calls that lead to something of the project."""
        self._roots: dict[str, tuple[Sequence[Kind], bool]] = {}
        """What the names here may be, and whether what begins with them can be something of the project."""
        if not self.module.star_imports:
            self._roots = _OF_BUILTINS.copy()
            for name in () if self.builtins is PLAIN_BUILTINS else PLAIN_BUILTINS - self.builtins:
                self._roots.pop(name, None)

    def implicit(self) -> Iterator[tuple[ast.AST, list[Key]]]:
        """Where such methods are run, and which."""
        nested, plain = self.builder.function_of, self._is_plain
        for node in self.builder.implicit:
            if node in nested:
                continue
            kind = type(node)
            for name in _OPERANDS[kind]:
                operand = getattr(node, name)
                if not (all(map(plain, operand)) if type(operand) is list else plain(operand)):
                    keys: list[Key] = getattr(self, _RUN_BY[kind])(node)
                    if keys:
                        yield node, keys
                    break
        for check in self.builder.asserts:
            if check not in nested and (keys := self._dunder(check.test, _TRUTH)):
                yield check, keys

    def of_builtin(self, node: ast.Call, name: str) -> list[Key]:
        """The methods that a builtin runs of what it is given."""
        methods = BUILTINS.get(name)
        if methods is None:
            return []
        keys: list[Key] = []
        for each in node.args:
            if not self._is_plain(each):
                keys.extend(self._looped(each) if name in _ITERATES else self._dunder(each, methods))
        return keys

    def _is_plain(self, node: ast.expr) -> bool:
        """Whether an expression is known to be no object of the project, as hardly any is: cheaper than `_objects`."""
        if type(node) is ast.Name:
            name = node.id
        elif (root := _root_of(node)) is not None:
            name = root.id
        else:
            return True
        return self._roots.get(name) is _NOTHING and name not in self._asked_about

    def _item(self, node: ast.Subscript) -> list[Key]:
        return self._dunder(node.value, (_ITEMS[type(node.ctx)],))

    def _formatted(self, node: ast.FormattedValue) -> list[Key]:
        return self._dunder(node.value, _TEXTS[node.conversion])

    def _tested(self, node: ast.If | ast.While | ast.IfExp) -> list[Key]:
        return self._dunder(node.test, _TRUTH)

    def _either(self, node: ast.BoolOp) -> list[Key]:
        return [key for each in node.values for key in self._dunder(each, _TRUTH)]

    def _unary(self, node: ast.UnaryOp) -> list[Key]:
        kind = type(node.op)
        return self._dunder(node.operand, _TRUTH if kind is ast.Not else (_UNARY[kind],))

    def _loop(self, node: ast.For | ast.AsyncFor | ast.comprehension) -> list[Key]:
        return self._looped(node.iter)

    def _awaited(self, node: ast.Await) -> list[Key]:
        call = node.value
        if isinstance(call, ast.Call) and call in self.followed:
            # A coroutine has no method of the project to be awaited by; what it comes to may have one.
            targets, outside = self._targets(call)
            if targets and not outside and all(map(self._is_coroutine, targets)):
                return []
        return self._dunder(node.value, ("__await__",))

    def _is_coroutine(self, key: Key) -> bool:
        """Whether calling a function makes a coroutine, whatever is done with it."""
        located = self.graph._find(key)  # noqa: SLF001
        return located is not None and type(located[0]) is ast.AsyncFunctionDef and not located[0].decorator_list

    def _delegated(self, node: ast.YieldFrom) -> list[Key]:
        return self._looped(node.value)

    def _binary(self, node: ast.BinOp) -> list[Key]:
        word = _BINARY[type(node.op)]
        return self._dunder(node.left, (f"__{word}__",)) or self._dunder(node.right, (f"__r{word}__",))

    def _augmented(self, node: ast.AugAssign) -> list[Key]:
        word = _BINARY[type(node.op)]
        target = node.target
        keys = self._dunder(target, (f"__i{word}__", f"__{word}__"))
        if isinstance(target, ast.Subscript):
            keys.extend(self._dunder(target.value, ("__getitem__",)))
        return keys

    def _compared(self, node: ast.Compare) -> list[Key]:
        keys: list[Key] = []
        left = node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            kind = type(operator)
            if kind is ast.In or kind is ast.NotIn:
                keys.extend(self._dunder(right, ("__contains__",)) or self._looped(right))
            elif kind in _COMPARED:
                keys.extend(
                    self._dunder(left, _COMPARED[kind])
                    or (self._dunder(right, (_MIRRORED[kind],)) if kind in _MIRRORED else [])
                )
            left = right
        return keys

    def _objects(self, node: ast.expr) -> Sequence[Kind]:
        """What an expression may be, where it begins with something of the project; most do not."""
        root = _root_of(node)
        if root is None:
            return ()
        name = root.id
        known = self._roots.get(name)
        if known is None:
            known = self._root(name, root)
            self._roots[name] = known
        if root is node and name not in self._asked_about:
            return known[0]
        return self.kinds(node) if known[1] or name in self._asked_about else ()

    def _root(self, name: str, node: ast.expr) -> tuple[Sequence[Kind], bool]:
        """What a name may be, and whether what begins with it can be something of the project."""
        found = self.scope.lookup(name)
        if found is None and not self.module.star_imports:
            return ((), True) if name == "super" else _NOTHING
        if found is not None:
            self._roots[name] = _NOTHING  # what it is made of may lead back to it
            for each in found[1]:
                if self._may_be_own(each, found[0]):
                    break
            else:
                return _NOTHING
        kinds = self.inference.of(node, self.scope)
        if kinds and not all(type(each) is Outside for each in kinds):
            return kinds, True
        if found is None or any(each.kind == "import" or _may_hold(each) for each in found[1]):
            return (), True
        return _NOTHING

    def _may_be_own(self, binding: Binding, where: Scope) -> bool:
        """Whether a name can be something of the project by one of its bindings: cheaper than what it is."""
        if binding.annotation is not None:
            return not _says_plain(binding.annotation)
        if binding.kind == "parameter":
            return bool(self.given) or where.owner is not None
        if binding.kind == "augmented":
            return False  # it is what it was before
        if where is not self.scope or binding.kind in {"import", "class", "function"}:
            return True
        node = binding.node
        if isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            return self._leads_to_own(node.iter)
        value = node.value if isinstance(node, ast.Assign) else binding.value
        return value is not None and self._leads_to_own(value)

    def _leads_to_own(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether what an expression gives can be something of the project."""
        kind = type(node)
        if kind is ast.Constant or kind is ast.JoinedStr or kind is ast.Compare:
            return False
        if depth > MAX_DEEP or node in self.followed:
            return True
        below: list[ast.AST] = []
        if isinstance(node, ast.Call):
            func = node.func
            below += node.args
            below += [each.value for each in node.keywords]
            if type(func) is ast.Attribute:
                below.append(func.value)
            elif type(func) is ast.Name and func.id not in self.builtins and self.scope.lookup(func.id) is not None:
                below.append(func)
        elif kind in _CONTAINERS or kind in _CHOICES:
            below = children(node)
        elif kind in _PASSES or kind is ast.NamedExpr:
            below = [node.value]  # type: ignore[attr-defined]
        elif isinstance(node, ast.Name):
            if node.id not in self._roots:
                self._roots[node.id] = self._root(node.id, node)
            return self._roots[node.id][1]
        for each in below:  # noqa: SIM110 - written out, since most names come by here
            if isinstance(each, ast.expr) and self._leads_to_own(each, depth + 1):
                return True
        return False

    def _dunder(self, node: ast.expr, names: tuple[str, ...]) -> list[Key]:
        """The first of some methods that an object of the project has."""
        keys: list[Key] = []
        for kind in self._objects(node):
            if type(kind) is Instance:
                for name in names:
                    found = self.methods(kind, name)
                    if found is not None:
                        keys.extend(found)
                        break
        return keys

    def _looped(self, node: ast.expr) -> list[Key]:
        """What a loop over an object of the project runs."""
        keys: list[Key] = []
        for kind in self._objects(node):
            if type(kind) is not Instance:
                continue
            for first, second in _LOOP:
                found = self.methods(kind, first)
                if found is None:
                    continue
                keys.extend(found)
                for iterator in self.inference.result(kind, first):
                    if isinstance(iterator, Instance):
                        keys.extend(self.methods(iterator, second) or ())
                break
            else:
                keys.extend(self.methods(kind, "__getitem__") or ())
        return keys

    # -- attributes ----------------------------------------------------------------------------------------------

    def accessed(self, node: ast.Attribute) -> list[Key]:
        """What reading, setting or deleting an attribute runs: properties, descriptors, `__getattr__`."""
        parent = self.parents.get(node)
        called = isinstance(parent, ast.Call) and parent.func is node
        reads = type(node.ctx) is ast.Load or (isinstance(parent, ast.AugAssign) and parent.target is node)
        keys: list[Key] = []
        for kind in self._objects(node.value):
            if type(kind) is not Instance:
                continue
            if reads:
                keys.extend(self._reading(kind, node.attr, called=called))
            if type(node.ctx) is not ast.Load:
                keys.extend(self._writing(kind, node.attr, deletes=type(node.ctx) is ast.Del))
        return keys

    def _reading(self, kind: Instance, name: str, *, called: bool) -> list[Key]:
        found = method_of(kind.info, name)
        if found is not None:
            return (self.methods(kind, name) or []) if is_property(found[0]) and not called else []
        for each in ancestry(kind.info):
            if each.instance_attributes.get(name):
                return []
            bindings = each.attributes.get(name)
            if bindings:
                made = made_of_method(bindings[-1], each, "property")
                if made is not None:
                    return [key_of(made, each.module, kind.info, given=kind.given)]
                return self._described(bindings[-1].value, each, "__get__")
        if name.startswith("__") or outside_bases(kind.info):
            return []
        return self.methods(kind, "__getattr__") or []

    def _writing(self, kind: Instance, name: str, *, deletes: bool) -> list[Key]:
        word = "deleter" if deletes else "setter"
        for each in ancestry(kind.info):
            accessor = each.accessors.get((name, word))
            if accessor is not None:
                return [key_of(accessor, each.module, kind.info, given=kind.given)]
            bindings = each.attributes.get(name)
            if bindings:
                return self._described(bindings[-1].value, each, "__delete__" if deletes else "__set__")
        found = method_of(kind.info, "__delattr__" if deletes else "__setattr__")
        if found is None or is_abstract(*found):
            return []
        return [key_of(found[0], found[1].module, kind.info, given=kind.given)]

    def _described(self, value: ast.expr | None, owner: ClassInfo, name: str) -> list[Key]:
        """The method of a descriptor that stands in a class."""
        if not isinstance(value, ast.Call):
            return []
        keys: list[Key] = []
        for kind in self.inference.of(value, owner.body_scope):
            if isinstance(kind, Instance):
                keys.extend(self.methods(kind, name) or ())
        return keys


def _root_of(node: ast.expr) -> ast.Name | None:
    """The name that a chain of attributes, items and calls begins with; None where it begins with anything else."""
    root: Any = node
    while (kind := type(root)) is not ast.Name:
        if kind is ast.Call:
            root = root.func
        elif kind in _PASSES:
            root = root.value
        else:
            return None
    found: ast.Name = root
    return found


def _says_plain(annotation: ast.expr) -> bool:
    """Whether an annotation plainly names nothing of the project: cheaper than finding out what it names."""
    kind = type(annotation)
    if kind is ast.Name:
        return annotation.id in _PLAIN_TYPES  # type: ignore[attr-defined]
    if kind is ast.Constant:
        return annotation.value is None  # type: ignore[attr-defined]
    if isinstance(annotation, ast.Subscript) and type(annotation.value) is ast.Name:
        head = annotation.value.id
        inner = annotation.slice
        if type(inner) is not ast.Tuple:
            return head == "Literal" or (head in _PLAIN_HEADS and _says_plain(inner))
        if head == "Annotated":
            return bool(inner.elts) and _says_plain(inner.elts[0])
        return head == "Literal" or (head in _PLAIN_HEADS and all(map(_says_plain, inner.elts)))
    if isinstance(annotation, ast.BinOp):
        return _says_plain(annotation.left) and _says_plain(annotation.right)
    return False


def _may_hold(binding: Binding) -> bool:
    """Whether something of the project may be inside what a name is bound to."""
    if binding.annotation is not None:
        return type(binding.annotation) is ast.Subscript
    return type(binding.value) in _CONTAINERS
