"""What a person comes for, with as few presses as it may take: each press is counted."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

from ensemble import runs, sweeps
from tests.browser.conftest import OWN_DATASET, App, Server, clear_runs
from tests.browser.test_classify import ONE, draw
from tests.pages.ensembles import trained
from tests.pages.members import askable

FIVE = {"members": "2", "learning_rate": "0.05", "momentum": "0.8", "epochs": "1", "batch_size": "64"}


@dataclass
class Tour:
    """A person at work.

    Attributes:
      app: what they use.
      presses: what was pressed, typed into or chosen, one after the other.
    """

    app: App
    presses: list[str] = field(default_factory=list)

    def press(self, what: Locator, name: str) -> None:
        """One press, and what comes of it."""
        self.presses.append(name)
        what.click()
        self.app.settle()

    def type(self, name: str, text: str) -> None:
        """A number typed into one of the five."""
        self.presses.append(name)
        box = self.app.page.locator(f"#field-{name}")
        box.fill(text)
        box.press("Enter")
        self.app.settle()


@pytest.fixture
def tour(app: App, server: Server) -> Iterator[Tour]:
    yield Tour(app)
    clear_runs(server)


def launch_button(tour: Tour) -> Locator:
    return tour.app.page.locator(".st-key-launch button")


def test_a_first_ensemble_takes_one_press(tour: Tour) -> None:
    tour.app.open("train")
    tour.press(tour.app.page.locator(".st-key-first_launch button"), "launch")
    assert len(tour.presses) == 1
    [run] = runs.list_runs()
    assert run.config.members == 4


@pytest.mark.long
def test_five_settings_and_launch_take_six(tour: Tour) -> None:
    trained(members=2)
    tour.app.open("train")
    for name, text in FIVE.items():
        tour.type(name, text)
    expect(launch_button(tour)).to_contain_text("Launch 2 members on")
    tour.press(launch_button(tour), "launch")
    assert len(tour.presses) <= 7
    config = runs.list_runs()[0].training_config
    assert config
    assert {name: float(getattr(config, name)) for name in FIVE} == {name: float(text) for name, text in FIVE.items()}


@pytest.mark.long
def test_three_rates_with_three_seeds_each_are_compared_in_eight(tour: Tour) -> None:
    trained(members=2)  # the settings of a first visit would be five runs' worth of waiting
    tour.app.open("train")
    page = tour.app.page
    tour.press(page.locator(".st-key-launch_seeds").get_by_text("3", exact=True), "3 seeds")
    for rate in ("0.1", "0.05", "0.02"):
        if rate != "0.1":
            tour.type("learning_rate", rate)
        expect(launch_button(tour)).to_contain_text("× 3 seeds on")
        tour.press(launch_button(tour), f"launch {rate}")
    tour.press(page.get_by_test_id("stTopNavLink").filter(has_text="Compare"), "Compare")
    tour.press(page.get_by_role("button", name="Compare the newest 10 runs"), "newest")
    assert len(tour.presses) <= 8, tour.presses
    configs = [run.training_config for run in runs.list_runs()]
    pairs = {(config.learning_rate, config.seed) for config in configs if config}
    assert len(pairs) == 9
    expect(page.get_by_role("heading", name="10 runs")).to_be_visible()


@pytest.mark.long
def test_a_report_takes_one_press(tour: Tour) -> None:
    run = trained(members=2)
    tour.app.open("train", run=run.id)
    with tour.app.page.expect_download() as saved:
        tour.press(tour.app.page.get_by_role("button", name="Save report"), "save")
    assert len(tour.presses) == 1
    assert saved.value.suggested_filename.endswith(".html")


@pytest.mark.long
def test_imported_logits_lead_to_calibration_in_three(tour: Tour) -> None:
    logits = np.random.default_rng(0).normal(size=(2, 60, 3)).astype(np.float32)
    labels = np.arange(60) % 3
    path = tour.app.server.runs.parent / "logits.npz"
    np.savez(path, logits=logits, labels=labels)
    tour.app.open("runs")
    page = tour.app.page
    opener = page.get_by_role("button", name="Import")
    tour.press(opener, "import")
    page.locator("[data-testid=stDialog] input[type=file]").set_input_files(path)
    tour.presses.append("file")
    tour.app.settle()
    tour.press(page.get_by_test_id("stDialog").get_by_text("Keep it as a run"), "keep")
    page.wait_for_url("**/inspect?**view=calibration**")
    tour.app.rest()
    assert len(tour.presses) <= 3
    expect(page.get_by_role("radio", name="Calibration")).to_be_checked()


@pytest.mark.long
def test_own_images_in_a_zip_are_trained_on_in_four(tour: Tour, archive: Path) -> None:
    page = tour.app.page
    tour.app.open("data")
    page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(archive)
    tour.presses.append("file")
    add = page.get_by_role("button", name="Add 144 images")
    add.wait_for()
    tour.press(add, "add")
    train = page.get_by_role("button", name="Train on it")
    train.wait_for()
    tour.press(train, "train on it")
    launch = launch_button(tour)
    expect(launch).to_contain_text("Launch 4 members on")
    tour.press(launch, "launch")
    assert len(tour.presses) <= 4
    [run] = runs.list_runs()
    assert run.config.dataset == OWN_DATASET


def test_a_drawing_is_read_in_three(tour: Tour) -> None:
    made = askable(members=2, epochs=1, network="logistic")
    tour.app.open("train", run=made.id)
    page = tour.app.page
    tour.press(page.get_by_test_id("stTopNavLink").filter(has_text="Classify"), "Classify")
    tour.press(page.get_by_test_id("stMain").get_by_text("Draw", exact=True), "Draw")
    draw(page, ONE)
    tour.presses.append("a stroke")
    expect(page.locator("#try-answer")).to_contain_text(" with ")
    assert len(tour.presses) <= 3


def test_why_members_disagree_is_told_in_two(tour: Tour) -> None:
    tour.app.open("train", run=trained(members=3).id)
    page = tour.app.page
    tour.press(page.get_by_test_id("stTopNavLink").filter(has_text="Why"), "Why")
    tour.press(page.get_by_role("button", name="Show the votes"), "votes")
    assert len(tour.presses) <= 2
    expect(page.get_by_text("member 3: ", exact=False)).to_be_visible()


@pytest.mark.long
def test_a_search_for_the_best_rate_takes_two(tour: Tour) -> None:
    tour.app.open("train", run=trained(members=2).id)
    page = tour.app.page
    tour.press(page.get_by_test_id("stTopNavLink").filter(has_text="Tune"), "Tune")
    tour.press(page.locator(".st-key-tune_quick button"), "try")
    assert len(tour.presses) <= 2
    page.wait_for_url("**/tune?sweep=sweep-*")
    [sweep] = sweeps.list_sweeps()
    assert sweep.config.trials == 8
