"""The server killed and begun anew under a page that is watched: its buttons do what they say."""

import random
import time

from playwright.sync_api import Error, Page, sync_playwright

from benchmarks.soak.place import Place, end_workers, put
from benchmarks.soak.rows import LostError, Row, expect
from ensemble import runs
from ensemble.config import EnsembleConfig
from tests.browser import serving
from tests.browser.conftest import AT_REST, FLAGS
from tests.browser.find import NoBrowserError, find_browser

PATIENCE = 60_000  # ms
EPOCHS = 1000  # more than are trained before Stop is pressed


def restarts(place: Place, rng: random.Random, count: int) -> list[Row]:
    """So many restarts of a server whose tab shows a run that trains.

    Args:
      place: where.
      rng: draws how long each server lives.
      count: how many.
    """
    row = Row("restarts of the server under a watched page")
    try:
        browser_path = find_browser()
    except NoBrowserError as error:
        row.skipped = str(error)
        return [row]
    with place.part("restarts") as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=FLAGS)
        page = browser.new_context().new_page()
        server = serving.start(folder, serving.OF_THE_CLONE, serving.REPO)
        put("ENSEMBLE_RUNS", str(server.runs))
        try:
            serving.wait_until_healthy(server)
            run = runs.launch_run(EnsembleConfig(network="mlp", members=2, epochs=EPOCHS))
            page.goto(f"{server.url}/train?run={run.id}")
            for _ in range(count):
                time.sleep(rng.uniform(0, 2))
                server = serving.restart(server)
                with row.attempt(run.id):
                    press_stop_and_resume(page, run.id)
        finally:
            server.process.kill()
            end_workers(server.runs)
            browser.close()
    return [row]


def press_stop_and_resume(page: Page, run_id: str) -> None:
    """Once the page has found its server again: press Stop and Resume, and see what they do."""
    try:
        page.wait_for_selector(AT_REST, timeout=PATIENCE)
        press(page, "Stop")
        page.get_by_role("button", name="Resume").wait_for(timeout=PATIENCE)
        stopped = runs.find_run(run_id)
        expect(stopped.state == "stopped", f"after Stop the run is {stopped.state}")
        press(page, "Resume")
        page.get_by_role("button", name="Stop", exact=True).first.wait_for(timeout=PATIENCE)
    except Error as error:
        status = runs.find_run(run_id).status
        found = f"the run is {status.state}: {status.message or 'no message'}"
        raise LostError(f"{error.message.splitlines()[0]} {found}") from error


def press(page: Page, name: str) -> None:
    """Press the run's button of that name."""
    main = page.get_by_test_id("stMainBlockContainer")
    main.get_by_role("button", name=name, exact=True).click(timeout=PATIENCE)
