"""The pictures in docs/, taken of the screens as they are now: python -m tests.browser.pictures

Runs, a sweep and a regression are made in a folder of their own, with nothing prepared or compiled
before; then every screen is taken when it has come to rest. `scripts/pictures train runs` takes two
of them alone, `scripts/pictures moving` the moving picture of README.md. What is learnt comes out
the same each time on one processor; times do not.
"""

import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from PIL import Image, ImageChops
from playwright.sync_api import Page, expect, sync_playwright

from tests.browser.conftest import FLAGS, App
from tests.browser.find import find_browser
from tests.browser.moving_picture import record_first_run, write_moving_picture
from tests.browser.serving import REPO, serving
from tests.browser.traffic import Traffic

WIDTH, HEIGHT = 1280, 2400  # so high that nothing has to be scrolled
MARGIN = 24
MOST_BYTES = 250_000
FREQUENT = 96  # colours that are kept as they are
PATIENCE = 180_000  # ms
REST_SECONDS = 120.0
MOVING = "moving"

# What a person would try: members that see each image a little turned and shifted.
ENSEMBLE = "--members 6 --epochs 14 --shift-pixels 2 --rotation-degrees 10 --shuffle-per-member"
RUNS = {
    "digits-two-members": "train --members 2 --epochs 4 --learning-rate 0.05",
    "digits-rate-ten": "train --members 2 --epochs 4 --learning-rate 10",
    "digits-six-members": f"train {ENSEMBLE}",
    "lbfgs-two-devices": "lbfgs --devices 2",
    "diabetes-five-members": "train --task regression --table {table} --target progression",
    "trials": "sweep --network mlp --epochs 4 --trials 16 --sampler random "
    "--space learning_rate=0.003..1:log --space momentum=0.5..0.95 --space members=2..6",
}
STUDY = {"sweep": "trials"}
RUN = {"run": "digits-six-members"}
DIVERGED = 3

# What has been drawn lies within these; what is still on its way shows one of the others.
CONTENT = '[data-testid="stMainBlockContainer"], [data-testid="stSidebarUserContent"]'
UNFINISHED = '[data-testid="stSkeleton"], [data-testid="stSpinner"], [data-stale="true"]'
# Where a picture that goes down to `low` can end with nothing cut through: below all that it
# would cut, and at most half way to what comes next.
END = """([content, low, margin]) => {
  const whole = 'button, canvas, svg, img, [data-testid="stDataFrame"]'
  const inside = root => [...root.querySelectorAll('*')]
    .flatMap(one => one.shadowRoot ? inside(one.shadowRoot) : [one])
  const boxes = [...document.querySelectorAll(content)].flatMap(inside)
    .filter(one => one.matches(whole) || !one.childElementCount)
    .filter(one => !one.parentElement?.closest('button'))  // it shows only a part of what it holds
    .map(one => one.getBoundingClientRect()).filter(box => box.width && box.height)
  const all = Math.max(...boxes.map(box => box.bottom))
  if (!low) return all + margin
  let cut
  while ((cut = boxes.find(box => box.top < low - 0.5 && box.bottom > low + 0.5))) low = cut.bottom
  const next = Math.min(...boxes.map(box => box.top).filter(top => top >= low - 0.5))
  return low + Math.min(margin, (next - low) / 2)
}"""
LOADED = """() => document.fonts.status === 'loaded' &&
  [...document.images].every(image => image.complete)"""


@dataclass(frozen=True)
class Scene:
    """One picture: which screen it is of, and down to where.

    Attributes:
      path: the screen, as in its address.
      query: what the address says besides.
      until: a selector; the picture ends below the first that it finds. All of the page if "".
      before: what a person does before the picture is taken.
      scheme: light or dark.
    """

    path: str
    query: dict[str, str] = field(default_factory=dict)
    until: str = ""
    before: Callable[[App], None] = lambda app: None
    scheme: str = "light"


