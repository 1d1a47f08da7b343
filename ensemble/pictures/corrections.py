"""What a person put right ("this was a 3"), kept in a folder of their own choosing.

Off unless `ENSEMBLE_CORRECTIONS` names a folder when the app starts. One correction is one
file, `<label>/<checksum>.png`: the pixels that the networks saw, with what they said of it in
the picture's text. Whatever is not such a file is skipped when the folder is read.
"""

import hashlib
import io
import os
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, PngImagePlugin

from ensemble.access import Action, check_permission
from ensemble.errors import StorageError
from ensemble.pictures.files.decoding import silence_decoder_warnings
from ensemble.storage import csv_format
from ensemble.storage.atomic_files import open_atomic_write
from ensemble.storage.folders import expand_home_path

_TEXT_FIELDS = ("said", "run_id", "epoch")
_MAX_FILE = 1_000_000  # bytes; a digit has about 600, 224×224 in colour up to 150,000
_MAX_IMAGE_SIDE = 512  # pixels
_CORRECTIONS_OFF = "Corrections are not saved: start the app with ENSEMBLE_CORRECTIONS set to a folder."
_ZIP_TIMESTAMP = (1980, 1, 1, 0, 0, 0)  # the same corrections make the same archive


@dataclass(frozen=True)
class _Correction:
    """One picture and what a person says it is.

    Attributes:
      name: `<label>/<checksum>.png`, within the folder.
      image: uint8 (H, W, 1) or (H, W, 3), as the networks saw it.
      label: the class it is.
      prediction: what the ensemble took it for, "?" if it was rejected.
      run_id: whose ensemble.
      epoch: after how many epochs.
    """

    name: str
    image: NDArray[np.uint8]
    label: int
    prediction: str
    run_id: str
    epoch: str


def find_corrections_folder() -> Path | None:
    """Where corrections are kept; None if they are not."""
    chosen = os.environ.get("ENSEMBLE_CORRECTIONS")
    return expand_home_path(chosen).absolute() if chosen else None


def save_correction(image: NDArray[np.uint8], label: int, prediction: str, run_id: str, epoch: int) -> bool:
    """Keeps a correction, once for each image and label.

    It is written beside and renamed: a reader meets the whole file or none, and two processes
    that keep the same correction leave one.

    Args:
      image: uint8 (H, W, 1), (H, W, 3) or (H, W), as the networks saw it.
      label: the class it is, from 0.
      prediction: what the ensemble took it for, "?" if it was rejected.
      run_id: whose ensemble.
      epoch: after how many epochs.

    Returns:
      Whether it is new; False if it had been kept already.

    Raises:
      AccessError: whoever asks may change nothing.
      StorageError: corrections are off, or the folder cannot be written.
      ValueError: `image` is not such an image, or `label` is below 0.
    """
    check_permission(Action.CHANGE)
    path = correction_path(image, label)
    text = PngImagePlugin.PngInfo()
    for field, value in zip(_TEXT_FIELDS, (prediction, run_id, epoch), strict=True):
        text.add_itxt(field, str(value))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if is_correction_intact(path):
            return False
        with open_atomic_write(path) as file:
            _convert_to_pillow(image).save(file, "PNG", pnginfo=text)
    except OSError as error:
        raise StorageError(
            f"The correction could not be saved in {path.parent.parent}: {error.strerror}. "
            "Free some space, or set ENSEMBLE_CORRECTIONS to another folder."
        ) from error
    return True


def delete_correction(image: NDArray[np.uint8], label: int) -> bool:
    """Forgets a correction; whether there was one.

    Raises:
      AccessError: whoever asks may change nothing.
      StorageError: corrections are off, or the file cannot be removed.
      ValueError: as `save_correction`.
    """
    check_permission(Action.CHANGE)
    path = correction_path(image, label)
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise StorageError(f"{path} could not be removed: {error.strerror}.") from error
    return True


def iterate_corrections() -> Iterator[_Correction]:
    """All that are kept and whole, by label and then by checksum; none if they are off."""
    top = find_corrections_folder()
    for path in sorted(top.glob("[0-9]*/*.png"), key=_correction_sort_key) if top else ():
        if correction := _read_correction(path):
            yield correction


