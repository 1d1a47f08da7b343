"""What is said of a regression's measurements, case by case."""

import re
from dataclasses import replace

import numpy as np
import pytest

from ensemble import regression
from ensemble.regression import RegressionStatus, RegressionTraces, SolveTrace
from ensemble.regression.pmap_choice import PmapChoice, PmapTrial
from ensemble.regression.regression_job import LbfgsConfig
from ensemble.regression.speedup import compute_speedup
from ensemble.wording.runs import regression as regression_words


def trace(seconds: list[float], devices: int = 1, compiling: float = 1.0) -> SolveTrace:
    """A solve with these step times, whose error halves at every step."""
    falling = 0.5 ** np.arange(len(seconds))
    ones = np.ones(len(seconds))
    return SolveTrace(devices, devices > 1, compiling, falling, falling, ones, ones, np.array(seconds), 0.0)


ONE = trace([0.052] * 40)
SECONDS = {"ms": 1e-3, "s": 1.0}


@pytest.mark.parametrize(
    ("many", "answer"),
    [
        (
            trace([0.031] * 40, 2, 1.77),
            "On 2 devices an iteration takes 31 ms instead of 52 ms: 1.7 times as fast. "
            "With compiling, pmap pays after 37 iterations.",
        ),
        (
            trace([0.031] * 40, 2, 22.0),
            "On 2 devices an iteration takes 31 ms instead of 52 ms: 1.7 times as fast. "
            "At this pace pmap pays for its compiling after about 1,000 iterations; here were 40.",
        ),
        (
            trace([0.026] * 40, 4, 0.5),
            "On 4 devices an iteration takes 26 ms instead of 52 ms: 2.0 times as fast. "
            "Compiling with pmap took no longer, so it pays from the first iteration on.",
        ),
        (
            trace([0.13] * 40, 2, 0.5),
            "pmap does not pay here: on 2 devices an iteration takes 130 ms instead of 52 ms, 2.5 times as long.",
        ),
        (
            trace([0.0515] * 40, 2),
            "pmap changes little here: on 2 devices an iteration takes 52 ms, and 52 ms on one without pmap.",
        ),
        (
            trace([0.049] * 40, 2, 0.5),
            "On 2 devices an iteration takes 49 ms instead of 52 ms: 1.06 times as fast. "
            "Compiling with pmap took no longer, so it pays from the first iteration on.",
        ),
        (
            trace([0.05] * 40, 1),
            "There is one device, so pmap has nothing to spread: an iteration takes 50 ms with it and 52 ms without.",
        ),
    ],
    ids=["pays", "pays later", "pays at once", "does not pay", "alike", "nearly", "one device"],
)
def test_the_answer(many: SolveTrace, answer: str) -> None:
    assert regression_words.describe_pmap_gain(RegressionTraces(ONE, many, ()), active=False) == answer


def test_a_heading_never_contradicts_the_step_times_beside_it() -> None:
    """Most iterations are faster with pmap, and yet the median of their times is longer."""
    slow = [ms / 1000 for ms in range(1, 21)]
    torn = trace(slow), trace([0.1] * 5 + [0.9 * each for each in slow[5:]], 2)
    mixed = trace([0.010, 0.012] * 20), trace([0.012, 0.0102] * 20, 2)
    for without, with_pmap in (torn, mixed):
        said = regression_words.describe_pmap_gain(RegressionTraces(without, with_pmap, ()), active=False)
        slower, faster = (np.median(each.seconds) for each in (without, with_pmap))
        assert ": 1.1 times as fast" not in said or faster < slower
        assert "times as long" not in said or faster > slower
    assert regression_words.describe_pmap_gain(RegressionTraces(*torn, ()), active=False) == (
        "These 20 iterations do not tell whether pmap pays: on 2 devices an iteration "
        "takes 14 ms, and 10 ms on one without pmap."
    )
    said = regression_words.describe_pmap_gain(RegressionTraces(*mixed, ()), active=False)
    assert said == (
        "These 40 iterations do not tell whether pmap pays: on 2 devices an iteration "
        "takes 11 ms, and 11 ms on one without pmap, 0.83 to 1.2 times as fast."
    )


