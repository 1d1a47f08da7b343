"""Shift and one digit under stress as a person meets them: measured, stopped, slid."""

import re

import pytest
from playwright.sync_api import expect

from ensemble import datasets, shift
from ensemble.shift.corruptions import corrupt_images
from tests.browser.conftest import App, drawn, stop_button
from tests.pages.ensembles import trained
from tests.pages.stressed import checkpointed


@pytest.mark.long
def test_measuring_is_started_watched_left_and_stopped(app: App) -> None:
    # So many that it is still at work when the views have been opened, also on a fast machine.
    run = checkpointed(trained(members=16, epochs=2, img_member_per_s=2000.0))
    app.open("inspect", run=run.id, view="shift")
    app.page.get_by_role("button", name="Measure 16 members under shift").click()
    expect(app.page.get_by_text(re.compile(r"[1-9]\d* of 33 done"))).to_be_visible(timeout=60_000)
    chart = app.page.locator(".js-plotly-plot .subplot.xy .scatterlayer path.js-line")
    expect(chart.first).to_be_visible(timeout=60_000)
    views = app.page.locator('[class*="st-key-address_view_"]')
    views.get_by_role("radio", name="Uncertainty", exact=True).click()
    app.page.wait_for_url("**view=uncertainty**")
    expect(app.page.get_by_text("aleatoric (nats)")).to_be_visible()
    app.settle()
    assert shift.read_stress(run.id).active, "leaving the view leaves the measuring alone"
    views.get_by_role("radio", name="Shift", exact=True).click()  # a corruption is called so, too
    app.page.wait_for_url("**view=shift**")
    stop_button(app.page).click()
    expect(app.page.get_by_role("button", name="Go on")).to_be_visible(timeout=60_000)
    assert shift.read_stress(run.id).state == "stopped"
    app.settle()


@pytest.mark.long
def test_the_slider_turns_the_digit_and_a_link_shows_the_same(app: App) -> None:
    run = checkpointed(trained(network="logistic"))
    app.open("inspect", run=run.id, view="digit", number="7")
    slider = app.page.get_by_role("slider", name="Rotation")
    slider.focus()
    for angle in (5, 10):
        app.page.keyboard.press("ArrowRight")
        expect(app.page.get_by_alt_text(f"rotation {angle}°")).to_be_visible()
    expect(app.page.get_by_text(re.compile("(Right|Wrong) at 10°"))).to_be_visible()
    app.settle()
    assert "amount=10" in app.page.url
    app.page.reload()
    picture = app.page.get_by_alt_text("rotation 10°")
    expect(picture).to_be_visible()
    app.settle()
    truth = corrupt_images(datasets.load_dataset("digits").test_images[[7]], "rotation", 10)[0, ..., 0]
    inside = slice(36, 192, 8)  # its corners are rounded
    drawn(picture, (inside, inside), truth[4:-4, 4:-4])
