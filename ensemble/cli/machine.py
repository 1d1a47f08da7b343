"""The commands that look at this machine and measure it; one is the race's own process."""

import json
import sys
from dataclasses import asdict, replace
from typing import Any

import click

from ensemble import datasets
from ensemble.cli.options import add_settings_options
from ensemble.cli.output import print_line
from ensemble.cli.placement import add_one_node_options, parse_placement_options, summarize_task
from ensemble.cli.progress_line import ProgressLine
from ensemble.cluster.schedulers import SCHEDULERS
from ensemble.config import PRECISIONS, EnsembleConfig
from ensemble.errors import ClusterError, RunError
from ensemble.race import Race, build_default_race, commands, queue_race, read_race
from ensemble.race.settings import COMPETITORS, RaceConfig
from ensemble.wording import formats


@click.command(name="devices")
@click.option("--json", "as_json", is_flag=True, help="As one JSON object.")
def run_devices_command(as_json: bool) -> None:
    """What there is to train on."""
    from ensemble.machine.jax_settings import read_device_info

    device_info = read_device_info()
    if as_json:
        click.echo(json.dumps(device_info | read_scheduler_info()))
        return
    for entry in device_info["devices"]:
        print_line(f"{entry['id']}: {entry['kind']}")
    for name, scheduler_info in read_scheduler_info().items():
        for entry in scheduler_info.get("partitions", []):
            free = f"{entry['free_nodes']:,} of {formats.format_count(entry['nodes'], 'node')} free"
            print_line(f"{name} {entry['name']}: {free}")


def read_scheduler_info() -> dict[str, Any]:
    """What each scheduler of this machine has, or why it does not say so, by its name."""
    infos: dict[str, Any] = {}
    for scheduler in SCHEDULERS.values():
        if not scheduler.available():
            continue
        try:
            infos[scheduler.name] = {
                "partitions": [asdict(partition) for partition in scheduler.partitions()],
                "tasks": [asdict(entry) for entry in scheduler.queue().values()],
            }
        except ClusterError as error:
            infos[scheduler.name] = {"problem": str(error)}
    return infos


@click.command(name="bench")
@click.option("--members", type=click.IntRange(1, 64), default=4, help="Number of networks.")
@click.option("--batch-size", type=click.IntRange(1, 4096), default=128, help=("Images in one step."))
@click.option("--devices", type=click.IntRange(0), default=0, help=("Number of devices; 0 takes all."))
@click.option("--dataset", help="By default MNIST if it is ready.")
@click.option(
    "--precision",
    type=click.Choice(PRECISIONS),
    default="float32",
    help="Precision for compile time, memory and share; speed is measured in both.",
)
@click.option("--seconds", type=click.FloatRange(0.1, 600), default=10, help=("Seconds to train in each precision."))
@click.option("--json", "as_json", is_flag=True, help="As one JSON object.")
def run_bench_command(as_json: bool, dataset: str | None, seconds: float, **chosen: Any) -> None:
    """Steady training speed on this machine, in both precisions."""
    from ensemble.race.training_speed import EMULATED_NOTE, measure_training_speed

    name = dataset or ("mnist" if datasets.is_dataset_prepared("mnist") else "digits")
    result = measure_training_speed(EnsembleConfig(dataset=name, **chosen), seconds)
    if as_json:
        click.echo(json.dumps(result))
        return
    for key, value in result.items():
        click.echo(f"{key:<27} {value}")
    if result["bfloat16_emulated"]:
        click.echo(EMULATED_NOTE)


@click.command(name="race")
@add_settings_options(RaceConfig)
@add_one_node_options
@click.option("--json", "as_json", is_flag=True, help="Only the last line, one JSON object.")
def run_race_command(as_json: bool, **chosen: Any) -> None:
    """Measure this machine: this engine, the HOWTO's loop, one member after another.

    With --on it measures the node that the cluster gives it, and nothing here is taken from that.
    """
    place = parse_placement_options(chosen)
    chosen = {name: value for name, value in chosen.items() if value is not None}
    queue_race(replace(build_default_race(), **chosen), place)
    with ProgressLine("race") as line:
        job = commands.run_race_worker((lambda status: None) if as_json else line.show_race)
    if job.message:
        print_line(job.message, err=True)
    if job.state != "finished":
        click.echo(json.dumps({"state": job.state} | summarize_task(job.path)))
        sys.exit(130 if job.state == "stopped" else 1)
    finished_race = load_finished_race(job.status.race)
    if not as_json:
        for row in tabulate_race(finished_race):
            print_line(row, err=True)
    click.echo(json.dumps({"state": job.state, **asdict(finished_race)} | summarize_task(job.path)))


def load_finished_race(name: str) -> Race:
    """What a race that has ended found; RunError where it cannot be read."""
    try:
        return read_race(name)
    except (OSError, ValueError) as error:
        raise RunError(f"The results of the race cannot be read ({error}): start it again.") from error


def tabulate_race(race: Race) -> list[str]:
    """A race in lines: a row for each competitor, img·member/s for each number of members."""
    every = sorted({members for rates in race.rates.values() for members in rates})
    lines = [f"{'img·member/s':<12}" + "".join(f"{f'M = {members}':>10}" for members in every)]
    for name, rates in race.rates.items():
        cells = (f"{rates[members]:,.0f}" if members in rates else "–" for members in every)
        lines.append(f"{name:<12}" + "".join(f"{cell:>10}" for cell in cells))
    return lines + [f"{name}: {why}" for name, why in race.absent.items()]


@click.command(name="race-competitor", hidden=True)
@click.argument("name", type=click.Choice(COMPETITORS))
@click.argument("settings")
def run_race_competitor_command(name: str, settings: str) -> None:
    """Be a race's competitor: a request a line on stdin, an answer a line on stdout."""
    from ensemble.race.competitor import run_competitor

    run_competitor(name, RaceConfig.from_dict(json.loads(settings)))
