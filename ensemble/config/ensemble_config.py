"""What a run is: every setting with its default, its range and its one line of help.

The command line's options and the page's sliders are both derived from the fields of
`EnsembleConfig`, so limits and defaults stand here and nowhere else.
"""

from dataclasses import dataclass
from typing import ClassVar

from ensemble import architectures, optimizers
from ensemble.architectures import ARCHITECTURES
from ensemble.config import marked_epochs as epochs_of
from ensemble.config import member_values
from ensemble.config.training_config import CLASSIFICATION, MAX_MEMBERS, TrainingConfig
from ensemble.datasets.partition.split import count_holdout_images
from ensemble.datasets.registry import find_dataset_entry, list_dataset_names
from ensemble.errors import ConfigError
from ensemble.settings import StoredChoice, declare_setting, document_settings

SCHEDULES = ("constant", "cosine", "cyclic")
PRECISIONS = ("float32", "bfloat16")
# The id of a run, as the folder of runs makes it; no path.
_RUN_ID_FORM = (r"([a-z0-9_]+(-[a-z0-9]+)+)?", "the id of a run, or nothing")


@document_settings
@dataclass(frozen=True)
class EnsembleConfig(TrainingConfig):
    """Settings of an ensemble that classifies images, checked when made.

    Raises:
      ConfigError: a value of the wrong type or out of its range, named with that range.
    """

    task: ClassVar[str] = CLASSIFICATION

    dataset: str = declare_setting("digits", "The images to train on.", choices=list_dataset_names)
    network: str = declare_setting(
        "cnn", "The network; your own is package.module:Factory.", choices=architectures.list_network_names
    )
    width: int = declare_setting(0, "Width of the network's layers; 0 is its default.", low=0, high=1024)
    members: int = declare_setting(4, "Number of networks to train.", low=1, high=MAX_MEMBERS)
    learning_rate: float = declare_setting(0.1, "Step size.", low=1e-5, high=10.0)
    momentum: float = declare_setting(
        0.9,
        "Share of the previous step that SGD adds to the next; beta 1 of the other optimizers.",
        low=0.0,
        high=0.999,
    )
    optimizer: str = declare_setting("sgd", optimizers.describe_optimizers(), choices=optimizers.OPTIMIZER_NAMES)
    weight_decay: float = declare_setting(0.0, optimizers.describe_weight_decay(), low=0.0, high=1.0)
    label_smoothing: float = declare_setting(
        0.0, "Share of the label spread evenly over all classes.", low=0.0, high=0.5
    )
    adversarial: float = declare_setting(
        0.0,
        "Adversarial training: step of adversarial examples, as a share of the pixels' range; 0 is off.",
        low=0.0,
        high=0.5,
    )
    vary: str = declare_setting(
        "",
        "Settings that differ from member to member, such as learning_rate=0.01..1:log or momentum=0.8,0.9.",
        form=member_values.VARY_FORM,
        several=True,
    )
    epochs: int = declare_setting(10, "Passes over the training images.", low=1, high=1000)
    batch_size: int = declare_setting(128, "Images in one step.", low=1, high=4096)
    seed: int = declare_setting(0, "Seed of all random draws: same seed, same numbers.", low=0, high=2**31 - 1)
    devices: int = declare_setting(0, "Devices to spread the members over; 0 takes all.", low=0, high=1024)
    groups: int = declare_setting(
        1,
        "Processes among which the members are divided, two or more to each; 0 picks the "
        "number that trains fastest on this machine.",
        low=0,
        high=32,
    )
    batch_parts: int = declare_setting(
        1,
        "Equal parts of a batch, whose gradients are computed one by one and averaged in order: "
        "with fewer members than devices, devices share a member's parts. 1 is the whole batch.",
        low=1,
        high=16,
    )
    precision: str = declare_setting(
        "float32",
        "Precision of multiplications: float32, or bfloat16 (half the bits; parameters stay float32).",
        choices=PRECISIONS,
    )
    schedule: str = declare_setting(
        "constant",
        "Learning rate: constant, falling along a cosine, or falling along it repeatedly (cyclic).",
        choices=SCHEDULES,
    )
    cycles: int = declare_setting(
        5, "Cyclic schedule: number of cycles; each ends with a snapshot of every member.", low=1, high=1000
    )
    warmup_epochs: float = declare_setting(
        0.0, "Epochs in which the learning rate first rises from zero.", low=0.0, high=1000.0
    )
    shuffle_per_member: bool = declare_setting(
        False, "Each member sees the images in its own order (in the HOWTO, all share one order)."
    )
    bootstrap: bool = declare_setting(
        False, "Bagging: each member trains on its own sample of the images, drawn with replacement."
    )
    folds: int = declare_setting(
        0,
        "Each member leaves one of so many parts of the training images out, stratified by class "
        "(of whole groups where the dataset has groups): their labels are then judged by members "
        "that have not seen them. 0 for none.",
        low=0,
        high=64,
    )
    shift_pixels: int = declare_setting(0, "Augmentation: shift each image by up to this many pixels.", low=0, high=6)
    rotation_degrees: float = declare_setting(
        0.0, "Augmentation: rotate each image by up to this many degrees.", low=0.0, high=45.0
    )
    slant_degrees: float = declare_setting(
        0.0, "Augmentation: slant each image, as handwriting leans, by up to this many degrees.", low=0.0, high=45.0
    )
    elastic_pixels: float = declare_setting(
        0.0,
        "Augmentation: bend each image smoothly (elastic distortion); its points move by up to "
        "this many pixels along each axis (root mean square).",
        low=0.0,
        high=4.0,
    )
    photo_effects: float = declare_setting(
        0.0,
        "Augmentation for pictures of handwriting: strokes thicker or thinner, paler or darker, "
        "ruled lines, edges cut off; from 0 (none) to 1 (strong).",
        low=0.0,
        high=1.0,
    )
    flip: bool = declare_setting(
        False,
        "Augmentation: mirror each image or not, left for right, at random. Right for photographs; "
        "not for digits or letters, which change.",
    )
    validation: float = declare_setting(
        0.0,
        "Share of the training images, of each class alike (of whole groups where the dataset has "
        "groups), held out to choose settings by.",
        low=0.0,
        high=0.5,
    )
    patience: int = declare_setting(
        0, "Early stopping: epochs to wait for a lower validation NLL; 0 never stops early.", low=0, high=1000
    )

    swa_epochs: int = declare_setting(
        0, "Also saves the average of each member's parameters over this many last epochs (SWA).", low=0, high=1000
    )
    teacher: str = declare_setting(
        "",
        "Distillation: the run whose averaged probabilities the members learn from, "
        "beside the labels; none by default.",
        form=_RUN_ID_FORM,
    )
    distil_temperature: float = declare_setting(
        4.0,
        "Distillation: what the teacher's and the student's logits are divided by where they are compared.",
        low=1.0,
        high=100.0,
    )
    distil_alpha: float = declare_setting(
        0.1,
        "Distillation: weight of the labels in the loss; the teacher has the rest. 1 is the labels alone.",
        low=0.0,
        high=1.0,
    )

    @property
    def has_soft_targets(self) -> bool:
        """Whether members learn from a teacher's probabilities: not where labels have it all."""
        return bool(self.teacher) and self.distil_alpha < 1

    @property
    def has_member_views(self) -> bool:
        """Whether members see different pixels at one step, so that they have nothing to average.

        So it is where each draws its own batches, and where each augments them its own way.
        """
        return self.has_member_batches or self.has_augmentation

    @property
    def has_augmentation(self) -> bool:
        """Whether images are changed at random before they are learnt from."""
        moved = self.shift_pixels > 0 or self.rotation_degrees > 0
        return moved or self.has_warping or self.photo_effects > 0 or self.flip

    @property
    def has_warping(self) -> bool:
        """Whether images are slanted or bent."""
        return self.slant_degrees > 0 or self.elastic_pixels > 0

    def __post_init__(self) -> None:
        if not isinstance(self.network, str) and callable(self.network):
            raise ConfigError(
                "network is a class or a function: give its name package.module:Factory, or train "
                "it with ensemble.train(config, network=…)."
            )
        if not isinstance(self.network, StoredChoice) and architectures.is_custom_network(str(self.network)):
            architectures.check_network_allowed(self.network)
        architectures.check_network_form(self.network)
        self.check_training()
        if self.schedule == "cyclic":
            epochs_of.check_cycles(self.epochs, self.cycles, self.warmup_epochs)
        if self.swa_epochs:
            epochs_of.check_averaged_epochs(self.epochs, self.swa_epochs, bool(self.patience), str(self.network))
        self._check_network()
        self._check_validation()
        self._check_folds()
        self._check_batch_parts()
        self.check_groups()

    def _check_network(self) -> None:
        fixed = self.network not in ARCHITECTURES or ARCHITECTURES[self.network].width is None
        if self.width and fixed:
            raise ConfigError(
                f"width is {self.width}, but {architectures.format_network_title(self.network)} "
                "has no width to set: leave it at 0."
            )
        if not isinstance(self.dataset, StoredChoice):
            architectures.check_image_size(self.network, *find_dataset_entry(self.dataset).image_shape[:2])

    def _check_validation(self) -> None:
        if self.patience and not self.validation:
            raise ConfigError(
                f"patience is {self.patience}, but no validation images are held out: set "
                "validation to a share such as 0.1, or patience to 0."
            )
        if not self.validation or isinstance(self.dataset, StoredChoice):
            return
        size = find_dataset_entry(self.dataset).splittable_size
        if size < 2:
            raise ConfigError("validation needs more than one image in each class: choose 0.")
        if not count_holdout_images(size, self.validation):
            raise ConfigError(
                f"validation is {self.validation:g}, less than one of the {size:,} training "
                f"images: choose {1 / size:.1g} or more, or 0 for none."
            )

    def _check_batch_parts(self) -> None:
        if self.batch_size % self.batch_parts:
            fitting = [n for n in range(1, self.batch_parts) if self.batch_size % n == 0]
            raise ConfigError(
                f"batch_parts is {self.batch_parts}, which does not divide the batch_size "
                f"{self.batch_size} into equal parts: choose {fitting[-1]}, or another batch_size."
            )
        if self.batch_parts > 1 and self.network in architectures.NETWORKS_WITH_RUNNING_STATISTICS:
            raise ConfigError(
                f"batch_parts is {self.batch_parts}, but {self.network} normalizes each image by "
                "its whole batch: choose 1, or another network such as resnet_groupnorm."
            )

    def _check_folds(self) -> None:
        self.check_folds()
        if not self.folds:
            return
        if self.teacher:
            raise ConfigError(
                "folds and teacher do not go together: the teacher has learnt from the images that "
                "a member leaves out, and would tell it of them. Choose folds 0, or no teacher."
            )
        if isinstance(self.dataset, StoredChoice):
            return
        if alone := find_dataset_entry(self.dataset).alone:
            raise ConfigError(
                f"folds is {self.folds}, but of {alone:,} classes of {self.dataset} there is only "
                "one training image, which no member could know that leaves it out: add images of "
                "these classes or remove them, or choose folds 0."
            )
