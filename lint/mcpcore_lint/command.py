"""The command `mcpcore lint`. It imports what a run needs only when it runs."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING, Any, Final, TextIO

from mcpcore_lint.options import checked
from mcpcore_lint.output import CannotRunError, escaped, note, progress, say, say_patch, say_source
from mcpcore_lint.paths import is_below, upwards
from mcpcore_lint.patterns import hint
from mcpcore_lint.runner import memo

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpcore_lint.diagnostics import Diagnostic
    from mcpcore_lint.runner.baseline import Baseline, Entry
    from mcpcore_lint.runner.changed import Change
    from mcpcore_lint.runner.groups import Group
    from mcpcore_lint.runner.patch import FixedFile
    from mcpcore_lint.runner.results import Result
    from mcpcore_lint.settings import Settings

_FOR_PEOPLE: Final = frozenset({"full", "concise"})
_WITH_EDITS: Final = frozenset({"json", "sarif"})


def run(paths: tuple[str, ...], options: dict[str, Any]) -> int:
    """Run the command for files and folders, with the value of each option by its key; return its exit code."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # the parent process closed it
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - open until the process ends
    try:
        return _Command(paths or (".",), options).run()
    except CannotRunError as problem:
        return problem.report()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return 1
    except Exception as error:  # noqa: BLE001 - a bug in the linter or in a custom rule, which is reported
        if os.environ.get("MCPCORE_TRACEBACK"):
            import traceback

            note(*traceback.format_exc().splitlines())
        if type(error).__name__ == "RuleError":
            return CannotRunError(str(error)).report()
        return CannotRunError(
            f"stopped by {type(error).__name__}: {' '.join(str(error).split())[:300]}",
            "This is a bug in the linter; set MCPCORE_TRACEBACK=1 to see where, and report it.",
        ).report()


