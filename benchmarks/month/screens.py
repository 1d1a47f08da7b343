"""Every page opened on a full folder, cold and warm, and what else people press there."""

import os
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import psutil
from playwright.sync_api import Page

from benchmarks.month.filling import Month
from benchmarks.screens.server import settle

COMPARED = 10  # runs, as Compare's own button takes
ANSWER_MS = 300_000
# What says that a page shows what it is about; elsewhere it is enough that it is drawn.
TABLE, FIGURE, LAUNCH = "[data-testid=stDataFrame]", ".js-plotly-plot .main-svg", ".st-key-launch"
SIGNS = {"train": LAUNCH, "runs": TABLE, "inspect": FIGURE, "data": TABLE}


@dataclass
class Waiting:
    """How long one thing took, each time: the first is cold.

    Attributes:
      seconds: from asking for it until it is drawn.
      processor: seconds of the server's processor meanwhile.
    """

    seconds: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)

    @property
    def figures(self) -> dict[str, float]:
        """Of the first time, and the medians of the others."""
        warm, processor = self.seconds[1:] or self.seconds, self.processor[1:] or self.processor
        return {
            "cold_s": round(self.seconds[0], 2),
            "warm_s": round(statistics.median(warm), 2),
            "cold_processor_s": round(self.processor[0], 2),
            "warm_processor_s": round(statistics.median(processor), 2),
        }


class Visitor:
    """A person with a browser.

    Args:
      page: of the browser.
      url: the server's address.
      server: its process.

    Attributes:
      waits: by what was opened or pressed.
    """

    def __init__(self, page: Page, url: str, server: psutil.Process) -> None:
        self.page, self._url, self._server = page, url, server
        self.waits = dict[str, Waiting]()

    def open_page(self, name: str, path: str, **query: str) -> None:
        """Ask for an address in a new tab, and wait until all of it is drawn."""
        self.page.goto("about:blank")
        with self.wait_for(name):
            address = f"{self._url}/{path}" + (f"?{urlencode(query)}" if query else "")
            self.page.goto(address, timeout=ANSWER_MS)
            if sign := SIGNS.get(path):
                self.page.locator(sign).first.wait_for(state="visible", timeout=ANSWER_MS)
            settle(self.page, ANSWER_MS)
        if self.page.get_by_test_id("stException").count():
            raise RuntimeError(f"{name}: the page shows an exception.")

    @contextmanager
    def wait_for(self, name: str) -> Iterator[None]:
        """Write down how long what is done within takes."""
        before, began = count_processor_seconds(self._server), time.perf_counter()
        yield
        wait = self.waits.setdefault(name, Waiting())
        wait.seconds.append(time.perf_counter() - began)
        wait.processor.append(count_processor_seconds(self._server) - before)
        print(f"{name}: {wait.seconds[-1]:.2f} s", file=sys.stderr, flush=True)


def count_processor_seconds(process: psutil.Process) -> float:
    """Seconds of the processor that a process has used so far."""
    times = process.cpu_times()
    return float(times.user + times.system)


def list_addresses(month: Month) -> dict[str, tuple[str, dict[str, str]]]:
    """What is opened, by name: every page, and of those that show runs what the tour looks at."""
    digits, chosen = month.recordings.trained["digits"], month.recordings.trained["chosen"]
    compared = {"runs": ",".join(month.trained[-COMPARED:])}
    return {
        "Train": ("train", {}),
        "Train, a run": ("train", {"run": digits}),
        "Predictions": ("predictions", {"run": digits}),
        "Inspect": ("inspect", {"run": digits}),
        "Inspect, calibration": ("inspect", {"run": month.imported[0], "view": "calibration"}),
        "Inspect, compare": ("inspect", {"run": digits, "view": "compare"}),
        "Numbers": ("numbers", {"run": month.numeric[-1]}),
        "Why": ("why", {"run": digits}),
        "Labels": ("labels", {"run": digits}),
        "Compare": ("compare", {}),
        "Compare, ten runs": ("compare", compared),
        "Compare, their table": ("compare", {**compared, "view": "table"}),
        "Compare, plan": ("compare", {"runs": chosen, "view": "plan"}),
        "Compare, a sweep's trials": ("compare", {"tag": month.sweep}),
        "Tune": ("tune", {"sweep": month.sweep}),
        "Classify": ("classify", {"run": digits, "input": "draw"}),
        "Parallel": ("parallel", {"solve": month.solves[-1]}),
        "Devices": ("devices", {}),
        "Data": ("data", {}),
        "Runs": ("runs", {}),
        "Runs, one ticked": ("runs", {"run": digits}),
    }


def open_all_pages(visitor: Visitor, month: Month, rounds: int) -> None:
    """Open all of them, one after the other, so often; the first time is cold."""
    for _ in range(rounds):
        for name, (path, query) in list_addresses(month).items():
            visitor.open_page(name, path, **query)


def use_runs_page(visitor: Visitor, rounds: int) -> None:
    """Search for a run, and look at what can be freed, so often; then free it and bring it back."""
    page = visitor.page
    for number in range(rounds):
        visitor.open_page("Runs", "runs")
        box = page.get_by_role("textbox", name="Find")
        with visitor.wait_for("Runs, a search"):
            box.fill(f"attempt {number + 1}")
            box.press("Enter")
            page.get_by_text(" of ").first.wait_for(timeout=ANSWER_MS)
            settle(page, ANSWER_MS)
        box.fill("")
        box.press("Enter")
        settle(page, ANSWER_MS)
        with visitor.wait_for("Runs, Free space"):
            page.get_by_role("button", name="Free space").click()
            page.get_by_role("button", name="Remove them").wait_for(timeout=ANSWER_MS)
            settle(page, ANSWER_MS)
    with visitor.wait_for("Runs, free it"):
        page.get_by_role("button", name="Remove them").click()
        page.get_by_role("button", name="Bring back").wait_for(timeout=ANSWER_MS)
        settle(page, ANSWER_MS)
    with visitor.wait_for("Runs, bring it back"):
        page.get_by_role("button", name="Bring back").click()
        page.get_by_role("button", name="Remove them").wait_for(timeout=ANSWER_MS)
        settle(page, ANSWER_MS)


def read_peak_bytes(process: psutil.Process) -> int:
    """The most memory that a process has held; what it holds now where the system does not say."""
    try:
        with open(f"/proc/{process.pid}/status", encoding="ascii") as lines:
            return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        return int(process.memory_info().rss)


def count_handles(process: psutil.Process) -> int:
    """Files, sockets and the like that a process has open."""
    return int(process.num_fds() if os.name == "posix" else process.num_handles())


def summarize_waits(visitor: Visitor) -> dict[str, Any]:
    """All that was waited for, ready for JSON."""
    return {name: wait.figures for name, wait in visitor.waits.items()}
