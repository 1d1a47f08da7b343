"""Waiting times in a real browser: python -m benchmarks.screens

Launch to the first point on the chart, with nothing compiled before and after that, pressed at
once and after a look at the page; and
opening Train, Runs and Predictions with 200 runs on disk. Times are from the click, or
from asking for the address, until the thing can be seen.
"""

import shutil
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import Page, sync_playwright

from benchmarks import common

RUNS, ROUNDS = 200, 7
# Seconds that the page stands before Launch is pressed: at once, and as a person takes who
# reads it. The server gets a worker ready meanwhile.
LOOKS = (0, 8)
SECONDS_TO_SETTLE = 10


def launch_to_first_point(page: Page, url: str, look: float) -> float:
    """Seconds from Launch, with the settings as they are, to a curve on the chart.

    Args:
      page: the browser's.
      url: the server's.
      look: seconds for which the page stands before Launch is pressed.
    """
    page.goto(f"{url}/train")
    settle(page)
    time.sleep(look)
    from ensemble import runs

    before = {run.id for run in runs.list_runs()}
    began = time.perf_counter()
    page.locator(".st-key-launch button").first.click()
    page.wait_for_url(lambda now: "run=" in now and now.split("run=")[1] not in before)
    page.locator(".curves").first.wait_for(state="detached")  # The run before this one's.
    page.locator(".curves path").first.wait_for(state="attached", timeout=120_000)
    seconds = time.perf_counter() - began
    page.get_by_role("button", name="Stop").first.click()
    return seconds


def launches(page: Page, url: str, folder: Path, look: float) -> dict[str, Any]:
    """Launch with nothing compiled before, then three times more."""
    shutil.rmtree(folder / "data" / "compiled", ignore_errors=True)
    seconds = []
    for _ in range(4):
        seconds.append(round(launch_to_first_point(page, url, look), 2))
        wait_for_end_of()
    return {"nothing_cached": seconds[0], "after_that": seconds[1:]}


def launch_to_first_line(seed: int) -> float:
    """Seconds from `runs.launch` to a line in the run's history: the worker's share, no browser."""
    from ensemble import runs
    from ensemble.config import EnsembleConfig

    began = time.perf_counter()
    run = runs.launch(EnsembleConfig(seed=seed))
    while not runs.read_history(run.id):
        time.sleep(0.02)
    seconds = time.perf_counter() - began
    runs.request_stop(run.id)
    wait_for_end_of()
    return seconds


def opening(page: Page, url: str, path: str, sign: str, **query: str) -> list[float]:
    """Seconds from asking for a page to seeing `sign` on it, in a warm browser."""
    seconds = []
    for _ in range(ROUNDS):
        page.goto("about:blank")
        began = time.perf_counter()
        page.goto(f"{url}/{path}" + (f"?{urlencode(query)}" if query else ""))
        page.locator(sign).first.wait_for(state="visible", timeout=60_000)
        settle(page)
        seconds.append(time.perf_counter() - began)
    return seconds


def settle(page: Page) -> None:
    """Wait until the script has run to its end."""
    page.wait_for_selector(
        '[data-testid="stApp"][data-test-script-state="notRunning"]', timeout=60_000
    )


def wait_for_end_of() -> str:
    """The id of the newest run, when it is no longer active."""
    from ensemble import runs

    while any(run.active for run in runs.list_runs()):
        time.sleep(0.2)
    return runs.list_runs()[0].id


@contextmanager
def opened(folder: Path) -> Iterator[tuple[Page, str]]:
    """A new server and a new browser: the page, and the server's address."""
    from tests.browser import conftest as app
    from tests.browser.find import find_browser

    server = app.start(common.ROOT / "app.py", folder)
    try:
        app.wait_until_healthy(server)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=find_browser(), args=app.FLAGS)
            yield (
                browser.new_context(viewport={"width": 1280, "height": 900}).new_page(),
                server.url,
            )
            browser.close()
    finally:
        app.stop_everything_with(server)


def many_runs() -> str:
    """One run that has been trained, and as many copies as make 200; its id."""
    from ensemble import runs
    from ensemble.config import EnsembleConfig

    whole = runs.launch(EnsembleConfig(members=4, epochs=3))
    wait_for_end_of()
    for number in range(RUNS - len(runs.list_runs())):
        shutil.copytree(whole.path, whole.path.with_name(f"digits-0101-{number:06d}"))
    return whole.id


def main() -> None:
    folder = common.isolated_folders()
    shutil.rmtree(folder / "data" / "prepared")  # The page then begins with `digits`.
    shutil.rmtree(folder / "data" / "downloads", ignore_errors=True)
    written = [launch_to_first_line(seed) for seed in range(4)]
    points = {}
    for look in LOOKS:
        with opened(folder) as (page, url):
            points[f"after_{look:g}_s"] = launches(page, url, folder, look)
    last = many_runs()
    with opened(folder) as (page, url):
        # A new server gets a worker ready, once, and is slower for these seconds.
        page.goto(f"{url}/train")
        time.sleep(SECONDS_TO_SETTLE)
        times = {
            "train": opening(page, url, "train", ".st-key-launch button"),
            "train_with_a_run": opening(page, url, "train", ".curves path", run=last),
            "predictions": opening(page, url, "predictions", "h1, h2, h3", run=last),
            "inspect": opening(page, url, "inspect", ".js-plotly-plot .main-svg", run=last),
            "runs": opening(page, url, "runs", "[data-testid=stDataFrame]"),
        }
    common.keep(
        "screens",
        {
            "launch_to_first_line_s": {
                "nothing_cached": round(written[0], 2),
                "after_that": [round(value, 2) for value in written[1:]],
            },
            "launch_to_first_point_s": points,
            "runs_on_disk": RUNS,
            "opening_s_median": {
                name: round(statistics.median(values), 2) for name, values in times.items()
            },
            "opening_s": {name: [round(v, 2) for v in values] for name, values in times.items()},
        },
    )


if __name__ == "__main__":
    main()
