"""Tables, diagrams, bar codes, boards and sheets of music: printed matter without any figure."""

from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from benchmarks.pictures import printing
from benchmarks.pictures.non_digits.presenting import flat, seen_from
from benchmarks.pictures.paper import paper
from benchmarks.pictures.rendering import Photo

SHAPE = (744, 992)
WORDS = ("name", "date", "sum", "total", "rate", "from", "until", "place", "hour", "mark", "team")


def picture(draws: Any, number: int) -> Photo:
    """One of the documents, photographed, or every third time as a screenshot."""
    renderers = (table, diagram, bars, matrix_code, bar_code, board, music, dice)
    sheet = Image.new("L", SHAPE[::-1])
    renderers[number % len(renderers)](ImageDraw.Draw(sheet), draws)
    cover = np.asarray(sheet, np.float32) / 255
    if number % 3 == 0:
        return flat(cover, (30, 30, 30), (255, 255, 255))
    ground = paper("white", SHAPE, draws)
    return seen_from(ground * (1 - 0.88 * cover[..., None]), draws)


def label(pen: Any, x: float, y: float, draws: Any, size: int = 22) -> None:
    """A word at a place."""
    font = ImageFont.truetype(printing.font_file("LiberationSans-Regular.ttf"), size)
    pen.text((x, y), WORDS[draws.integers(len(WORDS))], 255, font)


def table(pen: Any, draws: Any) -> None:
    """Words in the cells of a table."""
    rows, columns = draws.integers(4, 9), draws.integers(2, 5)
    high, wide = 560 / rows, 800 / columns
    for row in range(rows + 1):
        pen.line((100, 90 + row * high, 900, 90 + row * high), 255, 2)
    for column in range(columns + 1):
        pen.line((100 + column * wide, 90, 100 + column * wide, 650), 255, 2)
    for row in range(rows):
        for column in range(columns):
            label(pen, 112 + column * wide, 100 + row * high, draws)


def diagram(pen: Any, draws: Any) -> None:
    """Boxes with words, and arrows from each to the next."""
    last = None
    for at in range(draws.integers(3, 6)):
        x, y = 110 + at % 3 * 280 + draws.uniform(0, 50), 120 + at // 3 * 280 + draws.uniform(0, 60)
        pen.rectangle((x, y, x + 170, y + 90), None, 255, 3)
        label(pen, x + 30, y + 28, draws, 28)
        if last:
            pen.line((last[0] + 170, last[1] + 45, x, y + 45), 255, 3)
            pen.polygon([(x, y + 45), (x - 16, y + 36), (x - 16, y + 54)], 255)
        last = x, y


def bars(pen: Any, draws: Any) -> None:
    """A chart of bars with its axes."""
    pen.line([(140, 100), (140, 620), (880, 620)], 255, 4)
    for at in range(draws.integers(4, 9)):
        pen.rectangle((170 + at * 85, 620 - draws.uniform(60, 480), 225 + at * 85, 618), 255)


def matrix_code(pen: Any, draws: Any) -> None:
    """A QR code of some words."""
    import segno

    words = " ".join(WORDS[at] for at in draws.permutation(len(WORDS))[:6])
    cells = [list(row) for row in segno.make(words).matrix]
    side = 560 / len(cells)
    for row, line in enumerate(cells):
        for column, dark in enumerate(line):
            if dark:
                x, y = 210 + column * side, 90 + row * side
                pen.rectangle((round(x), round(y), round(x + side) - 1, round(y + side) - 1), 255)


def bar_code(pen: Any, draws: Any) -> None:
    """A bar code, its number left out."""
    x = 180.0
    while x < 820:
        wide = 5 * int(draws.integers(1, 5))
        pen.rectangle((x, 200, x + wide, 540), 255)
        x += wide + 5 * int(draws.integers(1, 4))


def board(pen: Any, draws: Any) -> None:
    """A chequered board, or a crossword's."""
    side, odd = 600 / draws.integers(6, 11), draws.random() < 0.5
    for row in range(int(600 / side)):
        for column in range(int(600 / side)):
            x, y = 190 + column * side, 70 + row * side
            dark = (row + column) % 2 if odd else draws.random() < 0.25
            pen.rectangle((x, y, x + side, y + side), 255 if dark else None, 255, 2)


def music(pen: Any, draws: Any) -> None:
    """Staves with notes."""
    for top in (110, 310, 510):
        for line in range(5):
            pen.line((80, top + 20 * line, 920, top + 20 * line), 255, 2)
        for x in np.arange(140, 900, draws.uniform(60, 110)):
            y = top + 10 * int(draws.integers(0, 9))
            pen.ellipse((x, y - 9, x + 24, y + 9), 255)
            pen.line((x + 23, y, x + 23, y - 70), 255, 3)


def dice(pen: Any, draws: Any) -> None:
    """Dominoes and dice, with their pips."""
    for x, y in ((160, 120), (480, 120), (160, 420), (480, 420), (740, 260)):
        pen.rounded_rectangle((x, y, x + 190, y + 190), 24, None, 255, 5)
        for at in draws.permutation(9)[: draws.integers(1, 7)]:
            a, b = x + 45 + at % 3 * 50, y + 45 + at // 3 * 50
            pen.ellipse((a - 15, b - 15, a + 15, b + 15), 255)
