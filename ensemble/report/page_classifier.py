"""What a report's own script needs to have the members answer: all but their weights.

These stand in the run's capsule, and nowhere else. `static/classify.js` shows the sheet,
`static/member_answer.js` what is said, and `static/networks.js` computes it. Classify has its
members answer by the same scripts while one draws.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemble import runs
from ensemble.analysis.quality.conformal import METHODS, fit_conformal_threshold
from ensemble.analysis.quality.coverage import MISS_RATE
from ensemble.datasets.own.recorded_levels import load_dataset_levels
from ensemble.errors import EnsembleError
from ensemble.figures.palette import member_color
from ensemble.pictures.whole_picture import NetworkInputFormat
from ensemble.runs.parameters import list_parameter_epochs
from ensemble.views.conformal import explain_lost_promise, format_set_level
from ensemble.views.evaluated_epoch import evaluate_epoch
from ensemble.views.selective import has_too_few_images
from ensemble.wording import formats
from ensemble.wording.formats import pluralize_noun
from ensemble.wording.marks import SIGN_NAMES, describe_mark_rejection, select_article
from ensemble.wording.run_names import format_run_name, format_unique_run_name
from ensemble.wording.runs.member_settings import list_run_member_names

if TYPE_CHECKING:
    from ensemble.recognition.classifier import Classifier

# The networks that the script knows.
PAGE_NETWORKS = ("cnn", "logistic", "mlp", "lenet5", "resnet", "resnet_groupnorm")
_FORM_IMAGES = 200  # test images that say what images of a dataset are like


@dataclass(frozen=True)
class _PageSets:
    """The conformal sets of a run's ensemble, as the script makes them.

    Attributes:
      method, threshold, penalty, free: of `ConformalThreshold`; no threshold where it is infinite.
      level: how often a set is to hold the label, as a text.
      note: that a person's own pictures have no promise.
    """

    method: str
    threshold: float | None
    penalty: float
    free: int
    level: str
    note: str


@dataclass(frozen=True)
class PageRejection:
    """When the page says that an image is none that the members know.

    Attributes:
      measure: "energy", the members' mean free energy, or "decision", the entropy of their average.
      threshold: above which an image is rejected.
      sentence: what is said in place of a class, without its end.
      note: by what it is judged.
    """

    measure: str
    threshold: float
    sentence: str
    note: str


@dataclass(frozen=True)
class PageClassifier:
    """A run of a report that answers.

    Attributes:
      run: its id, by which its capsule is found.
      title: what people call it.
      network: one of `PAGE_NETWORKS`.
      epoch: after which its members are taken; one that the capsule holds.
      members: which of the capsule's members answer, from 0: those that have not diverged.
      member_names, hues: of these.
      shape: (height, width, channels) of an image.
      class_names: C.
      noun: what one image is called.
      written: whether images are what a pen wrote, so that one can be drawn.
      ground: "dark" or "light", what images stand on; "" where it is neither.
      clear: what transparent pictures are put on, as `PictureLevels.ground` has it.
      sets: None where there are too few images to calibrate them.
      rejection: None where its threshold is not known.
    """

    run: str
    title: str
    network: str
    epoch: int
    members: Sequence[int]
    member_names: Sequence[str]
    hues: Sequence[str]
    shape: Sequence[int]
    class_names: Sequence[str]
    noun: str
    written: bool
    ground: str
    clear: str
    sets: _PageSets | None
    rejection: PageRejection | None

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def build_page_classifiers(every: Sequence[runs.Run]) -> list[PageClassifier]:
    return [build_page_classifier(run, several=len(every) > 1) for run in every if has_page_network(run)]


def has_page_network(run: runs.Run) -> bool:
    return run.training_config is not None and str(run.training_config.network) in PAGE_NETWORKS


def build_page_classifier(run: runs.Run, several: bool = False) -> PageClassifier:
    """What the script has to know of a run that keeps members.

    Raises:
      RunError: a file of the run is damaged.
    """
    epoch = runs.select_default_epoch(run, list_parameter_epochs(run.path))
    title = format_unique_run_name(run) if several else format_run_name(run)
    return describe_page_members(run, epoch, title, find_page_rejection(run, epoch))


def describe_page_members(run: runs.Run, epoch: int, title: str, rejection: PageRejection | None) -> PageClassifier:
    """What the script has to know of a run's members by one epoch.

    Raises:
      RunError: a file of the run is damaged.
    """
    config = runs.require_training_config(run)
    members = run.remaining_members(epoch)
    return PageClassifier(
        run=run.id,
        title=title,
        network=str(config.network),
        epoch=epoch,
        members=members,
        member_names=list_run_member_names(run, epoch),
        hues=[member_color(number, config.members) for number in members],
        shape=run.data.image_shape,
        class_names=run.data.class_names,
        noun=run.data.noun,
        written=run.data.is_mnist_like,
        ground=_find_ground(run),
        clear=load_dataset_levels(str(config.dataset), run.data.fingerprint).ground,
        sets=find_page_sets(run, epoch),
        rejection=rejection,
    )


def _find_ground(run: runs.Run) -> str:
    """What the run's images stand on; "" where it is no one ground, or they are not here."""
    try:
        images = runs.load_test_set(run).images
    except EnsembleError:
        return ""
    if images is None:
        return ""
    return NetworkInputFormat.from_images(np.asarray(images[:_FORM_IMAGES])).background


