"""Networks and datasets of a person's own are served as any: in colour, of any size and words."""

import io
import warnings
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import ensemble
from ensemble import datasets, runs
from ensemble.config import EnsembleConfig
from tests.serving.in_process import start_server

NETWORK = "tests.runs.own_networks:Narrow"
COLORS = ("red & ripe", "grün", "blue <b>")


@pytest.fixture
def colored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A dataset of three colours in 20×16 pixels, and the network allowed."""
    monkeypatch.setenv("ENSEMBLE_NETWORKS", NETWORK)
    monkeypatch.setenv("ENSEMBLE_DATA", str(tmp_path))
    draws = np.random.default_rng(0)
    labels = np.arange(600) % 3
    images = draws.integers(0, 80, (600, 20, 16, 3), np.uint8)
    images[np.arange(600), :, :, labels] += 150
    with warnings.catch_warnings(action="ignore"):  # what was assumed of the arrays
        ensemble.add_dataset("three_colors", images, labels, class_names=COLORS, noun="fruit")


@pytest.mark.long
def test_an_own_network_on_an_own_dataset(colored: None) -> None:
    config = EnsembleConfig(network=NETWORK, dataset="three_colors", members=2, epochs=1, batch_size=64, validation=0.2)
    run = runs.execute_run(runs.create_run(config).id)
    assert run.state == "finished", run.message
    images = np.asarray(datasets.load_dataset("three_colors").test_images)
    kept = runs.read_run_predictions(run.id, 1)
    with start_server(run) as server:
        about = server.ask("/").json
        assert about["class_names"] == list(COLORS)
        assert about["image_shape"] == [20, 16, 3]
        assert about["noun"] == "fruit"
        assert about["sets"]["calibrated_on"] == "validation"
        digits = server.predict(images, "?members=true")["digits"]
        members = np.array([digit["members"] for digit in digits]).transpose(1, 0, 2)
        assert np.abs(members - kept).max() < 1e-5
        assert {digit["name"] for digit in digits} <= set(COLORS)
        first = np.moveaxis(images[:1], 3, 1)
        moved = server.predict(first, "?rejection=false")
        assert moved["digits"][0]["label"] == digits[0]["label"]
        assert "channels before height and width" in moved["notes"][0]
        file = io.BytesIO()
        Image.fromarray(images[0]).resize((160, 200)).save(file, "JPEG")
        answer = server.ask("/predict", file.getvalue(), "image/jpeg").json
        assert [digit["label"] for digit in answer["digits"]] == [digits[0]["label"]]
        assert answer["text"] in (digits[0]["name"], "?")
