"""A sweep as a person meets it: set up, launched, stopped, resumed, its best settings launched."""

import re

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from ensemble import runs, sweeps
from tests.browser.conftest import App, stop_button
from tests.browser.traffic import Traffic


def tick(page: Page, key: str, words: str) -> None:
    """Chooses one more in a box of several."""
    box = page.locator(f".st-key-{key} input")
    box.fill(words)
    expect(page.get_by_role("option").first).to_contain_text(re.compile(words, re.I))
    box.press("Enter")
    page.keyboard.press("Escape")


def fill(page: Page, key: str, value: int) -> None:
    """Writes a number into its box."""
    box = page.locator(f".st-key-{key} input")
    box.fill(str(value))
    box.press("Enter")


def set_up(app: App) -> None:
    """Three trials of logistic regression on digits, long enough to be stopped between them."""
    page = app.page
    tick(page, "tune_another", "Network")
    app.settle()
    page.locator(".st-key-tune_options_network button").click()
    words = page.locator(".st-key-tune_words_network")
    words.get_by_role("button", name="Clear all").click()
    app.settle()
    tick(page, "tune_words_network", "logistic")
    page.locator(".st-key-tune_tick_epochs label").click()
    app.settle()
    fill(page, "tune_to_epochs", 40)
    app.settle()
    fill(page, "tune_trials", 3)
    app.settle()


def leave_while_a_timer_asks(page: Page, address: str) -> None:
    """A button leads to Train; Tune asks for its figures while Train is being drawn."""
    routes, timers, parts = list[WebSocketRoute](), list[bytes](), list[str]()
    is_leaving = False

    def hear_browser(words: bytes | str) -> None:
        message = BackMsg.FromString(words if isinstance(words, bytes) else b"")
        if message.rerun_script.is_auto_rerun and isinstance(words, bytes):
            timers.append(words)
        routes[-1].send(words)

    def hear_server(browser: WebSocketRoute, words: bytes | str) -> None:
        nonlocal is_leaving
        message = ForwardMsg.FromString(words if isinstance(words, bytes) else b"")
        browser.send(words)
        if message.HasField("new_session"):
            parts.extend(message.metadata.run.fragment_ids)
            if is_leaving and not message.metadata.run.fragment_ids:
                is_leaving = False
                parts.clear()
                routes[-1].send(timers[-1])

    def follow(browser: WebSocketRoute) -> None:
        routes.append(server := browser.connect_to_server())
        server.on_message(lambda words: hear_server(browser, words))
        browser.on_message(hear_browser)

    page.route_web_socket(re.compile("/_stcore/"), follow)
    traffic = Traffic(page)
    page.goto(address)
    button = page.get_by_role("button", name="Launch with the best settings")
    button.wait_for()
    while not timers or traffic.waiting:
        page.wait_for_timeout(100)
    is_leaving = True
    button.click()
    page.wait_for_url("**/train?run=*")
    while is_leaving or traffic.waiting:
        page.wait_for_timeout(100)
    expect(page.get_by_text("Same settings as the run shown.")).to_be_visible()
    page.get_by_text("More settings").first.click()  # is answered after what was asked before
    expect(page.get_by_placeholder("Find a setting")).to_be_visible()
    asked = BackMsg.FromString(timers[-1]).rerun_script.fragment_id
    assert asked not in parts, "a part of Tune is drawn on Train"
    page.close()


@pytest.mark.long
def test_a_sweep_is_launched_watched_stopped_resumed_and_its_best_launched(app: App) -> None:
    page = app.page
    app.open("tune")
    set_up(app)
    page.get_by_role("button", name="Launch 3 trials").click()
    page.wait_for_url("**/tune?sweep=sweep-*")
    badge = page.locator(".stMarkdownBadge")
    expect(badge).to_contain_text("searching", timeout=60_000)
    stop_button(page).click()
    expect(badge).to_contain_text("stopped")
    [sweep] = sweeps.list_sweeps()
    ended = sweep.status.done
    assert ended < 3
    page.reload()
    app.rest()
    expect(page.get_by_text("to come")).to_be_visible()
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_role("heading", name="Lowest validation NLL so far:")).to_be_visible(timeout=60_000)
    expect(page.locator(".curves .panel path").first).to_be_visible()
    expect(badge).to_contain_text("finished", timeout=60_000)
    expect(page.get_by_text("All 3 trials are complete.")).to_be_visible()
    tools = page.locator(".curves .tools").first
    tools.locator("summary").click()
    with page.expect_download() as saved:
        tools.get_by_role("button", name="PDF").click()
    title = "NLL by trial".encode("utf-16-be").hex().encode()
    assert title in saved.value.path().read_bytes(), "it is a file, with its title"
    trials = sweeps.read_trials(sweep)
    assert len({one.run_id for one in trials}) == 3, "each trial has a run, and only one"
    found = sweeps.find_best_trial(sweep, trials)
    assert found
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_label("How many more")).to_have_value("3")
    page.get_by_role("button", name="Train it with 5 more seeds").wait_for()
    app.settle()
    expect(page.get_by_label("How many more")).to_have_value("3")
    expect(page.get_by_role("button", name="Add 3 trials")).to_be_visible()
    page.keyboard.press("Escape")
    leave_while_a_timer_asks(page.context.new_page(), page.url)
    page.get_by_role("button", name="Launch with the best settings").click()
    page.wait_for_url("**/train?run=*")
    expect(page.get_by_text("Same settings as the run shown.")).to_be_visible()
    page.locator(".st-key-launch_bar").get_by_role("button", name="Launch").click()
    page.wait_for_url(lambda url: "run=" in url and not url.endswith(found.run_id))
    newest = runs.list_runs()[0]
    assert newest.config == runs.find_run(found.run_id).config
