"""Bad bodies and large numbers: each is answered with a sentence, and the server lives."""

import io
import json
import struct
import zlib

import numpy as np
import psutil
import pytest
from PIL import Image

from ensemble.runs import Run
from ensemble.serving import limits
from tests.serving.in_process import Server, start_server, write_npy
from tests.serving.test_predictions import IMAGES, write_parts

DRAWS = np.random.default_rng(0)
NPY = "application/x-npy"


def write_npy_header(shape: tuple[int, ...], descr: str = "|u1", content: bytes = b"") -> bytes:
    head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    head = head.ljust(117) + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + content


def write_png_bomb(side: int) -> bytes:
    """A small file that says it has side × side pixels, and has the bytes for them, packed."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    data = zlib.compress(bytes(10**6), 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def write_half_a_tiff() -> bytes:
    file = io.BytesIO()
    Image.new("L", (8, 8)).save(file, "TIFF", save_all=True, append_images=[Image.new("L", (8, 8))])
    return file.getvalue()[:30]


BAD_BODIES = {
    # name: (body, type, status, what the sentence says)
    "nothing": (b"", "image/png", 400, "empty"),
    "noise": (DRAWS.bytes(5000), "image/png", 422, "picture"),
    "text as a picture": (b"<script>alert(1)</script>" * 9, "image/svg+xml", 422, "picture"),
    "half a PNG": (b"\x89PNG\r\n\x1a\n" + DRAWS.bytes(100), "image/png", 422, "damaged"),
    "a PNG of 60,000 × 60,000": (write_png_bomb(60_000), "image/png", 422, "too many"),
    "half a TIFF": (write_half_a_tiff(), "image/tiff", 422, "picture"),
    "not JSON": (b"[[[1, 2", "application/json", 400, "not JSON"),
    "NaN": (b"[[[NaN]]]", "application/json", 400, "not JSON"),
    "no UTF-8": (b"\xff\xfe\xfd[", "application/json", 400, "not JSON"),
    "deep JSON": (b"[" * 10**6, "application/json", 400, "not JSON"),
    "a JSON object": (b'{"images": []}', "application/json", 422, "no array"),
    "an empty array": (b"[]", "application/json", 422, "shape"),
    "ragged JSON": (b"[[[1, 2], [3]]]", "application/json", 422, "of one size"),
    "words": (b'[[["a", "b"]]]', "application/json", 422, "numbers"),
    "nulls": (b"[[[null]]]", "application/json", 422, "numbers"),
    "a number too large": (b"[[[1" + b"0" * 400 + b"]]]", "application/json", 422, "numbers"),
    "digits without end": (b"[[[" + b"1" * 10**5 + b"]]]", "application/json", 400, "not JSON"),
    "other brightness": (
        json.dumps(np.full((1, 28, 28), -3.0).tolist()).encode(),
        "application/json",
        422,
        "before they are standardized",
    ),
    "other size": (write_npy(np.zeros((2, 27, 28), np.uint8)), NPY, 422, "28×28 pixels"),
    "in colour": (write_npy(np.zeros((2, 28, 28, 3), np.uint8)), NPY, 422, "in colour"),
    "one axis": (write_npy(np.zeros(9, np.uint8)), NPY, 422, "shape"),
    "no axis": (write_npy(np.uint8(3)), NPY, 422, ""),
    "NaN in an array": (write_npy(np.full((1, 28, 28), np.nan)), NPY, 422, "NaN"),
    "complex numbers": (write_npy(np.zeros((1, 28, 28), complex)), NPY, 422, "numbers"),
    "texts": (write_npy(np.full((1, 28, 28), "9")), NPY, 422, "no numbers"),
    "a pickle": (write_npy(np.array([{"a": 1}], object)), NPY, 422, "Python objects"),
    "huge dimensions": (write_npy_header((10**6, 10**6, 10**6)), NPY, 422, "not as long"),
    "a product beyond 64 bits": (write_npy_header((2**40, 2**40)), NPY, 422, "not as long"),
    "many axes": (write_npy_header((1,) * 30, content=b"x"), NPY, 422, "shape"),
    "a cut array": (write_npy(IMAGES[:2])[:-1], NPY, 422, "not as long"),
    "a longer array": (write_npy(IMAGES[:2]) + b"x", NPY, 422, "not as long"),
    "a header of code": (
        write_npy_header((1,)).replace(b"(1,)", b"__import__('os').abort()"),
        NPY,
        422,
        "cannot be read",
    ),
    "no array as one": (b"PK\3\4" + DRAWS.bytes(100), NPY, 422, "no .npy"),
    "too many images": (write_npy(np.zeros((1025, 28, 28), np.uint8)), NPY, 413, "1,024 at most"),
    "much JSON": (b"[" + b"0," * (4 * 2**20) + b"0]", "application/json", 413, ".npy"),
    "a large body": (bytes(limits.MAX_BODY_BYTES + 1), "image/png", 413, "20 MB"),
    "a page": (b"<p>", "text/html", 415, "image/png"),
    "a form": (b"a=b", "application/x-www-form-urlencoded", 415, "multipart"),
    "no type": (b"x", "/", 415, "image/png"),
    "parts without a boundary": (b"--x", "multipart/form-data", 400, "multipart"),
    "parts that are none": (DRAWS.bytes(900), "multipart/form-data; boundary=x", 400, "multipart"),
    "parts without a file": (
        b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--x--\r\n',
        "multipart/form-data; boundary=x",
        422,
        "no file",
    ),
    "two files": (*write_parts(b"x", copies=2), 422, "several files"),
    "a file of nothing": (*write_parts(b""), 400, "empty"),
    "a file of noise": (*write_parts(DRAWS.bytes(999)), 422, "picture"),
    "a part with a large field": (
        b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n' + bytes(10**6) + b"\r\n--x--\r\n",
        "multipart/form-data; boundary=x",
        400,
        "multipart",
    ),
}


@pytest.mark.parametrize("name", BAD_BODIES)
def test_a_bad_body_is_answered_with_one_sentence(server: Server, name: str) -> None:
    body, kind, status, words = BAD_BODIES[name]
    answer = server.ask("/predict", body, kind)
    assert (answer.status, answer.headers["content-type"]) == (status, "application/json")
    found = answer.json
    assert found.keys() == {"error"}
    assert words in found["error"]
    assert found["error"].endswith(".")
    assert "\n" not in found["error"]
    assert server.predict(IMAGES[:1], "?rejection=false")["digits"]


def test_bombs_take_no_memory(server: Server) -> None:
    process = psutil.Process()
    server.predict(IMAGES[:1])
    before = process.memory_info().rss
    for name in ("a PNG of 60,000 × 60,000", "huge dimensions", "deep JSON", "much JSON"):
        body, kind, status, _ = BAD_BODIES[name]
        assert server.ask("/predict", body, kind).status == status
    assert process.memory_info().rss - before < 300 * 10**6


def test_a_packed_body_is_not_unpacked(server: Server) -> None:
    packed = zlib.compress(bytes(10**8), 9)
    answer = server.ask("/predict", packed, "image/png", Content_Encoding="deflate")
    assert answer.status == 415
    assert "Content-Encoding" in answer.json["error"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/predict", 405),
        ("PUT", "/predict", 405),
        ("OPTIONS", "/predict", 405),
        ("POST", "/health", 405),
        ("GET", "/predict/", 404),
        ("GET", "/../../etc/passwd", 404),
        ("GET", "/%2e%2e/%2e%2e/etc/passwd", 404),
        ("GET", "//health", 404),
        ("POST", "/predict?members=yes", 422),
        ("POST", "/predict?member=true", 422),
    ],
)
def test_other_addresses_and_methods_are_refused(server: Server, method: str, path: str, status: int) -> None:
    answer = server.ask(path, b"x" if method == "POST" else None, "image/png", method)
    assert answer.status == status
    assert answer.json["error"].endswith(".")
    assert "location" not in answer.headers
    if status == 405:
        assert answer.headers["allow"]


def test_a_prediction_above_the_limit_is_refused_and_health_is_not(
    served_run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MAX_REQUESTS", 0)
    with start_server(served_run) as server:
        answer = server.ask("/predict", write_npy(IMAGES[:1]), NPY)
        assert (answer.status, answer.headers["content-type"]) == (503, "application/json")
        assert answer.headers["retry-after"] == str(limits.RETRY_AFTER_SECONDS)
        assert answer.json == {"error": "The server is answering too many requests. Try again in a moment."}
        assert server.ask("/health").json == {"status": "ok"}


@pytest.mark.parametrize(
    ("files", "connections", "predictions"), [(None, 1024, 512), (8192, 1024, 512), (1024, 448, 224), (128, 8, 4)]
)
def test_connections_leave_files_and_predictions_leave_connections(
    files: int | None, connections: int, predictions: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "raise_open_file_limit", lambda: files)
    assert limits.compute_connection_limit() == connections
    assert limits.compute_prediction_limit() == predictions
