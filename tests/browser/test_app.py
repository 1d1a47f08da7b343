"""The app opens, and keeps to this machine."""

import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest
from playwright.sync_api import Page, Request, expect

from ensemble import runs
from tests.browser.conftest import App
from tests.browser.pictures import LOADED
from tests.browser.serving import REPO, serving
from tests.browser.test_train import CHART, finished
from tests.browser.traffic import Traffic
from tests.pages.ensembles import trained
from tests.wording.test_escaping import HOSTILE

# What Markdown would make of such words.
MARKUP = "a, img, b, strong, em, code, del, ul, ol, h1, blockquote, table, .katex, span[role=img]"


def test_opens_with_a_heading_and_no_exception(app: App) -> None:
    app.open()
    expect(app.page.get_by_test_id("stHeading").first).to_be_visible()


def test_a_phones_drawer_closes_when_a_page_is_chosen_and_stays_closed_at_a_reload(app: App, page: Page) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    app.open("devices")
    drawer = page.get_by_test_id("stSidebar")
    page.get_by_test_id("stExpandSidebarButton").click()
    expect(drawer).to_have_attribute("data-collapsed", "false")
    drawer.get_by_role("link", name="Runs").click()
    page.wait_for_url("**/runs")
    expect(drawer).to_have_attribute("data-collapsed", "true")
    page.get_by_test_id("stExpandSidebarButton").click()
    expect(drawer).to_have_attribute("data-collapsed", "false")
    page.reload()
    app.rest()
    expect(drawer).to_have_attribute("data-collapsed", "true")
    page.set_viewport_size({"width": 1280, "height": 900})
    app.open("train")
    expect(drawer).to_have_attribute("data-collapsed", "false")


@pytest.mark.long
def test_the_command_app_opens_a_clones_dashboard_and_a_link_may_be_its_first_visit(
    page: Page, traffic: Traffic, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Streamlit takes `pages/` for the older kind of app until app.py has run once."""
    monkeypatch.setenv("PYTHONPATH", str(REPO))
    with serving(tmp_path, [sys.executable, "-m", "ensemble", "app"], tmp_path) as server:
        App(page, server, traffic).open("train")
        expect(page.get_by_text("Page not found")).to_have_count(0)
        expect(page.get_by_test_id("stTopNavLink").first).to_be_visible()
        command = psutil.Process(server.process.pid).cmdline()
    assert str(REPO / "app.py") in command
    assert "streamlit" in command


@contextmanager
def hosts_asked(page: Page) -> Iterator[set[str]]:
    """The names of the machines that the tab asks for anything meanwhile."""
    hosts: set[str] = set()

    def note(request: Request) -> None:
        hosts.add(urlsplit(request.url).hostname or "localhost")

    page.on("request", note)
    yield hosts
    page.remove_listener("request", note)


def test_loads_nothing_from_another_machine(app: App, page: Page) -> None:
    with hosts_asked(page) as hosts:
        app.open()
    assert hosts == {"localhost"}


def test_words_from_a_link_and_from_a_run_are_shown_as_they_are_and_ask_nobody(app: App, page: Page) -> None:
    picture, hostile = "![](http://127.0.0.1:9/x.png)", " ".join(HOSTILE)
    run = trained(name=f"{picture} :red[x] $x$", state="failed", message=hostile)
    alert = page.get_by_test_id("stMainBlockContainer").get_by_test_id("stAlert")
    with hosts_asked(page) as hosts:
        app.open("train", run=picture)
        expect(alert).to_contain_text("There is no run “![](http:")
        app.open("train", run=run.id)
        expect(alert).to_contain_text("full: free some room")
        app.settle()
        page.wait_for_function(LOADED)  # an icon or a picture may come a moment later
    shown = alert.get_by_test_id("stMarkdownContainer").inner_text()
    assert shown.replace("\N{WORD JOINER}", "") == " ".join(hostile.split())
    assert alert.locator(MARKUP).count() == 0
    title = page.get_by_test_id("stHeading").first
    assert (title.text_content() or "").replace("\N{WORD JOINER}", "") == run.name
    assert title.locator(MARKUP).count() == 0
    assert hosts == {"localhost"}
    runs.delete_run(run.id)


def test_launch_is_in_sight_with_the_settings_beside_a_run(app: App) -> None:
    run = finished()
    app.open("train", run=run.id)
    button = app.page.locator(".st-key-launch button")
    expect(button).to_have_text(re.compile("on 2 devices, about "))
    box = button.bounding_box()
    assert box
    assert box["y"] + box["height"] <= 900
    # In full: the label is no wider than its button, and nothing stands on it.
    assert button.evaluate("one => one.scrollWidth <= one.clientWidth")
    button.click(trial=True)
    chart = app.page.locator(CHART).bounding_box()
    assert chart
    assert chart["y"] < 420, "the pictures begin in the upper half"
    tall = panel_height(app)
    app.page.set_viewport_size({"width": 1600, "height": 1200})
    expect(app.page.locator(f"{CHART} .panel svg").first).not_to_have_attribute("height", str(tall))
    assert panel_height(app) > tall, "the curves grow with the window"
    shutil.rmtree(run.path)


def panel_height(app: App) -> int:
    return int(app.page.locator(f"{CHART} .panel svg").first.get_attribute("height") or 0)