@pytest.mark.parametrize(("one", "many"), [(0.020, 0.029), (0.0104, 0.0146), (0.998, 1.504)])
def test_the_ratio_is_that_of_the_two_times_in_the_sentence(one: float, many: float) -> None:
    """Most iterations take far longer with pmap than the two medians suggest."""
    without = [one * scale for scale in [0.5] * 19 + [1.0] * 3 + [1.02] * 18]
    with_pmap = [many * scale for scale in [0.98] * 19 + [1.0] * 3 + [1.02] * 18]
    sentence = regression_words.describe_pmap_gain(
        RegressionTraces(trace(without), trace(with_pmap, 2), ()), active=False
    )
    found = re.search(r"takes ([\d.]+) (m?s) instead of ([\d.]+) (m?s), ([\d.]+) times as long", sentence)
    assert found, sentence
    shown = [float(found[1]) * SECONDS[found[2]], float(found[3]) * SECONDS[found[4]]]
    assert float(found[5]) == pytest.approx(shown[0] / shown[1], rel=0.05)
    assert float(found[5]) == float(regression_words.format_ratio(shown[0] / shown[1]).split()[0])


def test_a_few_iterations_are_no_verdict() -> None:
    said = regression_words.describe_pmap_gain(RegressionTraces(ONE, trace([0.026] * 5, 2), ()), active=True)
    assert said.startswith("So far: these 5 iterations do not tell whether pmap pays: on 2 devices")
    assert said.endswith("an iteration takes 26 ms, and 52 ms on one without pmap.")
    assert "times as fast" in regression_words.describe_pmap_gain(
        RegressionTraces(ONE, trace([0.026] * 6, 2), ()), active=True
    )


def test_the_answer_while_it_is_measured() -> None:
    assert regression_words.describe_pmap_gain(RegressionTraces(None, None, ()), active=True) == ""
    assert regression_words.describe_pmap_gain(RegressionTraces(trace([]), None, ()), active=True) == ""
    alone = regression_words.describe_pmap_gain(RegressionTraces(ONE, trace([], 2), ()), active=True)
    assert alone.endswith("takes 52 ms. The solve with pmap comes next.")
    partly = regression_words.describe_pmap_gain(RegressionTraces(ONE, trace([0.026] * 9, 2), ()), active=True)
    assert partly.startswith("So far: on 2 devices an iteration takes 26 ms")


def test_a_step_time_is_the_median_of_all_steps() -> None:
    assert regression_words.format_step_time(trace([0.031, 0.9, 0.030, 0.0314, 0.032])) == "31 ms"


def test_how_closely_the_errors_agree() -> None:
    many = trace([0.03] * 40, 2)
    same = replace(many, error=many.error * (1 + 9e-5))
    assert "agree to 1e-4 over 40 iterations. It is the same path" in said(same)
    drift = np.where(np.arange(40) < 30, 1 + 9e-4, 1.5)
    later = said(replace(many, error=many.error * drift))
    assert "agree to 1e-3 over 20 iterations. From iteration 31 on" in later
    assert "part at iteration 1:" in said(replace(many, error=2 * many.error))
    assert "agree to the bit" in said(many)


def said(many: SolveTrace) -> str:
    return regression_words.explain_solve_errors_chart(RegressionTraces(ONE, many, ()))


def test_replicas_that_differ_are_said_to() -> None:
    many = trace([0.03], 4)
    assert regression_words.describe_replica_agreement(RegressionTraces(ONE, many, ())).startswith(
        "All 4 devices hold the same"
    )
    apart = regression_words.describe_replica_agreement(RegressionTraces(ONE, replace(many, weight_spread=0.0123), ()))
    assert "up to 0.01 apart" in apart
    assert (
        regression_words.describe_replica_agreement(RegressionTraces(ONE, replace(many, weight_spread=None), ())) == ""
    )


def test_virtual_devices_are_named_so_and_others_are_not() -> None:
    on_cpu = RegressionStatus(platform="cpu", cores=2, devices=2)
    assert "share its 2 cores" in regression_words.explain_shared_cores(on_cpu)
    assert regression_words.explain_shared_cores(replace(on_cpu, platform="gpu")) == ""


