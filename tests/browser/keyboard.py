"""How far a thing is for who has a keyboard alone."""

from playwright.sync_api import Page

MAX_STOPS = 80
FOCUSED_TEXT = """() => {
  let one = document.activeElement
  while (one?.shadowRoot?.activeElement) one = one.shadowRoot.activeElement
  return one?.innerText ?? ''
}"""


def list_stops(page: Page, label: str) -> list[str]:
    """What the Tab key comes to from where it is, up to the first that holds these words."""
    texts: list[str] = []
    while len(texts) < MAX_STOPS and not (texts and label in texts[-1]):
        page.keyboard.press("Tab")
        texts.append(page.evaluate(FOCUSED_TEXT))
    return texts
