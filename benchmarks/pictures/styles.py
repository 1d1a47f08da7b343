"""The styles of the rendered test set: which pen on which paper in which light, by which camera."""

from dataclasses import dataclass

from benchmarks.pictures.printing import MORE_FONTS, OTHER_FONTS, SEGMENTS, TEXT_FONTS

PHOTO = (1200, 900)


@dataclass(frozen=True)
class Style:
    """Ranges that a picture is drawn from; sizes of digits are shares of the picture's height."""

    pens: tuple[str, ...] = ("gel", "felt")
    papers: tuple[str, ...] = ("white", "cream", "recycled")
    lights: tuple[str, ...] = ("even",)
    size: tuple[int, int] = PHOTO
    height: tuple[float, float] = (0.16, 0.4)
    turn: float = 4.0
    tilt: float = 0.01
    lines: str = ""  # "ruled", "squared", "cells", or a name of forms.RULINGS
    blur: tuple[float, float] = (0.4, 1.2)  # in pixels
    noise: tuple[float, float] = (1.0, 3.0)
    quality: tuple[int, int] = (80, 94)
    digits: tuple[int, int] = (1, 1)
    rows: int = 1
    gap: tuple[float, float] = (0.12, 0.4)  # between digits, in their heights
    at_edge: bool = False
    table: bool = False
    glare: bool = False
    turned: bool = False  # the file lies on its side and EXIF says so
    enlarge: int = 1
    kind: str = "jpeg"  # or "png", of grey; "colour png"; "transparent"
    source: str = "pen"  # or "print", a font's digits; "crossed", sevens; "pixels", 28×28
    among: str = "0123456789"  # the digits that it is about
    finish: str = ""  # what is done to the picture at last: a name of finishing.FINISHES
    exposure: float = 1.0
    scene: str = ""  # not a photo: a name of canvases.SCENES
    face: str = "plain"  # of print: a name of printing.FACES
    fonts: tuple[str, ...] = TEXT_FONTS  # of print
    held: bool = False  # rendered for the test set alone: not for tuning


