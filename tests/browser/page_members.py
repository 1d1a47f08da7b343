"""The members of a report, asked in a browser by the worker that the page itself would start."""

import base64
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from playwright.sync_api import Page

ASK = """async ({ run, images, times }) => {
  const known = JSON.parse(await unpackText("classifiers")).find((one) => one.run === run);
  const text = await unpackText("worker");
  const worker = new Worker(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
  const ask = (message) => new Promise((done, fail) => {
    worker.onmessage = ({ data }) => (data.kind === "failed" ? fail(data.why) : done(data));
    worker.onerror = (event) => fail(event.message);
    worker.postMessage(message);
  });
  const began = performance.now();
  const capsule = document.querySelector(`script[data-run="${run}"]`).textContent;
  await ask({ ...known, kind: "open", capsule });
  const opened = performance.now() - began;
  const letters = atob(images);
  const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  const ms = [];
  let said;
  for (let time = 0; time < times; time++) {
    const asked = performance.now();
    said = await ask({ kind: "ask", serial: 1, images: bytes });
    ms.push(performance.now() - asked);
  }
  worker.terminate();
  return { logits: Array.from(said.logits), opened, ms };
}"""


GREY_PIXELS = """(canvas) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return Array.from(data.filter((_, at) => at % 4 === 0));
}"""


class PageAnswer(NamedTuple):
    """What a page's members said: logits (M, N, C), and milliseconds to open and of each time."""

    logits: NDArray[np.float64]
    opened_ms: float
    ms: list[float]


def open_report(page: Page, path: Path) -> None:
    """The report in the page, ready to be asked."""
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-tried]")


def ask_page_members(
    page: Page, run_id: str, images: NDArray[np.uint8], classes: int = 10, times: int = 1
) -> PageAnswer:
    """Every member's logits of images (N, H, W, channels), asked so many times."""
    asked = {"run": run_id, "images": base64.b64encode(images.tobytes()).decode(), "times": times}
    said: Any = page.evaluate(ASK, asked)
    logits = np.array(said["logits"]).reshape(-1, len(images), classes)
    return PageAnswer(logits, said["opened"], said["ms"])
