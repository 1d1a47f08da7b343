"""An .npz of somebody's is taken as what it says, in every form in which people save one."""

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.special
from numpy.testing import assert_array_equal

from ensemble import exchange
from ensemble.exchange.files import npz_archive, table_rows
from ensemble.exchange.files.npz_archive import NpzArchive
from tests.exchange.given import LABELS, LOGITS, PROBABILITIES, C, M, N, saved, taken, uploaded


def test_float32_comes_in_as_the_same_float32(tmp_path: Path) -> None:
    found = taken(tmp_path, probabilities=PROBABILITIES)
    assert_array_equal(found.probabilities, PROBABILITIES[None])
    assert found.probabilities.dtype == np.float32
    assert_array_equal(found.labels, LABELS)
    assert found.labels.dtype == np.int32
    assert (found.epochs, found.members, found.examples, found.classes) == (1, M, N, C)
    assert found.class_names == ("0", "1", "2", "3")
    assert found.member_names == ("member 1", "member 2", "member 3")
    assert (found.images, found.split, found.notes) == (None, "test", ())


@pytest.mark.parametrize("dtype", ["<f8", ">f4", ">f8", "<f2"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_any_numbers_in_any_order_are_what_numpy_makes_of_them(
    tmp_path: Path, dtype: str, order: Any, save: Any
) -> None:
    given = PROBABILITIES.astype(dtype, order=order)
    save(tmp_path / "a.npz", probabilities=given, labels=LABELS.astype("<f8"))
    found = exchange.read_prediction_files([tmp_path / "a.npz"])
    assert_array_equal(found.probabilities[0], given.astype(np.float32))


def test_what_was_uploaded_is_read_as_a_file_is(tmp_path: Path) -> None:
    file = uploaded(saved(tmp_path, probabilities=PROBABILITIES, labels=LABELS))
    assert_array_equal(exchange.read_prediction_files([file]).probabilities[0], PROBABILITIES)
    assert not file.closed


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_logits_become_scipys_softmax(tmp_path: Path, dtype: str) -> None:
    given = LOGITS.astype(dtype)
    given[0, 0, 1] = -np.inf  # ruled out
    found = taken(tmp_path, logits=given)
    wanted = scipy.special.softmax(given.astype(np.float64), axis=-1).astype(np.float32)
    np.testing.assert_allclose(found.probabilities[0], wanted, rtol=2e-7)
    assert found.probabilities[0, 0, 0, 1] == 0


def test_logarithms_of_probabilities_are_taken_as_such_and_said(tmp_path: Path) -> None:
    given = scipy.special.log_softmax(LOGITS, axis=-1)
    found = taken(tmp_path, probabilities=given)
    np.testing.assert_allclose(found.probabilities[0], np.exp(given), rtol=1e-6)
    assert "logarithms" in found.notes[0]


def test_several_epochs_and_one_member_have_their_axes(tmp_path: Path) -> None:
    epochs = np.stack([PROBABILITIES, PROBABILITIES[::-1]])
    assert_array_equal(taken(tmp_path, probabilities=epochs).probabilities, epochs)
    one = taken(tmp_path, probabilities=PROBABILITIES[0])
    assert_array_equal(one.probabilities, PROBABILITIES[None, :1])


@pytest.mark.parametrize("shape", [(M, N), (M, N, 1), (N,), (N, 1)])
def test_one_number_of_two_classes_is_class_1s(tmp_path: Path, shape: tuple[int, ...]) -> None:
    chance = np.random.default_rng(0).random(shape).astype(np.float32)
    found = taken(tmp_path, probabilities=chance, labels=LABELS % 2)
    rows = chance.reshape(-1, N)
    assert_array_equal(found.probabilities[0, ..., 1], rows)
    np.testing.assert_allclose(found.probabilities[0, ..., 0], 1 - rows, atol=1e-7)
    assert "as the probability of class 1" in found.notes[0]
    logits = taken(tmp_path, logits=scipy.special.logit(chance), labels=LABELS % 2)
    np.testing.assert_allclose(logits.probabilities, found.probabilities, atol=1e-6)


def test_labels_may_be_one_hot_text_or_of_another_type(tmp_path: Path) -> None:
    names = ("ant", "bee", "cat", "dog")
    for given in (
        np.eye(C)[LABELS],
        LABELS[:, None],
        LABELS.astype(float),
        LABELS.astype(np.uint8),
        np.array(names)[LABELS],
    ):
        found = taken(tmp_path, probabilities=PROBABILITIES, labels=given, class_names=names)
        assert_array_equal(found.labels, LABELS)
        assert found.class_names == names
    assert taken(tmp_path, probabilities=PROBABILITIES, labels=np.eye(C)[LABELS]).notes


def test_names_that_people_use_stand_for_ours_and_it_is_said(tmp_path: Path) -> None:
    path = saved(
        tmp_path,
        probs=PROBABILITIES,
        y_true=LABELS,
        classes=[5, 6, 7, 8],
        member_names=["x", "y", "z"],
        split="validation",
        more=np.ones(3),
    )
    found = exchange.read_prediction_files([path])
    assert found.class_names == ("5", "6", "7", "8")
    assert found.member_names == ("x", "y", "z")
    assert found.split == "validation"
    assert set(found.notes) == {
        "`probs` was read as `probabilities`.",
        "`y_true` was read as `labels`.",
        "`classes` was read as `class_names`.",
        "Arrays that were not used: “more”.",
    }


def test_objects_that_nobody_asked_for_are_not_read(tmp_path: Path) -> None:
    found = taken(tmp_path, probabilities=PROBABILITIES, config=np.array([{}], object))
    assert found.notes == ("Arrays that were not used: “config”.",)


def test_several_files_are_members_in_their_order(tmp_path: Path) -> None:
    files = [
        saved(tmp_path, "forest.npz", probabilities=PROBABILITIES[0], labels=LABELS),
        saved(tmp_path, "net.npz", logits=LOGITS[1]),
        saved(tmp_path, "two.npz", probabilities=PROBABILITIES[1:].astype("f8")),
    ]
    found = exchange.read_prediction_files(files)
    assert_array_equal(found.probabilities[0, 0], PROBABILITIES[0])
    np.testing.assert_allclose(found.probabilities[0, 1], PROBABILITIES[1], rtol=1e-6)
    assert_array_equal(found.probabilities[0, 2:], PROBABILITIES[1:])
    assert found.member_names == ("forest", "net", "two 1", "two 2")
    epochs = np.stack([PROBABILITIES, PROBABILITIES[::-1]])
    halves = [saved(tmp_path, f"{m}.npz", probabilities=epochs[:, m : m + 1], labels=LABELS) for m in range(M)]
    assert_array_equal(exchange.read_prediction_files(halves).probabilities, epochs)


@pytest.mark.parametrize("channels", [(), (1,), (3,)])
def test_images_become_bytes_from_what_frameworks_keep(tmp_path: Path, channels: tuple[int, ...]) -> None:
    wanted = np.random.default_rng(0).integers(0, 256, (N, 6, 5, *channels), np.uint8)
    form = wanted if channels else wanted[..., None]
    for given in (
        wanted,
        wanted.astype(np.float32) / 255,
        wanted.astype(np.float32),
        wanted.astype(np.int64),
        np.asfortranarray(wanted),
    ):
        found = taken(tmp_path, probabilities=PROBABILITIES, images=given)
        assert_array_equal(found.images, form)
    if channels:
        given = wanted.transpose(0, 3, 1, 2) / 255
        found = taken(tmp_path, probabilities=PROBABILITIES, images=given)
        assert_array_equal(found.images, form)
        assert "channels before height" in " ".join(found.notes)


@pytest.mark.parametrize("order", ["C", "F", "of a table"])
def test_rows_are_read_in_blocks_within_the_memory_limit(
    order: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (npz_archive, table_rows):
        monkeypatch.setattr(module, "CHUNK_BYTES", 130)  # of 3 × 8 bytes each, 5 rows
    rows = np.arange(36.0).reshape(12, 3)
    if order == "of a table":
        blocks = list(table_rows._iterate_ordered_blocks(rows, np.arange(12)))
    else:
        np.savez(tmp_path / "a.npz", rows=rows.copy(order))
        with zipfile.ZipFile(tmp_path / "a.npz") as archive:
            blocks = list(NpzArchive(archive).iterate_blocks("rows", 3))
    assert [len(block) for block in blocks] == [5, 5, 2]
    assert_array_equal(np.concatenate(blocks), rows)
