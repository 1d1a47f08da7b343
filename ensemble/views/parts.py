"""What a view consists of, whatever shows it: sentences, choices, figures, tables, images."""

from collections.abc import Callable, Generator, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from ensemble.figures.palette import Palette

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import plotly.graph_objects as go
    from numpy.typing import NDArray

    from ensemble.analysis.predictions import EnsemblePredictions
    from ensemble.analysis.quality.averaging import Ints

Role = Literal[
    "answer",
    "evidence",
    "finding",
    "note",
    "text",
    "gloss",
    "help",
    "hint",
    "scope",
    "heading",
    "warning",
    "reminder",
    "missing",
    "unavailable",
]


@dataclass(frozen=True)
class Paragraph:
    """Sentences.

    Attributes:
      text: the sentences.
      role: an "answer" is large and "evidence" stands below it; a "finding" is a further claim; a
        "note" says how to read what stands above; a "gloss" says what a term means; "help" is
        what a control's question mark says, and is left out where there is one; a "hint" says
        what can be pressed, and is left out where nothing can be; "scope" says what was measured,
        and is left out beside the job that measures it; a "reminder" repeats what the answer of
        the epoch begins with, and is left out where that stands above; a "heading" stands over
        what comes next where that has none; "missing" says what one of several things lacks, and
        "unavailable" why there is nothing to see at all; "text" is none of these.
      markdown: whether it is Markdown with bold words and escapes; else it is shown as it stands.
      help: what its terms mean, where a question mark can stand behind it.
      icon: of one that is "unavailable", where icons can be shown.
    """

    text: str
    role: Role = "text"
    markdown: bool = False
    help: str = ""
    icon: str = ":material/info:"


@dataclass(frozen=True, eq=False)
class Table:
    """A table of texts.

    Attributes:
      caption: what it shows.
      frame: its columns; the first names the rows.
      folded: whether it may stand behind a fold, with its note.
      note: what its columns are, below it.
      key: of its widget on a page.
      narrow: whether it is to be no wider than its columns.
      from_outside: whether texts in it come from people, as names of classes do.
      pinned_width: pixels of the first column where it is to stay in sight while the others, which
        are many, are moved; 0 where it need not. The caption then stands in for the table where
        that cannot be seen, not over it.
      numbers: makes what a program reads in place of the texts, where it can be downloaded.
      file: what that file is called, without its ending.
    """

    caption: str
    frame: "pd.DataFrame"
    folded: bool = False
    note: str = ""
    key: str = ""
    narrow: bool = False
    from_outside: bool = False
    pinned_width: int = 0
    numbers: "Callable[[], pd.DataFrame] | None" = None
    file: str = ""


@dataclass(frozen=True)
class Choice:
    """A question to whoever looks: a control on a page, an option of a command.

    Attributes:
      name: its word in an address, on the command line and in JSON.
      label: what stands over the control.
      values: what can be chosen, by its word; the texts that stand for them.
      default: the word that is taken where nobody chose.
      help: what is chosen, behind a question mark.
      form: "buttons" side by side, a "slider" through values in order, or a "list".
      accepts: which further words make sense, though no control offers them.
      width: of the control in pixels; None for as wide as its texts.
      key: of the control on a page; "" for one made of its name.
    """

    name: str
    label: str
    values: Mapping[str, str]
    default: str
    help: str = ""
    form: Literal["buttons", "slider", "list"] = "buttons"
    accepts: Callable[[str], bool] | None = None
    width: int | None = None
    key: str = ""

    def is_valid(self, word: str) -> bool:
        return word in self.values or (self.accepts is not None and self.accepts(word))


@dataclass(frozen=True)
class DeferredChoice:
    """A choice whose answer is needed here, while its control comes later, or stands already.

    Attributes:
      choice: what is asked.
    """

    choice: Choice


@dataclass(frozen=True)
class ChoiceRow:
    """Choices whose controls stand side by side; the answer is a tuple of words.

    Attributes:
      choices: in their order.
    """

    choices: Sequence[Choice]


def _create_empty_table() -> "pd.DataFrame":
    import pandas as pd  # here, for it takes a while and pages have it anyway

    return pd.DataFrame()


@dataclass(frozen=True, eq=False)
class Figure:
    """A figure, drawn anew for either look of a page.

    Attributes:
      label: what it is called where it is one of several to choose from.
      alt: the figure in words.
      explanation: what to see in it.
      draw: draws it in the colours of a page.
      markdown: whether `explanation` is Markdown.
      key: of the chart on a page.
      file: what its files are called, after the run and epoch, and its name in JSON: "calibration".
      title: what it is called where it is saved.
      table: makes its numbers as a table, when they are asked for.
      of_epoch: whether it shows one epoch, else the whole run.
      drawn_from: all that it follows from besides the epoch and its key, small and hashable; None
        where it is not worth keeping.
      help: what its terms mean, behind a question mark.
      selection_modes: how points of it can be chosen; the answer is then the `customdata` of those
        chosen.
      point_choice: the choice that a press on a point of it answers.
      format_point_word: of a pressed point's `customdata`, the word of that choice.
    """

    label: str
    alt: str
    explanation: str
    draw: "Callable[[Palette], go.Figure]"
    markdown: bool = False
    key: str = ""
    file: str = ""
    title: str = ""
    table: "Callable[[], pd.DataFrame]" = _create_empty_table
    of_epoch: bool = True
    drawn_from: tuple[Hashable, ...] | None = None
    help: str = ""
    selection_modes: Sequence[Literal["points", "box", "lasso"]] = ()
    point_choice: Choice | None = None
    format_point_word: Callable[[Any], str] | None = None


