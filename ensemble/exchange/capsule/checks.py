"""What a capsule's header says, field by field: its run, and what its parts have to be."""

from dataclasses import dataclass

from ensemble import architectures
from ensemble.config import EnsembleConfig, ImportedConfig
from ensemble.datasets import registry
from ensemble.datasets.entry import Entry
from ensemble.datasets.record import entry_from
from ensemble.datasets.split import held_out
from ensemble.errors import ConfigError, PredictionsError, RunError
from ensemble.exchange.capsule import form
from ensemble.exchange.capsule.element import SAVE_AGAIN, check_version
from ensemble.exchange.capsule.form import Header, PartHeader
from ensemble.exchange.capsule.resting import at_rest
from ensemble.exchange.capsule.texts import check_texts
from ensemble.exchange.checks.limits import MOST_SIDE, check_counts
from ensemble.jobs.folders import NAME_LENGTH, is_id
from ensemble.jobs.kinds import IMPORTED
from ensemble.runs.annotations.notes import NOTE_LENGTH
from ensemble.runs.annotations.tags import checked_tags
from ensemble.runs.status import Status
from ensemble.shift.results import SCORES

MOST_TEXT = 64 * 2**20  # bytes of a history; 1,000 epochs of 64 members take 30 MB
MOST_SHIFT = 2**22  # bytes of what was measured under shift; 64 members take half a megabyte
WHILE_TRAINING = "The report was written while this run trained: this is how far it was then."


@dataclass(frozen=True)
class Known:
    """What a header says of its run, as the program has it.

    Attributes:
      config: its settings.
      data: what is known of its images.
      status: how it stood; with no worker, and ended.
      tags: of it.
      member_names: M, or none.
    """

    config: EnsembleConfig | ImportedConfig
    data: Entry
    status: Status
    tags: tuple[str, ...]
    member_names: tuple[str, ...]


def known(header: Header) -> Known:
    """The run that a header tells of.

    Raises:
      PredictionsError: a field is not what it should be, or fields do not fit together; it says
        which.
    """
    if header.form != form.FORM:
        raise _odd("it says another form")
    check_version(str(header.version))
    if not is_id(header.id):
        raise _odd(f"{header.id!r:.60} is no id of a run")
    if header.kind not in ("", IMPORTED):
        raise _odd(f"{header.kind!r:.60} is no kind of run that can be imported")
    if len(header.name) > NAME_LENGTH or len(header.note) > NOTE_LENGTH:
        raise _odd("the run's name or note is too long")
    try:
        tags = checked_tags(header.tags or [])
        config: EnsembleConfig | ImportedConfig
        if header.kind:
            config = ImportedConfig.from_dict(header.settings)
        else:
            config = EnsembleConfig.from_disk(header.settings)
        data = entry_from(header.dataset)
        status = at_rest(Status.from_dict(header.status), WHILE_TRAINING)
    except (ValueError, TypeError, ConfigError, RunError) as error:
        raise _odd(f"{error!s:.300}".rstrip(".")) from error
    _check_data(header, config, data)
    _check_status(status, config)
    names = tuple(header.member_names or ())
    check_texts(header, data, names)
    if len(names) not in (0, config.members):
        raise _odd("its members' names are not one a member")
    return Known(config, data, status, tags, names)


def _odd(why: str) -> PredictionsError:
    return PredictionsError(f"its header cannot be taken ({why}): {SAVE_AGAIN}.")


def _check_status(status: Status, config: EnsembleConfig | ImportedConfig) -> None:
    """That members and epochs of a status are those that there are."""
    members = config.members
    if (
        len(status.member_test_accuracy) not in (0, members)
        or any(number >= members for number in status.set_aside)
        or max(status.epoch, status.best_epoch or 0) > status.epochs
        or status.epochs != config.epochs
        or status.best_on not in ("test", "validation")
    ):
        raise _odd("its status is of other members or epochs than its settings")


