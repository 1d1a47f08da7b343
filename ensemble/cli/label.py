"""The commands that say which images to label next, take their labels, and try whether it pays."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ensemble import architectures, datasets
from ensemble.acquisition.learning_job import LearningConfig
from ensemble.acquisition.next_labels import DEFAULT_COUNT, DEFAULT_STRATEGY, NextLabels, choose_next_labels
from ensemble.analysis.acquisition.image_choice import STRATEGIES, translate_strategy
from ensemble.cli.data import format_batch_size_option
from ensemble.cli.options import DECIMAL_OPTION, EPOCH_OPTION, Command, add_settings_options, build_setting_option
from ensemble.cli.output import exit_with_result, print_line
from ensemble.cli.placement import add_placement_options, parse_placement_options, summarize_task
from ensemble.cli.progress_line import ProgressLine
from ensemble.config import EnsembleConfig
from ensemble.datasets.own.pools.label_pool import LabelPool
from ensemble.datasets.own.pools.pool_arms import CHOSEN_ARM, RANDOM_ARM
from ensemble.datasets.registry import find_dataset_entry
from ensemble.settings import list_setting_fields

if TYPE_CHECKING:
    from ensemble import runs
    from ensemble.acquisition.learning_job import LearningExperiment
    from ensemble.acquisition.learning_results import LearningCurves

_LEARNING_FIELDS = tuple(each.name for each in list_setting_fields(LearningConfig))


class _StrategyChoice(click.Choice[str]):
    """One of the strategies, also by its name of an earlier version."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return super().convert(translate_strategy(value), param, ctx)


_ARM_OPTION = click.option(
    "--arm",
    type=click.Choice(["all", CHOSEN_ARM, RANDOM_ARM]),
    default="all",
    help="Whose labels: those chosen, those drawn at random, or all; all by default.",
)


@click.group(name="label")
def run_label_command() -> None:
    """Which images to label next, and whether choosing them pays."""


