"""A regression's outcome as the command line's JSON has it."""

from dataclasses import asdict
from typing import Any

import numpy as np

from ensemble.regression import Solve, Trace, read_traces
from ensemble.storage.json_lines import plain


def solve_summary(solve: Solve) -> dict[str, Any]:
    """What a regression came to: figures of the solves without and with `pmap`.

    `objective` and `error` are the last ones, of the solve without `pmap`; None stands where
    there is none yet.
    """
    traces = read_traces(solve.path)
    both = {"without_pmap": traces.without, "with_pmap": traces.with_pmap}
    bought = traces.speedup
    return plain({
        "run_id": solve.id,
        "state": solve.state,
        "objective": last(traces.without, "objective"),
        "error": last(traces.without, "error"),
        "objective_with_pmap": last(traces.with_pmap, "objective"),
        "error_with_pmap": last(traces.with_pmap, "error"),
        "devices": solve.status.devices,
        "step_seconds_median": {name: median(trace) for name, trace in both.items()},
        "compile_seconds": {
            name: trace.compile_seconds if trace else None for name, trace in both.items()
        },
        "speedup": bought.mean if bought else None,
        "speedups": asdict(bought) if bought else None,
        "scaling": [list(one) for one in traces.scaling],
        "replica_spread": traces.with_pmap.spread if traces.with_pmap else None,
    })  # fmt: skip


def last(trace: Trace | None, figure: str) -> float | None:
    """The figure after a solve's last iteration."""
    values: list[float] = [] if trace is None else list(getattr(trace, figure))
    return values[-1] if values else None


def median(trace: Trace | None) -> float | None:
    """Seconds of a solve's typical iteration."""
    return float(np.median(trace.seconds)) if trace and len(trace.seconds) else None
