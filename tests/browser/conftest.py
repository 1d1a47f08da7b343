"""A real server and a real browser, for tests that look at the app as a person does.

`app` is what most tests want: the app in a fresh tab, `app.open("train")`, `app.settle()`,
and `app.page` for everything that Playwright does. `server.runs` is the folder of runs that
the server, the test and the workers share; it lives as long as the test file does.
"""

import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

import psutil
import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.find import find_browser

REPO = Path(__file__).resolve().parent.parent.parent
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
START_SECONDS = 60.0  # a loaded machine takes its time to import JAX
FAILED = pytest.StashKey[bool]()


@dataclass(frozen=True)
class Server:
    """A running Streamlit server: where it answers, where its runs and its output are."""

    url: str
    runs: Path
    log: Path
    process: subprocess.Popen[bytes]


@dataclass(frozen=True)
class App:
    """The app in one tab."""

    page: Page
    server: Server

    def open(self, path: str = "", **query: str) -> None:
        """Goes to a screen, `train` say, with its query parameters, and waits until it stands."""
        self.page.goto(f"{self.server.url}/{path}" + (f"?{urlencode(query)}" if query else ""))
        self.settle()

    def settle(self) -> None:
        """Waits until the script has run to its end; a bug's message on the page is a failure."""
        # A click takes a moment to reach the server: the script is not running yet just then.
        self.page.wait_for_timeout(150)
        self.page.wait_for_selector(
            '[data-testid="stApp"]'
            '[data-test-connection-state="CONNECTED"][data-test-script-state="notRunning"]',
            timeout=START_SECONDS * 1000,
        )
        self.check()

    def check(self) -> None:
        """Fails when the page shows an exception; the server's log has its traceback."""
        if self.page.get_by_test_id("stException").count():
            pytest.fail(f"The page shows an exception. The server's log ends:\n{tail(self.server)}")


@pytest.fixture(scope="module")
def app_file() -> Path:
    """The script that the server runs."""
    return REPO / "app.py"


@pytest.fixture(scope="module")
def server(app_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of its own for each test file, with no runs yet; ends with its workers."""
    folder = tmp_path_factory.mktemp("server")
    running = start(app_file, folder)
    try:
        wait_until_healthy(running)
        yield running
    finally:
        stop_everything_with(running)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A headless browser. Not for the whole session: Playwright's event loop would stay in
    this thread and get in the way of tests that start one of their own."""
    path = find_browser()
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture
def page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A fresh tab; when the test fails, its picture is kept in tests/browser/screenshots."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    tab = context.new_page()
    yield tab
    if request.node.stash.get(FAILED, False):
        name = re.sub(r"\W+", "-", request.node.nodeid.removeprefix("tests/browser/")).strip("-")
        tab.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)
    context.close()


@pytest.fixture
def app(page: Page, server: Server, request: pytest.FixtureRequest) -> Iterator[App]:
    """The app in a fresh tab, not opened yet."""
    opened = App(page, server)
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
    expect.set_options(timeout=20_000)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Notes a failure for the fixture `page`."""
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report


def start(app_file: Path, folder: Path) -> Server:
    """Starts Streamlit on a free port of this machine."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = {"port": port, "headless": "true", "fileWatcherType": "none"}
    command = [sys.executable, "-m", "streamlit", "run", str(app_file)]
    command += [f"--server.{name}={value}" for name, value in options.items()]
    log, runs = folder / "server.log", folder / "runs"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=app_file.parent,
            env={**os.environ, "ENSEMBLE_RUNS": str(runs), "ENSEMBLE_SPARE": "0"},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    return Server(f"http://localhost:{port}", runs, log, process)


def wait_until_healthy(server: Server) -> None:
    """Returns when the server answers; fails with its output when it does not."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and server.process.poll() is None:
        try:
            with urllib.request.urlopen(f"{server.url}/_stcore/health", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    pytest.fail(f"The server did not start. Its log ends:\n{tail(server)}")


def stop_everything_with(server: Server) -> None:
    """Ends the server and the workers started from it: all that has its folder of runs."""
    processes = [process for process in psutil.process_iter() if runs_of(process) == server.runs]
    for process in processes:
        terminate(process)
    _, left = psutil.wait_procs(processes, timeout=10)
    for process in left:
        process.kill()
    server.process.wait(timeout=10)


def runs_of(process: psutil.Process) -> Path | None:
    """The folder of runs that a process was started with; None where that cannot be told."""
    try:
        runs = process.environ().get("ENSEMBLE_RUNS")
    except psutil.Error:
        return None
    return Path(runs) if runs and process.pid != os.getpid() else None


def terminate(process: psutil.Process) -> None:
    """Asks a process to end; it may have done so already."""
    try:
        process.terminate()
    except psutil.NoSuchProcess:
        return


def tail(server: Server, lines: int = 60) -> str:
    """The end of the server's output."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", server.log.read_text(errors="replace"))
    return "\n".join(plain.splitlines()[-lines:])