@run_label_command.command(name="pool")
@click.argument("name")
@click.argument("source", type=click.Path(path_type=Path))
@click.option("--dataset", "dataset_name", required=True, help="Whose classes they may be.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def run_label_pool_command(name: str, source: Path, dataset_name: str, as_json: bool) -> None:
    """Keep images without labels as pool NAME, to be labelled as classes of a dataset.

    SOURCE is a folder of pictures, also within further folders, a .zip of one, or an .npy of images
    in the dataset's form. What the dataset has already is left out, its test images too.
    """
    from ensemble.datasets.own.pools.label_pool import add_label_pool

    dataset = datasets.load_dataset(dataset_name)
    with ProgressLine(name) as line:
        pool = add_label_pool(name, source, dataset, None if as_json else line.show_fraction)
    if as_json:
        click.echo(json.dumps({"name": name, **vars(pool.note)}))
        return
    for sentence in pool.note.said:
        print_line(sentence, err=True)
    print_line(
        f"{name} has {pool.note.images:,} images that wait for a label. Choose some with "
        f"ensemble label next {name} --run RUN --queue."
    )


@run_label_command.command(name="pools")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def run_label_pools_command(as_json: bool) -> None:
    """Every pool, and how much of it is labelled."""
    from ensemble.datasets.own.pools.label_pool import list_label_pools
    from ensemble.datasets.own.pools.pool_labels import list_pool_labels

    for pool in list_label_pools():
        labelled = len(list_pool_labels(pool))
        if as_json:
            facts = {"name": pool.name, "dataset": pool.note.dataset, "images": pool.note.images}
            click.echo(json.dumps({**facts, "labelled": labelled}))
        else:
            print_line(f"{pool.name:<14} {pool.note.images:>7,} images, {labelled:,} labelled, for {pool.note.dataset}")


@run_label_command.command(name="remove")
@click.argument("name", metavar="POOL")
def run_label_remove_command(name: str) -> None:
    """Remove a pool; what was said of its images is kept, and so is what was made of them."""
    from ensemble.datasets.own.pools.label_pool import remove_label_pool

    remove_label_pool(name)
    print_line(f"{name} is removed.")


@run_label_command.command(name="next")
@click.argument("pools", nargs=-1, required=True, metavar="POOL...")
@click.option("--run", "run_id", metavar="RUN", default="", help="Whose members are asked.")
@EPOCH_OPTION
@click.option(
    "--by",
    "strategy",
    type=_StrategyChoice(list(STRATEGIES)),
    default=DEFAULT_STRATEGY,
    help=f"What images are chosen by; {DEFAULT_STRATEGY} by default.",
)
@click.option("--count", type=int, default=DEFAULT_COUNT, help=f"How many are chosen; {DEFAULT_COUNT} by default.")
@click.option("--seed", type=int, default=0, help="Of what is drawn; 0 by default.")
@click.option(
    "--random-arm/--no-random-arm",
    default=True,
    help="Whether as many are drawn at random beside them; by default they are.",
)
@click.option("--queue", is_flag=True, help="Put them into the queue of the screen Labels.")
@DECIMAL_OPTION
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def run_label_next_command(
    pools: tuple[str, ...],
    run_id: str,
    epoch: int | None,
    strategy: str,
    count: int,
    seed: int,
    random_arm: bool,
    queue: bool,
    decimal: str | None,
    as_json: bool,
) -> None:
    """Which images to label next, by what members say of them; the random arm beside them.

    With --run RUN POOL is a pool, or a folder of pictures, a .zip of one or an .npy of images.
    Without it POOL is a file of the members' predictions: an .npz with probabilities (or logits) of
    the shape (members, examples, classes), a CSV or a Parquet table, or one such for each member.
    """
    if not run_id:
        if queue or epoch is not None:
            raise click.UsageError("--queue and --epoch are of a run: add --run RUN.")
        from ensemble.exchange.prediction_files import read_unlabelled_files

        outputs = read_unlabelled_files([Path(name) for name in pools], decimal=decimal or "")
        found = choose_next_labels(outputs.probabilities, strategy, count, seed, random_arm=random_arm)
        looked = ["The labels of the file were not looked at."] if outputs.has_labels else []
        notes = [*looked, *outputs.notes]
        _print_next_labels(found, "image", outputs.example_names, notes, as_json=as_json)
        return
    if len(pools) > 1 or decimal:
        raise click.UsageError("With --run give one pool, or one folder, without --decimal.")
    from ensemble import runs
    from ensemble.acquisition import pool_questions

    run = runs.find_run(run_id)
    with _open_named_pool(pools[0], run, keep=queue) as pool:
        answers = pool_questions.ask_about_pool(pool, run, epoch)
        found = pool_questions.choose_pool_batch(pool, answers, strategy, count, seed, random_arm=random_arm)
        notes = list(pool.note.said)
        if queue:
            pool_questions.keep_pool_batch(pool, answers, found)
            notes.append(f"They wait on the screen Labels: /labels?run={run.id}&split=pool.")
        names = pool.read_image_names()
    _print_next_labels(found, pool.note.noun, names, notes, as_json=as_json)


@contextmanager
def _open_named_pool(name: str, run: "runs.Run", keep: bool) -> Iterator[LabelPool]:
    from ensemble.datasets.own.pools import label_pool
    from ensemble.runs.test_set import load_run_dataset

    pool = label_pool.read_label_pool(name)
    if pool or keep or not Path(name).exists():
        yield label_pool.find_label_pool(name)
        return
    with (
        ProgressLine(name) as line,
        label_pool.open_temporary_pool(Path(name), load_run_dataset(run), line.show_fraction) as pool,
    ):
        yield pool


def _print_next_labels(
    found: NextLabels, noun: str, names: tuple[str, ...], notes: list[str], *, as_json: bool
) -> None:
    """What to label next: one object, or a line for each image and the sentences below."""
    from ensemble.wording import next_labels as words

    if as_json:
        click.echo(json.dumps({**words.serialize_next_labels(found, noun, names), "notes": notes}))
        return
    answer = [words.describe_next_labels(found, noun), words.describe_random_arm(found, noun)]
    for line in filter(None, [*answer, *words.format_next_rows(found, names), *notes]):
        print_line(line)


@run_label_command.command(name="decisions")
@click.argument("name", metavar="POOL")
def run_label_decisions_command(name: str) -> None:
    """What the images of a pool were said to be, as CSV: `ensemble label apply` takes it."""
    from ensemble.datasets.own.pools.label_pool import find_label_pool
    from ensemble.datasets.own.pools.pool_labels import format_pool_csv

    click.echo(format_pool_csv(find_label_pool(name)), nl=False)


@run_label_command.command(name="apply")
@click.argument("name", metavar="POOL")
@_ARM_OPTION
@click.option(
    "--table",
    type=click.Path(path_type=Path),
    help="A CSV with number (or image) and label, in place of what was said on the screen.",
)
@click.option("--as", "new_name", default="", help="Name of the new version; by default DATASET_2 and so on.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def run_label_apply_command(name: str, arm: str, table: Path | None, new_name: str, as_json: bool) -> None:
    """Make a new version of the pool's dataset, whose training images are its own and the labelled.

    Its test images stay as they are. For the random arm, call it twice: with --arm chosen, and
    with --arm random.
    """
    from ensemble.datasets.decisions.relabeling import suggest_version_name
    from ensemble.datasets.own.pools import extended_dataset, label_pool, pool_labels

    pool = label_pool.find_label_pool(name)
    labels, notes = pool_labels.list_pool_labels(pool, "" if arm == "all" else arm), list[str]()
    if table:
        labels = pool_labels.read_pool_table(table, pool, "" if arm == "all" else arm, notes)
    dataset = datasets.load_dataset(pool.note.dataset)
    new_name = new_name or suggest_version_name(dataset.name)
    with ProgressLine(new_name) as line:
        note = extended_dataset.extend_dataset(dataset, pool, labels, new_name, None if as_json else line.show_fraction)
    if as_json:
        click.echo(json.dumps({"name": new_name, "arm": arm, "notes": notes, **vars(note)}))
        return
    for sentence in notes:
        print_line(sentence, err=True)
    print_line(
        f"{new_name} has been added: {dataset.name} with "
        f"{extended_dataset.describe_added_labels(len(labels))} of {pool.name}. Train with "
        f"--dataset {new_name}{format_batch_size_option(note.train_size)}."
    )


def _add_learning_options(command: Command) -> Command:
    """Add the options of the experiment to a click command; those of its trainings are `train`'s."""
    for each in reversed(list_setting_fields(LearningConfig)):
        values = _StrategyChoice(list(STRATEGIES)) if each.name == "by" else None
        command = build_setting_option(each, values)(command)
    return command


@run_label_command.command(name="learn")
@_add_learning_options
@add_settings_options(EnsembleConfig)
@add_placement_options
@click.option("--resume", "resume_id", metavar="ID", help="Resume a stopped experiment.")
@click.option("--json", "as_json", is_flag=True, help="Only the last line, one JSON object.")
def run_label_learn_command(resume_id: str | None, as_json: bool, **chosen: Any) -> None:
    """Whether choosing labels pays: hides a dataset's labels, and adds them in two arms.

    One arm is chosen by what the members say, the other drawn at random; both begin with the same
    labels, and are trained with the same settings. The last line on stdout is one JSON object.
    Where it is stopped or killed, --resume goes on.
    """
    from ensemble.acquisition.learning_job import create_learning, requeue_learning
    from ensemble.acquisition.learning_worker import execute_learning

    chosen = {name: value for name, value in chosen.items() if value not in (None, ())}
    if resume_id and chosen:
        raise click.UsageError("--resume uses the experiment's own settings: leave out the other options.")
    if resume_id:
        experiment = requeue_learning(resume_id)
    else:
        place = parse_placement_options(chosen)
        words = {name: chosen.pop(name) for name in _LEARNING_FIELDS if name in chosen}
        if architectures.is_custom_network(own := chosen.get("network", "")):
            architectures.allow_network(own)  # Whoever types a name here wants its code to run.
        base = replace(LearningConfig().base, **chosen)
        experiment = create_learning(LearningConfig(base=base, **words), place)
    with ProgressLine(experiment.id) as line:
        experiment = execute_learning(experiment.id, (lambda status: None) if as_json else line.show_learning)
    result = _summarize_learning(experiment) | summarize_task(experiment.path)
    if not as_json:
        for sentence in _list_learning_sentences(experiment):
            print_line(sentence, err=True)
    exit_with_result(experiment.state, experiment.message, result)


@run_label_command.command(name="curves")
@click.argument("learning_id", metavar="[ID]", required=False)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def run_label_curves_command(learning_id: str | None, as_json: bool) -> None:
    """What an experiment has found so far; without an ID every one, the newest first."""
    from ensemble.acquisition.learning_job import find_learning, list_learnings

    for experiment in [find_learning(learning_id)] if learning_id else list_learnings():
        if as_json:
            click.echo(json.dumps(_summarize_learning(experiment)))
            continue
        print_line(f"{experiment.id} · {experiment.state}")
        for sentence in _list_learning_sentences(experiment):
            print_line(sentence)


@run_label_command.command(name="delete")
@click.argument("learning_id", metavar="ID")
def run_label_delete_command(learning_id: str) -> None:
    """Delete an experiment and its curves."""
    from ensemble.acquisition.learning_job import delete_learning

    delete_learning(learning_id)
    print_line(f"{learning_id} is deleted.")


def _load_learning_curves(experiment: "LearningExperiment") -> "tuple[LearningCurves, str]":
    from ensemble.acquisition.learning_curves import load_curves

    return load_curves(experiment), find_dataset_entry(experiment.config.base.dataset).noun


def _list_learning_sentences(experiment: "LearningExperiment") -> list[str]:
    from ensemble.wording import learning_gain as words

    curves, noun = _load_learning_curves(experiment)
    basis = words.describe_learning_basis(curves, experiment.config, noun)
    sentences = [
        words.describe_learning_answer(curves, experiment.config),
        words.describe_last_round(curves),
        basis if curves.gain else "",
    ]
    return [sentence for sentence in sentences if sentence]


def _summarize_learning(experiment: "LearningExperiment") -> dict[str, Any]:
    from ensemble.wording import learning_gain as words

    curves, noun = _load_learning_curves(experiment)
    return {
        "run_id": experiment.id,
        "state": experiment.state,
        **words.serialize_learning_curves(curves, experiment.config, noun),
    }
