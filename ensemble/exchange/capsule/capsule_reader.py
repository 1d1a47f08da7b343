"""A report of anybody's to the runs in it: nothing is believed, run, unpickled or named a path.

The header is bounded and looked at field by field; what each part has to be follows from it, and is
compared before a byte of the part is unpacked; no part is unpacked beyond its own shape.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from numpy.typing import NDArray

from ensemble.errors import PredictionsError
from ensemble.exchange.capsule import capsule_format
from ensemble.exchange.capsule.capsule_format import CapsuleHeader, PartHeader
from ensemble.exchange.capsule.header_checks import CapsuleRun, is_known_part, parse_capsule_run
from ensemble.exchange.capsule.packing import CODECS, HALF, PEAK_MEMORY_FACTOR, unpack_array
from ensemble.exchange.capsule.part_values import check_part_values
from ensemble.exchange.capsule.script_element import SAVE_AGAIN, find_capsule_elements
from ensemble.exchange.checks.limits import check_free_memory
from ensemble.exchange.prediction_merge import name_file_in_errors
from ensemble.storage.plain_files import open_plain_file, parse_json
from ensemble.storage.records.field_checks import parse_dataclass

File = Path | BinaryIO
_ROUNDED_NOTE = (
    "The members' weights were rounded to float16 when the report was saved: what they answer here "
    "differs a little from the run's predictions, which are exact."
)


@dataclass(frozen=True, eq=False)
class Capsule:
    """One run in a report, its header and all of its parts looked at.

    Attributes:
      header: what it says of itself.
      run: the same as settings, status, dataset.
      parts: of those that are known here, by name: what it is, and where in `payload` it begins.
      payload: all of its bytes.
      notes: what was left out or assumed, a sentence each.
    """

    header: CapsuleHeader
    run: CapsuleRun
    parts: dict[str, tuple[PartHeader, int]]
    payload: bytes
    notes: tuple[str, ...] = ()

    def load_part(self, name: str) -> NDArray[Any]:
        """A part, unpacked again each time; read-only.

        Raises:
          PredictionsError: it is not there, or not what was written; it is named.
        """
        if name not in self.parts:
            raise PredictionsError(f"its part “{name:.80}” is missing: {SAVE_AGAIN}.")
        part, start = self.parts[name]
        check_free_memory(PEAK_MEMORY_FACTOR * capsule_format.compute_part_bytes(part))
        packed = memoryview(self.payload)[start : start + part["length"]]
        try:
            array = unpack_array(packed, part["codec"], part["dtype"], tuple(part["shape"]))
        except ValueError as error:
            raise PredictionsError(f"its part “{name}” is damaged ({error}): {SAVE_AGAIN}.") from error
        if hashlib.sha256(array.data).hexdigest() != part["sha256"]:
            raise PredictionsError(f"its part “{name}” is damaged, its checksum does not match: {SAVE_AGAIN}.")
        return array

    @property
    def nbytes(self) -> int:
        """What its parts take unpacked, and so on the disk."""
        return sum(capsule_format.compute_part_bytes(part) for part, _ in self.parts.values())

    @property
    def has_rounded_weights(self) -> bool:
        """Whether what its members have learnt was rounded to float16, here or before."""
        codecs = (part["codec"] for part, _ in self.parts.values())
        return bool(self.list_epochs("parameters")) and (
            bool(self.header.weights) or any(codec.startswith(HALF) for codec in codecs)
        )

    def list_epochs(self, what: str = "predictions") -> list[int]:
        """The epochs of which it has "predictions", "validation" or "parameters", in order."""
        epochs = {int(name.split("/")[1].removeprefix("epoch-")) for name in self.parts if name.startswith(f"{what}/")}
        return sorted(epochs)


def read_report_capsules(files: File | Sequence[File], most_bytes: int | None = None) -> list[Capsule]:
    """The runs in a report, or several, in their order.

    Args:
      files: paths, or what was uploaded, which has a `name`.
      most_bytes: that all runs in them may take unpacked, together; None for as much as there is
        memory for each.

    Raises:
      PredictionsError: it is no report, or one of its runs cannot be taken; the file, the part and
        what to do are named.
    """
    capsules = list[Capsule]()
    for file in files if isinstance(files, Sequence) else [files]:
        with name_file_in_errors(Path(file.name).name or "the file"):
            for capsule in _parse_report_page(_read_report_bytes(file), most_bytes):
                capsules.append(capsule)
                if most_bytes is not None:
                    most_bytes -= capsule.nbytes
    return capsules


def _parse_report_page(page: bytes, most_bytes: int | None) -> list[Capsule]:
    capsules, left = list[Capsule](), most_bytes
    for capsule_element in find_capsule_elements(page):
        capsules.append(_parse_capsule(capsule_element.run_id, capsule_element.payload, left))
        left = None if left is None else left - capsules[-1].nbytes
    ids = [capsule.header.id for capsule in capsules]
    if twice := next((run_id for run_id in ids if ids.count(run_id) > 1), None):
        raise PredictionsError(f"it holds the run {twice} twice: {SAVE_AGAIN}.")
    return capsules


def _read_report_bytes(file: File) -> bytes:
    """All of a file's bytes; PredictionsError where it cannot be read, or memory is too short."""
    if not isinstance(file, Path):
        file.seek(0)
        return file.read()
    try:
        with open_plain_file(file) as opened_file:
            check_free_memory(3 * file.stat().st_size)
            return opened_file.read()
    except OSError as error:
        raise PredictionsError(
            f"it cannot be read ({error.strerror or error}): give a file that exists and that you may read."
        ) from error


