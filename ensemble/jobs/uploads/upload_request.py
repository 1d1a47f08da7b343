"""A file that was handed in, and how it is to be prepared; opened where it lies."""

import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ensemble.datasets.own.request import CHOICE_OPTIONS, CLASS_PATTERN_OPTION, COMPANION_OPTION, PreparationSettings
from ensemble.datasets.progress import Progress
from ensemble.errors import DataError
from ensemble.storage.archives.unpacking import unpack_archive

SUFFIXES = (".zip", ".npz", ".mat", ".h5", ".hdf5", ".csv", ".csv.gz")
SOURCE_FOLDER, _UNPACKED_FOLDER = "source", "unpacked"  # folders within an upload's
_MAX_STEM_LETTERS, _MAX_SUFFIX_LETTERS = 80, 10
# Options that sentences name, as the page calls them.
PAGE_FIELD_NAMES = {
    "--size": "Size",
    "--test-share": "Test share",
    "--max-unreadable": "Unreadable",
    CHOICE_OPTIONS: "Similar classes",
    CLASS_PATTERN_OPTION: "Class in the name",
    "--labels": "Read labels as",
    COMPANION_OPTION: "Masks",
}
_READING_OPTION = re.compile(r'`--labels [\w-]+`(, in Python `labels_as="[\w-]+"`)?')


@dataclass(frozen=True)
class UploadRequest:
    """What was handed in, and how it is to be prepared.

    Attributes:
      file: its name, as the browser said it; only to be shown.
      dataset: whose pool the images become, without labels; "" for a dataset of their own.
      size, test_share, max_unreadable, merge_classes, class_pattern, labels_as, masks: as of
        `PreparationSettings`.
    """

    file: str
    size: int = 0
    test_share: float = 0.2
    max_unreadable: float = 0.01
    merge_classes: bool | None = None
    class_pattern: str = ""
    labels_as: str = ""
    masks: str = ""
    dataset: str = ""

    @property
    def preparation(self) -> PreparationSettings:
        """How it is to be prepared; ConfigError where that cannot be."""
        return PreparationSettings(
            size=self.size,
            test_share=self.test_share,
            max_unreadable=self.max_unreadable,
            merge_classes=self.merge_classes,
            class_pattern=self.class_pattern,
            labels_as=self.labels_as,
            masks=self.masks,
        )

    @property
    def suffix(self) -> str:
        """The one of `SUFFIXES` that the file's name has; DataError where it has none."""
        if not (extension := self._find_suffix()):
            raise DataError(
                f"“{self.file:.60}” is neither a .zip nor an .npz, .mat or .csv: pack the folder "
                "of your images as a .zip, or save your arrays with numpy.savez."
            )
        return extension

    @property
    def stem(self) -> str:
        """The file's name without its ending, as any disk takes it: sentences quote it."""
        extension = self._find_suffix() or Path(self.file).suffix
        plain = re.sub(r"[^\w -]+", " ", Path(self.file).name[: -len(extension) or None])
        return " ".join(plain.split())[:60] or "upload"

    def _find_suffix(self) -> str:
        name = Path(self.file).name.lower()
        return next((suffix for suffix in SUFFIXES if name.endswith(suffix)), "")


def name_pool_files(names: Sequence[str]) -> list[str]:
    """Names under which uploaded images without labels are stored: "upload.zip" of an archive, else numbered.

    Raises:
      DataError: an archive came with other files.
    """
    if not any(name.lower().endswith(".zip") for name in names):
        # Numbered, because two may have the same name, and without characters that a disk may refuse.
        stems = [re.sub(r"\W+", "_", Path(name).stem)[:_MAX_STEM_LETTERS] for name in names]
        return [
            f"{number:04}_{stem}{Path(name).suffix[:_MAX_SUFFIX_LETTERS].lower()}"
            for number, (stem, name) in enumerate(zip(stems, names, strict=True), 1)
        ]
    if len(names) > 1:
        raise DataError("Give one .zip, or pictures, not both.")
    return ["upload.zip"]


def unpack_upload(folder: Path, request: UploadRequest, progress: Progress) -> Path:
    """What is to be read: the file, or the folder that was packed in it, unpacked once."""
    stem, suffix = request.stem, request.suffix
    file = folder / SOURCE_FOLDER / (stem + suffix)
    if suffix != ".zip":
        return file
    inner, half = folder / _UNPACKED_FOLDER / stem, folder / _UNPACKED_FOLDER / ".part"
    if not inner.is_dir():
        inner.parent.mkdir(exist_ok=True)
        shutil.rmtree(half, ignore_errors=True)  # a killed process left it
        with file.open("rb") as content:
            unpack_archive(content, half, progress=progress)
        half.rename(inner)
    return inner


def rephrase_for_page(sentence: str, folder: Path) -> str:
    """A sentence for people who see no folders of the server, nor options of the command line."""
    for subfolder in (folder / _UNPACKED_FOLDER, folder / SOURCE_FOLDER):
        sentence = sentence.replace(f"{subfolder}{os.sep}", "")
    sentence = _READING_OPTION.sub(f"“{PAGE_FIELD_NAMES['--labels']}” below", sentence)
    for option, field in PAGE_FIELD_NAMES.items():
        sentence = re.sub(rf"(a (larger|smaller) )?{option}\b( \d+)?", rf"\1“{field}” below", sentence)
    return sentence
