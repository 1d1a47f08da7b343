"""Sentences about the training speed that `ensemble bench` measured."""

import time

from ensemble.datasets.registry import find_dataset_title
from ensemble.machine.bench_result import BenchResult
from ensemble.machine.bfloat16_plans import MIN_WORTHWHILE_GAIN, Bfloat16Plan
from ensemble.wording import formats
from ensemble.wording.runs.regression import format_ratio

_EQUAL_SPEED_TOLERANCE = 0.03  # relative: no difference worth reporting


def describe_bench_result(bench: BenchResult) -> str:
    speeds = " and ".join(f"{formats.format_throughput(rate)} in {name}" for name, rate in bench.rates.items())
    day = time.strftime("%d %b %Y, %H:%M", time.localtime(bench.created)).lstrip("0")
    members, devices = formats.format_count(bench.members, "member"), formats.format_count(bench.devices, "device")
    return (
        f"{speeds} ({members} on {devices}, {find_dataset_title(bench.dataset)}, batches of {bench.batch_size}; {day})"
    )


def _describe_precision_speed(bench: BenchResult, gain: float) -> str:
    """Return what bfloat16 does to the speed: "is 1.9 times as fast as float32 here"."""
    if abs(gain - 1) < _EQUAL_SPEED_TOLERANCE:
        return "is about as fast as float32 here"
    if gain > 1:
        return f"is {format_ratio(gain)} as fast as float32 here"
    emulated = bench.platform == "cpu" and not bench.fast_bfloat16
    why = ": the processor has no bfloat16 units" if emulated else ""
    return f"is slower here and takes {format_ratio(1 / gain)} as long as float32{why}"


def describe_bfloat16_support(
    bench: BenchResult | None, platform: str, fast: bool, plan: Bfloat16Plan | None = None
) -> str:
    """Return the caption of Train's precision control; "" if the speed is not known and can be measured.

    Args:
      platform: "cpu", "gpu" or "tpu"; "" while that is not known.
      fast: whether the processor multiplies bfloat16 itself.
    """
    if bench and (gain := bench.bfloat16_gain):
        return f"Measured: bfloat16 {_describe_precision_speed(bench, gain)}."
    if platform == "cpu" and not fast:
        return "This processor has no bfloat16 units: it is a little slower than float32."
    if platform == "cpu" and plan:
        if plan.is_faster:
            return (
                f"Measured: the layers that multiply bfloat16 are {format_ratio(plan.gain)} as "
                "fast as in float32, forward and backward."
            )
        return "Measured: bfloat16 is no faster than float32 on this processor."
    return ""


def label_bfloat16_choice(
    bench: BenchResult | None, platform: str, fast: bool, plan: Bfloat16Plan | None = None
) -> str:
    """Return the label of bfloat16 in Train's control; for the arguments see `describe_bfloat16_support`."""
    gain = (bench.bfloat16_gain if bench else None) or (plan.gain if plan else None)
    known_slow = (gain is not None and gain < MIN_WORTHWHILE_GAIN) or (gain is None and not fast)
    return f"bfloat16, {'no faster here' if platform == 'cpu' and known_slow else 'half the bits'}"
