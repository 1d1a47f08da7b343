"""The command that searches for settings: many runs that differ in a few of them."""

import json
from collections.abc import Callable
from typing import Any

import click

from ensemble import architectures, sweeps
from ensemble.cli.options import Command, option, settings_options
from ensemble.cli.outcome import end_with, say
from ensemble.cli.placement import one_node_options, take_placement
from ensemble.cli.progress_line import ProgressLine
from ensemble.cli.train import run_summary
from ensemble.config import EnsembleConfig
from ensemble.settings import setting_fields
from ensemble.sweeps import OBJECTIVES, Sweep, SweepConfig, Trial
from ensemble.sweeps.chosen import sources
from ensemble.sweeps.enlarging import enlarged
from ensemble.sweeps.selection import build
from ensemble.sweeps.settings import VALIDATION
from ensemble.sweeps.store import requeue
from ensemble.sweeps.worker import work
from ensemble.wording import formats

OWN = ("trials", "sampler", "pruner", "workers", "sampler_seed")


def own_options(command: Command) -> Command:
    """Gives a click command the options of a sweep itself; the trials' are those of `train`."""
    fields = {one.name: one for one in setting_fields(SweepConfig)}
    for name in reversed(OWN):
        command = option(fields[name])(command)
    command = click.option(
        "--objective",
        "objectives",
        type=click.Choice(tuple(OBJECTIVES)),
        multiple=True,
        help="What trials are judged by, nll by default; several for their Pareto front.",
    )(command)
    return click.option(
        "--space",
        multiple=True,
        metavar="SETTING=VALUES",
        help="A setting to search, and where: a range, learning_rate=0.01..0.5:log or "
        "members=2..8, or a list, momentum=0.8,0.9.",
    )(command)


@click.command()
@click.argument("sweep_id", metavar="[SWEEP]", required=False)
@own_options
@settings_options(EnsembleConfig)
@one_node_options
@click.option("--resume", "resume_id", metavar="SWEEP", help="Go on with a stopped sweep.")
@click.option(
    "--enlarge", "enlarge_id", metavar="SWEEP", help="Give a sweep --trials more, and go on."
)
@click.option(
    "--select",
    metavar="K",
    type=click.IntRange(1, 64),
    help="Make a run of the K members of a SWEEP's trials that go best together.",
)
@click.option(
    "--with-replacement", "again", is_flag=True, help="--select may choose a member twice."
)
@click.option("--name", help="Of the run that --select makes, for people.")
@click.option("--stop", "stop_id", metavar="SWEEP", help="Ask the workers of a sweep to stop.")
@click.option("--list", "every", is_flag=True, help="Every sweep, newest first.")
@click.option("--json", "as_json", is_flag=True, help="Only the last line, one JSON object.")
def sweep(
    sweep_id: str | None,
    resume_id: str | None,
    enlarge_id: str | None,
    stop_id: str | None,
    every: bool,
    select: int | None,
    again: bool,
    name: str | None,
    as_json: bool,
    **chosen: Any,
) -> None:
    """Search for the best settings, a run a trial; the last line on stdout is one JSON object.

    With a SWEEP alone it says how that stands; with --trials it is given so many more.
    """
    chosen = {name: value for name, value in chosen.items() if value not in (None, ())}
    asked = [one for one in (resume_id, enlarge_id, stop_id, sweep_id) if one] + [every] * every
    if len(asked) > 1:
        raise click.UsageError("Choose one: a sweep, --resume, --enlarge, --stop or --list.")
    if select is None and (again or name):
        raise click.UsageError("--name and --with-replacement go with --select K.")
    if select is not None:
        only(chosen, "--select")
        if not sweep_id:
            raise click.UsageError(
                "--select takes a sweep: python -m ensemble sweep SWEEP --select K."
            )
        return selected(sweep_id, select, name or "", again)
    if every:
        only(chosen, "--list")
        return listed(as_json)
    if stop_id:
        only(chosen, "--stop")
        return stopped(stop_id)
    if sweep_id and "trials" not in chosen:
        only(chosen, "a sweep")
        return click.echo(json.dumps(summary(sweeps.find(sweep_id))))
    if resume_id:
        only(chosen, "--resume")
        return work_on(requeue(resume_id), as_json)
    if found := enlarge_id or sweep_id:
        more = chosen.pop("trials", None)
        only(chosen, "--enlarge and --trials")
        if more is None:
            raise click.UsageError("--enlarge takes how many trials more: add --trials.")
        return more_trials(found, more, as_json)
    place = take_placement(chosen)
    return work_on(sweeps.create(config_of(chosen), place), as_json)


