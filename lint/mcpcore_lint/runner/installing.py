"""Lists of dependencies, images and workflows follow `mcpcore migrate`, and so do the documents about them."""

from __future__ import annotations

import os
from itertools import chain
from typing import TYPE_CHECKING, Final

from mcpcore_lint.codemods.edits import apply
from mcpcore_lint.migrate import requirements
from mcpcore_lint.migrate.documents import DOCUMENT, is_about_past, plan_document, without_earlier
from mcpcore_lint.paths import below, is_below, upwards
from mcpcore_lint.records import in_test_file
from mcpcore_lint.runner.files import content_of
from mcpcore_lint.runner.groups import beside, listing, others

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpcore_lint.runner.groups import Group
    from mcpcore_lint.runner.migrate import Run

_WORKFLOW: Final = ("yml", "yaml")


def plans(run: Run, group: Group, files: Mapping[str, bytes]) -> Iterator[tuple[str, str, requirements.Requirements]]:
    """The files of one project that need something, or have lines, each with its text.

    Args:
        run: The run, which makes the edits of a file before the next one is planned.
        group: The project.
        files: Those of its files that concern the run.
    """
    sources = [path for path in files if not in_test_file(run.shown(path))]
    lists = listing(group, sources)
    code = {path: content_of(path) or b"" for path in group.walk.files if not in_test_file(run.shown(path))}
    brought = {at: requirements.imported(raw, run.contents.get(at, raw)) for at, raw in code.items()}
    installing = [path for path in sources if requirements.INSTALLS.search(run.raw[path]) and path not in lists]
    run.raw.update({path: content_of(path) or b"" for path in lists if path not in run.raw})
    named = {path: run.raw[path] for path in [*lists, *installing]}
    mains, is_idle = requirements.listed(named, files.values(), beside(group.config.root, lists))
    least: dict[str, int] = {}
    before: dict[str, int] = {}
    pins: dict[str, dict[str, str]] = {}
    raised: set[str] = set()
    # A workflow follows the lists.
    for path in sorted([*lists, *installing], key=lambda path: path.endswith(_WORKFLOW)):
        folder = os.path.dirname(path)
        if path in installing or path.endswith(_WORKFLOW) or os.path.basename(folder) == "requirements":
            folder = group.config.root
        alone = path in installing and requirements.HEAD in run.raw[path]
        own = {at for at in brought if (at == path if alone else is_below(at, folder))}
        # An environment that stays needs nothing else.
        inside = [at for at in sources if at in own and run.homes[path] not in run.kept]
        needs = requirements.needs_of(
            [run.contents.get(at, run.raw[at]) for at in inside],
            frozenset().union(*map(brought.__getitem__, own)),
            is_changed=not run.contents.keys().isdisjoint(inside),
        )
        text, writable = _text(run, path)
        follows = path.endswith(_WORKFLOW) and writable and folder in raised
        edits = without_earlier(text, least[folder]) if follows else []
        plan = requirements.plan_requirements(
            run.shown(path), apply(text, edits), needs, mains=[*map(run.shown, mains)], is_idle=is_idle,
            writable=writable,
        )  # fmt: skip
        plan = plan._replace(edits=(*plan.edits, *edits))
        if requirements.python_of(text) < plan.python <= requirements.python_of(apply(text, plan.edits)):
            raised.add(folder)
        least[folder] = max(plan.python, least.get(folder, 0))
        before[folder] = max(requirements.python_of(text), before.get(folder, 0))
        pins.setdefault(folder, {}).update(requirements.replaced(path, text, plan))
        yield path, text, plan
    replaced = dict(chain.from_iterable(pin.items() for pin in pins.values()))
    for path in group.walk.files.keys() - code.keys() if replaced else ():
        text = (content_of(path) or b"").decode("utf-8", "replace")
        plan = requirements.tests_of(run.shown(path), text, replaced)
        if plan.left:
            run.raw.setdefault(path, text.encode())
            yield path, text, plan
    # The documents of a project below this one, which the run does not change, stay.
    homes = {*filter(before.get, before), *filter(least.get, least), *filter(pins.get, pins), *group.walk.configured}
    for path in others(group, DOCUMENT) if any(least.values()) or replaced else ():
        home = next(filter(homes.__contains__, upwards(os.path.dirname(path))), "")
        changed = pins.get(home, {})
        needed = {name: requirements.LEAST[name] for name in map(requirements.package, changed)}
        needed |= {"Python": f"3.{least[home]}"} if before.get(home, 0) < least.get(home, 0) else {}
        if needed and not is_about_past(below(path, group.config.root)):
            text, writable = _text(run, path)
            yield path, text, plan_document(run.shown(path), text, before.get(home), needed, changed, writable=writable)


def _text(run: Run, path: str) -> tuple[str, bool]:
    """The text of a file, and whether the run may change it."""
    real = os.path.realpath(path)
    raw = run.raw[path] = run.raw.get(path) or content_of(path) or b""
    text = raw.decode("utf-8", "replace")
    is_named = any(real == top or is_below(real, top) for top in run.named)
    return text, text.encode() == raw and path not in run.contents and is_named