ROW = {"height": (0.12, 0.2), "size": (900, 1200), "digits": (2, 6)}
SMALL = {"size": (800, 600), "height": (0.2, 0.5)}
FLAT = {"size": (700, 700), "height": (0.25, 0.5), "turn": 3.0, "tilt": 0.0, "blur": (0.3, 0.7)}
FORM = SMALL | {"pens": ("gel", "ballpoint", "felt"), "lights": ("even", "gradient"), "turn": 2.0}
COMB = ROW | {"pens": ("gel", "ballpoint"), "gap": (0.25, 0.45), "turn": 2.0, "digits": (2, 6)}
PRINT = SMALL | {"source": "print", "pens": ("print",), "lights": ("even", "gradient")}
STYLES = {
    "plain": Style(),
    "ballpoint": Style(pens=("ballpoint",), lights=("gradient", "even"), height=(0.12, 0.35)),
    "pencil": Style(pens=("pencil",), papers=("white", "cream"), lights=("gradient", "even")),
    "marker": Style(pens=("marker",), lights=("even", "gradient"), height=(0.25, 0.6)),
    "tinted paper": Style(papers=("yellow", "blue", "pink", "kraft"), lights=("gradient",)),
    "gradient": Style(pens=("gel", "ballpoint", "felt"), lights=("gradient", "lamp")),
    "hand shadow": Style(pens=("gel", "ballpoint", "pencil"), lights=("hand",)),
    "hard shadow": Style(pens=("gel", "ballpoint", "felt"), lights=("hard",)),
    "ruled": Style(pens=("gel", "ballpoint"), lines="ruled", lights=("even", "gradient")),
    "squared": Style(pens=("gel", "ballpoint", "pencil"), lines="squared", lights=("even", "hand")),
    "chalk": Style(pens=("chalk",), papers=("green board", "black board"), lights=("even", "lamp")),
    "whiteboard": Style(pens=("board marker",), papers=("whiteboard",), glare=True, tilt=0.04),
    "turned": Style(turn=15, pens=("gel", "ballpoint", "felt"), lights=("gradient",)),
    "perspective": Style(turn=8, tilt=0.08, pens=("gel", "felt"), lights=("gradient",)),
    "blurred": Style(blur=(3.0, 6.0), noise=(4, 9), lights=("gradient", "lamp")),
    "jpeg": Style(quality=(12, 28), pens=("gel", "ballpoint", "felt"), lights=("gradient",)),
    "inverted": Style(pens=("white screen",), papers=("black board",), kind="png"),
    "off-centre": Style(at_edge=True, height=(0.1, 0.22), lights=("gradient",)),
    "tiny": Style(height=(0.03, 0.05), size=(2000, 1500), blur=(0.4, 0.9)),
    "huge": Style(pens=("felt", "marker", "gel"), height=(0.72, 0.86), turn=2),
    "transparent": Style(pens=("screen", "marker"), size=(600, 600), turn=0, tilt=0, kind="transparent"),
    "drawn sheet": Style(pens=("screen",), size=(280, 280), height=(0.35, 0.75), noise=(0, 0), kind="png"),
    "table edge": Style(pens=("gel", "felt"), table=True, turn=10, tilt=0.03, height=(0.12, 0.25)),
    "turned by EXIF": Style(turned=True, pens=("gel", "ballpoint"), lights=("gradient",)),
    "12 megapixels": Style(size=(1512, 2016), enlarge=2, pens=("gel", "ballpoint"), lights=("gradient", "hand")),
    "number": Style(**ROW, pens=("gel", "ballpoint", "felt"), lights=("gradient", "even")),
    "number on lines": Style(**ROW, pens=("gel", "ballpoint"), lines="ruled", lights=("hand",)),
    "two lines": Style(**ROW, rows=2, pens=("gel", "felt"), lights=("gradient",), turn=3),
    "touching": Style(**ROW, gap=(-0.06, -0.01), pens=("gel", "felt")),
    "touching the frame": Style(**SMALL, finish="frame", pens=("gel", "felt", "ballpoint")),
    "leaving the frame": Style(**SMALL, finish="cut off", pens=("gel", "felt", "ballpoint")),
    "cut out of a scan": Style(**FLAT, finish="cut out", pens=("gel", "ballpoint", "pencil")),
    "broken strokes": Style(**SMALL, pens=("dry pen",), lights=("even", "gradient")),
    "nearly closed loops": Style(**SMALL, pens=("broad felt",), among="0469832", blur=(0.6, 1.6)),
    "28×28": Style(source="pixels", kind="png"),
    "28×28 with two digits": Style(source="pixels", digits=(2, 2), kind="png"),
    "printed": Style(**SMALL, source="print", pens=("print",), lights=("even", "gradient")),
    "printed in a grid": Style(**SMALL, source="print", pens=("print",), lines="cells"),
    "tight crop": Style(**FLAT, finish="tight", pens=("screen",), papers=("screen",), kind="png"),
    "crossed seven": Style(**SMALL, source="crossed", among="7", pens=("gel", "ballpoint")),
    "coloured ink": Style(**SMALL, pens=("coloured",), papers=("yellow", "blue", "pink")),
    "low light": Style(**SMALL, exposure=0.22, noise=(3, 6), lights=("lamp", "gradient")),
    "photo of a screen": Style(**SMALL, pens=("screen",), papers=("screen",), finish="moiré"),
    "scan": Style(**FLAT, finish="scan", pens=("ballpoint", "pencil", "gel"), kind="jpeg"),
    "hairline": Style(scene="hairline", height=(0.3, 0.8)),
    "patch of grey": Style(scene="patch", height=(0.4, 0.8)),
    "boxed": Style(**FORM, lines="boxed"),
    "dotted box": Style(**FORM, lines="dotted"),
    "line to write on": Style(**FORM, lines="guide"),
    "number in a comb": Style(**COMB, lines="comb"),
    "many fonts": Style(**PRINT, fonts=MORE_FONTS),
    "seven segments": Style(**PRINT, fonts=SEGMENTS),
    "outlined": Style(**PRINT, face="outlined"),
    "hairline number": Style(scene="hairline", height=(0.15, 0.4), digits=(2, 5), gap=(0.15, 0.4), held=True),
    "hairline photographed": Style(pens=("needle",), size=(1600, 1200), height=(0.4, 0.8), turn=3, held=True),
    "light in blotches": Style(scene="blotched", height=(0.25, 0.6), held=True),
    "number in a box": Style(**COMB, lines="boxed", held=True),
    "other fonts": Style(**PRINT, fonts=OTHER_FONTS, held=True),
    "stencil": Style(**PRINT, face="stencil", held=True),
    "dot matrix": Style(scene="dot matrix", height=(0.5, 0.8), held=True),
}
FEWER = {"12 megapixels": 0.5}  # they take long