class _Command:
    """One invocation."""

    def __init__(self, paths: tuple[str, ...], options: dict[str, Any]) -> None:
        self.paths = paths
        self.options = checked(paths, options)
        self.baseline: Baseline | None = None
        self.held = 0
        """The number of findings that the baseline holds."""
        self._printed: str | None = ""
        self._written = False
        self._change: Change | None = None
        self._unmatched: list[Entry] = []
        """The entries of the baseline that match no finding."""

    def run(self) -> int:
        """Do what the options ask for; return the exit code."""
        options = self.options
        try:
            os.getcwd()
        except OSError as error:
            raise CannotRunError("the current folder no longer exists; change into another one") from error
        if options["list_rules"] or options["explain"]:
            from mcpcore_lint import show

            show.list_rules() if options["list_rules"] else show.explain_rule(options["explain"])
            return 0
        for name in ("fix", "diff"):
            if options[name]:
                from mcpcore_lint.codemods import require_libcst

                require_libcst(f"--{name}")
        if options["lsp"]:
            return self._serve()
        if options["baseline"]:
            from mcpcore_lint.runner.baseline import Baseline

            self.baseline = Baseline(options["baseline"])
        name = options["stdin_filename"]
        stdin = name or self.paths == ("-",)
        if not stdin:
            self._check_paths()
        if options["show_settings"]:
            from mcpcore_lint.show import show_settings

            show_settings(self._groups((name,) if name else None, read=not name), options)
            return 0
        if stdin:
            return self._stdin()
        if options["explain_calls"]:
            return self._explain_calls(options["explain_calls"])
        if options["watch"]:
            from mcpcore_lint.runner.watch import watch

            return watch(self.paths, self._once)
        return self._once()

    def _serve(self) -> int:
        from mcpcore import __version__

        try:
            from mcpcore_lint.lsp.server import serve
        except ImportError as error:
            # Another module that is missing is a bug, which the user should see as it is.
            if (error.name or "").partition(".")[0] not in {"pygls", "lsprotocol"}:
                raise
            raise CannotRunError(
                '--lsp needs pygls, which is not installed; run: pip install "mcpcore[lsp]"'
            ) from error
        return serve(self._settings, self.options["config_path"], __version__)

    def _check_paths(self) -> None:
        """Stop if no path exists. If some do, they are checked, and the others are reported."""
        if any(os.path.lexists(path) for path in self.paths):
            return
        problems = []
        for path in self.paths:
            folder, name = os.path.split(path)
            try:
                neighbours = os.listdir(folder or ".")
            except OSError:
                neighbours = []
            problems.append(f"{path}: no such file or folder{hint(name, neighbours, cutoff=0.5)}")
        raise CannotRunError(*problems)

    def _groups(self, paths: tuple[str, ...] | None = None, *, read: bool = True) -> list[Group]:
        from mcpcore_lint.runner.groups import find_groups

        return find_groups(paths or self.paths, self._settings, config_path=self.options["config_path"], read=read)

    def _settings(self, settings: Settings) -> Settings:
        """Settings of a configuration with the options applied."""
        options = self.options
        changes: dict[str, Any] = {}
        for key in ("select", "extend_select", "ignore"):
            if options[key]:
                rules = _rules(f"--{key.replace('_', '-')}", options[key])
                changes[key] = rules if key == "select" else getattr(settings, key) | rules
        if options["jobs"] is not None:
            changes["jobs"] = options["jobs"]
        return settings._replace(**changes)

    def _explain_calls(self, tool: str) -> int:
        from mcpcore_lint.runner.explain import explain_calls

        texts, known = explain_calls(self._groups(), tool)
        if not texts:
            tools = f"; the tools are {', '.join(sorted(known)[:20])}" if known else "; no file here defines a tool"
            raise CannotRunError(f"unknown tool {tool!r}{hint(tool, known, tools, cutoff=0.5)}")
        say("\n\n".join(texts) + "\n")
        return 0

    def _stdin(self) -> int:
        options = self.options
        name = options["stdin_filename"] or "<stdin>"
        groups = [self._groups((options["stdin_filename"] or ".",), read=False)[0].holding(name)]
        if sys.stdin is None:
            raise CannotRunError("standard input is closed; pass the source there, or name a file")
        raw = sys.stdin.buffer.read()
        fixed, result = self._check(groups, cache=False, contents={os.path.abspath(name): raw}, editor=True)
        if options["diff"]:
            _keep_line_ends()
            say_patch("".join(file.diff(name.replace(os.sep, "/")) for file in fixed))
            return int(bool(fixed))
        if options["fix"]:
            from mcpcore_lint.engine.syntax.source import Source

            # Without a fix, the bytes go back as they came, even if they are no text.
            say_source(Source.from_bytes(name, raw).to_bytes(fixed[0].after) if fixed else raw)
        # With --fix, standard output is the source.
        return self._report(result, groups, fixed=sum(file.count for file in fixed), err=options["fix"])

    def _once(self) -> int:
        options = self.options
        named = None
        if options["fix"] and not options["diff"]:
            from mcpcore_lint.runner.files import real_paths

            named = real_paths(self.paths)
        groups = self._groups()
        self._change = None
        self._written = False
        with progress() as update:
            fixed, result = self._check(groups, named, cache=not options["no_cache"], progress=update)
        if options["diff"]:
            return self._diff(fixed, result)
        code = self._report(result, groups, fixed=sum(file.count for file in fixed))
        self._remember(result, code)
        return code

    def _check(
        self, groups: list[Group], named: tuple[str, ...] | None = None, **options: Any
    ) -> tuple[Sequence[FixedFile], Result]:
        """Check the files, and fix them if the options ask for it; on disk only those below the real paths `named`."""
        if not (self.options["fix"] or self.options["diff"]):
            from mcpcore_lint.runner.runner import lint_groups

            return (), lint_groups(groups, **options)
        from mcpcore_lint.runner.fix import fix_groups

        unsafe = self.options["unsafe_fixes"]
        return fix_groups(groups, lambda result: self._selected(result, groups), unsafe=unsafe, named=named, **options)

    def _remember(self, result: Result, code: int) -> None:
        """Save the output for a run that finds every file unchanged."""
        from mcpcore_lint.config import FILE

        options = self.options
        once = ("no_cache", "fix", "write_baseline", "changed_since", "watch")
        skipped = result.failures or any(options[name] for name in once)
        if skipped or memo.current is None or result.inputs is None or self._printed is None:
            return
        inputs = [*result.inputs]
        if options["baseline"]:
            inputs.append(os.path.abspath(options["baseline"]))
        repositories = []
        for path in self.paths:
            for folder in upwards(os.path.abspath(path)):
                # A configuration or a repository that appears above a path changes what is checked.
                inputs.append(os.path.join(folder, FILE))
                repositories.append(os.path.join(folder, ".git"))
        file = None if options["output_file"] == "-" else options["output_file"]
        memo.current.keep(self._printed, code, inputs, repositories, file=file)

    def _diff(self, fixed: Sequence[FixedFile], result: Result) -> int:
        _keep_line_ends()
        patch = "".join(file.diff(result.place(file.path)) for file in fixed)
        if self.options["output_file"] in {None, "-"}:
            say_patch(patch)
        else:
            self._write_file(patch)
        for failure in result.failures:
            note(f"{result.place(failure.path)}: not checked in full: {failure.message}")
        count = sum(file.count for file in fixed)
        note(f"{_counted(count, 'fix', 'fixes')} in {_counted(len(fixed), 'file', 'files')} would be made")
        return 2 if result.failures else int(bool(fixed))

    def _selected(self, result: Result, groups: Sequence[Group]) -> list[Diagnostic]:
        """The findings that --changed-since and --baseline let through. Counts those that the baseline holds."""
        diagnostics = list(result.diagnostics)
        if self.options["changed_since"]:
            from mcpcore_lint.runner.changed import Change

            # git is asked only once, so that the fixes of this run do not count as changes.
            self._change = self._change or Change(self.options["changed_since"])
            diagnostics = self._change.concerned(groups, result)
        self.held = 0
        if self.baseline is None or (self.options["write_baseline"] and not self._written):
            return diagnostics
        new, self._unmatched = self.baseline.match(result)
        # By identity: a line may have two equal findings, of which the baseline has only one.
        fresh = [finding for finding in diagnostics if id(finding) in new]
        self.held = len(diagnostics) - len(fresh)
        return fresh

    def _write_baseline(self, baseline: Baseline, result: Result, groups: Sequence[Group]) -> None:
        old: list[Entry] = []
        if os.path.exists(baseline.path):
            try:
                old = baseline.read()
            except CannotRunError as error:
                note(f"{str(error).partition(';')[0]}; it is replaced")
        # Findings in other files, or of rules that this command did not run, may still exist.
        some_rules = self.options["select"] or self.options["ignore"]
        kept = [e for e in old if not self._covers(e) or (some_rules and _is_off(e.rule, groups))]
        entries = [*baseline.entries(result), *kept]
        baseline.write(entries)
        self._written = True
        note(f"{_counted(len(entries), 'finding', 'findings')} written to {baseline.path}")

    def _covers(self, entry: Entry) -> bool:
        """Whether this run checks the file of an entry, or the file no longer exists."""
        assert self.baseline is not None
        real = os.path.realpath(self.baseline.absolute(entry))
        tops = [os.path.realpath(path) for path in self.paths]
        return not os.path.exists(real) or any(real == top or is_below(real, top) for top in tops)

    def _fixed_since(self, result: Result) -> list[str]:
        """A note about the findings of the baseline that no longer exist."""
        partial = any(self.options[name] for name in ("select", "ignore", "stdin_filename"))
        if self.baseline is None or partial or result.failures:
            return []  # findings that were not looked for may still exist
        gone = [entry for entry in self._unmatched if self._covers(entry)]
        if not gone:
            return []
        count = _counted(len(gone), "finding", "findings")
        listed = [f"  {entry.path}: [{entry.rule}] {entry.message}" for entry in gone[:5]]
        more = [f"  and {len(gone) - 5} more"] if len(gone) > 5 else []
        return [f"{count} of the baseline fixed; remove them with --write-baseline:", *listed, *more]

    def _report(self, result: Result, groups: Sequence[Group], *, fixed: int = 0, err: bool = False) -> int:
        """Print the report and return the exit code."""
        from mcpcore_lint.report import Outcome, render, statistics
        from mcpcore_lint.runner.results import fold

        options = self.options
        if options["write_baseline"]:
            assert self.baseline is not None
            self._write_baseline(self.baseline, result, groups)
        diagnostics = self._selected(result, groups)
        rewriters = None
        if any(diagnostic.fix is not None for diagnostic in diagnostics):
            from mcpcore_lint.codemods.rewrite import Rewriters

            rewriters = Rewriters(result.source)
            diagnostics = [rewriters.possible(finding, result.absolute(finding.path)) for finding in diagnostics]
        stream = sys.stderr if err else sys.stdout
        editor = bool(options["stdin_filename"])
        if not editor:  # an editor marks every place
            diagnostics = fold(diagnostics)
        shape = options["shape"] or next((group.config.format for group in groups if group.config.format), "full")
        unseen = ""
        if not result.tools and shape in {*_FOR_PEOPLE, "json"} and not editor:
            from mcpcore_lint.runner.runner import why_no_tools

            unseen = why_no_tools(result, groups)
        outcome = Outcome(
            diagnostics=tuple(diagnostics),
            failures=tuple(result.failures),
            files=result.files,
            tools=result.tools,
            suppressed=result.suppressed,
            baselined=self.held,
            fixed=fixed,
            source=result.source,
            rewriters=rewriters,
            place=result.place,
            color=self._color(stream),
            notes=tuple(self._fixed_since(result)),
            unsafe=options["unsafe_fixes"],
            unseen=unseen,
        )
        text = statistics(shape, outcome) if options["statistics"] else render(shape, outcome)
        styled = outcome.color and shape == "full" and not options["statistics"]
        if options["output_file"] in {None, "-"}:
            self._printed = say(text, err=err, exact=shape not in _FOR_PEOPLE, escape=not styled)
        else:
            self._printed = escaped(text)
            self._write_file(self._printed)
        if rewriters is not None and rewriters.missing is not None:
            self._printed = None  # once libcst is installed, the same command may print more about fixes
            if shape in _WITH_EDITS and not options["statistics"]:
                note(f"mcpcore lint: {rewriters.missing}")
        return 2 if result.failures else int(self._fails(diagnostics, result, groups))

    def _fails(self, diagnostics: Sequence[Diagnostic], result: Result, groups: Sequence[Group]) -> bool:
        """Whether a finding reaches the severity that fails the run, which each project sets for its own files."""
        from mcpcore_lint.diagnostics import Severity

        if self.options["fail_on"]:
            limit = Severity.parse(self.options["fail_on"])
            return any(diagnostic.severity >= limit for diagnostic in diagnostics)
        innermost = sorted(groups, key=lambda group: -len(group.config.root))

        def limit_of(path: str) -> Severity:
            owners = (group for group in innermost if is_below(result.absolute(path), group.config.root))
            return next(owners, groups[0]).config.fail_on

        return any(diagnostic.severity >= limit_of(diagnostic.path) for diagnostic in diagnostics)

    def _color(self, stream: TextIO) -> bool:
        if self.options["output_file"] or os.environ.get("NO_COLOR"):
            return False
        if forced := os.environ.get("FORCE_COLOR"):
            return forced != "0"
        on = stream.isatty() and os.environ.get("TERM") != "dumb"
        if on and os.name == "nt":
            os.system("")  # noqa: S605, S607 - runs nothing, but makes the console interpret escape sequences
        return on

    def _write_file(self, text: str) -> None:
        from mcpcore_lint.runner.files import write_text

        path = self.options["output_file"]
        try:
            write_text(path, text)
        except OSError as error:
            raise CannotRunError(f"{path}: cannot be written: {error.strerror or error}") from error


def _rules(option: str, names: tuple[str, ...]) -> frozenset[str]:
    """The rules that an option names."""
    from mcpcore_lint.rules import names_a_rule, near_rule

    for name in names:
        if not names_a_rule(name):
            close = near_rule(name.lower().replace("_", "-"))
            hint = f"did you mean {close!r}?" if close else "run `mcpcore lint --list-rules`"
            raise CannotRunError(f"unknown-rule: {option}: unknown rule {name!r}; {hint}")
    return frozenset(names)


def _is_off(name: str, groups: Sequence[Group]) -> bool:
    """Whether no project runs a rule."""
    from mcpcore_lint.rules import rule_named, selected

    rule = rule_named(name)
    return rule is not None and not any(selected(rule, group.config.settings) for group in groups)


def _counted(count: int, singular: str, plural: str) -> str:
    return f"{count} {singular if count == 1 else plural}"


def _keep_line_ends() -> None:
    """Stop Windows from adding carriage returns to a patch, which would then not apply."""
    if os.name == "nt" and isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(newline="")
