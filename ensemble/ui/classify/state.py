"""What a tab remembers of the screen Classify: pictures, what was overruled, rows of a list."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ensemble.analysis.unlabelled.output_measures import OutputMeasures
    from ensemble.pictures.ink.extraction import PictureOptions

MAX_NAME_LENGTH = 120  # characters of a name that are kept
WHOLE_PICTURE = (0.0, 0.0, 1.0, 1.0)
_Crop = tuple[float, float, float, float]


@dataclass(frozen=True)
class InputPicture:
    """A picture as it came.

    Attributes:
      id: tells it from the tab's other pictures; what is overruled is kept under it.
      name: what its owner calls it: text, which is no Markdown.
      content: the file; None where it has been let go because others came.
      key: differs when the content does.
    """

    id: str
    name: str
    content: bytes | None
    key: str


def create_input_picture(name: str, content: bytes, ident: str = "") -> InputPicture:
    """A picture of that name; without an `ident` it goes by what is in it."""
    key = hashlib.sha256(content).hexdigest()[:16]
    return InputPicture(ident or key, " ".join(name.split())[:MAX_NAME_LENGTH] or "Picture", content, key)


@dataclass(frozen=True)
class PreparationOverrides:
    """The choices of `ink.extraction.PictureOptions`, without what importing it costs.

    Attributes:
      ink: "auto", "dark" or "light".
      threshold: -1 to 1; more wants darker ink.
      crop: left, top, right and bottom of the part that is read, in shares of the picture.
      fit: "crop" or "whole", of a picture that is one image.
    """

    ink: str = "auto"
    threshold: float = 0.0
    crop: _Crop = WHOLE_PICTURE
    fit: str = "crop"

    @property
    def cache_key(self) -> str:
        """Differs when any of them does: for the keys of caches."""
        sides = "".join(f",{side:.4f}" for side in self.crop)
        return f"{self.ink}{self.threshold:+.2f}{sides}{self.fit}"

    def to_choices(self) -> PictureOptions:
        from ensemble.pictures.ink.extraction import PictureOptions

        ink: Any = self.ink
        return PictureOptions(ink, self.threshold, None if self.crop == WHOLE_PICTURE else self.crop, self.fit)


@dataclass(frozen=True)
class ReadingRow:
    """What is said of a picture, for a list.

    Attributes:
      answer: what is read in it.
      confidence: how surely.
      note: why nothing is read.
      outputs: what the members say of its marks; None where it has none.
    """

    answer: str
    confidence: str
    note: str
    outputs: OutputMeasures | None = field(default=None, compare=False, repr=False)
