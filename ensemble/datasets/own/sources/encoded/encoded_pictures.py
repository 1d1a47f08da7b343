"""Pictures to be decoded, each a file or as many bytes within a larger one, with their labels."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ensemble.datasets.own.source import DatasetImageFormat, PictureSurvey, Pixels, UnreadablePicture
from ensemble.datasets.own.sources.encoded import picture_decoding, picture_survey
from ensemble.datasets.own.sources.encoded.parallel_reading import (
    count_decoder_threads,
    count_pictures_ahead,
    map_files,
)
from ensemble.datasets.own.sources.encoded.picture_decoding import PictureFile
from ensemble.pictures.files.levels import STANDARD_LEVELS

_ORDER_STREAM = 0x0DE5  # tells this draw from any other by the same seed

File = TypeVar("File", bound=PictureFile)


class EncodedPictures(Generic[File]):
    """What every `source.PictureSource` of encoded pictures has.

    Args:
      notes: what was assumed by now.
      tree: how folders were understood, a line for each.

    Attributes:
      notes, tree: as given; `survey` adds to the notes.
      labels: int32 (N,) of each split.
      files: the pictures of each split, in the order of its labels.
    """

    def __init__(self, notes: list[str], tree: Sequence[str] = ()) -> None:
        self.notes, self.tree = notes, list(tree)
        self.labels: dict[str, NDArray[np.int32]] = {}
        self.files: dict[str, list[File]] = {}
        self._levels = STANDARD_LEVELS

    def add_split(self, split: str, by_class: Mapping[int, Sequence[File]], seed: int) -> None:
        """Adds a split, in an order drawn by the seed: its first pictures are of all classes."""
        pairs = [(file, label) for label, files in by_class.items() for file in files]
        drawn = np.random.PCG64([_ORDER_STREAM, seed]).random_raw(len(pairs))
        order = np.argsort(drawn, kind="stable")
        self.add_ordered_split(split, [pairs[place][0] for place in order], [pairs[place][1] for place in order])

    def add_ordered_split(self, split: str, files: Sequence[File], labels: Sequence[int]) -> None:
        """Adds a split whose pictures are kept in this order."""
        self.files[split] = list(files)
        self.labels[split] = np.array(labels, np.int32)

    def describe_location(self, file: File) -> str:
        """Where a picture is, for people."""
        return file.name

    def survey(self) -> PictureSurvey:
        """The sizes and colours that headers tell, and what is black and white in all pictures."""
        every = [file for files in self.files.values() for file in files]
        with picture_decoding.silence_pillow_warnings(), ThreadPoolExecutor(count_decoder_threads()) as pool:
            survey = picture_survey.survey_picture_files(every, pool, self.notes)
        self._levels, survey.tree = survey.levels, self.tree
        return survey

    def iterate_pictures(self, split: str, form: DatasetImageFormat) -> Iterator[Pixels | UnreadablePicture]:
        """Each picture of a split, decoded in several threads, some ahead."""
        files = self.files[split]

        def read_picture(file: File) -> Pixels | UnreadablePicture:
            try:
                return picture_decoding.read_picture_pixels(file, form, self._levels)
            except picture_decoding.UnreadablePictureError as error:
                return UnreadablePicture(self.describe_location(file), str(error))

        with picture_decoding.silence_pillow_warnings(), ThreadPoolExecutor(count_decoder_threads()) as pool:
            ahead = count_pictures_ahead(form.height * form.width * form.channels)
            yield from map_files(read_picture, files, pool, ahead)
