"""A pool of images without labels: kept, labelled, applied, and what cannot be one refused."""

import json
import shutil
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from ensemble import datasets, runs
from ensemble.access import Person, Role, set_person_source
from ensemble.acquisition import pool_questions
from ensemble.cli.program import main
from ensemble.config import EnsembleConfig
from ensemble.datasets import Dataset
from ensemble.datasets.decisions.decision_log import decisions_folder
from ensemble.datasets.decisions.label_decision import NO_CLASS, RELABEL, REMOVE, UNSURE
from ensemble.datasets.own import custom_registry, staging
from ensemble.datasets.own.pools import extended_dataset, label_pool, pool_batches, pool_labels
from ensemble.datasets.own.pools.label_pool import LabelPool
from ensemble.datasets.own.pools.pool_batches import LabelBatch
from ensemble.errors import AccessError, ConfigError, DataError
from tests.pages import own_images


@pytest.fixture
def leaves() -> Dataset:
    return datasets.load_dataset(own_images.add())


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    yield
    for name in custom_registry.list_custom_datasets():
        staging.remove_custom_dataset(name)
    shutil.rmtree(decisions_folder(), ignore_errors=True)
    shutil.rmtree(label_pool.pools_folder(), ignore_errors=True)


@pytest.fixture
def pictures(leaves: Dataset, tmp_path: Path) -> Path:
    """A folder of 30 new leaves, a copy of one, two that leaves has, and what is no picture."""
    folder = tmp_path / "attic"
    (folder / "old").mkdir(parents=True)
    new, _ = own_images.drawn(30, (16, 16, 3), seed=9)
    for number, image in enumerate(new):
        Image.fromarray(image).save(folder / f"{number:02}.png")
    Image.fromarray(new[3]).save(folder / "old" / "copy.png")
    Image.fromarray(leaves.train_images[5]).save(folder / "old" / "learnt.png")
    Image.fromarray(leaves.test_images[7]).save(folder / "old" / "tested.png")
    (folder / "old" / "torn.png").write_bytes(b"\x89PNG no more")
    return folder


@pytest.fixture
def pool(leaves: Dataset, pictures: Path) -> LabelPool:
    return label_pool.add_label_pool("attic", pictures, leaves)


def invoke(*words: object) -> str:
    done = CliRunner().invoke(main, ["label", *map(str, words)])
    assert done.exit_code == 0, done.output
    return done.stdout


def refuse(*words: object) -> str:
    done = CliRunner().invoke(main, ["label", *map(str, words)])
    assert done.exit_code == 1, done.output
    return done.stderr


def decide(pool: LabelPool, number: int, decision: str, label: int = NO_CLASS) -> None:
    log = pool_labels.open_pool_log(pool)
    log.append_decision(pool_labels.build_pool_decision(pool, number, decision, label, "run"))


def test_a_folder_becomes_a_pool_without_what_the_dataset_has(pool: LabelPool) -> None:
    new, _ = own_images.drawn(30, (16, 16, 3), seed=9)
    np.testing.assert_array_equal(pool.images, new)
    assert pool.read_image_names()[:2] == ("00.png", "01.png")
    said = " ".join(pool.note.said)
    for sentence in (
        "1 picture is left out, each a training image of leaves already.",
        "1 picture is left out, each a test image of leaves.",
        "1 picture is left out, each a copy of another one.",
        "1 picture cannot be taken (old/torn.png: it is damaged",
    ):
        assert sentence in said
    assert [one.name for one in label_pool.list_dataset_pools("leaves")] == ["attic"]
    assert label_pool.list_dataset_pools("digits") == []


def test_an_archive_and_an_array_make_the_same_pool(
    pool: LabelPool, leaves: Dataset, pictures: Path, tmp_path: Path
) -> None:
    with zipfile.ZipFile(tmp_path / "attic.zip", "w") as archive:
        for path in sorted(pictures.rglob("*.png")):
            archive.write(path, path.relative_to(pictures))
    zipped = label_pool.add_label_pool("zipped", tmp_path / "attic.zip", leaves)
    assert zipped.note.fingerprint == pool.note.fingerprint
    assert zipped.read_image_names() == pool.read_image_names()
    np.save(tmp_path / "attic.npy", np.asarray(pool.images))
    array = label_pool.add_label_pool("array", tmp_path / "attic.npy", leaves)
    assert array.note.fingerprint == pool.note.fingerprint
    left = [one.name for one in label_pool.pools_folder().iterdir() if one.name.startswith(".")]
    assert left == []


