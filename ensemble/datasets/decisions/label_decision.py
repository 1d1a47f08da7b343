"""A decision about one label: what a person said of it, and of which image."""

import json
import uuid
from dataclasses import asdict, dataclass, field
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from ensemble.pictures.corrections import compute_image_checksum
from ensemble.storage.plain_files import parse_json
from ensemble.storage.records.field_checks import Count, NumberRange, Time, parse_dataclass

KEEP, RELABEL, REMOVE, UNSURE = "keep", "relabel", "remove", "unsure"
DECISIONS = (KEEP, RELABEL, REMOVE, UNSURE)
WRONG_LABEL_DECISIONS = (RELABEL, REMOVE)  # those that change the dataset
UNDO = "undo"  # of a line: it takes another back
NO_CLASS = -1

_ClassNumber = Annotated[int, NumberRange(NO_CLASS, 2**31 - 1)]


@dataclass(frozen=True)
class LabelDecision:
    """What a person decided about the label of one image.

    Attributes:
      decision: one of `DECISIONS`, or `UNDO`.
      number: of the image in its split, from 0.
      image: its checksum; "" where there are no images.
      label: the class that it was labelled as, from 0.
      new_label: the class that it becomes; `NO_CLASS` but for a relabelling.
      run: whose members were asked.
      at: when, unix seconds.
      person: who, on a server that several share.
      id: of the decision, which an undo names.
      undoes: of an undo, the id of the decision that it takes back.
    """

    decision: str
    number: Count = 0
    image: str = ""
    label: _ClassNumber = NO_CLASS
    new_label: _ClassNumber = NO_CLASS
    run: str = ""
    at: Time = 0.0
    person: str = ""
    id: str = field(default_factory=lambda: uuid.uuid4().hex[:16])
    undoes: str = ""

    @property
    def image_key(self) -> tuple[int, str]:
        """Which image it is of."""
        return self.number, self.image

    @property
    def answer(self) -> tuple[str, int, str]:
        """What was decided, and by whom."""
        return self.decision, self.new_label, self.person


def serialize_decision(decision: LabelDecision) -> bytes:
    """A decision as a line of JSON; what says nothing is left out."""
    unused = {"image": "", "new_label": NO_CLASS, "person": "", "undoes": ""}
    values = {name: value for name, value in asdict(decision).items() if unused.get(name) != value}
    return json.dumps(values, allow_nan=False).encode() + b"\n"


def parse_decision(line: bytes) -> LabelDecision | None:
    """The decision in a line; None where it is none, as a line that was cut short."""
    try:
        decision = parse_dataclass(LabelDecision, parse_json(line))
    except ValueError:
        return None
    return decision if decision.decision in (*DECISIONS, UNDO) else None


def checksum_image(images: NDArray[np.uint8] | None, number: int) -> str:
    """A word that is another for another image; "" where there are none.

    Args:
      images: uint8 (N, H, W, channels), or None.
      number: of the image, in [0, N).
    """
    return "" if images is None else compute_image_checksum(np.ascontiguousarray(images[number]))
