"""Groups of a person's own pictures: whole ones are tested on, and each counts once."""

import numpy as np
import pytest

from ensemble import datasets, runs
from ensemble.errors import DataError
from ensemble.views.evaluated_epoch import evaluate_epoch
from ensemble.views.registry import VIEWS
from ensemble.views.summary import summarize_view
from tests.pages.ensembles import trained


def made(draw: np.random.Generator, n: int) -> np.ndarray:
    return draw.integers(0, 256, (n, 6, 6), np.uint8)


def test_whole_groups_become_the_test_set_and_count_once(tmp_path, add):
    draw = np.random.default_rng(0)
    writers = np.array([f"writer {n}" for n in range(12)])[draw.integers(0, 12, 240)]
    np.savez(
        tmp_path / "a.npz", images=made(draw, 240), labels=np.arange(240) % 3, writer_id=writers
    )
    report = add(tmp_path / "a.npz", test_share=0.25)
    found = datasets.load_dataset("pets")
    assert found.test_groups is not None
    assert len(found.test_groups) == len(found.test_labels)
    once, counts = np.unique(found.test_groups, return_counts=True)
    # Everything of a writer who is tested on is there.
    assert sorted(counts) == sorted((writers == np.unique(writers)[n]).sum() for n in once)
    assert 0.15 < len(found.test_labels) / 240 < 0.45
    said = " ".join(report.note.said)
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
    assert runs.find_run(run.id).id == run.id


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
