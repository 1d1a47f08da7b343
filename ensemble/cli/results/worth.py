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
        click.echo(json.dumps({"run_id": run.id, **serialize_worths(cheap_ensembles)}))
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


def serialize_worths(cheap_ensemble_worths: CheapEnsembleWorths) -> dict[str, Any]:
    """What was found, ready for JSON."""
    return {
        "against": cheap_ensemble_worths.against,
        "members": cheap_ensemble_worths.members,
        "trainings": cheap_ensemble_worths.trainings,
        "varied": cheap_ensemble_worths.varied,
        "left_out": list(cheap_ensemble_worths.left_out),
        "rows": [_serialize_worth(row) for row in cheap_ensemble_worths.rows],
    }


def _serialize_worth(cheap_ensemble_worth: CheapEnsembleWorth) -> dict[str, Any]:
    ends = {
        "worth": cheap_ensemble_worth.equivalent.value,
        "low": cheap_ensemble_worth.equivalent.low,
        "high": cheap_ensemble_worth.equivalent.high,
    }
    return {
        "kind": cheap_ensemble_worth.kind,
        "epochs": list(cheap_ensemble_worth.epochs),
        "asked": cheap_ensemble_worth.networks,
        # JSON knows no infinity: more than all members that there are.
        **{name: None if math.isinf(end) else end for name, end in ends.items()},
    }
