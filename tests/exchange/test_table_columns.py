"""Columns beside the classes: what tells members apart, what names examples, and the rest."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ensemble
from ensemble import exchange, runs
from ensemble.errors import PredictionsError
from tests.exchange.given import LABELS, PROBABILITIES, C, M, N, csv_of, rows_of

NAMES = ("ant", "bee", "cat", "dog")


def build_frame(**columns: Any) -> pd.DataFrame:
    """A row for each member and example, member by member, with classes by name."""
    frame = pd.DataFrame(PROBABILITIES.reshape(M * N, C), columns=list(NAMES))
    frame["label"] = np.tile(np.array(NAMES)[LABELS], M)
    return frame.assign(**columns)


def read(folder: Path, frame: pd.DataFrame, kind: str = "csv") -> exchange.MemberOutputs:
    path = folder / f"a.{kind}"
    frame.to_csv(path, index=False) if kind == "csv" else frame.to_parquet(path, index=False)
    return exchange.read_prediction_files([path])


MEMBERS, EXAMPLES = np.repeat(np.arange(M), N), np.tile(np.arange(N), M)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("part", ["seed", "fold", "random_state", "run"])
@pytest.mark.parametrize("examples", [True, False])
def test_a_column_that_repeats_all_examples_tells_members_apart(
    tmp_path: Path, kind: str, part: str, examples: bool
) -> None:
    frame = build_frame(**{part: MEMBERS + 7}, **({"id": EXAMPLES} if examples else {}))
    found = read(tmp_path, frame, kind)
    np.testing.assert_array_equal(found.probabilities[0], PROBABILITIES)
    assert found.member_names == tuple(f"{part} {m + 7}" for m in range(M))
    assert f"Members were told apart by “{part}”." in found.notes
    assert found.class_names == NAMES


def test_two_seeds_of_a_model_are_two_members(tmp_path: Path) -> None:
    frame = pd.concat([build_frame(model="a", seed=MEMBERS), build_frame(model="b", seed=MEMBERS)])
    found = read(tmp_path, frame)
    assert found.probabilities.shape == (1, 2 * M, N, C)
    np.testing.assert_array_equal(found.probabilities[0, M:], PROBABILITIES)
    assert found.member_names[:2] == ("a, seed 0", "a, seed 1")
    assert found.member_names[-1] == "b, seed 2"


@pytest.mark.parametrize(("part", "members", "labelled"), [("seed", M, {"seed": MEMBERS}), ("fold", 1, {})])
def test_without_labels_in_a_table_seeds_are_members_and_folds_are_not(
    tmp_path: Path, part: str, members: int, labelled: dict[str, Any]
) -> None:
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    build_frame(**{part: MEMBERS}).drop(columns="label").to_csv(first, index=False)
    build_frame(**labelled).to_csv(second, index=False)
    found = exchange.read_prediction_files([first, second])
    assert found.probabilities.shape == (1, 2 * members, M * N // members, C)


@pytest.mark.parametrize("named", [True, False])
def test_folds_that_share_the_examples_out_are_one_member(tmp_path: Path, named: bool) -> None:
    frame = build_frame()[:N].assign(fold=np.arange(N) // 8)
    if named:
        frame["id"] = [f"photo {n}" for n in range(N)]
    found = read(tmp_path, frame)
    np.testing.assert_array_equal(found.probabilities[0, 0], PROBABILITIES[0])
    assert found.details.columns == {"fold": tuple(str(n // 8) for n in range(N))}


@pytest.mark.parametrize("column", ["seed", "fold", "batch", "age", "entropy", "p max"])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_column_of_numbers_is_no_class_where_rows_sum_to_1_without_it(tmp_path: Path, column: str, kind: str) -> None:
    numbers = {
        "seed": 0,
        "fold": 0,
        "batch": EXAMPLES[:N] // 8 + 1,
        "age": EXAMPLES[:N] + 18.5,
        "entropy": -(PROBABILITIES[0] * np.log(PROBABILITIES[0])).sum(axis=1) / 2,
        "p max": PROBABILITIES[0].max(axis=1),
    }[column]
    frame = build_frame()[:N]
    frame.insert(1, column, numbers)
    found = read(tmp_path, frame, kind)
    assert found.class_names == NAMES
    np.testing.assert_array_equal(found.probabilities[0, 0], PROBABILITIES[0])
    assert any(f"“{column}”" in note for note in found.notes)


def test_several_columns_of_numbers_are_told_by_the_names_of_the_labels(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    more = {"loss": draw.exponential(size=N), "margin": draw.random(N), "weight": 1.0}
    found = read(tmp_path, build_frame()[:N].assign(**more))
    assert found.class_names == NAMES
    assert set(found.details.columns) == set(more)


def test_classes_that_are_letters_may_be_called_p(tmp_path: Path) -> None:
    frame = pd.DataFrame(PROBABILITIES[0], columns=list("mnop"))
    found = read(tmp_path, frame.assign(label=np.array(list("mnop"))[LABELS]))
    assert found.class_names == tuple("mnop")
    np.testing.assert_array_equal(found.labels, LABELS)


def test_a_class_that_is_never_likely_stays_one(tmp_path: Path) -> None:
    frame = build_frame(yak=0.0)
    assert read(tmp_path, frame.assign(member=MEMBERS)).class_names == (*NAMES, "yak")


@pytest.mark.parametrize("words", [("0", "1"), ("cat", "dog"), ("False", "True"), ("1", "2")])
@pytest.mark.parametrize("of", ["class 1", "class 0", "the predicted", "a threshold"])
def test_one_probability_is_checked_against_what_is_predicted(tmp_path: Path, words: tuple[str, str], of: str) -> None:
    draw = np.random.default_rng(5)
    positive, labels = draw.uniform(0.02, 0.98, N), draw.integers(2, size=N)
    said = (positive > (0.8 if of == "a threshold" else 0.5)).astype(int)
    shown = {
        "class 1": positive,
        "class 0": 1 - positive,
        "the predicted": np.maximum(positive, 1 - positive),
        "a threshold": positive,
    }[of]
    named = np.array(words)
    frame = pd.DataFrame({"label": named[labels], "prediction": named[said], "probability": shown})
    found = read(tmp_path, frame)
    np.testing.assert_allclose(found.probabilities[0, 0, :, 1], positive, atol=1e-6)
    np.testing.assert_array_equal(found.labels, labels)
    if words != ("0", "1") and words != ("False", "True"):
        assert found.class_names == words
    note = {"class 0": "read as class 0's", "the predicted": "the probability of what", "class 1": ""}
    assert note.get(of, "from “probability”") in " ".join(found.notes)


def test_one_probability_is_that_of_the_class_its_column_names_unless_that_is_a_number(tmp_path: Path) -> None:
    chances = np.array([0.1, 0.8, 0.3])
    for words, labels in ((["cat", "dog", "dog"], [0, 1, 1]), (["dog", "cat", "cat"], [1, 0, 0])):
        found = read(tmp_path, pd.DataFrame({"label": words, "p_dog": chances}))
        assert found.class_names == ("cat", "dog")
        assert found.labels.tolist() == labels
        np.testing.assert_allclose(found.probabilities[0, 0, :, 1], chances, atol=1e-6)
    with pytest.raises(PredictionsError, match="the classes have no names"):
        read(tmp_path, pd.DataFrame({"label": ["cat", "dog", "dog"], "p_ant": chances}))
    for column in ("p_1", "p_2"):
        with pytest.raises(PredictionsError, match="begins at 1"):
            read(tmp_path, pd.DataFrame({"label": [1, 2, 2], column: chances}))


def test_one_probability_that_contradicts_what_is_predicted_is_refused(tmp_path: Path) -> None:
    frame = pd.DataFrame({"label": [0, 1, 1], "prediction": [0, 1, 0], "probability": [0.2, 0.3, 0.7]})
    with pytest.raises(PredictionsError, match="contradict each other, first in row 2"):
        read(tmp_path, frame)
    three = frame.assign(label=[0, 1, 2])
    with pytest.raises(PredictionsError, match="there are 3 classes: give each class a column"):
        read(tmp_path, three)
    with pytest.raises(PredictionsError, match="there are 3 classes: give each class a column"):
        read(tmp_path, frame.assign(label=["true", "false", "maybe"], prediction=["true", "false", "true"]))


def test_two_classes_of_which_one_is_called_by_a_number_have_their_own_names(tmp_path: Path) -> None:
    frame = pd.DataFrame({"label": ["7", "x", "x"], "prediction": ["7", "x", "7"], "probability": [0.2, 0.9, 0.3]})
    found = read(tmp_path, frame)
    assert found.class_names == ("7", "x")
    assert found.labels.tolist() == [0, 1, 1]


def test_predictions_of_which_some_are_no_class_are_not_compared(tmp_path: Path) -> None:
    named = np.array(NAMES)[PROBABILITIES.argmax(axis=-1)].reshape(-1)
    named[3] = "nobody knows"
    found = read(tmp_path, build_frame(member=MEMBERS, prediction=named))
    assert "“prediction” was not compared with the classes: it holds other names." in found.notes


def test_p_0_alone_is_class_0s(tmp_path: Path) -> None:
    frame = pd.DataFrame({"label": LABELS % 2, "p_0": PROBABILITIES[0, :, 0]})
    found = read(tmp_path, frame)
    np.testing.assert_allclose(found.probabilities[0, 0, :, 0], PROBABILITIES[0, :, 0], atol=1e-6)
    words = np.array(["dog", "cat"])[LABELS % 2]
    found = read(tmp_path, frame.rename(columns={"p_0": "p_dog"}).assign(label=words))
    assert found.class_names == ("cat", "dog")
    np.testing.assert_allclose(found.probabilities[0, 0, :, 1], PROBABILITIES[0, :, 0], atol=1e-6)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_names_order_and_further_columns_of_examples_are_kept(tmp_path: Path, kind: str) -> None:
    order = np.random.default_rng(0).permutation(N)
    names = np.array([f"patient-{n:04}" for n in order])
    frame = build_frame(
        id=np.tile(names, M),
        member=MEMBERS,
        age=np.tile(20 + order, M),
        sex=np.tile(np.where(order % 2, "f", "m"), M),
        seconds=np.arange(M * N) / 8,
    )
    found = read(tmp_path, frame, kind)
    np.testing.assert_array_equal(found.probabilities[0], PROBABILITIES)
    assert found.details.names == tuple(names)
    assert found.details.columns["sex"] == tuple(np.where(order % 2, "f", "m"))
    assert found.details.columns["age"] == tuple(str(20 + n) for n in order)
    assert set(found.details.columns) == {"age", "sex"}
    assert any("not used: “seconds”" in note for note in found.notes)


@pytest.mark.parametrize("column", ["filename", "image", "path", "name"])
def test_a_column_of_files_names_examples_where_none_is_there_twice(tmp_path: Path, column: str) -> None:
    frame = build_frame(seed=MEMBERS, **{column: np.tile([f"z{n % 7}/{n}.png" for n in range(N)], M)})
    mixed = frame.sample(frac=1, random_state=1)
    found = read(tmp_path, mixed)
    first = mixed.drop_duplicates(column)
    assert found.details.names == tuple(first[column])
    order = [int(name.split("/")[1].removesuffix(".png")) for name in found.details.names]
    np.testing.assert_array_equal(found.labels, LABELS[order])
    members = [int(name.removeprefix("seed ")) for name in found.member_names]
    np.testing.assert_array_equal(found.probabilities[0], PROBABILITIES[members][:, order])
    twice = build_frame()[:N].assign(**{column: ["a.png", "b.png"] * (N // 2)})
    assert column in read(tmp_path, twice).details.columns


def test_names_go_into_a_run_and_out_again(tmp_path: Path) -> None:
    frame = build_frame()[:N].assign(id=[f"x{n}" for n in range(N)], ward=["a", "b"] * (N // 2))
    run = exchange.import_run(read(tmp_path, frame), "named")
    test = runs.load_test_set(run)
    assert test.details.names[:2] == ("x0", "x1")
    assert test.details.columns["ward"][:3] == ("a", "b", "a")
    assert ensemble.open_run(run.id).predictions().example_names[:2] == ("x0", "x1")
    exchange.export_run(run.id, tmp_path / "out.npz")
    arrays = np.load(tmp_path / "out.npz")
    assert arrays["example_names"].tolist() == [f"x{n}" for n in range(N)]
    again = exchange.read_prediction_files([tmp_path / "out.npz"])
    assert again.details == test.details
    assert again.notes == ()


def test_columns_with_the_largest_first_are_put_in_order_or_refused(tmp_path: Path) -> None:
    order = np.argsort(-PROBABILITIES[0], axis=1)
    largest = np.take_along_axis(PROBABILITIES[0], order, axis=1)
    frame = pd.DataFrame({"label": LABELS, **{f"p_{n}": largest[:, n] for n in range(C)}})
    path = tmp_path / "a.csv"
    frame.to_csv(path, index=False)
    with pytest.raises(PredictionsError, match="sorted by size, not by class"):
        exchange.read_prediction_files([path])
    frame.assign(**{f"index_{n}": order[:, n] for n in range(C)}).to_csv(path, index=False)
    found = exchange.read_prediction_files([path])
    np.testing.assert_allclose(found.probabilities[0, 0], PROBABILITIES[0], rtol=1e-6)
    assert "Rows have the largest first: they were put in the classes' order by “index_0” to “index_3”." in found.notes


def test_a_logit_called_max_is_no_class(tmp_path: Path) -> None:
    names = ("ant", "bee", "cat", "dog")
    logits = pd.DataFrame(np.log(PROBABILITIES[0]), columns=[f"logit_{name}" for name in names])
    path = tmp_path / "a.csv"
    logits.assign(logit_max=logits.max(axis=1), label=[names[n] for n in LABELS]).to_csv(path, index=False)
    found = exchange.read_prediction_files([path])
    assert found.class_names == names
    assert "Columns that are not classes, because no label has their name: “logit_max”." in found.notes


def test_rows_of_the_ensemble_are_no_member(tmp_path: Path) -> None:
    rows = [[row[0], ("a", "b", "Ensemble")[row[1]], *row[2:]] for row in rows_of(PROBABILITIES[:3], LABELS)]
    path = tmp_path / "a.csv"
    path.write_text(csv_of(["example", "member", "label", *(f"p_{c}" for c in range(C))], rows))
    found = exchange.read_prediction_files([path])
    assert found.member_names == ("a", "b")
    assert "The ensemble's own prediction is not a member: rows of “Ensemble” are left out." in found.notes


def test_shares_that_sum_to_nothing_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, predictions=1 / (1 + np.exp(-RNG_LOGITS)), labels=LABELS)
    with pytest.raises(PredictionsError, match="as sigmoids of classes"):
        exchange.read_prediction_files([path])


RNG_LOGITS = np.random.default_rng(3).normal(0, 3, (2, len(LABELS), C))
