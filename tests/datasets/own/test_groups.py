"""Groups of a person's own pictures: whole ones are tested on, and each counts once."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import ensemble
from ensemble import datasets, runs
from ensemble.config import EnsembleConfig
from ensemble.datasets.own import custom_registry
from ensemble.datasets.partition.split import select_validation_indices
from ensemble.engine import Trainer
from ensemble.errors import DataError
from ensemble.planning.plan_grids import load_plan_grids
from ensemble.views.evaluated_epoch import evaluate_epoch
from ensemble.views.registry import VIEWS
from ensemble.views.summary import summarize_view
from tests.pages.ensembles import trained


def made(draw: np.random.Generator, n: int) -> np.ndarray:
    return draw.integers(0, 256, (n, 6, 6), np.uint8)


def test_whole_groups_become_the_test_set_and_count_once(tmp_path, add):
    draw = np.random.default_rng(0)
    writers = np.array([f"writer {n}" for n in range(12)])[draw.integers(0, 12, 240)]
    np.savez(tmp_path / "a.npz", images=made(draw, 240), labels=np.arange(240) % 3, writer_id=writers)
    report = add(tmp_path / "a.npz", test_share=0.25)
    found = datasets.load_dataset("pets")
    assert found.test_groups is not None
    assert len(found.test_groups) == len(found.test_labels)
    once, counts = np.unique(found.test_groups, return_counts=True)
    # Everything of a writer who is tested on is there.
    assert sorted(counts) == sorted((writers == np.unique(writers)[n]).sum() for n in once)
    assert 0.15 < len(found.test_labels) / 240 < 0.45
    assert found.train_groups is not None
    assert not set(found.train_groups) & set(found.test_groups)
    config = EnsembleConfig(dataset="pets", validation=0.25, members=2)
    held = select_validation_indices(config, found)
    outside = np.delete(found.train_groups, held)
    assert len(set(found.train_groups[held]) & set(outside)) <= 1
    said = " ".join(report.note.said)
    assert f"among {12 - len(once)} groups" in said
    assert f"{len(once)} of 12 whole groups" in said
    assert f"count together in every interval: {len(once)} groups." in said
    assert "are among the training images too" not in said

    run = trained(dataset="pets", sure=1.0)
    epoch = evaluate_epoch(run)
    assert epoch.predictions.groups is not None
    evidence = " ".join(summarize_view(VIEWS["answer"], epoch).evidence)
    assert f"count the images of one group together: {len(once)} groups." in evidence
    classes = summarize_view(VIEWS["confusion"], epoch)
    assert "group of images" in " ".join(one.text for one in classes.paragraphs)
    committee = summarize_view(VIEWS["members"], epoch)
    enough = " ".join(one.text for one in committee.paragraphs)
    assert f"each of {len(once)} groups counts as one draw" in enough
    maps = load_plan_grids(runs.find_run(run.id))
    assert maps.test.groups is not None
    assert maps.test.groups.tolist() == epoch.predictions.groups.tolist()
    assert runs.find_run(run.id).id == run.id


def test_images_without_a_label_take_their_own_group_along(tmp_path, add):
    """The fifth training image has none, nor has the second validation image, which are trained on too."""
    labels = {"train": np.arange(24) % 2, "val": np.arange(8) % 2, "test": np.arange(10) % 2}
    images = {split: made(np.random.default_rng(len(split)), len(each)) for split, each in labels.items()}
    groups = {split: np.arange(len(each)) // 3 + 10 * len(split) for split, each in labels.items()}
    labels["train"][4], labels["val"][1] = -1, -1
    arrays = {
        f"{split}_{what}": of[split]
        for what, of in (("images", images), ("labels", labels), ("groups", groups))
        for split in of
    }
    np.savez(tmp_path / "a.npz", **arrays)
    add(tmp_path / "a.npz")
    found = datasets.load_dataset("pets")
    kept = {split: np.flatnonzero(each >= 0) for split, each in labels.items()}
    for what, of in (("images", images), ("labels", labels)):
        expected = np.concatenate([of[split][kept[split]] for split in ("train", "val")])
        actual = getattr(found, f"train_{what}")
        np.testing.assert_array_equal(actual[..., 0] if what == "images" else actual, expected)
    own = np.concatenate([groups[split][kept[split]] for split in ("train", "val")])
    np.testing.assert_array_equal(found.train_groups[:, None] == found.train_groups, own[:, None] == own)
    np.testing.assert_array_equal(
        found.test_groups[:, None] == found.test_groups, groups["test"][:, None] == groups["test"]
    )


@pytest.mark.long
def test_the_validation_images_of_a_run_are_those_that_the_trainer_held_out_by_group(tmp_path, add):
    draw = np.random.default_rng(3)
    writers = draw.integers(0, 12, 240)
    np.savez(tmp_path / "a.npz", images=made(draw, 240), labels=np.arange(240) % 3, writer_id=writers)
    add(tmp_path / "a.npz", test_share=0.25)
    data = datasets.load_dataset("pets")
    config = EnsembleConfig(dataset="pets", network="logistic", members=2, epochs=1, batch_size=16, validation=0.25)
    handle = ensemble.train(config)
    predictions = handle.predictions(split="validation")
    held = select_validation_indices(config, data)
    np.testing.assert_array_equal(predictions.labels, data.train_labels[held])
    trainer = Trainer(config, data)
    judged = trainer.validate(trainer.train(trainer.start(), 1, 0, trainer.steps_per_epoch)[0])
    np.testing.assert_allclose(np.asarray(judged.probabilities, np.float32), predictions.probabilities, atol=1e-5)
    assert predictions.groups is not None
    assert len(set(predictions.groups.tolist())) == len(set(data.train_groups[held].tolist()))


def test_a_dataset_of_an_earlier_version_goes_on_holding_images_of_each_class_out(tmp_path, add):
    draw = np.random.default_rng(4)
    np.savez(tmp_path / "a.npz", images=made(draw, 240), labels=np.arange(240) % 3, groups=np.arange(240) // 20)
    add(tmp_path / "a.npz", test_share=0.25)
    path = custom_registry.custom_datasets_folder() / "pets" / custom_registry.NOTE_FILE
    note = json.loads(path.read_text())
    assert note.pop("whole_groups") is True
    path.write_text(json.dumps(note))
    found = datasets.load_dataset("pets")
    assert found.train_groups is None
    assert found.test_groups is not None


def test_a_class_that_one_group_alone_has_is_not_taken_to_be_tested_on(tmp_path, add):
    draw = np.random.default_rng(5)
    np.savez(tmp_path / "a.npz", images=made(draw, 60), labels=np.arange(60) // 30, groups=np.arange(60) // 15)
    add(tmp_path / "a.npz", test_share=0.4)
    found = datasets.load_dataset("pets")
    assert sorted(set(found.train_labels.tolist())) == [0, 1]
    np.savez(tmp_path / "b.npz", images=made(draw, 60), labels=np.arange(60) // 30, groups=np.arange(60) // 30)
    with pytest.raises(DataError, match="all that there is of a class"):
        add(tmp_path / "b.npz", name="others")


def test_groups_of_a_test_set_that_is_there_are_said_where_they_were_learnt_from(tmp_path, add):
    draw = np.random.default_rng(1)
    np.savez(
        tmp_path / "a.npz",
        train_images=made(draw, 60),
        train_labels=np.arange(60) % 2,
        train_groups=np.arange(60) // 10,
        test_images=made(draw, 20),
        test_labels=np.arange(20) % 2,
        test_groups=np.arange(20) // 5 + 4,
    )
    said = " ".join(add(tmp_path / "a.npz").note.said)
    assert "count together in every interval: 4 groups." in said
    assert "2 of them are among the training images too" in said


def test_pictures_without_groups_have_none_and_the_same_fingerprint(tmp_path, add):
    draw = np.random.default_rng(2)
    images, labels = made(draw, 40), np.arange(40) % 2
    np.savez(tmp_path / "a.npz", images=images, labels=labels)
    plain = add(tmp_path / "a.npz").note.fingerprint
    found = datasets.load_dataset("pets")
    assert found.test_groups is None
    assert plain == found.fingerprint


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        (np.arange(7), r"groups of shape \(7,\) for 40 train images"),
        (np.linspace(0, 1, 40), "as a whole number or text"),
        (np.zeros(40, int), "All pictures are of one group"),
    ],
)
def test_groups_that_are_none_are_refused(tmp_path, add, groups, said):
    draw = np.random.default_rng(3)
    np.savez(tmp_path / "a.npz", images=made(draw, 40), labels=np.arange(40) % 2, groups=groups)
    with pytest.raises(DataError, match=said):
        add(tmp_path / "a.npz")


def write_table(root: Path, rows: list[str], head: str = "file,group") -> None:
    (root / "groups.csv").write_text("\n".join([head, *rows]) + "\n", "utf-8")


def test_a_table_beside_folders_says_which_pictures_belong_together(tmp_path, draw, add):
    root = draw({"ant": 30, "bee": 30})
    people = {
        path.relative_to(root).as_posix(): f"person {n % 6}" for n, path in enumerate(sorted(root.rglob("*.png")))
    }
    write_table(root, [f"{person};./{path}" for path, person in people.items()], "patient_id;File")
    report = add(root, test_share=0.3)
    found = datasets.load_dataset("pets")
    assert found.train_groups is not None
    assert found.test_groups is not None
    assert not set(found.train_groups) & set(found.test_groups)
    # Each picture has the number of its person: told by its pixels.
    kept = [
        *zip(found.train_images, found.train_groups, strict=True),
        *zip(found.test_images, found.test_groups, strict=True),
    ]
    numbers = {np.ascontiguousarray(image).tobytes(): group for image, group in kept}
    of_person = {(person, numbers[np.asarray(Image.open(root / path)).tobytes()]) for path, person in people.items()}
    assert len(of_person) == 6
    assert "groups.csv" not in " ".join(report.note.said)
    assert "of 6 whole groups" in " ".join(report.note.said)


def test_a_name_without_its_folder_serves_where_it_is_the_only_one(draw, add):
    root = draw({"ant": 12, "bee": 12})
    paths = sorted(root.rglob("*.png"))
    for n, path in enumerate(paths):
        path.rename(path.with_name(f"{n}.png"))
    write_table(root, [f"{n}.png,{n % 4}" for n in range(24)] + ["gone.png,1"])
    report = add(root, test_share=0.25)
    found = datasets.load_dataset("pets")
    assert found.test_groups is not None
    assert "Rows of groups.csv that are of no picture: gone.png." in report.note.said


@pytest.mark.parametrize(
    ("rows", "head", "said"),
    [
        (["ant/000.png,1"], "file,group", "has no row for '.*' \\(3 pictures are without\\)"),
        (["000.png,1", "001.png,1"], "file,group", "2 pictures are called '00[01].png': give paths"),
        (["ant/000.png,1", "ant/000.png,2"], "file,group", "puts 'ant/000.png' into two groups"),
        (["ant/000.png"], "file,group", "groups.csv: its line 2 has 1 cells, and the first row 2"),
        (["ant/000.png,"], "file,group", "Line 2 of groups.csv has an empty file or group"),
        (["ant/000.png,1"], "file,who", "has no column group or groups or patient_id"),
        (["a,1,2"], "file,group,writer_id", "has more than one column group"),
    ],
)
def test_a_table_of_groups_that_cannot_be_used_says_why(draw, add, rows, head, said):
    root = draw({"ant": 2, "bee": 2})
    write_table(root, rows, head)
    with pytest.raises(DataError, match=said):
        add(root)


def test_a_quote_that_is_not_closed_is_no_fault_of_the_program(draw, add):
    root = draw({"ant": 2, "bee": 2})
    write_table(root, ['"ant/000.png,1'] + ["x" * 90_000 + ",1"] * 3)
    with pytest.raises(DataError, match=r"groups\.csv: .* quotes around cells that hold the delimiter"):
        add(root)