@dataclass(frozen=True, eq=False)
class Figures:
    """One figure, or several of which one is shown at a time.

    Attributes:
      choice: which is shown: its values are those of `figure`; where it was asked before, its
        control is not drawn again. Without one there is a single figure.
      figure: the figure of a value.
      notes: make what is to be said of some of them, below the figure, by their values.
    """

    choice: Choice | None
    figure: Callable[[str], Figure]
    notes: Mapping[str, Callable[[], str]] = field(default_factory=dict)

    @classmethod
    def single(cls, figure: Figure) -> "Figures":
        return cls(None, lambda _: figure)

    @classmethod
    def several(cls, label: str, figures: Sequence[Figure]) -> "Figures":
        """Figures that are there already, of which one is shown at a time.

        Args:
          figures: at least one.
        """
        values = {str(place): figure.label for place, figure in enumerate(figures)}
        return cls(Choice("figure", label, values, "0"), lambda word: figures[int(word)])

    def all(self) -> list[Figure]:
        return [self.figure(word) for word in (self.choice.values if self.choice else ("",))]


@dataclass(frozen=True, eq=False)
class OtherImages:
    """Images of a run that are not its test images.

    Attributes:
      subject: what one is called: "training digit".
      predictions: what is said of N of them.
      numbers: (N,), their numbers, rising.
      load: reads the images of some numbers, uint8 (K, H, W, channels).
    """

    subject: str
    predictions: "EnsemblePredictions"
    numbers: "Ints"
    load: "Callable[[Ints], NDArray[np.uint8]]"


@dataclass(frozen=True, eq=False)
class Images:
    """Images that a view has come to, to be looked at one by one: test images, or others.

    Attributes:
      numbers: (K,), which, in the order to show them.
      key: of the grid on a page.
      caption: what they are and in which order.
      rows: of images at a time.
      list_lines_below: the lines below an image, from its number; None for the members' votes.
      empty: what to say where there are none; "" for nothing.
      markdown: whether `caption` is Markdown.
      others: what they are where they are not test images.
    """

    numbers: "Ints"
    key: str
    caption: str = ""
    rows: int = 3
    list_lines_below: Callable[[int], Sequence[str]] | None = None
    empty: str = ""
    markdown: bool = False
    others: OtherImages | None = None


@dataclass(frozen=True)
class Tile:
    """A test image with what is said of it.

    Attributes:
      verdict: "✗ 7, is 1".
      right: whether the ensemble is.
      votes: the members', a line or a few.
      alt: all of it in a sentence.
    """

    verdict: str
    right: bool
    votes: Sequence[str]
    alt: str


@dataclass(frozen=True)
class Tiles:
    """Test images, all in one picture.

    Attributes:
      strip: a data URI of all of them side by side.
      width: pixels of the screen that one is wide.
      height: pixels of the screen that one is high.
      tiles: the images, from left to right in the strip.
    """

    strip: str
    width: int
    height: int
    tiles: Sequence[Tile]


@dataclass(frozen=True)
class Listing:
    """Names and what they stand for: settings, versions.

    Attributes:
      rows: (name, value).
      fold: what the fold is called that it stands behind; "" for none.
    """

    rows: Sequence[tuple[str, str]]
    fold: str = ""


@dataclass(frozen=True)
class CopyableText:
    """Text to be copied as it stands: a command, a citation.

    Attributes:
      label: what it is.
      text: it.
    """

    label: str
    text: str


@dataclass(frozen=True, eq=False)
class Columns:
    """Parts beside each other where there is room, else below each other.

    Attributes:
      widths: how wide each column is, in proportion.
      columns: the parts of each, as a view yields them.
    """

    widths: Sequence[int]
    columns: Sequence["Callable[[], View]"]


@dataclass(frozen=True, eq=False)
class Alternatives:
    """Groups of parts of which a page shows the chosen one, and paper all in their order.

    Attributes:
      choice: which is shown.
      build: the parts of a value, as a view yields them.
    """

    choice: Choice
    build: "Callable[[str], View]"


Part = (
    Paragraph
    | Table
    | Choice
    | DeferredChoice
    | ChoiceRow
    | Figures
    | Images
    | Tiles
    | Listing
    | CopyableText
    | Columns
    | Alternatives
)
# What a view yields, and what it is answered: of a choice its word, of a row of them a tuple, of a
# figure what is chosen in it.
View = Generator[Part, Any, None]


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it.

    Attributes:
      title: the heading.
      parts: in their order.
      level: of the heading: 2, or 3 within another section.
      page_break: whether it begins a new page on paper.
    """

    title: str
    parts: Sequence[Part] = field(default_factory=tuple)
    level: Literal[2, 3] = 2
    page_break: bool = False
