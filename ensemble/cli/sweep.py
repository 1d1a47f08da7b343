"""The command that searches for settings: many runs that differ in a few of them."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import click

from ensemble import architectures, sweeps
from ensemble.cli.options import Command, add_settings_options, build_setting_option
from ensemble.cli.output import exit_with_result, print_line
from ensemble.cli.placement import add_placement_options, parse_placement_options
from ensemble.cli.progress_line import ProgressLine
from ensemble.cli.results.numbers import summarize_numeric_run
from ensemble.cli.train import summarize_run
from ensemble.cli.train_numbers import add_table_options, check_task_options, prepare_chosen_table, read_table_options
from ensemble.comparison.trial_verdict import judge_trials
from ensemble.config import REGRESSION, TASKS, EnsembleConfig
from ensemble.datasets.partition.batch_size import check_batch_setting
from ensemble.jobs.network_probe import check_own_network
from ensemble.jobs.placement import Placement
from ensemble.settings import list_setting_fields
from ensemble.sweeps import OBJECTIVES, Sweep, SweepConfig, Trial
from ensemble.sweeps.best_trials import BestTrialEvidence, judge_best_trial, list_edge_settings
from ensemble.sweeps.enlargement import add_trials
from ensemble.sweeps.search_space import ValueList
from ensemble.sweeps.selected_members import list_member_sources
from ensemble.sweeps.selection import create_hyper_deep_ensemble
from ensemble.sweeps.settings import DEFAULT_VALIDATION
from ensemble.sweeps.store import requeue_sweep
from ensemble.sweeps.test_figures import measure_test_figures
from ensemble.sweeps.worker import work_on_sweep
from ensemble.tables.prepared_table import read_table_description
from ensemble.wording import formats
from ensemble.wording.verdicts import best_trial as words
from ensemble.wording.verdicts.settings_verdict import serialize_settings_verdict

_SWEEP_OPTION_FIELDS = ("trials", "sampler", "pruner", "workers", "repeats", "sampler_seed")


def _add_sweep_options(command: Command) -> Command:
    """Gives a click command the options of a sweep itself; the trials' are those of `train`."""
    fields = {setting_field.name: setting_field for setting_field in list_setting_fields(SweepConfig)}
    for name in reversed(_SWEEP_OPTION_FIELDS):
        command = build_setting_option(fields[name])(command)
    command = click.option(
        "--objective",
        "objectives",
        type=click.Choice(tuple(OBJECTIVES)),
        multiple=True,
        help="Objective, nll by default; repeat for several, judged by their Pareto front.",
    )(command)
    return click.option(
        "--space",
        multiple=True,
        metavar="SETTING=VALUES",
        help=(
            "A setting to search, and its values: a range, learning_rate=0.01..0.5:log or "
            "members=2..8, or a list, momentum=0.8,0.9."
        ),
    )(command)


