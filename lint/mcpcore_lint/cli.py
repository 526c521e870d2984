"""The command `mcpcore lint`. What a run needs is loaded when it runs, so that `--help` costs nothing."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpcore_lint.config import Config
    from mcpcore_lint.diagnostics import Severity
    from mcpcore_lint.runs import Group, Result
    from mcpcore_lint.settings import Settings

_FORMATS: Final = ("full", "concise", "json", "sarif", "github", "gitlab", "junit")
_SEVERITIES: Final = ("error", "warning", "info")

_EPILOG: Final = """\b
Examples:
  mcpcore lint                              the current folder
  mcpcore lint server.py --fix              one file, mended
  mcpcore lint --diff                       what --fix would do
  mcpcore lint --select error-contract      one family of rules
  mcpcore lint --changed-since main         what this branch touches
  mcpcore lint --explain no-fake-empty      the page of a rule
  mcpcore lint --explain-calls fetch        what a tool can throw

Exits 0 when clean, 1 on findings from --fail-on up, 2 when it could not run."""


class _Stop(click.ClickException):
    """A run that could not be made: exit code 2, with what is wrong and what next."""

    exit_code = 2

    def show(self, file: Any = None) -> None:
        click.echo(f"mcpcore lint: {self.message}", file=file or sys.stderr, err=True)


def _split(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(part.strip() for value in values for part in value.split(",") if part.strip())


def _rules_option(name: str, text: str) -> Callable[[Any], Any]:
    return click.option(name, multiple=True, metavar="RULES", callback=_split, help=text)


@click.command(epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.argument("paths", nargs=-1, type=click.Path())
@_rules_option("--select", "Run these rules alone: ids, families or prefixes, separated by commas.")
@_rules_option("--ignore", "Do not run these rules.")
@_rules_option("--extend-select", "Run these rules too.")
@click.option("--fail-on", type=click.Choice(_SEVERITIES), help="The severity that fails the run.  [default: warning]")
@click.option("--fix", is_flag=True, help="Mend what can be mended safely.")
@click.option("--unsafe-fixes", is_flag=True, help="With --fix or --diff: mend also what asks for a look.")
@click.option("--diff", is_flag=True, help="Show what --fix would do; write nothing.")
@click.option("--format", "shape", type=click.Choice(_FORMATS), help="The format of the report.  [default: full]")
@click.option("--output-file", type=click.Path(dir_okay=False), help="Write the report there.")
@click.option("--statistics", is_flag=True, help="Count the findings of each rule instead of listing them.")
@click.option("--baseline", type=click.Path(dir_okay=False), help="Do not tell the findings that this file holds.")
@click.option("--write-baseline", is_flag=True, help="Write the findings to the --baseline file.")
@click.option("--changed-since", metavar="REV", help="Tell only what concerns files changed since a git revision.")
@click.option("--watch", is_flag=True, help="Run again whenever a file changes.")
@click.option("--no-cache", is_flag=True, help="Neither read nor write the cache.")
@click.option("--jobs", type=click.IntRange(0), metavar="N", help="Processes; 0 is one for each core.")
@click.option("--stdin-filename", type=click.Path(), help="Read the source from standard input, under this name.")
@click.option("--config", "config_path", type=click.Path(dir_okay=False), help="Use this configuration alone.")
@click.option("--show-settings", is_flag=True, help="Show the settings in force, and where they come from.")
@click.option("--explain", metavar="RULE", help="Show the page of a rule.")
@click.option("--explain-calls", metavar="TOOL", help="Show what a tool can throw through the functions that it calls.")
@click.option("--list-rules", is_flag=True, help="List all rules.")
def lint(paths: tuple[str, ...], **options: Any) -> None:
    """Check that MCP tools throw what their contracts declare, and fail in ways that an agent can act on.

    PATHS are files and folders, the current folder where left out; `-` is standard input. Nothing that is read is
    imported or run.
    """
    try:
        code = _Command(paths or (".",), **options).run()
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)


class _Command:
    """One invocation."""

    def __init__(self, paths: tuple[str, ...], **options: Any) -> None:
        self.paths = paths
        self.options = options

    def run(self) -> int:
        """Do what the options ask for; the exit code."""
        options = self.options
        if options["list_rules"]:
            return self._list_rules()
        if options["explain"]:
            return self._explain(options["explain"])
        self._check()
        if options["show_settings"]:
            return self._show_settings()
        if options["explain_calls"]:
            return self._explain_calls(options["explain_calls"])
        if options["stdin_filename"] or self.paths == ("-",):
            return self._stdin()
        missing = [path for path in self.paths if not os.path.exists(path)]
        if missing:
            raise _Stop(f"{missing[0]}: there is no such file or folder")
        if options["watch"]:
            from mcpcore_lint.watch import watch

            return watch(self.paths, self._once)
        return self._once()

    def _check(self) -> None:
        options = self.options
        if options["write_baseline"] and not options["baseline"]:
            raise _Stop("--write-baseline needs --baseline FILE, the file to write")
        if options["unsafe_fixes"] and not (options["fix"] or options["diff"]):
            raise _Stop("--unsafe-fixes goes with --fix or --diff")
        if options["watch"] and (options["stdin_filename"] or options["output_file"]):
            raise _Stop("--watch goes with neither --stdin-filename nor --output-file")

    # What is asked about rules

    def _list_rules(self) -> int:
        from mcpcore_lint.rules import all_rules

        rules = all_rules().values()
        width = max(len(rule.id) for rule in rules)
        for rule in rules:
            fix = "fix" if rule.fixable else "   "
            click.echo(f"{rule.id:<{width}}  {rule.severity.label:<7}  {fix}  {rule.summary}")
        return 0

    def _explain(self, name: str) -> int:
        from mcpcore_lint.pages import page_text
        from mcpcore_lint.rules import all_rules

        rule = all_rules().get(name)
        if rule is None:
            raise _Stop(f"there is no rule {name!r}{_near(name, list(all_rules()))}")
        click.echo(page_text(rule))
        return 0

    # Settings

    def _groups(self, paths: tuple[str, ...] | None = None) -> list[Group]:
        from mcpcore_lint import config, runs

        try:
            given = config.load(self.options["config_path"]) if self.options["config_path"] else None
            return runs.groups(paths or self.paths, given, self._changed)
        except config.ConfigError as error:
            raise _Stop(str(error)) from error

    def _changed(self, settings: Settings) -> Settings:
        from dataclasses import replace

        from mcpcore_lint.config import rules_named

        options = self.options
        changes: dict[str, Any] = {}
        if options["select"]:
            changes["select"] = rules_named(list(options["select"]), "--select")
        if options["extend_select"]:
            extended = rules_named(list(options["extend_select"]), "--extend-select")
            changes["extend_select"] = settings.extend_select | extended
        if options["ignore"]:
            changes["ignore"] = settings.ignore | rules_named(list(options["ignore"]), "--ignore")
        if options["jobs"] is not None:
            changes["jobs"] = options["jobs"]
        if options["no_cache"]:
            changes["cache"] = False
        return replace(settings, **changes)

    def _show_settings(self) -> int:
        from dataclasses import fields

        from mcpcore_lint.rules import all_rules, selected

        for group in self._groups():
            config = group.config
            click.echo(f"{', '.join(group.paths)}: {config.path or 'defaults'} (root {config.root})")
            click.echo(f"  fail-on = {self._fail_on(config).label}")
            for each in fields(config.settings):
                click.echo(f"  {each.name.replace('_', '-')} = {_shown(getattr(config.settings, each.name))}")
            on = [rule.id for rule in all_rules().values() if selected(rule, config.settings)]
            click.echo(f"  rules on: {len(on)} of {len(all_rules())}")
        return 0

    def _fail_on(self, config: Config) -> Severity:
        from mcpcore_lint.diagnostics import Severity

        return Severity.parse(self.options["fail_on"]) if self.options["fail_on"] else config.fail_on

    # Runs

    def _explain_calls(self, tool: str) -> int:
        from mcpcore_lint.engine import explain_calls

        known: list[str] = []
        told = False
        for group in self._groups():
            found = explain_calls(group.paths, tool, settings=group.config.settings, root=group.config.root)
            known += found.tools
            for text in found.texts:
                click.echo(text)
                told = True
        if not told:
            raise _Stop(f"there is no tool {tool!r}{_near(tool, known)}")
        return 0

    def _stdin(self) -> int:
        from mcpcore_lint import runs

        name = self.options["stdin_filename"] or "<stdin>"
        group = self._groups((name if self.options["stdin_filename"] else ".",))[-1]
        raw = sys.stdin.buffer.read()
        options = self.options
        if options["fix"] or options["diff"]:
            mended = runs.mend_text(raw, name, group, unsafe=options["unsafe_fixes"])
            if options["diff"]:
                click.echo(mended.diff() if mended else "", nl=False)
                return 1 if mended else 0
            raw = mended.after if mended else raw
            sys.stdout.buffer.write(raw)
            sys.stdout.buffer.flush()
        result = runs.lint_text(raw, name, group)
        return self._tell(result, [group], err=options["fix"])

    def _once(self) -> int:
        from mcpcore_lint import runs

        groups = self._groups()
        with _Progress():
            result = runs.lint_groups(groups)
        fixed = 0
        if self.options["fix"] or self.options["diff"]:
            mended = runs.mend(groups, result, unsafe=self.options["unsafe_fixes"])
            if self.options["diff"]:
                for each in mended:
                    click.echo(each.diff(), nl=False)
                count = sum(each.count for each in mended)
                click.echo(f"{count} fixes in {len(mended)} files would be made", err=True)
                return 1 if mended else 0
            for each in mended:
                try:
                    each.write()
                except OSError as error:
                    raise _Stop(f"{each.path}: cannot be written: {error.strerror or error}") from error
                fixed += each.count
            if mended:
                result = runs.lint_groups(groups)
        return self._tell(result, groups, fixed=fixed)

    def _tell(self, result: Result, groups: list[Group], *, fixed: int = 0, err: bool = False) -> int:
        from mcpcore_lint import baseline, runs
        from mcpcore_lint.report import Outcome, render

        options = self.options
        notes: list[str] = []
        diagnostics = result.diagnostics
        if options["changed_since"]:
            diagnostics = self._only_changed(result, groups)
            result.diagnostics = diagnostics
        baselined = 0
        if options["baseline"]:
            try:
                if options["write_baseline"]:
                    baseline.write(options["baseline"], diagnostics, result.source)
                    click.echo(f"{len(diagnostics)} findings written to {options['baseline']}", err=True)
                    return 2 if result.failures else 0
                known = baseline.read(options["baseline"])
            except baseline.BaselineError as error:
                raise _Stop(str(error)) from error
            except OSError as error:
                raise _Stop(f"{options['baseline']}: cannot be written: {error.strerror or error}") from error
            diagnostics, baselined, gone = runs.split_known(result, known)
            if gone:
                count = f"{gone} finding{'s' if gone > 1 else ''}"
                notes.append(f"{count} of the baseline no longer found; write it anew with --write-baseline")
        outcome = Outcome(
            diagnostics=tuple(diagnostics),
            failures=tuple(result.failures),
            files=result.files,
            tools=len(result.tools),
            suppressed=result.suppressed,
            baselined=baselined,
            fixed=fixed,
            source=result.source,
            place=lambda path: _from_here(result.absolute(path), path),
            color=self._color(),
            notes=tuple(notes),
        )
        shape = options["shape"] or next((each.config.format for each in groups if each.config.format), None) or "full"
        text = _statistics(outcome) if options["statistics"] else render(shape, outcome)
        self._write(text, err=err)
        if result.failures:
            return 2
        worst = max((each.severity for each in diagnostics), default=None)
        return int(worst is not None and worst >= min(self._fail_on(each.config) for each in groups))

    def _only_changed(self, result: Result, groups: list[Group]) -> list[Any]:
        from mcpcore_lint.changed import ChangedError, changed_since

        try:
            changed = frozenset().union(
                *(changed_since(self.options["changed_since"], each.config.root) for each in groups)
            )
        except ChangedError as error:
            raise _Stop(str(error)) from error
        return [
            each
            for each in result.diagnostics
            if any(
                os.path.realpath(result.absolute(path)) in changed
                for path in (each.path, *(related.path for related in each.related))
            )
        ]

    def _color(self) -> bool:
        if self.options["output_file"]:
            return False
        if os.environ.get("NO_COLOR"):
            return False
        return bool(os.environ.get("FORCE_COLOR")) or sys.stdout.isatty()

    def _write(self, text: str, *, err: bool) -> None:
        path = self.options["output_file"]
        if not path:
            click.echo(text, nl=False, err=err, color=True)
            return
        from mcpcore_lint.baseline import write_text

        try:
            write_text(path, text)
        except OSError as error:
            raise _Stop(f"{path}: cannot be written: {error.strerror or error}") from error


class _Progress:
    """A word that the run is under way, on a terminal, when it takes longer than a moment."""

    def __enter__(self) -> None:
        self._timer: Any = None
        if sys.stderr.isatty():
            import threading

            self._shown = False
            self._timer = threading.Timer(1.0, self._show)
            self._timer.daemon = True
            self._timer.start()

    def _show(self) -> None:
        self._shown = True
        click.echo("reading …", nl=False, err=True)

    def __exit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
            if self._shown:
                click.echo("\r\x1b[K", nl=False, err=True)


def _statistics(outcome: Any) -> str:
    from collections import Counter

    from mcpcore_lint.report import summary

    counts = Counter((each.rule, each.severity) for each in outcome.diagnostics)
    fixable = Counter(each.rule for each in outcome.diagnostics if each.fix)
    width = max((len(rule) for rule, _ in counts), default=0)
    lines = [
        f"{count:>6}  {rule:<{width}}  {severity.label:<7}{f'  {fixable[rule]} fixable' if fixable[rule] else ''}"
        for (rule, severity), count in counts.most_common()
    ]
    return "\n".join([*lines, summary(outcome)]) + "\n"


def _from_here(absolute: str, path: str) -> str:
    """A path relative to the current folder, where it lies below it; else as the report has it."""
    here = os.getcwd()
    return os.path.relpath(absolute, here).replace(os.sep, "/") if absolute.startswith(here + os.sep) else path


def _near(name: str, known: list[str]) -> str:
    import difflib

    close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else ""


def _shown(value: Any) -> str:
    if isinstance(value, frozenset):
        return f"[{', '.join(sorted(value))}]"
    if isinstance(value, tuple):
        return f"[{', '.join(map(str, value))}]"
    return str(dict(value)) if _is_mapping(value) else str(value)


def _is_mapping(value: Any) -> bool:
    from collections.abc import Mapping as AbstractMapping

    return isinstance(value, AbstractMapping)
