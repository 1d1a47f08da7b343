"""A regression as a person meets it: launched, watched to its end, still there after a reload."""

import json
import re
from dataclasses import asdict, replace

from playwright.sync_api import expect

from ensemble import regression
from ensemble.regression.regression_job import LbfgsConfig
from tests.browser.conftest import App, stop_button


def stopped() -> str:
    """The id of a small regression that was stopped before it began."""
    # A fixed step and one step remembered: what compiles in a quarter of the time.
    config = LbfgsConfig(dataset="digits", iterations=3, stepsize=0.5, history=1, sweep=False)
    solve = regression.create_regression(config)
    status = replace(solve.status, state="stopped", message="Stopped while queued.")
    (solve.path / "status.json").write_text(json.dumps(asdict(status)))
    return solve.id


def test_one_is_launched_watched_to_its_end_and_kept(app: App) -> None:
    earlier = stopped()
    app.open("parallel", solve=earlier)
    app.page.get_by_role("button", name="Solve the same again").click()
    # Of the same second the new one's id is the earlier one's and a number.
    app.page.wait_for_url(lambda url: "solve=lbfgs-" in url and not url.endswith(earlier))
    launched = app.page.url
    expect(stop_button(app.page)).to_be_visible()
    badge = app.page.locator(".stMarkdownBadge")
    expect(badge).to_contain_text("finished", timeout=60_000)
    app.settle()
    expect(app.page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    assert app.page.url == launched
    app.page.set_viewport_size({"width": 400, "height": 800})
    app.page.reload()
    expect(app.page.get_by_role("heading", name=re.compile("an iteration takes"))).to_be_visible()
    expect(app.page.locator(".js-plotly-plot:has(.main-svg)")).to_have_count(2)
    assert app.page.url == launched
    assert app.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
