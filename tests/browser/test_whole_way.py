"""Images and a network of one's own in the browser: a .zip is added, learnt, looked at and asked;
a forest's predictions of the same images stand beside. Nothing on the way speaks of digits."""

import io
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

from ensemble import datasets, runs
from ensemble.datasets import Dataset
from tests import whole_way
from tests.browser.conftest import OWN_DATASET, OWN_NETWORK, App
from tests.test_whole_way import forests

PATIENCE = 120_000  # ms: compiling on a loaded machine


@pytest.mark.long
def test_images_and_a_network_of_ones_own_go_the_whole_way(app: App, archive: Path) -> None:
    added(app, archive)
    run = trained(app)
    data = datasets.load_dataset(OWN_DATASET)
    predicted(app)
    asked(app, run, archive.parent / "fruit/test/lime/003.png")
    compared(app, run, imported(app, data))


def added(app: App, archive: Path) -> None:
    """The upload is looked at before it is a dataset."""
    app.open("data")
    app.page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(archive)
    expect(app.page.get_by_text("144 images of 4 classes, 16×16 colour")).to_be_visible()
    sheet = app.page.get_by_alt_text("Examples of lime")
    assert sheet.evaluate("one => one.complete && one.naturalWidth") > 5 * whole_way.SIDE
    app.page.get_by_role("textbox", name="One is called").fill("fruit")
    app.page.get_by_role("button", name="Add 144 images").click()
    expect(app.page.get_by_text("Bowl of fruit is added")).to_be_visible()
    made = datasets.load_dataset(OWN_DATASET)
    assert (len(made.train_images), len(made.test_images), made.noun) == (96, 48, "fruit")
    app.settle()
    app.page.get_by_role("button", name="Train on it").click()


def trained(app: App) -> runs.Run:
    """The network is chosen and learns; the run, once it has ended."""
    page = app.page
    expect(page).to_have_url(f"{app.server.url}/train")
    chosen = page.get_by_role("combobox", name="Dataset")
    expect(chosen).to_have_value("Bowl of fruit · 96 images")
    page.get_by_role("combobox", name="Network").click()
    page.get_by_role("option", name=OWN_NETWORK.partition(":")[2]).click()
    # Of 96 images the usual batch of 128 cannot be made: a smaller one was chosen.
    launch = page.get_by_role("button", name="Launch 4 members").first
    expect(launch).to_be_enabled()
    app.settle()
    launch.click()
    page.wait_for_url(re.compile(f"run={OWN_DATASET}-"))
    finished = page.get_by_test_id("stMain").get_by_text("finished", exact=False).first
    expect(finished).to_be_visible(timeout=PATIENCE)
    run = runs.find_run(page.url.split("run=")[1])
    assert (run.state, run.config.network) == ("finished", OWN_NETWORK)
    unlike_digits(app)
    return run


def predicted(app: App) -> None:
    """Its predictions show the pictures in their colours."""
    app.page.get_by_role("link", name="See its predictions").click()
    tile = app.page.locator(".digits button").first
    expect(tile).to_be_visible()
    app.rest()
    seen = np.asarray(Image.open(io.BytesIO(tile.screenshot())).convert("RGB")).astype(int)
    assert np.ptp(seen, axis=-1).max() > 60
    unlike_digits(app)


def asked(app: App, run: runs.Run, picture: Path) -> None:
    """Classify names a picture's class."""
    app.page.get_by_role("link", name="Classify", exact=True).click()
    app.page.wait_for_url(re.compile(rf"classify\?(.*&)?run={run.id}"))
    app.settle()
    app.page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(picture)
    answer = app.page.locator(".answer .digit")
    expect(answer).to_have_count(1, timeout=PATIENCE)
    expect(answer).to_have_text(re.compile("|".join([*whole_way.CLASSES, r"\?"])))
    app.rest()
    unlike_digits(app)


def imported(app: App, data: Dataset) -> runs.Run:
    """What a forest says of the same images is handed in on Runs, and becomes a run."""
    app.page.get_by_role("link", name="Runs", exact=True).click()
    app.page.wait_for_url(re.compile("/runs"))
    app.settle()
    app.page.get_by_role("button", name="Import…").click()
    said, held = forests(data.test_images), io.BytesIO()
    np.savez(held, probabilities=said, labels=data.test_labels, images=data.test_images, class_names=data.class_names)
    dialog = app.page.get_by_test_id("stDialog")
    file = {"name": "a.npz", "mimeType": "", "buffer": held.getvalue()}
    dialog.get_by_test_id("stFileUploaderDropzoneInput").set_input_files([file])
    expect(dialog.get_by_text("4 members · 48 examples · 4 classes · with images")).to_be_visible()
    dialog.get_by_role("textbox", name="Name").fill("forest")
    dialog.get_by_role("button", name="Keep it as a run").click()
    app.page.wait_for_url(re.compile(r"inspect\?run=imported-"))
    app.rest()
    unlike_digits(app)
    return runs.find_run(app.page.url.split("run=")[1].split("&")[0])


def compared(app: App, run: runs.Run, forest: runs.Run) -> None:
    """Inspect opens the two side by side."""
    app.open("inspect", run=run.id, view="compare", **{"with": forest.id})
    expect(app.page.get_by_role("combobox", name="Compare with")).to_be_visible()
    expect(app.page.get_by_role("heading", name="forest")).to_be_visible()
    unlike_digits(app)


def unlike_digits(app: App) -> None:
    main = app.page.get_by_test_id("stMain").inner_text()
    assert re.findall(r".*(?:digit|28×28).*", main, re.IGNORECASE) == []
