"""The commands of the jobs beside training: a run under shift, and logistic regression."""

from dataclasses import asdict
from typing import Any

import click
import numpy as np

from ensemble import regression, runs, shift
from ensemble.cli.options import add_settings_options
from ensemble.cli.output import exit_with_result
from ensemble.cli.placement import add_placement_options, parse_placement_options, summarize_task
from ensemble.cli.progress_line import ProgressLine
from ensemble.regression import LbfgsConfig, Regression, SolveTrace, read_regression_traces
from ensemble.regression.pmap_choice import load_pmap_choice
from ensemble.shift import StressState
from ensemble.shift.results import stress_folder
from ensemble.storage.records.json_lines import convert_to_json

_STEP_METRICS = (
    "ensemble_accuracy",
    "ensemble_nll",
    "ensemble_ece",
    "member_accuracy",
    "mean_entropy",
    "mean_aleatoric",
    "mean_epistemic",
    "mean_confidence",
    "confidence_gap",
    "error_auroc",
    "answered",
    "answered_wrong",
    "answered_error",
    "groups",
    "accuracy_fit",
    "accuracy_estimate",
)


@click.command(name="stress")
@click.argument("run_id", metavar="RUN")
@click.option("--limit", type=click.IntRange(1), help=("Number of test images to use, from the first; by default all."))
@add_placement_options
def run_stress_command(run_id: str, limit: int | None, **chosen: Any) -> None:
    """Measure a run under distribution shift; the last line on stdout is one JSON object."""
    shift.queue_stress(run_id, limit, parse_placement_options(chosen))
    with ProgressLine(run_id) as line:
        stress_state = shift.work_stress(run_id, line.show_stress)
    result = {"run_id": run_id, "state": stress_state.state, **summarize_stress(stress_state)}
    result |= summarize_task(stress_folder(runs.find_run(run_id).path))
    exit_with_result(stress_state.state, stress_state.message, result)


def summarize_stress(state: StressState) -> dict[str, Any]:
    """The figures that a script wants, ready for JSON; results.json has them all.

    `steps` begins with the test images as they are, of kind null; `outside` says how well the
    ensemble's entropy tells out-of-distribution images, and a single member's on average.
    """
    results = state.results
    if results is None:
        return {}
    clean = [{"kind": None, "amount": None, **results.clean}] if results.clean else []
    return {
        "epoch": results.epoch,
        "images": results.images,
        "members": results.members,
        "steps": [
            {
                "kind": step["kind"],
                "amount": step["amount"],
                **{name: step[name] for name in _STEP_METRICS if name in step},
            }
            for step in [*clean, *results.steps]
        ],
        "outside": [
            {
                "key": ood_set["key"],
                **ood_set["measures"]["entropy"],
                "measures": ood_set["measures"],
                "member_auroc": sum(member["auroc"] for member in ood_set["members"]) / results.members,
            }
            for ood_set in results.ood
        ],
    }


@click.command(name="lbfgs")
@add_settings_options(LbfgsConfig)
@add_placement_options
@click.option("--follow", metavar="RUN", help="Continue following one on a cluster.")
@click.option("--json", "as_json", is_flag=True, help="Only the last line, one JSON object.")
def run_lbfgs_command(follow: str | None, as_json: bool, **chosen: Any) -> None:
    """Logistic regression by L-BFGS, with and without pmap; the last line is one JSON object."""
    chosen = {name: value for name, value in chosen.items() if value is not None}
    if follow and chosen:
        raise click.UsageError("--follow uses the run's own settings: leave out the other options.")
    place = parse_placement_options(chosen)
    solve = (
        regression.follow_regression(follow) if follow else regression.create_regression(LbfgsConfig(**chosen), place)
    )
    with ProgressLine(solve.id) as line:
        solve = regression.run_regression_worker(solve.id, (lambda status: None) if as_json else line.show_regression)
    exit_with_result(solve.state, solve.message, summarize_regression(solve) | summarize_task(solve.path))


def summarize_regression(solve: Regression) -> dict[str, Any]:
    """What a regression came to: figures of the solves without and with `pmap`.

    `objective` and `error` are the last ones, of the solve without `pmap`; None stands where
    there is none, or none yet. `choice`: what was tried and taken where the faster was asked for.
    """
    traces = read_regression_traces(solve.path)
    both = {"without_pmap": traces.without, "with_pmap": traces.with_pmap}
    bought, choice = traces.speedup, load_pmap_choice(solve.path)
    return convert_to_json(
        {
            "run_id": solve.id,
            "state": solve.state,
            "objective": _read_final_value(traces.without, "objective"),
            "error": _read_final_value(traces.without, "error"),
            "objective_with_pmap": _read_final_value(traces.with_pmap, "objective"),
            "error_with_pmap": _read_final_value(traces.with_pmap, "error"),
            "devices": solve.status.devices,
            "choice": asdict(choice) if choice else None,
            "step_seconds_median": {name: _compute_median_step_seconds(trace) for name, trace in both.items()},
            "compile_seconds": {name: trace.compile_seconds if trace else None for name, trace in both.items()},
            "speedup": bought.mean if bought else None,
            "speedups": asdict(bought) if bought else None,
            "scaling": [list(point) for point in traces.scaling],
            "replica_spread": traces.with_pmap.weight_spread if traces.with_pmap else None,
        }
    )


def _read_final_value(trace: SolveTrace | None, figure: str) -> float | None:
    values: list[float] = [] if trace is None else list(getattr(trace, figure))
    return values[-1] if values else None


def _compute_median_step_seconds(trace: SolveTrace | None) -> float | None:
    return float(np.median(trace.seconds)) if trace and len(trace.seconds) else None
