"""The program and its commands, each imported when it is called.

Results go to stdout, progress and errors to stderr. Exit status: 0 done; 1 it could not be
done, and why is said; 2 a bad value, named with its allowed range; 3 the run diverged;
130 the run was stopped; 75 another host was lost: started again, the run may go on. A command
that would print JSON prints {"error": sentence} as well when it fails.
"""

import importlib
import json
import os
from typing import Any, NoReturn

import click

from ensemble import __version__
from ensemble.cli.output import REFUSAL_FIELDS, print_line
from ensemble.errors import ConfigError, EnsembleError
from ensemble.jobs.kinds import JobKind, list_job_kinds, load_entry_point
from ensemble.machine.jax_environment import describe_jax_start_error
from ensemble.machine.memory_errors import is_memory_error
from ensemble.storage.disk_errors import describe_disk_error

# Which module of this package has a command: the others, and what they need, stay on the disk.
COMMAND_MODULES = {
    "app": "app",
    "train": "train",
    "manifest": "kubernetes",
    "work-pod": "kubernetes",
    "distil": "results.distil",
    "predict": "results.predict",
    "serve": "results.serve",
    "stress": "stress_and_regression",
    "lbfgs": "stress_and_regression",
    "sweep": "sweep",
    "data": "data",
    "label": "label",
    "import": "results.exchange",
    "export": "results.exchange",
    "report": "results.report",
    "compare": "results.compare",
    "inspect": "results.inspect",
    "runs": "runs",
    "network": "network",
    "numbers": "results.numbers",
    "devices": "machine",
    "bench": "machine",
}
# Commands whose result is JSON also without --json.
_JSON_COMMANDS = {
    ("train",),
    ("distil",),
    ("stress",),
    ("lbfgs",),
    ("sweep",),
    ("import",),
    ("export",),
    ("report",),
    ("runs", "show"),
    ("label", "learn"),
}
# Commands before 1.1 that `ensemble inspect RUN members` replaces.
_REPLACED_COMMANDS = ("budget", "plan", "worth")

_PRINTS_JSON = "ensemble.prints_json"
_MEMORY_SENTENCE = (
    "Memory ran out: close other programs, or ask for less at once: fewer members or images, or a smaller batch."
)


def import_command(name: str) -> click.Command:
    if name not in COMMAND_MODULES:
        return _build_worker_command(list_worker_kinds()[name])
    module = importlib.import_module(f"ensemble.cli.{COMMAND_MODULES[name]}")
    command: click.Command = getattr(module, f"run_{name.replace('-', '_')}_command")
    return command


def list_worker_kinds() -> dict[str, JobKind]:
    """Return the kinds of jobs by the hidden commands of their workers, which pages start."""
    return {kind.command: kind for kind in list_job_kinds()}


def _build_worker_command(kind: JobKind) -> click.Command:
    def run_worker(job: str) -> None:
        if kind.nice:
            from ensemble.jobs.worker import lower_priority

            lower_priority()
        load_entry_point(kind.work_entry)(job)
        if kind.follow_up_entry:
            load_entry_point(kind.follow_up_entry)(job)

    help_text = f"{kind.title}: run as the worker of a queued job (started by the pages)."
    return click.Command(
        kind.command, callback=run_worker, params=[click.Argument(["job"])], help=help_text, hidden=True
    )


class _EnsembleGroup(click.Group):
    """A click group that says a known error in one line and ends with its exit status."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every command's name, also of those not imported yet."""
        return sorted([*COMMAND_MODULES, *list_worker_kinds()])

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with names of equal width."""
        names = [name for name in self.list_commands(ctx) if not import_command(name).hidden]
        width = max(map(len, names))
        limit = formatter.width - 6 - width
        with formatter.section("Commands"):
            formatter.write_dl([(f"{name:<{width}}", import_command(name).get_short_help_str(limit)) for name in names])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in COMMAND_MODULES or cmd_name in list_worker_kinds():
            return import_command(cmd_name)
        if cmd_name in _REPLACED_COMMANDS:
            raise ConfigError(f"`ensemble {cmd_name}` is now part of the view of a run: ensemble inspect RUN members")
        # Among all of them click looks for the one that was meant.
        self.commands = {name: import_command(name) for name in [*COMMAND_MODULES, *list_worker_kinds()]}
        return None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Remember whether the command prints JSON: its arguments are unknown once it has failed."""
        command = tuple(args[:2])
        ctx.meta[_PRINTS_JSON] = "--json" in args or command in _JSON_COMMANDS or command[:1] in _JSON_COMMANDS
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; what a person can mend ends it with a sentence and its own status."""
        _open_closed_streams()
        try:
            return super().invoke(ctx)
        except click.ClickException as error:
            _print_json_error(ctx, error.format_message())
            raise
        except EnsembleError as error:
            _exit_with_error(ctx, str(error), error.exit_code)
        except OSError as error:
            sentence = _MEMORY_SENTENCE if is_memory_error(error) else describe_disk_error(error)
            if sentence is None:
                raise
            _exit_with_error(ctx, sentence, EnsembleError.exit_code)
        except (MemoryError, RuntimeError, ValueError) as error:
            if is_memory_error(error):
                _exit_with_error(ctx, _MEMORY_SENTENCE, EnsembleError.exit_code)
            if (start_error := describe_jax_start_error(error)) is None:
                raise
            _exit_with_error(ctx, start_error, ConfigError.exit_code)


def _exit_with_error(ctx: click.Context, sentence: str, exit_code: int) -> NoReturn:
    _print_json_error(ctx, sentence)
    print_line(f"Error: {sentence}", err=True)
    ctx.exit(exit_code)


def _print_json_error(ctx: click.Context, sentence: str) -> None:
    if ctx.meta[_PRINTS_JSON]:
        click.echo(json.dumps({**ctx.meta.get(REFUSAL_FIELDS, {}), "error": sentence}))


def _open_closed_streams() -> None:
    """Open a standard stream that whoever called this has closed, on nothing.

    Its number would go to the next file that is opened, and what compiled code writes to stderr
    into that file.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free


@click.group(cls=_EnsembleGroup, context_settings={"show_default": False, "max_content_width": 100})
@click.version_option(__version__, prog_name="ensemble")
def main() -> None:
    """Train, inspect and question deep ensembles of image classifiers."""
