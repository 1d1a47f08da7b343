"""The server begins anew under open pages: each is drawn again, and its buttons do something."""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Page, expect

from ensemble.runs import Run
from tests.browser import serving
from tests.browser.conftest import AT_REST
from tests.browser.serving import START_SECONDS, Server
from tests.browser.traffic import Traffic
from tests.pages.ensembles import trained

PATIENCE = START_SECONDS * 1000  # ms
OF_THE_RUN = ("train", "predictions", "inspect", "why", "classify")
PAGES = (*OF_THE_RUN, "compare", "tune", "parallel", "devices", "data", "runs")
# What starts work of minutes, or saves a file, is not pressed.
UNPRESSED = re.compile("Launch|Train|Measure|Save|CSV|PNG|Fetch|Stop|Resume|Delete|Report", re.I)
MAX_PRESSES = 2  # a page


@dataclass(frozen=True)
class OpenPage:
    """A page in a tab of its own."""

    page: Page
    traffic: Traffic

    def wait_until_drawn_again(self, drawings: int) -> None:
        """Returns once the page was asked for after so many drawings, and stands."""
        deadline = time.monotonic() + START_SECONDS
        while self.traffic.drawings <= drawings or self.traffic.waiting:
            assert time.monotonic() < deadline, f"{self.page.url} is not drawn again"
            self.page.wait_for_timeout(50)
        self.page.wait_for_selector(AT_REST, timeout=PATIENCE)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of this file alone: it is killed."""
    with serving.serving(tmp_path_factory.mktemp("restarted")) as running:
        yield running


def open_page(page: Page, server: Server, path: str) -> OpenPage:
    """Opens a page in a tab of its own."""
    opened = OpenPage(page, Traffic(page))
    page.goto(f"{server.url}/{path}")
    opened.wait_until_drawn_again(0)
    return opened


# The page as a server that began anew leaves it for a moment: connected, and drawn in part by a
# script that asks for itself once more. Gives how often the press arrived by then.
PRESS_BETWEEN = """async () => {
  const app = document.querySelector('[data-testid="stApp"]').dataset
  const mark = document.querySelector('.st-key-page_end i')
  const button = document.createElement('button')
  const pressed = [], tell = () => new Promise((resolve) => setTimeout(resolve))
  const become = async (connection, script) => {
    Object.assign(app, { testConnectionState: connection, testScriptState: script })
    await tell()
  }
  let presses = 0
  button.addEventListener('click', () => presses++)
  document.body.append(button)
  await become('PINGING_SERVER', 'notRunning')
  button.click()
  await become('CONNECTED', 'notRunning')
  await become('CONNECTED', 'running')
  await become('CONNECTED', 'notRunning')
  pressed.push(presses)
  await become('CONNECTED', 'running')
  mark.className = 'drawn-by-another'
  pressed.push(presses)
  await become('CONNECTED', 'notRunning')
  pressed.push(presses)
  button.remove()
  return pressed
}"""


def test_a_press_waits_until_a_new_server_has_drawn_the_page_to_its_end(page: Page, server: Server) -> None:
    opened = open_page(page, server, "devices").page
    expect(opened.locator(".st-key-page_end i")).to_have_count(1)
    assert opened.evaluate(PRESS_BETWEEN) == [0, 0, 1]


@pytest.mark.long
def test_every_page_is_drawn_again_and_its_buttons_are_known(page: Page, server: Server) -> None:
    run = trained(state="stopped", done=1)
    opened = {name: open_page(page.context.new_page(), server, describe(name, run)) for name in PAGES}
    members = opened["train"].page.locator("#field-members")
    members.fill("7")
    members.press("Enter")
    launch = opened["train"].page.locator(".st-key-launch button")
    expect(launch).to_contain_text("Launch 7 members")
    before = {name: one.traffic.drawings for name, one in opened.items()}
    running = serving.restart(server)
    try:
        for name, one in opened.items():
            one.wait_until_drawn_again(before[name])
        expect(launch).to_contain_text("Launch 7 members")
        for one in opened.values():
            press_buttons(one)
            expect(one.page.get_by_test_id("stException")).to_have_count(0)
        assert "does not exist anymore" not in serving.tail(running, 10_000)
        resume = opened["train"].page.get_by_role("button", name="Resume")
        resume.click()
        expect(resume).to_have_count(0)
    finally:
        serving.end_workers(running)
        running.process.kill()
        running.process.wait()


def test_where_the_server_is_lost_the_page_says_that_runs_go_on(page: Page, server: Server) -> None:
    if server.process.poll() is not None:  # A test before has killed it.
        server = serving.restart(server)
    page.goto(f"{server.url}/train")
    page.wait_for_selector(AT_REST)
    server.process.terminate()
    server.process.wait()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("The server cannot be reached", timeout=60_000)
    expect(dialog).to_contain_text("Your runs go on: each trains in a process of its own")
    expect(dialog.get_by_text("Is Streamlit still running?")).to_be_hidden()


def describe(name: str, run: Run) -> str:
    """The address of a page, about a run where it is about one."""
    return f"{name}?run={run.id}" if name in OF_THE_RUN else name


def press_buttons(one: OpenPage) -> None:
    """Presses some of a page's buttons, each as it stands after the one before."""
    buttons = one.page.locator(
        '[data-testid="stMain"] button:is([kind="primary"], [kind="secondary"], [kind="tertiary"])'
    )
    for place in range(MAX_PRESSES):
        one.page.keyboard.press("Escape")
        texts = buttons.all_inner_texts()
        fit = [number for number, text in enumerate(texts) if not UNPRESSED.search(text)]
        if place >= len(fit):
            return
        button = buttons.nth(fit[place])
        if button.is_visible() and button.is_enabled():
            button.click()
            one.page.wait_for_selector(AT_REST, timeout=PATIENCE)
