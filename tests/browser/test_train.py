"""Training as a person does it: set, launch, watch, zoom, reload, stop and go on."""

import json
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import pytest
from playwright.sync_api import ElementHandle, Locator, expect

from ensemble import runs
from ensemble.analysis.members import disagreement
from ensemble.config import EnsembleConfig
from ensemble.jobs.status import write_status
from ensemble.runs.history import write_predictions
from ensemble.storage.records.json_lines import append_line
from tests.analysis.draws import distributions
from tests.browser.conftest import App, Server, clear_runs, stop_button
from tests.ui.train.test_history import epoch

PATIENCE = 120_000  # ms: compiling on a loaded machine
# The chart lives in a shadow root, which locators pierce and `document` does not.
# The first screen has one of a recorded run.
CHART = '.curves:not([data-run="example"])'


FIRST = ("dataset", "network")
FIVE = ("members", "learning_rate", "momentum", "epochs", "batch_size")
LOW = 800  # pixels of a small laptop's window, of 1,280
# The controls among these that something else covers at their middle.
COVERED = """controls => controls.filter(control => {
  const box = control.getBoundingClientRect()
  const top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2)
  return !control.contains(top)
}).map(control => control.className)"""
# Gives one after the other the focus; those that stand behind the bar with Launch then.
BEHIND = """settings => [...settings.querySelectorAll('input, button, summary')].filter(one => {
  one.focus()
  const bar = document.querySelector('.st-key-launch_bar').getBoundingClientRect()
  const box = one.getBoundingClientRect()
  return document.activeElement === one && box.height > 1 && box.bottom > bar.top
}).map(one => one.outerHTML.slice(0, 80))"""


@pytest.fixture(autouse=True)
def no_runs_left(server: Server) -> Iterator[None]:
    """Each test begins without a run, also after one that failed."""
    yield
    clear_runs(server)


def check_first_settings(app: App) -> None:
    """Fails where the first settings are not in view together, close below each other."""
    bar = app.page.locator(".st-key-launch_bar")
    controls = [app.page.locator(f".st-key-set_{name}") for name in FIRST]
    controls += [app.page.locator(f"#field-{name}") for name in FIVE]
    for control in controls:
        expect(control).to_be_visible()
    launch = bar.get_by_role("button", name="Launch")
    expect(launch).to_contain_text("about")  # the devices have answered
    expect(app.page.get_by_test_id("stSkeleton")).to_have_count(0)
    app.settle()
    below = bar.bounding_box()
    assert below
    assert below["y"] + below["height"] <= LOW
    boxes = [box for control in controls if (box := control.bounding_box())]
    assert len(boxes) == len(FIRST) + len(FIVE)
    assert boxes[0]["y"] >= 0
    for upper, lower in pairwise(boxes):
        assert 0 <= lower["y"] - upper["y"] - upper["height"] <= 12, "something stands between"
    assert boxes[-1]["y"] + boxes[-1]["height"] <= below["y"]
    assert all(box["height"] <= 44 for box in boxes[:2]), "a line each"
    first = app.page.locator(", ".join(f".st-key-set_{name}" for name in FIRST))
    assert first.evaluate_all(COVERED) == []
    fields = app.page.locator(".fields")
    assert fields.evaluate("one => one.getBoundingClientRect().bottom") <= below["y"]


def test_the_first_settings_stand_in_view_together_and_launch_covers_none(app: App) -> None:
    app.page.set_viewport_size({"width": 1280, "height": LOW})
    app.open("train")
    check_first_settings(app)
    run = finished()
    app.open("train", run=run.id)
    check_first_settings(app)
    app.page.get_by_text("More settings").click()
    app.page.get_by_role("textbox", name="Find a setting").wait_for()
    app.settle()
    more = app.page.locator(".st-key-launch_more")
    assert more.evaluate(BEHIND) == []
    assert more.evaluate("one => one.parentElement.scrollTop") > 0, "the last was out of sight"


