"""What a capsule's header says, field by field: its run, and what its parts have to be."""

from dataclasses import dataclass

from ensemble import architectures
from ensemble.config import EnsembleConfig, ImportedConfig
from ensemble.datasets import registry
from ensemble.datasets.entry import DatasetEntry
from ensemble.datasets.partition.split import count_holdout_images
from ensemble.datasets.record import parse_dataset_record
from ensemble.errors import ConfigError, PredictionsError, RunError
from ensemble.exchange.capsule import capsule_format
from ensemble.exchange.capsule.capsule_format import CapsuleHeader, PartHeader
from ensemble.exchange.capsule.detached_status import detach_worker
from ensemble.exchange.capsule.header_texts import check_header_texts
from ensemble.exchange.capsule.script_element import SAVE_AGAIN, check_capsule_version
from ensemble.exchange.checks.limits import MOST_SIDE, check_prediction_counts
from ensemble.jobs.folders import MAX_NAME_LENGTH, is_run_id
from ensemble.jobs.kinds import IMPORTED
from ensemble.runs.annotations.notes import MAX_NOTE_LENGTH
from ensemble.runs.annotations.tags import normalize_tags
from ensemble.runs.status import Status
from ensemble.shift.results import SCORE_ARRAYS

_MOST_TEXT = 64 * 2**20  # bytes of a history; 1,000 epochs of 64 members take 30 MB
_MOST_SHIFT = 2**22  # bytes of what was measured under shift; 64 members take half a megabyte
_WHILE_TRAINING = "The report was written while this run was training: it shows the progress at that time."


@dataclass(frozen=True)
class CapsuleRun:
    """What a header says of its run, as the program has it.

    Attributes:
      config: its settings.
      data: what is known of its images.
      status: how it stood; with no worker, and ended.
      tags: of it.
      member_names: M, or none.
    """

    config: EnsembleConfig | ImportedConfig
    data: DatasetEntry
    status: Status
    tags: tuple[str, ...]
    member_names: tuple[str, ...]


def parse_capsule_run(header: CapsuleHeader) -> CapsuleRun:
    """The run that a header tells of.

    Raises:
      PredictionsError: a field is not what it should be, or fields do not fit together; it says
        which.
    """
    if header.form != capsule_format.FORMAT_NAME:
        raise _build_header_error("it names another form")
    check_capsule_version(str(header.version))
    if not is_run_id(header.id):
        raise _build_header_error(f"{header.id!r:.60} is not the id of a run")
    if header.kind not in ("", IMPORTED):
        raise _build_header_error(f"{header.kind!r:.60} is not a kind of run that can be imported")
    if len(header.name) > MAX_NAME_LENGTH or len(header.note) > MAX_NOTE_LENGTH:
        raise _build_header_error("the run's name or note is too long")
    try:
        tags = normalize_tags(header.tags or [])
        config: EnsembleConfig | ImportedConfig
        config = ImportedConfig.from_dict(header.settings) if header.kind else EnsembleConfig.from_disk(header.settings)
        data = parse_dataset_record(header.dataset)
        status = detach_worker(Status.from_dict(header.status), _WHILE_TRAINING)
    except (ValueError, TypeError, ConfigError, RunError) as error:
        raise _build_header_error(f"{error!s:.300}".rstrip(".")) from error
    _check_header_dataset(header, config, data)
    _check_header_status(status, config)
    names = tuple(header.member_names or ())
    check_header_texts(header, data, names)
    if len(names) not in (0, config.members):
        raise _build_header_error("it does not have one name for each member")
    return CapsuleRun(config, data, status, tags, names)


def _build_header_error(why: str) -> PredictionsError:
    return PredictionsError(f"its header cannot be used ({why}): {SAVE_AGAIN}.")


def _check_header_status(status: Status, config: EnsembleConfig | ImportedConfig) -> None:
    members = config.members
    if (
        len(status.member_test_accuracy) not in (0, members)
        or len(status.best_member_test_accuracy) not in (0, members)
        or any(number >= members for number in status.set_aside)
        or max(status.epoch, status.best_epoch or 0) > status.epochs
        or status.epochs != config.epochs
        or status.best_on not in ("test", "validation")
    ):
        raise _build_header_error("its status has other members or epochs than its settings")


