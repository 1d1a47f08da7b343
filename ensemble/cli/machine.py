"""The commands that list this machine's devices and measure its training speed."""

import json
from dataclasses import asdict
from typing import Any

import click

from ensemble import datasets
from ensemble.cli.output import print_line
from ensemble.cluster.schedulers import SCHEDULERS
from ensemble.config import MAX_MEMBERS, PRECISIONS, EnsembleConfig
from ensemble.errors import ClusterError
from ensemble.machine.bench_result import create_bench_result, machine_folder, write_bench_result
from ensemble.machine.network_cost import compute_network_cost
from ensemble.wording import formats


@click.command(name="devices")
@click.option("--json", "as_json", is_flag=True, help="As one JSON object.")
def run_devices_command(as_json: bool) -> None:
    """What there is to train on."""
    from ensemble.machine.jax_settings import read_device_info

    device_info = read_device_info()
    if as_json:
        click.echo(json.dumps(device_info | _read_scheduler_info()))
        return
    for entry in device_info["devices"]:
        print_line(f"{entry['id']}: {entry['kind']}")
    for name, scheduler_info in _read_scheduler_info().items():
        for entry in scheduler_info.get("partitions", []):
            free = f"{entry['free_nodes']:,} of {formats.format_count(entry['nodes'], 'node')} free"
            print_line(f"{name} {entry['name']}: {free}")


def _read_scheduler_info() -> dict[str, Any]:
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
@click.option("--members", type=click.IntRange(1, MAX_MEMBERS), default=4, help="Number of networks.")
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
    """Measure the training speed in both precisions.

    The result is stored in the data folder. Train bases its time estimate on it until there are runs.
    """
    from ensemble.machine.jax_settings import prepare_jax

    prepare_jax()  # before the engine imports JAX, which reads the number of devices then
    from ensemble.engine.training_speed import EMULATED_NOTE, measure_training_speed

    name = dataset or ("mnist" if datasets.is_dataset_prepared("mnist") else "digits")
    config = EnsembleConfig(dataset=name, **chosen)
    result = measure_training_speed(config, seconds)
    _store_bench_result(config, result)
    if as_json:
        click.echo(json.dumps(result))
        return
    for key, value in result.items():
        click.echo(f"{key:<27} {value}")
    if result["bfloat16_emulated"]:
        click.echo(EMULATED_NOTE)


def _store_bench_result(config: EnsembleConfig, measured: dict[str, Any]) -> None:
    """Store what was measured for Train's estimate; warn on stderr if it cannot be stored."""
    from ensemble.machine.jax_settings import read_device_info

    device_info, info = read_device_info(), datasets.find_dataset_info(config.dataset)
    cost = compute_network_cost(config.network, info.image_shape, len(info.class_names), config.width)
    assert cost is not None, "a built-in network"
    devices = len(device_info["devices"])
    result = create_bench_result(
        config,
        {name: measured[f"img_member_per_s_{name}"] for name in PRECISIONS},
        platform=device_info["platform"],
        devices=min(config.devices or devices, devices),
        work=cost.flops,
    )
    try:
        write_bench_result(result)
    except OSError as error:
        print_line(
            f"Could not store the result in {machine_folder()} ({error.strerror}). Free some disk space, or point "
            "ENSEMBLE_DATA at a writable folder.",
            err=True,
        )