def test_a_number_is_dragged_typed_stepped_put_back_and_kept_when_loaded_again(app: App) -> None:
    app.open("train")
    launch = app.page.locator(".st-key-launch button")
    members = type_number(app, "members", "11")
    expect(launch).to_contain_text("Launch 11 members")
    members.press("ArrowUp")
    expect(launch).to_contain_text("Launch 12 members")
    type_number(app, "members", "5000")
    expect(app.page.locator("#problem-members")).to_have_text("Members goes from 1 to 4096: 5000 is outside.")
    expect(members).to_have_value("5000")
    expect(launch).to_contain_text("Launch 12 members")
    slide = app.page.locator('[data-name="members"] .slide').bounding_box()
    assert slide
    middle = slide["y"] + slide["height"] / 2
    app.page.mouse.move(slide["x"] + slide["width"] / 2, middle)
    app.page.mouse.down()
    app.page.mouse.move(slide["x"] + slide["width"] + 5, middle, steps=4)
    app.page.mouse.up()
    expect(launch).to_contain_text("Launch 4,096 members")
    expect(app.page.locator("#problem-members")).to_have_text("")
    type_number(app, "learning_rate", "0.0137")
    app.settle()
    app.page.reload()
    app.settle()
    expect(launch).to_contain_text("Launch 4,096 members")
    expect(app.page.locator("#field-learning_rate")).to_have_value("0.0137")
    app.page.get_by_role("button", name="Members: back to 4, as in the default settings").click()
    expect(launch).to_contain_text("Launch 4 members")


def type_number(app: App, name: str, text: str) -> Locator:
    """Types into one of the five, and leaves it with Enter."""
    box = app.page.locator(f"#field-{name}")
    box.fill(text)
    box.press("Enter")
    return box


def set_up(app: App, members: str, epochs: str) -> None:
    """Members and epochs, typed."""
    app.open("train")
    for name, wanted in (("members", members), ("epochs", epochs)):
        type_number(app, name, wanted)
        app.settle()
    expect(app.page.locator(".st-key-launch button")).to_contain_text(f"Launch {members} ")


def launch(app: App, members: str = "2", epochs: str = "1,000", network: str = "MLP") -> str:
    """Launches a run and waits for its first curve; returns its id."""
    set_up(app, members, epochs)
    app.page.get_by_role("combobox", name="Network").click()
    app.page.get_by_role("option", name=network).click()
    app.settle()
    before = app.page.url  # it may name a run already
    app.page.locator(".st-key-launch button").click()
    app.page.wait_for_url(lambda url: "run=digits-" in url and url != before)
    expect(app.page.locator(f"{CHART} path").first).to_be_attached(timeout=PATIENCE)
    return app.page.url.split("run=")[1]


def chart(app: App) -> ElementHandle:
    return app.page.locator(CHART).element_handle()


def points(app: App) -> int:
    return int(app.page.locator(CHART).get_attribute("data-points") or 0)


def labels(app: App) -> list[str]:
    """What the axes of the first panel say."""
    panel = app.page.locator(f"{CHART} .panel").first
    # Not a curve's name: it comes as soon as the curve has grown into the view.
    return sorted(panel.locator("g:not(.ends) text").all_text_contents())


def drag(app: App) -> None:
    """Zooms into a box of the first panel."""
    box = app.page.locator(f"{CHART} .panel svg").first.bounding_box()
    assert box
    app.page.mouse.move(box["x"] + 70, box["y"] + 60)
    app.page.mouse.down()
    app.page.mouse.move(box["x"] + 240, box["y"] + 190, steps=6)
    app.page.mouse.up()
    expect(app.page.locator(CHART)).to_have_attribute("data-zoomed", "true")


def wait_for_more(app: App, than: int) -> None:
    deadline = time.monotonic() + 240
    while points(app) <= than:
        assert time.monotonic() < deadline, "the curves do not move"
        app.page.wait_for_timeout(100)


