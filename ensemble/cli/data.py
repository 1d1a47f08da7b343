"""The commands that look at datasets and fetch them."""

import json
from dataclasses import asdict

import click

from ensemble import datasets
from ensemble.cli.progress_line import ProgressLine


@click.group()
def data() -> None:
    """Look at and fetch datasets."""


@data.command(name="list")
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


@data.command(name="prepare")
@click.argument("name")
def data_prepare(name: str) -> None:
    """Fetch a dataset and make it ready; done once."""
    with ProgressLine(name) as line:
        datasets.prepare(name, line.fraction)
    click.echo(f"{name} is ready.")
