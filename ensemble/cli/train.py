"""The command that trains an ensemble."""

from typing import Any

import click

from ensemble import runs
from ensemble.cli.options import settings_options
from ensemble.cli.outcome import end_with
from ensemble.cli.progress_line import ProgressLine
from ensemble.config import EnsembleConfig
from ensemble.wording import chance


@click.command()
@settings_options(EnsembleConfig)
@click.option("--resume", metavar="RUN", help="Go on with a stopped run instead of a new one.")
def train(resume: str | None, **chosen: Any) -> None:
    """Train an ensemble; the last line on stdout is one JSON object."""
    chosen = {name: value for name, value in chosen.items() if value is not None}
    if resume and chosen:
        raise click.UsageError("--resume takes a run as it is: leave the other options out.")
    run = runs.requeue(resume) if resume else runs.create(EnsembleConfig(**chosen))
    with ProgressLine(run.id) as line:
        run = runs.work(run.id, line.show)
    said = " ".join(filter(None, (run.message, chance.verdict(run))))
    end_with(run.state, said, run_summary(run))


def run_summary(run: runs.Run) -> dict[str, Any]:
    """What a run came to, ready for JSON; None stands where there is nothing yet."""
    status = run.status
    return {
        "run_id": run.id,
        "state": run.state,
        "member_test_accuracy": status.member_test_accuracy,
        "ensemble_test_accuracy": status.ensemble_test_accuracy,
        "ensemble_test_nll": status.ensemble_test_nll,
        "at_chance": chance.at_chance(run),
        "seconds": status.seconds,
        "compile_seconds": status.compile_seconds,
        "img_member_per_s": status.img_member_per_s,
    }
