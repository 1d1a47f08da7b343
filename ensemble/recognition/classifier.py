"""Reading what a person brings: a run's members at one epoch, ready to be asked."""

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ensemble import datasets
from ensemble.analysis.quality.averaging import average_probabilities
from ensemble.analysis.quality.conformal import conformal_quantile
from ensemble.config import EnsembleConfig
from ensemble.datasets.own.recorded_levels import load_dataset_levels
from ensemble.datasets.registry import find_dataset_entry as find_dataset
from ensemble.errors import ConfigError
from ensemble.machine.jax_settings import prepare_jax
from ensemble.pictures.files.picture import Picture, open_picture
from ensemble.pictures.ink.extraction import PictureOptions
from ensemble.pictures.preparation import AUTOMATIC_OPTIONS, SegmentedPicture, prepare_picture, prepare_whole_picture
from ensemble.pictures.segmentation.marks import Mark
from ensemble.pictures.whole_picture import NetworkInputFormat
from ensemble.recognition import calibration_images, nearest_neighbors, occlusion
from ensemble.recognition.calibration_images import CalibrationSource
from ensemble.recognition.nearest_neighbors import NearestNeighbors
from ensemble.recognition.occlusion import Occlusion
from ensemble.recognition.picture_reading import Digit, MarkPlacement, Reading, build_reading
from ensemble.recognition.rejection import Rejection
from ensemble.runs.epoch_choice import select_default_epoch
from ensemble.runs.members import Members, list_member_epochs, open_members, select_members
from ensemble.runs.store import find_run, require_training_config
from ensemble.runs.test_set import load_run_dataset

if TYPE_CHECKING:
    from ensemble.engine import Activations
    from ensemble.recognition.rejection_threshold import NoveltyJudge, RejectionThreshold

__all__ = ["Classifier", "Digit", "NearestNeighbors", "Occlusion", "Reading", "open_classifier"]

Pixels = NDArray[np.uint8]

