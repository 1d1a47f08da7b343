"""The command that trains an ensemble."""

import sys
from functools import partial
from typing import Any

import click

from ensemble import architectures, hosts, runs
from ensemble.cli.options import settings_options
from ensemble.cli.outcome import EXIT_STATUS, end_with, say
from ensemble.cli.placement import placement_options, take_placement
from ensemble.cli.progress_line import ProgressLine
from ensemble.config import EnsembleConfig
from ensemble.errors import ConfigError, RunError
from ensemble.jobs.placement import Placement
from ensemble.wording import formats
from ensemble.wording.verdicts import chance
from ensemble.wording.verdicts import chosen as chosen_words


@click.command()
@settings_options(EnsembleConfig)
@placement_options
@click.option("--resume", metavar="RUN", help="Go on with a stopped run instead of a new one.")
@click.option(
    "--tag",
    "tags",
    metavar="TAG",
    multiple=True,
    help="A word to find and compare the run by; give it again for another.",
)
@click.option(
    "--distributed",
    is_flag=True,
    help="Be one of several processes, one a host, that train one run on the devices of all hosts: "
    "start the same command on each, under Slurm by srun --kill-on-bad-exit=1; or once, with --on.",
)
def train(resume: str | None, tags: tuple[str, ...], distributed: bool, **chosen: Any) -> None:
    """Train an ensemble; the last line on stdout is one JSON object."""
    chosen = {name: value for name, value in chosen.items() if value is not None}
    if resume and (chosen or tags):
        raise click.UsageError("--resume takes a run as it is: leave the other options out.")
    if architectures.is_own(own := chosen.get("network", "")):
        architectures.allow(own)  # Whoever types a name here wants its code to run.
    see = partial(fits_one_program, chosen) if distributed else None
    place = take_placement(chosen, see)
    if distributed and not place:
        run = among_others(resume, chosen, tags)
    else:
        run = trained(resume, chosen, place, tags)
    if said := best_epoch(run):
        say(said, err=True)
    said = " ".join(filter(None, (run.message, chance.verdict(run))))
    end_with(run.state, said, run_summary(run))


def trained(
    resume: str | None,
    chosen: dict[str, Any],
    place: Placement | None = None,
    tags: tuple[str, ...] = (),
) -> runs.Run:
    """The run, new or gone on with, once it has ended."""
    run = runs.requeue(resume) if resume else runs.create(EnsembleConfig(**chosen), place, tags)
    with ProgressLine(run.id) as line:
        return runs.work(run.id, line.show)


def among_others(
    resume: str | None, chosen: dict[str, Any], tags: tuple[str, ...] = ()
) -> runs.Run:
    """`trained` as one of several processes; those that only follow end here."""
    fits_one_program(chosen)
    if resume and runs.find(resume).in_groups:
        raise RunError(
            f"The run “{resume}” has tasks, which are programs of their own: resume it without "
            "--distributed."
        )
    with hosts.joined() as company:
        if company is None:
            return trained(resume, chosen, tags=tags)
        # Its modules start JAX, which is told of the others by now.
        from ensemble.runs.training.distributed import take_part

        outcome, run = take_part(company, lambda: trained(resume, chosen, tags=tags))
    if run is None:
        sys.exit(EXIT_STATUS.get(outcome.state, 1))
    return run


def fits_one_program(chosen: dict[str, Any], nodes: int | None = None) -> None:
    """See that one program on several hosts, on so many nodes, can train what was chosen.

    Raises:
      UsageError: they are to be in groups, or on one node.
      ConfigError: a node would have none of them.
    """
    config = EnsembleConfig(**chosen)
    if config.groups != 1:
        raise click.UsageError("--distributed trains all members in one program: drop --groups.")
    if nodes is None:
        return
    if nodes == 1:
        raise click.UsageError("--distributed takes several nodes: say how many with --nodes.")
    devices = config.devices or config.members
    if (most := min(config.members, devices)) < nodes:
        raise ConfigError(
            f"{nodes} nodes would share {formats.count(config.members, 'member')} on "
            f"{formats.count(devices, 'device')}, and each takes at least one: ask for --nodes "
            f"{most}."
            if most > 1
            else "A member is trained on one node: leave --distributed out."
        )


def best_epoch(run: runs.Run) -> str:
    """Which epoch was best and on what it was chosen, where the last was not; else "".

    Of a run that only guesses no epoch is the best.
    """
    status = run.status
    share = status.best_ensemble_test_accuracy
    if status.best_epoch is None or share is None or status.best_epoch == status.epoch:
        return ""
    if chance.is_chance(share, run.data):
        return ""
    figure = formats.percent(share, run.data.test_size)
    return (
        f"Best epoch {status.best_epoch}, {figure} on the test images; "
        f"{chosen_words.how(status.best_on)}."
    )


def run_summary(run: runs.Run) -> dict[str, Any]:
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
        "set_aside": [number + 1 for number in sorted(status.set_aside)],
        "at_chance": chance.at_chance(run),
        "seconds": status.seconds,
        "compile_seconds": status.compile_seconds,
        "img_member_per_s": status.img_member_per_s,
    }
