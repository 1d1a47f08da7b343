"""Compare in a browser with 50 runs of 10 epochs on MNIST: python -m benchmarks.screens.brush

The runs are those of `compare.py`. How long each view takes from asking for its address until it
stands, the first time and then warm; and what a brush over an axis takes from letting go of it
until the rest of the page has followed. Lines are dimmed before that, in the browser alone: what
one move of the pointer takes there is measured by the browser's own clock.
"""

import statistics
import time
from typing import Any

from playwright.sync_api import Page

from benchmarks import common
from benchmarks.screens.compare import EPOCHS, MEMBERS, RUNS, write_runs
from benchmarks.screens.server import opened, settle

ROUNDS = 6
SIGNS = {"curves": ".js-plotly-plot .main-svg", "table": "[data-testid=stDataFrame]", "settings": ".coordinates .line"}
# One move of the pointer over an axis whose brush is being drawn, in milliseconds.
MOVE = """(root, [x, y]) => {
  const began = performance.now()
  root.dispatchEvent(new PointerEvent('pointermove', { clientX: x, clientY: y, bubbles: true }))
  root.getBoundingClientRect()
  return performance.now() - began
}"""


def opening(page: Page, url: str, runs: str, view: str) -> float:
    """Seconds from asking for a view until it stands."""
    page.goto("about:blank")
    began = time.perf_counter()
    page.goto(f"{url}/compare?runs={runs}&view={view}")
    page.locator(SIGNS[view]).first.wait_for(state="visible", timeout=60_000)
    settle(page)
    return round(time.perf_counter() - began, 2)


def brushing(page: Page, share: float) -> dict[str, float]:
    """One brush from the middle of an axis to a share of it: what moves and the end take."""
    box = page.locator('.over[data-axis="learning_rate"]').bounding_box()
    assert box
    x, middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    at = box["y"] + box["height"] * share
    page.mouse.move(x, box["y"] + box["height"] - 9)
    page.mouse.down()
    page.mouse.move(x, middle)
    picture = page.locator(".coordinates")
    moves = [picture.evaluate(MOVE, [x, at + i]) for i in range(5)]
    page.mouse.move(x, at)
    before = page.url
    began = time.perf_counter()
    page.mouse.up()
    page.wait_for_function("before => location.href !== before", arg=before)
    settle(page)
    page.wait_for_function("document.querySelector('.js-plotly-plot .main-svg') !== null")
    return {"move_ms": statistics.median(moves), "end_s": time.perf_counter() - began}


def main() -> None:
    """Write the runs, measure, and keep the figures."""
    folder = common.isolated_folders()
    runs = ",".join(write_runs())
    with opened(folder) as (page, url):
        page.set_viewport_size({"width": 1280, "height": 1400})
        first = {view: opening(page, url, runs, view) for view in SIGNS}
        warm = {view: statistics.median(opening(page, url, runs, view) for _ in range(ROUNDS)) for view in SIGNS}
        time.sleep(1)
        brushes = [brushing(page, 0.2 + 0.05 * turn) for turn in range(ROUNDS)]
    figures: dict[str, Any] = {
        "runs": RUNS,
        "epochs": EPOCHS,
        "members": MEMBERS,
        "opening_first_s": first,
        "opening_warm_s": warm,
        "brush_move_ms": round(statistics.median(brush["move_ms"] for brush in brushes[1:]), 2),
        "brush_end_s": round(statistics.median(brush["end_s"] for brush in brushes[1:]), 3),
    }
    common.keep("brush", figures)


if __name__ == "__main__":
    main()