def test_the_fastest_number_of_devices_is_named() -> None:
    swept = tuple(trace([ms / 1000] * 5, devices) for ms, devices in ((60, 1), (30, 2), (40, 4)))
    told = regression_words.explain_device_scaling_chart(RegressionTraces(ONE, ONE, swept), cores=2)
    assert told.startswith("Fastest on 2 devices: 2.0 times as fast as on one. ")
    assert "2 cores give at most 2 times. Past them the devices only share what there is." in told
    slower = tuple(trace([ms / 1000] * 5, devices) for ms, devices in ((30, 1), (60, 2)))
    told = regression_words.explain_device_scaling_chart(RegressionTraces(ONE, ONE, slower), cores=0)
    assert told.startswith("No number of devices is faster than one here. ")
    assert "at most" not in told
    alike = tuple(trace([ms / 1000] * 5, devices) for ms, devices in ((60, 1), (30.5, 2), (30, 4)))
    told = regression_words.explain_device_scaling_chart(RegressionTraces(ONE, ONE, alike), cores=0)
    assert told.startswith("Fastest on 2 or 4 devices: 2.0 times as fast as on one. ")
    hardly = tuple(trace([ms / 1000] * 5, devices) for ms, devices in ((60, 1), (59.5, 2)))
    told = regression_words.explain_device_scaling_chart(RegressionTraces(ONE, ONE, hardly), cores=0)
    assert told.startswith("No number of devices is faster than one here. ")


def test_one_core_gains_nothing_by_virtual_devices() -> None:
    alone = RegressionStatus(platform="cpu", cores=1, devices=2)
    assert "share its 1 core." in regression_words.explain_shared_cores(alone)
    assert "with one core nothing is gained" in regression_words.explain_shared_cores(alone)
    assert "at most 2 times" in regression_words.explain_shared_cores(replace(alone, cores=2))


def test_objectives_that_differ_at_the_end_are_both_named() -> None:
    many = trace([0.03] * 40, 2)
    later = replace(many, error=many.error * np.where(np.arange(40) < 30, 1.0, 1.5))
    assert said(later).endswith("rounding shows; both objectives come to 1.819e-12.")
    other = replace(later, objective=np.full(40, 1.25))
    assert said(other).endswith("rounding shows; 1.819e-12 and 1.25 are reached.")


@pytest.mark.parametrize(("done", "said"), [(0, ""), (4, "iteration 4 of 1,006")])
def test_how_far_a_regression_is(done: int, said: str) -> None:
    status = RegressionStatus(state="solving", iteration=done, iterations=1006)
    solve = replace(regression.create_regression(LbfgsConfig()), status=status)
    assert regression_words.format_iteration_progress(solve) == said


def test_a_trial_of_both_ways_is_said_with_its_figures_and_what_follows() -> None:
    one = PmapTrial(devices=1, seconds=0.041, iterations=9, evaluations=10)
    many = PmapTrial(devices=2, seconds=0.036, iterations=10, evaluations=11)
    assert regression_words.describe_pmap_choice(PmapChoice(True, one, many)) == (
        "Tried first on these samples: one evaluation took 41 ms on one device without pmap and "
        "36 ms on 2 devices with it, so it is solved with pmap. That is from 21 evaluations; where "
        "they are close, measuring again may choose the other."
    )
    assert "so it is solved without pmap" in regression_words.describe_pmap_choice(PmapChoice(False, one, many))
    assert "nothing to choose" in regression_words.describe_pmap_choice(PmapChoice(False))
    only = regression_words.describe_pmap_gain(RegressionTraces(None, trace([0.026] * 5, 2), ()), active=False)
    assert only == "With pmap, on 2 devices, an iteration takes 26 ms."


def test_the_range_of_a_speed_up_begins_at_its_lower_end() -> None:
    seconds = np.array([1.0, 1.3, 1.1, 1.2, 1.0, 1.25, 1.4, 1.15])
    bought = compute_speedup(seconds, np.full(8, 0.5), 1.0, 1.0, 2)
    ends = [float(end) for end in re.findall(r"([\d.]+)×", regression_words.describe_speedup_range(bought))]
    assert ends == [round(bought.low, 2), round(bought.high, 2)]
    assert ends[0] < ends[1]