def count_corrections() -> int:
    """How many corrections are kept."""
    return sum(1 for _ in iterate_corrections())


def export_corrections() -> bytes:
    """All corrections as a labelled set, a ZIP archive.

    Returns:
      Its bytes: `images.npz` with `images`, uint8 (N, H, W, channels), and `labels`, int32 (N,),
      as the datasets have them (where there are several sizes one file each, such as
      `images-32x32x3.npz`); `labels.csv` with a row for each in the same order; and the pictures
      themselves in one folder a label.
    """
    alike: dict[tuple[int, ...], list[_Correction]] = {}
    for correction in iterate_corrections():
        alike.setdefault(correction.image.shape, []).append(correction)
    kept = [item for each in alike.values() for item in each]
    rows = [(item.name, item.label, item.prediction, item.run_id, item.epoch) for item in kept]
    labels = csv_format.format_csv([("file", "label", *_TEXT_FIELDS), *rows])
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for shape, each in (alike or {(28, 28, 1): []}).items():
            size = "x".join(map(str, shape))
            name = "images.npz" if len(alike) < 2 else f"images-{size}.npz"
            _add_archive_file(archive, name, _pack_correction_arrays(each, shape))
        _add_archive_file(archive, "labels.csv", labels.encode())
        for correction in kept:
            _add_archive_file(archive, correction.name, _encode_correction_png(correction.image))
    return out.getvalue()


def correction_path(image: NDArray[np.uint8], label: int) -> Path:
    """The one file of an image and a label."""
    top = find_corrections_folder()
    if top is None:
        raise StorageError(_CORRECTIONS_OFF)
    shape = image.shape
    has_image_shape = len(shape) == 2 or (len(shape) == 3 and shape[2] in (1, 3))
    if image.dtype != np.uint8 or not has_image_shape or max(shape) > _MAX_IMAGE_SIDE or label < 0:
        raise ValueError(f"{image.dtype} {image.shape} labelled {label} is not a correction")
    return top / str(int(label)) / f"{compute_image_checksum(image)}.png"


def compute_image_checksum(image: NDArray[np.uint8]) -> str:
    """What a correction's file is called."""
    return hashlib.sha256(image.tobytes()).hexdigest()[:24]


def _read_correction(path: Path) -> _Correction | None:
    """The correction in a file; None if it is torn, or something else."""
    try:
        if path.stat().st_size > _MAX_FILE or not path.parent.name.isdecimal():
            return None
        with silence_decoder_warnings(), PngImagePlugin.PngImageFile(path) as png:
            if max(png.size) > _MAX_IMAGE_SIDE or png.mode not in ("L", "RGB"):
                return None
            image = np.asarray(png)
            image = image[..., np.newaxis] if image.ndim == 2 else image
            if compute_image_checksum(image) != path.stem:  # somebody else's picture
                return None
            fields = [str(png.info.get(field, "")) for field in _TEXT_FIELDS]
    except Exception:  # a torn file meets the decoder with exceptions of every kind
        return None
    return _Correction(f"{path.parent.name}/{path.name}", image, int(path.parent.name), *fields)


def is_correction_intact(path: Path) -> bool:
    """Whether a correction lies there already and can be read."""
    return path.exists() and _read_correction(path) is not None


def _correction_sort_key(path: Path) -> tuple[int, str]:
    label = path.parent.name
    return int(label) if label.isdecimal() else -1, path.name


def _pack_correction_arrays(kept: list[_Correction], shape: tuple[int, ...]) -> bytes:
    images = np.array([correction.image for correction in kept], np.uint8).reshape(-1, *shape)
    arrays = io.BytesIO()
    np.savez_compressed(arrays, images=images, labels=np.array([correction.label for correction in kept], np.int32))
    return arrays.getvalue()


def _convert_to_pillow(image: NDArray[np.uint8]) -> Image.Image:
    return Image.fromarray(image[..., 0] if image.ndim == 3 and image.shape[2] == 1 else image)


def _encode_correction_png(image: NDArray[np.uint8]) -> bytes:
    out = io.BytesIO()
    _convert_to_pillow(image).save(out, "PNG")
    return out.getvalue()


def _add_archive_file(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    entry = zipfile.ZipInfo(name, _ZIP_TIMESTAMP)
    entry.external_attr = 0o644 << 16
    archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
