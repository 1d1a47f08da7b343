"""Runs to the elements of a page that hold all of their data; see docs/capsule.md."""

import hashlib
import json
from collections.abc import Sequence

from ensemble.exchange.capsule import capsule_format
from ensemble.exchange.capsule.capsule_parts import build_capsule_header, iterate_capsule_parts
from ensemble.exchange.capsule.packing import choose_codec, convert_to_little_endian, pack_array
from ensemble.exchange.capsule.script_element import render_capsule_element
from ensemble.runs import Run


def render_run_capsules(
    runs: Sequence[Run], *, with_members: bool = False, all_epochs: bool = False
) -> list[str]:
    """The data of each run as a `<script>` element, to stand before `</body>` as it is.

    Args:
      runs: whose; none twice.
      with_members: what the members have learnt too, so that they can be asked again.
      all_epochs: predictions, and members, of every epoch that is kept, not of the last alone.

    Raises:
      RunError: a file of a run is damaged; or one keeps no members, and they are asked for.
    """
    return [
        render_capsule_element(run.id, build_capsule_payload(run, with_members, all_epochs))
        for run in runs
    ]


def build_capsule_payload(run: Run, with_members: bool = False, all_epochs: bool = False) -> bytes:
    """The bytes of a run's capsule: a line, the header's length, the header, and the parts."""
    capsule_header, packed, headers = (
        build_capsule_header(run),
        list[bytes](),
        list[capsule_format.PartHeader](),
    )
    for name, array in iterate_capsule_parts(run, with_members, all_epochs):
        codec = choose_codec(array)
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
    header = json.dumps({**capsule_header, "parts": headers}, allow_nan=False).encode()
    length = len(header).to_bytes(capsule_format.LENGTH_BYTES, "little")
    return b"".join([capsule_format.MAGIC, length, header, *packed])
