"""The command that writes a run, or several beside each other, as one file for a colleague."""

import json
from pathlib import Path

import click

from ensemble.cli.output import print_line
from ensemble.cli.results.exchange import escape_path_surrogates
from ensemble.exchange.capsule.capsule_format import EXACT, ROUNDED, WEIGHTS


@click.command(name="report")
@click.argument("run_ids", metavar="RUN...", nargs=-1, required=True)
@click.option("--out", required=True, type=Path, metavar="FILE.html", help="The file to write.")
@click.option("--with-members", is_flag=True, help="Include the members' parameters.")
@click.option(
    "--weights",
    type=click.Choice(WEIGHTS),
    default=EXACT,
    show_default=True,
    help=(
        "How the members' parameters are kept: float32, exact, or float16, which rounds them and takes half the room."
    ),
)
@click.option(
    "--all-epochs",
    is_flag=True,
    help=("Include the predictions of every epoch, not only of the last and of the one chosen on validation images."),
)
@click.option("--force", is_flag=True, help="Replace the file if it exists.")
def run_report_command(
    run_ids: tuple[str, ...], out: Path, with_members: bool, weights: str, all_epochs: bool, force: bool
) -> None:
    """Write a run as one HTML file that opens offline, with its data inside; several: compared.

    With --with-members the page also answers: whoever opens it draws a digit, or opens a picture,
    and sees what every member says. The last line on stdout is one JSON object. docs/report.md says
    what the file holds.
    """
    if weights != EXACT and not with_members:
        raise click.UsageError("--weights is of the members' parameters: add --with-members.")
    from ensemble.report import write_report  # here: pictures take a while to import

    report = write_report(
        run_ids, out, with_members=with_members, all_epochs=all_epochs, weights=weights, replace=force
    )
    if report.weights == ROUNDED:
        print_line(
            "The members' weights are rounded to float16: a run that is imported from the file "
            "says so, and its members answer a little differently.",
            err=True,
        )
    click.echo(
        json.dumps(
            {
                "run_ids": report.run_ids,
                "file": escape_path_surrogates(report.path),
                "bytes": report.bytes,
                "members": report.members,
                "all_epochs": report.all_epochs,
                "weights": report.weights or None,
            }
        )
    )
