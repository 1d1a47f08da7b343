"""The command line: python -m ensemble train, predict, data, runs, bench, race and more.

Results go to stdout, progress and errors to stderr. Exit status: 0 done; 1 it could not be
done, and why is said; 2 a bad value, named with its allowed range; 3 the run diverged;
130 the run was stopped.
"""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from ensemble import __version__, datasets, regression, runs, shift
from ensemble.cli.options import settings_options
from ensemble.cli.progress_line import ProgressLine
from ensemble.cli.racing import race, race_contender
from ensemble.cli.stress_summary import stress_summary
from ensemble.config import PRECISIONS, EnsembleConfig
from ensemble.datasets.registry import DATASETS
from ensemble.errors import EnsembleError
from ensemble.jobs.kinds import KINDS, Kind, entry
from ensemble.jobs.worker import give_way
from ensemble.recognition.classifier import REFUSE
from ensemble.regression.settings import LbfgsConfig

EXIT_STATUS = {"finished": 0, "diverged": 3, "stopped": 130}


class Program(click.Group):
    """A click group that says a known error in one line and ends with its exit status."""

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


for command in (race, race_contender):
    main.add_command(command)


def worker(kind: Kind) -> click.Command:
    """The hidden command that is the worker of a queued job of this kind."""

    def work(job: str) -> None:
        if kind.nice:
            give_way()
        entry(kind.work)(job)

    said = f"{kind.title}: be the worker of a queued job (started by the pages)."
    return click.Command(
        kind.command, callback=work, params=[click.Argument(["job"])], help=said, hidden=True
    )


for kind in KINDS:
    main.add_command(worker(kind))


@main.command()
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
    if run.message:
        click.echo(run.message, err=True)
    click.echo(json.dumps(_result(run)))
    sys.exit(EXIT_STATUS.get(run.state, 1))


def _result(run: runs.Run) -> dict[str, Any]:
    status = run.status
    return {
        "run_id": run.id,
        "state": run.state,
        "member_test_accuracy": status.member_test_accuracy,
        "ensemble_test_accuracy": status.ensemble_test_accuracy,
        "ensemble_test_nll": status.ensemble_test_nll,
        "seconds": status.seconds,
        "img_member_per_s": status.img_member_per_s,
    }


@main.command()
@click.argument("run_id", metavar="RUN")
@click.option("--limit", type=click.IntRange(1), help="Only the first so many test images.")
def stress(run_id: str, limit: int | None) -> None:
    """Measure a run under distribution shift; the last line on stdout is one JSON object."""
    shift.queue_stress(run_id, limit)
    with ProgressLine(run_id) as line:
        found = shift.work_stress(run_id, line.stress)
    if found.message:
        click.echo(found.message, err=True)
    click.echo(json.dumps({"run_id": run_id, "state": found.state, **stress_summary(found)}))
    sys.exit(EXIT_STATUS.get(found.state, 1))


@main.command()
@settings_options(LbfgsConfig)
@click.option("--json", "as_json", is_flag=True, help="Only the last line, one JSON object.")
def lbfgs(as_json: bool, **chosen: Any) -> None:
    """Logistic regression by L-BFGS, with and without pmap; the last line is one JSON object."""
    from ensemble.cli.solve_summary import solve_summary

    chosen = {name: value for name, value in chosen.items() if value is not None}
    solve = regression.create_solve(LbfgsConfig(**chosen))
    with ProgressLine(solve.id) as line:
        solve = regression.work_solve(solve.id, (lambda status: None) if as_json else line.solve)
    if solve.message:
        click.echo(solve.message, err=True)
    click.echo(json.dumps(solve_summary(solve)))
    sys.exit(EXIT_STATUS.get(solve.state, 1))


@main.group(name="data")
def data_group() -> None:
    """Look at and fetch datasets."""


@data_group.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def data_list(as_json: bool) -> None:
    """Every dataset, and whether it is ready."""
    for one in datasets.infos():
        if as_json:
            click.echo(json.dumps(asdict(one)))
            continue
        ready = "ready" if one.prepared else "to be prepared"
        sizes = f"{one.train_size:>6,} + {one.test_size:>6,}"
        click.echo(f"{one.name:<14} {sizes}  {ready:<15} {one.source}")


@data_group.command(name="prepare")
@click.argument("name", type=click.Choice(DATASETS))
def data_prepare(name: str) -> None:
    """Fetch a dataset and make it ready; done once."""
    with ProgressLine(name) as line:
        datasets.prepare(name, line.fraction)
    click.echo(f"{name} is ready.")


