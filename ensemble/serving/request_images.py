"""What a body is: a picture in a file, or images in an array. Its bytes say so, not its name."""

import asyncio
import io
from collections.abc import AsyncIterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from starlette.datastructures import Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from ensemble.errors import PredictionsError
from ensemble.exchange.checks.images import SHAPE_HINT, convert_array_to_images
from ensemble.serving import limits
from ensemble.serving.request_errors import RequestError
from ensemble.storage.arrays.damaged_file import DamagedFileError
from ensemble.storage.arrays.npy import read_header
from ensemble.storage.plain_files import parse_json

_NPY_SIGNATURE = b"\x93NUMPY"
_JSON_TYPE, MULTIPART_TYPE = "application/json", "multipart/form-data"
FILE_TYPES = ("application/octet-stream", "application/x-npy")  # and image/*
_PARSED_PIECE_BYTES = 2**16
_TYPE_HINT = (
    "send a picture as image/png or another image/*, an array as application/x-npy or "
    "application/json, or a file in multipart/form-data"
)


@dataclass(frozen=True, eq=False)
class InputImages:
    """Images in an array, as the members take them.

    Attributes:
      pixels: uint8 (N, H, W, channels).
      notes: what was assumed of their numbers, in sentences.
    """

    pixels: NDArray[np.uint8]
    notes: tuple[str, ...]


class _MemoryMultiPartParser(MultiPartParser):
    """A parser that writes no file: the body is within its limit, and in memory already."""

    spool_max_size = limits.MAX_DRAINED_BYTES


def read_media_type(headers: Headers) -> str:
    """The type of a body without its parameters, in small letters; "" where none is said.

    Raises:
      RequestError: bodies of that type are not taken.
    """
    media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
    known = media_type in ("", _JSON_TYPE, MULTIPART_TYPE, *FILE_TYPES)
    if not known and not media_type.startswith("image/"):
        raise RequestError(415, f"Bodies of the type {media_type[:60]!r} are not read: {_TYPE_HINT}.")
    return media_type


async def read_multipart_file(headers: Headers, body: bytes) -> bytes:
    """The one file of a body in parts.

    Raises:
      RequestError: it is damaged, or has no file, or several.
    """

    async def stream_body() -> AsyncIterator[bytes]:
        for first in range(0, len(body), _PARSED_PIECE_BYTES):
            yield body[first : first + _PARSED_PIECE_BYTES]
            await asyncio.sleep(0)  # others go on: a hostile body takes the parser a while

    parser = _MemoryMultiPartParser(
        headers,
        stream_body(),  # type: ignore[arg-type]
        max_files=1,
        max_fields=limits.MAX_MULTIPART_FIELDS,
        max_part_size=2**16,
    )
    try:
        form = await parser.parse()
    except MultiPartException as error:
        if "Too many files" in error.message:
            raise RequestError(422, "There are several files: send one a request, or an array of images.") from error
        raise RequestError(400, "The multipart body is damaged: send it again, or the file as it is.") from error
    except (KeyError, ValueError, AssertionError) as error:  # a boundary or header that is none
        raise RequestError(400, "The multipart body is damaged: send it again, or the file as it is.") from error
    try:
        files = [value for value in form.values() if isinstance(value, UploadFile)]
        if not files:
            raise RequestError(422, "There is no file: send one as in curl -F image=@four.png.")
        return await files[0].read()
    finally:
        await form.close()


def parse_input_images(media_type: str, content: bytes, shape: tuple[int, ...]) -> InputImages | None:
    """The images of an array; None where the content is to be opened as a picture.

    Args:
      media_type: of the body, as `read_media_type` has it.
      content: the body, or the file in it.
      shape: (H, W, channels) of the images that the run learnt.

    Raises:
      RequestError: it is an array that cannot be read, or of too many images.
      PredictionsError: of images of another size, or of none.
    """
    if not content:
        raise RequestError(400, f"The body is empty: {_TYPE_HINT}.")
    if media_type == _JSON_TYPE:
        array = _parse_json_array(content)
    elif content.startswith(_NPY_SIGNATURE):
        array = _parse_npy_array(content)
    elif media_type == "application/x-npy":
        raise RequestError(422, "This is no .npy file: write it with numpy.save.")
    else:
        return None
    if array.ndim and len(array) > limits.MAX_IMAGES:
        raise RequestError(413, f"There are {len(array):,} images: send {limits.MAX_IMAGES:,} at most at once.")
    # Before anything is computed of them: a header may promise any number of pixels.
    if array.ndim not in (3, 4) or not array.size:
        raise PredictionsError(f"`images` has the shape {array.shape}: {SHAPE_HINT}.")
    pixels, notes = convert_array_to_images(array, shape)
    return InputImages(pixels, tuple(notes))


def _parse_json_array(content: bytes) -> NDArray[np.generic]:
    """The array in JSON: images, rows of pixels, and colours where there are some.

    Raises:
      RequestError: it is no JSON, or no array of numbers.
    """
    if len(content) > limits.MAX_JSON_BYTES:
        raise RequestError(
            413, f"The JSON is larger than {limits.MAX_JSON_BYTES // 1024**2} MB: send fewer images, or a .npy file."
        )
    try:
        value = parse_json(content)
    except ValueError as error:
        raise RequestError(400, "The body is not JSON: send an array of images, each an array of rows.") from error
    if not isinstance(value, list):
        raise RequestError(422, "The JSON is no array: send an array of images, each an array of rows.")
    try:
        array = np.asarray(value)
    except (ValueError, OverflowError) as error:
        raise RequestError(422, "The images are not all of one size: resize them, and send one array.") from error
    if array.dtype.kind not in "biuf":
        raise RequestError(422, "The array holds something else than numbers: send pixels.")
    return array


def _parse_npy_array(content: bytes) -> NDArray[np.generic]:
    """The array of a .npy file; nothing in it is unpickled.

    Raises:
      RequestError: it is damaged, or holds no numbers.
    """
    try:
        header = read_header(io.BytesIO(content))
    except DamagedFileError as error:
        raise RequestError(422, f"The .npy file cannot be read ({error}): save it again.") from error
    if header.dtype.kind not in "biuf":
        raise RequestError(422, "The .npy file holds no numbers: save an array of pixels.")
    if header.start + header.nbytes != len(content):
        raise RequestError(422, "The .npy file is not as long as its array: it was cut, or is damaged.")
    return header.view_as_array(np.frombuffer(content, np.uint8, offset=header.start))
