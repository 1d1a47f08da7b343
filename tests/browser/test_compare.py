"""Compare as a person meets it: three seeds as one curve, and a brush that holds everywhere."""

import io
import re
import zlib
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Locator, expect

from ensemble import runs
from tests.browser.conftest import App
from tests.comparison.drawn import finished

LINES = ".coordinates .line"
TEXT = re.compile(r"<(\w+)> Tj")  # of a PDF's page


def runs_of_two_rates() -> str:
    """Three seeds at each of two rates, as the address names them."""
    every = [
        finished({"learning_rate": rate, "seed": seed}, draw=10 * seed + place, skill=skill)
        for place, (rate, skill) in enumerate([(0.01, 1.0), (0.1, 3.0)])
        for seed in (1, 2, 3)
    ]
    return ",".join(run.id for run in every)


def axis(app: App, name: str) -> dict[str, float]:
    """Where an axis stands in the window: its middle, its upper and its lower end."""
    over = app.page.locator(f'.coordinates .over[data-axis="{name}"]')
    over.scroll_into_view_if_needed()
    box = over.bounding_box()
    assert box
    return {"x": box["x"] + box["width"] / 2, "top": box["y"] + 8, "bottom": box["y"] + box["height"] - 8}


def end(app: App, name: str, end: int) -> Locator:
    """One end of an axis's brush, as the keyboard reaches it."""
    return app.page.locator(f'.coordinates [data-focus="end {end} {name}"]')


def test_every_first_control_keeps_the_runs_that_were_chosen_on_the_first_page(app: App) -> None:
    """The first page and the popover draw the same boxes: one must not clear the other's choice."""
    runs_of_two_rates()
    count = min(10, len(runs.list_runs()))
    newest = app.page.get_by_role("button", name=f"Compare the newest {count} runs")
    for _ in range(50):  # the server's list of runs may be two seconds old
        app.open("compare")
        if newest.count():
            break
    newest.click()
    app.page.wait_for_url("**runs=**")
    heading = app.page.get_by_role("heading", name=re.compile(r"^\d+ runs"))
    expect(heading).to_be_visible()
    app.settle()
    chosen, title = read_address_runs(app), heading.inner_text()
    main = app.page.get_by_test_id("stMain")
    controls = main.locator("[role=radio]:visible, [role=checkbox]:visible, [role=switch]:visible")
    names = [control.inner_text() for control in controls.all()]
    assert {"Curves", "Table"} <= set(names)
    for name in [*names, "Curves"]:
        control = main.get_by_text(name, exact=True).first
        if not control.is_visible():  # it belongs to the first view alone
            main.get_by_text("Curves", exact=True).first.click()
            app.settle()
        control.click()
        app.settle()
        assert read_address_runs(app) == chosen, name
        expect(heading).to_have_text(title)


def read_address_runs(app: App) -> list[str]:
    """Return the ids of the runs in the address."""
    return parse_qs(urlsplit(app.page.url).query)["runs"][0].split(",")


def test_three_seeds_are_one_curve_and_a_brush_holds_in_every_view(app: App) -> None:
    every = runs_of_two_rates()
    app.open("compare", runs=every)
    expect(app.page.locator(".js-plotly-plot .legendtext")).to_have_text(
        ["rate 0.01 (mean of 3)", "rate 0.1 (mean of 3)"]
    )
    app.page.get_by_role("radio", name="Settings").click()
    expect(app.page.locator(LINES)).to_have_count(6)
    app.settle()
    rate = axis(app, "learning_rate")
    middle = (rate["top"] + rate["bottom"]) / 2
    app.page.mouse.move(rate["x"], rate["top"])
    app.page.mouse.down()
    app.page.mouse.move(rate["x"], middle, steps=4)
    assert app.page.locator(f"{LINES}.dim").count() == 3, "at once, before the page hears of it"
    assert "keep" not in app.page.url
    app.page.mouse.up()
    app.page.wait_for_url("**keep=learning_rate**")
    expect(app.page.get_by_text("3 of 6 runs: brushed to learning rate from")).to_be_visible()
    app.page.get_by_role("radio", name="Curves").click()
    left = app.page.locator(".js-plotly-plot .legendtext")
    expect(left).to_have_text(["Digits · rate 0.1 · 2 members (mean of 3)"])
    app.page.reload()
    expect(left).to_have_text(["Digits · rate 0.1 · 2 members (mean of 3)"])
    app.page.get_by_role("button", name="Show all").click()
    expect(app.page.locator(".js-plotly-plot .legendtext")).to_have_count(2)
    assert "keep" not in app.page.url
    # On the map a press takes a member, and the later of the two before it stays.
    app.page.get_by_role("radio", name="Map").click()
    points = app.page.locator(".js-plotly-plot .points path.point")
    expect(points).to_have_count(12)
    for number, word in ((0, "-1"), (5, "1-6")):
        app.settle()  # The map is drawn anew after a press: where a point is, it stays.
        points.nth(number).hover(force=True)
        points.nth(number).click(force=True)
        app.page.wait_for_url(f"**pair=*{word}")
    expect(app.page.get_by_text("answer", exact=False).filter(has_text="the first has")).to_be_visible()