def find_page_sets(run: runs.Run, epoch: int) -> _PageSets | None:
    """The sets that Classify begins with; None without predictions of that epoch, or too few."""
    try:
        evaluated = evaluate_epoch(run, epoch)
    except EnsembleError:
        return None
    if has_too_few_images(evaluated):
        return None
    fitted = evaluated.fit or evaluated.predictions
    found = fit_conformal_threshold(fitted.averaged, fitted.labels, MISS_RATE, METHODS[0])
    return _PageSets(
        method=found.method,
        threshold=found.threshold if math.isfinite(found.threshold) else None,
        penalty=found.penalty,
        free=found.free,
        level=format_set_level(MISS_RATE),
        note=explain_lost_promise(run.data.noun, "validation" if evaluated.fit else "test"),
    )


def find_page_rejection(run: runs.Run, epoch: int) -> PageRejection | None:
    """What the members' own answers reject; None where nothing was calibrated for the run."""
    # Here, for it imports JAX, and who draws on Classify is answered before that is there.
    from ensemble.recognition.classifier import DEFAULT_REFUSE, open_classifier

    try:
        classifier = open_classifier(run.id, epoch, calibrated=False)
        if not classifier.has_kept_calibration():
            return None
        return build_page_rejection(run, classifier, DEFAULT_REFUSE)
    except EnsembleError:
        return None


def build_page_rejection(run: runs.Run, classifier: Classifier, refuse: float) -> PageRejection | None:
    """What the members' own answers reject; None where nothing can be."""
    measure, threshold = classifier.compute_answer_threshold(refuse)
    if not math.isfinite(threshold):
        return None
    share = formats.format_percent(refuse, figures=2)
    noun = run.data.noun
    return PageRejection(
        measure,
        threshold,
        describe_mark_rejection(run.data.class_names, noun),
        f"Judged here by {SIGN_NAMES[measure]} alone: {share} of real {pluralize_noun(noun)} look as strange. "
        f"In the program, Classify compares it with {pluralize_noun(noun)} of training as well.",
    )


def describe_page_classifiers(classifiers: Sequence[PageClassifier]) -> str:
    first = classifiers[0]
    one = f"{select_article(first.noun)} {first.noun}"
    give = f"Draw {one}, or open a picture of one" if first.written else f"Open a picture of {one}"
    return (
        f"{give}: the members answer here, in this page, which sends nothing to anybody. Their "
        "weights are unpacked when they are first asked."
    )
