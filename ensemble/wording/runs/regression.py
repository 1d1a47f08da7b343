"""Sentences about the measurements of a regression."""

import math

import numpy as np
from numpy.typing import NDArray

from ensemble import datasets, regression
from ensemble.regression import RegressionStatus, RegressionTraces, SolveTrace
from ensemble.regression.pmap_choice import PmapChoice
from ensemble.regression.regression_job import LbfgsConfig
from ensemble.regression.speedup import Speedup
from ensemble.wording import formats

_EARLY_ITERATIONS = 20  # iterations within which rounding has not made two solves part
_INVISIBLE_DIFFERENCE = 0.01  # of the error: what cannot be seen on a log axis
_EQUAL_STEP_TIME_TOLERANCE = 0.03  # of the step time: no difference to speak of


def compute_problem_size(config: LbfgsConfig) -> tuple[int, int, int]:
    """Samples, features and classes that `config` comes to."""
    if config.dataset == "synthetic":
        return config.samples, config.features, config.classes
    info = datasets.find_dataset_info(config.dataset)
    return info.train_size, 28 * 28, len(info.class_names)


def format_problem_size(config: LbfgsConfig) -> str:
    """The size of the problem, as people write it: "50,000 × 784"."""
    samples, features, _ = compute_problem_size(config)
    return f"{samples:,} × {features:,}"


def format_ratio(ratio: float) -> str:
    """A ratio as "1.7 times"; near 1 as "1.06 times"."""
    return f"{formats.format_significant(ratio, 3 if 1 < ratio < 1.1 else 2)} times"


def format_speedup(ratio: float) -> str:
    """A ratio as "1.68×"."""
    return f"{ratio:.2f}×"


def describe_speedup_range(bought: Speedup) -> str:
    """The 95 % interval of the median speed-up: ", 1.61× to 1.75×"; "" of too few iterations."""
    if not math.isfinite(bought.high):
        return ""
    return f", {format_speedup(bought.low)} to {format_speedup(bought.high)}"


def compute_median_step_time(trace: SolveTrace) -> float:
    """The median step time, in seconds."""
    return float(np.median(trace.seconds))


def format_step_time(trace: SolveTrace) -> str:
    """The median step time: "0.84 ms", "31 ms" or "1.25 s"."""
    return formats.format_duration(compute_median_step_time(trace), fine=True)


def has_iterations(trace: SolveTrace | None) -> bool:
    return trace is not None and len(trace.seconds) > 0


def describe_pmap_gain(traces: RegressionTraces, active: bool) -> str:
    """What `pmap` bought; "" before the first iteration."""
    one, many, bought = traces.without, traces.with_pmap, traces.speedup
    if one is None and many is not None and has_iterations(many):
        devices = formats.format_count(many.devices, "device")
        return f"With pmap, on {devices}, an iteration takes {format_step_time(many)}."
    if one is None or not has_iterations(one):
        return ""
    if many is None or bought is None:
        next_one = " The solve with pmap comes next." if active else ""
        return f"Without pmap, on one device, an iteration takes {format_step_time(one)}.{next_one}"
    step_times = _describe_step_times(one, many, bought)
    partial = active and len(many.seconds) < len(one.seconds)
    return f"So far: {step_times[0].lower()}{step_times[1:]}" if partial else step_times


def describe_pmap_choice(choice: PmapChoice) -> str:
    one, many = choice.without, choice.with_pmap
    if one is None or many is None:
        return "There is one device, so there was nothing to choose: solved without pmap."
    slow, fast = (formats.format_duration(each["seconds"], fine=True) for each in (one, many))
    evaluations = formats.format_count(one["evaluations"] + many["evaluations"], "evaluation")
    return (
        f"Tried first on these samples: one evaluation took {slow} on one device without pmap and "
        f"{fast} on {formats.format_count(many['devices'], 'device')} with it, so it is solved "
        f"{'with' if choice.pmap else 'without'} pmap. That is from {evaluations}; where they are "
        "close, measuring again may choose the other."
    )


def _describe_step_times(trace: SolveTrace, many: SolveTrace, bought: Speedup) -> str:
    """Compare the step times with and without `pmap`, and report whether its compiling pays.

    Faster or slower is claimed only if the interval of the ratio and the two times both show it.
    """
    done = min(len(trace.seconds), len(many.seconds))
    one_seconds, many_seconds = (float(np.median(each.seconds[:done])) for each in (trace, many))
    slow, fast = (formats.format_duration(seconds, fine=True) for seconds in (one_seconds, many_seconds))
    if many.devices == 1:
        return (
            f"There is one device, so pmap has nothing to spread: an iteration takes {fast} with it and {slow} without."
        )
    on = f"n {many.devices} devices an iteration takes {fast}"
    room = 2 * _EQUAL_STEP_TIME_TOLERANCE if slow == fast else _EQUAL_STEP_TIME_TOLERANCE
    if bought.low > 1 - room and bought.high < 1 + room:
        return f"pmap changes little here: o{on}, and {slow} on one without pmap."
    if bought.high < 1 and bought.pace < 1 and slow != fast:
        return (
            f"pmap does not pay here: o{on} instead of {slow}, "
            f"{format_ratio(_compute_shown_ratio(many_seconds, one_seconds))} as long."
        )
    if bought.low > 1 and bought.pace > 1 and slow != fast:
        return (
            f"O{on} instead of {slow}: "
            f"{format_ratio(_compute_shown_ratio(one_seconds, many_seconds))} as fast. "
            f"{_describe_compile_payoff(bought, trace)}"
        )
    these = "This 1 iteration does" if done == 1 else f"These {done:,} iterations do"
    return (
        f"{these} not tell whether pmap pays: o{on}, and {slow} on one without pmap{_format_speedup_interval(bought)}."
    )


