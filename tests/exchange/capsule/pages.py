"""Reports with runs in them, by `capsule.render_run_capsules`; what to change in them."""

import base64
import hashlib
import io
import json
import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ensemble import runs
from ensemble.exchange import capsule
from ensemble.exchange.capsule import capsule_format

Header = dict[str, Any]


def page_of(*blocks: str) -> str:
    """A report with these elements where it has them."""
    return f"<!doctype html><html><body><h1>A report</h1>\n{''.join(blocks)}</body></html>"


def written(folder: Path, *which: runs.Run, name: str = "a.html", **how: bool) -> Path:
    """A report of these runs."""
    path = folder / name
    path.write_text(page_of(*capsule.render_run_capsules(which, **how)), "utf-8")
    return path


def there_and_back(folder: Path, run: runs.Run, **how: bool) -> runs.Run:
    """The run that comes of a report of this one."""
    (found,) = capsule.read_report_capsules(written(folder, run, **how))
    return capsule.import_capsule(found)


def payload_of(page: str) -> bytes:
    """The bytes of the one capsule in a page, found without the program's own reader."""
    (text,) = re.findall(r'type="application/vnd.ensemble.capsule"[^>]*>([^<]*)</script>', page)
    return base64.b64decode(text)


def taken_apart(payload: bytes) -> tuple[Header, bytes]:
    """The header of a capsule, and what follows it; as docs/capsule.md says."""
    first, _, rest = payload.partition(b"\n")
    assert first == b"ensemble capsule 1"
    length = int.from_bytes(rest[:8], "little")
    return json.loads(rest[8 : 8 + length]), rest[8 + length :]


def put_together(header: Any, rest: bytes, length: int | None = None) -> bytes:
    """A capsule of a header, which may be anything, and what follows it."""
    text = json.dumps(header).encode()
    said = len(text) if length is None else length
    return capsule_format.MAGIC + said.to_bytes(8, "little") + text + rest


def element(payload: bytes, run: str, **attributes: str) -> str:
    """An element with this capsule, right in its length and checksum but for `attributes`."""
    said = {
        "version": "1",
        "run": run,
        "bytes": str(len(payload)),
        "sha256": hashlib.sha256(payload).hexdigest(),
        **attributes,
    }
    words = " ".join(f'data-{key}="{value}"' for key, value in said.items())
    text = base64.b64encode(payload).decode()
    return f'<script type="application/vnd.ensemble.capsule" {words}>{text}</script>'


def changed(page: str, change: Callable[[Header], Any]) -> str:
    """The page with the header of its one capsule changed in place, all checksums of it right."""
    header, rest = taken_apart(payload_of(page))
    change(header)
    return page_of(element(put_together(header, rest), header["id"]))


def uploaded(text: str, name: str = "a.html") -> io.BytesIO:
    """A page as it is handed in on the screen."""
    found = io.BytesIO(text.encode())
    found.name = name  # type: ignore[attr-defined]
    return found


def part(header: Header, name: str) -> dict[str, Any]:
    """What a header says of a part."""
    (found,) = [one for one in header["parts"] if one["name"] == name]
    return found


def with_parts(page: str, change: Callable[[str, bytes], bytes]) -> str:
    """The page with each part's bytes, unpacked, as `change` makes them; of the same type."""
    (found,) = capsule.read_report_capsules(uploaded(page))
    header = taken_apart(payload_of(page))[0]
    packed = []
    for one in header["parts"]:
        content = change(one["name"], found.load_part(one["name"]).tobytes())
        shape = [len(content)] if one["dtype"] == "uint8" else one["shape"]
        packed.append(zlib.compress(content))
        one |= {
            "shape": shape,
            "codec": "zlib",
            "length": len(packed[-1]),
            "sha256": hashlib.sha256(content).hexdigest(),
        }
    return page_of(element(put_together(header, b"".join(packed)), header["id"]))


def taken(text: str) -> runs.Run:
    """The run of the one capsule in a page, imported."""
    return capsule.import_capsule(capsule.read_report_capsules(uploaded(text))[0])
