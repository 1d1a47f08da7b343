"""Waiting times in a real browser: python -m benchmarks.screens

Launch to the first point on the chart (launches.py); switching pages with a run of 10 members
open; opening pages with 1,000 runs on disk, and ticking a row of them; a history of 1,000 epochs,
read and drawn. Times are from the click, or from asking for the address, until the thing can be
seen. Parts alone:
python -m benchmarks.screens launches switches lists
"""

import json
import shutil
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import Page

from benchmarks import common
from benchmarks.screens import launches
from benchmarks.screens.long_run import copies, write_run
from benchmarks.screens.server import opened, settle
from ensemble import regression

RUNS, ROUNDS = 1_000, 5
SECONDS_TO_SETTLE = 10
HEADER_PX, ROW_PX = 36, 35  # of a table
PICTURE = ".js-plotly-plot .main-svg"
# What says that a page shows its run: in the order in which they are visited.
SIGNS = {
    "Train": ".curves path",
    "Predictions": "[data-testid=stImage] img, canvas, .digits, .grid",
    "Inspect": PICTURE,
    "Classify": "[data-testid=stFileUploader]",
    "Runs": "[data-testid=stDataFrame]",
}


def of_launches(folder: Path) -> dict[str, Any]:
    """Launch to the first line in the history, and to the first point in a browser."""
    written = [launches.to_first_line(seed) for seed in range(3)]
    return {
        "launch_to_first_line_s": {"nothing_cached": written[0], "after_that": written[1:]},
        "launch_to_first_point_s": launches.measure(folder),
    }


def of_switches(folder: Path) -> dict[str, Any]:
    """From page to page by the menu, with a run of 10 members open."""
    run_id = write_run(10, 10, range(1, 11))
    with opened(folder) as (page, url):
        page.goto(f"{url}/train?{urlencode({'run': run_id})}")
        page.locator(SIGNS["Train"]).first.wait_for(state="visible", timeout=60_000)
        settle(page)
        time.sleep(SECONDS_TO_SETTLE)  # A new server gets a worker ready, once.
        first = {name: switch(page, name) for name in (*list(SIGNS)[1:], "Train")}
        time.sleep(SECONDS_TO_SETTLE)  # Classify has its members opened, once, behind the pages.
        rounds = [{name: switch(page, name) for name in first} for _ in range(ROUNDS)]
    times = {name: [timings[name] for timings in rounds] for name in first}
    return {"page_switch_members_10_s": {"first": first, **summary(times)}}


def switch(page: Page, name: str) -> float:
    """Seconds from a click in the menu until the page shows its run."""
    settle(page)
    page.wait_for_timeout(300)
    link = page.get_by_test_id("stTopNavLink").filter(has_text=name).first
    began = time.perf_counter()
    link.click()
    page.wait_for_url(lambda now: f"/{name.lower()}" in now)
    page.locator(SIGNS[name]).first.wait_for(state="visible", timeout=60_000)
    settle(page)
    return round(time.perf_counter() - began, 2)


def of_lists(folder: Path) -> dict[str, Any]:
    """1,000 runs on disk, and one of 1,000 epochs: in this process, and in the browser."""
    from ensemble import runs
    from ensemble.storage.records.jsonl_tail import JsonlTail
    from ensemble.ui.train import history

    run_id = write_run(10, 1_000, ())
    path = runs.find_run(run_id).path / "history.jsonl"
    rows = runs.read_history(run_id)
    tail = JsonlTail(path)
    history_figures = {
        "history_lines": len(rows),
        "history_bytes": path.stat().st_size,
        "read_s": timed(lambda: runs.read_history(run_id)),
        "follow_first_s": timed(tail.read_lines),
        "follow_again_s": timed(tail.read_lines),
        "curves_s": timed(
            lambda: [
                history.thin_curve(curve, 400)
                for figure in history.METRICS
                for curve in history.build_metric_curves(rows, figure)
            ]
        ),
    }
    copies(run_id, RUNS)
    lists = {
        "runs": RUNS,
        "list_first_s": timed(runs.list_runs),
        "list_again_s": timed(runs.list_runs),
        "list_solves_again_s": timed(lambda: regression.list_regressions() and None),
    }
    with opened(folder) as (page, url):
        page.goto(f"{url}/train")
        time.sleep(SECONDS_TO_SETTLE)
        times = {
            "train": opening(page, url, "train", ".st-key-launch button"),
            "train_1000_epochs": opening(page, url, "train", ".curves path", run=run_id),
            "runs": opening(page, url, "runs", "[data-testid=stDataFrame]"),
            "runs_a_row_ticked": ticking(page, url),
        }
    return {
        "history_1000_epochs_members_10": history_figures,
        "list_of_runs": lists,
        "opening_with_1000_runs_s": summary(times),
    }


def opening(page: Page, url: str, path: str, sign: str, **query: str) -> list[float]:
    """Seconds from asking for a page to seeing `sign` on it, in a warm browser."""
    seconds = []
    for _ in range(ROUNDS):
        page.goto("about:blank")
        began = time.perf_counter()
        page.goto(f"{url}/{path}" + (f"?{urlencode(query)}" if query else ""))
        page.locator(sign).first.wait_for(state="visible", timeout=60_000)
        settle(page)
        seconds.append(round(time.perf_counter() - began, 2))
    return seconds


def ticking(page: Page, url: str) -> list[float]:
    """Seconds from a press on the box in front of a row of Runs until all is drawn."""
    page.goto(f"{url}/runs")
    table = page.get_by_test_id("stDataFrame")
    table.wait_for(state="visible", timeout=60_000)
    settle(page)
    page.wait_for_timeout(1_000)
    seconds = []
    for row in range(ROUNDS):
        box, address = table.bounding_box(), page.url
        assert box
        began = time.perf_counter()
        page.mouse.click(box["x"] + 16, box["y"] + HEADER_PX + ROW_PX * (row + 0.5))
        page.wait_for_function("before => location.href != before", arg=address)
        settle(page)
        seconds.append(round(time.perf_counter() - began, 2))
        page.wait_for_timeout(500)
    return seconds


def timed(work: Callable[[], Any]) -> float:
    """Seconds that it takes, once."""
    began = time.perf_counter()
    work()
    return round(time.perf_counter() - began, 4)


def summary(times: dict[str, list[float]]) -> dict[str, Any]:
    """The median of each, and all."""
    medians = {name: round(statistics.median(values), 2) for name, values in times.items()}
    return {"median": medians, "all": times}


PARTS = {"launches": of_launches, "switches": of_switches, "lists": of_lists}


def main(parts: list[str]) -> None:
    kept = common.RESULTS / "screens.json"
    before = json.loads(kept.read_text()) if parts and kept.exists() else {}
    figures: dict[str, Any] = {name: value for name, value in before.items() if name != "machine"}
    folder = common.isolated_folders()
    for part in parts or PARTS:
        shutil.rmtree(folder / "runs", ignore_errors=True)
        figures |= PARTS[part](folder)
        common.keep("screens", figures)  # After each: the later parts take minutes.
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1:])
