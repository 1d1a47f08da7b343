"""The form of a capsule: what its header says, and what each of its parts is called.

docs/capsule.md states the same for whoever writes or reads one without this program.
"""

import math
import re
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np

from ensemble.storage.records.field_checks import Count, Time

MEDIA_TYPE = "application/vnd.ensemble.capsule"
VERSION = 1
MAGIC = f"ensemble capsule {VERSION}\n".encode()
LENGTH_BYTES = 8  # of the header's length, which stands after the first line: little end first
MOST_HEADER_BYTES = 2**20
MOST_PARTS = 5000
MOST_NAME = 300  # letters of a part's
MOST_CAPSULES = 50  # in one file, as many as Compare takes
MOST_AXES = 8
WEIGHTS = EXACT, ROUNDED = "float32", "float16"  # how what members have learnt is kept

HISTORY, LABELS, IMAGES, SOURCES = "history", "labels", "images", "sources"
GROUPS, REPEATS, EXAMPLES = "groups", "repeats", "examples"
SHIFT_RESULTS, SHIFT_STATUS = "shift/results", "shift/status"
SCORES = "shift/scores"
EPOCH_PATTERN = re.compile(r"(predictions|validation)/epoch-([0-9]{4})")
MEMBERS_PATTERN = re.compile(r"parameters/epoch-([0-9]{4})/(\w+(?:/\w+){0,15})", re.ASCII)
SCORE_PATTERN = re.compile(rf"{SCORES}/([a-z0-9_]{{1,60}})/([a-z_]{{1,60}})")


class PartHeader(TypedDict):
    """What a header says of a part.

    Its bytes come right after those of the part before it, `length` of them; once unpacked they
    are `shape` numbers of `dtype`, in C order, little end first, with this SHA-256.
    """

    name: str
    dtype: str
    shape: list[Count]
    codec: str
    length: Count
    sha256: str


@dataclass(frozen=True)
class CapsuleHeader:
    """What a capsule says of its run, and of the parts that follow.

    Attributes:
      form, version: "ensemble capsule" and `VERSION`.
      program: the version of this program that wrote it.
      written: when; unix seconds.
      id: of the run where it was written.
      kind: "" for one that was trained there, "imported" for predictions from elsewhere.
      settings: as in its config.json.
      dataset: what is known of its images; see `datasets.record`.
      status: as in its status.json.
      parts: in their order.
      packages: versions of what its numbers depend on, by name.
      name, note, tags: what a person called it, wrote and tagged it with; "" and [] for nothing.
      member_names: M, or none.
      weights: "float16" where what the members have learnt is rounded to it; else "", exact.
    """

    form: str
    version: Count
    program: str
    written: Time
    id: str
    kind: str
    settings: dict[str, Any]
    dataset: dict[str, Any]
    status: dict[str, Any]
    parts: list[PartHeader]
    packages: dict[str, str]
    name: str = ""
    note: str = ""
    tags: list[str] | None = None
    member_names: list[str] | None = None
    weights: str = ""


FORMAT_NAME = "ensemble capsule"


def format_epoch_part(what: str, epoch: int) -> str:
    """The name of an epoch's "predictions" or "validation", or what its parameters begin with."""
    return f"{what}/epoch-{epoch:04d}"


def compute_part_bytes(part: PartHeader) -> int:
    """What a part takes once it is unpacked."""
    return math.prod(part["shape"]) * np.dtype(part["dtype"]).itemsize
