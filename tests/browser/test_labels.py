"""Labels that were flipped are found by the members and corrected with keys."""

import shutil
from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

from ensemble import datasets, runs
from ensemble.config import EnsembleConfig
from ensemble.datasets.decisions import decision_log, decision_table, relabeling
from ensemble.datasets.own import custom_registry, staging
from tests.browser.conftest import App

FLIPS = (3, 50, 77, 120, 201, 333, 404, 499)  # test digits
PHONE = {"width": 400, "height": 800}


@pytest.fixture
def scribbles() -> Iterator[datasets.Dataset]:
    """Digits some of whose test labels are those of the next class."""
    digits = datasets.load_dataset("digits")
    changes = decision_table.LabelChanges()
    changes.new_labels["test"] = {n: int(digits.test_labels[n] + 1) % 10 for n in FLIPS}
    relabeling.relabel_dataset(digits, changes, "scribbles")
    yield datasets.load_dataset("scribbles")
    for name in custom_registry.list_custom_datasets():
        if name.startswith("scribbles"):
            staging.remove_custom_dataset(name)
    shutil.rmtree(decision_log.decisions_folder(), ignore_errors=True)


def find_image(app: App) -> Locator:
    return app.page.locator(".st-key-labels_image img")


def read_number(app: App) -> int:
    return int(str(find_image(app).get_attribute("alt")).removeprefix("Test digit "))


@pytest.mark.long
def test_flipped_test_labels_are_corrected_with_keys_in_a_new_version(app: App, scribbles: datasets.Dataset) -> None:
    truth = datasets.load_dataset("digits").test_labels
    config = EnsembleConfig(dataset="scribbles", network="mlp", members=3, epochs=6, batch_size=64, learning_rate=0.1)
    run = runs.execute_run(runs.create_run(config).id)
    app.open("inspect", run=run.id, view="uncertainty", picture="labels")
    app.page.get_by_role("link", name="Go through them one by one").click()
    expect(find_image(app)).to_be_visible()
    app.settle()
    first = read_number(app)
    app.page.keyboard.press("x")
    expect(find_image(app)).not_to_have_attribute("alt", f"Test digit {first}")
    app.settle()
    app.page.keyboard.press("z")
    expect(find_image(app)).to_have_attribute("alt", f"Test digit {first}")
    app.settle()
    mended = set()
    while find_image(app).count():
        number = read_number(app)
        if truth[number] == scribbles.test_labels[number]:
            app.page.keyboard.press("k")
        else:
            app.page.keyboard.press(str(truth[number]))
            mended.add(number)
        expect(app.page.locator(f".st-key-labels_keep_{number}")).to_have_count(0)
        app.settle()
    assert len(mended) >= len(FLIPS) - 2, "the members need not know every digit"
    assert mended <= set(FLIPS)
    app.page.reload()
    expect(app.page.get_by_text("Every label in doubt is decided")).to_be_visible()
    app.settle()
    app.page.get_by_role("button", name="Make a new version").click()
    expect(app.page.get_by_text("Only test images changed.")).to_be_visible()
    made = datasets.load_dataset("scribbles_2").test_labels
    assert set(np.flatnonzero(made != truth)) == set(FLIPS) - mended
    app.page.set_viewport_size(PHONE)
    app.settle()
    wide = app.page.evaluate("document.documentElement.scrollWidth")
    assert wide <= PHONE["width"], "nothing has to be pushed aside to be read"
