import numpy as np
import pytest

from ensemble.analysis.best_value import BestValue, estimate_best_value
from ensemble.wording.verdicts import best_value as words


def found(means: list[float], values: list[float] | None = None) -> BestValue:
    draw = np.random.default_rng(1)
    each = np.array([draw.exponential(0.3, 500)] * len(means)) + np.array(means)[:, None]
    noisy = each + draw.normal(0, 0.02, each.shape)
    return estimate_best_value(values or np.geomspace(0.01, 1, len(means)), noisy)


@pytest.mark.parametrize(
    ("means", "said"),
    [
        (
            [0.5, 0.0, 0.001, 0.4, 0.6],
            "Rates 0.032 and 0.1 are within the noise of the best, 0.032.",
        ),
        (
            [0.5, 0.0, 0.001, 0.001, 0.6],
            "Rates 0.032 to 0.32 are within the noise of the best, 0.032.",
        ),
        ([0.5, 0.0, 0.3, 0.4, 0.6], "Rate 0.032 is best; every other is worse by more than noise."),
        ([0.0, 0.0, 0.0], "These 500 images show no rate to be worse than the best, 0.01."),
        ([0.0], "Only rate 0.01 is left: nothing to compare it with."),
    ],
)
def test_the_headline_names_the_best_range_or_that_there_is_none(
    means: list[float], said: str
) -> None:
    assert words.describe_best_value(found(means), "learning_rate") == said
    assert len(said) <= 80
    so_far = words.describe_best_value(found(means), "learning_rate", over=False)
    assert so_far == f"So far {said[0].lower()}{said[1:]}"


def test_a_value_beyond_worse_ones_that_is_not_shown_to_be_worse_is_named() -> None:
    draw = np.random.default_rng(2)
    base = draw.exponential(0.3, 500)
    noisy = draw.normal(0, 4.0, 500)
    each = np.array([base, base + 0.3, base + 0.001 + noisy - noisy.mean()])
    seen = estimate_best_value([0.01, 0.1, 1.0], each)
    assert (seen.first, seen.last, seen.other_candidates) == (0, 0, (2,))
    assert (
        words.describe_best_value(seen, "learning_rate")
        == "Rate 0.01 is best; 1 is not shown to be worse."
    )
    near = draw.normal(0, 0.1, 500)
    each = np.array([base, base + 0.001 + near - near.mean(), *each[1:]])
    seen = estimate_best_value([0.01, 0.02, 0.1, 1.0], each)
    assert words.describe_best_value(seen, "learning_rate") == (
        "Rates 0.01 and 0.02 are within the noise of the best, 0.01; so is 1."
    )


def test_one_image_tells_nothing_apart() -> None:
    seen = estimate_best_value([0.01, 0.1, 1.0], np.array([[0.1], [2.0], [9.0]]))
    assert words.describe_best_value(seen, "learning_rate") == (
        "This one image shows no rate to be worse than the best, 0.01."
    )


def test_beside_a_value_that_diverged_nobody_is_sent_beyond_it() -> None:
    left = found([0.4, 0.3, 0.0], [0.01, 0.1, 0.3])
    tried = [0.01, 0.1, 0.3, 1.0]
    told = words.describe_best_value_evidence(left, "learning_rate", "test", 1, tried)
    assert "try above" not in told
    assert "At 1 the loss was no longer a number: try between 0.3 and 1." in told
    assert "try above" in words.describe_best_value_evidence(
        left, "learning_rate", "test", 1, tried[:3]
    )
    sure = found([0.0, 0.3, 0.4], [0.1, 0.3, 0.9])
    told = words.describe_best_value_evidence(sure, "momentum", "test", 1, [0.01, 0.1, 0.3, 0.9])
    assert "At 0.01 the loss was no longer a number: try between 0.01 and 0.1." in told


def test_the_evidence_says_on_which_images_and_what_it_leaves_open() -> None:
    told = words.describe_best_value_evidence(
        found([0.5, 0.0, 0.001, 0.4]), "momentum", "validation", 7
    )
    assert "Lowest validation NLL after epoch 7" in told
    assert "same 500 images (paired, 5 %, adjusted for 6 pairs of values)" in told
    assert "another seed" in told
    assert "not on the test images" in told
    assert "expect less on new ones" in words.describe_best_value_evidence(
        found([0.0, 0.1]), "momentum", "test", 1
    )


@pytest.mark.parametrize(
    ("means", "said"), [([0.0, 0.3, 0.3], "try below"), ([0.3, 0.3, 0.0], "try above")]
)
def test_a_best_at_the_end_of_what_was_tried_says_where_to_go_on(
    means: list[float], said: str
) -> None:
    assert said in words.describe_best_value_evidence(found(means), "learning_rate", "test", 1)
    assert words.recommend_next_values(found([0.3, 0.0, 0.3])) == ""


def test_means_alone_name_the_lowest_and_promise_no_more() -> None:
    said = words.describe_lowest_loss([0.1, 0.3], [0.5, 0.25], "learning_rate", "training")
    assert said.startswith("So far rate 0.3 has the lowest training loss, 0.250;")
