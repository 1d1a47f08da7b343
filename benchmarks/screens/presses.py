"""How soon a slow machine answers: python -m benchmarks.screens.presses [--json]

The browser's processor is slowed down four times. Two runs and a small sweep are trained on Digits;
then everything that is usually pressed is pressed once, on pages that stand still. Counted is the
time from the press until something visible has changed in the page: a button that is pressed in, a
menu that opens, the next page's first part. A minute or two.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import Locator, Page

from benchmarks import common
from benchmarks.screens.first_sight import train_examples
from benchmarks.screens.server import opened, settle

SLOWDOWN, LIMIT_S = 4, 1.0
MENU = ("Predictions", "Inspect", "Why", "Compare", "Tune", "Classify", "Parallel", "Devices")
MENU_REST = ("Data", "Runs", "Train")
VIEWS = ("Committee", "Combining", "Uncertainty", "Calibration", "Selective", "Agreement")
# The moment of the press, and of the first change after it that can be seen: of texts, elements,
# and of the attributes that the style goes by. In components of our own, too.
WATCH = """() => {
  window.press = { from: null, to: null }
  const roots = new WeakSet()
  const seen = () => {
    if (press.from !== null && press.to === null)
      requestAnimationFrame(() => { press.to ??= performance.now() })
  }
  const watch = (root) => {
    if (roots.has(root)) return
    roots.add(root)
    new MutationObserver(seen).observe(root, {
      childList: true, subtree: true, characterData: true, attributes: true,
      attributeFilter: ['aria-busy', 'aria-checked', 'aria-expanded', 'aria-pressed',
        'aria-selected', 'data-selected', 'data-stale', 'data-test-script-state', 'checked',
        'hidden', 'open', 'value'],
    })
    for (const one of root.querySelectorAll('*')) if (one.shadowRoot) watch(one.shadowRoot)
  }
  watch(document.body)
  addEventListener('click', () => { press.from = performance.now(); press.to = null }, true)
}"""


def main(words: list[str] | None = None) -> int:
    """Train, press everything, print the slowest."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.screens.presses", description=__doc__)
    parser.add_argument("--json", action="store_true", help="end with one line of JSON")
    args = parser.parse_args(words)
    folder = common.isolated_folders()
    run_ids = train_examples()
    seconds: dict[str, float] = {}
    with opened(folder) as (page, url):
        session = page.context.new_cdp_session(page)
        session.send("Emulation.setCPUThrottlingRate", {"rate": SLOWDOWN})
        for name, target in list_presses(page, url, run_ids):
            seconds[name] = measure_press(page, target)
            print(f"{name:32} {seconds[name]:.2f} s", flush=True)
    slow = {name: taken for name, taken in seconds.items() if taken > LIMIT_S}
    slowest = max(seconds.values())
    print(
        f"{len(seconds)} presses, the processor slowed down {SLOWDOWN} times: slowest "
        f"{slowest:.2f} s, {len(slow)} over {LIMIT_S:g} s"
    )
    if args.json:
        print(json.dumps({"seconds": seconds, "slowest": slowest, "over_limit": sorted(slow)}))
    return 0


def list_presses(page: Page, url: str, run_ids: list[str]) -> Iterator[tuple[str, Locator]]:
    """What is pressed, one after the other, each by name; the page is as the one before left it."""
    run = {"run": run_ids[0]}

    def open_page(name: str, **query: str) -> None:
        page.goto(f"{url}/{name}?{urlencode(query or run)}")
        rest(page)

    open_page("train")
    for name in (*MENU, *MENU_REST):
        yield f"menu: {name}", page.get_by_test_id("stTopNavLink").filter(has_text=name)
    open_page("train")
    yield "Train: 3 seeds", page.locator(".st-key-launch_seeds").get_by_text("3", exact=True)
    yield "Train: More settings", page.get_by_text("More settings", exact=True)
    yield "Train: a curve hidden", page.locator(".curves .legend button").nth(2)
    open_page("predictions")
    yield ("Predictions: wrong ones", page.locator("[class*=st-key-digits_show]").get_by_text("Wrong"))
    yield "Predictions: a digit", page.locator(".digits button").first
    page.keyboard.press("Escape")
    open_page("inspect")
    for view in VIEWS:
        yield f"Inspect: {view}", page.get_by_text(view, exact=True)
    yield "Inspect: Figures", page.get_by_role("button", name="Figures")
    open_page("why")
    yield "Why: the votes", page.get_by_role("button", name="Show the votes")
    open_page("compare", runs=",".join(run_ids))
    for view in ("Table", "Settings", "Curves"):
        yield f"Compare: {view}", page.locator(".st-key-compare_controls").get_by_text(view)
    open_page("tune")
    yield "Tune: a setting ticked", page.locator(".st-key-tune_tick_momentum label")
    yield "Tune: Go on", page.locator(".st-key-tune_go_on button")
    open_page("classify")
    for way in ("Draw", "Upload"):
        yield f"Classify: {way}", page.get_by_text(way, exact=True).first
    yield "Classify: a test digit", page.get_by_role("button", name="Try a test digit")
    open_page("devices")
    yield "Devices: Members per device", page.get_by_text("Members per device")
    open_page("runs")
    yield "Runs: Columns", page.get_by_test_id("stPopoverButton").filter(has_text="Columns")


def measure_press(page: Page, target: Locator) -> float:
    """Seconds from a press to the first change that can be seen."""
    target.wait_for(state="visible", timeout=60_000)
    page.evaluate(WATCH)
    target.click()
    page.wait_for_function("() => press.to !== null", timeout=60_000)
    taken: Any = page.evaluate("() => (press.to - press.from) / 1000")
    rest(page)
    return float(taken)


def rest(page: Page) -> None:
    """Wait until nothing is drawn any more."""
    settle(page)
    time.sleep(0.5)
    settle(page)


if __name__ == "__main__":
    sys.exit(main())
