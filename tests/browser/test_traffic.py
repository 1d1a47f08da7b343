"""What tests wait for before they look: what a page is about to do in a moment is waited for."""

from playwright.sync_api import Page

from tests.browser.traffic import Traffic

PUTS_OFF = "setTimeout(() => setTimeout(() => { window.asked = true }, 200), 200)"
LOOKS_AGAIN = "(function look() { setTimeout(look, 50) })()"
TAKES_BACK = "clearTimeout(setTimeout(() => {}, 900))"


def test_what_a_page_puts_off_is_waited_for_and_what_looks_for_ever_is_not(page: Page, traffic: Traffic) -> None:
    page.goto("data:text/html,<p>A page</p>")
    page.evaluate(f"() => {{ {LOOKS_AGAIN}; {TAKES_BACK}; {PUTS_OFF} }}")
    assert not page.evaluate("window.asked")
    traffic.let_timers_pass()
    assert page.evaluate("window.asked")