def test_a_run_is_launched_watched_zoomed_stopped_and_resumed(app: App) -> None:
    run_id = launch(app)
    page = app.page
    assert runs.find_run(run_id).config.members == 2
    wait_for_more(app, points(app))

    drag(app)
    page.locator(CHART).get_by_role("button", name="member 2").click()
    node, zoomed, lines = chart(app), labels(app), page.locator(f"{CHART} path").count()
    assert not [
        key
        for key in page.locator(f"{CHART} path").evaluate_all("paths => paths.map(path => path.dataset.key)")
        if "member 2" in key
    ]
    wait_for_more(app, points(app))
    assert node.evaluate("chart => chart.isConnected"), "the chart was drawn anew"
    assert labels(app) == zoomed
    assert page.locator(f"{CHART} path").count() >= lines

    page.reload()
    app.settle()
    assert run_id in page.url
    expect(page.locator(CHART)).to_have_attribute("data-zoomed", "true")
    wait_for_more(app, points(app))

    second = page.context.new_page()
    second.goto(page.url)
    expect(second.locator(f"{CHART} path").first).to_be_attached()
    expect(stop_button(second)).to_be_visible()
    stop_button(page).click()
    expect(page.get_by_role("button", name="Resume")).to_be_visible(timeout=PATIENCE)
    expect(second.get_by_role("button", name="Resume")).to_be_visible()
    second.close()

    at = runs.find_run(run_id).status.step
    assert runs.find_run(run_id).state == "stopped"
    page.get_by_role("button", name="Resume").click()
    expect(stop_button(page)).to_be_visible(timeout=PATIENCE)
    deadline = time.monotonic() + PATIENCE / 1000
    while runs.find_run(run_id).status.step <= at:
        assert time.monotonic() < deadline, "the resumed run does not go on"
        page.wait_for_timeout(100)
    runs.request_run_stop(run_id)
    expect(page.get_by_role("button", name="Resume")).to_be_visible(timeout=PATIENCE)


def test_the_chart_stands_before_its_first_curve(app: App) -> None:
    run = runs.create_run(EnsembleConfig(members=2))  # without a worker: it waits
    # Not `open`: the server looks for the first curve again and again, and may never be at rest.
    app.page.goto(f"{app.server.url}/train?run={run.id}")
    panels = app.page.locator(f"{CHART} .panel svg")
    expect(panels).to_have_count(3)
    expect(panels.last).to_contain_text("is shown after the first epoch")
    expect(app.page.locator(f"{CHART} .disputed")).to_contain_text("after the first epoch")
    panels.first.hover()
    drag(app)
    app.page.locator(CHART).get_by_role("button", name="Reset zoom").click()
    expect(app.page.locator(CHART)).to_have_attribute("data-zoomed", "false")
    assert points(app) == 0


def test_what_diversity_buys_is_drawn_and_disputed_digits_open_their_votes(app: App) -> None:
    run = finished()
    app.page.set_viewport_size({"width": 1600, "height": 900})
    app.open("train", run=run.id)
    panels = app.page.locator(f"{CHART} .panel")
    tops = [panels.nth(i).bounding_box() for i in range(3)]
    assert len({box["y"] for box in tops if box}) == 1, "three do not stand side by side"
    expect(panels.last.locator(".ends")).to_contain_text("gain 0.1")
    panels.last.get_by_role("button", name="Members differ").click()
    ends = panels.last.locator(".ends text")
    expect(ends).to_have_count(5)
    heights = sorted(float(y) for y in ends.evaluate_all("all => all.map(e => e.getAttribute('y'))"))
    assert all(above - below > 12 for below, above in pairwise(heights)), "names hide each other"
    whole = panels.first.locator('path[data-key="ensemble test"]').bounding_box()
    assert whole
    app.page.mouse.move(whole["x"] + whole["width"], whole["y"])
    beside = app.page.locator(f"{CHART} .tip tr")
    expect(beside).to_have_count(6)  # the ensemble, the average member and four members
    assert [row.split("\t")[-1] for row in beside.all_inner_texts()] == ["0.2", *["0.3"] * 5]
    tall = app.page.locator(CHART).bounding_box()
    app.page.reload()
    expect(ends.last).to_be_attached()  # what was switched to is still there, and as high
    assert app.page.locator(CHART).bounding_box() == tall
    first = app.page.locator(f"{CHART} .disputed a").first
    votes = first.locator(".votes").inner_text()
    first.click()
    app.page.wait_for_url(re.compile(rf"predictions\?run={run.id}&epoch=2&digit="))
    expect(app.page.get_by_role("dialog")).to_contain_text(f"the members split {votes}")


