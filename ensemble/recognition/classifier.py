"""Reading what a person brings: a run's members at one epoch, ready to be asked."""

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ensemble import datasets
from ensemble.analysis.quality.averaging import average
from ensemble.config import EnsembleConfig
from ensemble.datasets.registry import find as find_dataset
from ensemble.errors import ConfigError
from ensemble.machine.jax_settings import prepare_jax
from ensemble.pictures.files.opening import Picture
from ensemble.pictures.ink.extraction import Choices
from ensemble.pictures.prepare import AUTOMATIC, Prepared, prepare, prepare_whole
from ensemble.pictures.segmentation.marks import Mark
from ensemble.pictures.whole import Form
from ensemble.recognition import calibration_images, neighbours, occlusion
from ensemble.recognition.answer import Digit, Places, Reading, make_reading
from ensemble.recognition.neighbours import Neighbours
from ensemble.recognition.occlusion import Occlusion
from ensemble.runs.members import Members, member_epochs, open_members
from ensemble.runs.store import find, trained_here
from ensemble.runs.test_set import dataset_of

if TYPE_CHECKING:
    from ensemble.recognition.rejection_threshold import RejectionThreshold

__all__ = [
    "Classifier",
    "Digit",
    "Neighbours",
    "Occlusion",
    "Reading",
    "open_classifier",
]

Pixels = NDArray[np.uint8]

REFUSE = 0.03
# Test digits, nearest as pictures, that the members are asked about: fewer where there are many.
CANDIDATES, LEAST, ASKED = 128, 32, 1024


