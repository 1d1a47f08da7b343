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
@click.option(
    "--against", metavar="RUN", help=("Run whose members to compare with; by default its own.")
)
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
    found = measure_cheap_ensembles(run, runs.find_run(against) if against else None, passes)
    if as_json:
        click.echo(json.dumps({"run_id": run.id, **serialize_worths(found)}))
        return
    width = max(len(words.format_cheaper_ensemble(one)) for one in found.rows)
    for one in found.rows:
        print_line(
            f"{words.format_cheaper_ensemble(one):<{width}}  "
            f"{format_member_equivalent(one.equivalent)}"
        )
    if line := words.describe_best_cheaper_ensemble(found):
        print_line("")
        print_line(line)
    print_line(words.describe_worth_basis(found))
    for note in (*([words.MIXTURE_NOTE] if found.varied else []), *found.left_out):
        print_line(f"Note: {note}", err=True)


def serialize_worths(found: CheapEnsembleWorths) -> dict[str, Any]:
    """What was found, ready for JSON."""
    return {
        "against": found.against,
        "members": found.members,
        "trainings": found.trainings,
        "varied": found.varied,
        "left_out": list(found.left_out),
        "rows": [_serialize_worth(one) for one in found.rows],
    }


def _serialize_worth(one: CheapEnsembleWorth) -> dict[str, Any]:
    ends = {"worth": one.equivalent.value, "low": one.equivalent.low, "high": one.equivalent.high}
    return {
        "kind": one.kind,
        "epochs": list(one.epochs),
        "asked": one.networks,
        # JSON knows no infinity: more than all members that there are.
        **{name: None if math.isinf(end) else end for name, end in ends.items()},
    }
