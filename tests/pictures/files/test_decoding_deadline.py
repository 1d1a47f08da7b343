"""Opening a picture ends in time, however much work a small file holds."""

import io
import struct
import threading
import time
import zlib
from contextlib import ExitStack

import numpy as np
import pytest
from PIL import Image

from ensemble.errors import ImageError
from ensemble.pictures.files import decoding_deadline, working_image
from ensemble.pictures.files.decoding import LARGE_DECODE_LOCK
from ensemble.pictures.files.picture import open_picture


def chunk(kind: bytes, content: bytes) -> bytes:
    body = kind + content
    return struct.pack(">I", len(content)) + body + struct.pack(">I", zlib.crc32(body))


def profiles(count: int) -> bytes:
    """A PNG of 60×60 pixels in which a colour profile of 1 MB stands `count` times."""
    file = io.BytesIO()
    Image.new("L", (60, 60), 255).save(file, "PNG")
    header, rest = file.getvalue()[:33], file.getvalue()[33:]
    profile = b"name\0\0" + zlib.compress(bytes(1024 * 1024 - 10), 9)
    return header + chunk(b"iCCP", profile) * count + rest


def scans(side: int, count: int) -> bytes:
    """A grey progressive JPEG whose last scan is repeated until there are `count`."""
    file = io.BytesIO()
    Image.new("L", (side, side), 128).save(file, "JPEG", progressive=True, quality=30)
    content = file.getvalue()
    last = content[content.rfind(b"\xff\xda") : -2]
    return content[:-2] + last * (count - content.count(b"\xff\xda")) + content[-2:]


def test_a_small_file_with_endless_work_is_given_up_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding_deadline, "MAX_OPEN_SECONDS", 0.2)
    began = time.monotonic()
    with pytest.raises(ImageError, match="within 10 s: save it smaller"):
        open_picture(profiles(2000))  # 5 s of work
    assert time.monotonic() - began < 2


def test_a_busy_machine_does_not_keep_a_picture_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock is looked at after decoding, too: WebP is decoded in one go."""
    file = io.BytesIO()
    Image.new("RGB", (300, 300)).save(file, "WEBP")
    now = iter(range(1000))
    monkeypatch.setattr(decoding_deadline.time, "monotonic", lambda: 5.0 * next(now))
    with pytest.raises(ImageError, match="when this machine is less busy"):
        open_picture(file.getvalue())


def test_waiting_for_another_large_picture_costs_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding_deadline, "MAX_OPEN_SECONDS", 0.3)
    clock = decoding_deadline.DecodingDeadline()
    LARGE_DECODE_LOCK.acquire()
    threading.Timer(0.5, LARGE_DECODE_LOCK.release).start()
    with ExitStack() as held:
        clock.enter_lock(LARGE_DECODE_LOCK, held)
        clock.check_deadline()


@pytest.mark.parametrize(("side", "count"), [(5200, 98), (8000, 42)])
def test_a_jpeg_whose_scans_would_take_long_is_refused_by_its_header(side: int, count: int) -> None:
    content = scans(side, count)
    began = time.process_time()
    with pytest.raises(ImageError, match="has an unusual structure"):
        open_picture(content)
    assert time.process_time() - began < 0.5


def test_a_progressive_jpeg_as_cameras_write_it_is_opened() -> None:
    assert open_picture(scans(1000, 10)).size == (1000, 1000)


@pytest.mark.parametrize("mode", ["1", "L", "I;16", "F"])
def test_grey_made_small_as_grey_is_what_it_would_be_in_colour(mode: str) -> None:
    drawn = np.random.default_rng(0).integers(0, 256, (613, 1207)).astype(np.uint8)
    given = {
        "1": lambda: Image.fromarray(drawn).convert("1"),
        "L": lambda: Image.fromarray(drawn),
        "I;16": lambda: Image.fromarray(drawn.astype(np.uint16) * 257),
        "F": lambda: Image.fromarray(drawn.astype(np.float32)),
    }[mode]()
    eight = given.convert("L") if mode in ("1", "L") else Image.fromarray(drawn)
    expected = eight.convert("RGB").reduce(2).resize((500, 254), Image.Resampling.BILINEAR)
    found = working_image.convert_to_working_size(given, 500)
    assert found.mode == "RGB"
    np.testing.assert_array_equal(np.asarray(found), np.asarray(expected))