@pytest.mark.long
def test_the_keyboard_brushes_moves_axes_and_turns_them_and_the_picture_is_kept(app: App) -> None:
    app.open("compare", runs=runs_of_two_rates(), view="settings")
    expect(app.page.locator(LINES)).to_have_count(6)
    app.settle()
    low = end(app, "accuracy", 0)
    picture = app.page.locator(".coordinates")
    picture.evaluate("picture => { picture.before = true }")
    low.press("ArrowUp")
    low.press("ArrowUp")
    expect(app.page.locator(f"{LINES}.dim")).to_have_count(2)
    app.page.wait_for_url("**keep=accuracy**")
    app.settle()
    expect(end(app, "accuracy", 0)).to_be_focused()
    assert picture.evaluate("picture => picture.before"), "drawn anew"
    assert len(end(app, "accuracy", 0).get_attribute("aria-valuetext") or "") > 2
    label = app.page.locator('.coordinates [data-focus="label accuracy"]')
    label.press("ArrowLeft")
    order = app.page.locator(".coordinates .over")
    expect(order.first).to_have_attribute("data-axis", "accuracy")
    log = app.page.locator('.coordinates [data-focus="log learning_rate"]')
    expect(log).to_have_text("log")
    log.press("Enter")
    expect(log).to_have_text("linear")
    tools = app.page.locator(".coordinates .tools")
    tools.locator("summary").click()
    with app.page.expect_download() as saved:
        tools.get_by_role("button", name="PNG").click()
    pixels = np.asarray(Image.open(io.BytesIO(saved.value.path().read_bytes())).convert("RGB"))
    assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 10
    expect(app.page.locator(f"{LINES}.dim")).to_have_count(2)
    standing = picture.evaluate("picture => picture.querySelector('svg').outerHTML")
    for size, (width, height) in {"column": (85, None), "slide": (254, 142.875)}.items():
        tools.get_by_role("combobox").select_option(size)
        with app.page.expect_download() as saved:
            tools.get_by_role("button", name="PDF").click()
        assert saved.value.suggested_filename == f"parallel-coordinates-{size}-{width}mm.pdf"
        pdf = saved.value.path().read_bytes()
        assert pdf.startswith(b"%PDF-1.4\n")
        box = re.search(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", pdf)
        assert box
        wide, high = (float(side) / 72 * 25.4 for side in box.groups())
        assert abs(wide - width) < 0.01
        assert height is None or abs(high - height) < 0.2, "as high as a slide, to a pixel"
        [packed] = re.findall(rb"/Length \d+ >>\nstream\n(.*?)\nendstream", pdf, re.S)
        drawn = zlib.decompress(packed).decode()
        assert "/I0 Do" not in drawn, "lines as lines, not a picture of them"
        words = [bytes.fromhex(one).decode("cp1252") for one in TEXT.findall(drawn)]
        assert {"Accuracy", "Learning rate", "NLL, nats"} <= set(words)
        assert "linear" not in words, "what only the page needs is left out"
    assert picture.evaluate("picture => picture.querySelector('svg').outerHTML") == standing
    with app.page.expect_download() as saved:
        tools.get_by_role("button", name="CSV").click()
    head, *rows = saved.value.path().read_text().splitlines()
    assert head == "run,accuracy,learning_rate,nll,brushed"
    assert [row.endswith(",true") for row in rows].count(True) == 4
    end(app, "accuracy", 0).press("Delete")
    expect(app.page.locator(f"{LINES}.dim")).to_have_count(0)
