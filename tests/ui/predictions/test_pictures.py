import base64
import io
import json

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from ensemble.analysis.predictions import Predictions, judge
from ensemble.datasets.registry import DIGIT_NAMES, FASHION_NAMES
from ensemble.figures import bars, palette, thumbnails
from ensemble.ui.predictions import address, downloads, grid
from ensemble.ui.predictions.address import View
from ensemble.wording import images as images_words
from tests.analysis.draws import distributions


def voting(*votes: int, label: int = 1, sure: float = 0.91) -> Predictions:
    """One image: each member gives `sure` to its vote and the rest to all others alike."""
    members = np.full((len(votes), 1, 10), (1 - sure) / 9)
    for member, vote in zip(members, votes, strict=True):
        member[0, vote] = sure
    return judge(members, np.array([label]))


def test_an_image_in_a_sentence() -> None:
    said = images_words.sentence(voting(7, 7, 7, 1, 7), 0, DIGIT_NAMES)
    # 7 has (4 × 0.91 + 0.01) / 5
    assert said == "The ensemble says 7 with 73 %; the members split 7 7 7 1 7; it is a 1."


@pytest.mark.parametrize(
    ("made", "names", "said"),
    [
        (voting(8, 8, label=8), DIGIT_NAMES, "with 91 %; all 2 members say 8; it is an 8."),
        (voting(8, label=8), DIGIT_NAMES, "The one member says 8 with 91 %; it is an 8."),
        (voting(4, 4, 6), FASHION_NAMES, "2 say Coat, 1 says Shirt; it is labelled Trouser."),
        (voting(*[7] * 28, *[1] * 4), DIGIT_NAMES, "the members split: 28 say 7, 4 say 1; it"),
    ],
)
def test_sentences_fit_members_and_names(
    made: Predictions, names: tuple[str, ...], said: str
) -> None:
    assert said in images_words.sentence(made, 0, names)


def test_votes_that_are_left_over_are_added_up() -> None:
    made = voting(*[7] * 20, *[1] * 5, *[2] * 4, *[3] * 3)
    assert images_words.short_votes(made, 0, DIGIT_NAMES) == ["20 say 7", "5 say 1", "7 others"]


@pytest.mark.parametrize(
    ("probability", "said"),
    [(1.0, "over 99.9 %"), (0.9996, "over 99.9 %"), (0.9971, "99.7 %"), (0.61, "61 %"),
     (0.994, "99 %"), (0.004, "0.4 %"), (0.0, "under 0.1 %")],
)  # fmt: skip
def test_a_chance_is_never_a_whole_0_or_100(probability: float, said: str) -> None:
    assert images_words.chance(probability) == said


@pytest.mark.parametrize(
    ("votes", "labels", "said"),
    [
        ([[1, 2], [1, 2]], [1, 2], "2 of 2 digits right; its members agree about every one."),
        ([[1, 2], [1, 2]], [1, 3], "1 of 2 digits right; its members agree about every one."),
        ([[1, 2], [1, 3], [1, 2]], [1, 2], "2 of 2 digits right; its members disagree about 1 "
         "digit."),
        ([[1, 2], [1, 3], [1, 2]], [1, 3], "about 1 digit; the one it gets wrong is among them."),
        ([[1, 2], [1, 3], [1, 2]], [4, 2], "the one it gets wrong is not among them."),
        ([[1, 2], [1, 3], [1, 2]], [4, 4], "1 of the 2 it gets wrong is among them."),
        ([[2, 2], [1, 3], [2, 2]], [4, 4], "about 2 digits; all 2 it gets wrong are among them."),
        ([[1, 2]], [1, 3], "The one member gets 1 of 2 digits right; with one member"),
    ],
)  # fmt: skip
def test_the_answer_reads_well_in_every_case(
    votes: list[list[int]], labels: list[int], said: str
) -> None:
    made = judge(np.eye(10)[np.array(votes)], np.array(labels))
    assert said in images_words.answer(made, "digit")


def test_the_strip_holds_the_pixels_as_they_are() -> None:
    images = np.random.default_rng(0).integers(0, 256, (7, 28, 28, 1), np.uint8)
    raw = base64.b64decode(thumbnails.strip(images).removeprefix("data:image/png;base64,"))
    read = np.asarray(Image.open(io.BytesIO(raw)))
    for place in range(7):
        np.testing.assert_array_equal(read[:, 28 * place : 28 * place + 28], images[place, ..., 0])


def test_an_enlarged_image_is_not_smoothed() -> None:
    image = np.random.default_rng(0).integers(0, 256, (28, 28, 1), np.uint8)
    read = np.asarray(Image.open(io.BytesIO(thumbnails.enlarged(image, 6))))
    assert read.shape == (168, 168)
    np.testing.assert_array_equal(read[3::6, 3::6], image[..., 0])
    assert set(np.unique(read)) == set(np.unique(image))


