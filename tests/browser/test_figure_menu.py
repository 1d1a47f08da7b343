"""Figures are saved as a journal wants them: a width in mm, 8 pt, no ground, with a caption."""

import csv
import io
import re
import zlib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from PIL import Image
from playwright.sync_api import expect

import ensemble
from ensemble.storage.records.json_lines import append_line
from ensemble.wording.provenance import format_figure_caption
from tests.browser.conftest import App
from tests.pages.ensembles import trained

KEY, MM, PT = "selective", 85.0, 8.0
SVG = "{http://www.w3.org/2000/svg}"


def saved(app: App, what: str, **chosen: str) -> Any:
    """Opens the menu by a key, chooses from its lists, presses a button; returns the download."""
    options = app.page.locator(f'.figure-options[data-figure="{KEY}"]')
    if not options.is_visible():
        app.page.locator(f".st-key-{KEY}_menu button:visible").press("Enter")
        expect(options.locator("select").first).to_be_focused()
    for name, value in chosen.items():
        options.locator(f"select[name={name}]").select_option(value)
    with app.page.expect_download() as download:
        app.page.locator(f".st-key-figure_{what}_{KEY} button").click()
    app.page.keyboard.press("Escape")
    expect(options).not_to_be_visible()
    return download.value


def chunks(png: bytes) -> dict[str, list[bytes]]:
    """The chunks of a PNG by their names, each with its checksum seen to."""
    found: dict[str, list[bytes]] = {}
    at = 8
    while at < len(png):
        size, name = int.from_bytes(png[at : at + 4]), png[at + 4 : at + 8]
        data = png[at + 8 : at + 8 + size]
        assert zlib.crc32(name + data) == int.from_bytes(png[at + 8 + size : at + 12 + size])
        found.setdefault(name.decode(), []).append(data)
        at += 12 + size
    return found


