"""A dataset's images in figures: the counts are the labels', the sheet's pixels are the images'."""

import base64
import io
from html.parser import HTMLParser

import numpy as np
import pytest
from PIL import Image

from ensemble.figures import class_counts as counts
from ensemble.figures import example_sheet
from ensemble.figures.palette import DARK, LIGHT

HOSTILE = "<script>alert('zz')</script>&amp;\n\x1b[2J" + "z" * 60


class Reader(HTMLParser):
    """What a browser would make of it: tags with their attributes, and text."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)


@pytest.mark.parametrize("channels", [1, 3])
def test_the_sheet_shows_the_images_pixel_by_pixel(channels: int) -> None:
    random = np.random.default_rng(0)
    images = random.integers(0, 256, (3, 16, 24, channels), np.uint8)
    read = Reader(example_sheet.render_example_sheet([images, images[:1]], ["cats", "dogs"]))
    pictures = [attributes for tag, attributes in read.tags if tag == "img"]
    assert [one["alt"] for one in pictures] == ["Examples of cats", "Examples of dogs"]
    content = str(pictures[0]["src"]).removeprefix("data:image/png;base64,")
    shown = np.asarray(Image.open(io.BytesIO(base64.b64decode(content))))
    gap = (shown.shape[1] - 3 * 24) // 2
    for number, image in enumerate(images):
        left = number * (24 + gap)
        part = shown[:, left : left + 24]
        np.testing.assert_array_equal(part[..., :3], np.broadcast_to(image, (16, 24, 3)))
        assert part[..., 3].min() == 255
    assert shown[:, 24 : 24 + gap, 3].max() == 0  # what lies between shows the page


def test_large_images_are_sent_small() -> None:
    large = np.zeros((6, 800, 600, 3), np.uint8)
    assert len(example_sheet.encode_example_strip(large)) < 10_000
    assert example_sheet.compute_strip_width(large) == 6 * 42 + 5 * example_sheet.GAP


def test_a_classs_name_is_text_whatever_it_is() -> None:
    read = Reader(example_sheet.render_example_sheet([np.zeros((1, 4, 4, 1), np.uint8)], [HOSTILE]))
    assert {tag for tag, _ in read.tags} == {"div", "img"}
    assert "".join(read.words) == counts.shorten_class_name(HOSTILE)
    assert "z&amp;" not in str(read.tags)
    assert "<" not in example_sheet.escape_html_letters(HOSTILE)


def test_a_class_without_images_has_no_row() -> None:
    none = np.zeros((0, 4, 4, 1), np.uint8)
    assert "img" not in example_sheet.render_example_sheet([none], ["cats"])
    assert "img" not in example_sheet.render_example_sheet([], [])


def made(classes: int) -> counts.ClassCounts:
    random = np.random.default_rng(1)
    names = [f"class {number}" for number in range(classes)]
    return counts.ClassCounts(names, random.integers(1, 90, classes), random.integers(1, 9, classes))


@pytest.mark.parametrize("classes", [2, 30, 31, 1000])
def test_bars_are_the_counts_commonest_first_and_not_too_many(classes: int) -> None:
    of = made(classes)
    chart = counts.plot_class_counts(of, "Leaves · 12 images", LIGHT)
    both = np.asarray(chart.data[0].x) + np.asarray(chart.data[1].x)
    truth = np.sort(of.train + of.test)[::-1]
    expected = truth if classes <= 30 else np.r_[truth[:15], truth[-15:]]
    np.testing.assert_array_equal(both, expected)
    assert ("15 rarest" in counts.explain_class_counts_chart(of)) == (classes > 30)
    table = counts.tabulate_class_counts(of)
    assert table["training"].sum() == of.train.sum()
    assert list(table["class"]) == list(of.names)


def test_the_sentence_names_both_ends_as_text() -> None:
    of = counts.ClassCounts(["**cats**", "<b>dogs</b>"], np.array([3, 9]), np.array([1, 1]))
    said = counts.explain_class_counts_chart(of)
    assert "\\<b\\>dogs" in said
    assert "(10 images)" in said
    assert "rarest (4)" in said
    assert "&lt;b&gt;" in counts.plot_class_counts(of, "x", DARK).layout.yaxis.ticktext[0]
    even = counts.ClassCounts(["a", "b"], np.array([2, 2]), np.array([1, 1]))
    assert counts.explain_class_counts_chart(even) == "Every class has 3 images."
