"""Images without labels on the screen Labels: chosen, labelled blind, applied; both arms shown."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import streamlit as st
from PIL import Image
from streamlit.testing.v1 import AppTest

from ensemble import datasets, runs
from ensemble.acquisition.learning_job import create_learning
from ensemble.acquisition.learning_results import append_result
from ensemble.config import EnsembleConfig
from ensemble.datasets.own.pools import label_pool, pool_batches, pool_labels
from ensemble.datasets.own.pools.label_pool import LabelPool
from ensemble.datasets.own.pools.pool_batches import LabelBatch
from ensemble.jobs.status import write_status
from ensemble.jobs.uploads import dataset_upload
from tests.acquisition.test_learning import SMALL, build_results
from tests.jobs.test_working_folder import wait_for_job
from tests.pages import own_images
from tests.pages.ensembles import trained
from tests.pages.predictions_screen import opened


@pytest.fixture(autouse=True)
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("ENSEMBLE_DATA", str(tmp_path / "data"))
    yield
    st.cache_data.clear()
    st.cache_resource.clear()


def keep_pool(tmp_path: Path) -> LabelPool:
    """A pool of 30 new leaves."""
    images, _ = own_images.drawn(30, (16, 16, 3), seed=9)
    np.save(tmp_path / "attic.npy", images)
    dataset = datasets.load_dataset(own_images.add())
    return label_pool.add_label_pool("attic", tmp_path / "attic.npy", dataset)


def said(at: AppTest) -> str:
    elements: Any = (*at.markdown, *at.caption, *at.info, *at.success)
    text = [str(one.value) for one in elements]
    text += [one.proto.text for one in at.get("progress")]
    return " ".join(text).replace("\\", "")


def shown_number(at: AppTest) -> int | None:
    keys = [one.key for one in at.button if one.key and one.key.startswith("labels_unsure_")]
    return int(keys[0].removeprefix("labels_unsure_")) if keys else None


def press(at: AppTest, key: str) -> AppTest:
    at.button(key=key).click().run()
    assert not at.exception
    assert not at.error, at.error[0].value
    return at


def test_chosen_images_are_labelled_blind_and_become_two_versions(tmp_path: Path) -> None:
    pool = keep_pool(tmp_path)
    run = trained(dataset="leaves", epochs=1)
    batch = LabelBatch("diversity", run.id, 1, 0, [3, 4], [4, 9], answers=[3, 4, 9], votes=[3, 1, 2], members=3)
    pool_batches.append_batch(pool, batch)
    at = opened(run, "labels", split="pool")
    assert "0 of 3 leaves decided" in said(at)
    assert "What is this leaf?" in said(at)
    assert "members say “" not in said(at), "nobody sees it who has not asked"
    first = shown_number(at)
    at.toggle(key=f"labels_answer_{first}").set_value(True).run()
    told = {3: "All 3 members say “leaf d”.", 4: "1 of 3 members says “leaf e”.", 9: "2 of 3 members say “leaf j”."}
    assert told[first or 0] in said(at)
    for _ in range(3):
        number = shown_number(at)
        press(at, f"labels_class_{number % 10}_{number}")
    assert "Every image that was chosen is decided" in said(at)
    assert pool_labels.list_pool_labels(pool) == {3: 3, 4: 4, 9: 9}
    press(at, "labels_undo")
    number = shown_number(opened(run, "labels", split="pool"))
    assert number is not None, "another tab is asked it again"
    press(at, f"labels_class_{number % 10}_{number}")
    press(at, "labels_extend_chosen")
    press(at, "labels_extend_random")
    versions = [datasets.load_dataset(name) for name in ("leaves_2", "leaves_3")]
    assert [one.train_labels[400:].tolist() for one in versions] == [[3, 4], [4, 9]]
    assert "**leaves_3** has 2 labelled images" in said(at)


def test_pictures_are_taken_in_and_a_first_visit_says_what_for(tmp_path: Path) -> None:
    own_images.add()
    run = trained(dataset="leaves", epochs=1)
    at = opened(run, "labels", split="pool")
    assert "No leaves wait for a label yet" in said(at)
    new, _ = own_images.drawn(2, (16, 16, 3), seed=5)
    files = []
    for number, image in enumerate(new):
        Image.fromarray(image).save(content := io.BytesIO(), "png")
        files.append((f"../{number}.png", content.getvalue(), "image/png"))
    at.get("file_uploader")[0].set_value(files).run()
    at.button(key="labels_pool_add").click().run()
    wait_for_job(lambda: dataset_upload.read_upload_job(at.session_state["pool_upload"]))
    at.run()
    assert not at.exception
    assert list(dataset_upload.uploads_folder().iterdir()) == []
    (pool,) = label_pool.list_label_pools()
    np.testing.assert_array_equal(pool.images, new)
    assert pool.read_image_names() == ("0001_0.png", "0002_1.png")
    assert "2 leaves have no label yet" in said(at)


def test_an_upload_that_is_no_pool_says_why_and_makes_room_for_another() -> None:
    own_images.add()
    at = opened(trained(dataset="leaves", epochs=1), "labels", split="pool")
    at.get("file_uploader")[0].set_value(("a.zip", b"no archive", "application/zip")).run()
    at.button(key="labels_pool_add").click().run()
    wait_for_job(lambda: dataset_upload.read_upload_job(at.session_state["pool_upload"]))
    at.run()
    assert [one.value for one in at.error] == [
        "This is not a readable .zip, or the upload is incomplete: pack the folder again as an ordinary .zip, "
        "and upload all of it."
    ]
    assert not at.get("file_uploader")
    press(at, "labels_pool_again")
    assert at.get("file_uploader")
    assert list(dataset_upload.uploads_folder().iterdir()) == []
    assert label_pool.list_label_pools() == []


def test_both_arms_of_an_experiment_are_shown_with_their_answer() -> None:
    run = trained(epochs=1, network="logistic", members=2)
    experiment = create_learning(SMALL)
    for result in build_results(0.2, 2).values():
        append_result(experiment.path, result)
    status = json.loads((experiment.path / "status.json").read_text())
    write_status(experiment.path, type(experiment.status).from_dict(status | {"state": "finished", "done": 10}))
    at = opened(run, "labels", split="pool")
    assert "Too few seeds to tell: +" in said(at)
    assert "on 400 test digits" in said(at)
    chart = json.loads(at.get("plotly_chart")[0].proto.spec)
    names = [trace.get("name") for trace in chart["data"] if trace.get("showlegend", True)]
    assert names == ["drawn at random", "chosen by the members"]


@pytest.mark.long
def test_members_are_asked_and_what_they_choose_waits_in_the_queue(tmp_path: Path) -> None:
    pool = keep_pool(tmp_path)
    config = EnsembleConfig(dataset="leaves", network="logistic", members=2, epochs=1, batch_size=64)
    run = runs.execute_run(runs.create_run(config).id)
    at = opened(run, "labels", split="pool")
    at.number_input(key="labels_count_attic").set_value(4).run()
    press(at, "labels_choose")
    (batch,) = pool_batches.list_batches(pool)
    assert (len(batch.chosen), len(batch.at_random), batch.run) == (4, 4, run.id)
    assert len(batch.answers) == len(batch.votes) == len(batch.numbers)
    assert f"0 of {len(batch.numbers)} leaves decided" in said(at)
