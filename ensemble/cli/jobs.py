"""The commands of the jobs beside training: a run under shift, and logistic regression."""

from dataclasses import asdict
from typing import Any

import click
import numpy as np

from ensemble import regression, runs, shift
from ensemble.cli.options import settings_options
from ensemble.cli.outcome import end_with
from ensemble.cli.placement import one_node_options, take_placement, task_summary
from ensemble.cli.progress_line import ProgressLine
from ensemble.regression import LbfgsConfig, Solve, Trace, read_traces
from ensemble.regression.choosing import read_choice
from ensemble.shift import Stress
from ensemble.shift.status import stress_folder
from ensemble.storage.records.lines import plain

SHOWN = ("ensemble_accuracy", "ensemble_nll", "ensemble_ece", "member_accuracy", "mean_information")


@click.command()
@click.argument("run_id", metavar="RUN")
@click.option("--limit", type=click.IntRange(1), help="Only the first so many test images.")
@one_node_options
def stress(run_id: str, limit: int | None, **chosen: Any) -> None:
    """Measure a run under distribution shift; the last line on stdout is one JSON object."""
    shift.queue_stress(run_id, limit, take_placement(chosen))
    with ProgressLine(run_id) as line:
        found = shift.work_stress(run_id, line.stress)
    result = {"run_id": run_id, "state": found.state, **stress_summary(found)}
    result |= task_summary(stress_folder(runs.find(run_id).path))
    end_with(found.state, found.message, result)


def stress_summary(found: Stress) -> dict[str, Any]:
    """The figures that a script wants, ready for JSON; results.json has them all.

    `steps` begins with the test images as they are, of kind null; `outside` says how well the
    ensemble's entropy tells out-of-distribution images, and a single member's on average.
    """
    results = found.results
    if results is None:
        return {}
    clean = [{"kind": None, "amount": None, **results.clean}] if results.clean else []
    return {
        "epoch": results.epoch,
        "images": results.images,
        "members": results.members,
        "steps": [
            {"kind": step["kind"], "amount": step["amount"], **{name: step[name] for name in SHOWN}}
            for step in [*clean, *results.steps]
        ],
        "outside": [
            {
                "key": one["key"],
                **one["ensemble"],
                "member_auroc": sum(member["auroc"] for member in one["members"]) / results.members,
            }
            for one in results.ood
        ],
    }


@click.command()
@settings_options(LbfgsConfig)
@one_node_options
@click.option("--follow", metavar="RUN", help="Go on following one on a cluster, as it is.")
@click.option("--json", "as_json", is_flag=True, help="Only the last line, one JSON object.")
def lbfgs(follow: str | None, as_json: bool, **chosen: Any) -> None:
    """Logistic regression by L-BFGS, with and without pmap; the last line is one JSON object."""
    chosen = {name: value for name, value in chosen.items() if value is not None}
    if follow and chosen:
        raise click.UsageError("--follow takes a run as it is: leave the other options out.")
    place = take_placement(chosen)
    solve = (
        regression.follow_solve(follow)
        if follow
        else regression.create_solve(LbfgsConfig(**chosen), place)
    )
    with ProgressLine(solve.id) as line:
        solve = regression.work_solve(solve.id, (lambda status: None) if as_json else line.solve)
    end_with(solve.state, solve.message, solve_summary(solve) | task_summary(solve.path))


def solve_summary(solve: Solve) -> dict[str, Any]:
    """What a regression came to: figures of the solves without and with `pmap`.

    `objective` and `error` are the last ones, of the solve without `pmap`; None stands where
    there is none, or none yet. `choice`: what was tried and taken where the faster was asked for.
    """
    traces = read_traces(solve.path)
    both = {"without_pmap": traces.without, "with_pmap": traces.with_pmap}
    bought, choice = traces.speedup, read_choice(solve.path)
    return plain(
        {
            "run_id": solve.id,
            "state": solve.state,
            "objective": last(traces.without, "objective"),
            "error": last(traces.without, "error"),
            "objective_with_pmap": last(traces.with_pmap, "objective"),
            "error_with_pmap": last(traces.with_pmap, "error"),
            "devices": solve.status.devices,
            "choice": asdict(choice) if choice else None,
            "step_seconds_median": {name: median(trace) for name, trace in both.items()},
            "compile_seconds": {
                name: trace.compile_seconds if trace else None for name, trace in both.items()
            },
            "speedup": bought.mean if bought else None,
            "speedups": asdict(bought) if bought else None,
            "scaling": [list(one) for one in traces.scaling],
            "replica_spread": traces.with_pmap.spread if traces.with_pmap else None,
        }
    )


def last(trace: Trace | None, figure: str) -> float | None:
    """The figure after a solve's last iteration."""
    values: list[float] = [] if trace is None else list(getattr(trace, figure))
    return values[-1] if values else None


def median(trace: Trace | None) -> float | None:
    """Seconds of a solve's typical iteration."""
    return float(np.median(trace.seconds)) if trace and len(trace.seconds) else None
