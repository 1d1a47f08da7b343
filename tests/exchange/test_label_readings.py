"""Labels that are numbers: names of classes or their positions, whichever the predictions say."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score

import ensemble
from ensemble import exchange
from ensemble.cli.program import main
from ensemble.errors import PredictionsError
from tests.exchange.given import saved

N = 90
CASES: dict[str, tuple[list[Any] | None, list[Any], str]] = {
    # class_names, what stands for each class among the labels, the reading that is taken
    "numbers from 1, all there": ([1, 2, 3, 4], [1, 2, 3, 4], ""),
    "numbers from 1 as text": (list("1234"), [1, 2, 3], "names"),
    "numbers from 1, the last not there": ([1, 2, 3, 4], [1, 2, 3], "names"),
    "numbers backwards": ([3, 2, 1, 0], [3, 2, 1, 0], "names"),
    "backwards, though labels are positions": ([3, 2, 1, 0], [0, 1, 2, 3], "positions"),
    "numbers with zeros before them": (["01", "02", "03"], [1, 2, 3], ""),
    "odd numbers": ([3, 5, 7, 9], [3, 5, 7, 9], ""),
    "floats": ([3.0, 5.0, 7.0, 9.0], [3.0, 5.0, 7.0, 9.0], ""),
    "minus one is a class": ([-1, 0, 1], [-1, 0, 1], ""),
    "names as text": (["ant", "bee", "cat"], ["ant", "bee", "cat"], ""),
    "positions beside names": (["ant", "bee", "cat"], [0, 1, 2], ""),
    "true and false": ([False, True], [False, True], ""),
    "signs": (None, [-1, 1], ""),
}


def draw(classes: int, labelled: int, seed: int = 0) -> tuple[NDArray[Any], NDArray[Any]]:
    """Two members' probabilities (2, N, classes), right in about 9 of 10, and the true classes."""
    draw = np.random.default_rng(seed)
    truth = draw.integers(labelled, size=N)
    said = np.where(draw.random((2, N)) < 0.9, truth, draw.integers(classes, size=(2, N)))
    probabilities = np.full((2, N, classes), 0.1 / (classes - 1), np.float32)
    np.put_along_axis(probabilities, said[..., None], 0.9, axis=2)
    return probabilities, truth


@pytest.mark.parametrize(("names", "stands", "taken"), CASES.values(), ids=CASES)
def test_names_go_before_positions_unless_they_are_right_by_chance(
    tmp_path: Path, names: list[Any] | None, stands: list[Any], taken: str
) -> None:
    classes = len(names or stands)
    probabilities, truth = draw(classes, len(stands))
    arrays = {"probabilities": probabilities, "labels": np.array(stands)[truth]}
    if names is not None:
        arrays["class_names"] = np.array(names)
    found = exchange.read_prediction_files([saved(tmp_path, **arrays)])
    np.testing.assert_array_equal(found.labels, truth)
    right = accuracy_score(truth, probabilities.mean(axis=0).argmax(axis=1))
    assert accuracy_score(found.labels, found.probabilities[0].mean(axis=0).argmax(axis=1)) == right
    assert found.label_reading == taken
    if taken:
        other = {"names": "positions", "positions": "names"}[taken]
        (note,) = [note for note in found.notes if "Labels were read as" in note]
        assert f"{100 * right:.3g} %" in note
        assert f'`--labels {other}`, in Python `labels_as="{other}"`' in note
        turned = exchange.read_prediction_files([tmp_path / "a.npz"], labels_as=other)
        assert (turned.labels != truth).any()
        assert turned.label_options == found.label_options


def test_two_readings_above_chance_are_names_and_the_other_is_said(tmp_path: Path) -> None:
    probabilities, truth = draw(10, 10)
    swapped = [*map(str, range(8)), "9", "8"]  # the readings differ in two classes of ten
    path = saved(tmp_path, probabilities=probabilities, labels=truth, class_names=swapped)
    found = exchange.read_prediction_files([path])
    assert found.label_reading == "names"
    np.testing.assert_array_equal(found.labels, np.array([*range(8), 9, 8])[truth])
    assert any("`--labels positions`" in note for note in found.notes)


