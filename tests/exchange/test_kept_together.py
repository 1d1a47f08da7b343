"""What is said of an example stays with it: names, groups, labels, images and probabilities.

Of nine examples the fourth has no label, and tables have their rows in another order.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ensemble import exchange, runs
from ensemble.analysis.numeric.quantile_ensemble import QuantileEnsemble
from ensemble.exchange.array_input import convert_arrays_to_outputs
from ensemble.exchange.numeric_files import build_quantile_predictions, read_numeric_file
from ensemble.exchange.prediction_files import read_unlabelled_files
from ensemble.views.evaluated_epoch import evaluate_epoch
from ensemble.views.examples.example_table import tabulate_examples
from tests.exchange.capsule.pages import there_and_back
from tests.exchange.given import saved

M, N, C = 3, 9, 3
WITHOUT = 3  # the example that has no label
KEPT = [n for n in range(N) if n != WITHOUT]
LABELS = np.array([2, 0, 1, -1, 1, 0, 2, 2, 1])
NAMES = tuple(f"picture {letter}" for letter in "qawsedrft")
WRITERS = ("ann", "bob", "ann", "bob", "eve", "ann", "bob", "eve", "eve")
AGES = tuple(str(20 + n * n) for n in range(N))
CLASSES, MEMBERS = ("ant", "bee", "cat"), ("forest", "net", "tree")
IMAGES = np.broadcast_to(np.arange(N, dtype=np.uint8)[:, None, None] * 7, (N, 4, 4)).copy()
# The first number tells the example, the second the member too.
FIRST = np.tile(0.02 + 0.05 * np.arange(N), (M, 1))
SECOND = 0.1 + 0.01 * np.arange(N) + 0.1 * np.arange(M)[:, None]
PROBABILITIES = np.stack([FIRST, SECOND, 1 - FIRST - SECOND], axis=-1).astype(np.float32)
ORDER = np.array([4, 1, 8, 3, 0, 7, 2, 6, 5])  # of rows in a table


def build_frame(member: int, order: Sequence[int] | np.ndarray = tuple(range(N))) -> pd.DataFrame:
    """What a member says, a row for each example."""
    frame = pd.DataFrame(PROBABILITIES[member], columns=list(CLASSES))
    frame.insert(0, "example", NAMES)
    frame["label"] = [CLASSES[label] if label >= 0 else "-1" for label in LABELS]
    return frame.assign(writer_id=WRITERS, age=AGES).iloc[list(order)]


def check_outputs(outputs: exchange.MemberOutputs, order: Sequence[int] = tuple(KEPT), columns: bool = True) -> None:
    """Whether each example that was kept still has what is its own."""
    chosen = list(order)
    assert outputs.labels.tolist() == LABELS[chosen].tolist()
    np.testing.assert_array_equal(outputs.probabilities[-1], PROBABILITIES[:, chosen])
    check_details(outputs.details, chosen, columns)
    check_groups(outputs.groups, chosen)
    if outputs.images is not None:
        assert outputs.images[:, 0, 0, 0].tolist() == IMAGES[chosen, 0, 0].tolist()


def check_details(details: Any, chosen: list[int], columns: bool = True) -> None:
    assert list(details.names) == [NAMES[n] for n in chosen]
    if columns:
        assert list(details.columns["age"]) == [AGES[n] for n in chosen]


def check_groups(groups: Any, chosen: list[int]) -> None:
    """Whether equal numbers stand for equal writers."""
    writers = np.array(WRITERS)[chosen]
    np.testing.assert_array_equal(groups[:, None] == groups, writers[:, None] == writers)


def import_examples(**more: Any) -> runs.Run:
    """A run of the labelled examples, with all that can be said of them."""
    outputs = convert_arrays_to_outputs(
        PROBABILITIES,
        LABELS,
        images=IMAGES,
        class_names=CLASSES,
        member_names=MEMBERS,
        groups=WRITERS,
        example_names=NAMES,
        **more,
    )
    return exchange.import_run(outputs)


@pytest.mark.parametrize("masked", [False, True])
def test_arrays_without_a_label_or_with_a_masked_one(masked: bool) -> None:
    labels: Any = LABELS
    if masked:
        labels = np.ma.masked_array(np.where(LABELS < 0, 0, LABELS), mask=LABELS < 0)
    outputs = convert_arrays_to_outputs(
        PROBABILITIES, labels, images=IMAGES, class_names=CLASSES, groups=WRITERS, example_names=NAMES
    )
    check_outputs(outputs, columns=False)
    assert outputs.images is not None


def test_an_example_with_a_masked_number_is_left_out_with_its_details() -> None:
    mask = np.zeros(PROBABILITIES.shape, bool)
    mask[1, 6, 2] = True
    values = np.ma.masked_array(PROBABILITIES, mask=mask)
    outputs = convert_arrays_to_outputs(values, LABELS, images=IMAGES, groups=WRITERS, example_names=NAMES)
    check_outputs(outputs, [n for n in KEPT if n != 6], columns=False)


def test_an_archive_of_arrays(tmp_path: Path) -> None:
    file = saved(
        tmp_path,
        probabilities=np.stack([PROBABILITIES[:, ::-1], PROBABILITIES]),  # two epochs
        labels=LABELS,
        images=IMAGES,
        groups=np.array(WRITERS),
        example_names=np.array(NAMES),
        example_age=np.array(AGES),
    )
    outputs = exchange.read_prediction_files([file])
    check_outputs(outputs)
    reversed_kept = [N - 1 - n for n in KEPT]
    np.testing.assert_array_equal(outputs.probabilities[0], PROBABILITIES[:, reversed_kept])
    assert outputs.images is not None


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_table_whose_rows_are_in_any_order(tmp_path: Path, kind: str) -> None:
    # Members next to one another for each example, then each member in another order.
    first = pd.concat([build_frame(m, [n]).assign(member=MEMBERS[m]) for n in ORDER[:4] for m in range(M)])
    orders = ORDER[4:], ORDER[:3:-1], np.sort(ORDER[4:])
    rest = pd.concat([build_frame(m, order).assign(member=MEMBERS[m]) for m, order in enumerate(orders)])
    frame = pd.concat([first, rest])
    path = tmp_path / f"a.{kind}"
    frame.to_csv(path, index=False) if kind == "csv" else frame.to_parquet(path, index=False)
    outputs = exchange.read_prediction_files([path])
    check_outputs(outputs, [n for n in ORDER.tolist() if n != WITHOUT])
    assert outputs.member_names == MEMBERS


def test_a_table_for_each_member_in_an_order_of_its_own(tmp_path: Path) -> None:
    paths = []
    for member, order in enumerate((ORDER, ORDER[::-1], np.arange(N))):
        paths.append(tmp_path / f"{MEMBERS[member]}.csv")
        frame = build_frame(member, order)
        # The first has the probabilities alone: what is said of examples comes from the second.
        (frame[["example", *CLASSES]] if member == 0 else frame).to_csv(paths[-1], index=False)
    outputs = exchange.read_prediction_files(paths)
    check_outputs(outputs, [n for n in ORDER.tolist() if n != WITHOUT], columns=False)
    assert outputs.member_names == MEMBERS


def test_files_without_labels_are_sorted_into_one_order(tmp_path: Path) -> None:
    paths = []
    for member, order in enumerate((ORDER, ORDER[::-1], np.arange(N))):
        paths.append(tmp_path / f"{MEMBERS[member]}.csv")
        frame = build_frame(member, order)[["example", *CLASSES, "label"]]
        # The labels of one of them are left alone.
        (frame if member == 1 else frame.drop(columns="label")).to_csv(paths[-1], index=False)
    outputs = read_unlabelled_files(paths)
    assert list(outputs.example_names) == [NAMES[n] for n in ORDER]
    np.testing.assert_array_equal(outputs.probabilities, PROBABILITIES[:, ORDER])
    assert outputs.has_labels
    assert not read_unlabelled_files([paths[0], paths[2]]).has_labels


def test_what_is_exported_or_reported_comes_back_the_same(tmp_path: Path) -> None:
    run = import_examples()
    exchange.export_run(run.id, tmp_path / "out.npz")
    outputs = exchange.read_prediction_files([tmp_path / "out.npz"])
    check_outputs(outputs, columns=False)
    assert outputs.member_names == MEMBERS
    again = there_and_back(tmp_path, run)
    for kept in (runs.load_test_set(run), runs.load_test_set(again)):
        check_details(kept.details, KEPT, columns=False)
        check_groups(kept.group_column, KEPT)
        assert kept.images is not None
        assert kept.images[:, 0, 0, 0].tolist() == IMAGES[KEPT, 0, 0].tolist()
        assert kept.labels.tolist() == LABELS[KEPT].tolist()
    assert again.member_names == MEMBERS


def test_a_table_of_some_examples_has_their_own_rows() -> None:
    epoch = evaluate_epoch(import_examples())
    places = np.array([5, 2, 6])
    chosen = [KEPT[place] for place in places]
    frame = tabulate_examples(epoch.predictions, places, CLASSES, epoch.dataset.details)
    assert frame["example"].tolist() == [NAMES[n] for n in chosen]
    assert frame["label"].tolist() == [CLASSES[LABELS[n]] for n in chosen]
    for member in range(M):
        said = PROBABILITIES[member, chosen].argmax(axis=-1)
        assert frame[f"member_{member + 1}"].tolist() == [CLASSES[c] for c in said]
    averaged = PROBABILITIES[:, chosen].mean(axis=0)
    np.testing.assert_allclose(frame[[f"p_{name}" for name in CLASSES]], averaged, atol=1e-6)
    np.testing.assert_allclose(frame["confidence"], averaged.max(axis=-1), atol=1e-6)


def build_numeric_frame(member: int, order: np.ndarray) -> pd.DataFrame:
    """What a member predicts for each example: the median is the example's number and the member's."""
    middle = 10.0 * np.arange(N) + member
    columns = {"q0.9": middle + 1 + member, "q0.5": middle, "q0.1": middle - 2}
    named = {"member": MEMBERS[member], "example": NAMES, "group": WRITERS, "target": 10.0 * np.arange(N)}
    return pd.DataFrame({**named, **columns}).iloc[order]


def test_a_table_of_predicted_numbers_whose_rows_are_in_any_order(tmp_path: Path) -> None:
    orders = ORDER, ORDER[::-1], np.arange(N)
    frame = pd.concat([build_numeric_frame(m, order) for m, order in enumerate(orders)]).sample(frac=1, random_state=4)
    path = tmp_path / "numbers.csv"
    frame.to_csv(path, index=False)
    read = read_numeric_file(path)
    members = list(dict.fromkeys(frame["member"]))
    chosen = [NAMES.index(name) for name in frame["example"][frame["member"] == members[0]]]
    assert list(read.member_names) == members
    assert list(read.example_names) == [NAMES[n] for n in chosen]
    check_groups(read.groups, chosen)
    assert read.targets.tolist() == [10.0 * n for n in chosen]
    assert isinstance(read.mixture, QuantileEnsemble)
    for place, member in enumerate(map(MEMBERS.index, members)):
        middle = 10.0 * np.array(chosen) + member
        expected = np.stack([middle - 2, middle, middle + 1 + member])
        np.testing.assert_allclose(read.mixture.quantiles[place], expected)


def test_quantiles_whose_levels_do_not_rise_are_those_of_their_levels() -> None:
    targets, levels = 10.0 * np.arange(N), [0.9, 0.1, 0.5]
    quantiles = np.stack([targets + 1, targets - 2, targets])[None]
    read = build_quantile_predictions(quantiles, levels, targets)
    assert isinstance(read.mixture, QuantileEnsemble)
    assert read.mixture.levels.tolist() == [0.1, 0.5, 0.9]
    np.testing.assert_array_equal(read.mixture.quantiles[0], np.stack([targets - 2, targets, targets + 1]))
    assert not read.notes, "none of them cross"
