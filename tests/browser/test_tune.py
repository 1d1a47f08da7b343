"""A sweep as a person meets it: set up, launched, stopped, resumed, its best settings launched."""

from playwright.sync_api import Page, expect

from ensemble import runs, sweeps
from tests.browser.conftest import App, stop_button


def tick(page: Page, key: str, words: str) -> None:
    """Chooses one more in a box of several."""
    box = page.locator(f".st-key-{key} input")
    box.fill(words)
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
    expect(page.get_by_role("heading", name="Best so far:")).to_be_visible(timeout=60_000)
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
    page.get_by_role("button", name="Launch with the best settings").click()
    page.wait_for_url("**/train?run=*")
    expect(page.get_by_text("Same settings as the run shown.")).to_be_visible()
    page.locator(".st-key-launch_bar").get_by_role("button", name="Launch").click()
    page.wait_for_url(lambda url: "run=" in url and not url.endswith(found.run_id))
    newest = runs.list_runs()[0]
    assert newest.config == runs.find_run(found.run_id).config
