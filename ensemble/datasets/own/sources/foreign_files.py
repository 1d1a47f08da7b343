"""Files of pictures in formats that are not read: what each format is called, and how to convert it."""

import re
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ensemble.datasets.own.source import format_name_list
from ensemble.errors import DataError
from ensemble.storage.plain_files import open_plain_file

_START_BYTES = 348  # as long as the header of NIfTI
_MOST_LOOKED_AT = 50  # files whose name does not show their format
_NUMPY_ENDING = ".npy"
_TFRECORD_SHARD = re.compile(r"\.tfrec(ord)?s?(-\d+-of-\d+)?$|tfrecord.*-\d+-of-\d+$")


@dataclass(frozen=True)
class _ForeignForm:
    """A file format.

    Attributes:
      name: of the format.
      endings: of names, in lower case.
      remedy: what to do, a sentence.
    """

    name: str
    endings: tuple[str, ...]
    remedy: str


_DICOM = _ForeignForm(
    "DICOM",
    (".dcm", ".dicom", ".dic", ".ima"),
    "Save each image as PNG, for example with pydicom: Image.fromarray(pydicom.dcmread(file).pixel_array).save(name).",
)
_NIFTI = _ForeignForm(
    "NIfTI",
    (".nii", ".nii.gz"),
    "Save the slices as PNG, for example with nibabel: nibabel.load(file).get_fdata() is the volume.",
)
_TFRECORD = _ForeignForm(
    "TFRecord",
    (".tfrecord", ".tfrecords", ".tfrec"),
    "If the dataset is in TensorFlow Datasets, give tfds:NAME; else save its images and labels as .npz.",
)
_LMDB = _ForeignForm(
    "LMDB", (".mdb", ".lmdb"), "Save each image to a folder with the name of its class, or all of them as .npz."
)
_TORCH = _ForeignForm(
    "PyTorch (torch.save)",
    (".pt", ".pth", ".ckpt"),
    "It is pickled, and nothing is ever unpickled here: load it with torch.load and save images and labels with "
    "np.savez(file, train_images=images.numpy(), train_labels=labels.numpy()).",
)
_PICKLE = _ForeignForm(
    "pickle",
    (".pkl", ".pickle", ".p", ".joblib"),
    "Nothing is ever unpickled here: load it in Python and save images and labels with np.savez.",
)
_FORMS = (_DICOM, _NIFTI, _TFRECORD, _LMDB, _TORCH, _PICKLE)


def check_foreign_file(path: Path) -> None:
    """Raise DataError if a file is in a format that is not read."""
    if form := _find_form(path):
        raise DataError(f"{path.name} is a file of {form.name}, which is not read. {form.remedy}")


def describe_foreign_files(paths: Iterable[Path]) -> str:
    """The formats of files in a folder without pictures, and what to do, in sentences; "" if none is known."""
    found = dict[str, tuple[_ForeignForm, list[str]]]()
    arrays = list[str]()
    for number, path in enumerate(paths):
        if path.name.lower().endswith(_NUMPY_ENDING):
            arrays.append(path.name)
        elif (form := _find_form(path, look=number < _MOST_LOOKED_AT)) is not None:
            found.setdefault(form.name, (form, []))[1].append(path.name)
    sentences = [
        f"{_count_files(names)} of {form.name}, which is not read. {form.remedy}" for form, names in found.values()
    ]
    if arrays:
        sentences.append(
            f"{_count_files(arrays)} of NumPy with an image each, which are not read one by one. Put them into one "
            "array: np.savez(file, train_images=np.stack(images), train_labels=labels)."
        )
    return " ".join(sentences)


def _find_form(path: Path, *, look: bool = True) -> _ForeignForm | None:
    """The format of a file by its name, else by its first bytes; None if it is none of these."""
    name = path.name.lower()
    if _TFRECORD_SHARD.search(name):
        return _TFRECORD
    if form := next((form for form in _FORMS if name.endswith(form.endings)), None):
        return form
    if not look:
        return None
    try:
        with open_plain_file(path) as file:
            start = file.read(_START_BYTES)
            if zipfile.is_zipfile(file):
                with zipfile.ZipFile(file) as archive:
                    return _TORCH if any(each.endswith("data.pkl") for each in archive.namelist()) else None
    except (OSError, zipfile.BadZipFile, NotImplementedError, UnicodeDecodeError):  # a damaged zip
        return None
    marks = {(_DICOM, 128): b"DICM", (_NIFTI, 344): b"n+1\0", (_LMDB, 16): b"\xde\xc0\xef\xbe"}
    return next((form for (form, place), mark in marks.items() if start[place:].startswith(mark)), None)


def _count_files(names: list[str]) -> str:
    listing = format_name_list(names)
    return f"{listing} is a file" if len(names) == 1 else f"{len(names):,} files ({listing}) are"
