"""Data: what there is to train on, and an upload from what was found in it to a dataset."""

import os
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from ensemble import datasets
from ensemble.datasets import registry
from ensemble.jobs.uploads import dataset_upload
from ensemble.ui.data import dataset_actions
from tests.pages import uploads
from tests.pages.hostile import WORDS, holes, literal
from tests.pages.predictions_screen import opened, value


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ENSEMBLE_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def said(at: AppTest) -> str:
    """All that the page says, as a browser shows it."""
    assert not [one.value for one in at.error if "fault of the program" in one.value]
    return literal(at)


def press(at: AppTest, key: str) -> AppTest:
    at.button(key=key).click().run()
    assert not at.exception
    return at


def test_the_list_says_what_is_ready_and_how_large() -> None:
    at = opened(page="data")
    frame = at.dataframe[0].value
    assert list(frame["Dataset"]) == [one.title for one in datasets.list_dataset_infos()]
    digits = frame[frame["Dataset"] == datasets.find_dataset_info("digits").title].iloc[0]
    assert (digits["State"], digits["To learn from"], digits["Image"]) == ("ready", 1297, "28×28 grey")
    assert set(frame["State"][1:]) == {"not fetched yet"}
    assert "1 dataset is ready to train on" in said(at)
    uploader = at.get("file_uploader")[0].proto
    assert uploader.max_upload_size_mb == 500
    assert list(uploader.type) == [".zip", ".npz", ".mat", ".h5", ".hdf5", ".csv", ".csv.gz"]


def test_a_dataset_that_is_not_here_can_be_fetched_and_an_unknown_one_is_named() -> None:
    assert at_button(opened(page="data", data="mnist"), "fetch_mnist")
    at = opened(page="data", data="![zz](http://zz.example)")
    assert "There is no dataset “![zz](http" in said(at)
    assert not holes(at)


def at_button(at: AppTest, key: str) -> bool:
    return key in [one.key for one in at.button]


def test_one_of_ones_own_is_trained_on_and_removed_only_when_asked_twice(folder: Path) -> None:
    uploads.own()
    at = opened(page="data", data="leaves")
    assert "2 datasets are ready to train on, 1 of them your own" in said(at)
    assert "Classes: maple, oak, elm." in said(at)
    press(at, "data_remove")
    assert registry.find_dataset_entry("leaves").title == "Leaves"
    press(at, "data_keep")
    press(press(at, "data_remove"), "data_remove_sure")
    assert "Removed Leaves." in said(at)
    assert "leaves" not in registry.list_dataset_names()
    assert not (folder / "own" / "leaves").exists()


def test_an_own_dataset_with_missing_images_is_not_offered_for_download(folder: Path) -> None:
    uploads.own()
    (folder / "own" / "leaves" / "train_images.npy").unlink()
    at = opened(page="data", data="leaves")
    assert at_button(at, "data_remove")
    assert not at_button(at, "fetch_leaves")
    assert not at_button(at, "data_train")


def test_train_on_it_leads_to_train_with_it_chosen() -> None:
    uploads.own()
    at = press(opened(page="data", data="leaves"), "data_train")
    assert at.session_state["set_dataset"] == "leaves"
    assert at.session_state["set_batch_size"] == 8  # of 24 images: 128 would be too many


@pytest.mark.parametrize(
    ("size", "batch", "epochs"), [(3, 2, 50), (24, 8, 50), (1_000, 32, 15), (5_000, 128, 15), (90_000, 128, 10)]
)
def test_suggested_settings_make_about_400_steps(size: int, batch: int, epochs: int) -> None:
    info = replace(datasets.find_dataset_info("digits"), train_size=size)
    assert dataset_actions._suggest_training_settings(info) == {}
    wanted = dataset_actions._suggest_training_settings(replace(info, own=True))
    assert (wanted["batch_size"], wanted["epochs"]) == (batch, epochs)


def test_what_was_found_is_shown_and_then_added_as_it_was_shown(folder: Path) -> None:
    tree = ("leaves", "├── train → 24 training images", "└── pred → left out, 3 without a class")
    job = uploads.read_through(said=("2 files could not be read: a.png, b.png",), tree=tree)
    images = np.load(job.path / "prepared" / "test_images.npy")
    at = opened(page="data", upload=job.id)
    assert [one.value for one in at.code] == ["\n".join(tree)]
    for one in (
        "30 images of 3 classes, 16×16 colour",
        "24 to learn from, 6 to test with",
        "All are 16×16 and stay unchanged.",
        "a.png, b.png",
        "Every class has 10 images.",
    ):
        assert one in said(at)
    assert any("data:image/png" in one.proto.body for one in at.get("html"))
    assert registry.list_dataset_names() == registry.DATASETS
    at.text_input(key=f"data_title_{job.id}").input("Leaves of trees")
    at.text_input(key=f"data_noun_{job.id}").input("leaf")
    press(at, "data_accept")
    assert "Leaves of trees is added" in said(at)
    assert value(at, "data") == "leaves"
    assert value(at, "upload") is None
    found = datasets.load_dataset("leaves")
    assert (found.noun, registry.find_dataset_entry("leaves").title) == ("leaf", "Leaves of trees")
    np.testing.assert_array_equal(found.test_images, images)
    assert not job.path.exists()


