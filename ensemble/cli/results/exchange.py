"""The commands that take predictions in and give them out."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ensemble import exchange
from ensemble.cli.options import DECIMAL_OPTION
from ensemble.cli.output import print_line
from ensemble.cli.results.numbers import summarize_numeric_run
from ensemble.cli.train import summarize_run
from ensemble.exchange.file_task import is_numeric_file
from ensemble.exchange.numeric_files import read_numeric_file
from ensemble.exchange.numeric_import import import_numbers

if TYPE_CHECKING:
    from ensemble.export import ExportedFile
    from ensemble.export.member_export import Temperature

# As `ensemble.export` has them; the second are what trackers of experiments read.
EXPORT_FORMAT_NAMES = ("npz", "safetensors", "onnx", "stablehlo", "folder", "csv", "tensorboard")
_TRACKER_NAMES = ("csv", "tensorboard")
_FIGURE_TOLERANCE = 1e-5


@click.command(name="import")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=Path)
@click.option("--name", default="", help="Name of the run.")
@click.option("--run", "run_id", metavar="RUN", default="", help=("Import only this run from a report of several."))
@click.option(
    "--labels",
    "labels_as",
    type=click.Choice(list(exchange.LABEL_READINGS)),
    help="What labels are that could be several: class names, or positions from 0 or 1.",
)
@click.option("--noun", default="", help="Noun for one example: leaf; by default image or example.")
@DECIMAL_OPTION
def run_import_command(
    files: tuple[Path, ...], name: str, run_id: str, labels_as: str | None, noun: str, decimal: str | None
) -> None:
    """Make a run of predictions from elsewhere, or every run of a report.

    Predictions are .npz, CSV or Parquet, one file or one a member: docs/bring_your_own.md says what
    a file holds. A report is a page that was saved of runs, with their data in it. The last line on
    stdout is one JSON object.
    """
    options = {"--labels": labels_as, "--noun": noun, "--decimal": decimal}
    given = [option for option, value in options.items() if value]
    if all(exchange.is_report_file(file) for file in files):
        if given:
            raise click.UsageError(f"{given[0]} is for files of predictions: leave it out for a report.")
        _import_report_runs(files, name, run_id)
        return
    if run_id:
        raise click.UsageError("--run is for reports: files of predictions are one run.")
    if len(files) == 1 and is_numeric_file(files[0]):
        if labels_as or noun:
            raise click.UsageError(f"{given[0]} is for classes: the file has predicted numbers.")
        numbers = read_numeric_file(files[0], decimal or "")
        numeric_run = import_numbers(numbers, name, files[0].name)
        for note in numbers.notes:
            print_line(note, err=True)
        click.echo(json.dumps({**summarize_numeric_run(numeric_run), "notes": list(numbers.notes)}))
        return
    outputs = exchange.read_prediction_files(files, labels_as=labels_as or "", decimal=decimal or "")
    source = ", ".join(escape_path_surrogates(Path(file.name)) for file in files)
    run = exchange.import_run(outputs, name, source[:200], noun)
    for note in outputs.notes:
        print_line(note, err=True)
    counts = {
        "epochs": outputs.epochs,
        "members": outputs.members,
        "examples": outputs.examples,
        "classes": outputs.classes,
        "images": outputs.images is not None,
        "label_reading": outputs.label_reading or None,
    }
    click.echo(json.dumps({**summarize_run(run), **counts, "notes": list(outputs.notes)}))


def _import_report_runs(files: tuple[Path, ...], name: str, run_id: str) -> None:
    report_capsules = exchange.find_report_capsules(exchange.read_reports(files), run_id)
    if name and len(report_capsules) > 1:
        raise click.UsageError("--name is for one run, and these are several: choose one with --run.")
    summaries = []
    for capsule in report_capsules:
        run = exchange.import_capsule(capsule, name)
        print_line(f"{run.id}: imported from {run.origin} of a report.", err=True)
        for note in capsule.notes:
            print_line(note, err=True)
        summaries.append({**summarize_run(run), "origin": run.origin, "notes": list(capsule.notes)})
    click.echo(json.dumps(summaries[0] if len(summaries) == 1 else {"runs": summaries}))


def escape_path_surrogates(path: Path) -> str:
    """A path as JSON may have it: bytes that are not UTF-8 are spelt out."""
    return str(path).encode("utf-8", "backslashreplace").decode()


def _parse_temperature(text: str | None) -> "Temperature":
    """A temperature as it was typed: a number, or a word that `export_members` knows.

    Raises:
      BadParameter: it is neither.
    """
    if text is None:
        return None
    if text == "fitted":
        return "fitted"
    try:
        return float(text)
    except ValueError as error:
        raise click.BadParameter(
            f"{text!r:.40} is neither a number nor “fitted”.", param_hint="--temperature"
        ) from error


def _export_ensemble(
    run_id: str,
    file: Path,
    format_name: str,
    with_members: bool,
    *,
    epoch: int | None,
    temperature: "Temperature",
    force: bool,
) -> None:
    """Write what other programs take, and say what it is worth.

    Raises:
      UsageError: it holds weights, and these were not asked for.
    """
    from ensemble.export import export_members, find_export_format

    if find_export_format(format_name).holds_weights and not with_members:
        raise click.UsageError(f"--format {format_name} holds the members' parameters: add --with-members.")
    written = export_members(run_id, file, format_name, epoch=epoch, temperature=temperature, replace=force)
    if written.recorded and not _has_equal_figures(written):
        print_line(
            "The figures of the file are not quite the run's: its numbers were rounded otherwise as it trained.",
            err=True,
        )
    click.echo(
        json.dumps(
            {
                "run_id": run_id,
                "file": escape_path_surrogates(written.path),
                "format": written.format,
                "epoch": written.epoch,
                "members": written.members,
                "bytes": written.nbytes,
                "temperature": written.temperature,
                "figures": written.figures,
                "run_figures": written.recorded,
                "difference": written.difference,
            }
        )
    )


def _has_equal_figures(written: "ExportedFile") -> bool:
    """Whether the figures of a file are those of the run, but for the rounding of float32."""
    return all(abs(figure - written.recorded[name]) <= _FIGURE_TOLERANCE for name, figure in written.figures.items())


@click.command(name="export")
@click.argument("run_id", metavar="RUN")
@click.argument("file", metavar="FILE", type=Path)
@click.option(
    "--epoch", type=click.IntRange(1), help=("Epoch; by default the one chosen on validation images, else the last.")
)
@click.option("--all-epochs", is_flag=True, help="Every epoch with stored predictions.")
@click.option("--images/--no-images", default=None, help="Whether to include the test images, as by default.")
@click.option("--with-members", is_flag=True, help="The members' parameters in their place.")
@click.option(
    "--format",
    "format_name",
    type=click.Choice(EXPORT_FORMAT_NAMES),
    help="What other programs read; by default that of FILE's ending. npz without members is what `import` takes.",
)
@click.option(
    "--to",
    "tracker",
    type=click.Choice(_TRACKER_NAMES),
    help="The curves and figures for a tracker of experiments; the same as --format.",
)
@click.option(
    "--temperature",
    "temperature_text",
    metavar="T|fitted",
    help="Of the averaged probabilities in a program: a number, or fitted to validation images.",
)
@click.option("--force", is_flag=True, help="Replace the file if it exists.")
def run_export_command(
    run_id: str,
    file: Path,
    epoch: int | None,
    all_epochs: bool,
    images: bool | None,
    with_members: bool,
    format_name: str | None,
    tracker: str | None,
    temperature_text: str | None,
    force: bool,
) -> None:
    """Write a run's test predictions, labels and names as .npz, in the form that `import` takes.

    With --format, --to or --with-members, what other programs take: weights, a program, a folder
    that classifies, or the curves. What was written is read back: the last line has its figures.
    """
    if epoch is not None and all_epochs:
        raise click.UsageError("Give --epoch or --all-epochs, not both.")
    if tracker and format_name:
        raise click.UsageError("Give --format or --to, not both.")
    from ensemble.export import choose_export_format  # late: it takes a while

    format_name = choose_export_format(file, format_name or tracker).name
    temperature = _parse_temperature(temperature_text)
    if with_members or format_name != "npz":
        if all_epochs or images is not None:
            option = "--all-epochs" if all_epochs else "--images"
            raise click.UsageError(f"{option} is of predictions: leave it out.")
        _export_ensemble(run_id, file, format_name, with_members, epoch=epoch, temperature=temperature, force=force)
        return
    if temperature is not None:
        raise click.UsageError("--temperature is of programs: add --format onnx or stablehlo.")
    images = images is not False
    export = exchange.export_run(run_id, file, epoch=epoch, all_epochs=all_epochs, images=images, replace=force)
    click.echo(
        json.dumps(
            {
                "run_id": run_id,
                "file": escape_path_surrogates(export.path),
                "epochs": export.epochs,
                "shape": export.shape,
                "images": export.images,
            }
        )
    )
