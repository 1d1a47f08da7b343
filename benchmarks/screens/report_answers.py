"""A report whose members answer in the page: python -m benchmarks.screens.report_answers

The HOWTO's network with 10 members and with 4, of untrained weights, in Chromium from file://: the
size of the file in float32 and float16; the milliseconds until the members are unpacked when they
are first asked; and of an answer of all of them to one image of MNIST's size, the median of many
and the least, which is what it takes when nothing else wants the machine. A frame of a screen takes
16.7 ms. Beside it how long such files, and one without members, take to open, as `report.py`
measures it.
"""

import statistics
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Page, sync_playwright

from benchmarks import common
from benchmarks.screens.report import opened
from tests.browser.conftest import FLAGS
from tests.browser.find import find_browser
from tests.browser.page_members import ask_page_members, open_report

MEMBERS, TIMES, WARM = (4, 10), 60, 10


def ask(page: Page, run_id: str, path: Path, image: Any) -> dict[str, float]:
    """Milliseconds to unpack the members of a report, and of one answer."""
    open_report(page, path)
    page.wait_for_selector("html[data-state=drawn]")
    said = ask_page_members(page, run_id, image, times=WARM + TIMES)
    return {
        "mb": round(path.stat().st_size / 1e6, 2),
        "unpacked_ms": round(said.opened_ms, 1),
        "first_ms": round(said.ms[0], 1),
        "answer_ms": round(statistics.median(said.ms[WARM:]), 1),
        "least_ms": round(min(said.ms[WARM:]), 1),
    }


def main() -> None:
    folder = common.isolated_folders()
    from ensemble import datasets
    from ensemble.exchange.capsule.capsule_format import WEIGHTS
    from ensemble.report import write_report
    from tests.pages.members import askable

    image = np.asarray(datasets.load_dataset("digits").test_images[:1])
    figures = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=FLAGS)
        page = browser.new_page()
        for members in MEMBERS:
            run = askable(members=members, epochs=1, network="cnn")
            plain = folder / f"{members}.html"
            write_report([run.id], plain)
            figures[f"{members} without"] = opened(browser, plain)
            for weights in WEIGHTS:
                path = folder / f"{members}-{weights}.html"
                write_report([run.id], path, with_members=True, weights=weights)
                answered = ask(page, run.id, path, image)
                figures[f"{members} {weights}"] = answered | opened(browser, path)
        browser.close()
    common.keep("report_answers", figures)


if __name__ == "__main__":
    main()
