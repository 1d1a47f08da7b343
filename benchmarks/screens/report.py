"""A report of 10 members on MNIST: python -m benchmarks.screens.report

The run is as a worker leaves it, of drawn numbers, with 5 epochs. Its size; the seconds of the
whole command, Python's start and all imports in it; in Chromium from file:// the seconds until it
can be read, until the first picture stands and until all do, the processor seconds of its process
until then, and what it asked of the network.
"""

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Browser, sync_playwright

from benchmarks import common
from benchmarks.screens import compare
from tests.browser.conftest import FLAGS
from tests.browser.find import find_browser

MEMBERS, EPOCHS, ROUNDS = 10, 5, 3
PATIENCE = 200_000.0  # ms, on a machine that has much else to do
# Seconds since the page was asked for, when the first picture stands.
FIRST = "new Promise(done => { const look = () => document.querySelector('.plot[data-drawn] svg') \
? done(performance.now() / 1000) : setTimeout(look, 5); look() })"


def written(run_id: str, path: Path) -> dict[str, Any]:
    """The seconds of the command and the size of its file."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "ensemble", "report", run_id, "--out", str(path), "--force"]
    subprocess.run(command, check=True, capture_output=True)
    took = time.perf_counter() - began
    children = os.times()
    return {
        "seconds": round(took, 2),
        "mb": round(path.stat().st_size / 1e6, 3),
        "processor_s": round(children.children_user + children.children_system, 2),
    }


def opened(browser: Browser, path: Path) -> dict[str, Any]:
    """The seconds of opening the file in a new tab, and the addresses that were asked for."""
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    addresses: list[str] = []
    page.on("request", lambda request: addresses.append(request.url))
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    page.goto(path.as_uri(), wait_until="commit")
    first = page.evaluate(FIRST)
    page.wait_for_selector("html[data-state=drawn]", timeout=PATIENCE)
    drawn = page.evaluate("performance.now() / 1000")
    read = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime / 1000")
    spent = {metric["name"]: metric["value"] for metric in session.send("Performance.getMetrics")["metrics"]}
    page.context.close()
    return {
        "read": read,
        "first": first,
        "drawn": drawn,
        "processor_s": spent["ProcessTime"],
        "requests": len(addresses) - 1,
    }


def main() -> None:
    folder = common.isolated_folders()
    from ensemble import datasets

    compare.MEMBERS, compare.EPOCHS = MEMBERS, EPOCHS
    run_id = compare.write_run(0, np.asarray(datasets.load_dataset("mnist").test_labels))
    path = folder / "report.html"
    report_figures = written(run_id, path)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=FLAGS)
        each = [opened(browser, path) for _ in range(ROUNDS)]
        browser.close()
    medians = {name: round(statistics.median(opening[name] for opening in each), 3) for name in each[0]}
    common.keep("report", {"written": report_figures, "opened": medians})


if __name__ == "__main__":
    main()
