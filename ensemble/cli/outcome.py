"""How a job ended: its advice on stderr, one JSON object on stdout, and an exit status."""

import json
import sys
from typing import Any, NoReturn

import click

from ensemble.wording import escaping

EXIT_STATUS = {"finished": 0, "diverged": 3, "stopped": 130}


def say(line: object, err: bool = False) -> None:
    """Print a line for people: whatever came from outside in it cannot steer the terminal."""
    click.echo(escaping.terminal(line), err=err)


def end_with(state: str, message: str, result: dict[str, Any]) -> NoReturn:
    """Say how a job ended, and end the program with the exit status of that state."""
    if message:
        say(message, err=True)
    click.echo(json.dumps(result))
    sys.exit(EXIT_STATUS.get(state, 1))
