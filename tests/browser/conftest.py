"""A real server and a real browser, for tests that look at the app as a person does.

`app` is what most tests want: the app in a tab, `app.open("train")`, `app.settle()`,
and `app.page` for everything that Playwright does. `server.runs` is the folder of runs that
the server, the test and the workers share; it is empty when a test file begins.
"""

import io
import re
import shutil
import time
import zipfile
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from playwright.sync_api import Locator, Page, ViewportSize, expect, sync_playwright

from ensemble import architectures
from ensemble.datasets import registry
from ensemble.datasets.own import staging
from tests import whole_way
from tests.browser.find import find_browser
from tests.browser.serving import START_SECONDS, Server, end_workers, serving, tail
from tests.browser.traffic import Traffic

SCREENSHOTS = Path(__file__).parent / "screenshots"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# Most scripts run for a moment, on a page that is loaded anew: optimizing them costs more than it
# saves. Only here, for `FLAGS` are of what benchmarks measure too.
UNOPTIMIZED = "--js-flags=--no-opt --no-maglev"
# What a person's own ensemble.toml would name.
OWN_DATASET = "bowl_of_fruit"  # what the packed pictures become
OWN_NETWORK = "tests.engine.networks.modules:Careful"
VIEWPORT: ViewportSize = {"width": 1280, "height": 900}
FORGET = "() => { try { localStorage.clear(); sessionStorage.clear() } catch {} }"
AT_REST = '[data-testid="stApp"][data-test-connection-state="CONNECTED"][data-test-script-state="notRunning"]'
FAILED = pytest.StashKey[bool]()


@dataclass(frozen=True)
class App:
    """The app in one tab."""

    page: Page
    server: Server
    traffic: Traffic

    def open(self, path: str = "", **query: str) -> None:
        """Goes to a screen, `train` say, with its query parameters, and waits until it stands."""
        self.page.goto(f"{self.server.url}/{path}" + (f"?{urlencode(query)}" if query else ""))
        self.rest()

    def settle(self) -> None:
        """Waits until what was just done has been answered to its end."""
        self.traffic.let_timers_pass()
        self.rest()

    def rest(self) -> None:
        """Waits until the script has run to its end; a bug's message on the page is a failure."""
        deadline = time.monotonic() + START_SECONDS
        while True:
            if not self.traffic.waiting:
                self.page.wait_for_selector(AT_REST, timeout=START_SECONDS * 1000)
                if not self.traffic.waiting:  # it may have connected only just now
                    break
            assert time.monotonic() < deadline, "the script does not come to its end"
            self.page.wait_for_timeout(30)
        self.check()

    def check(self) -> None:
        """Fails when the page shows an exception; the server's log has its traceback."""
        if self.page.get_by_test_id("stException").count():
            pytest.fail(f"The page shows an exception. The server's log ends:\n{tail(self.server)}")


@pytest.fixture(scope="package")
def only_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for all test files: what a screen needs is imported and compiled once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(architectures.NETWORKS_VARIABLE, OWN_NETWORK)
        with serving(tmp_path_factory.mktemp("server")) as running:
            yield running


@pytest.fixture(scope="module")
def server(only_server: Server) -> Iterator[Server]:
    """The server, with no runs yet in each test file; what they started ends with them."""
    yield only_server
    clear_runs(only_server)


def clear_runs(server: Server) -> None:
    """Ends what the server has started, and removes its runs."""
    end_workers(server)
    shutil.rmtree(server.runs, ignore_errors=True)


@pytest.fixture(scope="package")
def tab() -> Iterator[Page]:
    """One tab of a headless browser for all tests: a new one takes as long as a screen to open.

    Not for the whole session: Playwright's event loop would stay in this thread and get in the
    way of tests that start one of their own.
    """
    path = find_browser()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*FLAGS, UNOPTIMIZED])
        context = browser.new_context()
        context.set_default_timeout(60_000)
        yield context.new_page()
        browser.close()


@pytest.fixture(scope="package")
def traffic(tab: Page) -> Traffic:
    """What the tab says to its server."""
    return Traffic(tab)


@pytest.fixture
def page(tab: Page, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The tab as if it were new; when the test fails, its picture is kept in `screenshots`."""
    tab.set_viewport_size(VIEWPORT)
    tab.emulate_media(color_scheme="light", reduced_motion="reduce")
    tab.mouse.move(0, 0)
    yield tab
    if request.node.stash.get(FAILED, False):
        name = re.sub(r"\W+", "-", request.node.nodeid.removeprefix("tests/browser/")).strip("-")
        tab.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)
    for other in tab.context.pages:
        if other != tab:
            other.close()
    tab.evaluate(FORGET)
    tab.context.clear_cookies()
    tab.goto("about:blank")


@pytest.fixture
def app(page: Page, server: Server, traffic: Traffic, request: pytest.FixtureRequest) -> Iterator[App]:
    """The app in the tab, not opened yet."""
    opened = App(page, server, traffic)
    yield opened
    if not request.node.stash.get(FAILED, False):
        opened.check()


@pytest.fixture(autouse=True)
def runs_of_one_test(server: Server, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The test reads the runs that the server writes."""
    monkeypatch.setenv("ENSEMBLE_RUNS", str(server.runs))
    return server.runs


@pytest.fixture(autouse=True, scope="session")
def patience() -> None:
    """What `expect` waits for may take longer than its five seconds on a loaded machine."""
    expect.set_options(timeout=60_000)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Notes a failure for the fixture `page`."""
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report


def drawn(element: Locator, part: tuple[slice, slice], truth: Any) -> NDArray[np.uint8]:
    """Waits until a part of what an element shows is, to the bit, as it should be.

    Returns all of it, in grey. A picture may come a moment after what holds it.
    """
    deadline = time.monotonic() + 240
    while True:
        seen = np.asarray(Image.open(io.BytesIO(element.screenshot())).convert("L"))
        if np.array_equal(seen[part], truth):
            return seen
        if time.monotonic() > deadline:
            np.testing.assert_array_equal(seen[part], truth)
        element.page.wait_for_timeout(100)


def stop_button(page: Page) -> Locator:
    """A run's; Streamlit has one of its own in the header while a script is running."""
    return page.get_by_test_id("stMainBlockContainer").get_by_role("button", name="Stop", exact=True)


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[Path]:
    """A packed folder of pictures, a third of them to test with."""
    folder = whole_way.write(tmp_path / "fruit", 24, 12)
    with zipfile.ZipFile(tmp_path / "Bowl of fruit.zip", "w") as packed:
        for path in sorted(folder.rglob("*.png")):
            packed.write(path, path.relative_to(tmp_path))
    yield tmp_path / "Bowl of fruit.zip"
    if OWN_DATASET in registry.list_dataset_names():
        staging.remove_custom_dataset(OWN_DATASET)