def test_a_shift_is_noticed_by_accuracy_and_offered(tmp_path: Path) -> None:
    probabilities, truth = draw(4, 3)
    path = saved(tmp_path, probabilities=probabilities, labels=truth + 1)
    found = exchange.read_prediction_files([path])
    np.testing.assert_array_equal(found.labels, truth + 1)
    assert any("seem to count from 1" in note and "--labels from-1" in note for note in found.notes)
    shifted = exchange.read_prediction_files([path], labels_as="from-1")
    np.testing.assert_array_equal(shifted.labels, truth)
    plain = saved(tmp_path, "b.npz", probabilities=np.roll(probabilities, 1, 2), labels=truth + 1)
    assert exchange.read_prediction_files([plain]).notes == ()


def test_labels_to_the_number_of_classes_are_refused_until_asked_for(tmp_path: Path) -> None:
    probabilities, truth = draw(4, 4)
    names = ["ant", "bee", "cat", "dog"]
    path = saved(tmp_path, probabilities=probabilities, labels=truth + 1, class_names=names)
    with pytest.raises(PredictionsError, match=r"begins at 1 .it goes to 4.*--labels from-1"):
        exchange.read_prediction_files([path])
    found = exchange.read_prediction_files([path], labels_as="from-1")
    np.testing.assert_array_equal(found.labels, truth)
    with pytest.raises(PredictionsError, match="`labels_as` is 'numbers': choose 'names'"):
        exchange.read_prediction_files([path], labels_as="numbers")
    with pytest.raises(PredictionsError, match="cannot be read as names of classes"):
        exchange.read_prediction_files([path], labels_as="names")


def test_python_and_the_command_say_the_same(tmp_path: Path) -> None:
    probabilities, truth = draw(4, 3)
    names = np.array([1, 2, 3, 4])
    with pytest.warns(UserWarning, match="Labels were read as names of classes") as warned:
        found = ensemble.Predictions.from_arrays(probabilities, truth + 1, class_names=names)
    assert len(warned) == 1
    np.testing.assert_array_equal(found.labels, truth)
    path = saved(tmp_path, probabilities=probabilities, labels=truth + 1, class_names=names)
    with pytest.warns(UserWarning, match="names of classes") as warned:
        assert ensemble.Predictions.from_files(path).notes == found.notes
    assert len(warned) == 1
    assert warned[0].filename == __file__
    for options, reading in ([], "names"), (["--labels", "positions"], "positions"):
        result = CliRunner().invoke(main, ["import", str(path), *options])
        told = json.loads(result.stdout)
        assert told["label_reading"] == reading
        assert told["notes"][0].startswith("Labels were read as")
        assert told["notes"][0] in result.stderr
    assert told["notes"][0] != found.notes[0]


def test_minus_one_is_no_label_and_its_example_is_left_out(tmp_path: Path) -> None:
    probabilities, truth = draw(4, 4)
    labels = np.where(np.arange(N) % 7 == 2, -1, truth)
    images = np.arange(N * 12).reshape(N, 4, 3) % 256
    kept = labels >= 0
    groups = np.arange(N) // 3
    path = saved(tmp_path, probabilities=probabilities, labels=labels, images=images, groups=groups)
    found = exchange.read_prediction_files([path])
    np.testing.assert_array_equal(found.probabilities[0], probabilities[:, kept])
    np.testing.assert_array_equal(found.labels, truth[kept])
    assert found.images is not None
    np.testing.assert_array_equal(found.images[..., 0], images[kept])
    assert found.groups is not None
    assert len(found.groups) == kept.sum()
    assert f"{N - kept.sum()} of {N} examples were left out" in " ".join(found.notes)
    with pytest.raises(PredictionsError, match="none of its 90 examples has a label"):
        exchange.read_prediction_files([saved(tmp_path, probabilities=probabilities, labels=np.full(N, -1))])


