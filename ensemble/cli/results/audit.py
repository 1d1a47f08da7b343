"""The command that lists who did what on a shared server."""

import json
import re
import time
from dataclasses import asdict

import click

from ensemble.access import audit_log as log
from ensemble.cli.output import print_line
from ensemble.wording import jobs as words

UNIT_SECONDS = {"m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


class TimeSpanType(click.ParamType[float]):
    """A span of time such as 30m, 12h, 2d, 1w, in seconds."""

    name = "span"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Seconds, at least 0."""
        if match := re.fullmatch(r"(\d{1,6})([mhdw])", value.strip()):
            return float(match[1]) * UNIT_SECONDS[match[2]]
        self.fail(f"{value[:40]!r} is not a span of time: write 30m, 12h, 2d or 1w.", param, ctx)


@click.command(name="audit")
@click.option("--since", type=TimeSpanType(), metavar="SPAN", help=("How far back to look: 30m, 12h, 2d."))
@click.option("--who", default="", metavar="ADDRESS", help="Only actions of this person.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def run_audit_command(since: float | None, who: str, as_json: bool) -> None:
    """Who launched, stopped, changed or deleted what on a shared server, oldest first."""
    begin = 0.0 if since is None else time.time() - since
    for entry in log.read_audit_log(begin, who):
        if as_json:
            click.echo(json.dumps(asdict(entry)))
        else:
            by = f"{words.format_user(entry.who)} ({entry.role})"
            print_line(f"{words.format_local_time(entry.time)}  {by:<40} {entry.action:<9} {entry.subject}")