@click.command(name="sweep")
@click.argument("sweep_id", metavar="[SWEEP]", required=False)
@_add_sweep_options
@click.option(
    "--task",
    type=click.Choice(TASKS),
    default=None,
    help="What to learn: classes of images, or a column of numbers in a table.",
)
@add_table_options
@add_settings_options(EnsembleConfig)
@add_placement_options
@click.option("--resume", "resume_id", metavar="SWEEP", help="Resume a stopped sweep.")
@click.option("--enlarge", "enlarge_id", metavar="SWEEP", help=("Add --trials more trials to a sweep and resume it."))
@click.option(
    "--select",
    metavar="K",
    type=click.IntRange(1, 64),
    help="Make a run of those K members of a SWEEP's trials that together do best.",
)
@click.option("--with-replacement", "again", is_flag=True, help="--select can choose a member twice.")
@click.option("--name", help="Name of the run that --select makes.")
@click.option("--stop", "stop_id", metavar="SWEEP", help="Ask the workers of a sweep to stop.")
@click.option("--list", "every", is_flag=True, help="Every sweep, newest first.")
@click.option("--json", "as_json", is_flag=True, help="Only the last line, one JSON object.")
def run_sweep_command(
    sweep_id: str | None,
    resume_id: str | None,
    enlarge_id: str | None,
    stop_id: str | None,
    every: bool,
    select: int | None,
    again: bool,
    name: str | None,
    task: str | None,
    as_json: bool,
    **chosen: Any,
) -> None:
    """Search for the best settings, a run a trial; the last line on stdout is one JSON object.

    With a SWEEP alone it says how that stands; with --trials it is given so many more.
    """
    chosen = {name: value for name, value in chosen.items() if value not in (None, ())}
    modes = [mode for mode in (resume_id, enlarge_id, stop_id, sweep_id) if mode] + [every] * every
    if len(modes) > 1:
        raise click.UsageError("Choose one: a sweep, --resume, --enlarge, --stop or --list.")
    if select is None and (again or name):
        raise click.UsageError("--name and --with-replacement go with --select K.")
    if select is not None:
        _check_no_other_options(chosen, "--select")
        if not sweep_id:
            raise click.UsageError("--select takes a sweep: ensemble sweep SWEEP --select K.")
        return _run_sweep_selection(sweep_id, select, name or "", again)
    if every:
        _check_no_other_options(chosen, "--list")
        return _run_sweep_listing(as_json)
    if stop_id:
        _check_no_other_options(chosen, "--stop")
        return _run_sweep_stop(stop_id)
    if sweep_id and "trials" not in chosen:
        _check_no_other_options(chosen, "a sweep")
        sweep = sweeps.find_sweep(sweep_id)
        trials = sweeps.read_trials(sweep)
        evidence = None if sweep.active else judge_best_trial(sweep, trials)
        return click.echo(json.dumps(summarize_sweep(sweep, trials, evidence)))
    if resume_id:
        _check_no_other_options(chosen, "--resume")
        return _run_queued_sweep(requeue_sweep(resume_id), as_json)
    if target_id := enlarge_id or sweep_id:
        more = chosen.pop("trials", None)
        _check_no_other_options(chosen, "--enlarge and --trials")
        if more is None:
            raise click.UsageError("--enlarge needs the number of trials to add: give --trials.")
        return _run_sweep_enlargement(target_id, more, as_json)
    own = {*_SWEEP_OPTION_FIELDS, "space", "objectives"}
    check_task_options(task, {name: value for name, value in chosen.items() if name not in own}, [])
    place = parse_placement_options(chosen)
    if task == REGRESSION:
        sweep = _create_table_sweep(chosen, place)
    else:
        config = build_sweep_config(chosen)
        base = config.base
        assert isinstance(base, EnsembleConfig)
        check_batch_setting(base, config.largest_batch_size)
        _check_sweep_networks(config, base)
        sweep = sweeps.create_sweep(config, place)
    if sweep.message:
        print_line(f"{sweep.id}: {sweep.message}", err=True)
    return _run_queued_sweep(sweep, as_json)


def _create_table_sweep(chosen: dict[str, Any], place: Placement | None) -> Sweep:
    """A sweep whose trials learn from one table, split once for all of them."""
    if "splits" in chosen:
        raise click.UsageError("--splits goes with train: all trials of a sweep have one split.")
    words = _pop_sweep_words(chosen)
    base, table = read_table_options(chosen)
    config = SweepConfig(base=base, **words)
    return sweeps.create_sweep(config, place, prepare_chosen_table(base, table, chosen))


def _check_sweep_networks(config: SweepConfig, base: EnsembleConfig) -> None:
    """See that each network of one's own in a sweep fits, and say what should be known of it.

    Raises:
      ConfigError: one does not.
    """
    axis = config.search_axes.get("network")
    names = axis.values if isinstance(axis, ValueList) else (base.network,)
    for name in filter(architectures.is_custom_network, map(str, names)):
        for note in check_own_network(replace(base, network=name, width=0)):
            print_line(f"{name}: {note}", err=True)


def _check_no_other_options(chosen: dict[str, Any], what: str) -> None:
    """See that no other option was given.

    Raises:
      UsageError: one was.
    """
    if chosen:
        raise click.UsageError(f"{what} uses the sweep's own settings: leave out the other options.")


def build_sweep_config(chosen: dict[str, Any]) -> SweepConfig:
    """The settings that the options say, `--space` among them.

    Raises:
      UsageError: there is nothing to search.
      ConfigError: a value out of its range.
    """
    words = _pop_sweep_words(chosen)
    if architectures.is_custom_network(own := chosen.get("network", "")):
        architectures.allow_network(own)  # Whoever types a name here wants its code to run.
    return SweepConfig(base=EnsembleConfig(**{"validation": DEFAULT_VALIDATION, **chosen}), **words)


def _pop_sweep_words(chosen: dict[str, Any]) -> dict[str, Any]:
    """Take the settings of the sweep itself from the options."""
    if "space" not in chosen:
        raise click.UsageError("Give a setting to search, such as --space learning_rate=0.01..0.5:log.")
    words = {name: chosen.pop(name) for name in _SWEEP_OPTION_FIELDS if name in chosen}
    words["space"] = " ".join(chosen.pop("space"))
    if objectives := chosen.pop("objectives", ()):
        words["objectives"] = ",".join(objectives)
    return words


def _run_sweep_enlargement(sweep_id: str, more: int, as_json: bool) -> None:
    """Give a sweep more trials; the workers that it has see to them, else this process does."""
    sweep = add_trials(sweep_id, more)
    if not sweep.active:
        return _run_queued_sweep(requeue_sweep(sweep_id), as_json)
    print_line(f"{sweep_id} has {sweep.config.trial_count} trials now; its workers go on.", err=True)
    return click.echo(json.dumps(summarize_sweep(sweep)))