def test_pictures_of_digits_show_one_each(tmp_path: Path) -> None:
    digits = datasets.load_dataset("digits")
    new = np.flip(digits.train_images[:3], axis=2)
    for number, image in enumerate(new):
        Image.fromarray(image[..., 0]).resize((84, 84)).save(tmp_path / f"{number}.png")
    pair = np.zeros((80, 200), np.uint8)
    pair[20:48, 20:48], pair[20:48, 130:158] = new[0, ..., 0], new[1, ..., 0]
    Image.fromarray(pair).save(tmp_path / "pair.png")
    pool = label_pool.add_label_pool("scans", tmp_path, digits)
    assert pool.images.shape == (3, 28, 28, 1)
    assert "pair.png: 2 digits were found in it, where one is taken" in " ".join(pool.note.said)


def test_labels_are_applied_as_a_new_version_arm_by_arm(pool: LabelPool, leaves: Dataset, tmp_path: Path) -> None:
    batch = LabelBatch("epistemic", "run", 1, 0, chosen=[3, 4, 5], at_random=[5, 9, 11])
    pool_batches.append_batch(pool, batch)
    drawn = pool_batches.list_batches(pool)[0].list_in_drawn_order()
    assert sorted(drawn) == [3, 4, 5, 9, 11]
    for number, label in ((3, 2), (4, 0), (5, 9), (9, 1)):
        decide(pool, number, RELABEL, label)
    decide(pool, 11, UNSURE)
    decide(pool, 20, REMOVE)
    assert pool_labels.list_pool_labels(pool) == {3: 2, 4: 0, 5: 9, 9: 1}
    assert pool_labels.list_pool_labels(pool, "random") == {5: 9, 9: 1}
    table = tmp_path / "labels.csv"
    table.write_text(invoke("decisions", "attic"))
    assert table.read_text().count("\n") == 7
    assert ",05.png,both,label,leaf j," in table.read_text()
    for words in (("--arm", "chosen"), ("--arm", "chosen", "--table", table)):
        told = json.loads(invoke("apply", "attic", *words, "--json"))
        made = datasets.load_dataset(told["name"])
        np.testing.assert_array_equal(made.train_images[:400], leaves.train_images)
        np.testing.assert_array_equal(made.train_images[400:], pool.images[[3, 4, 5]])
        assert made.train_labels[400:].tolist() == [2, 0, 9]
        np.testing.assert_array_equal(made.test_images, leaves.test_images)
        assert (told["extended_from"], told["extended_by"], told["pool"]) == ("leaves", 3, "attic")
        assert told["notes"] == []
    assert [one.name for one in label_pool.list_dataset_pools("leaves_3")] == ["attic"]
    assert "leaves with 4 labelled images of attic" in invoke("apply", "attic", "--as", "all_of_it")
    assert json.loads(invoke("pools", "--json")) == {"name": "attic", "dataset": "leaves", "images": 30, "labelled": 4}


def test_added_images_are_groups_of_their_own_and_the_others_keep_theirs(pool: LabelPool, leaves: Dataset) -> None:
    train, test = np.arange(400) // 7, np.arange(200) // 3 + 40
    grouped = replace(leaves, train_groups=train, test_groups=test)
    extended_dataset.extend_dataset(grouped, pool, {9: 1, 3: 2}, "more")
    made = datasets.load_dataset("more")
    np.testing.assert_array_equal(made.train_images[400:], pool.images[[3, 9]])
    assert made.train_labels[400:].tolist() == [2, 1]
    assert made.train_groups is not None
    np.testing.assert_array_equal(made.train_groups[:400], train)
    assert len({*made.train_groups[400:]} - {*train, *test}) == 2
    np.testing.assert_array_equal(made.test_groups, test)


