"""A report opened from the disk: it draws itself in both looks and on paper, and asks nobody."""

from pathlib import Path

from playwright.sync_api import Page, expect

from ensemble.report import render_report
from tests.pages.ensembles import trained

NAME = "<script>document.title='zz'</script><img src=http://zz.example/x onerror=zz()>"
DRAWN = "figure.drawn:not([hidden]) .plot[data-drawn] .main-svg"
GROUND = f"getComputedStyle(document.querySelector('{DRAWN}')).backgroundColor"
WIDTHS = f"[...document.querySelectorAll('{DRAWN}')].map(one => one.clientWidth)"


def test_a_file_draws_itself_asks_nobody_and_shows_a_hostile_name(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(render_report([trained(name=NAME, epochs=1)]), "utf-8")
    asked, said = list[str](), list[str]()
    tab = page.context.new_page()
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.emulate_media(color_scheme="light")
    tab.goto(path.as_uri())
    tab.wait_for_selector("html[data-state=drawn]")
    expect(tab.get_by_role("heading", level=1)).to_have_text(NAME)
    assert tab.title() == NAME
    shown = tab.locator("figure.drawn:not([hidden])")
    assert shown.locator(".main-svg").count() >= shown.count() > 8
    assert tab.evaluate(GROUND) == "rgb(255, 255, 255)"
    tab.get_by_role("button", name="Dark").click()
    assert tab.evaluate(GROUND) == "rgb(14, 16, 19)"
    tab.get_by_role("button", name="Double fault").click()
    expect(tab.get_by_role("img", name="Double fault")).to_be_visible()
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert tab.evaluate(GROUND) == "rgb(255, 255, 255)", "paper is light"
    assert set(tab.evaluate(WIDTHS)) == {680}
    assert tab.locator("details:not([open])").count() == 0
    assert asked == [path.as_uri()]
    assert said == []
    tab.close()