def _compute_shown_ratio(first: float, second: float) -> float:
    """Divide two times in seconds as they are shown: 29 ms by 20 ms is 1.45, whatever was rounded.

    Times below 0.1 s are shown with two significant figures, longer ones with three.
    """
    shown = [float(f"{seconds:.{1 if seconds < 0.1 else 2}e}") for seconds in (first, second)]
    return shown[0] / shown[1]


def _format_speedup_interval(bought: Speedup) -> str:
    """The interval of the speed-up where it holds 1: ", 0.9 to 1.2 times as fast"; else ""."""
    if not bought.low <= 1 <= bought.high < math.inf:
        return ""
    low, high = (formats.format_significant(end, 2) for end in (bought.low, bought.high))
    return f", {low} to {high} times as fast"


def _describe_compile_payoff(bought: Speedup, trace: SolveTrace) -> str:
    """From which iteration on `pmap` has paid for its compiling: seen, or at the pace so far."""
    after, done = bought.pays_after, len(trace.seconds)
    if after is None:
        return "What compiling takes longer with pmap is not made up within a million iterations."
    if not after:
        return "Compiling with pmap took no longer, so it pays from the first iteration on."
    if after > done:
        about = formats.format_significant(after, 2)
        return f"At this pace pmap pays for its compiling after about {about} iterations; here were {done:,}."
    return f"With compiling, pmap pays after {formats.format_count(after, 'iteration')}."


def describe_replica_agreement(traces: RegressionTraces) -> str:
    """Whether all devices hold the same weights at the end; "" before it, and on one device."""
    many = traces.with_pmap
    if many is None or many.weight_spread is None or many.devices == 1:
        return ""
    if many.weight_spread == 0:
        everyone = "Both devices" if many.devices == 2 else f"All {many.devices} devices"
        return f"{everyone} hold the same weights, to the bit."
    return f"The devices' weights are not the same: they lie up to {many.weight_spread:.1g} apart, which should not be."


def explain_shared_cores(status: RegressionStatus) -> str:
    """What the figures mean where the devices are a CPU that is split; "" where they are not."""
    if status.platform != "cpu" or not status.devices:
        return ""
    most = f"at most {status.cores} times" if status.cores > 1 else "with one core nothing is gained"
    return (
        "These devices are virtual: JAX splits one CPU, and all of them share its "
        f"{formats.format_count(status.cores, 'core')}. So the figure says how well pmap keeps the "
        f"cores busy, {most}; accelerators would each bring their own compute and memory."
    )


def explain_solve_errors_chart(traces: RegressionTraces) -> str:
    """What to see in the picture of errors: how closely both solves take the same path."""
    if traces.without is None or traces.with_pmap is None or not has_iterations(traces.with_pmap):
        return "The norm of the gradient falls towards 0, where the minimum is."
    apart = _compute_relative_difference(traces.without.error, traces.with_pmap.error)
    if apart.max() <= _INVISIBLE_DIFFERENCE:
        return (
            f"The two curves lie on top of each other: the errors agree to "
            f"{_format_power_of_ten(apart)} "
            f"over {formats.format_count(len(apart), 'iteration')}. It is the same path."
        )
    part = int(np.argmax(apart > _INVISIBLE_DIFFERENCE)) + 1
    early = apart[:_EARLY_ITERATIONS]
    if part <= _EARLY_ITERATIONS:
        return f"The two curves part at iteration {part}: rounding sent them along other paths."
    one, many = (f"{trace.objective[len(apart) - 1]:.4g}" for trace in (traces.without, traces.with_pmap))
    reached = f"both objectives come to {one}" if one == many else f"{one} and {many} are reached"
    return (
        "The two curves lie on top of each other at first: the errors agree to "
        f"{_format_power_of_ten(early)} over {_EARLY_ITERATIONS} iterations. From iteration {part} "
        f"on, rounding shows; {reached}."
    )


def _compute_relative_difference(one: NDArray[np.float64], many: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far two curves lie apart, (I,) of the first, as far as both go."""
    count = min(len(one), len(many))
    with np.errstate(invalid="ignore", divide="ignore"):
        apart = np.abs(many[:count] - one[:count]) / np.abs(one[:count])
    return np.where(one[:count] == many[:count], 0.0, np.nan_to_num(apart, nan=np.inf))


def _format_power_of_ten(apart: NDArray[np.float64]) -> str:
    """The power of ten that all of these stay below: "1e-4"; "the bit" where all are 0."""
    largest = float(apart.max())
    return f"1e{int(np.ceil(np.log10(largest)))}" if largest else "the bit"


def explain_device_scaling_chart(traces: RegressionTraces, cores: int) -> str:
    """What to see in the speed-up against the number of devices.

    Args:
      cores: of the CPU that the devices share; 0 where each is its own.
    """
    most = max(ratio for _, ratio in traces.scaling)
    fastest = [str(devices) for devices, ratio in traces.scaling if ratio >= most * (1 - _EQUAL_STEP_TIME_TOLERANCE)]
    if most < 1 + _EQUAL_STEP_TIME_TOLERANCE:
        text = "No number of devices is faster than one here."
    else:
        text = f"Fastest on {' or '.join(fastest)} devices: {format_ratio(most)} as fast as on one."
    bound = " Past them the devices only share what there is." if cores else ""
    return f"{text} The dotted line is ideal: twice the devices, twice as fast." + (
        f" {formats.format_count(cores, 'core').capitalize()} give at most {cores} times.{bound}" if cores > 1 else ""
    )


def format_iteration_progress(solve: regression.Regression) -> str:
    """How far an active regression is: "iteration 12 of 140"; "" before the first."""
    done = solve.status.iteration
    return f"iteration {done:,} of {solve.status.iterations:,}" if done else ""
