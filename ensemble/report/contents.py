"""What a report consists of, before it is a page: sections of sentences, tables and pictures."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from ensemble.figures.palette import Palette

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go


@dataclass(frozen=True)
class Said:
    """A paragraph.

    Attributes:
      text: the sentences.
      role: an "answer" is large, "evidence" stands below it, a "note" below a table.
      marked: whether it is Markdown with bold words and escapes; else it is shown as it stands.
    """

    text: str
    role: Literal["answer", "evidence", "note", "text"] = "text"
    marked: bool = False


@dataclass(frozen=True, eq=False)
class Table:
    """A table of texts.

    Attributes:
      caption: what it shows.
      frame: its columns; the first names the rows.
      folded: whether it stands behind a fold, with its note.
      note: what its columns are, below it.
    """

    caption: str
    frame: "pd.DataFrame"
    folded: bool = False
    note: str = ""


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure, drawn anew for either look.

    Attributes:
      label: what it is called where it is one of several to choose from.
      alt: the picture in words.
      sees: what to see in it.
      make: draws it in the colours of a page.
      marked: whether `sees` is Markdown.
    """

    label: str
    alt: str
    sees: str
    make: "Callable[[Palette], go.Figure]"
    marked: bool = False


@dataclass(frozen=True, eq=False)
class Pictures:
    """One figure, or several of which one is shown at a time.

    Attributes:
      choice: what is chosen among them.
      each: at least one.
    """

    choice: str
    each: Sequence[Picture]


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
      each: the images, from left to right in the strip.
    """

    strip: str
    width: int
    height: int
    each: Sequence[Tile]


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
class Copied:
    """Text to be copied as it stands: a command, a citation.

    Attributes:
      label: what it is.
      text: it.
    """

    label: str
    text: str


Part = Said | Table | Pictures | Tiles | Listing | Copied


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it.

    Attributes:
      title: the heading.
      parts: in their order.
      level: of the heading: 2, or 3 within another section.
      breaks: whether it begins a new page on paper.
    """

    title: str
    parts: Sequence[Part] = field(default_factory=tuple)
    level: Literal[2, 3] = 2
    breaks: bool = False


@dataclass(frozen=True)
class Content:
    """A whole report.

    Attributes:
      title: what the run is called, or how many are compared.
      state: of the run; "" of several.
      about: a line of what it is.
      lead: what a deep ensemble is and how good this one is, for whoever has never seen one.
      sections: in their order.
    """

    title: str
    state: str
    about: str
    lead: str
    sections: Sequence[Section]
