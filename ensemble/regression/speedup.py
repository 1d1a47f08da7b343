"""What parallelism bought: step times with and without `pmap`, compared."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.inference.median_interval import median_interval

Times = NDArray[np.float64]
MAX_ITERATIONS = 1_000_000  # as far as it is looked for where parallelism pays


@dataclass(frozen=True)
class Speedup:
    """One solver's step times against another's; all ratios above 1 say that `pmap` is faster.

    Attributes:
      mean: the mean over iterations of time without / time with, compiling left out: the
        figure of JAXopt's example.
      median: the median of the same ratios, which one slow step does not move.
      low: the lower end of the 95 % interval of that median, over these iterations of this one
        measurement: on another day the machine may do other things besides. 0 of fewer than 6.
      high: the upper end; infinite of fewer than 6.
      pace: the median step time without by the median step time with: it can lie on the other
        side of 1 than `median` where iterations differ much.
      whole: all of one solve against all of the other, compiling included.
      efficiency: `median` over the number of devices: 1 is ideal.
      pays_after: the first number of iterations after which the sum of compiling and steps is
        smaller with `pmap`; 0 where it always is, None where it is not within `MAX_ITERATIONS`.
    """

    mean: float
    median: float
    low: float
    high: float
    pace: float
    whole: float
    efficiency: float
    pays_after: int | None


def compute_speedup(
    without: Times, with_pmap: Times, compile_without: float, compile_with: float, devices: int
) -> Speedup:
    """Compares two solves of as many iterations.

    Args:
      without: seconds of each iteration on one device, (I,) with I at least 1.
      with_pmap: the same on several.
      compile_without: seconds of compiling, on one device.
      compile_with: the same on several.
      devices: how many those are.
    """
    count = min(len(without), len(with_pmap))
    without, with_pmap = np.asarray(without[:count]), np.asarray(with_pmap[:count])
    ratios = without / with_pmap
    whole = (compile_without + without.sum()) / (compile_with + with_pmap.sum())
    median = float(np.median(ratios))
    return Speedup(
        float(ratios.mean()),
        median,
        *median_interval(ratios),
        float(np.median(without) / np.median(with_pmap)),
        float(whole),
        median / devices,
        find_break_even(without, with_pmap, compile_without, compile_with),
    )


def find_break_even(without: Times, with_pmap: Times, compile_without: float, compile_with: float) -> int | None:
    """After how many iterations `pmap` has paid for its compiling; see `Speedup.pays_after`.

    Within the measured iterations it is where their sums cross for good; after them, both go
    on at their median pace. What only compiles faster, and then loses with every step, does
    not pay.
    """
    lead = compile_without - compile_with + np.append(0.0, np.cumsum(without - with_pmap))
    gain = float(np.median(without) - np.median(with_pmap))
    if lead[-1] + gain * (MAX_ITERATIONS - len(without)) <= 0:
        return None
    if lead[-1] <= 0:
        return len(without) + math.floor(-float(lead[-1]) / gain) + 1
    behind = np.flatnonzero(lead <= 0)
    return int(behind[-1] + 1) if len(behind) else 0
