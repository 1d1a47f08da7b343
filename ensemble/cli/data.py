"""The commands that look at datasets, fetch them, and add and remove one's own."""

import contextlib
import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from ensemble import datasets
from ensemble.cli.options import add_settings_options
from ensemble.cli.output import print_line
from ensemble.cli.progress_line import ProgressLine
from ensemble.config import EnsembleConfig
from ensemble.datasets.label_meanings import LABEL_READINGS
from ensemble.datasets.own.request import COMPANION_CHOICES, COMPANION_OPTION, DatasetNaming, PreparationSettings
from ensemble.errors import DataError, RunError


@click.group(name="data")
def run_data_command() -> None:
    """Look at and fetch datasets; add and remove your own."""


@run_data_command.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def run_data_list_command(as_json: bool) -> None:
    """Every dataset, and whether it is ready."""
    for dataset_info in datasets.list_dataset_infos():
        if as_json:
            click.echo(json.dumps(asdict(dataset_info)))
            continue
        ready = "ready" if dataset_info.prepared else "damaged" if dataset_info.own else "to be prepared"
        sizes = f"{dataset_info.train_size:>6,} + {dataset_info.test_size:>6,}"
        print_line(f"{dataset_info.name:<14} {sizes}  {ready:<15} {dataset_info.source}")


@run_data_command.command(name="prepare")
@click.argument("name")
def run_data_prepare_command(name: str) -> None:
    """Fetch a dataset and make it ready; done once."""
    with ProgressLine(name) as line:
        datasets.prepare_dataset(name, line.show_fraction)
    click.echo(f"{name} is ready.")


@run_data_command.command(name="add")
@click.argument("name")
@click.argument("source")
@add_settings_options(PreparationSettings)
@click.option(
    "--merge-classes/--keep-classes",
    default=None,
    help=(
        "Whether folders whose names differ only in capitals, spaces or underscores are one "
        "class; to be said where there are such."
    ),
)
@click.option(
    "--class-pattern",
    default="",
    help=(
        "Where the class stands in a picture's name without its ending: {class}_# for cat_12.jpg; "
        "# stands for digits, * for anything. By default folders or a table say the class."
    ),
)
@click.option(
    "--labels",
    "labels_as",
    type=click.Choice(list(LABEL_READINGS)),
    help=(
        "What labels in arrays are where classes have names: names, or positions from 0 or 1. By "
        "default names where all are, else positions from 0."
    ),
)
@click.option(
    COMPANION_OPTION,
    type=click.Choice(COMPANION_CHOICES),
    help="What to do with masks, thumbnails and segmentation images next to pictures.",
)
@click.option("--noun", default="image", help="Noun for one image: leaf.")
@click.option("--title", default="", help="Title of the dataset; by default its name.")
@click.option("--json", "as_json", is_flag=True, help="Only the last line, one JSON object.")
def run_data_add_command(name: str, source: str, noun: str, title: str, as_json: bool, **chosen: Any) -> None:
    """Add your own images as dataset NAME, to be trained on by --dataset NAME.

    SOURCE is a folder with one folder of pictures for each class, perhaps within folders of splits
    (train and test, as people call them), or with pictures and a table labels.csv; a folder or file
    of Parquet or WebDataset; an .npz or a folder of .npy with train_images and train_labels; a
    folder of IDX files or of CIFAR's binary version; SVHN's .mat; HDF5; what Hugging Face's
    save_to_disk writes; a .csv with a label and pixels a row; or tfds:NAME.
    """
    # Late: it is a while to decoders.
    from ensemble.datasets.own import dataset_builder, source_lookup
    from ensemble.datasets.own.report import serialize_preparation_report as in_json

    how = PreparationSettings(**{key: value for key, value in chosen.items() if value is not None})
    called = DatasetNaming(name, title, noun)
    with ProgressLine(name) as line:
        tell = None if as_json else line.show_fraction
        report = dataset_builder.add_custom_dataset(
            source_lookup.open_picture_source(source, how.seed, how.class_pattern, how.labels_as, how.masks),
            how,
            called,
            tell,
        )
    if as_json:
        click.echo(json.dumps(in_json(report)))
        return
    note = report.note
    for sentence in [*note.tree, note.prepared, *note.said]:
        print_line(sentence, err=True)
    smaller = format_batch_size_option(note.train_size)
    print_line(
        f"{name} has been added: {note.train_size:,} training images, {note.test_size:,} test "
        f"images, {len(note.class_names):,} classes. Train with --dataset {name}{smaller}."
    )