def test_labels_outlive_the_pool_and_go_by_its_images(pool: LabelPool, leaves: Dataset, pictures: Path) -> None:
    decide(pool, 3, RELABEL, 2)
    assert "attic is removed" in invoke("remove", "attic")
    assert label_pool.list_label_pools() == []
    again = label_pool.add_label_pool("attic", pictures, leaves)
    assert pool_labels.list_pool_labels(again) == {3: 2}
    (pictures / "00.png").unlink()
    other = label_pool.add_label_pool("other", pictures, leaves)
    assert pool_labels.list_pool_labels(other) == {}


def test_a_batch_keeps_what_members_say_of_its_own_images_and_takes_no_image_again(pool: LabelPool) -> None:
    numbers = np.arange(30)
    probabilities = np.full((2, 30, 10), 0.01, np.float32)
    probabilities[0, numbers, numbers % 10] = 0.91
    probabilities[1, numbers, (numbers + numbers % 2) % 10] = 0.91  # another class for odd numbers
    probabilities[0] += 1e-3 * np.eye(10)[numbers % 10]
    run = runs.create_run(EnsembleConfig(dataset="leaves", members=2))
    answers = pool_questions._PoolAnswers(run, 1, probabilities)
    decide(pool, 20, REMOVE)
    found = pool_questions.choose_pool_batch(pool, answers, "epistemic", 6)
    batch = pool_questions.keep_pool_batch(pool, answers, found)
    assert batch.numbers == sorted({*found.chosen.tolist(), *found.at_random.tolist()})
    assert batch.answers == [number % 10 for number in batch.numbers]
    assert batch.votes == [2 - number % 2 for number in batch.numbers]
    assert {1, 2} == set(batch.votes)
    rest = pool_questions.choose_pool_batch(pool, answers, "epistemic", 30)
    usable = set(range(30)) - {20}
    assert set(rest.chosen.tolist()) == usable - set(found.chosen.tolist())
    assert set(rest.at_random.tolist()) == usable - set(found.at_random.tolist())


def test_a_batch_of_an_earlier_version_has_the_new_name_of_its_strategy(pool: LabelPool) -> None:
    pool_batches.append_batch(pool, LabelBatch("information", "run", 1, 0, chosen=[3], at_random=[5]))
    assert [batch.by for batch in pool_batches.list_batches(pool)] == ["epistemic"]


def test_a_torn_line_of_a_batch_costs_no_other(pool: LabelPool) -> None:
    first = pool_batches.append_batch(pool, LabelBatch("power", "run", 1, 0, [1], [2]))
    with (pool.folder / pool_batches.BATCHES_FILE).open("ab") as file:
        file.write(b'{"by": "pow')
    second = pool_batches.append_batch(pool, LabelBatch("power", "run", 1, 0, [3], []))
    pool_batches.append_batch(pool, LabelBatch("power", "run", 1, 0, [900], []))
    assert pool_batches.list_batches(pool) == (first, second)


def test_what_is_no_pool_is_refused_and_nothing_is_left(
    leaves: Dataset, pictures: Path, pool: LabelPool, tmp_path: Path
) -> None:
    for name, source, kind, sentence in (
        ("Attic!", pictures, ConfigError, "no name of a pool"),
        ("attic", pictures, DataError, "already exists"),
        ("gone", tmp_path / "gone", DataError, "There is no file or folder"),
        ("text", Path(__file__), DataError, "neither a folder, a .zip nor an .npy"),
    ):
        with pytest.raises(kind, match=sentence):
            label_pool.add_label_pool(name, source, leaves)
    np.save(tmp_path / "small.npy", np.zeros((4, 8, 8, 3), np.uint8))
    with pytest.raises(DataError, match=r"uint8 \(N, 16, 16, 3\)"):
        label_pool.add_label_pool("small", tmp_path / "small.npy", leaves)
    old = tmp_path / "only_old"
    old.mkdir()
    Image.fromarray(leaves.train_images[1]).save(old / "1.png")
    with pytest.raises(DataError, match="no new image in only_old"):
        label_pool.add_label_pool("old", old, leaves)
    assert [one.name for one in label_pool.pools_folder().iterdir()] == ["attic"]
    assert "No image of the pool attic has a label yet" in refuse("apply", "attic")
    assert "There is no pool 'gone'. There are: attic." in refuse("remove", "gone")


