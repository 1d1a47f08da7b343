"""The app as people have it, to be measured: a server with a worker kept ready, and a browser."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
from playwright.sync_api import Page, sync_playwright

from benchmarks import common

FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")


@contextmanager
def opened(folder: Path) -> Iterator[tuple[Page, str]]:
    """A new server and a new browser: the page, and the server's address.

    Args:
      folder: where the runs are, under `runs/`; the server's log comes there too.
    """
    from tests.browser.find import find_browser

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://localhost:{port}"
    process = start(folder, port)
    try:
        common.wait_until_healthy(url, process)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=find_browser(), args=list(FLAGS))
            yield browser.new_context(viewport={"width": 1280, "height": 900}).new_page(), url
            browser.close()
    finally:
        end(process)


def start(folder: Path, port: int) -> "subprocess.Popen[bytes]":
    """Streamlit on this port of this machine, in a session of its own."""
    options = {"port": port, "headless": "true", "fileWatcherType": "none"}
    with (folder / "server.log").open("ab") as log:
        return subprocess.Popen(
            [
                sys.executable,
                "-m",
                "streamlit",
                "run",
                str(common.ROOT / "app.py"),
                *(f"--server.{name}={value}" for name, value in options.items()),
            ],
            cwd=common.ROOT,
            env={**os.environ, "ENSEMBLE_RUNS": str(folder / "runs")},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )


def end(process: "subprocess.Popen[bytes]") -> None:
    """End the server and the workers that it has started."""
    everyone = [*psutil.Process(process.pid).children(recursive=True), psutil.Process(process.pid)]
    for child in everyone:
        child.terminate()
    for child in psutil.wait_procs(everyone, timeout=10)[1]:
        child.kill()
    process.wait(timeout=10)


def settle(page: Page, timeout_ms: float = 60_000) -> None:
    """Wait until the script has run to its end."""
    page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]', timeout=timeout_ms)