def format_batch_size_option(images: int) -> str:
    """The option that so few images need, or "" where the usual batch can be made of them."""
    if images >= EnsembleConfig().batch_size:
        return ""
    return f" --batch-size {1 << (images.bit_length() - 1)}"


@run_data_command.command(name="decisions")
@click.argument("name")
def run_data_decisions_command(name: str) -> None:
    """What was decided about the labels of a dataset on the screen Labels, as CSV.

    A row for each image that was looked at: `ensemble data relabel` takes it, also edited.
    """
    from ensemble.datasets.decisions import decision_table

    dataset = datasets.load_dataset(name)
    decisions = decision_table.list_dataset_decisions(dataset)
    click.echo(decision_table.format_decisions_csv(decisions, dataset.class_names), nl=False)


@run_data_command.command(name="relabel")
@click.argument("name")
@click.argument("table", type=click.Path(path_type=Path))
@click.option("--as", "new_name", default="", help="Name of the new version; by default NAME_2, then NAME_3.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def run_data_relabel_command(name: str, table: Path, new_name: str, as_json: bool) -> None:
    """Make a new version of dataset NAME with the decisions in TABLE, a CSV file.

    Its columns are split, number, image, label, decision and new_label, as `ensemble data
    decisions NAME` writes them. NAME stays as it is, and so do its runs. A row that does not fit
    is told with its line, and then nothing is changed.
    """
    from ensemble.datasets.decisions import decision_table, relabeling
    from ensemble.wording.label_decisions import TEST_LABELS_ALONE_CHANGED

    dataset = datasets.load_dataset(name)
    changes = decision_table.read_label_changes(table, dataset)
    new_name = new_name or relabeling.suggest_version_name(name)
    with ProgressLine(new_name) as line:
        note = relabeling.relabel_dataset(dataset, changes, new_name, None if as_json else line.show_fraction)
    if as_json:
        click.echo(json.dumps({"name": new_name, "unchanged": changes.unchanged, **vars(note), "notes": changes.notes}))
        return
    for sentence in (*changes.notes, *note.said):
        print_line(sentence, err=True)
    added = f"{new_name} has been added: {name} with {relabeling.describe_changes(changes)}."
    if not note.training_changed:
        print_line(f"{added} {TEST_LABELS_ALONE_CHANGED}")
        return
    print_line(f"{added} Train with --dataset {new_name}{format_batch_size_option(note.train_size)}.")
    if command := _build_mended_rerun_command(changes.runs, name, new_name):
        print_line(f"The run whose members were asked, again on {new_name}: {command}")


def _build_mended_rerun_command(run_ids: Iterable[str], name: str, new_name: str) -> str:
    """The command that trains a run's settings on the new version; "" where there is no such run."""
    from ensemble import runs
    from ensemble.wording.provenance import build_rerun_command

    for run_id in reversed(list(run_ids)):
        with contextlib.suppress(RunError):
            run = runs.find_run(run_id)
            if run.training_config and run.training_config.dataset == name:
                return build_rerun_command(run, new_name)
    return ""


@run_data_command.command(name="compare")
@click.argument("run_id", metavar="RUN")
@click.argument("other_id", metavar="OTHER")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def run_data_compare_command(run_id: str, other_id: str, as_json: bool) -> None:
    """What mending labels did: RUN on the new version against OTHER on the one of before.

    Both are judged on the test images that both versions have, by the new version's labels.
    """
    from ensemble import runs
    from ensemble.comparison.mended_labels import compare_mended_runs
    from ensemble.wording import label_decisions as words

    run, other = runs.find_run(run_id), runs.find_run(other_id)
    comparison = compare_mended_runs(run, other)
    answer = words.describe_mended_gain(comparison)
    if as_json:
        click.echo(
            json.dumps(
                {"run": run.id, "other": other.id, "answer": answer, **words.serialize_mended_comparison(comparison)}
            )
        )
        return
    print_line(answer)
    print_line(words.describe_mended_basis(comparison, run.name, other.name, run.data.noun))
    if caution := words.describe_test_label_caution(comparison, run.data.noun):
        print_line(caution)


@run_data_command.command(name="remove")
@click.argument("name")
def run_data_remove_command(name: str) -> None:
    """Remove a dataset that you have added; what was trained on it stays."""
    from ensemble import runs
    from ensemble.datasets.own import staging

    if active := [
        run for run in runs.list_runs() if run.active and run.training_config and run.training_config.dataset == name
    ]:
        raise DataError(f"The run {active[0].id} is training on {name}: stop it first, or let it end.")
    staging.remove_custom_dataset(name)
    print_line(f"{name} is removed.")