def test_a_table_that_does_not_fit_changes_nothing(pool: LabelPool, tmp_path: Path) -> None:
    table = tmp_path / "labels.csv"
    table.write_text("number;label\n0;leaf a\n1;tree\n77;leaf a\n0;leaf b\n5;\n")
    problem = refuse("apply", "attic", "--table", table)
    for part in (
        "3 rows do not fit the pool attic",
        "line 3: label “tree” is none of the classes",
        "line 4: number “77” is none of 0 to 29",
        "line 5: image 0 is in line 2 too",
    ):
        assert part in problem
    table.write_text("file,kind\n")
    assert "no column label next to number, image or name" in refuse("apply", "attic", "--table", table)
    assert custom_registry.list_custom_datasets() == ("leaves",)


def test_who_may_only_look_adds_labels_and_removes_nothing(pool: LabelPool, leaves: Dataset, pictures: Path) -> None:
    set_person_source(lambda: Person("eve@example.org", Role.VIEWER))
    try:
        for attempt in (
            lambda: label_pool.add_label_pool("other", pictures, leaves),
            lambda: label_pool.remove_label_pool("attic"),
            lambda: decide(pool, 1, RELABEL, 0),
            lambda: pool_batches.append_batch(pool, LabelBatch("power", "run", 1, 0, [1], [])),
        ):
            with pytest.raises(AccessError):
                attempt()
    finally:
        set_person_source(None)
    assert pool_labels.list_pool_decisions(pool) == ()


def test_every_fiftieth_picture_is_reported(leaves: Dataset, tmp_path: Path) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number, image in enumerate(own_images.drawn(120, (16, 16, 3), seed=9)[0]):
        Image.fromarray(image).save(folder / f"{number:03}.png")
    told: list[str] = []
    with label_pool.open_temporary_pool(folder, leaves, lambda _, text: told.append(text)):
        assert [text for text in told if text.startswith("Reading")] == [
            "Reading pictures, 0 of 120",
            "Reading pictures, 50 of 120",
            "Reading pictures, 100 of 120",
        ]


@pytest.mark.parametrize("column", ["image", "name"])
def test_rows_of_copies_are_of_what_they_copy_or_are_reported(pool: LabelPool, tmp_path: Path, column: str) -> None:
    table = tmp_path / "labels.csv"
    rows = [
        "03.png,leaf a",
        "old/copy.png,leaf a",
        "4,leaf b",
        "copy.png,leaf a",
        "old/learnt.png,leaf a",
        "05.png,NaN",
    ]
    table.write_text("\n".join([f"{column},label", *rows]))
    notes = list[str]()
    assert pool_labels.read_pool_table(table, pool, notes=notes) == {3: 0, 4: 1}
    assert notes == [
        "Rows of copies are of the images that they copy: old/copy.png, old/copy.png.",
        "Rows of images that leaves has already were not used: old/learnt.png.",
    ]
    table.write_text(f"{column},label\n03.png,leaf a\nold/copy.png,leaf b\n")
    assert "image 3, of which old/copy.png is a copy, is in line 2 too" in refuse("apply", "attic", "--table", table)


def test_numbers_of_all_files_are_those_with_the_copies(pool: LabelPool, tmp_path: Path) -> None:
    """Who counts the files counts copies too: 30 new ones, then the copy and the two that leaves has."""
    table = tmp_path / "labels.csv"
    table.write_text("\n".join(["number,label", *(f"{n},leaf {'ab'[n in (3, 30)]}" for n in range(33))]))
    notes = list[str]()
    labels = pool_labels.read_pool_table(table, pool, notes=notes)
    assert labels == {n: int(n == 3) for n in range(30)}
    assert "Numbers go up to 32: they were read as those of all 33 files, copies included." in notes
    table.write_text("\n".join(["number,label", *(f"{n},leaf a" for n in range(31))]))
    assert "number “30” is none of 0 to 29 (copies were left out" in refuse("apply", "attic", "--table", table)


def test_a_pool_of_an_earlier_version_knows_no_copies(pool: LabelPool, tmp_path: Path) -> None:
    (pool.folder / "copies.json").unlink()
    table = tmp_path / "labels.csv"
    table.write_text("image,label\n03.png,leaf a\n")
    assert pool_labels.read_pool_table(table, pool) == {3: 0}
