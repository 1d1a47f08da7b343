"""Uncertainty: each image by what is unclear in itself and what the members disagree about."""

from typing import Any

import numpy as np
import pandas as pd

from ensemble.analysis.members.uncertainty import Uncertainty, uncertainty
from ensemble.analysis.predictions import ordered
from ensemble.analysis.quality.averaging import Ints
from ensemble.figures.inspect import uncertainty as figures
from ensemble.figures.inspect.uncertainty import GLOSS
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.example_table import tabulate_examples
from ensemble.views.parts import Columns, Figure, Figures, Images, Paragraph, View
from ensemble.wording import formats

ALONE = (
    "One member has nobody to disagree with: all its uncertainty is of one kind, the images' own. "
    "What is left to see is the confusion matrix: what it takes for what."
)


def build_uncertainty(epoch: EvaluatedEpoch) -> View:
    """The scatter of both uncertainties, and the images that are chosen in it."""
    if epoch.members == 1:
        yield Paragraph(ALONE, "note")
        return
    yield Paragraph(GLOSS, "gloss")
    pressed: list[Any] = []

    def build_scatter() -> View:
        pressed.extend((yield Figures.single(plot_scatter(epoch))) or ())

    yield Columns((3, 2), (build_scatter, lambda: build_images(epoch, pressed)))


def plot_scatter(epoch: EvaluatedEpoch) -> Figure:
    """Aleatoric against epistemic uncertainty."""
    predictions, measures = epoch.predictions, epoch.measure(uncertainty)
    drawn = figures.points(predictions, measures)
    sees = figures.sees(predictions, measures, epoch.noun)
    if len(drawn) < epoch.n:
        sees += (
            " Drawn are all mistakes and the unsure; of the surest, one in "
            f"{figures.thinning(predictions)} stands for the rest."
        )
    title = f"Uncertainty · {epoch.source}"
    return Figure(
        label="",
        alt="Aleatoric against epistemic uncertainty of "
        f"{formats.count(epoch.n, epoch.noun)}, right and wrong marked",
        sees=sees,
        draw=lambda palette: figures.figure(
            predictions, measures, drawn, epoch.class_names, epoch.noun, title, palette
        ),
        key="inspect_scatter",
        file="uncertainty",
        title="Both uncertainties of every image",
        table=lambda: tabulate_uncertainties(epoch, measures),
        drawn_from=(),
        help=GLOSS,
        selects=("points", "box", "lasso"),
    )


def build_images(epoch: EvaluatedEpoch, pressed: list[Any]) -> View:
    """The images of the points that are chosen; before any is, the most disputed ones."""
    chosen = numbers_of(pressed, epoch)
    caption = f"**{formats.count(len(chosen), epoch.noun)} chosen**, the least sure first"
    numbers = chosen
    if not len(chosen):
        caption = ""
        yield Paragraph(
            f"Click a point to see its {epoch.noun}, or take the box or lasso over the picture and "
            "draw it around many. Until then: those the members disagree about most.",
            "hint",
        )
        numbers = np.argsort(-epoch.measure(uncertainty).information, kind="stable")
    yield Images(numbers, "inspect_scatter_digits", caption, rows=4, markdown=True)


def numbers_of(pressed: list[Any], epoch: EvaluatedEpoch) -> Ints:
    """The images of the points that are chosen, by their `customdata`, the least sure first."""
    numbers = np.unique([int(facts[0]) for facts in pressed if facts]).astype(int)
    return ordered(epoch.predictions, numbers[numbers < epoch.n], "unsure")


def tabulate_uncertainties(epoch: EvaluatedEpoch, measures: Uncertainty) -> pd.DataFrame:
    """Every image with its measures and what is said of it."""
    frame = tabulate_examples(epoch.predictions, np.arange(epoch.n), epoch.class_names)
    frame = frame.drop(columns="mutual_information_nats")
    frame.insert(5, "predictive_entropy_nats", measures.predictive)
    frame.insert(6, "aleatoric_nats", measures.expected)
    frame.insert(7, "epistemic_nats", measures.information)
    frame.insert(8, "variation_ratio", measures.variation_ratio)
    frame.insert(9, "vote_margin", measures.vote_margin)
    return frame