def only(chosen: dict[str, Any], what: str) -> None:
    """See that no other option was given.

    Raises:
      UsageError: one was.
    """
    if chosen:
        raise click.UsageError(f"{what} takes a sweep as it is: leave the other options out.")


def config_of(chosen: dict[str, Any]) -> SweepConfig:
    """The settings that the options say, `--space` among them.

    Raises:
      UsageError: there is nothing to search.
      ConfigError: a value out of its range.
    """
    if "space" not in chosen:
        raise click.UsageError("Say what to search, such as --space learning_rate=0.01..0.5:log.")
    if architectures.is_own(own := chosen.get("network", "")):
        architectures.allow(own)  # Whoever types a name here wants its code to run.
    words = {name: chosen.pop(name) for name in OWN if name in chosen}
    words["space"] = " ".join(chosen.pop("space"))
    if objectives := chosen.pop("objectives", ()):
        words["objectives"] = ",".join(objectives)
    return SweepConfig(base=EnsembleConfig(**{"validation": VALIDATION, **chosen}), **words)


def more_trials(sweep_id: str, more: int, as_json: bool) -> None:
    """Give a sweep more trials; the workers that it has see to them, else this process does."""
    found = enlarged(sweep_id, more)
    if not found.active:
        return work_on(requeue(sweep_id), as_json)
    say(f"{sweep_id} has {found.config.wanted} trials now; its workers go on.", err=True)
    return click.echo(json.dumps(summary(found)))


def work_on(queued: Sweep, as_json: bool) -> None:
    """Be the worker of a queued sweep, and end with what it came to."""
    with ProgressLine(queued.id) as line:
        report: Callable[[Any], None] = (lambda status: None) if as_json else line.sweep
        done = work(queued.id, report)
    trials = sweeps.trials_of(done)
    if (best := sweeps.best(done, trials)) and not as_json:
        say(best_words(done, best), err=True)
    end_with(done.state, done.message, summary(done, trials))


def selected(sweep_id: str, size: int, name: str, again: bool) -> None:
    """Make a hyper-deep ensemble of a sweep's members, and say what it came to."""
    run = build(sweep_id, size, name, again)
    click.echo(json.dumps({**run_summary(run), "members": sources(run)}))


def stopped(sweep_id: str) -> None:
    """Ask a sweep's workers to stop, and say so."""
    there = sweeps.request_stop(sweep_id)
    state = sweeps.find(sweep_id).state
    say(f"{sweep_id} was asked to stop." if there else f"{sweep_id} is {state} already.")


def listed(as_json: bool) -> None:
    """Every sweep, newest first: a line each."""
    for one in sweeps.list_sweeps():
        if as_json:
            click.echo(json.dumps(summary(one)))
            continue
        done = f"{one.status.done} of {one.config.wanted} trials"
        say(f"{one.id:<24} {one.state:<9} {done:<18} {one.config.space}")


def best_words(of: Sweep, best: Trial) -> str:
    """The best trial in a sentence."""
    goal = OBJECTIVES[of.config.goals[0]].title
    params = ", ".join(f"{name} {_shown(value)}" for name, value in best.params.items())
    return f"Best: {params}; {goal} {best.values[0]:.4g}, run {best.run_id}."


def summary(of: Sweep, trials: list[Trial] | None = None) -> dict[str, Any]:
    """What a sweep came to so far, ready for JSON."""
    trials = sweeps.trials_of(of) if trials is None else trials
    best = sweeps.best(of, trials)
    return {
        "study": of.id,
        "state": of.state,
        "objectives": list(of.config.goals),
        "trials": [trial_summary(one) for one in trials],
        "best": trial_summary(best) if best else None,
        "pareto": [one.number for one in sweeps.pareto(of, trials)],
    }


def trial_summary(trial: Trial) -> dict[str, Any]:
    """A trial, ready for JSON."""
    return {
        "number": trial.number,
        "run_id": trial.run_id or None,
        "state": trial.state,
        "params": trial.params,
        "values": list(trial.values),
        "message": trial.message,
    }


def _shown(value: object) -> str:
    return formats.plain(value) if isinstance(value, float) else str(value)
