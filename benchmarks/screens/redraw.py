"""Seconds from choosing another epoch of Inspect to its picture, in a real browser.

A part of `benchmarks.screens.inspect`. Each epoch is one that nobody has looked at yet: its file is
read, all that the view shows of it is measured, and the picture drawn anew.
"""

import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Page, sync_playwright

from benchmarks.screens.server import settle

VIEWS = ("agreement", "uncertainty", "calibration", "committee", "combining", "selective")
EPOCHS = 6
PAUSE_MS = 1_000  # between two choices: as a person who looks
DRAWN = (
    "epoch => [...document.querySelectorAll('.gtitle-subtitle')]"
    ".some(one => one.textContent.endsWith(`epoch ${epoch}`))"
)


def write_run(probabilities: Any, members: int) -> str:
    """The id of a finished run with predictions of `EPOCHS` epochs, each another draw."""
    from dataclasses import replace

    from ensemble import datasets, runs
    from ensemble.config import EnsembleConfig
    from ensemble.jobs.status import write_status
    from ensemble.runs.history import write_predictions

    run = runs.create_run(EnsembleConfig(dataset="mnist", members=members, epochs=EPOCHS))
    labels = np.asarray(datasets.load_dataset("mnist").test_labels)
    for epoch in range(1, EPOCHS + 1):
        write_predictions(run.path, epoch, probabilities(labels, members, seed=epoch))
    write_status(run.path, replace(run.status, state="finished", epoch=EPOCHS))
    return run.id


def measure(folder: Path, probabilities: Any, members: int) -> dict[str, Any]:
    """Medians and all times of every view, until its picture and until the script has ended."""
    from tests.browser.conftest import FLAGS
    from tests.browser.find import find_browser
    from tests.browser.serving import serving

    with serving(folder) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=FLAGS)
        page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        view_times = {
            view: of_view(page, f"{server.url}/inspect", write_run(probabilities, members), view) for view in VIEWS
        }
        browser.close()
    return {
        f"{part}_s{suffix}": {view: summary(times[part]) for view, times in view_times.items()}
        for part in ("picture", "all")
        for suffix, summary in (
            ("_median", lambda ts: round(statistics.median(ts), 2)),
            ("", lambda ts: [round(t, 2) for t in ts]),
        )
    }


def of_view(page: Page, url: str, run_id: str, view: str) -> dict[str, list[float]]:
    """Seconds to the picture, and to the end of the script, of each epoch before the last."""
    page.goto(f"{url}?run={run_id}&view={view}")
    page.wait_for_function(DRAWN, arg=EPOCHS, timeout=60_000)
    times: dict[str, list[float]] = {"picture": [], "all": []}
    for epoch in range(EPOCHS - 1, 0, -1):
        settle(page)
        page.wait_for_timeout(PAUSE_MS)
        began = time.perf_counter()
        page.get_by_role("slider", name="Epoch").press("ArrowLeft")
        page.wait_for_function(DRAWN, arg=epoch, timeout=60_000)
        times["picture"].append(time.perf_counter() - began)
        settle(page)
        times["all"].append(time.perf_counter() - began)
    return times
