"""What `mcpcore lint` does. What a run needs is loaded when it runs, so that all else costs nothing."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import sys
from typing import TYPE_CHECKING, Any, Final

from mcpcore_lint.options import OPTIONS
from mcpcore_lint.output import CannotRunError, Progress, escaped, note, printable, say, say_patch, say_source
from mcpcore_lint.runner import memo, runner

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mcpcore_lint.config import Config
    from mcpcore_lint.diagnostics import Diagnostic, Severity
    from mcpcore_lint.runner.baseline import Entry
    from mcpcore_lint.runner.changed import Change
    from mcpcore_lint.runner.runner import Group, Mended, Result
    from mcpcore_lint.settings import PerFile, Settings

_FOR_PEOPLE: Final = frozenset({"full", "concise"})
_WIDE: Final = 132
"""Columns from which on a report takes no heed of the terminal."""


def run(paths: tuple[str, ...], options: dict[str, Any]) -> int:
    """Run the command; the exit code.

    Args:
        paths: Files and folders; none is the current folder.
        options: The options by their keys, each of the table.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started this
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - as long as the process
    again = options["watch"] or options["fix"] or options["diff"]
    try:
        with contextlib.nullcontext() if again else _nothing_freed():
            return _Command(paths or (".",), options).run()
    except CannotRunError as problem:
        return problem.tell()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return 1
    except Exception as error:  # noqa: BLE001 - a fault of the linter, which is said
        if os.environ.get("MCPCORE_TRACEBACK"):
            import traceback

            note(*traceback.format_exc().splitlines())
        return CannotRunError(*_crash(error)).tell()