@main.group(name="runs")
def runs_group() -> None:
    """List, show, stop and delete runs."""


@runs_group.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def runs_list(as_json: bool) -> None:
    """Every run, newest first."""
    for run in runs.list_runs():
        if as_json:
            click.echo(json.dumps(_result(run)))
            continue
        accuracy = run.status.ensemble_test_accuracy
        shown = "      –" if accuracy is None else f"{100 * accuracy:6.2f} %"
        epochs = f"epoch {run.status.epoch} of {run.config.epochs}"
        click.echo(f"{run.id:<32} {run.state:<9} {shown:>9}  {epochs:<16} {run.name}")


@runs_group.command(name="show")
@click.argument("run_id", metavar="RUN")
def runs_show(run_id: str) -> None:
    """A run's settings and status, as JSON."""
    run = runs.find(run_id)
    status = {**asdict(run.status), "state": run.state, "message": run.message}
    shown = {"run_id": run.id, "name": run.name, "settings": run.config.as_dict(), "status": status}
    click.echo(json.dumps(shown, indent=1))


@runs_group.command(name="stop")
@click.argument("run_id", metavar="RUN")
def runs_stop(run_id: str) -> None:
    """Ask a run to stop; it keeps a checkpoint and can be resumed."""
    runs.request_stop(run_id)
    click.echo(f"{run_id} was asked to stop.")


@runs_group.command(name="delete")
@click.argument("run_id", metavar="RUN")
def runs_delete(run_id: str) -> None:
    """Delete a run and all its files."""
    runs.delete(run_id)
    click.echo(f"{run_id} is deleted.")


@main.command()
@click.argument("run_id", metavar="RUN")
@click.argument("images", metavar="IMAGE...", nargs=-1, required=True, type=Path)
@click.option(
    "--epoch", type=click.IntRange(0), help="After how many epochs; the last if left out."
)
@click.option(
    "--refuse",
    default=REFUSE,
    show_default=True,
    type=click.FloatRange(0, 1, True, True),
    help="Share of real digits that may be turned away as strange.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def predict(
    run_id: str, images: tuple[Path, ...], epoch: int | None, refuse: float, as_json: bool
) -> None:
    """Read the digits in pictures: photos, scans or drawings of any common format."""
    from ensemble.cli.predicting import line_of, predict_pictures, printable

    failed = False
    for path, found in predict_pictures(run_id, images, epoch, refuse):
        if isinstance(found, EnsembleError):
            failed = True
            click.echo(f"{printable(path)}: {found}", err=True)
        else:
            click.echo(json.dumps(found) if as_json else line_of(found))
    sys.exit(1 if failed else 0)


@main.command()
@click.option("--json", "as_json", is_flag=True, help="As one JSON object.")
def devices(as_json: bool) -> None:
    """What there is to train on."""
    from ensemble.machine.jax_settings import describe_devices

    found = describe_devices()
    if as_json:
        click.echo(json.dumps(found))
        return
    for one in found["devices"]:
        click.echo(f"{one['id']}: {one['kind']}")


@main.command()
@click.option("--members", type=click.IntRange(1, 64), default=4, help="How many networks.")
@click.option("--batch-size", type=click.IntRange(1, 4096), default=128, help="Images in a step.")
@click.option("--devices", type=click.IntRange(0), default=0, help="How many; 0 takes all.")
@click.option("--dataset", type=click.Choice(DATASETS), help="By default MNIST if it is ready.")
@click.option(
    "--precision", type=click.Choice(PRECISIONS), default="float32",
    help="What compile time, memory and share are of; speed is measured in both.",
)  # fmt: skip
@click.option(
    "--seconds", type=click.FloatRange(0.1, 600), default=10, help="Of training, in each precision."
)
@click.option("--json", "as_json", is_flag=True, help="As one JSON object.")
def bench(as_json: bool, dataset: str | None, seconds: float, **chosen: Any) -> None:
    """Steady training speed on this machine, in both precisions."""
    from ensemble.race.training_speed import EMULATED, measure

    name = dataset or ("mnist" if datasets.is_prepared("mnist") else "digits")
    result = measure(EnsembleConfig(dataset=name, **chosen), seconds)
    if as_json:
        click.echo(json.dumps(result))
        return
    for key, value in result.items():
        click.echo(f"{key:<27} {value}")
    if result["bfloat16_emulated"]:
        click.echo(EMULATED)


if __name__ == "__main__":
    main(prog_name="python -m ensemble")