def _check_data(header: Header, config: EnsembleConfig | ImportedConfig, data: Entry) -> None:
    """That the images are those of a dataset that there is, or are told of as somebody's own."""
    if len(data.image_shape) != 3 or not all(0 < side <= MOST_SIDE for side in data.image_shape):
        raise _odd(f"its images have shape {data.image_shape}")
    if isinstance(config, ImportedConfig):
        if not data.own:
            raise _odd("its images are nobody's own")
        check_counts((config.epochs, config.members, data.test_size, len(data.class_names)))
        return
    network = str(config.network)
    if network not in architectures.NAMES and not architectures.is_own(network):
        raise PredictionsError(
            f"its network {network!r:.60} is none that this version knows: update this program, "
            "then import it again."
        )
    if data.name != config.dataset:
        raise _odd("it tells of another dataset than its settings")
    if config.dataset not in registry.DATASETS:
        if not data.own:
            raise PredictionsError(
                f"its dataset {config.dataset!r:.60} is none that this version knows: update this "
                "program, then import it again."
            )
        return
    here = registry.find(config.dataset)
    mine = (here.test_size, here.train_size, here.class_names, here.image_shape, here.own)
    if mine != (data.test_size, data.train_size, data.class_names, data.image_shape, data.own):
        raise _odd(f"its dataset {config.dataset} is another than that of this program")


def wanted(part: PartHeader, about: Known) -> bool:
    """Whether a part is one that is known here; what it says of itself is compared then.

    Raises:
      PredictionsError: it is of another type or shape than it has to be.
    """
    name, shape = part["name"], tuple(part["shape"])
    if (expected := _expected(name, about)) is None:
        return False
    dtype, axes = expected
    fits = part["dtype"] == dtype and _fits(shape, axes)
    if not fits:
        said = ", ".join("any" if axis is None else str(axis) for axis in axes)
        raise PredictionsError(
            f"its part “{name}” is {part['dtype']:.20} of shape {shape!s:.80}, and has to be "
            f"{dtype} of shape ({said}): {SAVE_AGAIN}."
        )
    most = {form.HISTORY: MOST_TEXT, form.SHIFT_RESULTS: MOST_SHIFT, form.SHIFT_STATUS: MOST_SHIFT}
    if form.nbytes(part) > most.get(name, form.nbytes(part)):
        raise PredictionsError(f"its part “{name}” is too large: {SAVE_AGAIN}.")
    return True


Axes = tuple[int | None, ...]


def _fits(shape: tuple[int, ...], axes: Axes) -> bool:
    if axes[-1:] == (None,) and len(axes) > 1 and axes[-2] is None:  # any more axes
        axes = (*axes[:-2], *(None,) * (len(shape) - len(axes) + 2))
    same = len(shape) == len(axes) <= form.MOST_AXES
    return same and all(want in (None, got) for want, got in zip(axes, shape, strict=True))


def _expected(name: str, about: Known) -> tuple[str, Axes] | None:
    """The type and shape that a part has to have, None for an axis of any length."""
    data, config = about.data, about.config
    if name in (form.HISTORY, form.SOURCES, form.SHIFT_RESULTS, form.SHIFT_STATUS):
        return "uint8", (None,)
    if name == form.LABELS:
        return "int32", (data.test_size,)
    if name == form.IMAGES:
        return "uint8", (data.test_size, *data.image_shape)
    if match := form.EPOCH.fullmatch(name):
        if not 1 <= int(match[2]) <= config.epochs:
            return None
        size = data.test_size
        if match[1] == "validation":
            size = held_out(data.divisible, config.validation) if config.validation else 0
        return ("float32", (config.members, size, len(data.class_names))) if size > 0 else None
    if match := form.MEMBERS.fullmatch(name):
        if isinstance(config, ImportedConfig) or not 1 <= int(match[1]) <= config.epochs:
            return None
        return "float32", (config.members, None, None)
    if (match := form.SCORE.fullmatch(name)) and match[2] in SCORES and match[2] != "tick":
        axes: Axes = (None,) * len(SCORES[match[2]].shape)
        return "float32", axes
    return None