def test_a_figure_is_saved_as_a_journal_wants_it(app: App, tmp_path: Path) -> None:
    run = trained(members=3, sure=2.0)
    app.page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    app.open("inspect", run=run.id, view="selective")
    expect(app.page.locator(f".st-key-{KEY} .main-svg").first).to_be_visible()
    app.settle()
    drawings = app.traffic.drawings
    files = {
        what: saved(app, what, **chosen)
        for what, chosen in {"svg": {"size": "column", "ground": "clear"}, "png": {}, "pdf": {}}.items()
    }
    assert app.traffic.drawings == drawings, "nothing is drawn again"
    names = {what: one.suggested_filename for what, one in files.items()}
    assert names == {what: f"{run.id}-epoch-2-selective-column-85mm.{what}" for what in files}
    caption = re.compile(
        rf"Risk by coverage · 3 members · rate 0.1 · digits \({run.id}\) · epoch 2 of \d+ · "
        rf"ensemble {re.escape(ensemble.__version__)}"
    )
    svg, png, pdf = (files[what].path().read_bytes() for what in ("svg", "png", "pdf"))

    # SVG: true millimetres, 8 pt, its title and caption, no ground, ink for white paper.
    root = ElementTree.fromstring(svg)
    width, height = (float(root.attrib[side].removesuffix("mm")) for side in ("width", "height"))
    pixels = float(root.attrib["viewBox"].split()[2])
    assert width == MM
    sizes = [float(size) for size in re.findall(rb"font-size: ([\d.]+)px", svg)]
    usual = max(set(sizes), key=sizes.count)
    assert abs(usual / pixels * width / 25.4 * 72 - PT) < 0.02
    assert min(sizes) / pixels * width / 25.4 * 72 >= 6, "what is small can be read too"
    assert root.findtext(f"{SVG}title") == "Risk by coverage"
    assert caption.fullmatch(root.findtext(f"{SVG}desc") or "")
    assert b"rgb(27, 30, 35)" in svg, "the ensemble is in the ink of white paper"
    assert b"rgb(14, 16, 19)" not in svg, "nothing is left of the dark page's ground"

    # PNG: 300 dots an inch, clear corners, its words.
    picture = Image.open(io.BytesIO(png))
    assert abs(picture.width - MM / 25.4 * 300) <= 1
    assert abs(picture.height - height / 25.4 * 300) <= 1
    alpha = np.asarray(picture.convert("RGBA"))[..., 3]
    assert not alpha[[0, 0, -1, -1], [0, -1, 0, -1]].any()
    assert (alpha > 200).mean() > 0.005, "and there is a figure"
    said = chunks(png)
    assert int.from_bytes(said["pHYs"][0][:4]) == 11811, "dots a metre"
    words = dict(one.decode().split("\0\0\0\0\0") for one in said["iTXt"])
    assert words["Title"] == "Risk by coverage"
    assert caption.fullmatch(words["Description"])

    # PDF: the same size, lines as lines and words as words, its title; it reads back whole.
    box = re.search(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", pdf)
    assert box
    for side, mm in zip(box.groups(), (width, height), strict=True):
        assert abs(float(side) / 72 * 25.4 - mm) < 0.01
    title = re.search(rb"/Title <([0-9a-fA-F]+)>", pdf)
    assert title
    assert bytes.fromhex(title[1].decode()).decode("utf-16") == "Risk by coverage"
    [packed] = re.findall(rb"/Length \d+ >>\nstream\n(.*?)\nendstream", pdf, re.S)
    drawn = zlib.decompress(packed).decode()
    letters = [bytes.fromhex(one).decode("cp1252") for one in re.findall(r"<(\w+)> Tj", drawn)]
    assert "ensemble" in " ".join(letters)
    assert "/I0 Do" not in drawn
    assert drawn.count(" l ") > 20
    for number, start in enumerate(re.findall(rb"(\d{10}) 00000 n", pdf), 1):
        assert pdf[int(start) :].startswith(f"{number} 0 obj".encode())


def test_learning_curves_are_laid_out_for_a_journals_column(app: App) -> None:
    run = trained(members=2)
    for epoch in (1, 2):
        losses = [1 / epoch, 1.5 / epoch]
        append_line(
            run.path / "history.jsonl",
            {
                "kind": "epoch",
                "epoch": epoch,
                "step": 10 * epoch,
                "progress": float(epoch),
                "train_loss": losses,
                "test_loss": losses,
                "ensemble_test_nll": 1 / epoch,
                "train_accuracy": [0.6, 0.7],
                "test_accuracy": [0.6, 0.7],
                "disagreement": 0.1,
                "ensemble_test_loss": 1.2 / epoch,
                "ensemble_test_accuracy": 0.8,
                "member_disagreement": [0.1, 0.1],
            },
        )
    app.open("train", run=run.id)
    tools = app.page.locator(".curves .tools")
    tools.locator("summary").click()
    tools.get_by_role("combobox").select_option("column")
    with app.page.expect_download() as download:
        tools.get_by_role("button", name="SVG").click()
    assert download.value.suggested_filename == f"{run.id}-column-85mm.svg"
    root = ElementTree.fromstring(download.value.path().read_bytes())
    pixels = float(root.attrib["viewBox"].split()[2])
    assert root.attrib["width"] == "85mm"
    assert abs(12 / pixels * MM / 25.4 * 72 - PT) < 0.02
    assert {one.attrib["font-size"] for one in root.iter(f"{SVG}text")} == {"12"}
    panels = root.findall(f".//{SVG}g/{SVG}svg")
    assert len(panels) == 3
    assert len({one.attrib["x"] for one in panels}) == 1, "one below the other"
    said = (root.findtext(f"{SVG}title"), root.findtext(f"{SVG}desc"))
    assert said == ("Learning curves", format_figure_caption(run, "Learning curves"))
    with app.page.expect_download() as download:
        tools.get_by_role("button", name="CSV").click()
    heading, *rows = csv.reader(io.StringIO(download.value.path().read_text("utf-8")))
    assert heading == ["figure", "curve", "split", "epochs", "value"]
    assert ["loss", "member 2", "test", "2", "0.75"] in rows
    expect(app.page.locator(".curves .panel")).to_have_count(3)  # those of the page alone are left
