"""The app opens, and keeps to this machine."""

import sys
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest
from playwright.sync_api import Page, Request, expect

from tests.browser.conftest import App
from tests.browser.serving import REPO, serving
from tests.browser.traffic import Traffic


def test_opens_with_a_heading_and_no_exception(app: App) -> None:
    app.open()
    expect(app.page.get_by_test_id("stHeading").first).to_be_visible()


def test_a_link_to_a_page_may_be_a_servers_first_visit(
    page: Page, traffic: Traffic, tmp_path: Path
) -> None:
    """Streamlit takes `pages/` for the older kind of app until app.py has run once."""
    with serving(tmp_path) as server:
        App(page, server, traffic).open("train")
        expect(page.get_by_text("Page not found")).to_have_count(0)
        expect(page.get_by_test_id("stTopNavLink").first).to_be_visible()


def test_the_command_app_opens_a_clones_dashboard(
    page: Page, traffic: Traffic, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(REPO))
    with serving(tmp_path, [sys.executable, "-m", "ensemble", "app"], tmp_path) as server:
        opened = App(page, server, traffic)
        opened.open("devices")
        expect(page.get_by_test_id("stTopNavLink").first).to_be_visible()
        command = psutil.Process(server.process.pid).cmdline()
    assert str(REPO / "app.py") in command
    assert "streamlit" in command


def test_loads_nothing_from_another_machine(app: App, page: Page) -> None:
    hosts: set[str | None] = set()

    def note(request: Request) -> None:
        hosts.add(urlsplit(request.url).hostname)

    page.on("request", note)
    app.open()
    page.remove_listener("request", note)
    assert hosts - {None} == {"localhost"}