def test_a_name_that_cannot_be_is_said_and_nothing_is_lost() -> None:
    uploads.own()
    job = uploads.read_through()
    at = opened(page="data", upload=job.id)
    at.text_input(key=f"data_title_{job.id}").input("Kept")
    for name, why in (
        ("mnist", "The name mnist is reserved"),
        ("../evil", "is not a valid name for a dataset"),
        ("leaves", "A dataset leaves already exists"),
        ("", "is not a valid name for a dataset"),
    ):
        at.text_input(key=f"data_name_{job.id}").input(name)
        press(at, "data_accept")
        assert why in said(at)
        assert at.text_input(key=f"data_title_{job.id}").value == "Kept"
    assert len(datasets.load_dataset("leaves").train_images) == 24
    at.text_input(key=f"data_name_{job.id}").input("others")
    press(at, "data_accept")
    assert "others" in registry.list_dataset_names()


def test_another_size_is_read_again_before_it_is_added(monkeypatch: pytest.MonkeyPatch) -> None:
    job = uploads.read_through()
    at = opened(page="data", upload=job.id)
    assert at.button(key="data_reread").disabled
    at.number_input(key=f"data_size_{job.id}").set_value(20).run()
    assert at.button(key="data_accept").disabled
    assert not at.button(key="data_reread").disabled
    asked: list[dataset_upload.UploadJob] = []
    monkeypatch.setattr("ensemble.jobs.store.start_worker", lambda job, action: asked.append(job))
    press(at, "data_reread")
    assert [one.request.size for one in asked] == [20]


def test_an_upload_that_was_refused_says_why_and_goes(folder: Path) -> None:
    job = uploads.upload("failed", "“../evil.png” in the archive points outside it (..)")
    at = opened(page="data", upload=job.id)
    assert "“../evil.png” in the archive points outside it" in said(at)
    press(at, "data_again")
    assert not job.path.exists()
    assert at.get("file_uploader")


def test_what_other_settings_would_mend_can_be_set_there(monkeypatch: pytest.MonkeyPatch) -> None:
    job = uploads.upload("failed", "3 of 9 cannot be read: choose a larger “Unreadable” below.")
    asked: list[dataset_upload.UploadJob] = []
    monkeypatch.setattr("ensemble.jobs.store.start_worker", lambda job, action: asked.append(job))
    at = opened(page="data", upload=job.id)
    assert at.button(key="data_reread").disabled
    at.select_slider(key=f"data_bad_{job.id}").set_value(0.5).run()
    assert not at.button(key="data_reread").disabled
    at.button_group(key=f"data_merge_{job.id}").set_value(True).run()
    press(at, "data_reread")
    assert [(one.request.max_unreadable, one.request.merge_classes) for one in asked] == [(0.5, True)]


def test_an_upload_that_is_read_can_be_stopped() -> None:
    job = uploads.upload("running", "Unpacking: 64 files")
    at = opened(page="data", upload=job.id)
    assert "Unpacking: 64 files" in said(at)
    press(at, "upload_stop")
    assert (job.path / "stop").exists()


def test_an_upload_that_is_gone_says_so() -> None:
    assert [dataset_upload.read_upload_job(ident) for ident in ("0" * 16, "../../etc", "x")] == [None] * 3
    assert "no longer here" in said(opened(page="data", upload="../../etc"))


def test_what_was_made_of_an_upload_and_is_damaged_says_so(folder: Path) -> None:
    job = uploads.read_through()
    (job.path / "prepared" / "train_labels.npy").write_bytes(b"x")
    assert "upload the file again" in said(opened(page="data", upload=job.id))


def test_words_of_an_upload_stay_text() -> None:
    names = [f"{WORDS} {number}" for number in range(3)]
    job = uploads.read_through(f"{WORDS.replace('/', '-')}.zip"[-200:], names, [WORDS])
    at = opened(page="data", upload=job.id)
    assert sorted(holes(at)) == []
    assert WORDS in said(at)
    uploads.own("hostile", WORDS[:60], names)
    at = opened(page="data", data="hostile")
    assert sorted(holes(at)) == []
    press(at, "data_remove")
    assert sorted(holes(at)) == []


def test_uploads_of_earlier_days_go_when_another_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    job = uploads.read_through()
    monkeypatch.setattr("ensemble.jobs.store.start_worker", lambda job, action: None)
    at = opened(page="data")
    at.file_uploader[0].set_value(("new.zip", b"no archive", "application/zip")).run()
    assert job.path.exists()
    old = time.time() - 2 * dataset_upload.MAX_AGE_SECONDS
    os.utime(job.path, (old, old))
    at = opened(page="data")
    at.file_uploader[0].set_value(("new.zip", b"no archive", "application/zip")).run()
    assert not job.path.exists()
    new = dataset_upload.read_upload_job(str(value(at, "upload")))
    assert new is not None
    assert (new.path / "source" / "new.zip").read_bytes() == b"no archive"
    assert not at.exception
