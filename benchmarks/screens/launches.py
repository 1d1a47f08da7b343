"""Seconds from Launch to the first point on the chart, in a real browser and without one.

A part of `benchmarks.screens`. Pressed the moment it can be and after a look at the page; with
nothing compiled before, with that kept on disk but a new server, and again in the same server.
"""

import contextlib
import shutil
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from benchmarks.screens.server import opened, settle

# Seconds that the page stands before Launch is pressed: at once, and as a person takes who
# reads it. The server gets a worker ready meanwhile.
LOOKS = (0, 8)
NEW_SERVERS, AGAIN = 3, 2
SECONDS_BETWEEN_LOOKS, MOST_SECONDS = 0.05, 120.0


def to_first_point(page: Page, url: str, look: float) -> float:
    """Seconds from Launch, with the settings as they are, to a curve on the chart.

    The clock starts when the button can be pressed: the script is done with the page some time
    before a browser that has just been started is.

    Args:
      page: the browser's.
      url: the server's.
      look: seconds for which the page stands before Launch is pressed.
    """
    from ensemble import runs

    page.goto(f"{url}/train")
    settle(page)
    time.sleep(look)
    before = {run.id for run in runs.list_runs()}
    button = page.locator(".st-key-launch button").first
    button.click(trial=True)  # Not before the browser has drawn it and answers.
    began = time.perf_counter()
    button.click()
    page.wait_for_url(lambda now: "run=" in now and now.split("run=")[1] not in before)
    run_id = page.url.split("run=")[1]
    curve = page.locator(f'.curves[data-run="{run_id}"] path')
    # Not by Playwright's own waiting, which has the browser look at every frame.
    while not curve.count():
        if time.perf_counter() - began > MOST_SECONDS:
            raise SystemExit(f"No curve came within {MOST_SECONDS:g} s of the launch of {run_id}.")
        page.wait_for_timeout(1000 * SECONDS_BETWEEN_LOOKS)
    seconds = time.perf_counter() - began
    stop()
    return round(seconds, 2)


def stop() -> None:
    """End the run that was launched; a short one may have ended by itself."""
    from ensemble import runs
    from ensemble.errors import RunError

    for run in runs.list_runs():
        if run.active:
            with contextlib.suppress(RunError):
                runs.request_run_stop(run.id)
    wait_for_end()


def wait_for_end() -> None:
    """Return when no run is active any more."""
    from ensemble import runs

    while any(run.active for run in runs.list_runs()):
        time.sleep(0.2)


def measure(folder: Path) -> dict[str, Any]:
    """All kinds of launch, seconds, by how long the page was looked at."""
    return {f"after_{look:g}_s": after(folder, look) for look in LOOKS}


def after(folder: Path, look: float) -> dict[str, Any]:
    """Seconds of launches: nothing cached, new servers with a cache, and again in them."""
    launch_times: dict[str, Any] = {"cached_new_server": [], "cached_same_server": []}
    shutil.rmtree(folder / "data" / "compiled", ignore_errors=True)
    for server in range(1 + NEW_SERVERS):
        with opened(folder) as (page, url):
            seconds = to_first_point(page, url, look)
            if server == 0:
                launch_times = {"nothing_cached": seconds, **launch_times}
                continue
            launch_times["cached_new_server"].append(seconds)
            if server == 1:
                launch_times["cached_same_server"] = [to_first_point(page, url, look) for _ in range(AGAIN)]
    return launch_times


def to_first_line(seed: int) -> float:
    """Seconds from `runs.launch` to a line in the run's history: the worker's share, no browser."""
    from ensemble import runs
    from ensemble.config import EnsembleConfig

    began = time.perf_counter()
    run = runs.launch_run(EnsembleConfig(seed=seed))
    while not runs.read_history(run.id):
        time.sleep(0.02)
    seconds = time.perf_counter() - began
    stop()
    return round(seconds, 2)
