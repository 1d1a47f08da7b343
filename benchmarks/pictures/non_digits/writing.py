"""Letters, words, icons, signs and other scripts: what fonts have that is no digit to the eye.

Latin letters that are left out, for a hand or a font writes them as a digit: C c D G O o Q (0, 6),
I i J j l f r t T (1, 7), Z z (2), S s (5), b (6), B (8), g p P q y Y (4, 9). For the same reason
other scripts lack the Cyrillic ze, e, be, che, yeru and soft sign, theta, phi, beta, delta, zeta,
rho and sigma, the final mem, heh, qaf, alef and their like; signs lack circles, upright arrows,
infinity, the subset, the up tack, the double integral and notes of one stem; icons lack rings,
bars, clocks, cards with figures and the lens.
"""

from typing import Any

from benchmarks.pictures import printing
from benchmarks.pictures.handwriting import followed, handwritten
from benchmarks.pictures.non_digits.presenting import (
    PRESENTATIONS,
    on_canvas,
    on_paper,
    pen_of,
    printed,
    screenshot,
    seen_from,
)
from benchmarks.pictures.paper import paper
from benchmarks.pictures.rendering import Photo

LETTERS = "AEFHKLMNRUVWXadehkmnuvwx"
WORDS = (
    "the",
    "paper",
    "Monday",
    "milk",
    "thank you",
    "Anna",
    "home",
    "where",
    "water",
    "remark",
    "bread",
    "never",
    "under",
    "kitchen",
    "hand",
    "when",
    "remember",
    "half",
    "dear Anna",
    "met",
)
TEXT = (
    "The morning had been quiet when the farmer went down to the river with two "
    "baskets. Nobody on the path knew her name, and the water ran high under the "
    "old bridge where the children used to wait for the mail to come. "
)
ICONS = (
    0xF000,
    0xF003,
    0xF004,
    0xF005,
    0xF007,
    0xF008,
    0xF00D,
    0xF013,
    0xF014,
    0xF015,
    0xF018,
    0xF024,
    0xF025,
    0xF028,
    0xF02B,
    0xF02D,
    0xF02F,
    0xF030,
    0xF06B,
    0xF06C,
    0xF06E,
    0xF071,
    0xF072,
    0xF073,
    0xF075,
    0xF07A,
    0xF084,
    0xF085,
    0xF087,
    0xF091,
    0xF0A1,
    0xF0A3,
    0xF0AD,
    0xF0B1,
    0xF0C0,
    0xF0C2,
    0xF0C3,
    0xF0C4,
    0xF0C7,
    0xF0D1,
    0xF0E3,
    0xF0E8,
    0xF0E9,
    0xF0F4,
    0xF0F5,
    0xF108,
    0xF11B,
    0xF12E,
    0xF130,
    0xF13D,
    0xF17B,
    0xF17C,
    0xF188,
    0xF1AE,
    0xF1B0,
    0xF1B9,
    0xF1BB,
    0xF1E3,
    0xF1E5,
    0xF1FD,
    0xF206,
    0xF21A,
    0xF21C,
)
SIGNS = "→↔↖↗⇄⇆⇌⇒⇔⇨∀∈∉∏∑∓√∠≈≠≪≻⊕⊗⊞⊠⋈⋔⋘𝄞♫♬♯♔♕♖♗♘♛♜♝♞♠♣♈♊♍♐♑♓"
SCRIPTS = "ΔΛΞΠΨΩλμπχψωЖДИЙЛЦШЩЮЯжшщюԽՖՄԱխպლთოჯⴲⵥⵣⵌאשצתشصضطظسيكث"


def hand(characters: str, font: str, number: int, draws: Any, tall: float) -> Photo:
    """Characters in one of the ways that they come: by a pen half of the time."""
    way = ("pen", "screenshot", "pen", "printed", "pen", "pixels", "pen", "screenshot", "pen", "canvas")[number % 10]
    cover = printing.glyph(characters, font)
    if way == "pen":
        pen = pen_of(draws)
        return on_paper([followed(cover, tall, pen, draws)], pen, draws)
    if way == "canvas":
        return screenshot(followed(cover, 220, "screen", draws), draws)
    return PRESENTATIONS[way](cover, draws)