def test_a_mask_is_honoured() -> None:
    probabilities, truth = draw(4, 4)
    labels = np.ma.MaskedArray(truth, np.arange(N) % 9 == 0)
    masked = np.ma.MaskedArray(probabilities, False)
    masked[1, 4] = np.ma.masked
    kept = ~labels.mask
    kept[4] = False
    with pytest.warns(UserWarning, match="11 of 90 examples were left out"):
        found = ensemble.Predictions.from_arrays(masked, labels)
    np.testing.assert_array_equal(found.probabilities, probabilities[:, kept])
    np.testing.assert_array_equal(found.labels, truth[kept])
    with pytest.raises(PredictionsError, match="`groups` has masked values, the first at 0"):
        ensemble.Predictions.from_arrays(probabilities, truth, groups=labels)


@pytest.mark.parametrize("members", [2, 3])
@pytest.mark.parametrize("kind", ["logits", "probabilities"])
def test_columns_of_two_classes_may_be_members(tmp_path: Path, members: int, kind: str) -> None:
    draw = np.random.default_rng(3)
    truth = draw.integers(2, size=N)
    logits = (2 * truth[:, None] - 1) * 2 + draw.normal(size=(N, members))
    positives = 1 / (1 + np.exp(-logits))
    values = logits if kind == "logits" else positives
    found = exchange.read_prediction_files([saved(tmp_path, **{kind: values, "labels": truth})])
    assert found.members == members
    np.testing.assert_allclose(found.probabilities[0, :, :, 1], positives.T, atol=1e-6)
    assert any(f"read as {members} members of two classes" in note for note in found.notes)


def test_columns_that_are_classes_stay_classes(tmp_path: Path) -> None:
    logits = np.random.default_rng(0).normal(size=(N, 3))
    truth = logits[:, :2].argmax(axis=1)
    logits[:, 2] -= 3
    found = exchange.read_prediction_files([saved(tmp_path, logits=logits, labels=truth)])
    assert (found.members, found.classes) == (1, 3)
    assert any("give logits.T" in note for note in found.notes)
    two = exchange.read_prediction_files([saved(tmp_path, logits=logits[:, :2], labels=truth)])
    assert (two.members, two.classes, two.notes) == (1, 2, ())
    guessed = np.random.default_rng(1).integers(2, size=N)  # neither reading is better than chance
    assert exchange.read_prediction_files([saved(tmp_path, logits=logits, labels=guessed)]).members == 1
    named = saved(tmp_path, logits=logits, labels=truth, member_names=["a", "b", "c"])
    assert exchange.read_prediction_files([named]).members == 3


def test_numbers_to_predict_are_told_as_such(tmp_path: Path) -> None:
    targets = np.random.default_rng(0).normal(size=N)
    for values in (targets, targets[:, None].repeat(3, axis=1).T, np.ones((3, N, 1))):
        path = saved(tmp_path, probabilities=np.abs(values), labels=targets)
        with pytest.raises(PredictionsError, match=r"look like numbers to predict .regression."):
            exchange.read_prediction_files([path])
    ages = saved(tmp_path, probabilities=np.ones((3, N)), labels=np.arange(N) % 60 + 18)
    with pytest.raises(PredictionsError, match=r"look like numbers to predict .regression."):
        exchange.read_prediction_files([ages])


def test_labels_of_which_one_is_a_word_of_two_classes_are_not_numbered() -> None:
    probabilities = np.array([[[0.9, 0.1], [0.2, 0.8], [0.3, 0.7]]])
    with pytest.raises(PredictionsError, match="the classes have no names: give `class_names`"):
        ensemble.import_predictions(probabilities, ["true", "maybe", "true"])


def test_labels_of_which_one_is_spelt_as_another_number_are_found_by_their_names() -> None:
    probabilities = np.array([[[0.9, 0.1], [0.2, 0.8], [0.3, 0.7]]])
    run = ensemble.import_predictions(probabilities, ["7", "x", "x"], class_names=["07", "x"])
    assert run.predictions().labels.tolist() == [0, 1, 1]
    with pytest.raises(PredictionsError, match="is “y”, which is not one of the 2 class names"):
        ensemble.import_predictions(probabilities, ["7", "y", "x"], class_names=["07", "x"])
    with pytest.raises(PredictionsError, match="is “y”, which is not one of the 2 class names"):
        ensemble.import_predictions(probabilities[0], ["7", "y", "y"], class_names=["7", "x"])
