"""Classify as a person meets it: files handed in, pasted, drawn, pressed, on a phone."""

import base64
import io
import re
from collections.abc import Sequence

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Locator, Page, expect

from ensemble import datasets
from ensemble.pictures.files.picture import open_picture
from ensemble.pictures.preparation import prepare_picture
from ensemble.runs import Run, open_members
from ensemble.ui.classify.input import drawing_sheet
from ensemble.wording.formats import format_probability
from tests.browser.conftest import App, Server
from tests.browser.page_members import GREY_PIXELS
from tests.pages.members import askable

PATIENCE = 120_000  # ms: the members are opened in the background, and compiled for
SEVEN = [(40, 50), (140, 50), (80, 220)]
ONE = [(230, 50), (230, 220)]
PASTE = """base64 => {
  const held = new DataTransfer()
  if (base64) {
    const bytes = Uint8Array.from(atob(base64), char => char.charCodeAt(0))
    held.items.add(new File([bytes], 'image.png', { type: 'image/png' }))
  } else held.setData('text/plain', 'no picture')
  document.body.dispatchEvent(
    new ClipboardEvent('paste', { clipboardData: held, bubbles: true, composed: true }))
}"""


COUNT_MESSAGES = """() => {
  const { send } = WebSocket.prototype
  window.messages = 0
  WebSocket.prototype.send = function (...given) {
    window.messages += 1
    return send.apply(this, given)
  }
}"""


@pytest.fixture(scope="module")
def run(server: Server) -> Run:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENSEMBLE_RUNS", str(server.runs))
        # What compiles soonest: the server's first answer waits for it.
        return askable(members=2, epochs=1, network="logistic")


def paper(*numbers: int) -> bytes:
    """Test digits as dark ink side by side on light paper."""
    images = datasets.load_dataset("digits").test_images[list(numbers), ..., 0]
    across = np.hstack([np.pad(image.repeat(4, 0).repeat(4, 1), 20) for image in images])
    buffer = io.BytesIO()
    Image.fromarray((240 - 0.8 * across).astype(np.uint8)).save(buffer, "PNG")
    return buffer.getvalue()


def paste(page: Page, content: bytes) -> None:
    """What Ctrl+V does; with nothing, as if words were in the clipboard."""
    # Disabled until the script that listens is there, which comes after the button.
    expect(page.get_by_role("button", name="Paste a picture")).to_be_enabled()
    page.evaluate(PASTE, base64.b64encode(content).decode())


def draw(page: Page, points: Sequence[tuple[int, int]], lift: bool = True) -> None:
    """One stroke on the sheet, once its script listens, and the members in the browser do."""
    expect(page.locator(".live")).to_have_attribute("data-live", "true")
    expect(page.locator(".sheet")).to_have_attribute("data-strokes", re.compile(r"\d"))
    box = page.locator(".sheet canvas").bounding_box()
    assert box
    places = [(box["x"] + x, box["y"] + y) for x, y in points]
    page.mouse.move(*places[0])
    page.mouse.down()
    for place in places[1:]:
        page.mouse.move(*place, steps=5)
    if lift:
        page.mouse.up()


def live(page: Page) -> Locator:
    """The answer of the members in the browser."""
    return page.locator(".live")


def explain(page: Page) -> None:
    """Has the server read the drawing, too."""
    page.get_by_role("button", name="Explain this answer").click()


def said(page: Page) -> Locator:
    return page.locator(".answer .digit")


def boxes(page: Page) -> Locator:
    """Those of the marks: they stand there whatever untrained members say of them."""
    return page.locator(".boxes .box")


def inked(page: Page) -> int:
    """How many pixels of the sheet are dark."""
    return int(
        page.locator(".sheet canvas").evaluate(
            "sheet => { const { width, height } = sheet;"
            "const all = sheet.getContext('2d').getImageData(0, 0, width, height).data;"
            "let dark = 0; for (let i = 3; i < all.length; i += 4) dark += all[i] > 128; return "
            "dark }"
        )
    )


def test_files_are_handed_in_and_pressed(app: App, run: Run) -> None:
    app.open("classify", run=run.id)
    page = app.page
    files = [("number.png", paper(0, 1, 2)), ("no.png", b"no picture"), ("one.png", paper(3))]
    page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(
        [{"name": name, "mimeType": "image/png", "buffer": content} for name, content in files]
    )
    expect(said(page)).to_have_count(3, timeout=PATIENCE)
    expect(page.get_by_text("1 of 3")).to_be_visible()
    expect(page.locator(".picture img")).to_have_js_property("complete", True)
    app.settle()
    boxes(page).nth(1).click()
    expect(said(page).nth(1)).to_have_attribute("aria-pressed", "true")
    said(page).nth(2).click()
    expect(boxes(page).nth(2)).to_have_attribute("aria-pressed", "true")
    app.settle()
    page.get_by_role("button", name="chevron_right").click()
    expect(page.get_by_test_id("stAlert")).to_contain_text("no.png")
    assert "fault of the program" not in page.get_by_test_id("stApp").inner_text()


