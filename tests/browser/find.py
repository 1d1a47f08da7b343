"""Finds the browser that the tests drive. Run as a program, it prints the path.

In this order: the one that `ENSEMBLE_BROWSER` names, one on PATH, a macOS application,
the one that Playwright has installed.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
    "microsoft-edge-stable",
    "msedge",
)
APPLICATIONS = ("Chromium", "Google Chrome", "Microsoft Edge")


class NoBrowserError(Exception):
    """There is no browser to test with."""


def find_browser() -> str:
    """The path of a browser of Chromium's family that starts on this machine.

    Raises:
      NoBrowserError: there is none, or the one that was named does not start.
    """
    if chosen := os.environ.get("ENSEMBLE_BROWSER"):
        if starts(chosen):
            return chosen
        raise NoBrowserError(f"ENSEMBLE_BROWSER is {chosen}: that does not start.")
    for path in candidates():
        if starts(path):
            return path
    raise NoBrowserError(
        "No browser was found and none could be installed: install Chromium, Chrome or Edge, or "
        "name the one you have (ENSEMBLE_BROWSER=/path/to/it). Every other test runs without: "
        "scripts/test --ignore=tests/browser"
    )


def candidates() -> Iterator[str]:
    """Paths where a browser may be, the likeliest first."""
    yield from filter(None, map(shutil.which, NAMES))
    for name in APPLICATIONS:
        yield f"/Applications/{name}.app/Contents/MacOS/{name}"
    yield from playwrights_own()


def playwrights_own() -> Iterator[str]:
    """Where Playwright puts the browser that it installs."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        yield playwright.chromium.executable_path


def starts(path: str) -> bool:
    """Whether the program runs: Ubuntu's `chromium-browser` may only say that it is a snap."""
    if not Path(path).is_file():
        return False
    try:
        done = subprocess.run([path, "--version"], capture_output=True, timeout=240, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


if __name__ == "__main__":
    try:
        print(find_browser())
    except NoBrowserError as error:
        sys.exit(str(error))
