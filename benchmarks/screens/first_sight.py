"""What a screen says at first sight: python -m benchmarks.screens.first_sight [--json]

Two runs and a small sweep are trained on Digits; then every page is opened at 1,280 × 800 and the
words that stand within the window are counted, and how far things moved while it was drawn (layout
shift, as browsers count it). On Train also how many stops of the Tab key lie before Launch. A
minute or two.
"""

import argparse
import json
import re
import subprocess
import sys
import time
from typing import Any
from urllib.parse import urlencode

from benchmarks import common
from benchmarks.screens.server import opened, settle

PAGES = sorted(path.stem for path in (common.ROOT / "pages").glob("*.py"))
WIDTH, HEIGHT = 1280, 800
SECONDS_TO_REST = 3.0
# Every word of which a part stands within the window, and which is not under something that folds.
WORDS_SEEN = r"""() => {
  const seen = []
  const walk = (root) => {
    for (const one of root.childNodes) {
      if (one.nodeType === Node.TEXT_NODE && one.textContent.trim()) {
        const range = document.createRange()
        range.selectNodeContents(one)
        const boxes = [...range.getClientRects()].filter(box => box.width > 1 && box.height > 1
          && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth)
        const parent = one.parentElement
        let clipped = false
        for (let above = parent, up = 0; above && up < 5; above = above.parentElement, up += 1) {
          const box = above.getBoundingClientRect()
          const small = Math.min(box.width, box.height) <= 1
          if (small && getComputedStyle(above).overflow !== 'visible') clipped = true
        }
        const look = { opacityProperty: true, visibilityProperty: true }
        if (boxes.length && !clipped && parent?.checkVisibility(look)
            && !parent.closest('[data-testid=stIconMaterial], script, style, .st-key-page_title'))
          seen.push(one.textContent)
      }
      if (one.shadowRoot) walk(one.shadowRoot)
      if (one.nodeType === Node.ELEMENT_NODE) walk(one)
    }
  }
  walk(document.body)
  return seen.join(' ')
}"""
WATCH_SHIFT = """() => {
  window.shifted = 0
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifted += entry.value
  }).observe({ type: 'layout-shift', buffered: true })
}"""


def main(words: list[str] | None = None) -> int:
    """Train, open every page, count, print."""
    from tests.browser.keyboard import list_stops

    parser = argparse.ArgumentParser(prog="python -m benchmarks.screens.first_sight", description=__doc__)
    parser.add_argument("--json", action="store_true", help="end with one line of JSON")
    args = parser.parse_args(words)
    folder = common.isolated_folders()
    run_ids = train_examples()
    figures: dict[str, Any] = {"words": {}, "layout_shift": {}}
    with opened(folder) as (page, url):
        page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
        page.add_init_script(f"({WATCH_SHIFT})()")
        for name in PAGES:
            query = {"runs": ",".join(run_ids)} if name == "compare" else {"run": run_ids[0]}
            page.goto(f"{url}/{name}?{urlencode(query)}")
            settle(page)
            time.sleep(SECONDS_TO_REST)
            settle(page)
            text = page.evaluate(WORDS_SEEN)
            figures["words"][name] = len(re.findall(r"[A-Za-z]{2,}", text))
            figures["layout_shift"][name] = round(page.evaluate("() => window.shifted"), 3)
            print(
                f"{name:12} {figures['words'][name]:4} words, layout shift {figures['layout_shift'][name]:.3f}",
                flush=True,
            )
        page.goto(f"{url}/train?{urlencode({'run': run_ids[0]})}")
        settle(page)
        time.sleep(SECONDS_TO_REST)
        figures["stops_to_launch"] = len(list_stops(page, "Launch"))
    figures["words_in_all"] = sum(figures["words"].values())
    print(f"{figures['words_in_all']} words in all; {figures['stops_to_launch']} stops to Launch")
    if args.json:
        print(json.dumps(figures))
    return 0


def train_examples() -> list[str]:
    """The ids of two runs, the second with another rate; a sweep of four trials beside them."""
    search = ["sweep", "--trials", "4", "--space", "learning_rate=0.01..0.3:log"]
    search += ["--members", "2", "--epochs", "2", "--network", "logistic"]
    run_command(search)
    for rate in ("0.1", "0.02"):
        run_command(["train", "--members", "4", "--epochs", "4", "--learning-rate", rate])
    from ensemble import runs

    return [run.id for run in runs.list_runs() if run.config.members == 4][::-1]


def run_command(words: list[str]) -> None:
    """`ensemble` with these words, to its end."""
    subprocess.run([sys.executable, "-m", "ensemble", *words], check=True, cwd=common.ROOT)


if __name__ == "__main__":
    sys.exit(main())
