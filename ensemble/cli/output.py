"""How a job ended: its advice on stderr, one JSON object on stdout, and an exit status."""

import contextlib
import json
import sys
from typing import Any, NoReturn

import click

from ensemble.wording import escaping

REFUSAL_FIELDS = "ensemble.refusal_fields"  # of a context's meta: fields next to "error" in a refusal's JSON
EXIT_STATUSES = {"finished": 0, "diverged": 3, "stopped": 130}


def print_line(line: object, err: bool = False) -> None:
    """Print a line for people: whatever came from outside in it cannot steer the terminal."""
    if err:
        write_stderr(f"{escaping.escape_terminal_text(line)}\n")
    else:
        click.echo(escaping.escape_terminal_text(line))


def write_stderr(text: str) -> None:
    """Write to stderr as it stands; where nobody can read it any more, work goes on without."""
    with contextlib.suppress(OSError):
        click.echo(text, nl=False, err=True)


def exit_with_result(state: str, message: str, result: dict[str, Any]) -> NoReturn:
    if message:
        print_line(message, err=True)
    click.echo(json.dumps(result))
    sys.exit(EXIT_STATUSES.get(state, 1))
