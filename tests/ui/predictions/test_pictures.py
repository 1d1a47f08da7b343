import io

import numpy as np
import pandas as pd
import pytest

from ensemble.analysis.predictions import evaluate_predictions
from ensemble.datasets.registry import DIGIT_NAMES, FASHION_NAMES
from ensemble.ui.predictions import downloads, image_grid, predictions_view
from ensemble.ui.predictions.predictions_view import PredictionsView
from ensemble.views.examples.example_table import tabulate_examples
from tests.analysis.draws import distributions
from tests.wording.test_images import voting


def test_the_table_reads_back_as_what_it_was() -> None:
    made = evaluate_predictions(distributions(3, 50, 10), np.arange(50) % 10)
    numbers = np.array([7, 3, 49])
    raw = downloads.encode_table_csv(tabulate_examples(made, numbers, FASHION_NAMES))
    read = pd.read_csv(io.BytesIO(raw))
    assert read["number"].tolist() == [7, 3, 49]
    assert read["label"].tolist() == [FASHION_NAMES[n % 10] for n in numbers]
    assert read["member_2"].tolist() == [FASHION_NAMES[v] for v in made.votes[1, numbers]]
    probabilities = read[[f"p_{name}" for name in FASHION_NAMES]].to_numpy()
    np.testing.assert_allclose(probabilities, made.averaged[numbers], rtol=1e-5)


def test_a_class_that_is_called_like_a_formula_is_none_in_a_file() -> None:
    names = ("=1+1", "@x", "-0.5", *FASHION_NAMES[3:])
    made = evaluate_predictions(distributions(2, 50, 10), np.arange(50) % 10)
    frame = tabulate_examples(made, np.arange(4), names)
    read = pd.read_csv(io.BytesIO(downloads.encode_table_csv(frame)))
    assert read["label"].tolist() == ["'=1+1", "'@x", "-0.5", "Dress"]
    assert "p_=1+1" in read
    header = downloads.encode_image_csv(made, 1, names).decode().splitlines()[0]
    assert header.startswith("who,says,'=1+1,'@x,-0.5,Dress")


def test_one_images_table_has_a_row_for_each_member() -> None:
    made = evaluate_predictions(distributions(3, 2, 10), np.array([0, 1]))
    read = pd.read_csv(io.BytesIO(downloads.encode_image_csv(made, 1, DIGIT_NAMES)))
    assert read["who"].tolist() == ["ensemble", "member 1", "member 2", "member 3"]
    np.testing.assert_allclose(read.loc[0, list(DIGIT_NAMES)].astype(float), made.averaged[1], rtol=1e-5)


@pytest.mark.parametrize(
    ("words", "view"),
    [
        ({}, PredictionsView()),
        (
            {"epoch": "3", "show": "wrong", "class": "7", "order": "sure", "first": "60", "digit": "12"},
            PredictionsView(3, "wrong", 7, "sure", 60, 12),
        ),
        (
            {"epoch": "-3", "show": "WRONG", "class": "", "order": "no", "first": "1.5", "digit": "0x1"},
            PredictionsView(),
        ),
        ({"first": "9" * 9, "digit": "²", "epoch": "٣"}, PredictionsView()),
    ],
)
def test_an_address_is_read_and_what_is_unknown_left_out(words: dict[str, str], view: PredictionsView) -> None:
    assert predictions_view.parse_predictions_view(words) == view


def test_words_of_a_tile_say_what_the_picture_shows() -> None:
    tile = image_grid.build_image_tile(voting(7, 7, 7, 1, 7), 0, DIGIT_NAMES, "digit")
    assert tile["verdict"] == "✗ 7, is 1"
    assert tile["votes"] == [("7", False), ("7", False), ("7", False), ("1", True), ("7", False)]
    assert tile["alt"].startswith("Test digit 0. The ensemble says 7 with 73.0 %")
