"""The program and its commands, each imported when it is called.

Results go to stdout, progress and errors to stderr. Exit status: 0 done; 1 it could not be
done, and why is said; 2 a bad value, named with its allowed range; 3 the run diverged;
130 the run was stopped; 75 another host was lost: started again, the run may go on.
"""

import importlib
import keyword
import os
from typing import Any

import click

from ensemble import __version__
from ensemble.cli.outcome import say
from ensemble.errors import EnsembleError
from ensemble.jobs.kinds import KINDS, Kind, entry
from ensemble.storage.refusals import said_of

# Which module of this package has a command: the others, and what they need, stay on the disk.
COMMANDS = {
    "app": "app",
    "train": "train",
    "manifest": "kubernetes",
    "work-pod": "kubernetes",
    "budget": "results.budget",
    "plan": "results.plan",
    "worth": "results.worth",
    "predict": "results.predict",
    "stress": "jobs",
    "lbfgs": "jobs",
    "sweep": "sweep",
    "data": "data",
    "import": "results.exchange",
    "export": "results.exchange",
    "report": "results.report",
    "compare": "results.compare",
    "inspect": "results.inspect",
    "runs": "runs",
    "network": "network",
    "audit": "results.audit",
    "devices": "machine",
    "bench": "machine",
    "race": "machine",
    "race-competitor": "machine",
}
# Listed under a heading of their own: what to train, by what it costs (docs/budget.md).
CHOOSING_A_SIZE = ("plan", "budget", "worth")

# What the pages start, a word a kind of job.
WORKERS = {kind.command: kind for kind in KINDS}


def imported(name: str) -> click.Command:
    """The command of this name, from its module."""
    if name in WORKERS:
        return worker(WORKERS[name])
    module = importlib.import_module(f"ensemble.cli.{COMMANDS[name]}")
    word = "_" if keyword.iskeyword(name) else ""
    found: click.Command = getattr(module, name.replace("-", "_") + word)
    return found


def worker(kind: Kind) -> click.Command:
    """The hidden command that is the worker of a queued job of this kind."""

    def work(job: str) -> None:
        if kind.nice:
            from ensemble.jobs.worker import give_way

            give_way()
        entry(kind.work)(job)

    said = f"{kind.title}: be the worker of a queued job (started by the pages)."
    return click.Command(
        kind.command, callback=work, params=[click.Argument(["job"])], help=said, hidden=True
    )


class Program(click.Group):
    """A click group that says a known error in one line and ends with its exit status."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every command's name, also of those not imported yet."""
        return sorted([*COMMANDS, *WORKERS])

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands in two lists; click would write one."""
        names = [name for name in self.list_commands(ctx) if not imported(name).hidden]
        width = max(map(len, names))
        others = [name for name in names if name not in CHOOSING_A_SIZE]
        for title, listed in (("Commands", others), ("Choosing a size", CHOOSING_A_SIZE)):
            with formatter.section(title):
                limit = formatter.width - 6 - width
                formatter.write_dl(
                    [
                        (f"{name:<{width}}", imported(name).get_short_help_str(limit))
                        for name in listed
                    ]
                )

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name, imported now."""
        if cmd_name in COMMANDS or cmd_name in WORKERS:
            return imported(cmd_name)
        # Among all of them click looks for the one that was meant.
        self.commands = {name: imported(name) for name in [*COMMANDS, *WORKERS]}
        return None

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; what a person can mend ends it with a sentence and its own status."""
        open_streams()
        try:
            return super().invoke(ctx)
        except EnsembleError as error:
            say(f"Error: {error}", err=True)
            ctx.exit(error.exit_code)
        except OSError as error:
            if (said := said_of(error)) is None:
                raise
            say(f"Error: {said}", err=True)
            ctx.exit(EnsembleError.exit_code)


def open_streams() -> None:
    """Open a standard stream that whoever called this has closed, on nothing.

    Its number would go to the next file that is opened, and what compiled code writes to stderr
    into that file.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free


@click.group(cls=Program, context_settings={"show_default": False, "max_content_width": 100})
@click.version_option(__version__, prog_name="ensemble")
def main() -> None:
    """Train, inspect and question deep ensembles of image classifiers."""