def _parse_capsule(run_id: str, payload: bytes, most_bytes: int | None) -> Capsule:
    header, start = _parse_capsule_header(payload)
    if header.id != run_id:
        raise PredictionsError(f"the data of a run in it has two ids: {SAVE_AGAIN}.")
    about = parse_capsule_run(header)
    parts, notes = _locate_capsule_parts(header, about, start, len(payload))
    capsule = Capsule(header, about, parts, payload, notes)
    check_free_memory(capsule.nbytes, most_bytes)
    if header.kind:  # Nothing else says what such a run was tested on.
        capsule.load_part(capsule_format.LABELS)
    for name in parts:
        check_part_values(name, capsule.load_part(name), about)
    if capsule.has_rounded_weights:
        return replace(capsule, notes=(*notes, _ROUNDED_NOTE))
    return capsule


def _parse_capsule_header(payload: bytes) -> tuple[CapsuleHeader, int]:
    first = len(capsule_format.MAGIC) + capsule_format.LENGTH_BYTES
    if not payload.startswith(capsule_format.MAGIC) or len(payload) < first:
        raise PredictionsError(f"the data of a run in it has an unknown form: {SAVE_AGAIN}.")
    length = int.from_bytes(payload[len(capsule_format.MAGIC) : first], "little")
    if length > min(capsule_format.MOST_HEADER_BYTES, len(payload) - first):
        raise PredictionsError(f"its header gives an impossible length: {SAVE_AGAIN}.")
    try:
        header = parse_dataclass(CapsuleHeader, parse_json(payload[first : first + length]))
    except ValueError as error:
        raise PredictionsError(f"its header cannot be read ({error!s:.200}): {SAVE_AGAIN}.") from error
    return header, first + length


def _locate_capsule_parts(
    header: CapsuleHeader, about: CapsuleRun, start: int, end: int
) -> tuple[dict[str, tuple[PartHeader, int]], tuple[str, ...]]:
    if len(header.parts) > capsule_format.MOST_PARTS:
        raise PredictionsError(f"it has {len(header.parts):,} parts, more than any run has.")
    locations, unknown, names = dict[str, tuple[PartHeader, int]](), list[str](), set[str]()
    for part in header.parts:
        name = part["name"]
        words = name, part["dtype"], part["codec"]
        if not all(word.isprintable() and 0 < len(word) <= capsule_format.MOST_NAME for word in words):
            raise PredictionsError(f"it has a part whose name cannot be shown: {SAVE_AGAIN}.")
        if name in names:
            raise PredictionsError(f"it has two parts “{name:.80}”: {SAVE_AGAIN}.")
        names.add(name)
        if part["length"] > end - start:
            raise PredictionsError(
                f"its part “{name:.80}” says that it has {part['length']:,} bytes, and "
                f"{end - start:,} are left: {SAVE_AGAIN}."
            )
        if is_known_part(part, about):
            if part["codec"] not in CODECS:
                raise PredictionsError(
                    f"its part “{name:.80}” is packed in a way unknown to this version "
                    f"({part['codec']:.40}): update this program, then import it again."
                )
            locations[name] = part, start
        else:
            unknown.append(f"{name:.80}")
        start += part["length"]
    if start != end:
        raise PredictionsError(f"its parts are shorter than its data: {SAVE_AGAIN}.")
    listing = ", ".join(unknown[:5]) + (" and more" if len(unknown) > 5 else "")
    notes = (f"Parts unknown to this version were left out: {listing}.",) if unknown else ()
    return locations, notes