def test_what_is_pasted_is_read_and_a_part_of_it_alone(app: App, run: Run) -> None:
    app.open("classify", run=run.id)
    page, content = app.page, paper(4, 5)
    paste(page, content)
    expect(boxes(page)).to_have_count(2, timeout=PATIENCE)
    app.settle()
    frame = page.locator(".picture .frame")
    frame.scroll_into_view_if_needed()
    box = frame.bounding_box()
    assert box
    page.mouse.move(box["x"] + 2, box["y"] + 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] - 2, steps=4)
    page.mouse.up()
    expect(boxes(page)).to_have_count(1)
    expect(page.locator(".picture .crop")).to_be_visible()
    page.get_by_role("button", name="As it was").click()
    expect(boxes(page)).to_have_count(2)
    app.settle()
    paste(page, b"")
    expect(page.locator(".paste .note")).to_contain_text("There is no picture")
    written = [path for path in app.server.log.parent.rglob("*") if path.is_file()]
    assert app.server.log in written
    assert all(content[:64] not in path.read_bytes() for path in written), "nothing on the disk"


@pytest.mark.long
def test_what_is_drawn_in_a_slow_browser_is_read_by_what_the_program_finds(app: App, run: Run) -> None:
    """A script that is run again before the browser has drawn its widgets takes no value away."""
    page = app.page
    app.open("classify", run=run.id, input="draw")
    page.locator(".sheet canvas").wait_for()
    throttle = page.context.new_cdp_session(page)
    throttle.send("Emulation.setCPUThrottlingRate", {"rate": 6})
    try:
        for shape in (SEVEN, ONE):
            draw(page, shape)
            explain(page)
            expect(boxes(page)).to_have_count(1, timeout=PATIENCE)
            page.get_by_role("button", name="Clear").click()
            expect(boxes(page)).to_have_count(0)
    finally:
        throttle.send("Emulation.setCPUThrottlingRate", {"rate": 1})
        throttle.detach()
    draw(page, SEVEN)
    explain(page)
    expect(page.get_by_role("radio", name="Auto")).to_be_checked()
    expect(page.get_by_text("not None")).to_have_count(0)


def test_a_drawing_is_read_undone_and_kept_on_a_narrow_screen(app: App, run: Run) -> None:
    page = app.page
    page.set_viewport_size({"width": 400, "height": 900})
    app.open("classify", run=run.id, input="draw")
    sheet = page.locator(".sheet")
    draw(page, SEVEN)
    explain(page)
    expect(boxes(page)).to_have_count(1, timeout=PATIENCE)
    seven = inked(page)
    draw(page, ONE)
    expect(boxes(page)).to_have_count(2)
    app.settle()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.keyboard.press("Control+z")
    expect(boxes(page)).to_have_count(1)
    assert inked(page) == seven
    app.settle()
    page.get_by_role("radio", name="Upload").click()
    expect(sheet).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.get_by_role("radio", name="Draw").click()
    expect(sheet).to_have_attribute("data-strokes", "1")
    assert inked(page) == seven
    page.get_by_role("button", name="Clear").click()
    expect(page.get_by_role("heading", name=re.compile("What does it say"))).to_be_visible()
    app.settle()


def test_members_answer_in_the_browser_while_one_draws(app: App, run: Run) -> None:
    page = app.page
    app.open("classify", run=run.id, input="draw")
    expect(live(page)).to_have_attribute("data-live", "true")
    # The server opens the members once, whoever draws; from then on it is asked nothing.
    expect(page.get_by_text("The server is loading them too")).to_have_count(0, timeout=PATIENCE)
    app.settle()
    page.evaluate(COUNT_MESSAGES)
    draw(page, SEVEN[:2])
    draw(page, SEVEN[1:], lift=False)
    expect(page.locator("#try-answer")).to_contain_text(" with ")
    page.mouse.up()
    expect(live(page)).to_have_attribute("data-asked", "")
    seen = np.array(page.locator("#try-seen").evaluate(GREY_PIXELS), np.uint8)
    shares = open_members(run.id, 1).predict_probabilities(seen.reshape(1, 28, 28, 1))[:, 0]
    votes = shares.argmax(axis=1)
    captions = page.locator("#try-members figcaption").all_text_contents()
    assert captions == [f"member {number + 1}: {vote}" for number, vote in enumerate(votes)]
    averaged = shares.mean(axis=0)
    sure = format_probability(float(averaged.max()))
    expect(page.locator("#try-answer")).to_have_text(f"{averaged.argmax()} with {sure}.")
    sheet = page.locator(".sheet").bounding_box()
    assert sheet
    strokes = page.evaluate("window.ensembleDrawing.drawing.strokes")
    drawn = {"strokes": strokes, "width": round(sheet["width"]), "height": 320}
    picture = open_picture(drawing_sheet.encode_drawing_png(drawn))
    (mark,) = prepare_picture(picture).marks
    apart = np.abs(seen.reshape(28, 28).astype(int) - mark.image[..., 0])
    assert apart.mean() < 4, "the server makes the same image of it but for the edges of ink"
    assert page.evaluate("window.messages") == 0
    explain(page)
    expect(boxes(page)).to_have_count(1)
    expect(live(page)).to_be_hidden()
    page.get_by_role("button", name="Clear").click()
    expect(page.locator("#try-intro")).to_be_visible()
    expect(boxes(page)).to_have_count(0)
    app.settle()
    draw(page, SEVEN)
    expect(page.locator("#try-answer")).to_contain_text(" with ")
    page.get_by_role("radio", name="Upload").click()
    expect(page.locator(".sheet")).to_have_count(0)
    app.settle()
    page.get_by_role("radio", name="Draw").click()
    expect(page.locator(".sheet")).to_have_attribute("data-strokes", "1")
    expect(page.locator("#try-answer")).to_contain_text(" with ")
    draw(page, ONE)
    expect(boxes(page)).to_have_count(2)