def hand_in(app: App) -> None:
    """Gives Classify a photograph of a number, and opens its last digit."""
    from benchmarks.pictures import photos

    # The test digits of `digits` alone, so that it is the same photograph on every machine.
    digits, style = photos.Digits(("digits",)), "number on lines"
    photo = [photos.render(style, number, digits) for number in range(3)][-1]
    app.page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(
        {"name": f"number{photo.suffix}", "mimeType": "image/jpeg", "buffer": photo.content}
    )
    marks = app.page.locator(".answer .digit")
    expect(marks).to_have_count(len(photo.lines[0]), timeout=PATIENCE)
    app.settle()
    marks.last.click()
    expect(marks.last).to_have_attribute("aria-pressed", "true")
    # What is unlike the dataset is being found out, beside it, for the first time.
    expect(app.page.get_by_text("Nothing is rejected yet")).to_have_count(0, timeout=PATIENCE)
    app.settle()


SCENES = {
    "train": Scene("train", RUN, until='[data-testid="stDataFrame"]'),
    "predictions": Scene("predictions", RUN, until=".digits button >> nth=35"),
    "inspect-uncertainty": Scene("inspect", {**RUN, "view": "uncertainty"}),
    "inspect-shift": Scene("inspect", {**RUN, "view": "shift"}, until=".js-plotly-plot", scheme="dark"),
    "classify": Scene("classify", RUN, until=".picture .frame", before=hand_in),
    "parallel": Scene("parallel", {"solve": "lbfgs-two-devices"}, until=".js-plotly-plot"),
    "compare": Scene("compare", {**STUDY, "view": "settings"}, until=".js-plotly-plot"),
    "tune": Scene("tune", STUDY),
    "runs": Scene("runs"),
    "why": Scene("why", {**RUN, "step": "2"}),
    # Two members that have seen little are in doubt; six are not.
    "labels": Scene("labels", {"run": "digits-two-members"}),
    "numbers": Scene("numbers", {"run": "diabetes-five-members"}, until='[data-testid="stDataFrame"]'),
    "data": Scene("data", {"data": "digits"}, until='[data-testid="stFileUploader"]'),
    # With words in the address, as all but Runs: its picture alone is of every run.
    "devices": Scene("devices", {"terms": "shown"}),
}


def make_runs(folder: Path, scenes: list[Scene]) -> str:
    """Makes what these scenes show, by names without a date; returns its sweep's id, else ""."""
    study = ""
    shown = {value for scene in scenes for value in scene.query.values()}
    every = not all(scene.query for scene in scenes)  # the screen Runs is about all of them
    for name in [name for name in RUNS if every or name in shown]:
        words = [word.format(table=write_table(folder.parent)) for word in RUNS[name].split()]
        made = ensemble(*words)
        study = made.get("study", study)
        if "run_id" in made:
            (folder / made["run_id"]).rename(folder / name)
    if any("shift" in scene.query.values() for scene in scenes):
        ensemble("stress", RUN["run"])
    return study


def write_table(folder: Path) -> Path:
    """The table of the first visit to Numbers, as a file."""
    from sklearn.datasets import load_diabetes

    data = load_diabetes(scaled=False)
    file = folder / "diabetes.csv"
    rows = np.column_stack([data.data, data.target])
    head = ",".join([*data.feature_names, "progression"])
    np.savetxt(file, rows, fmt="%g", delimiter=",", header=head, comments="")
    return file


def ensemble(*words: str) -> dict[str, str]:
    """Runs the command line; returns its last line, which is an object."""
    print("ensemble", *words, flush=True)
    command = [sys.executable, "-m", "ensemble", *words]
    done = subprocess.run(command, cwd=REPO, capture_output=True, text=True, check=False)
    if done.returncode not in (0, DIVERGED):
        sys.exit(done.stderr)
    said: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return said


def take(app: App, scene: Scene) -> Image.Image:
    """Opens a screen, waits until it has come to rest, and cuts out what matters."""
    page = app.page
    page.emulate_media(color_scheme=scene.scheme, reduced_motion="reduce")
    app.open(scene.path, **scene.query)
    scene.before(app)
    app.settle()
    if scene.until:
        expect(page.locator(scene.until).first).to_be_visible(timeout=PATIENCE)
    seen = at_rest(page)
    return seen.crop((0, 0, WIDTH, end(page, scene.until)))


