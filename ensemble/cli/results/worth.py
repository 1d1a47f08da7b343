"""The command that says how many independent members cheaper ensembles are worth."""

import json
import math
from typing import Any

import click

from ensemble import runs
from ensemble.budget.worth import Worth, Worths, worths_of
from ensemble.cli.outcome import say
from ensemble.wording.verdicts import worth as words
from ensemble.wording.verdicts.plan import equivalent


@click.command()
@click.argument("run_id", metavar="RUN")
@click.option("--against", metavar="RUN", help="Whose members to hold it against: its own.")
@click.option(
    "--passes",
    type=click.IntRange(0, 1000),
    default=0,
    help="Passes with dropout left on (MC dropout), where the network has it; 0 for none.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def worth(run_id: str, against: str | None, passes: int, as_json: bool) -> None:
    """How many independent members snapshots, last epochs, SWA and dropout are worth."""
    run = runs.find(run_id)
    found = worths_of(run, runs.find(against) if against else None, passes)
    if as_json:
        click.echo(json.dumps({"run_id": run.id, **described(found)}))
        return
    width = max(len(words.named(one)) for one in found.rows)
    for one in found.rows:
        say(f"{words.named(one):<{width}}  {equivalent(one.found)}")
    if line := words.headline(found):
        say("")
        say(line)
    say(words.basis(found))
    for note in (*([words.VARIED] if found.varied else []), *found.left_out):
        say(f"Note: {note}", err=True)


def described(found: Worths) -> dict[str, Any]:
    """What was found, ready for JSON."""
    return {
        "against": found.against,
        "members": found.members,
        "trainings": found.trainings,
        "varied": found.varied,
        "left_out": list(found.left_out),
        "rows": [_row(one) for one in found.rows],
    }


def _row(one: Worth) -> dict[str, Any]:
    ends = {"worth": one.found.value, "low": one.found.low, "high": one.found.high}
    return {
        "kind": one.kind,
        "epochs": list(one.epochs),
        "asked": one.asked,
        # JSON knows no infinity: more than all members that there are.
        **{name: None if math.isinf(end) else end for name, end in ends.items()},
    }
