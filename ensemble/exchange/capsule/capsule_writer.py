"""Runs to the elements of a page that hold all of their data; see docs/capsule.md."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble.errors import RunError
from ensemble.exchange.capsule import capsule_format
from ensemble.exchange.capsule.capsule_format import EXACT, ROUNDED
from ensemble.exchange.capsule.capsule_parts import (
    Part,
    build_capsule_header,
    iterate_capsule_parts,
    iterate_member_parts,
)
from ensemble.exchange.capsule.packing import (
    HALF_CODEC,
    choose_codec,
    convert_to_little_endian,
    pack_array,
    round_to_float16,
)
from ensemble.exchange.capsule.script_element import render_capsule_element
from ensemble.runs import Run

_MEMBER_CODEC = "raw"  # of what goes no further than the next browser: packing gains a tenth


def render_run_capsules(
    runs: Sequence[Run], *, with_members: bool = False, all_epochs: bool = False, weights: str = EXACT
) -> list[str]:
    """The data of each run as a `<script>` element, to stand before `</body>` as it is.

    Args:
      runs: whose; none twice.
      with_members: what the members have learnt too, so that they can be asked again.
      all_epochs: predictions, and members, of every epoch that is kept, not of the last alone.
      weights: one of `WEIGHTS`: "float16" rounds the members' kernels and halves what they take.

    Raises:
      RunError: a file of a run is damaged; or one keeps no members, and they are asked for; or
        their numbers are too large to be rounded.
    """
    return [
        render_capsule_element(run.id, _build_capsule_payload(run, with_members, all_epochs, weights)) for run in runs
    ]


def _build_capsule_payload(
    run: Run, with_members: bool = False, all_epochs: bool = False, weights: str = EXACT
) -> bytes:
    """The bytes of a run's capsule: a line, the header's length, the header, and the parts."""
    header = build_capsule_header(run)
    if with_members and weights == ROUNDED:
        header["weights"] = ROUNDED
    return _pack_capsule(run, header, iterate_capsule_parts(run, with_members, all_epochs), weights)


def build_member_payload(run: Run, epoch: int, weights: str = EXACT) -> bytes:
    """What the members have learnt by one epoch in a capsule's form, which cannot be imported.

    Args:
      run: whose.
      epoch: one that it keeps members of.
      weights: one of `WEIGHTS`.

    Raises:
      RunError: a file of the run is damaged, or the numbers are too large to be rounded.
    """
    return _pack_capsule(run, {}, iterate_member_parts(run, [epoch]), weights, _MEMBER_CODEC)


def _pack_capsule(run: Run, header: dict[str, Any], parts: Iterable[Part], weights: str, codec_name: str = "") -> bytes:
    """A line, the header's length, the header, and the parts.

    Args:
      run: whose parts they are, for errors.
      header: all of it but the parts.
      parts: names and arrays.
      weights: one of `WEIGHTS`.
      codec_name: of all parts that are not rounded; "" for what packs each best.
    """
    packed, headers = list[bytes](), list[capsule_format.PartHeader]()
    for name, array in parts:
        codec = codec_name or choose_codec(array)
        if weights == ROUNDED and _is_kernel(name, array):
            codec, array = HALF_CODEC, _round_kernel(run, name, array)
        packed.append(pack_array(array, codec))
        headers.append(
            {
                "name": name,
                "dtype": array.dtype.name,
                "shape": list(array.shape),
                "codec": codec,
                "length": len(packed[-1]),
                "sha256": hashlib.sha256(convert_to_little_endian(array).data).hexdigest(),
            }
        )
    described = json.dumps({**header, "parts": headers}, allow_nan=False).encode()
    length = len(described).to_bytes(capsule_format.LENGTH_BYTES, "little")
    return b"".join([capsule_format.MAGIC, length, described, *packed])


def _is_kernel(name: str, array: NDArray[Any]) -> bool:
    """Whether a part is what layers multiply by: nearly all that members take.

    Biases, scales and running statistics are (M, channels), and stay as they are.
    """
    return capsule_format.MEMBERS_PATTERN.fullmatch(name) is not None and array.ndim > 2


def _round_kernel(run: Run, name: str, array: NDArray[np.float32]) -> NDArray[np.float32]:
    """A kernel as it comes back from float16; RunError where it does not fit."""
    try:
        return round_to_float16(array)
    except ValueError as error:
        layer = name.split("/", 2)[2]
        raise RunError(
            f"The weights {layer} of the run “{run.id}” cannot be rounded to float16 ({error}): leave --weights out."
        ) from error
