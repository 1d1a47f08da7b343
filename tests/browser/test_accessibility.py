"""What people who use a keyboard or a screen reader meet: axe finds nothing, and Launch is near."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser.conftest import App
from tests.browser.keyboard import list_stops
from tests.browser.serving import REPO
from tests.pages.ensembles import trained
from tests.views.test_numeric_views import build_ensemble, keep_run

PAGES = sorted(path.stem for path in (REPO / "pages").glob("*.py"))
# Either theme and either width; with --all each theme at each width.
LOOKS, OTHER_LOOKS = (("light", 1280), ("dark", 400)), (("light", 400), ("dark", 1280))
# What is Streamlit's own, by rule and by what it stands on.
STREAMLIT_OWN = {
    # Its uploader has the role that react-dropzone gives it (react-dropzone#1182) and a label;
    # streamlit#15921 is about the same element.
    "presentation-role-conflict": 'data-testid="stFileUploaderDropzone"'
}
MAX_STOPS_TO_LAUNCH = 12
FOCUSED_LABEL = """() => {
  let one = document.activeElement
  while (one?.shadowRoot?.activeElement) one = one.shadowRoot.activeElement
  return one?.getAttribute('aria-label') ?? ''
}"""


def violations(page: Page) -> list[str]:
    """What axe finds, but for what is Streamlit's own."""
    found = []
    for rule in Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]:
        own = STREAMLIT_OWN.get(rule["id"])
        for node in rule["nodes"]:
            if own is None or own not in node["html"]:
                found.append(f"{rule['id']}: {node['html'][:200]} {node.get('failureSummary')}")
    return found


def measure_menu_place(page: Page) -> tuple[int, int]:
    """Where one of the menu's links begins, in pixels."""
    box = page.get_by_test_id("stTopNavLink").filter(has_text="Compare").bounding_box()
    assert box
    return round(box["x"]), round(box["y"])


@pytest.fixture(scope="module")
def places() -> dict[str, tuple[int, int]]:
    """Where the menu was on the pages that were opened before."""
    return {}


@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_in_both_themes_at_two_widths_and_the_menu_keeps_its_place(
    app: App, name: str, places: dict[str, tuple[int, int]], pytestconfig: pytest.Config
) -> None:
    first, second = trained(members=3), trained(members=3, seed=1)
    query = {"runs": f"{first.id},{second.id}"} if name == "compare" else {"run": first.id}
    if name == "numbers":
        query["run"] = keep_run(build_ensemble("normal")).id
    app.open(name, **query)
    app.page.set_viewport_size({"width": 1280, "height": 800})
    app.settle()
    places[name] = measure_menu_place(app.page)
    assert len(set(places.values())) == 1, places
    found = {}
    for scheme, width in (*LOOKS, *(OTHER_LOOKS if pytestconfig.getoption("--all") else ())):
        app.page.emulate_media(color_scheme=scheme)
        app.page.set_viewport_size({"width": width, "height": 800})
        app.settle()
        if wrong := violations(app.page):
            found[scheme, width] = wrong
    assert not found


def test_launch_is_near_for_a_keyboard_and_the_page_says_what_it_is(app: App) -> None:
    run = trained(members=3)
    app.open("train", run=run.id)
    launch = app.page.locator(".st-key-launch button")
    launch.wait_for()
    texts = list_stops(app.page, "Launch")
    assert "Launch" in texts[-1]
    assert len(texts) <= MAX_STOPS_TO_LAUNCH, texts
    assert texts[0] == "Skip to main content"
    assert app.page.get_by_role("heading", name="Train", exact=True).count() == 1


@pytest.mark.long
@pytest.mark.parametrize("width", [900, 1600])
def test_the_menu_stands_at_one_place_on_all_pages(app: App, width: int) -> None:
    run = trained(members=3)
    app.page.set_viewport_size({"width": width, "height": 800})
    places = {}
    for name in PAGES:
        app.open(name, run=run.id)
        places[name] = measure_menu_place(app.page)
    assert len(set(places.values())) == 1, places


def test_in_a_low_window_launch_and_every_setting_can_be_reached(app: App) -> None:
    app.page.set_viewport_size({"width": 1280, "height": 520})
    app.open("train", run=trained(members=3).id)
    launch = app.page.locator(".st-key-launch button")
    launch.click(trial=True)
    box = launch.bounding_box()
    assert box
    assert box["y"] + box["height"] <= 520
    app.page.locator("#field-batch_size").click()
    app.page.get_by_text("More settings").click()
    app.page.get_by_role("textbox", name="Find a setting").click()


def test_the_first_digit_is_near_for_a_keyboard_and_has_the_focus_again_after_its_dialog(app: App) -> None:
    app.open("predictions", run=trained(members=3).id)
    page = app.page
    page.locator(".digits button").first.wait_for()
    for label in ("Skip to main content", "Skip to the images"):
        assert len(list_stops(page, label)) == 1
        page.keyboard.press("Enter")
    page.keyboard.press("ArrowRight")
    opened = page.evaluate(FOCUSED_LABEL)
    assert opened.startswith("Test digit ")
    page.keyboard.press("Enter")
    dialog = page.get_by_test_id("stDialog")
    dialog.wait_for()
    app.settle()
    page.keyboard.press("Escape")
    dialog.wait_for(state="detached")
    page.wait_for_function(f"label => ({FOCUSED_LABEL})() === label", arg=opened)


def test_one_button_is_the_main_one(app: App) -> None:
    primary = app.page.locator("[data-testid=stBaseButton-primary]:visible")
    app.open("train")
    expect(primary).to_have_count(1)
    for state in ("finished", "stopped"):
        run = trained(members=3, state=state)
        app.open("train", run=run.id)
        app.rest()
        expect(primary).to_have_count(1)


def test_a_name_without_room_is_cut_in_its_middle_and_whole_on_hover(app: App) -> None:
    name = f"A study of {'very ' * 9}small networks · seed 7"
    run = trained(members=3, name=name)
    app.open("predictions", run=run.id)
    heading = app.page.locator(".st-key-run_line h3")
    expect(heading).to_have_attribute("title", name)
    expect(heading).to_have_attribute("data-tail", " · seed 7")
    assert app.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    short = trained(members=3, name="short")
    app.open("predictions", run=short.id)
    expect(heading).to_have_attribute("title", "short")
    assert heading.get_attribute("data-tail") is None