def letter(draws: Any, number: int) -> Photo:
    """A Latin letter that no digit looks like, of a font or in a hand that follows it."""
    font = printing.TEXT_FONTS[number % len(printing.TEXT_FONTS)]
    return hand(LETTERS[number % len(LETTERS)], font, number, draws, draws.uniform(100, 300))


def script(draws: Any, number: int) -> Photo:
    """A letter of another script: Greek, Cyrillic, Armenian, Georgian, Hebrew, Arabic …"""
    glyph = SCRIPTS[number * 7 % len(SCRIPTS)]
    return hand(glyph, printing.SCRIPTS, number, draws, draws.uniform(100, 300))


def sign(draws: Any, number: int) -> Photo:
    """An arrow, a sign of mathematics or music, a figure of chess."""
    symbol = SIGNS[number * 7 % len(SIGNS)]
    return hand(symbol, printing.SYMBOLS, number, draws, draws.uniform(100, 300))


def icon(draws: Any, number: int) -> Photo:
    """A picture of an icon font, as a screen shows it, printed, or in 28×28 pixels."""
    cover = printing.glyph(chr(ICONS[number % len(ICONS)]), printing.ICONS)
    ways = ("screenshot", "printed", "screenshot", "pixels", "printed")
    return PRESENTATIONS[ways[number % 5]](cover, draws)


def words(draws: Any, number: int) -> Photo:
    """A word in a hand, a printed one, a page of print, and a note of some words."""
    font = printing.TEXT_FONTS[number % len(printing.TEXT_FONTS)]
    word = WORDS[number % len(WORDS)]
    match number % 5:
        case 0:
            return page(draws, number)
        case 1:
            return screenshot(printing.glyph(word, font), draws)
        case 2:
            return printed(printing.glyph(word, font), draws)
        case _:
            pen, tall = pen_of(draws), draws.uniform(40, 90)
            return on_paper([handwritten(word, tall, pen, draws)], pen, draws)


def page(draws: Any, number: int) -> Photo:
    """A printed page, or a part of one from near."""
    shape = (992, 744)
    text = " ".join((TEXT * 9).split()[number:])
    font = printing.TEXT_FONTS[number % len(printing.TEXT_FONTS)]
    cover = printing.paragraph(text, font, int(draws.integers(15, 34)), shape)
    sheet = paper("white", shape, draws)
    return seen_from(sheet * (1 - 0.88 * cover[..., None]), draws)


PUNCTUATION = '!"#$%&*+-=?@<>{}~^;:€£“»…×÷±'
LIKE_DIGITS = "OIlSBZgqbDsQzoiGyj"  # 0 1 1 5 8 2 9 9 6 0 5 0 2 0 1 6 4 1


def punctuation(draws: Any, number: int) -> Photo:
    """A sign between words, as large as a digit would be, of a font or in a hand."""
    font = printing.TEXT_FONTS[number * 3 % len(printing.TEXT_FONTS)]
    mark = PUNCTUATION[number * 5 % len(PUNCTUATION)]
    return hand(mark, font, number, draws, draws.uniform(80, 250))


def look_alike(draws: Any, number: int) -> Photo:
    """A letter that a hand or a font draws as a digit: nobody can tell it by the picture alone."""
    font = printing.TEXT_FONTS[number % len(printing.TEXT_FONTS)]
    return hand(LIKE_DIGITS[number % len(LIKE_DIGITS)], font, number, draws, draws.uniform(100, 300))


def hairline_letter(draws: Any, number: int) -> Photo:
    """A Latin letter that no digit looks like, in hairlines on a large canvas."""
    font = printing.TEXT_FONTS[number % len(printing.TEXT_FONTS)]
    cover = printing.glyph(LETTERS[number * 5 % len(LETTERS)], font)
    return on_canvas(lambda tall: followed(cover, tall, "hair", draws), draws)
