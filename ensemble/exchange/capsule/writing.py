"""Runs to the elements of a page that hold all of their data; see docs/capsule.md."""

import hashlib
import json
from collections.abc import Sequence

from ensemble.exchange.capsule import form
from ensemble.exchange.capsule.contents import parts_of, said_of
from ensemble.exchange.capsule.element import element
from ensemble.exchange.capsule.packing import codec_for, little, pack
from ensemble.runs import Run


def blocks(
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
    return [element(run.id, payload(run, with_members, all_epochs)) for run in runs]


def payload(run: Run, with_members: bool = False, all_epochs: bool = False) -> bytes:
    """The bytes of a run's capsule: a line, the header's length, the header, and the parts."""
    said, packed, headers = said_of(run), list[bytes](), list[form.PartHeader]()
    for name, array in parts_of(run, with_members, all_epochs):
        codec = codec_for(array)
        packed.append(pack(array, codec))
        headers.append(
            {
                "name": name,
                "dtype": array.dtype.name,
                "shape": list(array.shape),
                "codec": codec,
                "length": len(packed[-1]),
                "sha256": hashlib.sha256(little(array).data).hexdigest(),
            }
        )
    header = json.dumps({**said, "parts": headers}, allow_nan=False).encode()
    length = len(header).to_bytes(form.LENGTH_BYTES, "little")
    return b"".join([form.MAGIC, length, header, *packed])
