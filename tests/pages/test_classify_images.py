"""Classify with an ensemble that has learnt no handwriting: one picture is one image."""

import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from ensemble import datasets
from ensemble.recognition.classifier import open_classifier
from ensemble.runs import Run, list_runs
from ensemble.ui.classify.details.detail_selection import DETAILS
from tests.pages import own_images
from tests.pages.members import askable
from tests.pages.predictions_screen import opened

SHAPE = (16, 16, 3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a dataset and one run of it: what its members need is measured and compiled once."""
    made = tmp_path_factory.mktemp("images")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENSEMBLE_DATA", str(made / "data"))
        patch.setenv("ENSEMBLE_RUNS", str(made / "runs"))
        askable(members=2, dataset=own_images.add(shape=SHAPE))
    return made


@pytest.fixture
def run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("ENSEMBLE_DATA", str(folder / "data"))
    monkeypatch.setenv("ENSEMBLE_RUNS", str(folder / "runs"))
    return list_runs()[0]


def photograph() -> bytes:
    """A light bar on dark ground, 300×200."""
    pixels = np.full((200, 300, 3), 8, np.uint8)
    pixels[40:60, 80:220] = (200, 180, 60)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


def said(at: AppTest) -> str:
    return " ".join(one.value for kind in (at.markdown, at.caption, at.subheader) for one in kind)


def test_a_photograph_is_read_as_one_image_and_everything_is_called_a_leaf(run: Run) -> None:
    at = opened(run, "classify")
    ways = next(one for one in at.segmented_control if one.key.startswith("address_input"))
    assert list(ways.options) == ["Upload", "Camera"]
    assert any(one.label == "Try a test leaf" for one in at.button)
    at.file_uploader[0].set_value(("shirt.png", photograph(), "image/png")).run()
    assert not at.exception
    words = said(at)
    assert "digit" not in words
    assert "leaf" in words
    assert "16 × 16, in colour" in words
    assert "200 × 200 pixels of the picture" in words
    takes = next(one for one in at.segmented_control if one.label == "Take")
    takes.set_value("whole").run()
    assert not at.exception
    assert "The whole picture." in said(at)
    assert not any(one.label == "Strength of ink" for one in at.slider)


def test_every_detail_is_there(run: Run) -> None:
    at = opened(run, "classify")
    next(one for one in at.button if one.key == "classify_try").click().run()
    for detail in DETAILS:
        at.query_params["detail"] = detail
        at.run()
        assert not at.exception, detail
        assert [one.value for one in at.segmented_control if one.label == "Details"] == [detail]
        assert "Already 16 × 16: left unchanged." in said(at)
        drawn = " ".join(one.proto.spec for one in at.get("plotly_chart"))
        assert "digit" not in said(at), detail
        assert not re.search(r"(?i)\bmarks?\b", said(at) + drawn), detail
        assert re.search(r"\bLeaf\b", drawn), detail


def test_the_classifier_finds_a_test_image_itself_and_rejects_what_is_none(run: Run) -> None:
    asked = open_classifier(run.id)
    assert (asked.noun, asked.written, asked.shape) == ("leaf", False, SHAPE)
    test = datasets.load_dataset("leaves").test_images
    found = asked.find_nearest_neighbors(test[17], 5)
    assert found.numbers[0] == 17
    np.testing.assert_array_equal(found.images[0], test[17])
    threshold = asked.compute_rejection_threshold()
    assert [one.key for one in threshold.non_digits][-2:] == ["noise", "scrambled"]
    assert min(one.share for one in threshold.non_digits[-2:]) > 0.9
    assert threshold.coverage > 0.85
    covered = asked.compute_occlusion(test[17])
    assert covered.ensemble_change.shape == SHAPE[:2]


def test_predictions_and_one_image_under_stress_show_it_in_colour_in_its_place(run: Run) -> None:
    at = opened(run, "predictions")
    grid = json.loads(at.get("bidi_component")[0].proto.json)
    assert grid["image"]["step"] == 80, "five pixels of the screen to one of 16"
    assert "test leaves" in grid["label"]
    at = opened(run, "inspect", view="digit")
    views = [option for one in at.segmented_control for option in one.options]
    assert "One leaf" in views