@contextlib.contextmanager
def _nothing_freed() -> Iterator[None]:
    """Leave what is made to the end of the process: to look for what is no longer used frees next to nothing.

    For a command that goes over the files once.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if memo.current is not None:
            # The process ends with this command: also then nothing is looked for, and the system takes all at once.
            gc.freeze()
        if was:
            gc.enable()


def _crash(error: Exception) -> tuple[str, ...]:
    if type(error).__name__ == "RuleError":
        return (str(error),)
    said = " ".join(str(error).split())[:300]
    return (
        f"stopped by {type(error).__name__}: {said}",
        "This is a fault of the linter; set MCPCORE_TRACEBACK=1 to see where, and report it.",
    )


class _Command:
    """One invocation."""

    def __init__(self, paths: tuple[str, ...], options: dict[str, Any]) -> None:
        self.paths = paths
        self.options = dict(options)
        for each in OPTIONS:
            if each.kind == "rules":
                self.options[each.key] = _split(each.name, options[each.key])
        self.held = 0
        self._said: str | None = ""
        self._written = False
        self._change: Change | None = None

    def run(self) -> int:
        """Do what the options ask for; the exit code."""
        options = self.options
        try:
            os.getcwd()
        except OSError as error:
            raise CannotRunError("the current folder is gone; change into one that is there") from error
        if options["output_file"] == "/dev/stdout":
            # Opened once more, a file that the output goes to would lose what is in it.
            options["output_file"] = "-"
        self._check()
        self._check_together()
        if options["list_rules"]:
            return self._list_rules()
        if options["explain"]:
            return self._explain(options["explain"])
        stdin = options["stdin_filename"] or self.paths == ("-",)
        if not stdin:
            self._check_paths()
        if options["show_settings"]:
            return self._show_settings()
        if stdin:
            return self._stdin()
        if options["explain_calls"]:
            return self._explain_calls(options["explain_calls"])
        if options["watch"]:
            from mcpcore_lint.runner.watch import watch

            return watch(self.paths, self._once)
        return self._once()

    def _check(self) -> None:
        options = self.options
        for name in ("baseline", "changed_since", "config_path", "explain", "explain_calls", "output_file"):
            # A variable that a script meant to be set: without it the run would be another one.
            if options[name] is not None and not options[name].strip():
                option = name.removesuffix("_path").replace("_", "-")
                raise CannotRunError(f"--{option} is empty; give it a value, or leave it out")

    def _check_together(self) -> None:
        options = self.options
        shown = [name for name in ("list_rules", "explain", "explain_calls", "show_settings") if options[name]]
        if len(shown) > 1:
            names = " and ".join(f"--{name.replace('_', '-')}" for name in shown)
            raise CannotRunError(f"{names} each show one thing and nothing else; give one of them")
        if options["statistics"] and options["shape"] not in {None, "full", "concise", "json"}:
            raise CannotRunError(
                f"--statistics are a table or JSON; {options['shape']} has no form for them, so leave one out"
            )
        if options["statistics"] and options["diff"]:
            raise CannotRunError("--diff shows a patch and counts no findings; leave --statistics out")
        written = {"--output-file": options["output_file"]}
        if options["write_baseline"]:
            written["--baseline"] = options["baseline"]
        for name, path in written.items():
            # A slip of the pen, which would take the place of what is checked.
            if path and (path.endswith((".py", ".pyi", ".toml")) or path in self.paths) and os.path.exists(path):
                raise CannotRunError(f"{name} {path} would replace a file that is read; name another file")
        if options["output_file"] and options["output_file"] == options["baseline"]:
            raise CannotRunError(f"--output-file and --baseline are one file, {options['baseline']}; name two")
        if options["write_baseline"] and options["diff"]:
            raise CannotRunError("--diff writes nothing, so it does not go with --write-baseline")
        if options["write_baseline"] and not options["baseline"]:
            raise CannotRunError("--write-baseline needs --baseline FILE, the file to write")
        if options["unsafe_fixes"] and not (options["fix"] or options["diff"]):
            raise CannotRunError("--unsafe-fixes goes with --fix or --diff")
        if options["write_baseline"] and options["changed_since"]:
            raise CannotRunError(
                "--write-baseline with --changed-since would drop the findings of all else; leave one out"
            )
        if options["watch"] and (options["stdin_filename"] or options["output_file"] or "-" in self.paths):
            raise CannotRunError("--watch goes with neither --stdin-filename nor --output-file")
        if options["stdin_filename"] and self.paths not in {(".",), ("-",)}:
            raise CannotRunError(f"--stdin-filename reads standard input alone; leave out {self.paths[0]}")
        if "-" in self.paths and len(self.paths) > 1:
            raise CannotRunError("`-` is standard input, which is checked by itself; leave the other paths out")
        if options["stdin_filename"] == "":
            raise CannotRunError("--stdin-filename needs a name")
        if options["stdin_filename"] and os.path.isdir(options["stdin_filename"]):
            raise CannotRunError(
                f"--stdin-filename {options['stdin_filename']}: this is a folder; give the name of a file"
            )
        if options["stdin_filename"] and options["changed_since"]:
            raise CannotRunError("--changed-since goes with files on disk, not with --stdin-filename")

    def _check_paths(self) -> None:
        missing = [path for path in self.paths if not os.path.lexists(path)]
        if len(missing) < len(self.paths):
            return  # what is there is checked, and what is not is told with it
        told = []
        for path in missing:
            folder, name = os.path.split(path)
            try:
                there = os.listdir(folder or ".")
            except OSError:
                there = []
            near = _near(name, there)
            told.append(f"{path}: there is no such file or folder{near}")
        raise CannotRunError(*told)

    # What is asked about rules

    def _list_rules(self) -> int:
        from mcpcore_lint.rules import all_rules

        rules = all_rules().values()
        width = max(len(rule.id) for rule in rules)
        lines = []
        for rule in rules:
            fix = "fix" if rule.fixable else "   "
            lines.append(printable(f"{rule.id:<{width}}  {rule.severity.label:<7}  {fix}  {rule.summary}"))
        say("\n".join(lines) + "\n")
        return 0

    def _explain(self, name: str) -> int:
        from mcpcore_lint.pages import page_text
        from mcpcore_lint.rules import all_rules

        rule = all_rules().get(name)
        if rule is None:
            near = _near(name, all_rules()) or "; `mcpcore lint --list-rules` shows them all"
            raise CannotRunError(f"there is no rule {name!r}{near}")
        say(page_text(rule) + "\n")
        return 0

    # Settings

    def _groups(self, paths: tuple[str, ...] | None = None, *, read: bool = True) -> list[Group]:
        from mcpcore_lint.config import ConfigError

        try:
            return runner.groups(paths or self.paths, self._changed, given=self.options["config_path"], read=read)
        except ConfigError as error:
            raise CannotRunError(str(error)) from error

    def _changed(self, settings: Settings) -> Settings:
        options = self.options
        changes: dict[str, Any] = {}
        if options["select"]:
            changes["select"] = self._named("--select", options["select"])
        if options["extend_select"]:
            changes["extend_select"] = settings.extend_select | self._named("--extend-select", options["extend_select"])
        if options["ignore"]:
            changes["ignore"] = settings.ignore | self._named("--ignore", options["ignore"])
        if options["jobs"] is not None:
            changes["jobs"] = options["jobs"]
        return settings._replace(**changes)

    @staticmethod
    def _named(option: str, names: tuple[str, ...]) -> frozenset[str]:
        from mcpcore_lint.config import names_a_rule, near_rule

        for name in names:
            if not names_a_rule(name):
                near = near_rule(name.lower().replace("_", "-"))
                hint = f"did you mean {near!r}?" if near else "`mcpcore lint --list-rules` shows them all"
                raise CannotRunError(f"unknown-rule: {option} names a rule that there is not, {name!r}; {hint}")
        return frozenset(names)

    def _show_settings(self) -> int:
        from mcpcore_lint.rules import all_rules, selected

        options = self.options
        name = options["stdin_filename"]
        given = {"select", "extend_select", "ignore", "jobs"}
        lines = []
        for group in self._groups((name,) if name else None, read=not name):
            config, settings = group.config, group.config.settings
            paths = ", ".join(group.paths or group.documents)
            lines += [
                paths,
                f"  root = {config.root}",
                f"  configuration = {config.path or 'none found: the defaults'}",
            ]

            def origin(name: str, option: object, *, config: Config = config) -> str:
                key = name.replace("_", "-")
                if option not in (None, ()):
                    return f"--{key}"
                return (
                    f"{os.path.basename(config.path or '')}:{config.lines[key]}" if key in config.lines else "default"
                )

            rows = [("fail_on", _shown(self._fail_on(config)), options["fail_on"])]
            rows += [("format", _shown(options["shape"] or config.format or "full"), options["shape"])]
            rows += [("markdown", _shown(config.markdown), None)]
            for field, value in settings._asdict().items():
                option = options[field] if field in given else None
                # Of these two the default is not a value that a file could give.
                instead = {"select": "every rule that is on by default", "cache_dir": _shown(memo.folder())}
                rows.append((field, instead[field] if value is None else _shown(value), option))
            for name_, value, option in rows:
                lines.append(f"  {name_.replace('_', '-')} = {value}  ({origin(name_, option)})")
            on = [rule for rule in all_rules().values() if selected(rule, settings)]
            lines.append(f"  rules on: {len(on)} of {len(all_rules())}")
            width = max((len(each.id) for each in on), default=0)
            for rule in on:
                lines.append(f"    {rule.id:<{width}}  {settings.severities.get(rule.id, rule.severity).label}")
        say("".join(f"{printable(line)}\n" for line in lines))
        return 0

    def _fail_on(self, config: Config) -> Severity:
        from mcpcore_lint.diagnostics import Severity

        return Severity.parse(self.options["fail_on"]) if self.options["fail_on"] else config.fail_on

    # Runs

    def _explain_calls(self, tool: str) -> int:

        texts, known = runner.explain_calls(self._groups(), tool)
        if not texts:
            looked = f"; there are {', '.join(sorted(known)[:20])}" if known else "; no file here defines any"
            raise CannotRunError(f"there is no tool {tool!r}{_near(tool, known) or looked}")
        say("\n\n".join(texts) + "\n")
        return 0

    def _stdin(self) -> int:

        options = self.options
        name = options["stdin_filename"] or "<stdin>"
        group = self._groups((name if options["stdin_filename"] else ".",), read=False)[0]
        if sys.stdin is None:
            raise CannotRunError("standard input is closed; give the source there, or the name of a file")
        raw = sys.stdin.buffer.read()
        fixed = 0
        if options["fix"] or options["diff"]:
            mended = runner.mend_text(
                raw, name, group, told=lambda each: self._told(each, [group]), unsafe=options["unsafe_fixes"]
            )
            if options["diff"]:
                self._line_ends_as_they_are()
                say_patch(mended.diff(name.replace(os.sep, "/")) if mended else "")
                return 1 if mended else 0
            if mended:
                from mcpcore_lint.syntax.source import Source

                raw = Source.from_bytes(name, raw).to_bytes(mended.after)
                fixed = mended.count
            say_source(raw)
        result = runner.lint_text(raw, name, group)
        return self._tell(result, [group], fixed=fixed, err=options["fix"])

    def _once(self) -> int:

        options = self.options
        groups = self._groups()
        cache = not options["no_cache"]
        fixed = 0
        mended: list[Mended] = []
        self._change = None
        self._written = False
        with Progress() as progress:
            if options["fix"] or options["diff"]:
                mended, result = runner.mend(
                    groups,
                    lambda each: self._told(each, groups),
                    unsafe=options["unsafe_fixes"],
                    cache=cache,
                    progress=progress.tell,
                    write=not options["diff"],
                )
                fixed = sum(each.count for each in mended)
            else:
                result = runner.lint_groups(groups, cache=cache, progress=progress.tell)
        if options["diff"]:
            return self._diff(mended, result)
        code = self._tell(result, groups, fixed=fixed)
        self._remember(result, code)
        return code

    def _remember(self, result: Result, code: int) -> None:
        """Keep what was said for a run that finds everything as this one did."""
        from mcpcore_lint.config import FILE

        options = self.options
        once = ("no_cache", "fix", "write_baseline", "changed_since", "watch")
        if memo.current is None or result.inputs is None or result.failures or any(options[each] for each in once):
            return
        if self._columns() is not None or self._said is None:
            return  # the next terminal may be a wider one
        inputs = [*result.inputs]
        if options["baseline"]:
            inputs.append(os.path.abspath(options["baseline"]))
        repositories = []
        for path in self.paths:
            above = ""
            folder = os.path.abspath(path)
            while folder != above:
                inputs.append(os.path.join(folder, FILE))
                repositories.append(os.path.join(folder, ".git"))
                folder, above = os.path.dirname(folder), folder
        file = None if options["output_file"] == "-" else options["output_file"]
        memo.current.keep(self._said, code, inputs, repositories, file=file)

    @staticmethod
    def _line_ends_as_they_are() -> None:
        """Keep Windows from adding a carriage return to each line of a patch, which would then fit no file."""
        if os.name == "nt" and isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(newline="")

    def _diff(self, mended: list[Mended], result: Result) -> int:
        self._line_ends_as_they_are()
        self._write_patch("".join(each.diff(result.place(each.path)) for each in mended))
        for failure in result.failures:
            note(f"{result.place(failure.path)}: not checked in full: {failure.message}")
        count = sum(each.count for each in mended)
        fixes, files = "fix" if count == 1 else "fixes", "file" if len(mended) == 1 else "files"
        note(f"{count} {fixes} in {len(mended)} {files} would be made")
        return 2 if result.failures else int(bool(mended))

    def _told(self, result: Result, groups: list[Group]) -> list[Diagnostic]:
        """The findings of a run that the options let through; how many the baseline keeps back is kept beside them."""
        told = list(result.diagnostics)
        if self.options["changed_since"]:
            from mcpcore_lint.runner.changed import Change, ChangedError

            # What the fixes of this run change is no reason to mend more: git is asked once.
            self._change = self._change or Change(self.options["changed_since"])
            try:
                told = self._change.concerned(groups, result)
            except ChangedError as error:
                raise CannotRunError(str(error)) from error
        self.held = 0
        if self.options["baseline"] and (self._written or not self.options["write_baseline"]):
            numbers, _ = self._against_baseline(result)
            held = {id(each) for number, each in enumerate(result.diagnostics) if number in numbers}
            fresh = [each for each in told if id(each) not in held]
            self.held = len(told) - len(fresh)
            return fresh
        return told

    def _against_baseline(self, result: Result) -> tuple[set[int], list[Entry]]:
        """The numbers of the findings that the baseline holds, and what it holds beyond them."""
        from mcpcore_lint.runner.baseline import Baseline, BaselineError, read

        path = self.options["baseline"]
        try:
            baseline = Baseline(path)
            return baseline.matched(read(path), baseline.entries(result, result.diagnostics))
        except BaselineError as error:
            raise CannotRunError(str(error)) from error

    def _write_baseline(self, result: Result, groups: list[Group]) -> None:
        from mcpcore_lint.runner.baseline import Baseline, BaselineError, read

        path = self.options["baseline"]
        baseline = Baseline(path)
        entries = baseline.entries(result, result.diagnostics)
        if os.path.exists(path):
            try:
                # Neither what lies outside of this run nor what other rules look for is known to be mended.
                entries += [
                    each
                    for each in read(path)
                    if not self._covers(baseline.absolute(each)) or self._left_out(each.rule, groups)
                ]
            except BaselineError as error:
                note(f"{str(error).partition(';')[0]}; it is replaced")
        try:
            baseline.write(entries)
        except OSError as error:
            raise CannotRunError(f"{path}: cannot be written: {error.strerror or error}") from error
        noun = "finding" if len(entries) == 1 else "findings"
        note(f"{len(entries)} {noun} written to {path}")

    def _left_out(self, name: str, groups: list[Group]) -> bool:
        """Whether the options of this command line keep a rule from running."""
        if not self.options["select"] and not self.options["ignore"]:
            return False
        from mcpcore_lint.rules import rule_named, selected

        rule = rule_named(name)
        return rule is not None and not any(selected(rule, each.config.settings) for each in groups)

    def _covers(self, absolute: str) -> bool:
        """Whether a file is one that the run is about, if it is there at all."""
        real = os.path.realpath(absolute)
        tops = [os.path.realpath(path) for path in self.paths]
        return not os.path.exists(real) or any(real == top or real.startswith(os.path.join(top, "")) for top in tops)

    def _tell(self, result: Result, groups: list[Group], *, fixed: int = 0, err: bool = False) -> int:
        from mcpcore_lint.report import Outcome, render, statistics
        from mcpcore_lint.runner.folding import fold

        options = self.options
        if options["write_baseline"]:
            self._write_baseline(result, groups)
            self._written = True
        diagnostics = self._told(result, groups)
        if not options["stdin_filename"]:
            # An editor marks each place; a report says once what is wrong with a file.
            diagnostics = fold(diagnostics)
        notes = self._mended_since(result) if options["baseline"] else []
        shape = options["shape"] or next((each.config.format for each in groups if each.config.format), None) or "full"
        unseen = ""
        if not result.tools and shape in _FOR_PEOPLE:
            from mcpcore_lint.runner.unseen import why_no_tools

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
            place=result.place,
            color=self._color(err=err),
            notes=tuple(notes),
            unsafe=options["unsafe_fixes"],
            unseen=unseen,
            columns=self._columns(err=err),
        )
        text = statistics(shape, outcome) if options["statistics"] else render(shape, outcome)
        styled = outcome.color and shape == "full" and not options["statistics"]
        self._write(text, err=err, exact=shape not in _FOR_PEOPLE, styled=styled)
        if result.failures:
            return 2
        if options["fail_on"]:
            return int(any(each.severity >= self._fail_on(groups[0].config) for each in diagnostics))
        # Each project says for its own files what fails it.
        tops = sorted(((each.config.root, each.config.fail_on) for each in groups), key=lambda each: -len(each[0]))
        for each in diagnostics:
            absolute = result.absolute(each.path)
            inside = (limit for root, limit in tops if absolute.startswith(os.path.join(root, "")))
            if each.severity >= next(inside, groups[0].config.fail_on):
                return 1
        return 0

    def _mended_since(self, result: Result) -> list[str]:
        """What to say of findings that the baseline holds and that are no longer there."""
        from mcpcore_lint.runner.baseline import Baseline

        options = self.options
        if options["select"] or options["ignore"] or options["stdin_filename"] or result.failures:
            return []  # what was not looked for may be there all the same
        _, left = self._against_baseline(result)
        baseline = Baseline(options["baseline"])
        gone = [each for each in left if self._covers(baseline.absolute(each))]
        if not gone:
            return []
        noun = "finding" if len(gone) == 1 else "findings"
        notes = [f"{len(gone)} {noun} of the baseline mended; take them out with --write-baseline:"]
        notes += [f"  {each.path}: [{each.rule}] {each.message}" for each in gone[:5]]
        return [*notes, f"  and {len(gone) - 5} more"] if len(gone) > 5 else notes

    def _color(self, *, err: bool = False) -> bool:
        if self.options["output_file"] or os.environ.get("NO_COLOR"):
            return False
        forced = os.environ.get("FORCE_COLOR")
        if forced:
            return forced != "0"
        on = (sys.stderr if err else sys.stdout).isatty() and os.environ.get("TERM") != "dumb"
        if on and os.name == "nt":
            os.system("")  # noqa: S605, S607 - nothing is run; the console begins to read escapes by it
        return on

    def _columns(self, *, err: bool = False) -> int | None:
        """How wide the terminal is that the report goes to, where that is too little for whole lines of source."""
        stream = sys.stderr if err else sys.stdout
        if self.options["output_file"] or not stream.isatty():
            return None
        try:
            columns = os.get_terminal_size(stream.fileno()).columns
        except (OSError, ValueError):
            return None
        return columns if 0 < columns < _WIDE else None

    def _write(self, text: str, *, err: bool, exact: bool, styled: bool) -> None:
        if self.options["output_file"] in {None, "-"}:
            self._said = say(text, err=err, exact=exact, styled=styled)
        else:
            self._said = escaped(text)
            self._write_file(self._said)

    def _write_patch(self, text: str) -> None:
        if self.options["output_file"] in {None, "-"}:
            say_patch(text)
        else:
            self._write_file(text)

    def _write_file(self, text: str) -> None:
        from mcpcore_lint.runner.writing import write_text

        path = self.options["output_file"]
        try:
            write_text(path, text)
        except OSError as error:
            raise CannotRunError(f"{path}: cannot be written: {error.strerror or error}") from error


def _split(option: str, values: tuple[str, ...]) -> tuple[str, ...]:
    found = tuple(part.strip() for value in values for part in value.split(",") if part.strip())
    if values and not found:
        raise CannotRunError(f"{option} names no rule; leave it out, or see `mcpcore lint --list-rules`")
    return found


def _near(name: str, known: Iterable[str]) -> str:
    import difflib

    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else ""


def _shown(value: Any) -> str:
    """A setting as `pyproject.toml` has it."""
    from collections.abc import Mapping

    from mcpcore_lint.diagnostics import Severity
    from mcpcore_lint.settings import PerFile

    if isinstance(value, Severity):
        return _quoted(value.label)
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, frozenset):
        return _shown(tuple(sorted(value)))
    if isinstance(value, tuple) and value and all(isinstance(each, PerFile) for each in value):
        return _shown({each.pattern: _of_files(each) for each in value})
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(map(_shown, value))}]"
    if isinstance(value, Mapping):
        pairs = [f"{_quoted(key)} = {_shown(each)}" for key, each in value.items()]
        return f"{{ {', '.join(pairs)} }}" if pairs else "{}"
    return str(value)


def _of_files(each: PerFile) -> dict[str, Any]:
    given = {"select": each.select, "ignore": each.ignore or None, "severity": each.severities or None}
    return {name: value for name, value in given.items() if value is not None}


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
