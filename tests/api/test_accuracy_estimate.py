"""A run's accuracy on images without labels: estimates, ranges of lower trust, or reasons."""

import json
from typing import Any

import numpy as np
import pytest

import ensemble
from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.api.run import Run
from ensemble.errors import ConfigError, PredictionsError
from ensemble.wording.accuracy_estimates import NO_PROOF
from tests.analysis.unlabelled.test_accuracy_estimate import draw_labelled


def keep(predictions: EnsemblePredictions) -> Run:
    """Them as a run that was trained elsewhere."""
    return ensemble.import_predictions(predictions.probabilities, predictions.labels, noun="leaf")


def test_a_share_is_said_with_what_it_rests_on_where_both_checks_pass() -> None:
    run, new = keep(draw_labelled(0, 600)), draw_labelled(1, 400)
    stated = run.estimate_accuracy(probabilities=new.probabilities)
    assert stated.told
    assert stated.sentence.startswith("About ")
    assert "of these 400 leaves will be right" in stated.sentence
    truth = new.right.mean()
    assert set(stated.accuracy) == {"agreement", "confidence", "threshold"}
    for share in stated.accuracy.values():
        assert share.low <= truth <= share.high
        assert share.high - share.low < 0.2
    assert list(stated.table["estimated from"]) == [
        "agreement of members",
        "confidence at a temperature",
        "share above a threshold (ATC)",
    ]
    assert stated.notes[0].startswith("Fitted on the 600 test leaves of the run, ")
    assert stated.notes[-1].endswith(NO_PROOF)
    found: dict[str, Any] = json.loads(json.dumps(stated.to_dict()))
    assert found["refusals"] == []
    assert found["trust"] == "checked"
    assert found["range"] == {
        "low": min(share.low for share in stated.accuracy.values()),
        "high": max(share.high for share in stated.accuracy.values()),
    }
    assert found["labelled"]["source"] == "test"
    assert found["labelled"]["accuracy"] == pytest.approx(draw_labelled(0, 600).right.mean())
    member = (new.votes == new.labels).mean()
    assert found["member_accuracy"]["low"] <= member <= found["member_accuracy"]["high"]
    assert stated.to_text().splitlines()[0] == stated.sentence in repr(stated)


def test_a_failed_check_leaves_a_range_of_lower_trust() -> None:
    run, new = keep(draw_labelled(0, 2_000)), draw_labelled(2, 2_000, scale=3.6)
    stated = run.estimate_accuracy(probabilities=new.probabilities)
    assert not stated.told
    assert stated.trust == "lower"
    low, high = stated.range or (1, 0)
    assert 0 < low <= new.right.mean() <= high < 1
    assert stated.sentence.startswith(
        f"Between {100 * low:.1f} and {100 * high:.1f} % of these 2,000 leaves will be right, with "
        "lower trust: the members are less confident on them than on the 2,000 test leaves ("
    )
    assert (stated.accuracy, len(stated.table)) == ({}, 0)
    assert stated.notes[0].startswith("Fitted on the 2,000 test leaves of the run, ")
    assert "each widened by its change" in stated.notes[1]
    found = json.loads(json.dumps(stated.to_dict()))
    assert (found["told"], found["trust"], found["accuracy"]) == (False, "lower", {})
    assert found["range"] == {"low": low, "high": high}
    assert found["member_accuracy"] is None
    assert found["likeness"]["mean_confidence"] < 0.001
    assert stated.to_text().splitlines() == [stated.sentence, *(f"  {note}" for note in stated.notes)]


def test_a_range_of_images_that_differ_a_lot_has_no_lower_end() -> None:
    run, new = keep(draw_labelled(0, 600)), draw_labelled(2, 400, scale=1.0)
    stated = run.estimate_accuracy(probabilities=new.probabilities)
    assert stated.range
    assert (stated.trust, stated.range[0]) == ("lower", 0)
    assert stated.sentence.startswith(
        f"At most {100 * stated.range[1]:.1f} % of these 400 leaves will be right, with lower trust"
    )


def test_a_difference_without_one_in_mean_confidence_is_named() -> None:
    """Of one class alone nothing is less certain, but other classes are predicted."""
    run, new = keep(draw_labelled(0, 600)), draw_labelled(3, 2_000)
    answers = new.probabilities.mean(axis=0).argmax(axis=1)
    stated = run.estimate_accuracy(probabilities=new.probabilities[:, answers == 0][:, :200])
    assert stated.estimate.refusals == ("unlike",)
    assert (
        "with lower trust: they do not look like the 600 test leaves to the members: which classes "
        "it says differs (p < 0.001 of 5 comparisons)."
    ) in stated.sentence


def test_confidence_that_does_not_hold_lowers_the_trust_and_few_images_have_no_range() -> None:
    labelled = draw_labelled(0, 2_000)
    wrong = labelled.labels.copy()
    wrong[np.argsort(-labelled.confidence)[:400:2]] += 1
    run = ensemble.import_predictions(labelled.probabilities, wrong % 5)
    stated = run.estimate_accuracy(probabilities=draw_labelled(1, 29).probabilities)
    assert stated.estimate.refusals == ("few_new",)
    assert stated.sentence.endswith("cannot be told without labels: it takes at least 30.")
    stated = run.estimate_accuracy(probabilities=draw_labelled(1, 1).probabilities)
    assert stated.sentence == (
        "Whether this one example is right cannot be told without its label: it takes at least 30."
    )
    stated = run.estimate_accuracy(probabilities=draw_labelled(1, 300).probabilities)
    assert "calibration" in stated.estimate.refusals
    overall = stated.fitted.fit.calibration.overall
    assert overall.confidence < overall.accuracy - 0.05
    assert (
        "with lower trust: on the 2,000 test examples confidence and accuracy differ "
        f"({100 * overall.confidence:.1f} % sure, {100 * overall.accuracy:.1f} % right) even at the best temperature"
    ) in stated.sentence


def test_one_member_has_no_agreement() -> None:
    labelled, new = draw_labelled(0, 600), draw_labelled(1, 400)
    run = ensemble.import_predictions(labelled.probabilities[:1], labelled.labels)
    stated = run.estimate_accuracy(probabilities=new.probabilities[:1])
    assert "agreement" not in stated.estimate.estimates
    assert stated.to_dict()["labelled"]["errors_per_disagreement"] is None


@pytest.mark.parametrize(
    ("probabilities", "message"),
    [
        (np.full((3, 40, 5), 0.2), "the run has 4 members and 5 classes"),
        (np.full((4, 40, 6), 1 / 6), "the run has 4 members and 5 classes"),
        (np.full((4, 40), 0.2), "the run has 4 members and 5 classes"),
        (np.full((4, 40, 5), 0.5), "does not sum to 1"),
        (np.full((4, 40, 5), np.nan), "does not sum to 1"),
        (np.full((4, 40, 5), "0.2"), "holds no numbers"),
    ],
)
def test_what_is_not_of_these_members_is_named(probabilities: Any, message: str) -> None:
    run = keep(draw_labelled(0, 60))
    with pytest.raises(PredictionsError, match=message):
        run.estimate_accuracy(probabilities=probabilities)


def test_images_or_probabilities_are_needed_and_not_both() -> None:
    run = keep(draw_labelled(0, 60))
    for given in ({}, {"images": np.zeros((1, 2, 2)), "probabilities": np.zeros((4, 1, 5))}):
        with pytest.raises(ConfigError, match="one of the two"):
            run.estimate_accuracy(**given)
