"""Conformal sets in words: a set, the promise, and what came of it, told apart."""

from dataclasses import replace

import numpy as np
import pytest

from ensemble.analysis.quality.conformal import ConformalThreshold
from ensemble.analysis.quality.coverage import ConformalCoverage, measure_coverage
from ensemble.datasets.registry import DIGIT_NAMES
from ensemble.figures.palette import LIGHT
from ensemble.views import conformal as conformal_figure
from ensemble.views import conformal as words

MADE = ConformalThreshold("aps", 0.05, 0.4, 250)


def of(covered: int, n: int = 250) -> ConformalCoverage:
    """Sets of two classes, of which so many hold the label, and ten of one."""
    sets = np.zeros((n, 10), bool)
    sets[:, 0] = True
    sets[10:, 1] = True
    return measure_coverage(sets, np.where(np.arange(n) < covered, 0, 5))


@pytest.mark.parametrize(("kept", "said"), [([4, 9], "{4, 9}"), ([3], "{3}"), ([], "{}"), (range(10), "any of the 10")])
def test_a_set_reads_as_a_set(kept: list[int], said: str) -> None:
    row = np.isin(np.arange(10), list(kept))
    assert words.format_class_set(row, DIGIT_NAMES) == said
    assert words.format_image_set(row, 0.05, DIGIT_NAMES) == f"{said} at 95 %"


@pytest.mark.parametrize(
    ("rate", "said"), [(0.2, "80 %"), (0.05, "95 %"), (0.01, "99 %"), (0.005, "99.5 %"), (0.001, "99.9 %")]
)
def test_a_level_is_what_the_error_rate_leaves(rate: float, said: str) -> None:
    assert words.format_set_level(rate) == said


def test_less_than_promised_is_said_only_beyond_chance() -> None:
    said = words.describe_conformal_sets(MADE, of(240), "digit")
    assert said == (
        "Lists of 1.96 classes on average hold the right digit 96.0 % of the time (92.8 to 97.8 %; aim: 95 %)."
    )
    assert "hold the right class" in words.describe_conformal_sets(MADE, of(240), "leaf")
    assert "promised" not in words.describe_conformal_sets(MADE, of(232), "digit")  # 92.8 %: up to 95.4 %
    assert words.describe_conformal_sets(MADE, of(225), "digit").endswith(
        "of the time (85.7 to 93.1 %): less than promised (95 %)."
    )
    # Other calibration digits would have put the threshold elsewhere: that is chance too.
    assert of(230).coverage_interval[1] < 0.95
    assert "promised" not in words.describe_conformal_sets(MADE, of(230), "digit")


def test_too_few_to_calibrate_on_is_said_instead_of_a_figure() -> None:
    few = replace(MADE, error_rate=0.001, threshold=np.inf)
    said = words.describe_conformal_sets(few, of(250), "digit")
    assert said == (
        "250 calibration digits are too few for lists that are right 99.9 % of the time: it takes "
        "999. Until then every list names all classes."
    )
    assert "calibration digits most give" not in words.describe_coverage_promise(few, "digit")


def test_the_promise_names_its_terms() -> None:
    said = words.describe_coverage_promise(MADE, "digit")
    assert "on average over calibrations; with 250 calibration digits most give" in said
    low, high = MADE.expected_coverage
    assert f"{100 * low:.1f} to {100 * high:.1f} %" in said
    assert "no promise for each class or each image, nor for images from elsewhere" in said


@pytest.mark.parametrize("halved", [True, False])
def test_what_sets_are_calibrated_on_is_said_alike_in_every_sentence(halved: bool) -> None:
    """Of new images like those: half of the test images, or those that were held out."""
    like = "these" if halved else "the validation images"
    assert words.describe_coverage_promise(MADE, "digit", halved).startswith(
        f"The promise: for new digits like {like}, the list holds the right class 95 % of the time"
    )
    assert words.describe_calibration_images(250, 1_250, "digit", halved) == (
        "Calibrated on one half of the test digits (250), judged on the other 1,250"
        if halved
        else "Calibrated on the 250 validation digits, judged on the 1,250 test digits"
    )
    own = words.explain_lost_promise("digit", "test" if halved else "validation")
    like = "the test set's" if halved else "the validation images"
    assert own.startswith(f"Lists hold on average, for digits like {like}. Yours were written")


def test_empty_sets_are_said_where_there_are_some() -> None:
    sets = np.zeros((4, 10), bool)
    sets[:3, 0] = sets[0, 1] = True
    assert words.summarize_conformal_sets(sets, 3, 0.05, "digit") == (
        "Lists made to hold the right answer 95 % of the time: 75.0 % do; 1 of 4 name two or more, 1 none."
    )
    assert words.summarize_conformal_sets(sets[:3], 3, 0.05, "digit").endswith("; 1 of 3 name two or more.")
    found = measure_coverage(sets, np.zeros(4, int))
    assert words.explain_set_sizes_chart(found, "digit").startswith(
        "50.0 % of the digits get a list of one class, 25.0 % two or more, 25.0 % none: no class "
    )
    assert " none" not in words.explain_set_sizes_chart(measure_coverage(sets[:3], np.zeros(3, int)), "digit")


def test_the_bars_are_the_sets_of_each_size_with_those_that_miss_on_top() -> None:
    found = of(240)
    holds, misses = conformal_figure.plot_set_sizes(found, "digit", "title", LIGHT).data
    assert list(holds.y[:3]) == [0, 10, 230]
    assert list(misses.y[:3]) == [0, 0, 10]
    assert conformal_figure.tabulate_set_sizes(found)["sets"].sum() == 250
    assert conformal_figure.describe_set_sizes_chart(found, "digit") == (
        "Sizes of 250 sets: 10 of 1 class, 240 of 2 classes; 96.0 % hold the digit"
    )


def test_sets_that_keep_the_promise_are_called_short_of_it_in_at_most_5_of_100_draws() -> None:
    draws = np.random.default_rng(3)
    for n, judged in ((259, 500), (250, 250), (100, 1_000)):
        place = int(np.ceil((n + 1) * 0.95)) - 1
        thresholds = np.sort(draws.random((4_000, n)), axis=1)[:, place]
        covered, times = np.unique(draws.binomial(judged, thresholds), return_counts=True)
        made = replace(MADE, error_rate=0.05, n=n)
        wrong = [
            "less than promised"
            in words.describe_conformal_sets(made, replace(of(200), n=judged, covered=int(one)), "digit")
            for one in covered
        ]
        assert 0 < times[wrong].sum() / 4_000 < 0.05, (n, judged)


@pytest.mark.parametrize(
    ("classes", "share", "said"),
    [([3], 0.375, "the probability, 37.5 %, says more."), ([3], 0.6, ""), ([3, 5], 0.375, ""), ([], 0.375, "")],
)
def test_one_class_that_is_not_likely_is_explained(classes: list[int], share: float, said: str) -> None:
    row = np.isin(np.arange(10), classes)
    probabilities = np.full(10, (1 - share) / 9)
    probabilities[3] = share
    told = words.explain_unsure_set(row, probabilities)
    assert told.endswith(said)
    assert bool(told) == bool(said)
