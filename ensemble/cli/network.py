"""The command that looks at a network before it is trained: layers, parameters, operations."""

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from typing import Any

import click

from ensemble import architectures
from ensemble.cli.output import REFUSAL_FIELDS, print_line
from ensemble.config import EnsembleConfig
from ensemble.datasets.registry import find_dataset_entry
from ensemble.errors import ConfigError
from ensemble.machine.jax_environment import check_jax_environment


@click.command(name="network")
@click.argument("name")
@click.option("--dataset", default="digits", help=("Dataset that gives images and classes; digits by default."))
@click.option("--width", type=click.IntRange(0, 1024), default=0, help=("Width of the layers; 0 is its default."))
@click.option("--json", "as_json", is_flag=True, help="Only the last line, one JSON object.")
def run_network_command(name: str, dataset: str, width: int, as_json: bool) -> None:
    """Look at network NAME as it would learn a dataset: layers, parameters, operations.

    NAME is built in, or package.module:Factory, one of your own, whose code is imported.
    """
    click.get_current_context().meta[REFUSAL_FIELDS] = {"name": name}
    with _redirect_stdout_to_stderr():
        network = _summarize_network(name, dataset, width)
    if as_json:
        click.echo(json.dumps(network))
        return
    for line in _format_network_summary(network):
        print_line(line)


@contextlib.contextmanager
def _redirect_stdout_to_stderr() -> Iterator[None]:
    """What imported code writes to standard output goes to standard error: stdout is ours."""
    sys.stdout.flush()
    stdout_copy = os.dup(1)
    os.dup2(2, 1)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        sys.stdout.flush()
        os.dup2(stdout_copy, 1)
        os.close(stdout_copy)


def _summarize_network(name: str, dataset: str, width: int) -> dict[str, Any]:
    """What there is to know of a network for the images of a dataset, ready for JSON.

    Raises:
      ConfigError: there is no such network or dataset, or it cannot learn these images.
    """
    if architectures.is_custom_network(name):
        architectures.allow_network(name)
    config = EnsembleConfig(network=name, dataset=dataset, width=width)
    os.environ["JAX_PLATFORMS"] = "cpu"  # Nothing is computed: an accelerator is left alone.
    check_jax_environment()
    from ensemble.engine import build_network
    from ensemble.engine.networks.custom.network_advice import list_network_advice, list_network_notes

    network = build_network(config)
    return {
        "name": name,
        "title": architectures.format_network_title(name),
        "dataset": dataset,
        "image_shape": network.image_shape,
        "classes": network.classes,
        "layers": [
            {"path": path, "shape": shape.shape, "numbers": shape.size} for path, shape in network.shapes.items()
        ],
        "parameters": network.parameters,
        "flops": network.flops,
        "carried": sum(shape.size for shape in network.shapes.values()) - network.parameters,
        "outputs": network.outputs,
        "collections": network.collections,
        "dropout": network.is_stochastic,
        "bfloat16": _can_use_bfloat16(network),
        "notes": list_network_notes(network) if network.is_custom else (),
        "advice": list_network_advice(network) if network.is_custom else (),
    }


def _can_use_bfloat16(network: Any) -> bool:
    """Whether a network can be told to multiply bfloat16."""
    import jax

    from ensemble.engine.networks.arithmetic import Arithmetic

    params = jax.eval_shape(network.init, jax.random.key(0))
    image = jax.ShapeDtypeStruct((1, *network.image_shape), "float32")
    half = Arithmetic("grouped", "bfloat16")
    try:
        jax.eval_shape(lambda p, x: network.apply(p, x, half), params, image)
    except ConfigError:
        return False
    return True


def _format_network_summary(summary: dict[str, Any]) -> list[str]:
    """A description for people: a line a layer's array, then what it comes to."""
    height, width, channels = summary["image_shape"]
    title = find_dataset_entry(summary["dataset"]).title
    longest = max(len(layer_info["path"]) for layer_info in summary["layers"])
    lines = [f"{summary['title']} on {title}: images {height}×{width}×{channels} to logits (B, {summary['classes']})"]
    for layer in summary["layers"]:
        shape = "×".join(map(str, layer["shape"]))
        lines.append(f"  {layer['path']:<{longest}}  {shape:>14}  {layer['numbers']:>12,}")
    lines.append(f"{summary['parameters']:,} parameters, {summary['flops']:,} FLOPs an image")
    if summary["collections"]:
        named = ", ".join(summary["collections"])
        lines.append(f"Besides its parameters it carries {named}: {summary['carried']:,} numbers.")
    if summary["dropout"]:
        lines.append("It draws random numbers during training, as dropout does.")
    if not summary["bfloat16"]:
        lines.append("It trains in float32 only: it has no field dtype to set bfloat16 with.")
    return [*lines, *summary["notes"], *summary["advice"]]
