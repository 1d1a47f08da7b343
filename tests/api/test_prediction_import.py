"""Arrays in memory become a run with the same figures; what cannot is refused, and none is left."""

import re

import numpy as np
import pytest

import ensemble
from ensemble.errors import EnsembleError, PredictionsError, RunError
from tests.analysis.draws import distributions

LABELS = np.random.default_rng(2).integers(5, size=50)
P = np.stack([distributions(3, 50, 5, seed=epoch) for epoch in (1, 2)])
IMAGES = np.random.default_rng(3).integers(0, 256, (50, 6, 4, 3), np.uint8)


def test_a_run_of_them_has_the_figures_that_the_arrays_have() -> None:
    run = ensemble.import_predictions(P, LABELS, name="theirs", images=IMAGES, member_names=["forest", "svm", "net"])
    assert (run.state, run.name, run.epochs) == ("imported", "theirs", [1, 2])
    for epoch in (1, 2):
        direct = ensemble.Predictions.from_arrays(P[epoch - 1], LABELS)
        found = run.predictions(epoch)
        assert found.summary() == pytest.approx(direct.summary(), abs=1e-12)
        assert found.member_names == run.member_names == ("forest", "svm", "net")
        assert (found.noun, found.source) == ("image", f"theirs · epoch {epoch}")
    np.testing.assert_array_equal(run.labels, LABELS)
    np.testing.assert_array_equal(run.images, IMAGES)
    assert "imported" in run._repr_html_()
    with pytest.raises(EnsembleError):
        run.resume()


def test_one_model_and_logits_are_taken_as_they_come() -> None:
    logits = np.log(P[0, 0].astype(float)) - 3
    run = ensemble.import_predictions(logits, LABELS, logits=True)
    assert run.config.members == 1
    np.testing.assert_allclose(run.predictions().probabilities[0], P[0, 0], atol=1e-6)
    assert run.images is None
    assert run.class_names == tuple("01234")


@pytest.mark.parametrize(
    ("given", "kind", "said"),
    [
        ({"labels": LABELS[:9]}, PredictionsError, "there are 9 labels"),
        ({"probabilities": P[0] * 2}, PredictionsError, "of member 0, example 1, class 2"),
        ({"probabilities": np.stack([P[0], P[1] / 2])}, PredictionsError, "of epoch 1, member 2"),
        ({"probabilities": P[:0]}, PredictionsError, "is empty"),
        ({"probabilities": [["x"] * 3]}, PredictionsError, "give real numbers"),
        ({"images": IMAGES[:3]}, PredictionsError, "`images` has the shape (3, 6, 4, 3)"),
        ({"images": IMAGES - 300.0}, PredictionsError, "before they are standardized"),
        ({"member_names": "ab"}, PredictionsError, "has 2 entries for 3 members"),
        ({"split": ""}, PredictionsError, "`split[0]` is empty"),
        ({"probabilities": np.repeat(P[0], 1366, axis=0)}, PredictionsError, "4,098 members"),
        ({"name": "n" * 81}, RunError, "at most 80 characters"),
    ],
)
def test_what_cannot_be_a_run_is_refused_in_a_sentence_and_none_is_left(
    given: dict[str, object], kind: type[EnsembleError], said: str
) -> None:
    with pytest.raises(kind, match=re.escape(said)):
        ensemble.import_predictions(**{"probabilities": P[0], "labels": LABELS, **given})
    assert ensemble.list_runs() == []
