"""Images of one's own, from a .zip in the browser to a dataset that Train offers."""

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

from ensemble import datasets
from ensemble.datasets import registry
from ensemble.datasets.own import staging
from tests.browser.conftest import App

NAME = "leaves_of_two_trees"


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[Path]:
    """A packed folder of 12×12 colour images, a third of them to test with."""
    random, path = np.random.default_rng(0), tmp_path / "Leaves of two trees.zip"
    with zipfile.ZipFile(path, "w") as packed:
        for split, each in (("train", 8), ("test", 4)):
            for name in ("maple", "oak"):
                for number in range(each):
                    file = io.BytesIO()
                    image = random.integers(0, 256, (12, 12, 3), np.uint8)
                    Image.fromarray(image).save(file, "PNG")
                    packed.writestr(f"leaves/{split}/{name}/{number}.png", file.getvalue())
    yield path
    if NAME in registry.names():
        staging.remove(NAME)


def test_a_packed_folder_is_looked_at_added_and_offered_on_train(app: App, archive: Path) -> None:
    app.open("data")
    app.page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(archive)
    expect(app.page.get_by_text("24 images of 2 classes, 12×12 colour")).to_be_visible()
    sheet = app.page.get_by_alt_text("Examples of maple")
    assert sheet.evaluate("one => one.complete && one.naturalWidth") > 5 * 12
    app.page.get_by_role("textbox", name="One is called").fill("leaf")
    app.page.get_by_role("button", name="Add 24 images").click()
    expect(app.page.get_by_text("Leaves of two trees is added")).to_be_visible()
    made = datasets.load(NAME)
    assert (len(made.train_images), len(made.test_images), made.noun) == (16, 8, "leaf")
    app.settle()
    app.page.get_by_role("button", name="Train on it").click()
    expect(app.page).to_have_url(f"{app.server.url}/train")
    # Of 16 images the usual batch of 128 cannot be made: a smaller one is chosen.
    expect(app.page.get_by_role("button", name="Launch 4 members").first).to_be_enabled()
    chosen = app.page.get_by_role("combobox", name="Dataset")
    expect(chosen).to_have_value("Leaves of two trees · 16 images")