DEFAULT_REFUSE = 0.03
# Test digits, nearest as pictures, that the members are asked about: fewer where there are many.
_MAX_CANDIDATES, _MIN_CANDIDATES, _MAX_MEMBER_CANDIDATES = 128, 32, 1024


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
      network: what the members are.

    As it is made it rejects nothing; `calibrate` has it reject what is unlike its dataset.
    """

    def __init__(self, run_id: str, members: Members, epochs: tuple[int, ...], config: EnsembleConfig) -> None:
        import jax

        self.run_id, self.epoch, self.epochs = run_id, members.epoch, epochs
        self.dataset = dataset = config.dataset
        entry = find_dataset(dataset)
        self._fingerprint = entry.fingerprint
        self.class_names, self.noun = entry.class_names, entry.noun
        self.shape, self.written = entry.image_shape, entry.is_mnist_like
        self.members = len(jax.tree.leaves(members.params)[0])
        self._params, self.network = members.params, members.network
        self._config, self._open = config, members
        self._judge: NoveltyJudge | None = None

    @property
    def params(self) -> Any:
        """The members' parameters, leaves (M, …), on the first device."""
        return self._params

    @property
    def is_calibrated(self) -> bool:
        """Whether it rejects what is unlike its dataset."""
        return self._judge is not None

    def has_kept_calibration(self) -> bool:
        """Whether `calibrate` finds what it needs on the disk, and is done in a moment."""
        from ensemble.recognition.rejection_threshold import is_calibration_kept

        return is_calibration_kept(self._source, self._calibration_identity)

    def calibrate(self) -> None:
        """Set its rejection on held-out images: takes seconds the first time for run and epoch."""
        from ensemble.recognition.rejection_threshold import NoveltyJudge

        self._judge = self._judge or NoveltyJudge(self._open, self.dataset, self._config)

    @functools.cached_property
    def _source(self) -> CalibrationSource:
        return CalibrationSource.from_holdout(self.dataset, self._config)

    @functools.cached_property
    def _calibration_identity(self) -> str:
        from ensemble.recognition.rejection_threshold import identify_calibration

        return identify_calibration(self._open, self._source)

    def read_images(
        self, images: Pixels, refuse: float = DEFAULT_REFUSE, places: MarkPlacement | None = None
    ) -> Reading:
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
        return self.read_activations(images, self._compute_activations(images), refuse, places)

    def read_activations(
        self,
        images: Pixels,
        activations: "Activations",
        refuse: float = DEFAULT_REFUSE,
        places: MarkPlacement | None = None,
    ) -> Reading:
        """`read_images` where the members have been asked about the images already.

        Args:
          images: as of `read_images`, at least one.
          activations: what the members made of them.
          refuse: the share of real digits that may be rejected, in (0, 1).
          places: where each mark is in its picture.
        """
        judge = self._judge
        return build_reading(
            activations.probabilities,
            judge.compute_measures(images, activations) if judge else np.zeros((0, len(images))),
            rejection=judge.rejection if judge else Rejection.accept_all(),
            refuse=refuse,
            places=places or MarkPlacement.uniform(len(images)),
            class_names=self.class_names,
            named=judge.measure_names if judge else (),
        )

    def open_picture(self, content: bytes) -> Picture:
        """A person's picture, its numbers read as those of the dataset were when it was added.

        Args:
          content: the bytes of a file, as of `pictures.files.picture.open_picture`.

        Raises:
          ImageError: it cannot be read.
        """
        return open_picture(content, load_dataset_levels(self.dataset, self._fingerprint))

    def prepare_picture(self, picture: Picture, choices: PictureOptions = AUTOMATIC_OPTIONS) -> SegmentedPicture:
        """A person's picture as marks; where digits touch, the members have a say in the cut.

        Of a dataset that no pen wrote the picture is one mark: all of it, or its middle.
        """
        if not self.written:
            return prepare_whole_picture(picture, choices, _load_dataset_form(self.dataset, self._fingerprint))
        return prepare_picture(picture, choices, decide=self._average_probabilities)

    def read_marks(self, marks: Sequence[Mark], refuse: float = DEFAULT_REFUSE) -> Reading:
        """`read_images` for the marks of a picture, which know how large they are."""
        images, places = self.stack_marks(marks)
        return self.read_images(images, refuse, places)

    def stack_marks(self, marks: Sequence[Mark]) -> tuple[Pixels, MarkPlacement]:
        """The marks' images, (N, H, W, channels), and where they are in their picture."""
        images = np.array([mark.image for mark in marks], np.uint8).reshape(-1, *self.shape)
        return images, MarkPlacement(
            np.array([mark.box for mark in marks], np.int64).reshape(-1, 4),
            np.array([mark.piece for mark in marks], np.int64),
            np.array([mark.non_paper_share for mark in marks], np.float64),
            np.array([mark.loops for mark in marks], np.int64),
        )

    def compute_rejection_threshold(self, refuse: float = DEFAULT_REFUSE) -> "RejectionThreshold":
        """The threshold, and what it rejects; takes seconds when first asked for."""
        self.calibrate()
        assert self._judge
        return self._judge.compute_rejection_threshold(refuse)

    def compute_answer_threshold(self, refuse: float = DEFAULT_REFUSE) -> tuple[str, float]:
        """The measure that takes the members' answers alone, and its threshold.

        "energy" is their mean free energy, "decision" the entropy of the average; of what was held
        out a share of `refuse` at most lies above the threshold. Takes seconds when first asked
        for.
        """
        self.calibrate()
        assert self._judge
        held_out = self._judge.rejection.rarities[0].sorted_values
        return self._judge.measure_names[0], conformal_quantile(held_out, refuse)

    def find_nearest_neighbors(self, image: Pixels, count: int = 8) -> NearestNeighbors:
        """The test images nearest to a mark in the members' own features.

        Looked for among the 128 that are nearest as pictures (32 where there are many members):
        the whole test set would have to go through all members before the first answer.

        Args:
          image: uint8 (H, W, channels).
          count: how many, at most 32.
        """
        dataset = datasets.load_dataset(self.dataset)
        most = max(_MIN_CANDIDATES, min(_MAX_CANDIDATES, _MAX_MEMBER_CANDIDATES // self.members))
        numbers, pictures = calibration_images.load_test_pictures(self.dataset, self._fingerprint)
        reduced = calibration_images.select_picture_function(self.dataset)(image[None])[0]
        near = numbers[nearest_neighbors.find_nearest_pictures(reduced, pictures, most)]
        images = np.asarray(dataset.test_images[near])
        activations, own = self._compute_activations(images), self._compute_activations(image[None])
        distances = nearest_neighbors.compute_feature_distances(own.features[:, 0], activations.features)
        order = np.argsort(distances, kind="stable")[:count]
        return NearestNeighbors(
            near[order],
            images[order],
            dataset.test_labels[near[order]],
            activations.logits[:, order].argmax(axis=-1),
            distances[order],
        )

    def compute_occlusion(self, image: Pixels) -> Occlusion:
        """What each member's verdict on a mark, uint8 (H, W, channels), rests on."""
        form = _load_dataset_form(self.dataset, self._fingerprint)
        ground = form.background == "dark"  # to cover is then to take something away
        boxes = occlusion.list_patches(image if ground else np.ones_like(image))
        covered = occlusion.cover_patches(image, boxes, ground=ground)
        images = np.concatenate([image[None], covered])
        probabilities = self._compute_activations(images).probabilities
        return occlusion.build_occlusion(image.shape, boxes, probabilities[:, 0], probabilities[:, 1:])

    def _average_probabilities(self, images: Pixels) -> NDArray[np.float64]:
        """The ensemble's probabilities (K, C) of images (K, *shape)."""
        return average_probabilities(self._compute_activations(images.reshape(-1, *self.shape)).probabilities)

    def _compute_activations(self, images: Pixels) -> "Activations":
        from ensemble.engine import compute_activations

        return compute_activations(self.network, self._params, images)


def open_classifier(
    run_id: str, epoch: int | None = None, calibrated: bool = True, numbers: Sequence[int] | None = None
) -> Classifier:
    """A run's members on the CPU, ready to read.

    Args:
      run_id: whose members.
      epoch: one of `list_member_epochs`; None is that of `select_default_epoch`.
      calibrated: whether it rejects what is unlike its dataset, which takes seconds where that is
        not kept; else only after `Classifier.calibrate`.
      numbers: which members, from 0; None is all that had not diverged by then.

    Raises:
      UnknownRunError: there is no such run.
      RunError: nothing of that epoch is kept, or a member had diverged by then.
      NotPreparedError: the run's dataset is not on this machine.
    """
    run = find_run(run_id)
    config = require_training_config(run)
    load_run_dataset(run)
    prepare_jax()
    epochs = list_member_epochs(run_id)
    if epoch is None and epochs:
        epoch = select_default_epoch(run, epochs)
    members = open_members(run_id, epoch)
    if numbers is not None:
        members = select_members(run, members, numbers)
    classifier = Classifier(run_id, members, epochs, config)
    if calibrated:
        classifier.calibrate()
    return classifier


@functools.lru_cache(maxsize=8)
def _load_dataset_form(dataset: str, fingerprint: str) -> NetworkInputFormat:
    images = datasets.load_dataset(dataset).train_images
    return NetworkInputFormat.from_images(
        np.asarray(images[calibration_images.select_evenly(np.arange(len(images)), 200)])
    )
