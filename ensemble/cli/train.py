"""The command that trains an ensemble."""

import sys
import time
from typing import Any

import click

from ensemble import architectures, runs
from ensemble.cli.options import add_settings_options
from ensemble.cli.output import EXIT_STATUSES, exit_with_result, print_line
from ensemble.cli.placement import (
    PLACEMENT_OPTIONS,
    add_placement_options,
    parse_placement_options,
    parse_resumed_placement,
)
from ensemble.cli.progress_line import ProgressLine
from ensemble.cli.train_numbers import add_table_options, check_task_options, exit_with_numbers, train_numbers
from ensemble.cluster.schedulers import SCHEDULERS
from ensemble.config import REGRESSION, TASKS, EnsembleConfig
from ensemble.datasets.partition.batch_size import check_batch_setting
from ensemble.errors import ConfigError
from ensemble.jobs.network_probe import ask_own_network
from ensemble.jobs.placement import KEEP_PLACEMENT, Placement, read_place_name
from ensemble.jobs.remote.task_record import find_placement
from ensemble.machine.run_estimate import find_memory_excess
from ensemble.runs.start_weights import load_start_weights
from ensemble.runs.teacher import find_teacher
from ensemble.wording import formats
from ensemble.wording.runs import networks as networks_words
from ensemble.wording.verdicts import chance_level
from ensemble.wording.verdicts import selection_basis as chosen_words

_FOLLOW_SECONDS = 0.5


@click.command(name="train")
@click.option(
    "--task",
    type=click.Choice(TASKS),
    default=None,
    help="What to learn: classes of images, or a column of numbers in a table.",
)
@add_table_options
@add_settings_options(EnsembleConfig)
@add_placement_options
@click.option("--resume", metavar="RUN", help=("Resume a stopped run instead of starting a new one."))
@click.option(
    "--tag", "tags", metavar="TAG", multiple=True, help="Tag to find and compare the run by; can be repeated."
)
@click.option(
    "--from",
    "start_from",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Weights to start from: an .npz or .safetensors of arrays by the network's names.",
)
def run_train_command(
    resume: str | None, tags: tuple[str, ...], start_from: str | None, task: str | None, **chosen: Any
) -> None:
    """Train an ensemble; the last line on stdout is one JSON object."""
    chosen = {name: value for name, value in chosen.items() if value not in (None, ())}
    check_task_options(task, chosen, ["from"] if start_from else [])
    if resume:
        run = resume_run(resume, chosen, bool(tags or start_from or task))
    else:
        run = train_numbers(chosen, tags) if task == REGRESSION else _train_new_run(chosen, tags, start_from)
    if run.task == REGRESSION:
        exit_with_numbers(run)
    if sentence := describe_best_epoch(run):
        print_line(sentence, err=True)
    sentence = " ".join(filter(None, (run.message, chance_level.describe_chance_level(run))))
    exit_with_result(run.state, sentence, summarize_run(run))


def resume_run(run_id: str, chosen: dict[str, Any], more: bool) -> runs.Run:
    if more or set(chosen) - PLACEMENT_OPTIONS:
        raise click.UsageError(
            "--resume uses the run's own settings: leave out the other options but those that say where it goes on."
        )
    before = runs.find_run(run_id)
    place = parse_resumed_placement(chosen, find_placement(before.path))
    if place == KEEP_PLACEMENT and _is_followed_elsewhere(before):
        return _follow_active_run(run_id)
    return execute_run_here(runs.requeue_run(run_id, placement=place))


def _train_new_run(chosen: dict[str, Any], tags: tuple[str, ...], start_from: str | None) -> runs.Run:
    if architectures.is_custom_network(own := chosen.get("network", "")):
        architectures.allow_network(own)  # Whoever types a name here wants its code to run.
    place = parse_placement_options(chosen)
    return execute_run_here(create_checked_run(chosen, place, tags, start_from))


def execute_run_here(run: runs.Run) -> runs.Run:
    with ProgressLine(run.id) as line:
        return runs.execute_run(run.id, line.show_run)


def _is_followed_elsewhere(run: runs.Run) -> bool:
    placed = read_place_name(run.path) in SCHEDULERS
    return placed and run.active and run.unfollowed_work is None


def _follow_active_run(run_id: str) -> runs.Run:
    """Tell of a run that works without this process, until it has ended; Ctrl-C only ends that."""
    try:
        with ProgressLine(run_id) as line:
            while (run := runs.find_run(run_id)).active:
                line.show_run(run.status)
                time.sleep(_FOLLOW_SECONDS)
    except KeyboardInterrupt:
        print_line(f"The run goes on. To stop it: ensemble runs stop {run_id}", err=True)
        sys.exit(EXIT_STATUSES["stopped"])
    return run


def create_checked_run(
    chosen: dict[str, Any], place: Placement | None, tags: tuple[str, ...], start_from: str | None = None
) -> runs.Run:
    """A new run, once network, weights and teacher are known to fit; what to know is said."""
    config = EnsembleConfig(**chosen)
    check_batch_setting(config)
    if config.teacher:
        find_teacher(config)
    own = ask_own_network(config)
    for note in (*own.notes, *own.advice):
        print_line(note, err=True)
    if place is None and (excess := find_memory_excess(config, own.cost)):
        raise ConfigError(networks_words.describe_memory_excess(*excess))
    start = load_start_weights(start_from, config) if start_from else None
    for note in start.notes if start else ():
        print_line(note, err=True)
    return runs.create_run(config, place, tags, start)


def describe_best_epoch(run: runs.Run) -> str:
    """Which epoch was best and on what it was chosen, where the last was not; else "".

    Of a run that only guesses no epoch is the best.
    """
    status = run.status
    share = status.best_ensemble_test_accuracy
    if status.best_epoch is None or share is None or status.best_epoch == status.epoch:
        return ""
    if chance_level.is_chance_accuracy(share, run.data) or chance_level.is_run_at_chance(run):
        return ""
    figure = formats.format_percent(share, run.data.test_size)
    return (
        f"Best epoch {status.best_epoch}, {figure} on the test images; "
        f"{chosen_words.describe_selection_basis(status.best_on)}."
    )


def summarize_run(run: runs.Run) -> dict[str, Any]:
    """What a run came to, ready for JSON; None stands where there is nothing yet."""
    status = run.status
    return {
        "run_id": run.id,
        "state": run.state,
        "member_test_accuracy": status.member_test_accuracy,
        "ensemble_test_accuracy": status.ensemble_test_accuracy,
        "ensemble_test_nll": status.ensemble_test_nll,
        "best_epoch": status.best_epoch,
        "best_on": status.best_on,
        "best_ensemble_test_accuracy": status.best_ensemble_test_accuracy,
        "best_ensemble_test_nll": status.best_ensemble_test_nll,
        "best_member_test_accuracy": status.best_member_test_accuracy,
        "set_aside": [number + 1 for number in sorted(status.set_aside)],
        "at_chance": chance_level.is_run_at_chance(run),
        "seconds": status.seconds,
        "compile_seconds": status.compile_seconds,
        "img_member_per_s": status.img_member_per_s,
    }