def _check_header_dataset(header: CapsuleHeader, config: EnsembleConfig | ImportedConfig, data: DatasetEntry) -> None:
    if len(data.image_shape) != 3 or not all(0 < side <= MOST_SIDE for side in data.image_shape):
        raise _build_header_error(f"its images have shape {data.image_shape}")
    if isinstance(config, ImportedConfig):
        if not data.own:
            raise _build_header_error("its dataset is not marked as its own")
        check_prediction_counts((config.epochs, config.members, data.test_size, len(data.class_names)))
        return
    network = str(config.network)
    if network not in architectures.BUILTIN_NETWORK_NAMES and not architectures.is_custom_network(network):
        raise PredictionsError(
            f"its network {network!r:.60} is unknown to this version: update this program, then import it again."
        )
    if data.name != config.dataset:
        raise _build_header_error("it describes another dataset than its settings")
    if config.dataset not in registry.DATASETS:
        if not data.own:
            raise PredictionsError(
                f"its dataset {config.dataset!r:.60} is unknown to this version: update this "
                "program, then import it again."
            )
        return
    here = registry.find_dataset_entry(config.dataset)
    mine = (here.test_size, here.train_size, here.class_names, here.image_shape, here.own)
    if mine != (data.test_size, data.train_size, data.class_names, data.image_shape, data.own):
        raise _build_header_error(f"its dataset {config.dataset} differs from the one in this program")


def is_known_part(part: PartHeader, about: CapsuleRun) -> bool:
    """Whether a part is one that is known here; what it says of itself is compared then.

    Raises:
      PredictionsError: it is of another type or shape than it has to be.
    """
    name, shape = part["name"], tuple(part["shape"])
    if (expected := _find_expected_array(name, about)) is None:
        return False
    dtype, axes = expected
    fits = part["dtype"] == dtype and _has_expected_shape(shape, axes)
    if not fits:
        shape_text = ", ".join("any" if axis is None else str(axis) for axis in axes)
        raise PredictionsError(
            f"its part “{name}” is {part['dtype']:.20} of shape {shape!s:.80}, and has to be "
            f"{dtype} of shape ({shape_text}): {SAVE_AGAIN}."
        )
    most = {
        capsule_format.HISTORY: _MOST_TEXT,
        capsule_format.SHIFT_RESULTS: _MOST_SHIFT,
        capsule_format.SHIFT_STATUS: _MOST_SHIFT,
    }
    if capsule_format.compute_part_bytes(part) > most.get(name, capsule_format.compute_part_bytes(part)):
        raise PredictionsError(f"its part “{name}” is too large: {SAVE_AGAIN}.")
    return True


Axes = tuple[int | None, ...]


def _has_expected_shape(shape: tuple[int, ...], axes: Axes) -> bool:
    if axes[-1:] == (None,) and len(axes) > 1 and axes[-2] is None:  # any more axes
        axes = (*axes[:-2], *(None,) * (len(shape) - len(axes) + 2))
    same = len(shape) == len(axes) <= capsule_format.MOST_AXES
    return same and all(want in (None, got) for want, got in zip(axes, shape, strict=True))


def _find_expected_array(name: str, about: CapsuleRun) -> tuple[str, Axes] | None:
    """The type and shape that a part has to have, None for an axis of any length."""
    data, config = about.data, about.config
    if name in (
        capsule_format.HISTORY,
        capsule_format.SOURCES,
        capsule_format.EXAMPLES,
        capsule_format.SHIFT_RESULTS,
        capsule_format.SHIFT_STATUS,
    ):
        return "uint8", (None,)
    if name == capsule_format.LABELS:
        return "int32", (data.test_size,)
    if name in (capsule_format.GROUPS, capsule_format.REPEATS):
        return "int64", (data.test_size,)
    if name == capsule_format.IMAGES:
        return "uint8", (data.test_size, *data.image_shape)
    if match := capsule_format.EPOCH_PATTERN.fullmatch(name):
        if not 1 <= int(match[2]) <= config.epochs:
            return None
        size = data.test_size
        if match[1] == "validation":
            size = count_holdout_images(data.splittable_size, config.validation) if config.validation else 0
        return ("float32", (config.members, size, len(data.class_names))) if size > 0 else None
    if match := capsule_format.MEMBERS_PATTERN.fullmatch(name):
        if isinstance(config, ImportedConfig) or not 1 <= int(match[1]) <= config.epochs:
            return None
        return "float32", (config.members, None, None)
    if (match := capsule_format.SCORE_PATTERN.fullmatch(name)) and match[2] in SCORE_ARRAYS and match[2] != "tick":
        axes: Axes = (None,) * len(SCORE_ARRAYS[match[2]].shape)
        return "float32", axes
    return None
