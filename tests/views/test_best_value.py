import numpy as np
import pytest

from ensemble.analysis.best_value import BestValue, estimate_best_value
from ensemble.views import loss_by_value as words


def found(means: list[float], values: list[float] | None = None, members: int = 3, n: int = 500) -> BestValue:
    """What 500 images tell of values of so many members each, whose seeds differ a little."""
    draw = np.random.default_rng(1)
    own = np.repeat(means, members) + draw.normal(0, 0.0001 * (members > 1), len(means) * members)
    each = draw.exponential(0.3, n) + own[:, None]
    noisy = each + draw.normal(0, 0.02, each.shape)
    tried = np.asarray(values or np.geomspace(0.01, 1, len(means)))
    return estimate_best_value(np.repeat(tried, members), noisy)


@pytest.mark.parametrize(
    ("means", "said", "of_members"),
    [
        (
            [0.5, 0.0, 0.001, 0.4, 0.6],
            "Rates 0.032 and 0.1 are within the noise of the best, {best}.",
            "The members at rates 0.032 and 0.1 are within the noise of the best, at {best}.",
        ),
        (
            [0.5, 0.0, 0.001, 0.001, 0.6],
            "Rates 0.032 to 0.32 are within the noise of the best, {best}.",
            "The members at rates 0.032 to 0.32 are within the noise of the best, at {best}.",
        ),
        (
            [0.5, 0.0, 0.3, 0.4, 0.6],
            "Rate 0.032 is best; every other is worse by more than noise.",
            "The member at rate 0.032 did best; all others did worse.",
        ),
        (
            [0.5, 0.0],
            "Rate 1 is best; every other is worse by more than noise.",
            "The member at rate 1 did best; the other did worse.",
        ),
        (
            [0.0, 0.0, 0.0],
            "These 500 images show no rate to be worse than the best, {best}.",
            "These 500 images show no member to be worse than the best, that at rate {best}.",
        ),
        (
            [0.0],
            "Only rate 0.01 is left: nothing to compare it with.",
            "Only rate 0.01 is left: nothing to compare it with.",
        ),
    ],
)
def test_the_headline_names_the_best_range_or_that_there_is_none(
    means: list[float], said: str, of_members: str
) -> None:
    """Of values where seeds can be told from them, else of the members that have them."""
    for members, sentence in ((3, said), (1, of_members)):
        best_value = found(means, members=members)
        sentence = sentence.format(best=f"{best_value.values[best_value.best]:.2g}")
        assert words.describe_best_value(best_value, "learning_rate") == sentence
        assert len(sentence) <= 85
        so_far = words.describe_best_value(best_value, "learning_rate", over=False)
        assert so_far == f"So far {sentence[0].lower()}{sentence[1:]}"


def test_one_member_a_value_says_that_seeds_may_order_values_differently() -> None:
    told = words.describe_best_value_evidence(found([0.5, 0.0, 0.3], members=1), "learning_rate", "test", 1)
    assert "One member for each: other seeds may order the rates differently." in told
    assert "train 3 members for each (9 members)" in told
    assert "over the seeds" not in told
    many = words.recommend_more_members(1400, "momentum")
    assert many == "One member for each: other seeds may order the momenta differently."
    told = words.describe_best_value_evidence(found([0.5, 0.0, 0.3]), "learning_rate", "test", 1)
    assert "on the same 500 images, over the seeds of its members (paired" in told
    assert "other seeds may" not in told


def test_a_value_beyond_worse_ones_that_is_not_shown_to_be_worse_is_named() -> None:
    draw = np.random.default_rng(2)
    base = draw.exponential(0.3, 500)
    noisy = draw.normal(0, 4.0, 500)
    each = np.array([base, base + 0.3, base + 0.001 + noisy - noisy.mean()])
    seen = estimate_best_value([0.01, 0.1, 1.0], each)
    assert (seen.first, seen.last, seen.other_candidates) == (0, 0, (2,))
    assert (
        words.describe_best_value(seen, "learning_rate")
        == "The member at rate 0.01 did best; that at 1 is not shown to be worse."
    )
    near = draw.normal(0, 0.1, 500)
    each = np.array([base, base + 0.001 + near - near.mean(), *each[1:]])
    seen = estimate_best_value([0.01, 0.02, 0.1, 1.0], each)
    assert words.describe_best_value(seen, "learning_rate") == (
        "The members at rates 0.01 and 0.02 are within the noise of the best, at 0.01; so is 1."
    )


def test_one_image_tells_nothing_apart() -> None:
    seen = estimate_best_value([0.01, 0.1, 1.0], np.array([[0.1], [2.0], [9.0]]))
    assert words.describe_best_value(seen, "learning_rate") == (
        "This one image shows no member to be worse than the best, that at rate 0.01."
    )


def test_beside_a_value_that_diverged_nobody_is_sent_beyond_it() -> None:
    left = found([0.4, 0.3, 0.0], [0.01, 0.1, 0.3])
    tried = [0.01, 0.1, 0.3, 1.0]
    told = words.describe_best_value_evidence(left, "learning_rate", "test", 1, tried)
    assert "try above" not in told
    assert "At 1 the loss was no longer a number: try between 0.3 and 1." in told
    assert "try above" in words.describe_best_value_evidence(left, "learning_rate", "test", 1, tried[:3])
    sure = found([0.0, 0.3, 0.4], [0.1, 0.3, 0.9])
    told = words.describe_best_value_evidence(sure, "momentum", "test", 1, [0.01, 0.1, 0.3, 0.9])
    assert "At 0.01 the loss was no longer a number: try between 0.01 and 0.1." in told


def test_the_evidence_says_on_which_images_and_what_it_leaves_open() -> None:
    told = words.describe_best_value_evidence(found([0.5, 0.0, 0.001, 0.4]), "momentum", "validation", 7)
    assert "Lowest validation NLL after epoch 7" in told
    assert "on the same 500 images, over the seeds of its members (paired, 5 %," in told
    assert "adjusted for 6 pairs of values)" in told
    assert "not on the test images" in told
    assert "expect less on new ones" in words.describe_best_value_evidence(found([0.0, 0.1]), "momentum", "test", 1)


@pytest.mark.parametrize(("means", "said"), [([0.0, 0.3, 0.3], "try below"), ([0.3, 0.3, 0.0], "try above")])
def test_a_best_at_the_end_of_what_was_tried_says_where_to_go_on(means: list[float], said: str) -> None:
    assert said in words.describe_best_value_evidence(found(means), "learning_rate", "test", 1)
    assert words.recommend_next_values(found([0.3, 0.0, 0.3])) == ""


def test_means_alone_name_the_lowest_and_promise_no_more() -> None:
    said = words.describe_lowest_loss([0.1, 0.3], [0.5, 0.25], "learning_rate", "training")
    assert said.startswith("So far rate 0.3 has the lowest training loss, 0.250;")