def _run_queued_sweep(queued: Sweep, as_json: bool) -> None:
    with ProgressLine(queued.id) as line:
        report: Callable[[Any], None] = (lambda status: None) if as_json else line.show_sweep
        done = work_on_sweep(queued.id, report)
    trials = sweeps.read_trials(done)
    evidence = judge_best_trial(done, trials)
    if (best := sweeps.find_best_trial(done, trials)) and not as_json:
        print_line(_describe_best_trial(done, best), err=True)
        for sentence in words.list_best_trial_sentences(done, best, evidence):
            print_line(sentence, err=True)
    exit_with_result(done.state, done.message, summarize_sweep(done, trials, evidence))


def _run_sweep_selection(sweep_id: str, size: int, name: str, again: bool) -> None:
    run = create_hyper_deep_ensemble(sweep_id, size, name, again)
    summary = summarize_numeric_run(run) if run.task == REGRESSION else summarize_run(run)
    click.echo(json.dumps({**summary, "members": list_member_sources(run)}))


def _run_sweep_stop(sweep_id: str) -> None:
    there = sweeps.request_sweep_stop(sweep_id)
    state = sweeps.find_sweep(sweep_id).state
    print_line(f"{sweep_id} was asked to stop." if there else f"{sweep_id} is {state} already.")


def _run_sweep_listing(as_json: bool) -> None:
    """Every sweep, newest first: a line each."""
    for sweep in sweeps.list_sweeps():
        if as_json:
            click.echo(json.dumps(summarize_sweep(sweep)))
            continue
        done = f"{sweep.status.done} of {sweep.config.trial_count} trials"
        print_line(f"{sweep.id:<24} {sweep.state:<9} {done:<18} {sweep.config.space}")


def _describe_best_trial(sweep: Sweep, best: Trial) -> str:
    goal = OBJECTIVES[sweep.config.objective_names[0]].title
    params = ", ".join(f"{name} {_format_param_value(value)}" for name, value in best.params.items())
    found = f"Best trial: {params}; {goal} {best.values[0]:.4g}"
    if (repeats := sweep.config.repeats) == 1:
        return f"{found}, run {best.run_id}."
    run_ids = ", ".join(best.run_ids)
    return f"{found} (each trained {repeats} times, judged by the mean), runs {run_ids}."


def summarize_sweep(
    sweep: Sweep, trials: list[Trial] | None = None, evidence: BestTrialEvidence | None = None
) -> dict[str, Any]:
    """What a sweep came to so far, ready for JSON.

    Args:
      trials: of it; None reads them.
      evidence: what the best is held against, for which all trials' predictions are read; None
        where that is not known.
    """
    trials = sweeps.read_trials(sweep) if trials is None else trials
    best = sweeps.find_best_trial(sweep, trials)
    summary: dict[str, Any] = {}
    if evidence:
        verdict, noun = judge_trials(evidence, sweep.config.objective_names[0]), words.get_example_noun(sweep)
        summary = serialize_settings_verdict(verdict, noun) or {}
        summary["evidence"] = words.list_trial_evidence(evidence, verdict, noun)
    second = evidence.next if evidence else None
    return {
        "study": sweep.id,
        "state": sweep.state,
        "objectives": list(sweep.config.objective_names),
        "trials": [_serialize_trial(trial) for trial in trials],
        "best": _serialize_trial(best) if best else None,
        "pareto": [pareto_trial.number for pareto_trial in sweeps.find_pareto_trials(sweep, trials)],
        "not_shown_worse": [trial.number for trial in evidence.equivalent] if evidence else None,
        "optimism": evidence.optimism if evidence else None,
        "next": second
        and {"number": second.trial.number, "difference": second.difference, "low": second.low, "high": second.high},
        "groups": evidence.groups if evidence else None,
        "verdict": summary or None,
        "test": {
            figure.metric: {name: getattr(figure, name) for name in ("mean", "low", "high", "trainings", "examples")}
            for figure in (measure_test_figures(best.run_ids) if best else ())
        },
        "at_edge": list_edge_settings(sweep.config.search_axes, best.params) if best else {},
        "notes": read_table_description(sweep.path).notes if sweep.config.base.task == REGRESSION else [],
    }


def _serialize_trial(trial: Trial) -> dict[str, Any]:
    return {
        "number": trial.number,
        "run_id": trial.run_id or None,
        "run_ids": list(trial.run_ids),
        "state": trial.state,
        "params": trial.params,
        "values": list(trial.values),
        "message": trial.message,
    }


def _format_param_value(value: object) -> str:
    return formats.format_plain_number(value) if isinstance(value, float) else str(value)