@pytest.mark.parametrize("names", [DIGIT_NAMES, FASHION_NAMES])
@pytest.mark.parametrize(("members", "shown"), [(1, 1), (5, 13), (32, 60)])
def test_a_sheet_has_a_place_for_every_image(
    names: tuple[str, ...], members: int, shown: int
) -> None:
    made = judge(distributions(members, 80, 10), np.zeros(80, int))
    images = np.full((shown, 28, 28, 1), 255, np.uint8)
    raw = thumbnails.sheet(images, made, np.arange(shown), names, "A run")
    read = np.asarray(Image.open(io.BytesIO(raw)).convert("RGB"))
    marks = [np.array([int(hue[i : i + 2], 16) for i in (1, 3, 5)]) for hue in
             (palette.RIGHT, palette.WRONG)]  # fmt: skip
    right = int(made.right[:shown].sum())
    under = 84 * 3  # pixels of the line under each image
    assert int((read == marks[0]).all(axis=2).sum()) == right * under
    assert int((read == marks[1]).all(axis=2).sum()) == (shown - right) * under


def test_the_chart_holds_the_numbers_themselves() -> None:
    made = judge(distributions(5, 3, 10), np.array([0, 1, 2]))
    bar, *dots = json.loads(bars.figure(made, 1, DIGIT_NAMES, "A title").to_json())["data"]
    np.testing.assert_allclose(read_numbers(bar["x"]), made.averaged[1])
    assert [dot["marker"]["color"] for dot in dots] == list(palette.MEMBER_HUES[:5])
    for member, dot in enumerate(dots):
        np.testing.assert_allclose(read_numbers(dot["x"]), made.probabilities[member, 1])
        assert np.round(read_numbers(dot["y"])).tolist() == list(range(10))
    hue = palette.RIGHT if made.right[1] else palette.WRONG
    assert bar["marker"]["color"][made.said[1]] == hue
    assert bar["hovertext"][0].startswith("The ensemble gives 0 ")


def test_many_members_share_one_hue_in_the_chart() -> None:
    made = judge(distributions(9, 1, 10), np.array([0]))
    dots = bars.dots(made, 0, DIGIT_NAMES)
    assert {dot["marker"]["color"] for dot in dots} == {palette.MUTED}


def read_numbers(values: object) -> np.ndarray:
    """Numbers of a figure: a list, or as Plotly packs an array."""
    if isinstance(values, dict):
        return np.frombuffer(base64.b64decode(values["bdata"]), values["dtype"])
    return np.array(values, float)


def test_the_table_reads_back_as_what_it_was() -> None:
    made = judge(distributions(3, 50, 10), np.arange(50) % 10)
    numbers = np.array([7, 3, 49])
    raw = downloads.csv(downloads.table(made, numbers, FASHION_NAMES))
    read = pd.read_csv(io.BytesIO(raw))
    assert read["number"].tolist() == [7, 3, 49]
    assert read["label"].tolist() == [FASHION_NAMES[n % 10] for n in numbers]
    assert read["member_2"].tolist() == [FASHION_NAMES[v] for v in made.votes[1, numbers]]
    probabilities = read[[f"p_{name}" for name in FASHION_NAMES]].to_numpy()
    np.testing.assert_allclose(probabilities, made.averaged[numbers], rtol=1e-5)


def test_one_images_table_has_a_row_for_each_member() -> None:
    made = judge(distributions(3, 2, 10), np.array([0, 1]))
    read = pd.read_csv(io.BytesIO(downloads.of_one(made, 1, DIGIT_NAMES)))
    assert read["who"].tolist() == ["ensemble", "member 1", "member 2", "member 3"]
    np.testing.assert_allclose(read.loc[0, list(DIGIT_NAMES)].astype(float), made.averaged[1],
                               rtol=1e-5)  # fmt: skip


@pytest.mark.parametrize(
    ("words", "view"),
    [
        ({}, View()),
        ({"epoch": "3", "show": "wrong", "class": "7", "order": "sure", "first": "60",
          "digit": "12"}, View(3, "wrong", 7, "sure", 60, 12)),
        ({"epoch": "-3", "show": "WRONG", "class": "", "order": "no", "first": "1.5",
          "digit": "0x1"}, View()),
        ({"first": "9" * 9, "digit": "²", "epoch": "٣"}, View()),
    ],
)  # fmt: skip
def test_an_address_is_read_and_what_is_unknown_left_out(words: dict[str, str], view: View) -> None:
    assert address.parse(words) == view


def test_words_of_a_tile_say_what_the_picture_shows() -> None:
    tile = grid.tile(voting(7, 7, 7, 1, 7), 0, DIGIT_NAMES, "digit")
    assert tile["verdict"] == "✗ 7, is 1"
    assert tile["votes"] == [("7", False), ("7", False), ("7", False), ("1", True), ("7", False)]
    assert tile["alt"].startswith("Test digit 0. The ensemble says 7 with 73 %")
