"""The moving picture in README.md: a first visit, a launch, the curves, and what came of it.

`scripts/pictures moving` records it from the app itself, with no runs before.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageChops
from playwright.sync_api import Page, ViewportSize, expect

from tests.browser.conftest import App
from tests.browser.test_train import CHART

SEEN: ViewportSize = {"width": 1280, "height": 800}
SIZE = (960, 600)  # pixels of the picture
MOST_MOVING_BYTES = 2_000_000
TRAINING_FRAMES = 28  # so many of those in which something was drawn, evenly
LOOK_MS, STEP_MS, END_MS = 1800, 220, 3000
PATIENCE = 300_000  # ms
INTERVAL_MS = 250
TakePicture = Callable[[Page], Image.Image]


@dataclass(frozen=True)
class Frame:
    """A picture, and for how long it is shown, in ms."""

    picture: Image.Image
    duration: int


def record_first_run(app: App, take_now: TakePicture, take_at_rest: TakePicture) -> list[Frame]:
    """What a first visitor does and sees, from the empty Train screen to Inspect.

    Args:
      app: with no runs yet.
      take_now: takes a picture of the tab as it is.
      take_at_rest: takes one once nothing in the tab changes any more.
    """
    page = app.page
    page.set_viewport_size(SEEN)
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    app.open("train")
    frames = [Frame(take_at_rest(page), LOOK_MS)]
    page.locator(".st-key-first_launch button").click()
    page.wait_for_url(re.compile("run=digits-"))
    expect(page.locator(f"{CHART} path").first).to_be_attached(timeout=PATIENCE)
    pictures = list(watch_training(page, take_now))
    chosen = {round(n * (len(pictures) - 1) / (TRAINING_FRAMES - 1)) for n in range(TRAINING_FRAMES)}
    frames += [Frame(pictures[n], STEP_MS) for n in sorted(chosen)]
    frames.append(Frame(take_at_rest(page), END_MS))
    for name in ("Predictions", "Inspect"):
        page.get_by_role("link", name=name, exact=True).first.click()
        app.settle()
        frames.append(Frame(take_at_rest(page), END_MS))
    return frames


def watch_training(page: Page, take_now: TakePicture) -> Iterator[Image.Image]:
    """Pictures of a run until it has finished, those that differ from the one before."""
    before = None
    finished = page.get_by_text("Finished").first
    while True:
        ended = finished.is_visible()
        picture = take_now(page)
        if before is None or ImageChops.difference(before, picture).getbbox():
            yield (before := picture)
        if ended:
            return
        page.wait_for_timeout(INTERVAL_MS)


def write_moving_picture(frames: list[Frame], path: Path) -> None:
    """Write an animated WebP that begins anew for ever.

    Raises:
      SystemExit: it is larger than a page should load.
    """
    pictures = [frame.picture.resize(SIZE, Image.Resampling.LANCZOS) for frame in frames]
    pictures[0].save(
        path,
        save_all=True,
        append_images=pictures[1:],
        duration=[frame.duration for frame in frames],
        loop=0,
        quality=82,
        method=6,
        minimize_size=True,
    )
    size = path.stat().st_size
    print(f"{path.name}: {SIZE[0]} × {SIZE[1]}, {len(frames)} frames, {size / 1000:.0f} kB")
    if size > MOST_MOVING_BYTES:
        raise SystemExit(f"{path.name} is larger than {MOST_MOVING_BYTES / 1e6:.0f} MB: show less.")
