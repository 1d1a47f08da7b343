"""The command that says how many independent members cheaper ensembles are worth."""

import json
import math
from typing import Any

import click

from ensemble import runs
from ensemble.budget.worth import CheapEnsembleWorth, CheapEnsembleWorths, measure_cheap_ensembles
from ensemble.cli.output import print_line
from ensemble.wording.verdicts import cheaper_ensembles as words
from ensemble.wording.verdicts.plan import format_member_equivalent


@click.command(name="worth")
@click.argument("run_id", metavar="RUN")
@click.option("--against", metavar="RUN", help=("Run whose members to compare with; by default its own."))
@click.option(
    "--passes",
    type=click.IntRange(0, 1000),
    default=0,
    help="Passes with dropout left on (MC dropout), where the network has it; 0 for none.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def run_worth_command(run_id: str, against: str | None, passes: int, as_json: bool) -> None:
    """How many independent members snapshots, last epochs, SWA and dropout are worth."""
    run = runs.find_run(run_id)
    cheap_ensembles = measure_cheap_ensembles(run, runs.find_run(against) if against else None, passes)
    if as_json:
        click.echo(json.dumps({"run_id": run.id, **_serialize_worths(cheap_ensembles)}))
        return
    width = max(len(words.format_cheaper_ensemble(entry)) for entry in cheap_ensembles.rows)
    for row in cheap_ensembles.rows:
        print_line(f"{words.format_cheaper_ensemble(row):<{width}}  {format_member_equivalent(row.equivalent)}")
    if line := words.describe_best_cheaper_ensemble(cheap_ensembles):
        print_line("")
        print_line(line)
    print_line(words.describe_worth_basis(cheap_ensembles))
    for note in (*([words.MIXTURE_NOTE] if cheap_ensembles.varied else []), *cheap_ensembles.left_out):
        print_line(f"Note: {note}", err=True)


def _serialize_worths(worths: CheapEnsembleWorths) -> dict[str, Any]:
    return {
        "against": worths.against,
        "members": worths.members,
        "trainings": worths.trainings,
        "varied": worths.varied,
        "left_out": list(worths.left_out),
        "rows": [_serialize_worth(row) for row in worths.rows],
    }


def _serialize_worth(worth: CheapEnsembleWorth) -> dict[str, Any]:
    ends = {"worth": worth.equivalent.value, "low": worth.equivalent.low, "high": worth.equivalent.high}
    return {
        "kind": worth.kind,
        "epochs": list(worth.epochs),
        "asked": worth.networks,
        # JSON knows no infinity: more than all members that there are.
        **{name: None if math.isinf(end) else end for name, end in ends.items()},
    }