def at_rest(page: Page) -> Image.Image:
    """What the tab shows once nothing in it has changed for a second."""
    deadline = time.monotonic() + REST_SECONDS
    page.mouse.move(WIDTH - 1, HEIGHT - 1)  # over nothing that would light up
    seen, same = shot(page), 0
    while same < 3:
        if time.monotonic() > deadline:
            sys.exit(f"{page.url} does not come to rest.")
        page.wait_for_timeout(400)
        before, seen = seen, shot(page)
        whole = page.evaluate(LOADED) and not page.locator(UNFINISHED).count()
        same = same + 1 if whole and not ImageChops.difference(before, seen).getbbox() else 0
    return seen


def shot(page: Page) -> Image.Image:
    """All of the tab, as it is."""
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def end(page: Page, until: str) -> int:
    """Where the picture ends with nothing cut through, in pixels from above."""
    low = 0.0
    if until:
        side = page.get_by_test_id("stSidebarUserContent")
        boxes = [page.locator(until).first.bounding_box()]
        boxes += [side.bounding_box()] if side.count() else []
        low = max(box["y"] + box["height"] for box in boxes if box)
    return min(HEIGHT, int(page.evaluate(END, [CONTENT, low, MARGIN])))


def keep(picture: Image.Image, path: Path) -> None:
    """Writes it with few colours, so that a clone stays small."""
    with_few_colours(picture).save(path, optimize=True)
    size = path.stat().st_size
    print(f"{path.relative_to(REPO)}: {picture.width} × {picture.height}, {size / 1000:.0f} kB")
    if size > MOST_BYTES:
        sys.exit(f"{path.name} is larger than {MOST_BYTES / 1000:.0f} kB: show less.")


def with_few_colours(picture: Image.Image) -> Image.Image:
    """The picture in 256 colours: grounds and inks as they are, thin lines nearly so.

    A palette by frequency alone would draw the members' lines in grey beside a photograph.
    """
    shape = (picture.height, picture.width)
    colours, which, counts = np.unique(
        np.asarray(picture).reshape(-1, 3), axis=0, return_inverse=True, return_counts=True
    )
    frequent = colours[np.argsort(-counts)[:FREQUENT]]
    spread = picture.quantize(256 - len(frequent), method=Image.Quantize.MAXCOVERAGE).getpalette()
    palette = np.vstack([frequent, np.reshape(spread, (-1, 3))])
    # Pillow's own search for the nearest is coarse: white would no longer be white.
    away = ((colours[:, None].astype(int) - palette) ** 2).sum(-1)
    few = Image.fromarray(away.argmin(1)[which].reshape(shape).astype(np.uint8), "P")
    few.putpalette(palette.astype(np.uint8).tobytes())
    return few


def main(names: list[str]) -> None:
    """Makes the runs, then takes the pictures of these names; of all, if there are none."""
    if unknown := set(names) - {*SCENES, MOVING}:
        there = ", ".join([*SCENES, MOVING])
        sys.exit(f"There is no {', '.join(sorted(unknown))}: there are {there}.")
    with tempfile.TemporaryDirectory(prefix="ensemble-pictures-") as root:
        folder = Path(root)
        # A place in the queue of its own too: a person's run need not wait for this.
        os.environ |= {
            "ENSEMBLE_RUNS": str(folder / "runs"),
            "ENSEMBLE_DATA": str(folder / "data"),
            "TMPDIR": root,
            "XDG_CACHE_HOME": root,
            "XDG_RUNTIME_DIR": root,
            "JAX_PLATFORMS": "cpu",
            "JAX_NUM_CPU_DEVICES": "2",
        }
        os.environ.pop("ENSEMBLE_CORRECTIONS", None)
        tempfile.tempdir = None
        names = names or [*SCENES, MOVING]
        if MOVING in names:  # first, while there are no runs
            with opened(folder) as app:
                frames = record_first_run(app, shot, at_rest)
            write_moving_picture(frames, REPO / "docs" / "first-run.webp")
            shutil.rmtree(folder / "runs")
        if scenes := {name: SCENES[name] for name in names if name != MOVING}:
            study = make_runs(folder / "runs", list(scenes.values()))
            with opened(folder) as app:
                for name, scene in scenes.items():
                    if "sweep" in scene.query:
                        scene = replace(scene, query={**scene.query, "sweep": study})
                    keep(take(app, scene), REPO / "docs" / f"{name}.png")


@contextmanager
def opened(folder: Path) -> Iterator[App]:
    """The app in a tab, with its runs in this folder."""
    with serving(folder) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=FLAGS)
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        yield App(page, server, Traffic(page))
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
