"""Fields of forms that nobody has filled in: boxes, combs, lines to write on, dashes."""

from typing import Any

import numpy as np

from benchmarks.pictures import forms
from benchmarks.pictures.non_digits.presenting import PAPER, seen_from
from benchmarks.pictures.paper import paper
from benchmarks.pictures.rendering import Photo

SHAPE = 744, 992


def picture(draws: Any, number: int) -> Photo:
    """One of the fields, or several boxes side by side, photographed."""
    sheet = paper(PAPER.papers[draws.integers(len(PAPER.papers))], SHAPE, draws)
    tall, count = draws.uniform(80, 260), int(draws.integers(1, 5))
    left = draws.uniform(0.2, 0.8) * max(1.0, 0.8 * SHAPE[1] - count * tall) + 0.1 * SHAPE[1]
    top = draws.uniform(0.2, 0.6) * SHAPE[0]
    # Where digits would be.
    places = [np.array([[left + k * tall, top], [left + (k + 0.6) * tall, top + 0.8 * tall]]) for k in range(count)]
    if number % 5 == 4:
        wide, colour = forms.pen_of(tall, draws)
        for place in places:
            forms.rectangle(sheet, [*place[0], *(place[0] + 0.85 * tall)], wide, colour)
    else:
        sheet = list(forms.RULINGS.values())[number % 5](sheet, places, tall, draws)
    return seen_from(sheet, draws)
