"""Predictions of any model: their figures are scikit-learn's and plain loops'; bad ones refused."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, brier_score_loss, log_loss

import ensemble
from ensemble.errors import PredictionsError
from tests.analysis.draws import distributions

P = distributions(3, 60, 4, seed=1)
LABELS = np.random.default_rng(2).integers(4, size=60)


def exact(probabilities: np.ndarray) -> np.ndarray:
    """In double precision, with rows that sum to 1 as closely as scikit-learn asks for."""
    double = probabilities.astype(float)
    return double / double.sum(axis=-1, keepdims=True)


def made(**more: object) -> ensemble.Predictions:
    return ensemble.Predictions.from_arrays(P, LABELS, **more)


def test_its_figures_are_those_of_scikit_learn() -> None:
    mean, found = exact(P).mean(axis=0), made().summary()
    said, votes = mean.argmax(axis=1), P.argmax(axis=2)
    assert found["accuracy"] == made().accuracy == accuracy_score(LABELS, said)
    assert found["nll"] == pytest.approx(log_loss(LABELS, mean))
    assert found["brier"] == pytest.approx(brier_score_loss(LABELS, mean, scale_by_half=False))
    alone = [accuracy_score(LABELS, one) for one in votes]
    assert found["mean_member_accuracy"] == pytest.approx(np.mean(alone))
    assert found["gain"] == pytest.approx(60 * (found["accuracy"] - np.mean(alone)))
    assert found["gain_low"] < found["gain"] < found["gain_high"]
    pairs = [(votes[a] != votes[b]).mean() for a, b in ((0, 1), (0, 2), (1, 2))]
    assert found["disagreement"] == pytest.approx(np.mean(pairs))
    low, high = made().interval
    assert low < found["accuracy"] < high


def test_logits_give_what_their_softmax_gives() -> None:
    logits = np.log(P.astype(float)) + 7
    found = ensemble.Predictions.from_arrays(logits, LABELS, logits=True)
    np.testing.assert_allclose(found.probabilities, P, atol=1e-6)
    huge = ensemble.Predictions.from_arrays([[[1e4, 0.0], [0.0, -1e4]]], [0, 0], logits=True)
    assert huge.accuracy == 1


def test_one_model_is_one_member_with_nothing_to_be_better_than() -> None:
    one = ensemble.Predictions.from_arrays(P[0], LABELS.astype(float))
    assert one.members == 1
    assert one.accuracy == accuracy_score(LABELS, P[0].argmax(axis=1))
    assert np.isnan(one.summary()["gain"])
    assert "gain" not in one._repr_html_()


def test_the_arrays_handed_in_stay_as_they_are_and_theirs_to_change() -> None:
    given, labels = P.copy(), LABELS.astype(np.int32)
    found = ensemble.Predictions.from_arrays(given, labels)
    given[:] = labels[0] = 0
    np.testing.assert_array_equal(found.probabilities, P)
    np.testing.assert_array_equal(found.labels, LABELS)
    assert not found.probabilities.flags.writeable


def test_labels_may_be_the_names_of_classes() -> None:
    names = ["ant", "bee", "cat", "dog"]
    said = made(class_names=names)
    told = ensemble.Predictions.from_arrays(P, [names[c] for c in LABELS], class_names=names)
    assert told.summary() == said.summary()
    assert told.class_names == tuple(names)


def spoilt(value: float) -> np.ndarray:
    changed = P.copy()
    changed[1, 7, 2] = value
    return changed


@pytest.mark.parametrize(
    ("probabilities", "labels", "said"),
    [
        (spoilt(np.nan), LABELS, "`probabilities` of member 1, example 7, class 2"),
        (spoilt(-0.25), LABELS, "is -0.25, which is not a probability"),
        (P * 0.5, LABELS, "sum to 0.5"),
        (P[:, :, :1], LABELS, "but there are 2 classes"),
        (P.transpose(1, 0, 2), LABELS, "probabilities.transpose(1, 0, 2)"),
        (np.stack([P, P]), LABELS, "has 2 epochs, but one is expected"),
        (np.zeros((3, 0, 4)), LABELS, "is empty"),
        (["a", "b"], LABELS, "give real numbers"),
        ([P[0].tolist(), P[1, :5].tolist()], LABELS, "parts of different lengths"),
        (P, LABELS[:-1], "there are 59 labels"),
        (P, [], "`labels` has the shape (0,)"),
        (P, np.where(np.arange(60) == 5, -2, LABELS), "`labels[5]` is -2"),
        (P, LABELS + 0.5, "`labels[0]` is "),
        (P, ["cat"] * 60, "the classes have no names"),
    ],
)
def test_what_is_no_prediction_is_refused_in_a_sentence_with_its_entry(
    probabilities: object, labels: object, said: str
) -> None:
    with pytest.raises(PredictionsError, match=re.escape(said)) as refused:
        ensemble.Predictions.from_arrays(probabilities, labels)
    assert "\n" not in str(refused.value)
    assert "The arrays:" not in str(refused.value)


def test_names_are_one_for_each() -> None:
    with pytest.raises(PredictionsError, match="`class_names` has 2 entries for 4 classes"):
        made(class_names=["cat", "dog"])
    with pytest.raises(PredictionsError, match="`member_names` has 1 entries for 3 members"):
        made(member_names=["forest"])
    with pytest.raises(PredictionsError, match="of member 0, example 1, class 1"):
        ensemble.Predictions.from_arrays([[[0, 1], [0, np.inf]]], [0, 0], logits=True)


def test_a_notebook_shows_names_letter_by_letter() -> None:
    shown = made(source="<script>alert('$x$ | y')</script>", noun="leaf")
    assert "<script>" not in shown._repr_html_()
    assert "&lt;script&gt;" in shown._repr_html_()
    assert "$" not in shown._repr_html_()
    assert r"\<script\>" in shown._repr_markdown_()
    assert r"\| y" in shown._repr_markdown_()
    assert repr(shown).startswith("<Predictions: 3 members, 60 leaves, 4 classes; accuracy ")


def test_a_file_of_them_is_read_by_numpy_alone_with_the_same_numbers(tmp_path: Path) -> None:
    path = made(class_names=["ä", "b", "c", "d"]).to_npz(tmp_path / "three.members")
    assert path.name == "three.members.npz"
    with np.load(path, allow_pickle=False) as file:
        np.testing.assert_array_equal(file["probabilities"], P)
        np.testing.assert_array_equal(file["labels"], LABELS)
        assert file["class_names"].tolist() == ["ä", "b", "c", "d"]
        assert file["member_names"].tolist() == ["member 1", "member 2", "member 3"]
    back = ensemble.Predictions.from_files(path)
    assert back.summary() == made().summary()
    assert back.class_names == ("ä", "b", "c", "d")
    with pytest.raises(PredictionsError, match=r"none\.npz: it cannot be read"):
        ensemble.Predictions.from_files(tmp_path / "none.npz")


def test_a_folder_that_is_not_there_is_said_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(PredictionsError, match=r"gone/x\.npz could not be written") as refused:
        made().to_npz(tmp_path / "gone" / "x.npz")
    assert "\n" not in str(refused.value)