class Classifier:
    """A run's members at one epoch. Made by `open_classifier`; cached by whoever asks often.

    Attributes:
      run_id: whose members they are.
      epoch: epochs that they have done.
      epochs: all epochs of the run that can be opened.
      dataset: the name of what they have learnt.
      class_names: what people call the classes.
      noun: what people call one image.
      written: whether it reads what a pen wrote: several marks to a picture. Else one picture is
        one image.
      members: M.
    """

    def __init__(
        self, run_id: str, members: Members, epochs: tuple[int, ...], config: EnsembleConfig
    ) -> None:
        import jax

        from ensemble.recognition.rejection_threshold import Judge

        self.run_id, self.epoch, self.epochs = run_id, members.epoch, epochs
        self.dataset = dataset = config.dataset
        entry = find_dataset(dataset)
        self._fingerprint = entry.fingerprint
        self.class_names, self.noun = entry.class_names, entry.noun
        self.shape, self.written = entry.image_shape, entry.written
        self.members = len(jax.tree.leaves(members.params)[0])
        self._params, self._network = members.params, members.network
        self._judge = Judge(members, dataset, config)

    def read(self, images: Pixels, refuse: float = REFUSE, places: Places | None = None) -> Reading:
        """What the ensemble says of a picture's marks.

        Args:
          images: uint8 (N, H, W, channels), of written marks 0 ground and 255 ink, in reading
            order.
          refuse: the share of real digits that may be rejected, in (0, 1).
          places: where each mark is in its picture, so that specks do not count when the whole
            picture is judged; without them all are taken for equal.

        Raises:
          ConfigError: `refuse` is out of its range.
        """
        if not 0 < refuse < 1:
            raise ConfigError(f"refuse is {refuse:g}: it has to be between 0 and 1.")
        if not len(images):
            return Reading((), "", 0.0, "")
        asked = self._ask(images)
        return make_reading(
            asked.probabilities,
            self._judge.measures(images, asked),
            self._judge.rejection,
            refuse,
            places or Places.alike(len(images)),
            self.class_names,
            self._judge.named,
        )

    def prepare(self, picture: Picture, choices: Choices = AUTOMATIC) -> Prepared:
        """A person's picture as marks; where digits touch, the members have a say in the cut.

        Of a dataset that no pen wrote the picture is one mark: all of it, or its middle.
        """
        if not self.written:
            return prepare_whole(picture, choices, _form(self.dataset, self._fingerprint))
        return prepare(picture, choices, decide=self._averaged)

    def read_marks(self, marks: Sequence[Mark], refuse: float = REFUSE) -> Reading:
        """`read` for the marks of a picture, which know how large they are."""
        images = np.array([mark.image for mark in marks], np.uint8).reshape(-1, *self.shape)
        places = Places(
            np.array([mark.box for mark in marks], np.int64).reshape(-1, 4),
            np.array([mark.piece for mark in marks], np.int64),
            np.array([mark.ground for mark in marks], np.float64),
            np.array([mark.loops for mark in marks], np.int64),
        )
        return self.read(images, refuse, places)

    def rejection_threshold(self, refuse: float = REFUSE) -> "RejectionThreshold":
        """The threshold, and what it rejects; takes seconds when first asked for."""
        return self._judge.rejection_threshold(refuse)

    def neighbours(self, image: Pixels, count: int = 8) -> Neighbours:
        """The test images nearest to a mark in the members' own features.

        Looked for among the 128 that are nearest as pictures (32 where there are many members):
        the whole test set would have to go through all members before the first answer.

        Args:
          image: uint8 (H, W, channels).
          count: how many, at most 32.
        """
        dataset = datasets.load(self.dataset)
        most = max(LEAST, min(CANDIDATES, ASKED // self.members))
        numbers, known = calibration_images.pictures(self.dataset, self._fingerprint)
        reduced = calibration_images.picture(self.dataset)(image[None])[0]
        near = numbers[neighbours.candidates(reduced, known, most)]
        images = np.asarray(dataset.test_images[near])
        found, own = self._ask(images), self._ask(image[None])
        distances = neighbours.feature_distances(own.features[:, 0], found.features)
        order = np.argsort(distances, kind="stable")[:count]
        return Neighbours(
            near[order],
            images[order],
            dataset.test_labels[near[order]],
            found.logits[:, order].argmax(axis=-1),
            distances[order],
        )

    def occlusion(self, image: Pixels) -> Occlusion:
        """What each member's verdict on a mark, uint8 (H, W, channels), rests on."""
        form = _form(self.dataset, self._fingerprint)
        ground = form.ground == "dark"  # to cover is then to take something away
        boxes = occlusion.patches(image if ground else np.ones_like(image))
        covered = occlusion.covered(image, boxes, ground=ground)
        shown = np.concatenate([image[None], covered])
        asked = self._ask(shown).probabilities
        return occlusion.occlusion(image.shape, boxes, asked[:, 0], asked[:, 1:])

    def _averaged(self, images: Pixels) -> NDArray[np.float64]:
        """The ensemble's probabilities (K, C) of images (K, *shape)."""
        return average(self._ask(images.reshape(-1, *self.shape)).probabilities)

    def _ask(self, images: Pixels) -> Any:
        from ensemble.engine import activations

        return activations(self._network, self._params, images)


def open_classifier(run_id: str, epoch: int | None = None) -> Classifier:
    """A run's members on the CPU, ready to read.

    Args:
      run_id: whose members.
      epoch: one of `members.member_epochs`; None is the last of them.

    Raises:
      UnknownRunError: there is no such run.
      RunError: nothing of that epoch is kept.
      NotPreparedError: the run's dataset is not on this machine.
    """
    run = find(run_id)
    config = trained_here(run)
    dataset_of(run)
    prepare_jax()
    epochs = member_epochs(run_id)
    members = open_members(run_id, epochs[-1] if epoch is None and epochs else epoch)
    return Classifier(run_id, members, epochs, config)


@functools.lru_cache(maxsize=8)
def _form(dataset: str, fingerprint: str) -> Form:
    """What the dataset's images are like, from a few of its training images."""
    images = datasets.load(dataset).train_images
    return Form.of(np.asarray(images[calibration_images.evenly(np.arange(len(images)), 200)]))