def finished() -> runs.Run:
    """A run of four members that has ended, without its training."""
    run = runs.create_run(EnsembleConfig(members=4, epochs=2))
    for number in (1, 2):
        drawn = distributions(4, 500, 10, seed=number)
        write_predictions(run.path, number, drawn)
        differ = disagreement.measure_disagreement(drawn)
        append_line(
            run.path / "history.jsonl",
            {
                "kind": "epoch",
                "epoch": number,
                "step": number,
                "progress": float(number),
                "train_loss": [0.3] * 4,
                "train_accuracy": [0.9] * 4,
                "test_loss": [0.3] * 4,
                "test_accuracy": [0.9] * 4,
                "ensemble_test_nll": 0.2,
                "ensemble_test_accuracy": 0.95,
                "disagreement": differ.pairwise,
                "member_disagreement": differ.of_members,
            },
        )
    write_status(run.path, replace(run.status, state="finished", epoch=2, epochs=2))
    return run


def test_a_loss_that_ran_away_has_an_axis_that_can_be_read(app: App) -> None:
    run = runs.create_run(EnsembleConfig(members=1, epochs=30))
    rows = [epoch(float(done), [0.1], 0.1) | {"test_loss": [10.0**done], "train_loss": [2.3]} for done in range(1, 31)]
    (run.path / "history.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    write_status(run.path, replace(run.status, state="finished", epoch=30, epochs=30))
    app.open("train", run=run.id)
    panel = app.page.locator(f"{CHART} .panel").first
    expect(panel.locator("path").first).to_be_attached()
    app.page.get_by_role("button", name="Axes").click()
    for scale, tick in (("Linear", "8e29"), ("Log", "1e20")):
        app.page.get_by_role("radio", name=scale).click()
        app.settle()
        expect(panel.locator("text", has_text=tick)).to_be_visible()
        left = panel.evaluate("panel => panel.getBoundingClientRect().left")
        marks = panel.locator("text[text-anchor=end]")
        boxes = [mark.bounding_box() for mark in marks.all()]
        assert len(boxes) > 3
        assert all(box and box["x"] >= left for box in boxes), "a label is cut off"
        tops = sorted(box["y"] for box in boxes if box)
        assert all(b - a > 12 for a, b in pairwise(tops)), "labels stand on each other"


def test_a_bad_link_says_so_and_leads_on(app: App) -> None:
    app.open("train", run="../../etc/passwd")
    expect(app.page.get_by_text("There is no run “../../etc/passwd”")).to_be_visible()
    app.page.get_by_role("button", name=re.compile("Show the newest run|Start with a")).click()
    # The newest may be one that a test before has just deleted: the list is two seconds old.
    expect(app.page.get_by_text("etc/passwd")).to_have_count(0)


def test_a_phone_has_no_sideways_scroll(app: App) -> None:
    app.page.set_viewport_size({"width": 400, "height": 800})
    app.open("train")
    wide = app.page.get_by_test_id("stMain").evaluate("main => main.scrollWidth - main.clientWidth")
    assert wide <= 0
