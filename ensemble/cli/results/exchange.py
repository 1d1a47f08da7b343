"""The commands that take predictions in and give them out."""

import json
from pathlib import Path

import click

from ensemble import exchange
from ensemble.cli.outcome import say
from ensemble.cli.train import run_summary


@click.command(name="import")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=Path)
@click.option("--name", default="", help="What to call the run.")
def import_(files: tuple[Path, ...], name: str) -> None:
    """Make a run of predictions from elsewhere: .npz, CSV or Parquet, one file or one a member.

    The last line on stdout is one JSON object. docs/bring_your_own.md says what a file holds.
    """
    outputs = exchange.read(files)
    source = ", ".join(shown(Path(file.name)) for file in files)
    run = exchange.import_run(outputs, name, source[:200])
    for note in outputs.notes:
        say(note, err=True)
    counts = {
        "epochs": outputs.epochs, "members": outputs.members, "examples": outputs.examples,
        "classes": outputs.classes, "images": outputs.images is not None,
    }  # fmt: skip
    click.echo(json.dumps({**run_summary(run), **counts, "notes": list(outputs.notes)}))


def shown(path: Path) -> str:
    """A path as JSON may have it: bytes that are not UTF-8 are spelt out."""
    return str(path).encode("utf-8", "backslashreplace").decode()


@click.command()
@click.argument("run_id", metavar="RUN")
@click.argument("file", metavar="FILE", type=Path)
@click.option("--epoch", type=click.IntRange(1), help="After which epoch; the last if left out.")
@click.option("--all-epochs", is_flag=True, help="Every epoch whose predictions are kept.")
@click.option("--images/--no-images", default=True, help="With the test images, or without.")
@click.option("--force", is_flag=True, help="Replace the file if it is there.")
def export(
    run_id: str, file: Path, epoch: int | None, all_epochs: bool, images: bool, force: bool
) -> None:
    """Write a run's test predictions, labels and names as .npz, in the form that `import` takes."""
    if epoch is not None and all_epochs:
        raise click.UsageError("--epoch is one epoch and --all-epochs is every one: choose.")
    made = exchange.export_run(
        run_id, file, epoch=epoch, all_epochs=all_epochs, images=images, replace=force
    )
    click.echo(json.dumps({
        "run_id": run_id, "file": shown(made.path), "epochs": made.epochs,
        "shape": made.shape, "images": made.images,
    }))  # fmt: skip
