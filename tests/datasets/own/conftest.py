"""Made-up pictures: folders of classes, drawn by a seed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from ensemble.datasets.own import dataset_builder, source_lookup
from ensemble.datasets.own.report import PreparationReport
from ensemble.datasets.own.request import DatasetNaming, PreparationSettings

Draw = Callable[..., Path]


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty data folder, which ENSEMBLE_DATA names."""
    path = tmp_path / "data folder"
    monkeypatch.setenv("ENSEMBLE_DATA", str(path))
    return path


@pytest.fixture
def draw(tmp_path: Path) -> Draw:
    """Draws PNGs into a folder of folders: `draw({"cat": 3}, "train")` three, each of its own."""
    rng = np.random.default_rng(0)

    def made(classes: dict[str, int], within: str = "", shape: tuple[int, ...] = (9, 7, 3)) -> Path:
        root = tmp_path / "pictures"
        for name, many in classes.items():
            folder = root / within / name
            folder.mkdir(parents=True, exist_ok=True)
            for number in range(many):
                pixels = rng.integers(0, 256, shape, np.uint8)
                Image.fromarray(pixels).save(folder / f"{number:03}.png")
        return root

    return made


@pytest.fixture
def add() -> Callable[..., PreparationReport]:
    """Adds a source under a name: `add(path, "pets", size=16)`."""

    def added(path: Path | str, name: str = "pets", noun: str = "image", **how: Any) -> PreparationReport:
        preparation = PreparationSettings(**how)
        source = source_lookup.open_picture_source(
            str(path), preparation.seed, preparation.class_pattern, preparation.labels_as, preparation.masks
        )
        return dataset_builder.add_custom_dataset(source, preparation, DatasetNaming(name, noun=noun))

    return added
