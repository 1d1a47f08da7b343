"""The program and its commands, each imported when it is called.

Results go to stdout, progress and errors to stderr. Exit status: 0 done; 1 it could not be
done, and why is said; 2 a bad value, named with its allowed range; 3 the run diverged;
130 the run was stopped.
"""

import importlib
from typing import Any

import click

from ensemble import __version__
from ensemble.errors import EnsembleError

# Which module of this package has a command: the others, and what they need, stay on the disk.
COMMANDS = {
    "app": "app",
    "train": "train",
    "work": "train",
    "predict": "predict",
    "stress": "jobs",
    "work-stress": "jobs",
    "lbfgs": "jobs",
    "work-lbfgs": "jobs",
    "data": "data",
    "runs": "runs",
    "devices": "machine",
    "bench": "machine",
    "race": "machine",
    "work-race": "machine",
    "race-contender": "machine",
}


def imported(name: str) -> click.Command:
    """The command of this name, from its module."""
    module = importlib.import_module(f"ensemble.cli.{COMMANDS[name]}")
    found: click.Command = getattr(module, name.replace("-", "_"))
    return found


class Program(click.Group):
    """A click group that says a known error in one line and ends with its exit status."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every command's name, also of those not imported yet."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name, imported now."""
        if cmd_name in COMMANDS:
            return imported(cmd_name)
        # Among all of them click looks for the one that was meant.
        self.commands = {name: imported(name) for name in COMMANDS}
        return None

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; an EnsembleError ends it with its own status."""
        try:
            return super().invoke(ctx)
        except EnsembleError as error:
            click.echo(f"Error: {error}", err=True)
            ctx.exit(error.exit_code)


@click.group(cls=Program, context_settings={"show_default": False, "max_content_width": 100})
@click.version_option(__version__, prog_name="ensemble")
def main() -> None:
    """Train, inspect and question deep ensembles of image classifiers."""
